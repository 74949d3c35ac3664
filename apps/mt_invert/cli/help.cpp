// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/parts.hpp"
#include "apps/mt_invert/config/page.hpp"
#include "engine/core/error.hpp"
#include "engine/core/options.hpp"

#include <CLI/CLI.hpp>

#include <memory>

namespace lodestone::mt_invert::cli {
namespace {

constexpr const char* of_configuration = "configuration";

constexpr const char* help_examples = R"(Examples:
  mt_invert help invert                        options of a command, as mt_invert invert --help
  mt_invert help configuration                 every key of a configuration: values, default, meaning
  mt_invert help configuration data.floors     the keys of one table
  mt_invert help configuration --markdown      the page docs/configuration.md)";

/// Arguments of the command, filled in by CLI11.
struct Parsed {
  std::string topic, table;
  bool markdown = false;
};

std::string help_on_command(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names{of_configuration};
  for (const CLI::App* each : app.get_subcommands({})) {
    if (each->get_name() == name) return each->help("mt_invert");
    names.push_back(each->get_name());
  }
  const auto near = core::nearest_word(name, names);
  throw core::ConfigError("command line#unknown_command",
                          "help expects a command or \"configuration\", got \"{}\"{}", name,
                          near ? fmt::format("; did you mean mt_invert help {}?", *near) : "");
}

std::string help_text(const CLI::App& app, const Parsed& parsed) {
  if (parsed.topic == of_configuration) {
    if (parsed.markdown && !parsed.table.empty())
      throw core::ConfigError("command line#exclusive_options", "--markdown prints all tables; leave out {}",
                              parsed.table);
    return parsed.markdown ? config::configuration_markdown()
                           : config::configuration_page().plain(parsed.table);
  }
  if (parsed.markdown || !parsed.table.empty())
    throw core::ConfigError("command line#not_an_option",
                            "{} belongs to mt_invert help configuration; leave it out",
                            parsed.markdown ? "--markdown" : parsed.table);
  return parsed.topic.empty() ? app.help() : help_on_command(app, parsed.topic);
}

}  // namespace

TakeArguments add_help(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("help", "Explain a command, or the keys of a configuration.")->footer(help_examples);
  auto parsed = std::make_shared<Parsed>();
  command->add_option("TOPIC", parsed->topic, "a command, or configuration");
  command->add_option("TABLE", parsed->table, "of the configuration: its keys alone");
  command->add_flag("--markdown", parsed->markdown, "the whole page on the configuration, as Markdown");
  return [&app, parsed] { return ShowText{help_text(app, *parsed)}; };
}

}  // namespace lodestone::mt_invert::cli
