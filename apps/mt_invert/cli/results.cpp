// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/error.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <tuple>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* compare_examples = R"(Examples:
  mt_invert compare out/first out/second -o both.png
  mt_invert compare out/first out/second --reference published.csv --block-km 90,200,25,80
  mt_invert compare out/run --reference true_model.toml -o beside_the_truth.svg)";

constexpr const char* paraview_examples = R"(Examples:
  mt_invert paraview out/demo                     writes out/demo/view.py, which ParaView opens with File, Load State
  pvpython out/demo/view.py picture.png           a picture of the same view
  mt_invert paraview out/demo -o views/demo.py    in another folder)";

constexpr const char* info_examples = R"(Examples:
  mt_invert info station.edi model.mod data.dat
  mt_invert info --json edi_folder)";

/// The arguments as CLI11 fills them in.
struct ParsedCompare {
  CompareArguments arguments;
  std::vector<std::string> blocks_km;
  std::string range, depth_km;
};

/// Reads `n` numbers between commas. errors: ConfigError.
std::vector<double> numbers_of(const std::string& text, std::size_t n, const char* option, const char* what) {
  std::vector<double> values = cli::numbers_of(text, option, what);
  if (values.size() != n)
    throw core::ConfigError("command line#bad_numbers", "{} expects {}, got {}", option, what, text);
  return values;
}

/// Converts the arguments of `compare`. errors: ConfigError for texts that are no such numbers, or a name
/// with another ending.
CompareArguments compare_of(const ParsedCompare& parsed) {
  CompareArguments to = parsed.arguments;
  for (const std::string& text : parsed.blocks_km) {
    const auto v = numbers_of(text, 4, "--block-km", "four numbers Y0,Y1,Z0,Z1 with Y0 < Y1 and Z0 < Z1");
    if (!(v[0] < v[1] && v[2] < v[3]))
      throw core::ConfigError("command line#bad_block", "--block-km expects Y0 < Y1 and Z0 < Z1, got {}",
                              text);
    to.what.blocks.push_back({.y_m = {1e3 * v[0], 1e3 * v[1]}, .z_m = {1e3 * v[2], 1e3 * v[3]}});
  }
  if (!parsed.range.empty()) std::tie(to.what.min_log10, to.what.max_log10) = colours_of(parsed.range);
  if (!parsed.depth_km.empty()) to.what.max_depth_m = depth_m_of(parsed.depth_km);
  const std::string& path = to.output_path;
  if (!path.empty() && !path.ends_with(".png") && !path.ends_with(".svg"))
    throw core::ConfigError("command line#unknown_ending",
                            "-o expects a name that ends in .png or .svg, got {}", path);
  return to;
}

}  // namespace

std::pair<double, double> colours_of(const std::string& text) {
  const auto v = numbers_of(text, 2, "--range", "two numbers LOW,HIGH");
  if (!(v[0] < v[1]))
    throw core::ConfigError("command line#bad_range", "--range expects LOW < HIGH, got {}", text);
  return {v[0], v[1]};
}

double depth_m_of(const std::string& text) {
  const double depth_m = 1e3 * numbers_of(text, 1, "--depth-km", "a positive number").front();
  if (!(depth_m > 0.0))
    throw core::ConfigError("command line#bad_depth", "--depth-km expects a positive number, got {}", text);
  return depth_m;
}

TakeArguments add_compare(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("compare", "Sections of several runs, one above the other and as a table.")
          ->footer(compare_examples);
  auto parsed = std::make_shared<ParsedCompare>();
  CompareArguments& to = parsed->arguments;
  command
      ->add_option("SECTION", to.what.sections,
                   "folder of a run, model file (HDF5, ModEM 2-D, TOML) or CSV of points")
      ->required();
  command
      ->add_option("--reference", to.what.references,
                   "a further section, with which the others are correlated (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--block-km", parsed->blocks_km,
                   "Y0,Y1,Z0,Z1: print the mean of log10 resistivity there (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--depth-km", parsed->depth_km, "deepest point of the picture");
  command->add_option("--range", parsed->range, "LOW,HIGH: ends of the colour scale, log10 of ohm m");
  command->add_option("-o,--output", to.output_path, "PICTURE.png or PICTURE.svg");
  return [parsed] { return compare_of(*parsed); };
}

TakeArguments add_paraview(CLI::App& app) {
  CLI::App* command = app.add_subcommand("paraview", "Write a script that shows a finished run in ParaView.")
                          ->footer(paraview_examples);
  auto arguments = std::make_shared<ParaviewArguments>();
  command->add_option("RUN_DIR", arguments->run_folder, "folder with result.h5")->required();
  command->add_option("-o,--output", arguments->output_path, "script to write (default: RUN_DIR/view.py)");
  return [arguments] {
    const std::string& path = arguments->output_path;
    if (!path.empty() && !path.ends_with(".py"))
      throw core::ConfigError("command line#unknown_ending", "-o expects a name that ends in .py, got {}",
                              path);
    return *arguments;
  };
}

TakeArguments add_info(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("info", "Say what files are and what is in them.")->footer(info_examples);
  auto arguments = std::make_shared<InfoArguments>();
  command->add_option("FILE", arguments->paths, "files, or folders of EDI files")->required();
  command->add_flag("--json", arguments->json, "machine-readable: an array with one object per file");
  return [arguments] { return *arguments; };
}

}  // namespace lodestone::mt_invert::cli
