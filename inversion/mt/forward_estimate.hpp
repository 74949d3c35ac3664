// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the recipe alone asks for the cost of simulations.
#pragma once

#include "inversion/mt/forward.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace lodestone::inversion::mt {

/// Returns the rule by which the cost of simulations of a survey is estimated: the frequency in the middle of
/// the list is timed on one thread and scaled to all of them, shared by all ranks and threads. Meshes grow
/// with the contrasts of the model: half the iterations are counted on those of the start model, half on
/// those of `expected`, a guess of the final one; an empty function: none is known. collective.
template <class Dimension>
[[nodiscard]] std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations<Dimension>> simulations, physics::mt::Survey survey,
    std::function<std::optional<Eigen::VectorXd>()> expected = {});

}  // namespace lodestone::inversion::mt
