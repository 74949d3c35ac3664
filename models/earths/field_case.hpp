// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/modifiers.hpp"
#include "models/earths/randomness.hpp"

namespace lodestone::models::earths {

/// Ranges of the field case; values are log10 of ohm m. The defaults are the published ones.
struct FieldCaseOptions {
  Range background{3.0, 4.2};  ///< constant from the surface to the conductor
  Range conductor_top_m{1e3, 15e3};
  Range conductor_thickness_m{2e3, 20e3};
  Range strong_conductor{-1.5, 0.4};
  Range weak_conductor{0.4, 1.5};
  double strong_share = 0.6;     ///< share of draws with a strong conductor; the others have a weak one
  int n_steps = 11;              ///< below the conductor, never less resistive than the one above
  Range steps_from{2.6, 2.7};    ///< lower end of the values the steps are drawn from
  Range steps_to{4.4, 4.5};      ///< upper end
  double steps_bottom_m = 80e3;  ///< deepest interface between steps
  BumpsOptions bumps;
  SmoothingOptions smoothing;
};

/// A resistive upper crust, one conductor, and below it resistivity that only grows with depth; the same in
/// every column. Bumps and smoothing act on the grid continued to the surface. source: training profiles of
/// the field case of Zhou et al. 2024, Geophysics 89(1) WA67; the geology is that of Khoza et al. 2013, JGR
/// 118, 4378–4397.
class FieldCase final : public Generator {
 public:
  /// Checks the options. errors: InvalidArgument (ranges; a conductor that may reach below the steps'
  /// bottom).
  explicit FieldCase(const FieldCaseOptions& options = {});
  [[nodiscard]] std::string kind() const override { return "field_case"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid&) const override {}

 private:
  FieldCaseOptions options_;
};

}  // namespace lodestone::models::earths
