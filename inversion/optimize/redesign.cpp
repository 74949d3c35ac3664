// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/redesign.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace lodestone::inversion::optimize {

Redesign redesign_each_iteration(objective::Design design) {
  return [design = std::move(design)](const RedesignView& view) {
    return view.iteration <= 1 ? nullptr : design(view.model);
  };
}

Redesign redesign_until_near(double near_rms, objective::Design design) {
  if (!(near_rms > 0.0) || !std::isfinite(near_rms))
    throw core::InvalidArgument("inversion::redesign_until_near#wrong_rms", "expected a positive rms, got {}",
                                near_rms);
  return [near_rms, each = redesign_each_iteration(std::move(design))](const RedesignView& view) {
    const bool is_frozen =
        !view.history.empty() && was_near(view.history.first(view.history.size() - 1), near_rms);
    return is_frozen ? nullptr : each(view);
  };
}

Redesign redesign_as_rms_falls(double share, objective::Design design) {
  if (!(share > 0.0 && share < 1.0))
    throw core::InvalidArgument("inversion::redesign_as_rms_falls#wrong_share",
                                "expected a share of the rms between 0 and 1, got {}", share);
  return [share, each = redesign_each_iteration(std::move(design))](const RedesignView& view) {
    bool has_fallen = false;
    double at_last_design = std::numeric_limits<double>::infinity();
    for (const IterationRecord& row : view.history) {
      has_fallen = std::isfinite(at_last_design) && row.rms <= share * at_last_design;
      if (has_fallen || !std::isfinite(at_last_design)) at_last_design = row.rms;
    }
    return has_fallen ? each(view) : nullptr;
  };
}

bool was_near(std::span<const IterationRecord> history, double near_rms) {
  return std::ranges::any_of(history, [&](const IterationRecord& row) { return row.rms <= near_rms; });
}

}  // namespace lodestone::inversion::optimize
