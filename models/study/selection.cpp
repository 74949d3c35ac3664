// SPDX-License-Identifier: Apache-2.0
#include "models/study/selection.hpp"

#include <limits>

namespace lodestone::models::study {

Entries of_case(const Entries& entries, const std::string& section) {
  return only(entries, [&](const Entry& e) { return e.section == section && e.variant.empty(); });
}

Entries of_family(const Entries& entries, const std::string& family) {
  return only(entries, [&](const Entry& e) { return e.family == family && e.variant.empty(); });
}

std::vector<double> figures_of(const Entries& entries, Method method, double Figures::*figure) {
  std::vector<double> values;
  for (const Entry& entry : entries) {
    if (entry.method == method && entry.start == Start::half_space) values.push_back(entry.figures.*figure);
  }
  return values;
}

double median(const Entries& entries, Method method, double Figures::*figure) {
  return quantile(figures_of(entries, method, figure), 0.5);
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace lodestone::models::study
