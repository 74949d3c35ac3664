// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/command_line.hpp"

#include "apps/mt_invert/cli/parts.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "io/text/scan.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* exit_codes =
    R"(Exit codes: 0 ok, 1 unexpected, 2 usage or configuration, 3 file, 4 format, 5 shape or argument, 6 solver, 7 device,
10 not converged, 11 interrupted and resumable, 12 selftest failed,
13 check found warnings, 14 check found errors. Any command may be run as `mpirun -n N mt_invert ...`.)";

struct Subcommand {
  const char* name;
  TakeArguments arguments;
};

/// Adds all subcommands, in the order of the help.
std::vector<Subcommand> add_subcommands(CLI::App& app) {
  return {{"invert", add_invert(app)},     {"train", add_train(app)},     {"forward", add_forward(app)},
          {"compare", add_compare(app)},   {"report", add_report(app)},   {"info", add_info(app)},
          {"check", add_check(app)},       {"convert", add_convert(app)}, {"inspect", add_inspect(app)},
          {"paraview", add_paraview(app)}, {"machine", add_machine(app)}, {"selftest", add_selftest(app)},
          {"help", add_help(app)}};
}

/// The command line as CLI11 fills it in, for the program as a whole.
struct Parsed {
  CommandLine line;
  std::string log = "human";
  bool version = false;
};

void add_options(CLI::App& app, Parsed& parsed) {
  app.add_flag("--version", parsed.version, "print the version and the facts of the build");
  app.add_option("--log", parsed.log, "human or json (one object per line)")
      ->check(CLI::IsMember({"human", "json"}));
  app.add_option("--trace", parsed.line.trace_path, "write a Chrome trace of the run to this file");
  app.add_option("--threads", parsed.line.n_threads,
                 "threads of each rank (default: OMP_NUM_THREADS, or its part of the processors)")
      ->check(CLI::Range(1, 1024));
}

/// CLI11 takes `-o ""` (an unset variable of a script) for an option that was not given.
void check_not_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->get_items_expected_max() > 0 &&
        std::ranges::count(option->results(), "") > 0)
      throw core::ConfigError("command line#empty_value",
                              "{} expects a value, got an empty text; is a variable of the script unset?",
                              option->get_name());
  }
}

/// Refuses "nan" and "inf" for numbers, which a range of CLI11 lets pass.
void check_finite(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_type_name().starts_with("FLOAT") && !option->get_type_name().starts_with("METRES") &&
        !option->get_type_name().starts_with("KM"))
      continue;
    for (const std::string& word : option->results()) {
      const auto number = io::text::number(word);
      if (number && !std::isfinite(*number))
        throw core::ConfigError("command line#not_finite", "{} expects a finite number, got {}",
                                option->get_name(), word);
    }
  }
}

/// Returns the arguments of the chosen command.
Command chosen_of(const CLI::App& app, const std::vector<Subcommand>& subcommands) {
  for (const Subcommand& each : subcommands) {
    if (app.got_subcommand(each.name)) return each.arguments();
  }
  throw core::ConfigError("command line#no_command",
                          "expected a command: invert, train, forward, report, compare, info, check, "
                          "convert, paraview, inspect, machine, selftest or help; see mt_invert --help");
}

/// Returns "; did you mean PREFIX WORD?" for the nearest of the known words; "" where it is one, or like
/// none.
std::string meant(const std::string& word, const std::vector<std::string>& known, const char* prefix) {
  if (std::ranges::find(known, word) != known.end()) return {};
  const auto nearest = core::nearest_word(word, known);
  return nearest ? fmt::format("; did you mean {}{}?", prefix, *nearest) : std::string();
}

/// Returns the options of a command and of the program, as they are written.
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  const auto add = [&](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  };
  add(app);
  for (const CLI::App* chosen : app.get_subcommands()) add(*chosen);
  return names;
}

/// Suggests the command or the option that a word may have been meant for; "" where all are known.
std::string meant_of(const CLI::App& app, int argc, const char* const* argv) {
  if (argc > 1 && app.get_subcommands().empty() && argv[1][0] != '-') {
    std::vector<std::string> names;
    for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
    return meant(argv[1], names, "mt_invert ");
  }
  const std::vector<std::string> known = options_of(app);
  for (int k = 1; k < argc; ++k) {
    const std::string word(std::string_view(argv[k]).substr(0, std::string_view(argv[k]).find('=')));
    if (!word.starts_with("--")) continue;
    if (const std::string text = meant(word, known, ""); !text.empty()) return text;
  }
  return {};
}

}  // namespace

std::vector<double> numbers_of(const std::string& text, const char* option, const char* what) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto value = io::text::number(io::text::trimmed(std::string_view(text).substr(begin, end - begin)));
    if (!value || !std::isfinite(*value))
      throw core::ConfigError("command line#bad_numbers", "{} expects {}, got {}", option, what, text);
    values.push_back(*value);
    begin = end + 1;
  }
  return values;
}

CommandLine parse_command_line(int argc, const char* const* argv) {
  CLI::App app("mt_invert: a resistivity section or volume from magnetotelluric soundings.", "mt_invert");
  app.footer(exit_codes);
  app.require_subcommand(0, 1);
  app.fallthrough();
  Parsed parsed;
  add_options(app, parsed);
  const std::vector<Subcommand> subcommands = add_subcommands(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.line.command = ShowText{chosen.empty() ? app.help() : chosen.front()->help("mt_invert")};
    return parsed.line;
  } catch (const CLI::ParseError& error) {
    throw core::ConfigError("command line#wrong_usage", "{}{}; see mt_invert --help", error.what(),
                            meant_of(app, argc, argv));
  }
  check_not_empty(app);
  check_finite(app);
  for (const CLI::App* chosen : app.get_subcommands()) {
    check_not_empty(*chosen);
    check_finite(*chosen);
  }
  parsed.line.command = parsed.version ? ShowText{version_text()} : chosen_of(app, subcommands);
  parsed.line.log_as_json = parsed.log == "json";
  return parsed.line;
}

std::string version_text() {
  std::string text = fmt::format("mt_invert {}\n", core::version());
  for (const auto& [name, fact] : core::build_info()) text += fmt::format("{:<16} {}\n", name, fact);
  return text;
}

std::string shell_quoted(const std::string& word) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string resume_command(const std::string& command, const std::string& config_path,
                           const std::vector<std::string>& assignments, const std::string& folder, int dim) {
  std::string text = fmt::format("mt_invert {} {}", command, shell_quoted(config_path));
  if (dim != InvertArguments{}.dim) text += fmt::format(" --dim {}", dim);
  for (const std::string& each : assignments) text += " --set " + shell_quoted(each);
  return text + fmt::format(" -o {} --resume", shell_quoted(folder));
}

}  // namespace lodestone::mt_invert::cli
