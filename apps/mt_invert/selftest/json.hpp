// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/selftest/selftest.hpp"
#include "io/run/result.hpp"

namespace lodestone::mt_invert::selftest {

/// What one benchmark gave and how long it took.
struct SelftestResult {
  std::string name;
  SelftestReport report;
  double cpu_s = 0.0;  ///< processor time of this rank
};

/// {"header": {version, commit, compiler, machine, ranks, accuracy, started_utc, command}, "benchmarks":
/// [{benchmark, passed, cpu_s, note}], "results": [{benchmark, what, units, reference, ours, difference,
/// difference_units, limit, judged, passed}], "runs": [{benchmark, facts, figures of each run that it
/// compares}]}; numbers that are not finite become null.
[[nodiscard]] std::string selftest_json(const io::run::Provenance& provenance,
                                        physics::mt::d2::Accuracy accuracy,
                                        const std::vector<SelftestResult>& results);

}  // namespace lodestone::mt_invert::selftest
