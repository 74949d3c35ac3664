// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/options.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Index of a station that `what` names. errors: InvalidArgument with the nearest name.
[[nodiscard]] inline std::size_t index_of_station(const std::vector<std::string>& names,
                                                  const std::string& name, const char* component,
                                                  const std::string& what) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const auto near = core::nearest_word(name, names);
  throw core::InvalidArgument(
      component, "{} names station \"{}\", which is not among the {} stations{}", what, name, names.size(),
      near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; check the name"));
}

}  // namespace lodestone::physics::mt
