// SPDX-License-Identifier: Apache-2.0
#include "io/edi/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::edi {

void OpenErrors::look_at(const std::string& element, const Estimate& estimate, double stated, int line) {
  const bool is_stated = stated <= 0.0 || !std::isnan(estimate.sigma);
  if (!is_stated && (element == "zxx" || element == "zyy"))
    return;  // often left out, and no datum along a profile
  if (estimate.is_missing() || estimate.value == physics::mt::Complex(0.0, 0.0)) return;
  auto count =
      std::find_if(counts_.begin(), counts_.end(), [&](const Count& c) { return c.element == element; });
  if (count == counts_.end()) count = counts_.insert(counts_.end(), Count{element});
  ++count->values;
  if (!std::isnan(estimate.sigma)) return;
  if (line > 0 && std::all_of(counts_.begin(), counts_.end(), [](const Count& c) { return c.open() == 0; }))
    line_ = line;
  ++(stated < 0.0 ? count->negative : stated == 0.0 ? count->zero : count->missing);
}

std::string OpenErrors::sentence(const std::string& station) const {
  std::string list;
  for (const Count& c : counts_) {
    if (c.open() == 0) continue;
    std::string kinds;
    const auto add = [&](int n, const char* what) {
      if (n == 0) return;
      kinds += n == c.open() ? std::string(what) : fmt::format("{}{} {}", kinds.empty() ? "" : ", ", n, what);
    };
    add(c.negative, "negative");
    add(c.zero, "zero");
    add(c.missing, "missing or not a number");
    list += fmt::format("{}{} {} of {} ({})", list.empty() ? "" : ", ", c.element, c.open(), c.values, kinds);
  }
  if (list.empty()) return {};
  return fmt::format(
      "station {}: values without a usable error: {}; the error floors alone count there (floors of 0 mask "
      "them as bad_error)",
      station, list);
}

}  // namespace lodestone::io::edi
