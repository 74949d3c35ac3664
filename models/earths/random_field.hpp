// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"

namespace lodestone::models::earths {

/// Correlation over a distance r, in units of the correlation length.
enum class Correlation {
  exponential,  ///< exp(−r): continuous, rough
  gaussian,     ///< exp(−r²/2): very smooth
};
constexpr auto words(Correlation) {
  using enum Correlation;
  return core::Words<Correlation>{{gaussian, "gaussian"}, {exponential, "exponential"}};
}

struct RandomFieldOptions {
  GeneratorPtr background = {};        ///< mean at every cell; none: the next range
  Range mean{1.0, 3.0};                ///< log10 of ohm m, one number for a draw
  Range standard_deviation{0.2, 0.6};  ///< decades, one number for a draw
  Range horizontal_length_m{};         ///< log-uniform; has no default
  Range vertical_length_m{};           ///< at the surface, log-uniform; has no default
  double vertical_growth = 0.0;        ///< the vertical length grows by so many metres per metre of depth
  Correlation correlation = Correlation::gaussian;
};

/// A Gaussian random field at the cells' centres, with correlation c(Δz/l_z)·c(Δy/l_y), in
/// volumes times c(Δx/l_x). It has one factor of the covariance for rows and one for columns, so the
/// covariance is exact on any grid. cost: O(n_z³ + n_y³ + n_cells·(n_z + n_columns)). source: Rue & Held
/// 2005, Gaussian Markov Random Fields, section 2.4 (sampling with the Cholesky factor).
class RandomField final : public Generator {
 public:
  /// Checks the options. errors: InvalidArgument (ranges).
  explicit RandomField(RandomFieldOptions options);
  [[nodiscard]] std::string kind() const override { return "random_field"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid& grid) const override;

 private:
  RandomFieldOptions options_;
};

}  // namespace lodestone::models::earths
