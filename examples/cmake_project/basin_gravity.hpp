// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

namespace basin {

/// The stations of a gravity line and the columns of a basin.
struct BasinOptions {
  Eigen::VectorXd station_y_m;  ///< along the profile
  Eigen::VectorXd column_y_m;   ///< centres of the columns of sediment
  double column_width_m = 1000.0;
  double station_height_m = 500.0;         ///< above the top of the sediment (an airborne survey)
  double density_contrast_kg_m3 = -400.0;  ///< sediment minus basement
};

/// Vertical gravity of a sedimentary basin along a profile, from the thickness of its columns. A whole new
/// physics in one class.
///
/// Each column is a vertical sheet of infinite strike: g_i = G Δρ w Σ_j ln((Δy² + (s + h_j)²) / (Δy² + s²)).
/// shapes: thickness h in m (n_columns) → gravity in mGal (n_stations).
class BasinGravity final : public lodestone::core::DifferentiableMap {
 public:
  /// Makes the map. errors: InvalidArgument without stations or columns, or when a width or height is not
  /// positive.
  explicit BasinGravity(BasinOptions options);

  [[nodiscard]] Eigen::Index size_in() const override { return options_.column_y_m.size(); }
  [[nodiscard]] Eigen::Index size_out() const override { return options_.station_y_m.size(); }
  [[nodiscard]] std::string name() const override { return "basin::BasinGravity"; }

 private:
  std::unique_ptr<lodestone::core::Linearization> do_linearize(
      const lodestone::core::ConstVectorRef& thickness_m) const override;

  BasinOptions options_;
};

}  // namespace basin
