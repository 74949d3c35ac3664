// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "inversion/objective/metrics.hpp"
#include "io/model/points.hpp"
#include "io/model/read.hpp"
#include "io/report/slice.hpp"
#include "io/run/folder.hpp"
#include "io/run/result.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace lodestone::mt_invert::commands {
namespace {

using io::report::SectionPanel;

/// A section with what is said about it.
struct Compared {
  std::string path, name;  ///< as given; its title
  std::string about;       ///< behind the name on the picture
  SectionPanel panel;
  std::vector<std::string> run;  ///< cells of the table that only a run has: rms, target, iterations,
                                 ///< Jacobians, forward runs, seconds
};

constexpr double png_scale = 1.25;  // pixels per unit: several sections in one picture are tall enough

const std::vector<std::string> run_columns{"rms", "target", "iterations", "Jacobians", "forward", "s"};

Compared compared_run(const std::string& folder, const std::string& file) {
  const inversion::Outcome result = io::run::read_result(file);
  const auto sum = [&](auto member) {
    return std::accumulate(
        result.history.begin(), result.history.end(), decltype(inversion::optimize::StagedRecord{}.*member){},
        [&](auto total, const inversion::optimize::StagedRecord& row) { return total + row.*member; });
  };
  const std::string name = result.about.title.empty() ? folder : result.about.title;
  const int iterations = result.history.empty() ? 0 : result.history.back().iteration;
  return {folder,
          name,
          fmt::format(": rms {:.2f}", result.ending.rms),
          io::report::panel_of(result, name, result.model.values, io::report::Sites::shown),
          {fmt::format("{:.3f}", result.ending.rms), fmt::format("{:g}", result.ending.target_rms),
           fmt::format("{}", iterations),
           fmt::format("{}", sum(&inversion::optimize::IterationRecord::n_jacobian)),
           fmt::format("{}", sum(&inversion::optimize::IterationRecord::n_forward)),
           fmt::format("{:.1f}", sum(&inversion::optimize::IterationRecord::seconds))}};
}

/// A folder is a run, a name that ends in .csv a file of points, anything else a model.
std::vector<Compared> compared(const std::string& path) {
  if (std::filesystem::is_directory(path)) {
    const io::run::RunFolder folder(path);
    if (!std::filesystem::exists(folder.result()))
      throw core::FileError("mt_invert#no_result",
                            "{}: expected the result of a finished run, but there is no result.h5; give the "
                            "folder of a run (-o of invert)",
                            folder.result());
    return {compared_run(path, folder.result())};
  }
  if (!path.ends_with(".csv")) return {{path, path, "", {path, io::model::read_model(path), {}, {}}, {}}};
  std::vector<Compared> sections;
  for (io::model::NamedSection& each : io::model::read_sections_csv(path)) {
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

/// Columns as wide as their longest text; the first is flush left.
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
std::string legend(const cli::CompareArguments& arguments, const std::vector<Compared>& references) {
  std::string text;
  for (std::size_t k = 0; k < references.size(); ++k)
    text += fmt::format("r{}: correlation of log10 resistivity with {}\n", k + 1, references[k].panel.title);
  for (std::size_t k = 0; k < arguments.blocks.size(); ++k) {
    const auto& block = arguments.blocks[k];
    text += fmt::format(
        "m{}: mean of log10 resistivity, {:g} to {:g} km along the profile, {:g} to {:g} km deep\n", k + 1,
        block.y_m.from / 1e3, block.y_m.to / 1e3, block.z_m.from / 1e3, block.z_m.to / 1e3);
  }
  return text;
}

std::string table(const cli::CompareArguments& arguments, const std::vector<Compared>& sections,
                  const std::vector<Compared>& references) {
  Row header{"section"};
  header.insert(header.end(), run_columns.begin(), run_columns.end());
  for (std::size_t k = 0; k < references.size(); ++k) header.push_back(fmt::format("r{}", k + 1));
  for (std::size_t k = 0; k < arguments.blocks.size(); ++k) header.push_back(fmt::format("m{}", k + 1));
  std::vector<Row> rows{header};
  const auto add = [&](const Compared& each) {
    Row row{each.name};
    row.resize(1 + run_columns.size(), "-");
    std::ranges::copy(each.run, row.begin() + 1);
    for (const Compared& reference : references)
      row.push_back(number_or_dash(
          inversion::objective::correlation(reference.panel.section, each.panel.section).r, 2));
    for (const auto& block : arguments.blocks)
      row.push_back(number_or_dash(inversion::objective::mean_log10(each.panel.section, block), 2));
    rows.push_back(std::move(row));
  };
  std::ranges::for_each(sections, add);
  std::ranges::for_each(references, add);
  return aligned(rows) + legend(arguments, references);
}

void draw(const cli::CompareArguments& arguments, const std::vector<Compared>& sections,
          const std::vector<Compared>& references) {
  std::vector<SectionPanel> panels;
  for (const auto* each : {&sections, &references})
    std::ranges::transform(*each, std::back_inserter(panels), &Compared::panel);
  io::report::SectionPictureOptions options;
  options.max_depth_m = arguments.max_depth_m.value_or(0.0);
  options.min_log10 = arguments.min_log10.value_or(options.min_log10);
  options.max_log10 = arguments.max_log10.value_or(options.max_log10);
  const io::report::Canvas canvas = io::report::sections_picture(panels, options);
  arguments.output_path.ends_with(".svg") ? canvas.write_svg(arguments.output_path)
                                          : canvas.write_png(arguments.output_path, png_scale);
}

}  // namespace

int run_compare(MPI_Comm comm, const cli::CompareArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    if (!arguments.output_path.empty()) check_output_path(arguments.output_path, files_of(arguments));
    std::vector<Compared> sections = compared(arguments.sections),
                          references = compared(arguments.references);
    tell_apart(sections, references);
    if (!arguments.output_path.empty()) draw(arguments, sections, references);
    core::log::print_out(table(arguments, sections, references));
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
