// SPDX-License-Identifier: Apache-2.0
// Small on purpose: command lines include it, and nothing else of the study.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace lodestone::models::study {

/// The extent of a study.
struct Options {
  bool quick = false;               ///< one model of each family, noise of 5 %, fewer stations
  bool sweep = false;               ///< the weights of every method ×10 and ÷10 as well
  bool tm = false;                  ///< TM data beside TE
  int n_models = 20;                ///< random models of each family; 0: the two cases alone
  std::vector<std::string> only{};  ///< "cases" and families; empty: all of them
  /// Returns whether a part runs: "cases", or a family.
  [[nodiscard]] bool includes(const std::string& part) const {
    return only.empty() || std::ranges::count(only, part) > 0;
  }
};

}  // namespace lodestone::models::study
