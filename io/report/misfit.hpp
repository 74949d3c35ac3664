// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/run/result.hpp"

namespace lodestone::io::report {

/// Rms of the kept data per site, per period and per type of datum, as bars.
[[nodiscard]] Canvas misfit_picture(const run::InversionResult& result);

/// Rms and λ per iteration, side by side.
[[nodiscard]] Canvas history_picture(const run::InversionResult& result);

}  // namespace lodestone::io::report
