// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace lodestone::mt_invert::cli {

/// A function that returns the checked arguments once the line is parsed. errors: ConfigError for what CLI11
/// does not check.
using TakeArguments = std::function<Command()>;

/// Reads the numbers between commas of an option that expects `what`. errors: ConfigError for a part that is
/// empty or no finite number.
[[nodiscard]] std::vector<double> numbers_of(const std::string& text, const char* option, const char* what);

/// Reads the ends of the colours, LOW,HIGH, of the option --range. errors: ConfigError.
[[nodiscard]] std::pair<double, double> colours_of(const std::string& text);
/// Reads the depth of a picture of the option --depth-km, in metres. errors: ConfigError.
[[nodiscard]] double depth_m_of(const std::string& text);

/// Reads the names of stations between commas of the option --sites. errors: ConfigError.
[[nodiscard]] std::vector<std::string> names_of(const std::string& text);

/// The choices of readers as CLI11 fills them in.
struct ParsedReading {
  std::string sign = "vote", units = "vote", variance = "of_complex_element", z_declination = "as_stated",
              j_errors = "each_part", zonge_flagged = "leave_out";
};

/// Adds the options that say what files of stations hold, in a group of the help.
void add_reading(CLI::App& command, ParsedReading& to, const std::string& group = "Options");
/// Returns the choices of all readers: a sign and units that are given hold for every file.
[[nodiscard]] io::survey::ReadOptions read_options(const ParsedReading& parsed);

/// Adds the options that say how announced times come about. errors: ConfigError for two that exclude each
/// other.
[[nodiscard]] std::function<TimesArguments()> add_times(CLI::App& command);

// Each adds a subcommand of the name behind add_, with its options, to the program.

[[nodiscard]] TakeArguments add_invert(CLI::App& app);
[[nodiscard]] TakeArguments add_train(CLI::App& app);
[[nodiscard]] TakeArguments add_forward(CLI::App& app);
[[nodiscard]] TakeArguments add_report(CLI::App& app);
[[nodiscard]] TakeArguments add_compare(CLI::App& app);
[[nodiscard]] TakeArguments add_inspect(CLI::App& app);
[[nodiscard]] TakeArguments add_info(CLI::App& app);
[[nodiscard]] TakeArguments add_check(CLI::App& app);
[[nodiscard]] TakeArguments add_convert(CLI::App& app);
[[nodiscard]] TakeArguments add_paraview(CLI::App& app);
[[nodiscard]] TakeArguments add_machine(CLI::App& app);
[[nodiscard]] TakeArguments add_selftest(CLI::App& app);
/// Adds `help`. The program must outlive the result.
[[nodiscard]] TakeArguments add_help(CLI::App& app);

}  // namespace lodestone::mt_invert::cli
