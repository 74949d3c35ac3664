// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: Lagrange elements on quadrilaterals with two vertical sides.
#pragma once

#include <array>
#include <vector>

namespace lodestone::physics::fem {

/// Shape functions of order 1 (bilinear) or 2 (biquadratic) on a cell with straight sides, nodes row by row
/// from the top left.
class QuadElement {
 public:
  /// Makes an element of order 1 or 2. errors: InvalidArgument for another order.
  explicit QuadElement(int order);

  [[nodiscard]] int order() const { return order_; }
  [[nodiscard]] int n_nodes() const { return (order_ + 1) * (order_ + 1); }
  /// Pairs (a, b) with a ≤ b.
  [[nodiscard]] int n_pairs() const { return n_nodes() * (n_nodes() + 1) / 2; }
  [[nodiscard]] int pair(int a, int b) const {
    return a <= b ? a * n_nodes() - a * (a - 1) / 2 + (b - a) : b * n_nodes() - b * (b - 1) / 2 + (a - b);
  }
  /// Computes ∫∂yφ_a ∂yφ_b, ∫∂zφ_a ∂zφ_b and ∫φ_a φ_b of all pairs, one block of n_pairs after the other.
  /// shapes: z (corners: top left, top right, bottom left, bottom right), out (3·n_pairs).
  void integrate(double width_m, const std::array<double, 4>& z_m, double* out) const;

  /// Returns ∫φ_a φ_b and ∫φ_a on a horizontal or vertical edge of length 1. indices: 0 … order.
  [[nodiscard]] double edge_mass(int a, int b) const { return edge_mass_[a][b]; }
  [[nodiscard]] double edge_load(int a) const { return edge_load_[a]; }
  /// Returns φ_a and its derivative at t in [0, 1] of an edge of length 1.
  [[nodiscard]] double shape(int a, double t) const;
  [[nodiscard]] double slope(int a, double t) const;

 private:
  struct GaussPoint {
    double s, t, weight;
    std::vector<double> shape, d_s, d_t;
  };
  int order_;
  std::vector<GaussPoint> points_;
  std::array<std::array<double, 3>, 3> edge_mass_{};
  std::array<double, 3> edge_load_{};
};

}  // namespace lodestone::physics::fem
