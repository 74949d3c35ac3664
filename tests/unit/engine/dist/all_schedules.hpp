// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the schedules that all tests of pipelines go through.
#pragma once

#include "engine/dist/pipeline/schedules.hpp"

#include <string>
#include <vector>

namespace lodestone::tests {

struct NamedSchedule {
  std::string name;
  engine::PipelineSchedule schedule;
};

/// Returns all schedules that exist for these numbers; interleaved ones need multiples of the ranks.
inline std::vector<NamedSchedule> all_schedules(int n_ranks, int n_leaves) {
  std::vector<NamedSchedule> schedules{{"gpipe", engine::gpipe(n_ranks, n_leaves)},
                                       {"1f1b", engine::one_f_one_b(n_ranks, n_leaves)},
                                       {"zbv", engine::zero_bubble_v(n_ranks, n_leaves)}};
  if (n_leaves % n_ranks == 0) {
    schedules.push_back({"interleaved 2", engine::interleaved(n_ranks, n_leaves, 2)});
    schedules.push_back({"interleaved 3", engine::interleaved(n_ranks, n_leaves, 3)});
  }
  return schedules;
}

}  // namespace lodestone::tests
