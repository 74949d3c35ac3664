// SPDX-License-Identifier: Apache-2.0
#include "io/run/section_comparison.hpp"

#include "engine/core/error.hpp"
#include "inversion/objective/metrics.hpp"
#include "io/model/points.hpp"
#include "io/model/read.hpp"
#include "io/report/reach.hpp"
#include "io/report/slice.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace lodestone::io::run {
namespace {

using report::SectionPanel;

/// A section with what is said about it.
struct Compared {
  std::string path, name;  ///< as given; its title
  std::string about;       ///< behind the name on the picture
  SectionPanel panel;
  std::vector<std::string> run;  ///< cells of the table that only a run has: rms, target, iterations,
                                 ///< Jacobians, forward runs, seconds
  std::optional<report::SectionPart> part{};  ///< part of a run that pictures show
};

constexpr double png_scale = 1.25;  // pixels per unit: several sections in one picture are tall enough

const std::vector<std::string> run_columns{"rms", "target", "iterations", "Jacobians", "forward", "s"};

Compared compared_run(const std::string& folder, const std::string& file) {
  const inversion::Outcome result = read_result(file);
  const auto sum = [&](auto member) {
    return std::accumulate(
        result.history.begin(), result.history.end(), decltype(inversion::optimize::StagedRecord{}.*member){},
        [&](auto total, const inversion::optimize::StagedRecord& row) { return total + row.*member; });
  };
  const std::string name = result.about.title.empty() ? folder : result.about.title;
  const int iterations = result.history.empty() ? 0 : result.history.back().iteration;
  return {
      folder,
      name,
      fmt::format(": rms {:.2f}", result.ending.rms),
      report::panel_of(result, name, result.model.values, report::Sites::shown),
      {fmt::format("{:.3f}", result.ending.rms), fmt::format("{:g}", result.ending.target_rms),
       fmt::format("{}", iterations),
       fmt::format("{}", sum(&inversion::optimize::IterationRecord::n_jacobian)),
       fmt::format("{}", sum(&inversion::optimize::IterationRecord::n_forward)),
       fmt::format("{:.1f}", sum(&inversion::optimize::IterationRecord::seconds))},
      result.model.earth.grid.dimension() == 2 ? std::optional(report::shown_part(result)) : std::nullopt};
}

/// A folder is a run, a name that ends in .csv a file of points, anything else a model.
std::vector<Compared> compared(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    const RunFolder folder(path);
    if (!std::filesystem::exists(folder.result()))
      throw core::FileError("io::run#no_result",
                            "{}: expected the result of a finished run, but there is no result.h5; give the "
                            "folder of a run (-o of invert)",
                            folder.result());
    return {compared_run(path, folder.result())};
  }
  if (!path.ends_with(".csv")) return {{path, path, "", {path, model::read_model(path), {}, {}}, {}}};
  std::vector<Compared> sections;
  for (model::NamedSection& each : model::read_sections_csv(path)) {
    const std::string title =
        fmt::format("{} ({})", each.name, std::filesystem::path(path).filename().string());
    sections.push_back({path, title, "", {title, std::move(each.section), {}, {}}, {}});
  }
  return sections;
}

/// Sections of equal titles get the name they were given by, so that they can be told apart.
void tell_apart(std::vector<Compared>& sections, std::vector<Compared>& references) {
  std::map<std::string, std::set<std::string>> paths;
  for (const auto* list : {&sections, &references}) {
    for (const Compared& each : *list) paths[each.name].insert(each.path);
  }
  for (auto* list : {&sections, &references}) {
    for (Compared& each : *list) {
      if (paths.at(each.name).size() > 1) each.name += fmt::format(" ({})", each.path);
      each.panel.title = each.name + each.about;
    }
  }
}

std::vector<Compared> compared(const std::vector<std::string>& paths) {
  std::vector<Compared> sections;
  for (const std::string& path : paths) std::ranges::move(compared(path), std::back_inserter(sections));
  return sections;
}

std::string number_or_dash(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "-";
}

using Row = std::vector<std::string>;

/// Returns columns as wide as their longest text; the first is flush left.
std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  const auto length = [](const std::string& text) {  // of UTF-8, in letters
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  };
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], length(row[k]));
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const std::string blanks(widths[k] - length(row[k]), ' ');
      text += k == 0 ? row[k] + blanks : "  " + blanks + row[k];
    }
    text += '\n';
  }
  return text;
}

/// Explains the columns of numbers beyond the runs' own.
std::string legend(const ComparedSections& what, const std::vector<Compared>& references) {
  std::string text;
  for (std::size_t k = 0; k < references.size(); ++k)
    text += fmt::format("r{}: correlation of log10 resistivity with {}\n", k + 1, references[k].panel.title);
  for (std::size_t k = 0; k < what.blocks.size(); ++k) {
    const auto& block = what.blocks[k];
    text += fmt::format(
        "m{}: mean of log10 resistivity, {:g} to {:g} km along the profile, {:g} to {:g} km deep\n", k + 1,
        block.y_m.from / 1e3, block.y_m.to / 1e3, block.z_m.from / 1e3, block.z_m.to / 1e3);
  }
  return text;
}

std::string table(const ComparedSections& what, const std::vector<Compared>& sections,
                  const std::vector<Compared>& references) {
  Row header{"section"};
  header.insert(header.end(), run_columns.begin(), run_columns.end());
  for (std::size_t k = 0; k < references.size(); ++k) header.push_back(fmt::format("r{}", k + 1));
  for (std::size_t k = 0; k < what.blocks.size(); ++k) header.push_back(fmt::format("m{}", k + 1));
  std::vector<Row> rows{header};
  const auto add = [&](const Compared& each) {
    Row row{each.name};
    row.resize(1 + run_columns.size(), "-");
    std::ranges::copy(each.run, row.begin() + 1);
    for (const Compared& reference : references)
      row.push_back(number_or_dash(
          inversion::objective::correlation(reference.panel.section, each.panel.section).r, 2));
    for (const auto& block : what.blocks)
      row.push_back(number_or_dash(inversion::objective::mean_log10(each.panel.section, block), 2));
    rows.push_back(std::move(row));
  };
  std::ranges::for_each(sections, add);
  std::ranges::for_each(references, add);
  return aligned(rows) + legend(what, references);
}

/// Returns the ends of a picture that has room for what pictures of each run show; the whole grids without
/// runs.
report::SectionPictureOptions shown_parts(const std::vector<Compared>& sections) {
  report::SectionPictureOptions options;
  physics::mesh::Interval y_m{INFINITY, -INFINITY};
  for (const Compared& each : sections) {
    if (!each.part) continue;
    y_m = {std::min(y_m.from, each.part->y_m.from), std::max(y_m.to, each.part->y_m.to)};
    options.max_depth_m = std::max(options.max_depth_m, each.part->max_depth_m);
  }
  if (y_m.from < y_m.to) std::tie(options.y_min_m, options.y_max_m) = std::pair(y_m.from, y_m.to);
  return options;
}

void draw(const ComparedSections& what, const std::string& picture, const std::vector<Compared>& sections,
          const std::vector<Compared>& references) {
  std::vector<SectionPanel> panels;
  for (const auto* each : {&sections, &references})
    std::ranges::transform(*each, std::back_inserter(panels), &Compared::panel);
  report::SectionPictureOptions options = shown_parts(sections);
  options.max_depth_m = what.max_depth_m.value_or(options.max_depth_m);
  options.min_log10 = what.min_log10.value_or(options.min_log10);
  options.max_log10 = what.max_log10.value_or(options.max_log10);
  const report::Canvas canvas = report::sections_picture(panels, options);
  picture.ends_with(".svg") ? canvas.write_svg(picture) : canvas.write_png(picture, png_scale);
}

}  // namespace

std::string compare_sections(const ComparedSections& what, const std::string& picture) {
  std::vector<Compared> sections = compared(what.sections), references = compared(what.references);
  tell_apart(sections, references);
  if (!picture.empty()) draw(what, picture, sections, references);
  return table(what, sections, references);
}

}  // namespace lodestone::io::run
