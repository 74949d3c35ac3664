// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/d2/surface_flux.hpp"

#include <utility>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// The quantity that a station measures, as a function of the field: impedance (TE: Zxy, TM: Zyx) or tipper.
enum class Transfer : std::uint8_t { impedance, tipper };

/// The station's functionals on one mesh: the field and its tangential derivative by the shape functions of
/// its cell (order 1: the derivative between the middles of edges), the normal flux by `SurfaceFlux`. Private
/// to physics/mt.
///
/// In TM on land the flux is interpolated as current density, so that a station near a contact needs no
/// smaller cells than others. On the sea floor the water above carries E over the contact, and E itself is
/// interpolated.
class Receiver {
 public:
  Receiver(const BandMesh& band, const Station& station);

  /// Returns the TE or TM transfer function at the given field (n_nodes). units: ohm; none for the tipper.
  [[nodiscard]] TransferDerivative evaluate(Transfer transfer, const ModeOperator& problem, double omega,
                                            const Eigen::MatrixXd& properties,
                                            const Eigen::VectorXcd& field) const;

 private:
  /// The place of a station: mesh column, share of its width, arc length of the mesh lines along the ground.
  struct Place {
    int column;
    double t;
    std::vector<double> arc_m;
    Place(const fem::QuadMesh& mesh, double y_m);
  };
  Receiver(const BandMesh& band, const Station& station, const Place& place);
  void place_value(const BandMesh& band, const Place& place);
  void place_tangent(const fem::QuadMesh& mesh, const Place& place);
  [[nodiscard]] TransferDerivative tm_impedance(const TransferDerivative& normal,
                                                const Eigen::VectorXcd& field) const;

  std::vector<std::pair<int, double>> value_, tangent_;  ///< (lattice node, weight)
  SurfaceFlux flux_;
  double cos_ = 1.0,
         sin_ = 0.0;  ///< cosine and sine of the angle between the surface and the station's y axis
  bool under_sea_;
  double water_ohm_m_;
};

}  // namespace lodestone::physics::mt::d2
