// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/command_line.hpp"

#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <set>

namespace lodestone::mt_invert {
namespace {

constexpr const char* component = "command line";

constexpr const char* exit_codes =
    R"(Exit codes: 0 ok, 1 unexpected, 2 usage or configuration, 3 file, 4 format, 5 shape or argument, 6 solver, 7 device,
10 not converged, 11 interrupted and resumable, 12 selftest failed. Any command may be run as `mpirun -n N mt_invert ...`.)";

constexpr const char* invert_examples = R"(Examples:
  mt_invert invert survey.toml                            run; results in out/survey
  mt_invert invert survey.toml --dry-run                  unknowns, data, meshes, memory and time, no inversion
  mt_invert invert survey.toml --set inversion.target_rms=1.5 -o out/second
  mt_invert invert survey.toml --dim 1 -o out/soundings   layered earths side by side, in seconds
  mpirun -n 4 mt_invert invert survey.toml -o out/run --time-limit 55
  mpirun -n 4 mt_invert invert survey.toml -o out/run --resume)";

constexpr const char* train_examples = R"(Examples:
  mt_invert train prior.toml --preview            pictures of random draws, no training
  mt_invert train prior.toml                      network, card and report in out/prior
  mt_invert train prior.toml --set training.epochs=20 -o out/short --time-limit 5
  mt_invert train prior.toml -o out/short --resume)";

constexpr const char* forward_examples = R"(Examples:
  mt_invert forward --model section.toml --sites sites.csv --periods 0.1,1,10 -o responses.csv
  mt_invert forward --model model.mod --sites data.dat -o predicted.dat
  mt_invert forward --model out/demo/result.h5 --sites sites.csv --periods 10 --mesh-report)";

constexpr const char* report_examples = R"(Examples:
  mt_invert report out/demo       writes out/demo/report.html and out/demo/pictures again from out/demo/result.h5)";

constexpr const char* compare_examples = R"(Examples:
  mt_invert compare out/first out/second -o both.png
  mt_invert compare out/first out/second --reference published.csv --block-km 90,200,25,80
  mt_invert compare out/run --reference true_model.toml -o beside_the_truth.svg)";

constexpr const char* info_examples = R"(Examples:
  mt_invert info station.edi model.mod data.dat
  mt_invert info --json edi_folder)";

constexpr const char* selftest_examples = R"(Examples:
  mt_invert selftest --list
  mt_invert selftest layered1d commemi2d1
  mt_invert selftest --accuracy fine --json out/selftest.json
  mpirun -n 2 mt_invert selftest vae-synthetic --models 20 --json out/vae.json)";

/// What CLI11 fills in.
struct Parsed {
  CommandLine line;
  InvertArguments invert;
  TrainArguments train;
  ForwardArguments forward;
  ReportArguments report;
  CompareArguments compare;
  InfoArguments info;
  SelftestArguments selftest;
  std::vector<std::string> blocks_km;
  std::string range, depth_km;
  std::string log = "human", accuracy = "default", selftest_accuracy = "default", definition;
  double time_limit_min = 0.0;
  bool version = false, drape = false;
};

void add_invert(CLI::App& app, Parsed& parsed) {
  CLI::App* command = app.add_subcommand("invert", "Invert measured data for a resistivity section.")->footer(invert_examples);
  InvertArguments& to = parsed.invert;
  command->add_option("CONFIG", to.config_path, "configuration (TOML; keys in docs/configuration.md)")->required();
  command->add_option("--set", to.assignments, "key=value, stronger than the file (repeatable)")->allow_extra_args(false);
  command->add_option("-o,--output", to.output_folder, "folder for the results (default: out/<name of CONFIG>)");
  command->add_flag("--resume", to.resume, "go on from the checkpoint in the folder");
  command->add_flag("--dry-run", to.dry_run, "print what would be done and stop");
  command->add_option("--dim", to.dim, "1: a layered earth under each station; 2: a section")->check(CLI::IsMember({1, 2}));
  command->add_option("--time-limit", parsed.time_limit_min, "stop cleanly before this many minutes have passed (exit code 11)");
}

void add_train(CLI::App& app, Parsed& parsed) {
  CLI::App* command = app.add_subcommand("train", "Train a learned prior of subdomains.")->footer(train_examples);
  TrainArguments& to = parsed.train;
  command->add_option("CONFIG", to.config_path, "configuration (TOML; keys in docs/configuration.md)")->required();
  command->add_option("--set", to.assignments, "key=value, stronger than the file (repeatable)")->allow_extra_args(false);
  command->add_option("-o,--output", to.output_folder, "folder for the network (default: out/<name of CONFIG>)");
  command->add_flag("--resume", to.resume, "go on from the checkpoint in the folder");
  command->add_flag("--preview", to.preview, "write pictures of random draws and stop");
  command->add_option("--time-limit", parsed.time_limit_min, "stop cleanly before this many minutes have passed (exit code 11)");
}

void add_forward(CLI::App& app, Parsed& parsed) {
  CLI::App* command = app.add_subcommand("forward", "Responses of a resistivity section.")->footer(forward_examples);
  ForwardArguments& to = parsed.forward;
  command->add_option("--model", to.model_path, "section: ModEM 2-D, our HDF5, or TOML")->required();
  command->add_option("--sites", to.sites_path, "ModEM 2-D or MARE2DEM data file, or CSV site,y_m[,z_m]")->required();
  command->add_option("--periods", to.periods_s, "comma-separated periods in seconds (with CSV sites)")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_flag("--drape", parsed.drape, "move sites beside the surface onto it instead of refusing them");
  command->add_option("--definition", parsed.definition, "axes of the fields: horizontal (default), or slope_parallel: along the surface")
      ->check(CLI::IsMember({"horizontal", "slope_parallel"}));
  command
      ->add_option("--accuracy", parsed.accuracy,
                   "default (0.5 %, 0.2 degrees), fine, or iteration: as inversions step (2 %, 0.57 degrees)")
      ->check(CLI::IsMember({"iteration", "default", "fine"}));
  command->add_flag("--mesh-report", to.mesh_report, "print the meshes and their certificate");
  command->add_option("-o,--output", to.output_path, "OUT.csv, OUT.h5 or OUT.dat (default: CSV on standard output)");
}

void add_compare(CLI::App& app, Parsed& parsed) {
  CLI::App* command =
      app.add_subcommand("compare", "Sections of several runs, one above the other and as a table.")->footer(compare_examples);
  CompareArguments& to = parsed.compare;
  command->add_option("SECTION", to.sections, "folder of a run, model file (HDF5, ModEM 2-D, TOML) or CSV of points")->required();
  command->add_option("--reference", to.references, "a further section, with which the others are correlated (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--block-km", parsed.blocks_km, "Y0,Y1,Z0,Z1: print the mean of log10 resistivity there (repeatable)")
      ->allow_extra_args(false);
  command->add_option("--depth-km", parsed.depth_km, "deepest point of the picture");
  command->add_option("--range", parsed.range, "LOW,HIGH: ends of the colour scale, log10 of ohm m");
  command->add_option("-o,--output", to.output_path, "PICTURE.png or PICTURE.svg");
}

constexpr const char* synthetic_group = "Options of vae-synthetic";

void add_synthetic(CLI::App& command, SyntheticOptions& to) {
  command.add_flag("--quick", to.quick, "one model of each family, noise of 5 %, a small network; judges the fit alone")
      ->group(synthetic_group);
  command.add_option("--models", to.n_models, "random models of each family (default: 20; 0: the two cases alone)")
      ->check(CLI::Range(0, 1000))
      ->group(synthetic_group);
  command.add_flag("--sweep", to.sweep, "the weights of every method x10 and /10 as well")->group(synthetic_group);
  command.add_flag("--tm", to.tm, "TM data beside TE")->group(synthetic_group);
  command.add_option("--network", to.network_path, "a network of the region of interest (default: trained on vae_synthetic_prior.toml)")
      ->group(synthetic_group);
  command.add_option("-o,--output", to.output_folder, "folder for network, data and sections (default: out/vae-synthetic)")
      ->group(synthetic_group);
}

void add_others(CLI::App& app, Parsed& parsed) {
  CLI::App* report = app.add_subcommand("report", "Write the report of a finished run again.")->footer(report_examples);
  report->add_option("RUN_DIR", parsed.report.run_folder, "folder with result.h5")->required();
  CLI::App* info = app.add_subcommand("info", "Say what files are and what is in them.")->footer(info_examples);
  info->add_option("FILE", parsed.info.paths, "files, or folders of EDI files")->required();
  info->add_flag("--json", parsed.info.json, "machine-readable: an array with one object per file");
  CLI::App* selftest = app.add_subcommand("selftest", "Compare with the bundled benchmarks.")->footer(selftest_examples);
  selftest->add_option("NAME", parsed.selftest.names, "benchmarks to run (default: all)");
  selftest->add_flag("--list", parsed.selftest.list, "list the benchmarks");
  selftest->add_option("--accuracy", parsed.selftest_accuracy, "of the meshes: default, or fine, judged by 0.1 % and 0.05 degrees")
      ->check(CLI::IsMember({"default", "fine"}));
  selftest->add_option("--json", parsed.selftest.json_path, "write every comparison to this file");
  add_synthetic(*selftest, parsed.selftest.synthetic);
}

/// Options and commands of the whole program.
void describe(CLI::App& app, Parsed& parsed) {
  app.footer(exit_codes);
  app.require_subcommand(0, 1);
  app.fallthrough();
  app.add_flag("--version", parsed.version, "print the version and the facts of the build");
  app.add_option("--log", parsed.log, "human or json (one object per line)")->check(CLI::IsMember({"human", "json"}));
  app.add_option("--trace", parsed.line.trace_path, "write a Chrome trace of the run to this file");
  app.add_option("--threads", parsed.line.n_threads, "threads of each rank (default: OMP_NUM_THREADS, or its part of the processors)")
      ->check(CLI::Range(1, 1024));
  add_invert(app, parsed);
  add_train(app, parsed);
  add_forward(app, parsed);
  add_compare(app, parsed);
  add_others(app, parsed);
}

physics::mt::Accuracy accuracy_from(const std::string& word) {
  using enum physics::mt::Accuracy;
  return word == "fine" ? fine : word == "iteration" ? iteration : standard;
}

void check_forward(const ForwardArguments& arguments) {
  std::set<double> seen;
  for (const double period : arguments.periods_s) {
    if (!(period >= 1e-9 && period <= 1e9))
      throw core::ConfigError(component, "--periods expects positive numbers of seconds between 1e-9 and 1e9, got {}", period);
    if (!seen.insert(period).second) throw core::ConfigError(component, "--periods lists {} s twice; give each period once", period);
  }
  const std::string& path = arguments.output_path;
  const bool known = path.empty() || path.ends_with(".csv") || path.ends_with(".h5") || path.ends_with(".dat");
  if (!known) throw core::ConfigError(component, "-o expects a name that ends in .csv, .h5 or .dat, got {}", path);
}

/// So many numbers between commas. errors: ConfigError.
std::vector<double> numbers_of(const std::string& text, std::size_t n, const char* option, const char* what) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = io::number(io::trimmed(std::string_view(text).substr(begin, end - begin)));
    if (!value || !std::isfinite(*value)) throw core::ConfigError(component, "{} expects {}, got {}", option, what, text);
    values.push_back(*value);
    begin = end + 1;
  }
  if (values.size() != n) throw core::ConfigError(component, "{} expects {}, got {}", option, what, text);
  return values;
}

/// errors: ConfigError for texts that are no such numbers, or a name with another ending.
CompareArguments compare_of(const Parsed& parsed) {
  CompareArguments to = parsed.compare;
  for (const std::string& text : parsed.blocks_km) {
    const auto v = numbers_of(text, 4, "--block-km", "four numbers Y0,Y1,Z0,Z1 with Y0 < Y1 and Z0 < Z1");
    if (!(v[0] < v[1] && v[2] < v[3])) throw core::ConfigError(component, "--block-km expects Y0 < Y1 and Z0 < Z1, got {}", text);
    to.blocks.push_back({1e3 * v[0], 1e3 * v[1], 1e3 * v[2], 1e3 * v[3]});
  }
  if (!parsed.range.empty()) {
    const auto v = numbers_of(parsed.range, 2, "--range", "two numbers LOW,HIGH");
    if (!(v[0] < v[1])) throw core::ConfigError(component, "--range expects LOW < HIGH, got {}", parsed.range);
    to.min_log10 = v[0];
    to.max_log10 = v[1];
  }
  if (!parsed.depth_km.empty()) {
    to.max_depth_m = 1e3 * numbers_of(parsed.depth_km, 1, "--depth-km", "a positive number").front();
    if (!(*to.max_depth_m > 0.0)) throw core::ConfigError(component, "--depth-km expects a positive number, got {}", parsed.depth_km);
  }
  const std::string& path = to.output_path;
  if (!path.empty() && !path.ends_with(".png") && !path.ends_with(".svg"))
    throw core::ConfigError(component, "-o expects a name that ends in .png or .svg, got {}", path);
  return to;
}

/// errors: ConfigError for options of vae-synthetic where it is not named.
void check_synthetic(const CLI::App& command, const SelftestArguments& arguments) {
  if (std::ranges::count(arguments.names, "vae-synthetic") > 0) return;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group() == synthetic_group && option->count() > 0)
      throw core::ConfigError(component, "{} is an option of the selftest vae-synthetic; name it: mt_invert selftest vae-synthetic {}",
                              option->get_name(), option->get_name());
  }
}

/// CLI11 takes `-o ""` (an unset variable of a script) for an option that was not given.
void check_not_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->get_items_expected_max() > 0 && std::ranges::count(option->results(), "") > 0)
      throw core::ConfigError(component, "{} expects a value, got an empty text; is a variable of the script unset?", option->get_name());
  }
}

/// errors: ConfigError for a limit that is not positive.
std::optional<double> time_limit_of(const CLI::App& command, const Parsed& parsed) {
  if (command.count("--time-limit") == 0) return {};
  if (!(parsed.time_limit_min > 0.0)) throw core::ConfigError(component, "--time-limit expects a positive number of minutes");
  return parsed.time_limit_min;
}

/// Moves the chosen command's arguments into the result.
void choose(const CLI::App& app, Parsed& parsed) {
  check_not_empty(app);
  for (const CLI::App* chosen : app.get_subcommands()) check_not_empty(*chosen);
  auto& command = parsed.line.command;
  if (parsed.version) {
    command = ShowText{version_text()};
  } else if (app.got_subcommand("invert")) {
    parsed.invert.time_limit_min = time_limit_of(*app.get_subcommand("invert"), parsed);
    if (parsed.invert.dry_run && parsed.invert.resume)
      throw core::ConfigError(component, "--dry-run and --resume exclude each other; give one of them");
    if (parsed.invert.dim == 1 && (parsed.invert.dry_run || parsed.invert.resume))
      throw core::ConfigError(component, "--dim 1 takes seconds and has neither --dry-run nor --resume; leave them out");
    command = parsed.invert;
  } else if (app.got_subcommand("train")) {
    parsed.train.time_limit_min = time_limit_of(*app.get_subcommand("train"), parsed);
    if (parsed.train.preview && parsed.train.resume)
      throw core::ConfigError(component, "--preview and --resume exclude each other; give one of them");
    command = parsed.train;
  } else if (app.got_subcommand("forward")) {
    check_forward(parsed.forward);
    if (!parsed.definition.empty()) parsed.forward.definition = physics::mt::definition_from(parsed.definition);
    parsed.forward.off_surface = parsed.drape ? OffSurface::drape : OffSurface::refuse;
    parsed.forward.accuracy = accuracy_from(parsed.accuracy);
    command = parsed.forward;
  } else if (app.got_subcommand("report")) {
    command = parsed.report;
  } else if (app.got_subcommand("compare")) {
    command = compare_of(parsed);
  } else if (app.got_subcommand("info")) {
    command = parsed.info;
  } else if (app.got_subcommand("selftest")) {
    check_synthetic(*app.get_subcommand("selftest"), parsed.selftest);
    parsed.selftest.accuracy = accuracy_from(parsed.selftest_accuracy);
    command = parsed.selftest;
  } else {
    throw core::ConfigError(component,
                            "expected a command: invert, train, forward, report, compare, info or selftest; see mt_invert --help");
  }
}

}  // namespace

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app("mt_invert: a resistivity section from magnetotelluric soundings.", "mt_invert");
  Parsed parsed;
  describe(app, parsed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.line.command = ShowText{chosen.empty() ? app.help() : chosen.front()->help("mt_invert")};
    return parsed.line;
  } catch (const CLI::ParseError& error) {
    throw core::ConfigError(component, "{}; see mt_invert --help", error.what());
  }
  choose(app, parsed);
  for (int i = 0; i < argc; ++i) parsed.line.as_typed += (i > 0 ? " " : "") + std::string(i > 0 ? argv[i] : "mt_invert");
  parsed.line.log_as_json = parsed.log == "json";
  return parsed.line;
}

std::string version_text() {
  std::string text = fmt::format("mt_invert {}\n", core::version());
  for (const auto& [name, fact] : core::build_info()) text += fmt::format("{:<16} {}\n", name, fact);
  return text;
}

}  // namespace lodestone::mt_invert
