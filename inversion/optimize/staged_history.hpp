// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/directive.hpp"

#include <string>
#include <vector>

namespace lodestone::inversion::optimize {

/// A row of the iteration table of a run that has stages, each a minimization of its own; iterations are
/// counted over all of them.
struct StagedRecord final : IterationRecord {
  std::string stage = "cells";  ///< "cells", or with a learned prior "features" and then "polish"; "final" of
                                ///< the last steps, at the final accuracy
};

/// The present stage of a run: its name and the rows of the stages before. Its start model bears the number
/// of the last model before it, which it is.
struct StagedHistory {
  std::string stage;
  std::vector<StagedRecord> before{};

  [[nodiscard]] int n_iterations_before() const { return before.empty() ? 0 : before.back().iteration; }
  /// Returns all rows so far. `history`: rows of the present stage.
  [[nodiscard]] std::vector<StagedRecord> with(const std::vector<IterationRecord>& history) const {
    std::vector<StagedRecord> rows = before;
    for (IterationRecord record : history) {
      record.iteration += n_iterations_before();
      rows.push_back({record, stage});
    }
    return rows;
  }
};

}  // namespace lodestone::inversion::optimize
