// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/run_folder.hpp"
#include "apps/mt_invert/method/stages.hpp"
#include "inversion/optimize/optimizer.hpp"
#include "io/run/uncertainty.hpp"
#include "physics/mt/survey.hpp"

#include <functional>
#include <optional>

namespace lodestone::mt_invert::method {

/// A minimization that is over, and what it was of.
struct EndedRun {
  const config::Config& config;
  const physics::mt::ObservedData& data;  ///< the kept ones
  const Stage &first, &last;              ///< the same without a polish
  const inversion::optimize::InversionSummary& summary;
  const RunFolder& folder;
};

/// Whether samples in the run's folder are gone on from.
enum class Samples : std::uint8_t { none, kept };

struct Findings {
  std::optional<io::run::Uncertainty> uncertainty{};  ///< nothing where it was not asked for, cannot be had
                                                      ///< (said in a warning), or the samples were stopped
  std::optional<inversion::optimize::StopReason> stopped{};
};

/// What [uncertainty] asks for, in the unknowns of the last stage that took a step (codes where steps of
/// cells and codes took turns), with the λ of that step. Samples go to ensemble.h5 as they come, those of
/// this model there are kept; `stop` is asked after each of them. collective. errors: FileError, FormatError
/// (of ensemble.h5).
[[nodiscard]] Findings find_uncertainty(
    const EndedRun& run, Samples in_folder,
    const std::function<std::optional<inversion::optimize::StopReason>()>& stop);

}  // namespace lodestone::mt_invert::method
