// SPDX-License-Identifier: Apache-2.0
#include "io/report/report.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/report/display_data.hpp"
#include "io/report/html.hpp"
#include "io/text/markup.hpp"
#include "io/report/misfit_picture.hpp"
#include "io/report/pseudosection_picture.hpp"
#include "io/report/report_tables.hpp"
#include "io/report/section_picture.hpp"
#include "io/report/sounding_picture.hpp"
#include "io/result/output_folder.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io {

using namespace report;

namespace {

constexpr std::size_t stations_per_sheet = 12;

constexpr const char* style = R"(
:root { color-scheme: light; }
body { font: 15px/1.5 "DejaVu Sans", Verdana, system-ui, sans-serif; color: #222; background: #fff; margin: 0 auto; padding: 0 24px 60px; max-width: 1060px; }
h1 { font-size: 26px; line-height: 1.25; margin: 36px 0 4px; }
h2 { font-size: 19px; margin: 44px 0 10px; padding-bottom: 4px; border-bottom: 1px solid #ccc; }
p.lead { color: #555; margin: 0 0 18px; }
nav a { margin-right: 18px; color: #1a5a96; text-decoration: none; }
figure { margin: 18px 0 26px; }
figcaption { font-size: 13px; color: #555; max-width: 900px; }
svg { max-width: 100%; height: auto; display: block; }
.soundings { display: flex; flex-wrap: wrap; }
table { border-collapse: collapse; font-size: 13px; margin: 10px 0 18px; }
th, td { text-align: left; vertical-align: top; padding: 4px 16px 4px 0; border-bottom: 1px solid #e4e4e4; }
th { font-weight: 600; border-bottom: 1px solid #999; }
pre { font: 12px/1.45 "DejaVu Sans Mono", monospace; background: #f6f6f4; padding: 12px 14px; overflow-x: auto; }
summary { cursor: pointer; color: #1a5a96; margin: 10px 0; }
@media print { body { max-width: none; } details > * { display: block; } figure { break-inside: avoid; } }
)";

/// Collects the page's body and writes each picture also as PNG.
class Page {
 public:
  explicit Page(std::filesystem::path pictures) : pictures_(std::move(pictures)) {}

  void heading(const std::string& id, const std::string& text) {
    body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", id, escaped(text));
    navigation_ += fmt::format("<a href=\"#{}\">{}</a>", id, escaped(text));
  }
  void html(const std::string& text) { body_ += text; }
  void paragraph(const std::string& text) { body_ += "<p>" + escaped(text) + "</p>\n"; }
  void figure(const Canvas& canvas, const std::string& name, const std::string& caption) {
    canvas.write_png(pictures_ / (name + ".png"));
    body_ += fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", canvas.svg(), escaped(caption));
  }
  void png(const Canvas& canvas, const std::string& name) const { canvas.write_png(pictures_ / (name + ".png")); }
  [[nodiscard]] std::string text(const std::string& title, const std::string& lead) const {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p "
        "class=\"lead\">{2}</p>\n<nav>{3}</nav>\n{4}</body>\n</html>\n",
        escaped(title), style, escaped(lead), navigation_, body_);
  }

 private:
  std::filesystem::path pictures_;
  std::string body_, navigation_;
};

/// A round depth near a fifth of the section, for a closer look at its upper part.
double shallow_depth_m(const physics::mesh::TensorGrid2D& grid) {
  const double wanted = (grid.z_edges_m().back() - grid.z_edges_m().front()) / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  const double mantissa = wanted / power;
  return grid.z_edges_m().front() + power * (mantissa < 1.5 ? 1.0 : mantissa < 3.5 ? 2.0 : mantissa < 7.5 ? 5.0 : 10.0);
}

void add_section(Page& page, const InversionResult& result) {
  page.heading("section", "Resistivity section");
  page.figure(section_picture(result), "section",
              "Resistivity of the final model. Red is conductive, blue resistive; triangles are sites. Structure below the depth to which "
              "the longest "
              "periods see is set by smoothness, not by data.");
  SectionPictureOptions shallow;
  shallow.max_depth_m = shallow_depth_m(result.grid);
  page.figure(section_picture(result, shallow), "section_shallow", "The upper part of the same section, with its own colour scale.");
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
  page.html(sounding_legend().svg() + "<div class=\"soundings\">\n");
  const std::vector<int> stations = data.stations_along();
  for (const int station : stations) {
    page.html(sounding_picture(data, station).svg());
  }
  page.html("</div>\n");
  page.paragraph(
      "Bars are one standard deviation after error floors. The vertical scale of apparent resistivity differs from site to site.");
  for (std::size_t first = 0; first < stations.size(); first += stations_per_sheet) {
    const std::size_t last = std::min(first + stations_per_sheet, stations.size());
    page.png(
        sounding_sheet(data, {stations.begin() + static_cast<std::ptrdiff_t>(first), stations.begin() + static_cast<std::ptrdiff_t>(last)}),
        fmt::format("soundings_{}", first / stations_per_sheet + 1));
  }
}

void add_misfit(Page& page, const InversionResult& result) {
  page.heading("misfit", "Misfit");
  page.figure(misfit_picture(result), "misfit",
              "Rms of the data used, per site, per period and per type; orange bars exceed twice the total rms.");
  page.html(data_table(result));
  page.heading("iterations", "Iterations");
  if (!result.history.empty()) {
    page.figure(history_picture(result), "history",
                "Misfit and trade-off parameter after each iteration; dashed: target. Grey squares: misfit of the "
                "same model after its mesh was redesigned.");
    page.html("<details><summary>Table of iterations</summary>\n" + history_table(result) + "</details>\n");
  }
}

void add_static_shifts(Page& page, const InversionResult& result) {
  if (result.static_shifts.empty()) return;
  page.heading("static", "Static shifts");
  page.paragraph(fmt::format("Decades added to log10 ρₐ of each site and mode; the prior is 0 ± {:.3g}. Predictions contain them.",
                             result.static_shift_sigma_decades));
  page.html(static_shift_table(result));
}

void add_background(Page& page, const InversionResult& result) {
  page.heading("accuracy", "Forward meshes and their accuracy");
  if (!result.meshes.bands.empty()) {
    page.html("<pre>" + escaped(result.meshes.summary()) + "</pre>\n");
  }
  const std::string certificate = certificate_table(result);
  page.html(certificate.empty() ? "<p>No accuracy certificate was made for this run.</p>\n" : certificate);
  page.heading("provenance", "How this was made");
  page.html(provenance_table(result));
  page.html("<details open><summary>Configuration</summary>\n<pre>" + escaped(result.configuration_toml) + "</pre>\n</details>\n");
}

}  // namespace

std::filesystem::path write_report(const std::filesystem::path& run_directory, const InversionResult& result) {
  const ShownData data(result);
  make_folder(run_directory / "pictures");
  Page page(run_directory / "pictures");
  page.heading("summary", "Summary");
  page.html(summary_table(result));
  add_section(page, result);
  if (data.n_stations() > 0 && data.n_frequencies() > 0) {
    add_fit(page, data);
    add_soundings(page, data);
  }
  add_misfit(page, result);
  add_static_shifts(page, result);
  add_background(page, result);
  const std::filesystem::path path = run_directory / "report.html";
  const std::string title = result.title.empty() ? "Magnetotelluric inversion" : result.title;
  core::write_file(path.string(), page.text(title, fmt::format("Magnetotelluric inversion by Lodestone {}, {}", result.provenance.version,
                                                               result.provenance.finished_utc)));
  return path;
}

}  // namespace lodestone::io
