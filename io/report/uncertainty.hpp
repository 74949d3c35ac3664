// SPDX-License-Identifier: Apache-2.0
// Small on purpose: two pictures that only runs with uncertainty have.
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/canvas.hpp"

namespace lodestone::io::report {

/// Returns p5, p50 and p95 of the models of an ensemble, one above the other. The outcome has an ensemble.
[[nodiscard]] Canvas percentiles_picture(const inversion::Outcome& outcome);
/// Returns standard deviations of log10 resistivity, on a scale from 0 to at most 1 decade. The outcome has
/// those of the posterior, of the ensemble, or both.
[[nodiscard]] Canvas deviations_picture(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
