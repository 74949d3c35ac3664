// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/observations.hpp"

#include <algorithm>

namespace lodestone::physics::mt {

Eigen::Index Observations::n_used() const {
  return std::count(reason.begin(), reason.end(), MaskReason::kept);
}

ObservedData Observations::observed_data() const { return {survey, value, sigma, reason, interpolated}; }

}  // namespace lodestone::physics::mt
