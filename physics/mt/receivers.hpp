// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/mesh_design.hpp"
#include "physics/mt/mode_operator.hpp"

#include <utility>
#include <vector>

namespace lodestone::physics::mt {

/// What a station measures, as a function of the field: impedance (TE: Zxy, TM: Zyx) or tipper.
enum class Transfer : std::uint8_t { impedance, tipper };

/// A transfer function at the current field with its derivative:
/// dF = Σ gradient·du + Σ direct weight·((∂A_cell/∂property) u)[local]·dproperty + Σ property weight·dproperty.
struct TransferDerivative {
  struct Direct {
    int cell, local;
    Complex weight;
  };
  struct Property {
    int cell;  ///< of its property 0
    Complex weight;
  };
  Complex value;
  std::vector<std::pair<int, Complex>> gradient;  ///< (node, ∂F/∂u)
  std::vector<Direct> direct;
  std::vector<Property> property;
};

/// The station's functionals on one mesh: the field and its tangential derivative by interpolation along the surface, the normal flux by the residual of
/// the earth's side tested with the surface nodes (exact for the discrete problem, second order; Carey 1982). The flux of a node is the mean over its
/// hat function, so it stands at the hat's centroid; both interpolations are second order on uneven meshes.
///
/// The flux of TM is E, which jumps at contacts; what is interpolated is the current density J = E/ρ, which does not: a node's J is the flux over the hat's
/// ∫ρ, at the hat's centroid weighted by ρ, and E = ρJ with the ρ of the station's cell. A station near a contact then needs no smaller cells than others.
/// On the sea floor the water above carries E over the contact, and E itself is interpolated.
class Receiver {
 public:
  Receiver(const BandMesh& band, const Station& station);

  /// TE or TM transfer function at the given field (n_nodes). units: ohm; none for the tipper.
  [[nodiscard]] TransferDerivative evaluate(Transfer transfer, const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                            const Eigen::VectorXcd& field) const;

 private:
  struct Weighted {
    int index;
    double weight;
  };
  void place_flux(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, int column, double s);
  [[nodiscard]] bool interpolates_current(const ModeOperator& problem) const { return problem.mode() == Mode::tm && !under_sea_; }
  [[nodiscard]] TransferDerivative tm_impedance(const TransferDerivative& normal, const Eigen::VectorXcd& field) const;
  void place_tangent(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, double s);
  /// A mesh line on the surface: the mean of the flux over its hat function weighted by the density ρ (TM) or 1 (TE), and where it stands.
  struct Hat;
  [[nodiscard]] Hat hat(int line, const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                        const Eigen::VectorXcd& field) const;
  [[nodiscard]] TransferDerivative flux(const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                        const Eigen::VectorXcd& field) const;

  std::vector<Weighted> value_, tangent_;  ///< nodes
  std::vector<double> arc_;                ///< m, of the mesh lines first_line_ … around the station
  int first_line_ = 0, n_rows_ = 0;        ///< of earth cells per column
  int column_ = 0;                         ///< that holds the station
  double s_ = 0.0;                         ///< arc length at the station, m
  double cos_ = 1.0, sin_ = 0.0;           ///< of the angle between the surface and the station's y axis
  bool under_sea_ = false;
  double water_ohm_m_ = 0.0;
};

}  // namespace lodestone::physics::mt
