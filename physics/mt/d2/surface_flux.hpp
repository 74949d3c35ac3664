// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: numbers computed from the field with their derivatives, among them the flux through
// the surface.
#pragma once

#include "physics/mt/d2/mode_operator.hpp"

#include <Eigen/Core>

#include <complex>
#include <utility>
#include <vector>

namespace lodestone::physics::mt::d2 {

using Complex = std::complex<double>;

/// F and dF = Σ gradient·du + Σ direct weight·((∂A_cell/∂property) u)[local]·dproperty + Σ property
/// weight·dproperty.
struct TransferDerivative {
  struct Direct {
    int cell, local;
    Complex weight;
  };
  struct Property {
    int cell;  ///< cell of its property 0
    Complex weight;
  };
  Complex value{};
  std::vector<std::pair<int, Complex>> gradient{};  ///< (node, ∂F/∂u)
  std::vector<Direct> direct{};
  std::vector<Property> property{};

  /// this += a·other.
  void add(Complex a, const TransferDerivative& other);
};

[[nodiscard]] TransferDerivative quotient(const TransferDerivative& numerator,
                                          const TransferDerivative& denominator);

/// The divisor of the flux q (TE: ∂E/∂n, TM: ρ ∂H/∂n) before its interpolation: 1, or ρ, since J = q/ρ does
/// not jump at contacts.
enum class FluxDensity { flux, current };

/// The normal flux through the surface of the solid earth at one place. Private to physics/mt.
///
/// Testing the cells of the earth alone with the shape function of a surface node leaves ∫qφ. This is exact
/// for the discrete problem and one order better than the derivative of the field (Carey 1982). Divided by
/// ∫ρφ (or ∫φ) this is the mean of J (or q) over the shape function, so it stands at the centroid of ρφ;
/// between centroids it is interpolated. A mean never overshoots where J bends sharply, as beside contacts.
class SurfaceFlux {
 public:
  /// Collects the nodes of a flux. `arc_m`: arc length of every mesh line along the surface; the station lies
  /// in `column`, a share `t` of its width from its left line.
  SurfaceFlux(const BandMesh& band, const std::vector<double>& arc_m, int column, double t);

  [[nodiscard]] TransferDerivative at_station(const ModeOperator& problem, double omega,
                                              const Eigen::MatrixXd& properties,
                                              const Eigen::VectorXcd& field, FluxDensity density) const;

 private:
  /// The part of a node's shape function inside one column of cells.
  struct Side {
    int cell, local;
    double mass, moment;  ///< ∫φ, ∫φ (s − s_node), m and m²
  };
  struct Node {
    double arc_m;
    std::vector<Side> sides;
  };
  struct Mean;
  void add_node(const BandMesh& band, const std::vector<double>& arc_m, int node);
  [[nodiscard]] static Mean mean(const Node& node, const ModeOperator& problem, double omega,
                                 const Eigen::MatrixXd& properties, const Eigen::VectorXcd& field,
                                 FluxDensity density);

  std::vector<Node> nodes_;  ///< around the station, in order
  int left_ = 0;             ///< index into nodes_: the station lies between it and the next
  int station_cell_;
  double station_arc_m_;
};

}  // namespace lodestone::physics::mt::d2
