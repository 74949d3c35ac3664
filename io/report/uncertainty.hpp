// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/run/result.hpp"

namespace lodestone::io::report {

/// p5, p50 and p95 of the models of an ensemble, one above the other. The result has an ensemble.
[[nodiscard]] Canvas percentiles_picture(const run::InversionResult& result);
/// Standard deviations of log10 resistivity, of the posterior and of the ensemble as far as there are, on a
/// scale from 0 to at most 1 decade. The result has one of them.
[[nodiscard]] Canvas deviations_picture(const run::InversionResult& result);

}  // namespace lodestone::io::report
