// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"

#include <functional>

namespace CLI {
class App;
}

namespace lodestone::mt_invert::cli {

/// Who speaks in errors of wrong usage.
inline constexpr const char* command_line_component = "command line";

/// The checked arguments, once the line is parsed. errors: ConfigError where CLI11 cannot see that they are
/// wrong.
using TakeArguments = std::function<Command()>;

// Each adds a subcommand of the name behind add_, with its options, to the program.

[[nodiscard]] TakeArguments add_invert(CLI::App& app);
[[nodiscard]] TakeArguments add_train(CLI::App& app);
[[nodiscard]] TakeArguments add_forward(CLI::App& app);
[[nodiscard]] TakeArguments add_report(CLI::App& app);
[[nodiscard]] TakeArguments add_compare(CLI::App& app);
[[nodiscard]] TakeArguments add_info(CLI::App& app);
[[nodiscard]] TakeArguments add_selftest(CLI::App& app);
/// The program must outlive what is returned.
[[nodiscard]] TakeArguments add_help(CLI::App& app);

}  // namespace lodestone::mt_invert::cli
