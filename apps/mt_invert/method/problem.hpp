// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/config.hpp"
#include "apps/mt_invert/method/earth.hpp"
#include "inversion/mt/forward.hpp"

#include <memory>
#include <vector>

namespace lodestone::mt_invert::method {

/// The inverse problem of a configuration, and what its results need beside.
struct Setup {
  std::shared_ptr<const inversion::mt::Simulations> simulations;
  std::vector<physics::mt::StaticShiftKey> shifts;
  inversion::Problem problem;
};

/// Makes the problem of a configuration; reads the networks of a learned prior and logs the static shifts.
/// errors: FileError, FormatError of the networks.
[[nodiscard]] Setup make_setup(MPI_Comm comm, const config::Config& config, const Earth& earth,
                               const physics::mt::ObservedData& data);

}  // namespace lodestone::mt_invert::method
