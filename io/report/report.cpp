// SPDX-License-Identifier: Apache-2.0
#include "io/report/report.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/report/html.hpp"
#include "io/report/misfit.hpp"
#include "io/report/mt_data.hpp"
#include "io/report/mt_pseudosections.hpp"
#include "io/report/mt_soundings.hpp"
#include "io/report/page.hpp"
#include "io/report/slice.hpp"
#include "io/report/tables.hpp"
#include "io/report/uncertainty.hpp"
#include "io/run/folder.hpp"
#include "io/text/markup.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::report {

using namespace report;

namespace {

constexpr std::size_t stations_per_sheet = 12;

/// A round depth near a fifth of the section, for a closer look at its upper part.
double shallow_depth_m(const physics::mesh::TensorGrid& grid) {
  const double wanted = (grid.z_edges_m().back() - grid.z_edges_m().front()) / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  const double mantissa = wanted / power;
  return grid.z_edges_m().front() + power * (mantissa < 1.5   ? 1.0
                                             : mantissa < 3.5 ? 2.0
                                             : mantissa < 7.5 ? 5.0
                                                              : 10.0);
}

bool has_mask(const run::InversionResult& result) {
  return result.uncertainty && result.uncertainty->posterior;
}

void add_section(Page& page, const run::InversionResult& result) {
  page.heading("section", "Resistivity section");
  page.figure(section_picture(result), "section",
              "Resistivity of the final model. Red is conductive, blue resistive; triangles are sites. "
              "Structure below the depth to which "
              "the longest "
              "periods see is set by smoothness, not by data." +
                  std::string(has_mask(result) ? " Hatched: beyond the depth of investigation." : ""));
  SectionPictureOptions shallow;
  shallow.max_depth_m = shallow_depth_m(result.earth.grid);
  page.figure(section_picture(result, shallow), "section_shallow",
              "The upper part of the same section, with its own colour scale.");
}

void add_learned_prior(Page& page, const run::InversionResult& result) {
  if (!result.learned_prior) return;
  page.heading("prior", "Learned prior");
  page.paragraph(inversion::prior::in_words(*result.learned_prior, result.target_rms));
  page.html(learned_prior_table(*result.learned_prior));
  if (const std::string table = coverage_table(*result.learned_prior); !table.empty())
    page.html("<details><summary>Table of subdomains</summary>\n" + table + "</details>\n");
  page.paragraph(
      "Dashed frames in the section are the regions; each is cut into subdomains that a few codes set. Codes "
      "of draws of the prior have a "
      "mean square of 1. The "
      "deviation is that of the final model from the nearest one of the prior.");
  if (!result.learned_prior->polished) return;
  page.figure(prior_picture_of(result), "learned_prior",
              "The final model, and the nearest one of the prior.");
}

void add_uncertainty(Page& page, const run::InversionResult& result) {
  if (!result.uncertainty) return;
  page.heading("uncertainty", "How well the data determine it");
  page.paragraph(inversion::uncertainty::in_words(*result.uncertainty, result.earth.grid));
  page.figure(deviations_picture(result), "deviations",
              "Standard deviation of log10 resistivity: 0.3 decades are a factor of 2, 1 a factor of 10 "
              "either way. It is measured against the "
              "roughness (or the codes) and the λ of the run, so it says what the data can tell beside a "
              "section of this kind, not how wide "
              "geology is.");
  if (has_mask(result)) {
    const inversion::uncertainty::PosteriorSpread& posterior = *result.uncertainty->posterior;
    page.paragraph(
        fmt::format("Hatched, here and in the sections: beyond the depth of investigation, where the data "
                    "leave more than {:.3g} of the "
                    "prior's standard deviation, or of {:.3g} decades where that is wider.",
                    posterior.seen_share, posterior.largest_prior_decades));
  }
  if (result.uncertainty->ensemble)
    page.figure(
        percentiles_picture(result), "percentiles",
        result.uncertainty->ensemble->n_samples >= inversion::uncertainty::EnsembleSpread::fewest
            ? "Cell by cell over the models of the ensemble: the truth lies between the first and the last "
              "with 90 % probability, if it is "
              "one of the kind that the prior knows. None of the three is itself a model that fits the data."
            : "Cell by cell over the models of the ensemble. None of the three is itself a model that fits "
              "the data.");
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
      "differs from site to site.");
  for (std::size_t first = 0; first < stations.size(); first += stations_per_sheet) {
    const std::size_t last = std::min(first + stations_per_sheet, stations.size());
    page.png(sounding_sheet(data, {stations.begin() + static_cast<std::ptrdiff_t>(first),
                                   stations.begin() + static_cast<std::ptrdiff_t>(last)}),
             fmt::format("soundings_{}", first / stations_per_sheet + 1));
  }
}

void add_misfit(Page& page, const run::InversionResult& result) {
  page.heading("misfit", "Misfit");
  page.figure(
      misfit_picture(result), "misfit",
      "Rms of the data used, per site, per period and per type; orange bars exceed twice the total rms.");
  page.html(data_table(result));
  page.heading("iterations", "Iterations");
  if (!result.history.empty()) {
    page.figure(
        history_picture(result), "history",
        "Misfit and trade-off parameter after each iteration; dashed: target. Grey squares: misfit of the "
        "same model after its mesh was redesigned.");
    page.html("<details><summary>Table of iterations</summary>\n" + history_table(result) + "</details>\n");
  }
}

void add_static_shifts(Page& page, const run::InversionResult& result) {
  if (result.static_shifts.empty()) return;
  page.heading("static", "Static shifts");
  page.paragraph(fmt::format(
      "Decades added to log10 ρₐ of each site and mode; the prior is 0 ± {:.3g}. Predictions contain them.",
      result.static_shift_sigma_decades));
  page.html(static_shift_table(result));
}

void add_background(Page& page, const run::InversionResult& result) {
  page.heading("accuracy", "Forward meshes and their accuracy");
  if (!result.meshes.bands.empty()) {
    page.html("<pre>" + text::escaped(result.meshes.summary()) + "</pre>\n");
  }
  const std::string certificate = certificate_table(result);
  page.html(certificate.empty() ? "<p>No accuracy certificate was made for this run.</p>\n" : certificate);
  page.heading("provenance", "How this was made");
  page.html(provenance_table(result));
  page.html("<details open><summary>Configuration</summary>\n<pre>" +
            text::escaped(result.configuration_toml) + "</pre>\n</details>\n");
}

}  // namespace

std::filesystem::path write_report(const std::filesystem::path& run_directory,
                                   const run::InversionResult& result) {
  const ShownData data(result);
  run::make_folder(run_directory / "pictures");
  Page page(run_directory / "pictures");
  page.heading("summary", "Summary");
  page.html(summary_table(result));
  add_section(page, result);
  add_learned_prior(page, result);
  add_uncertainty(page, result);
  if (data.n_stations() > 0 && data.n_frequencies() > 0) {
    add_fit(page, data);
    add_soundings(page, data);
  }
  add_misfit(page, result);
  add_static_shifts(page, result);
  add_background(page, result);
  const std::filesystem::path path = run_directory / "report.html";
  const std::string title = result.title.empty() ? "Magnetotelluric inversion" : result.title;
  core::write_file(path.string(),
                   page.text(title, fmt::format("Magnetotelluric inversion by Lodestone {}, {}",
                                                result.provenance.version, result.provenance.finished_utc)));
  return path;
}

}  // namespace lodestone::io::report
