// SPDX-License-Identifier: Apache-2.0
#include "inversion/unknowns.hpp"

#include "inversion/objective/parameter_maps.hpp"

#include <utility>

namespace lodestone::inversion {

using physics::mesh::Scale;

Unknowns::Unknowns(FreeCells cells, Scale scale, std::optional<Bounds> bounds, Eigen::Index n_further,
                   std::shared_ptr<const prior::Regions> regions)
    : cells_(std::move(cells)),
      scale_(scale),
      bounds_(bounds),
      n_further_(n_further),
      regions_(std::move(regions)),
      coded_(regions_ ? regions_->map() : nullptr) {
  if (bounds_) to_values_ = objective::bounds_map(n_free(), bounds_->lower, bounds_->upper);
  if (coded_) to_values_ = coded_;
  if (scale_ == Scale::log10) to_quantity_ = objective::exp10_map(n_free());
  if (!to_values_) return;
  to_quantity_ = to_quantity_ ? core::compose(to_quantity_, to_values_) : to_values_;
}

Eigen::VectorXd Unknowns::from_cells(const Eigen::VectorXd& values) const {
  const Eigen::VectorXd of_free = values(cells_.cells);
  if (coded_) return coded_->encode(of_free, regions_->encoding());
  return bounds_ ? objective::unbounded(of_free, bounds_->lower, bounds_->upper) : of_free;
}

Eigen::VectorXd Unknowns::decoded_from(const Eigen::VectorXd& values) const {
  constexpr prior::EncodeOptions exact{.sigma_decades = 1e-4,
                                       .max_iterations = 100};  // the prior of the codes hardly counts
  return coded_->encode(values(cells_.cells), exact);
}

Eigen::VectorXd Unknowns::with_zeros(const Eigen::VectorXd& values) const {
  Eigen::VectorXd unknowns = Eigen::VectorXd::Zero(size());
  unknowns.head(n_of_cells()) = from_cells(values);
  return unknowns;
}

Eigen::VectorXd Unknowns::to_cells(const Eigen::VectorXd& unknowns) const {
  const auto of_cells = unknowns.head(n_of_cells());
  Eigen::VectorXd values = cells_.held;
  values(cells_.cells) = to_values_ ? to_values_->value(of_cells) : Eigen::VectorXd(of_cells);
  return values;
}

Eigen::VectorXd Unknowns::slope_of_cells(const Eigen::VectorXd& unknowns) const {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n_free());
  return bounds_ ? Eigen::VectorXd(to_values_->linearize(unknowns.head(n_free()))->jvp(ones)) : ones;
}

core::MapPtr Unknowns::behind(core::MapPtr map) const {
  if (n_free() < cells_.held.size()) {
    Eigen::VectorXd held = cells_.held;
    if (scale_ == Scale::log10) held = Eigen::pow(10.0, held.array());
    map = core::restrict_unknowns(std::move(map), cells_.cells, std::move(held));
  }
  return to_quantity_ ? core::compose(std::move(map), to_quantity_) : map;
}

}  // namespace lodestone::inversion
