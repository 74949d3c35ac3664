// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/command_line.hpp"
#include "apps/mt_invert/config/page.hpp"
#include "physics/mt/analysis/finding_rules.hpp"
#include "tests/support/catch.hpp"

#include <regex>
#include <set>
#include <string>
#include <vector>

using namespace lodestone;
using namespace lodestone::mt_invert;

namespace {

/// Returns all that a pattern finds, each by its groups from the first on.
std::vector<std::vector<std::string>> found_in(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::vector<std::string>> all;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    std::vector<std::string>& groups = all.emplace_back();
    for (std::size_t k = 1; k < at->size(); ++k) groups.push_back((*at)[k].str());
  }
  return all;
}

std::set<std::string> options_of(const std::string& command) {
  const std::vector<const char*> line{"mt_invert", command.c_str(), "--help"};
  const auto shown = cli::parse_command_line(static_cast<int>(line.size()), line.data());
  std::set<std::string> options;
  for (const auto& each : found_in(std::get<cli::ShowText>(shown.command).text, "[ ,](--[a-z0-9-]+)"))
    options.insert(each[0]);
  return options;
}

/// Returns whether the configuration of an inversion has a key: "data.floors.log10_rho".
bool is_key(const std::string& key) {
  const std::size_t dot = key.rfind('.');
  const std::string table = config::configuration_page().plain(key.substr(0, dot));
  return !found_in(table, ("(?:^|\n) *(" + key.substr(dot + 1) + ")\\s").c_str()).empty();
}

}  // namespace

TEST_CASE("remedies: each option, key and table that a finding of check names exists", "[cli]") {
  std::size_t n_options = 0, n_keys = 0;
  for (const physics::mt::FindingRule& rule : physics::mt::finding_rules()) {
    const std::string remedy = rule.remedy;
    CAPTURE(rule.id, remedy);
    const auto with_command = found_in(remedy, "(check|convert|invert|report) (--[a-z0-9-]+)");
    CHECK(with_command.size() == found_in(remedy, "(--[a-z0-9-]+)").size());
    for (const auto& each : with_command) {
      CAPTURE(each[1]);
      CHECK(options_of(each[0]).contains(each[1]));
    }
    const auto keys = found_in(remedy, "((?:data|profile|misfit)(?:\\.[a-z0-9_]+)+)(?![a-z0-9_]|\\])");
    for (const auto& each : keys) {
      CAPTURE(each[0]);
      CHECK(is_key(each[0]));
    }
    const auto tables = found_in(remedy, "\\[([a-z_.]+)\\]");
    for (const auto& each : tables) CHECK_NOTHROW(config::configuration_page().plain(each[0]));
    const bool names_one = !with_command.empty() || !keys.empty() || !tables.empty();
    CHECK((names_one || remedy.find("no option") != std::string::npos));
    n_options += with_command.size();
    n_keys += keys.size();
  }
  CHECK(n_options > 15);
  CHECK(n_keys > 10);
}
