// SPDX-License-Identifier: Apache-2.0
#include "basin_gravity.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace basin {
namespace {

using lodestone::core::ConstMatrixRef;
using lodestone::core::Linearization;

constexpr double gravitational_constant = 6.67430e-11;  // m³ kg⁻¹ s⁻²
constexpr double mgal_per_si = 1e5;

/// Gravity at one point, with its dense derivative.
class GravityAt final : public Linearization {
 public:
  GravityAt(Eigen::VectorXd value, Eigen::MatrixXd jacobian)
      : Linearization(jacobian.cols(), std::move(value)), jacobian_(std::move(jacobian)) {}

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override { return jacobian_ * directions; }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return jacobian_.transpose() * directions;
  }
  Eigen::MatrixXd do_jacobian() const override { return jacobian_; }

  Eigen::MatrixXd jacobian_;
};

}  // namespace

BasinGravity::BasinGravity(BasinOptions options) : options_(std::move(options)) {
  if (size_in() == 0 || size_out() == 0 || options_.column_width_m <= 0.0 ||
      options_.station_height_m <= 0.0) {
    throw lodestone::core::InvalidArgument(
        name(),
        "expected stations, columns and positive sizes, got {} stations, {} columns, width {} m, height {} m",
        size_out(), size_in(), options_.column_width_m, options_.station_height_m);
  }
}

std::unique_ptr<Linearization> BasinGravity::do_linearize(
    const lodestone::core::ConstVectorRef& thickness_m) const {
  const double scale =
      gravitational_constant * options_.density_contrast_kg_m3 * options_.column_width_m * mgal_per_si;
  const double top = options_.station_height_m;
  Eigen::VectorXd gravity = Eigen::VectorXd::Zero(size_out());
  Eigen::MatrixXd jacobian(size_out(), size_in());
  for (Eigen::Index i = 0; i < size_out(); ++i) {
    for (Eigen::Index j = 0; j < size_in(); ++j) {
      const double dy = options_.station_y_m[i] - options_.column_y_m[j];
      const double bottom = top + thickness_m[j];
      gravity[i] += scale * std::log((dy * dy + bottom * bottom) / (dy * dy + top * top));
      jacobian(i, j) = scale * 2.0 * bottom / (dy * dy + bottom * bottom);
    }
  }
  return std::make_unique<GravityAt>(std::move(gravity), std::move(jacobian));
}

}  // namespace basin
