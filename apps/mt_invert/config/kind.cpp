// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/kind.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <vector>

namespace lodestone::mt_invert::config {
namespace {

struct Kind {
  const char *command, *what;
  std::vector<std::string> tables;  ///< that the other has not; the first is required
};

Kind kind_of(ConfigKind kind) {
  if (kind == ConfigKind::training) return {"train", "a training", {"prior", "network", "loss", "training"}};
  return {"invert",
          "an inversion",
          {"data", "profile", "inversion", "regularization", "learned_prior", "start", "reference", "forward",
           "uncertainty"}};
}

}  // namespace

void check_kind(const core::Options& root, ConfigKind kind, const std::string& path) {
  const Kind wanted = kind_of(kind),
             other = kind_of(kind == ConfigKind::training ? ConfigKind::inversion : ConfigKind::training);
  const std::vector<std::string> keys = root.keys();
  const auto is_given = [&](const std::string& table) { return std::ranges::count(keys, table) > 0; };
  const auto found = std::ranges::find_if(other.tables, is_given);
  if (std::ranges::any_of(wanted.tables, is_given) || found == other.tables.end()) return;
  throw core::ConfigError(
      "configuration",
      "{}: expected the configuration of {} with a table [{}], got one of {} ([{}]); type: mt_invert {}",
      path, wanted.what, wanted.tables.front(), other.what, *found, other.command);
}

}  // namespace lodestone::mt_invert::config
