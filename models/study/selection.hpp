// SPDX-License-Identifier: Apache-2.0
// Private: what tables and targets pick of the entries.
#pragma once

#include "models/study/study.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

namespace lodestone::models::study {

using Entries = std::vector<Entry>;

/// Residuals and iterations as published. source: release announcement of MindSpore 2.3.RC1 for Zhou et al.
/// 2024; their order of cases.
struct Published {
  const char* section;
  double feature_c, pixel_c;
  int feature_iterations, pixel_iterations;
};
inline constexpr Published published[] = {{"A", 0.0056, 0.023, 4, 6}, {"B", 0.0054, 0.024, 4, 4}};

template <class Which>
Entries only(const Entries& entries, Which&& which) {
  Entries result;
  std::ranges::copy_if(entries, std::back_inserter(result), which);
  return result;
}

/// Returns the entries of a case, and of a family, without variants.
[[nodiscard]] Entries of_case(const Entries& entries, const std::string& section);
[[nodiscard]] Entries of_family(const Entries& entries, const std::string& family);

/// Returns a figure of all entries of a method that start from the half-space, and its median.
[[nodiscard]] std::vector<double> figures_of(const Entries& entries, Method method, double Figures::*figure);
[[nodiscard]] double median(const Entries& entries, Method method, double Figures::*figure);

/// Returns a quantile of numbers in any order, linear between the sorted ones (Hyndman & Fan 1996, definition
/// 7); NaN without any.
[[nodiscard]] double quantile(std::vector<double> values, double share);

}  // namespace lodestone::models::study
