// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/survey.hpp"

#include <vector>

namespace lodestone::physics::mt {

/// A static shift is one number s per station and mode: it adds s to log10 ρₐ and multiplies the impedance by
/// 10^{s/2}; phase and tipper do not feel it.
struct StaticShiftKey {
  Mode mode;
  int station;  ///< index into Survey::stations
};

/// The shifts that the data of a survey feel: every station and mode with an impedance or an apparent
/// resistivity. order: mode, then station.
[[nodiscard]] std::vector<StaticShiftKey> static_shift_keys(const Survey& survey,
                                                            const std::vector<Mode>& modes);

/// Data with shifts in decades of apparent resistivity; a station and mode without a key stays as it is.
/// shapes: data (survey.keys.size()), shifts (keys.size()). errors: ShapeError.
[[nodiscard]] Eigen::VectorXd shifted(const core::ConstVectorRef& data, const Survey& survey,
                                      const std::vector<StaticShiftKey>& keys,
                                      const core::ConstVectorRef& shifts);

/// [unknowns of `forward`; shifts] → [shifted data; shifts]. The last rows are what a prior on the shifts is
/// compared with. errors: ShapeError when `forward` does not give the survey's data; InvalidArgument on a key
/// outside the survey. source: deGroot-Hedlin 1991, Geophysics 56, 1290.
[[nodiscard]] core::MapPtr with_static_shifts(core::MapPtr forward, const Survey& survey,
                                              const std::vector<StaticShiftKey>& keys);

}  // namespace lodestone::physics::mt
