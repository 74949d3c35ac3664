// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/rho_phase.hpp"

#include <string>
#include <vector>

namespace lodestone::io::edi {

using physics::mt::Estimate;

/// Counts of values without a usable error (missing, zero or negative), by element and by the kind of error.
/// Internal to io/edi.
class OpenErrors {
 public:
  /// Counts one value. A missing one, and one that is exactly zero (the diagonal over 2-D models), needs no
  /// error; one of the diagonal may go without, but not with a senseless one. `stated`: the variance or error
  /// as it stands in the file; `line`: of its block, 0 without one.
  void look_at(const std::string& element, const Estimate& estimate, double stated, int line = 0);
  /// Returns one sentence for the user; empty when every value has an error.
  [[nodiscard]] std::string sentence(const std::string& station) const;
  /// Returns the line of the first block that has such an error.
  [[nodiscard]] int line() const { return line_; }

 private:
  struct Count {
    std::string element;
    int values = 0, missing = 0, zero = 0, negative = 0;
    [[nodiscard]] int open() const { return missing + zero + negative; }
  };
  std::vector<Count> counts_;
  int line_ = 1;
};

}  // namespace lodestone::io::edi
