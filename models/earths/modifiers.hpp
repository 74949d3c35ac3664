// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"

namespace lodestone::models::earths {

/// Gaussian bumps over depth, the same in every column. Widths are counted in cells, so that they grow with
/// depth as the grid does.
struct BumpsOptions {
  IntegerRange number{0, 8};
  IntegerRange width_cells{6, 19};  ///< beyond it a bump is cut off
  Range sd_cells{1.0, 4.0};         ///< standard deviation
  Range peak{0.1, 0.4};             ///< decades, of either sign
};
/// A weighted mean over neighbouring cells of a column, Gaussian within a window; at the ends over those that
/// exist.
struct SmoothingOptions {
  int window_cells = 8;
  double sd_cells = 5.0;
};

/// Checks the options of bumps. errors: InvalidArgument, in all checks below too.
void check(const BumpsOptions& options);
void check(const SmoothingOptions& options);

/// Changes a section in place. shapes: (n_z, n_y).
void add_bumps(Eigen::MatrixXd& section, const BumpsOptions& options, Draws& draws);
void smooth(Eigen::MatrixXd& section, const SmoothingOptions& options);

/// The draws of a generator with bumps. These are placed on the grid continued to the surface, so that a deep
/// subdomain gets its share of them.
class Bumped final : public Generator {
 public:
  Bumped(GeneratorPtr inner, BumpsOptions options);
  [[nodiscard]] std::string kind() const override { return inner_->kind(); }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid& grid) const override;

 private:
  GeneratorPtr inner_;
  BumpsOptions options_;
};

/// The draws of a generator on the grid continued to the surface, smoothed over depth.
class Smoothed final : public Generator {
 public:
  Smoothed(GeneratorPtr inner, SmoothingOptions options);
  [[nodiscard]] std::string kind() const override { return inner_->kind(); }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid& grid) const override;

 private:
  GeneratorPtr inner_;
  SmoothingOptions options_;
};

/// The draws of a generator with values outside a range set to its ends.
class Clipped final : public Generator {
 public:
  Clipped(GeneratorPtr inner, Range log10_resistivity);
  [[nodiscard]] std::string kind() const override { return inner_->kind(); }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid& grid) const override { inner_->check_grid(grid); }

 private:
  GeneratorPtr inner_;
  Range range_;
};

}  // namespace lodestone::models::earths
