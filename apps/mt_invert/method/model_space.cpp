// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/model_space.hpp"

#include "inversion/objective/parameter_maps.hpp"

#include <utility>

namespace lodestone::mt_invert::method {

ModelSpace::ModelSpace(const Earth& earth, std::optional<config::BoundsConfig> bounds,
                       std::vector<physics::mt::StaticShiftKey> shifts,
                       std::shared_ptr<const Subdomains> subdomains)
    : bounds_(bounds),
      free_cells_(earth.free_cells),
      held_log10_(earth.reference_log10),
      shifts_(std::move(shifts)),
      subdomains_(std::move(subdomains)),
      coded_(subdomains_ ? subdomains_->map() : nullptr),
      to_resistivity_(inversion::objective::exp10_map(n_free())) {
  if (bounds_)
    to_log10_ = inversion::objective::bounds_map(n_free(), bounds_->lower_log10, bounds_->upper_log10);
  if (coded_) to_log10_ = coded_;
  if (!to_log10_) return;
  to_resistivity_ = core::compose(to_resistivity_, to_log10_);
}

Eigen::VectorXd ModelSpace::from_log10(const Eigen::VectorXd& log10_resistivity) const {
  const Eigen::VectorXd of_free = log10_resistivity(free_cells_);
  if (coded_) return coded_->encode(of_free, subdomains_->encoding());
  return bounds_ ? inversion::objective::unbounded(of_free, bounds_->lower_log10, bounds_->upper_log10)
                 : of_free;
}

Eigen::VectorXd ModelSpace::decoded_from(const Eigen::VectorXd& log10_resistivity) const {
  constexpr inversion::prior::EncodeOptions exact{
      .sigma_decades = 1e-4, .max_iterations = 100};  // the prior of the codes has no say
  return coded_->encode(log10_resistivity(free_cells_), exact);
}

Eigen::VectorXd ModelSpace::unshifted(const Eigen::VectorXd& log10_resistivity) const {
  Eigen::VectorXd unknowns = Eigen::VectorXd::Zero(n_of_cells() + n_shifts());
  unknowns.head(n_of_cells()) = from_log10(log10_resistivity);
  return unknowns;
}

Eigen::VectorXd ModelSpace::to_log10(const Eigen::VectorXd& unknowns) const {
  const auto of_cells = unknowns.head(n_of_cells());
  Eigen::VectorXd log10_resistivity = held_log10_;
  log10_resistivity(free_cells_) = to_log10_ ? to_log10_->value(of_cells) : Eigen::VectorXd(of_cells);
  return log10_resistivity;
}

Eigen::VectorXd ModelSpace::slope_of_log10(const Eigen::VectorXd& unknowns) const {
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n_free());
  return bounds_ ? Eigen::VectorXd(to_log10_->linearize(unknowns.head(n_free()))->jvp(ones)) : ones;
}

core::MapPtr ModelSpace::behind(core::MapPtr simulation) const {
  if (n_free() < held_log10_.size())
    simulation =
        core::restrict_unknowns(std::move(simulation), free_cells_, Eigen::pow(10.0, held_log10_.array()));
  return core::compose(std::move(simulation), to_resistivity_);
}

core::MapPtr ModelSpace::behind(core::MapPtr simulation, const physics::mt::Survey2D& survey) const {
  core::MapPtr map = behind(std::move(simulation));
  return shifts_.empty() ? map : physics::mt::with_static_shifts(std::move(map), survey, shifts_);
}

}  // namespace lodestone::mt_invert::method
