// SPDX-License-Identifier: Apache-2.0
#include "io/report/report.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/markup.hpp"
#include "io/report/layers.hpp"
#include "io/report/misfit.hpp"
#include "io/report/mt_data.hpp"
#include "io/report/mt_pseudosections.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/page.hpp"
#include "io/report/property.hpp"
#include "io/report/reach.hpp"
#include "io/report/residual_maps.hpp"
#include "io/report/rows.hpp"
#include "io/report/slice.hpp"
#include "io/report/tables.hpp"
#include "io/report/uncertainty.hpp"
#include "io/report/volume.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lodestone::io::report {

namespace {

constexpr std::size_t stations_per_sheet = 12;

/// Returns a round depth near a fifth of a depth, for a closer look at the upper part.
double shallow_m(double depth_m) {
  const double wanted = depth_m / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  const double mantissa = wanted / power;
  return power * (mantissa < 1.5 ? 1.0 : mantissa < 3.5 ? 2.0 : mantissa < 7.5 ? 5.0 : 10.0);
}

bool has_mask(const inversion::Outcome& outcome) {
  return outcome.findings.uncertainty && outcome.findings.uncertainty->posterior;
}

int dimension_of(const inversion::Outcome& outcome) { return outcome.model.earth.grid.dimension(); }

/// Returns the options of a picture of a part of the section with the choices of a reader.
SectionPictureOptions section_options(const SectionPart& part, const PictureChoices& choices) {
  SectionPictureOptions options = part.picture();
  options.min_log10 = choices.low;
  options.max_log10 = choices.high;
  options.contours = choices.contours;
  return options;
}

constexpr const char* contours_text =
    " Lines of equal values: each half decade, with numbers at the full ones.";

/// Adds the section down to where data see, where the pictures before it end above that.
void add_deep_section(Page& page, const inversion::Outcome& outcome, const PictureChoices& choices) {
  const SectionPart part = shown_part(outcome);
  page.paragraph(fmt::format(
      "The data see to {} ({}), deeper than half the length of the section. Down there they resolve means "
      "along the line, but few differences between its sites, so the pictures above end before. mt_invert "
      "report with --depth-km draws them to another depth.",
      part.seen_text(),
      has_mask(outcome) ? "the depth of investigation"
                        : "one skin depth of the longest period in the mean of the layers"));
  page.html("<details><summary>The section as deep as data see</summary>\n");
  SectionPictureOptions deep = section_options(shown_part(outcome, *part.seen_m), choices);
  page.figure(section_picture(outcome, deep), "section_deep",
              "The same section, compressed to show all that data see, with its own colour scale.");
  page.html("</details>\n");
}

/// Returns what the caption of a section says about cells at the edges of its grid, if the picture has some.
std::string text_of_edges(const inversion::Outcome& outcome, const SectionPart& part) {
  const physics::mesh::TensorGrid& grid = outcome.model.earth.grid;
  const std::vector<double>&y_m = grid.y_edges_m(), &z_m = grid.z_edges_m();
  const bool has_sides = grid.n_y() > 2 && (part.y_m.from < y_m[1] || part.y_m.to > y_m[y_m.size() - 2]);
  const bool has_bottom = grid.n_z() > 1 && part.max_depth_m > z_m[z_m.size() - 2];
  if (!has_sides && !has_bottom) return {};
  const std::string which = has_sides && has_bottom ? "The outermost columns and the lowest layer"
                            : has_sides             ? "The outermost columns"
                                                    : "The lowest layer";
  const std::string stand = has_sides ? " stand" : " stands";
  return " " + which + stand + " for all that lies beyond: what is far away shapes them, too.";
}

void add_section(Page& page, const inversion::Outcome& outcome, const ReportOptions& options) {
  const std::string title = title_of(outcome.model.property);
  const SectionPart part = shown_part(outcome, options.depth_m);
  const SectionPictureOptions whole = section_options(part, options.choices);
  page.heading("section", title + " section");
  const std::string colours = is_resistivity(outcome.model.property)
                                  ? "Red is conductive, blue resistive; triangles are sites. "
                                  : "Triangles are sites. ";
  page.figure(section_picture(outcome, whole), "section",
              title + " of the final model. " + colours +
                  "Structure below the depth to which the longest periods see is set by smoothness, not by "
                  "data." +
                  text_of_edges(outcome, part) + std::string(options.choices.contours ? contours_text : "") +
                  std::string(has_mask(outcome) ? " Hatched: beyond the depth of investigation." : ""));
  SectionPictureOptions shallow = whole;
  const double first_m = outcome.model.earth.grid.z_edges_m().front();
  shallow.max_depth_m = first_m + shallow_m(part.max_depth_m - first_m);
  shallow.remark.clear();
  page.figure(section_picture(outcome, shallow), "section_shallow",
              "The upper part of the same section, with its own colour scale.");
  if (part.ends_above_seen && !(options.depth_m > 0.0)) add_deep_section(page, outcome, options.choices);
}

void add_volume(Page& page, const inversion::Outcome& outcome, const ReportOptions& options) {
  const VolumeSlices slices = slices_of(outcome, options.slices);
  const std::string title = title_of(outcome.model.property);
  page.heading("model", title + " of the volume");
  const std::string colours =
      is_resistivity(outcome.model.property) ? "Red is conductive, blue resistive. " : "";
  const std::string hatch =
      (options.choices.contours ? contours_text : "") +
      std::string(has_mask(outcome) ? " Hatched: beyond the depth of investigation." : "");
  page.figure(
      horizontal_slices_picture(outcome, slices, options.choices), "slices_horizontal",
      title + " of layers of the final model, cut off around the sites. " + colours +
          "Dots are sites; dashed lines on the first map are the vertical slices." +
          std::string(options.slices.any() ? "" : " The deepest map stands where the data still see.") +
          hatch);
  page.figure(vertical_slices_picture(outcome, slices, options.choices), "slices_vertical",
              "The same model along the lines of the first map, with the same colours. Triangles are the "
              "sites near each line." +
                  hatch);
  page.paragraph(
      "ParaView shows the whole volume: vtk/model.vtu. mt_invert report with --depths-km, --x-km and "
      "--y-km "
      "draws other slices.");
}

/// Refuses choices that the model has no pictures for. errors: InvalidArgument.
void check(const inversion::Outcome& outcome, const ReportOptions& options) {
  const int dimension = dimension_of(outcome);
  const PictureChoices& choices = options.choices;
  if (dimension == 1 && (choices.contours || std::isfinite(choices.low) || std::isfinite(choices.high)))
    throw core::InvalidArgument(
        "io::report::choices#of_layers",
        "expected a section or a volume for contours and ends of the colours, but the model has layers "
        "alone, which are drawn as a curve; leave them out");
  if (dimension != 2 && options.depth_m > 0.0)
    throw core::InvalidArgument(
        "io::report::depth#not_a_section",
        "expected a section for the depth of its picture, but the grid of the model "
        "has {} axes; {}",
        dimension, dimension == 3 ? "choose the depths of maps, below which slices end" : "leave it out");
  if (options.slices.any() && dimension != 3)
    throw core::InvalidArgument("io::report::volume#not_a_volume",
                                "expected a model with the axes x, y and z for slices at chosen places, but "
                                "its grid has {}; leave them out",
                                dimension == 2 ? "y and z" : "z");
}

void add_model(Page& page, const inversion::Outcome& outcome, const ReportOptions& options) {
  check(outcome, options);
  if (dimension_of(outcome) == 2) return add_section(page, outcome, options);
  if (dimension_of(outcome) == 3) return add_volume(page, outcome, options);
  page.heading("model", title_of(outcome.model.property) + " of the layers");
  page.figure(layers_picture(outcome), "model",
              title_of(outcome.model.property) + " of the final model over depth; dashed: start model.");
}

/// Says where the regions of a prior lie, and what its table holds.
std::string regions_text(const inversion::Outcome& outcome) {
  std::string text = "Dashed frames in the section are the regions; each";
  if (dimension_of(outcome) == 3) {
    text.clear();
    for (const inversion::prior::RegionFindings& region : outcome.findings.prior->regions) {
      const LengthUnit unit = length_unit(region.y_to_m - region.y_from_m);
      const auto range = [&](double from, double to) {
        return fmt::format("{} to {} {}", plain_number(from / unit.metres, 3),
                           plain_number(to / unit.metres, 3), unit.name);
      };
      text += fmt::format("Region \"{}\": {}y {}, depths {}. ", region.name,
                          region.x_m ? "x " + range(region.x_m->from, region.x_m->to) + ", " : "",
                          range(region.y_from_m, region.y_to_m), range(region.z_from_m, region.z_to_m));
    }
    text += "Each region";
  }
  return text +
         " is cut into subdomains that a few codes set. Codes of draws of the prior have a mean square of 1. "
         "The "
         "deviation is that of the final model from the nearest one of the prior.";
}

/// Returns the model of the prior nearest the final one, in the place of that.
inversion::Outcome nearest_of_prior(inversion::Outcome outcome) {
  outcome.model.values = outcome.findings.prior->decoded_log10_resistivity;
  return outcome;
}

void add_learned_prior(Page& page, const inversion::Outcome& outcome) {
  if (!outcome.findings.prior) return;
  page.heading("prior", "Learned prior");
  page.paragraph(inversion::prior::in_words(*outcome.findings.prior, outcome.ending.target_rms));
  page.html(learned_prior_table(*outcome.findings.prior));
  if (const std::string table = coverage_table(*outcome.findings.prior); !table.empty())
    page.html("<details><summary>Table of subdomains</summary>\n" + table + "</details>\n");
  page.paragraph(regions_text(outcome));
  if (!outcome.findings.prior->polished) return;
  if (dimension_of(outcome) == 2)
    page.figure(prior_picture_of(outcome), "learned_prior",
                "The final model, and the nearest one of the prior.");
  if (dimension_of(outcome) == 3)
    page.figure(vertical_slices_picture(nearest_of_prior(outcome), slices_of(outcome)), "learned_prior",
                "The model of the prior nearest the final one, on the vertical slices of that.");
}

/// Says what the percentiles of an ensemble mean, which depends on the fit of its models and on their number.
std::string percentiles_caption(const inversion::Outcome& outcome) {
  using inversion::uncertainty::EnsembleSpread;
  using inversion::uncertainty::Fitting;
  const EnsembleSpread& ensemble = *outcome.findings.uncertainty->ensemble;
  const Fitting fitting = ensemble.fitting(outcome.ending.target_rms);
  std::string text = "Cell by cell over the models of the ensemble";
  if (fitting == Fitting::none)
    return text + ", none of which fits the data: the earth need not lie between the first and the last.";
  if (fitting == Fitting::some) return text + ", not all of which fit the data.";
  text +=
      ensemble.n_samples >= EnsembleSpread::fewest
          ? ": the truth lies between the first and the last with 90 % probability, if it lies within the "
            "prior."
          : ".";
  return text + " None of the three pictures is itself a model of the ensemble.";
}

void add_uncertainty(Page& page, const inversion::Outcome& outcome) {
  if (!outcome.findings.uncertainty) return;
  page.heading("uncertainty", "How well the data determine it");
  page.paragraph(inversion::uncertainty::in_words(*outcome.findings.uncertainty, outcome.model.earth.grid,
                                                  outcome.ending.target_rms));
  if (dimension_of(outcome) == 3)
    page.paragraph("ParaView shows standard deviations and percentiles of the volume: vtk/model.vtu.");
  if (dimension_of(outcome) != 2) return;  // pictures are those of sections
  page.figure(
      deviations_picture(outcome), "deviations",
      "Standard deviation of log10 resistivity: 0.3 decades are a factor of 2, 1 a factor of 10 "
      "either way. It is measured against the "
      "roughness (or the codes) and the λ of the run, so it describes what the data determine beside a "
      "section of this kind, not the variety of geology.");
  if (has_mask(outcome)) {
    const inversion::uncertainty::PosteriorSpread& posterior = *outcome.findings.uncertainty->posterior;
    page.paragraph(
        fmt::format("Hatched, here and in the sections: beyond the depth of investigation, where the data "
                    "leave more than {:.3g} of the "
                    "prior's standard deviation, or of {:.3g} decades where that is wider.",
                    posterior.seen_share, posterior.largest_prior_decades));
  }
  if (outcome.findings.uncertainty->ensemble)
    page.figure(percentiles_picture(outcome), "percentiles", percentiles_caption(outcome));
}

void add_fit(Page& page, const ShownData& data) {
  page.heading("fit", "Observed and predicted data");
  page.paragraph("Grey: no datum, or masked. Predictions are drawn wherever they were computed.");
  for (const Shown shown : all_shown) {
    if (data.has(shown)) {
      page.figure(pseudosection_picture(data, shown), "pseudosection_" + slug_of(shown),
                  title_of(shown) + ": observed, predicted and residual in errors.");
    }
  }
}

/// Residuals of data on a map, which have no order along a line.
void add_fit_on_map(Page& page, const inversion::Outcome& outcome) {
  page.heading("fit", "Residuals on the map");
  const std::vector<ResidualSheet> sheets = residual_maps(outcome);
  if (sheets.empty()) return page.paragraph("No datum is used at a site with a place on the map.");
  page.figure(site_misfit_maps(outcome), "misfit_map",
              "Rms of the data used of each site, of all and of each type.");
  for (const ResidualSheet& sheet : sheets) {
    page.html("<details><summary>" + core::escaped(sheet.title) + "</summary>\n");
    page.figure(sheet.picture, "residuals_" + sheet.name,
                sheet.title +
                    ": residuals in errors from the shortest to the longest period; the rms of a map stands "
                    "above it.");
    page.html("</details>\n");
  }
}

void add_soundings(Page& page, const ShownData& data) {
  page.heading("soundings", "Sounding curves");
  page.html(sounding_legend(data).svg() + "<div class=\"soundings\">\n");
  const std::vector<int> stations = data.stations_along();
  for (const int station : stations) {
    page.html(sounding_picture(data, station).svg());
  }
  page.html("</div>\n");
  page.paragraph(
      "Bars are one standard deviation after error floors. The vertical scale of apparent resistivity "
      "differs from site to site. The rms is that of all data used of a site.");
  for (std::size_t first = 0; first < stations.size(); first += stations_per_sheet) {
    const std::size_t last = std::min(first + stations_per_sheet, stations.size());
    page.png(sounding_sheet(data, {stations.begin() + static_cast<std::ptrdiff_t>(first),
                                   stations.begin() + static_cast<std::ptrdiff_t>(last)}),
             fmt::format("soundings_{}", first / stations_per_sheet + 1));
  }
}

void add_misfit(Page& page, const inversion::Outcome& outcome) {
  page.heading("misfit", "Misfit");
  page.figure(
      misfit_picture(outcome), "misfit",
      "Rms of the data used, per site, per period and per type; orange bars exceed twice the total rms. "
      "Where names lack room, those of the largest rms are drawn.");
  page.html(data_table(outcome));
  page.heading("iterations", "Iterations");
  if (!outcome.history.empty()) {
    page.figure(history_picture(outcome), "history",
                "Misfit on the iterations' meshes (in the stage \"final\" on those of the final accuracy) "
                "and trade-off "
                "parameter after each iteration; dashed: target. Grey squares: misfit of the "
                "same model after its mesh was redesigned.");
    if (const Canvas trade_off = trade_off_picture(outcome); trade_off.height() > 0.0)
      page.figure(trade_off, "trade_off",
                  "What the fit costs: misfit against roughness after each iteration, by its number; dashed: "
                  "target.");
    page.html("<details><summary>Table of iterations</summary>\n" + history_table(outcome) + "</details>\n");
  }
}

void add_distortion_maps(Page& page, const inversion::Outcome& outcome) {
  const Canvas maps = distortion_maps(outcome);
  if (maps.height() > 0.0)
    page.figure(
        maps, "distortion",
        "What the entries of the matrices differ from the identity by. Colours that change from site to "
        "site are distortion; one colour over the map may be the level of the model, and stripes along a "
        "contact its structure.");
}

void add_tables(Page& page, const inversion::Outcome& outcome, bool needs_certificate) {
  for (const inversion::NamedTable& each : outcome.tables) {
    page.heading(each.name, each.title);
    if (!each.note.empty()) page.paragraph(each.note);
    if (each.name == "distortion") add_distortion_maps(page, outcome);
    page.html(table_of(each.table));
  }
  if (needs_certificate && outcome.table("certificate") == nullptr)
    page.paragraph("No accuracy certificate was made for this run.");
}

void add_provenance(Page& page, const inversion::Outcome& outcome) {
  page.heading("provenance", "How this was made");
  page.html(provenance_table(outcome));
  page.html("<details open><summary>Configuration</summary>\n<pre>" +
            core::escaped(outcome.about.configuration) + "</pre>\n</details>\n");
}

void add_warnings(Page& page, const inversion::Outcome& outcome) {
  if (outcome.about.warnings.empty()) return;
  page.heading("warnings", "Warnings of the run");
  page.html(warnings_table(outcome));
}

void add_stations(Page& page, const inversion::Outcome& outcome) {
  const std::string table = station_table(outcome);
  if (table.empty()) return;
  page.heading("stations", "Stations");
  page.html(table);
}

void add_data(Page& page, const inversion::Outcome& outcome, const std::optional<ShownData>& data) {
  if (data) {
    if (dimension_of(outcome) == 3)
      add_fit_on_map(page, outcome);
    else
      add_fit(page, *data);
    add_soundings(page, *data);
  } else if (outcome.data.size() > 0) {
    page.heading("fit", "Observed and predicted data");
    page.figure(rows_picture(outcome), "data",
                "Data in the order of their rows. Bars are one standard deviation; hollow: not used.");
  }
}

}  // namespace

std::filesystem::path write_report(const std::filesystem::path& run_directory,
                                   const inversion::Outcome& outcome, const ReportOptions& options) {
  const std::optional<ShownData> data = shown_data(outcome);
  core::make_folder(run_directory / "pictures");
  Page page(run_directory / "pictures");
  page.heading("summary", "Summary");
  page.html(summary_table(outcome));
  add_warnings(page, outcome);
  add_model(page, outcome, options);
  add_learned_prior(page, outcome);
  add_uncertainty(page, outcome);
  add_data(page, outcome, data);
  add_misfit(page, outcome);
  add_stations(page, outcome);
  add_tables(page, outcome, data.has_value());
  add_provenance(page, outcome);
  const std::filesystem::path path = run_directory / "report.html";
  const std::string kind = data ? "Magnetotelluric inversion" : "Inversion";
  const core::Provenance& made = outcome.about.provenance;
  core::write_file(path.string(),
                   page.text(outcome.about.title.empty() ? kind : outcome.about.title,
                             fmt::format("{} by Lodestone {}, {}", kind, made.version, made.finished_utc)));
  return path;
}

}  // namespace lodestone::io::report
