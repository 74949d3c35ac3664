// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/model_space.hpp"

#include "inversion/parameter_maps.hpp"

namespace lodestone::mt_invert {

ModelSpace::ModelSpace(Eigen::Index n_cells, std::optional<BoundsConfig> bounds)
    : bounds_(bounds), to_resistivity_(inversion::exp10_map(n_cells)) {
  if (!bounds_) return;
  to_log10_ = inversion::bounds_map(n_cells, bounds_->lower_log10, bounds_->upper_log10);
  to_resistivity_ = core::compose(to_resistivity_, to_log10_);
}

Eigen::VectorXd ModelSpace::from_log10(const Eigen::VectorXd& log10_resistivity) const {
  return bounds_ ? inversion::unbounded(log10_resistivity, bounds_->lower_log10, bounds_->upper_log10) : log10_resistivity;
}

Eigen::VectorXd ModelSpace::to_log10(const Eigen::VectorXd& model) const { return bounds_ ? to_log10_->value(model) : model; }

core::MapPtr ModelSpace::behind(core::MapPtr simulation) const { return core::compose(std::move(simulation), to_resistivity_); }

}  // namespace lodestone::mt_invert
