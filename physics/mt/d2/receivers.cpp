// SPDX-License-Identifier: Apache-2.0
// Symbols: s arc length along the surface (to +y), n the outward (upward) normal, q = ∂E/∂n (TE) or ρ ∂H/∂n
// (TM).
#include "physics/mt/d2/receivers.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {

namespace {

/// Returns Σ weight·u(node).
TransferDerivative interpolated(const std::vector<std::pair<int, double>>& weights,
                                const Eigen::VectorXcd& field) {
  TransferDerivative result;
  for (const auto& [node, weight] : weights) {
    result.value += weight * field[node];
    result.gradient.emplace_back(node, weight);
  }
  return result;
}

}  // namespace

Receiver::Place::Place(const fem::QuadMesh& mesh, double y_m) : column(mesh.column_of(y_m)), arc_m{0.0} {
  const int ground = mesh.ground();
  for (int i = 0; i < mesh.n_y(); ++i)
    arc_m.push_back(arc_m.back() +
                    std::hypot(mesh.y(i + 1) - mesh.y(i), mesh.z(ground, i + 1) - mesh.z(ground, i)));
  t = (y_m - mesh.y(column)) / (mesh.y(column + 1) - mesh.y(column));
}

Receiver::Receiver(const BandMesh& band, const Station& station)
    : Receiver(band, station, Place(band.mesh, station.y_m)) {}

Receiver::Receiver(const BandMesh& band, const Station& station, const Place& place)
    : flux_(band, place.arc_m, place.column, place.t),
      under_sea_(!(band.mesh.is_land(place.column) && band.mesh.is_land(place.column + 1))),
      water_ohm_m_(band.sea_resistivity_ohm_m) {
  const fem::QuadMesh& mesh = band.mesh;
  const int column = place.column, ground = mesh.ground();
  if (station.definition == Definition::horizontal) {
    const double length = place.arc_m[column + 1] - place.arc_m[column];
    cos_ = (mesh.y(column + 1) - mesh.y(column)) / length;
    sin_ = (mesh.z(ground, column + 1) - mesh.z(ground, column)) / length;
  }
  place_value(band, place);
  if (band.order == 1) place_tangent(mesh, place);
}

void Receiver::place_value(const BandMesh& band, const Place& place) {
  const fem::QuadMesh& mesh = band.mesh;
  const fem::QuadElement shape(band.order);
  const double length = place.arc_m[place.column + 1] - place.arc_m[place.column];
  const int nodes_per_line = band.order * mesh.n_z() + 1;
  for (int a = 0; a <= band.order; ++a) {
    const int node = (band.order * place.column + a) * nodes_per_line + band.order * mesh.ground();
    value_.emplace_back(node, shape.shape(a, place.t));
    if (band.order > 1) tangent_.emplace_back(node, shape.slope(a, place.t) / length);
  }
}

void Receiver::place_tangent(const fem::QuadMesh& mesh, const Place& place) {
  const int n = mesh.n_y();
  if (n < 2) return;
  const auto& arc = place.arc_m;
  const auto middle = [&](int edge) { return 0.5 * (arc[edge] + arc[edge + 1]); };
  const int left = std::clamp(place.t < 0.5 ? place.column - 1 : place.column, 0, n - 2);
  const double s = arc[place.column] + place.t * (arc[place.column + 1] - arc[place.column]);
  const double t = (s - middle(left)) / (middle(left + 1) - middle(left));
  for (const auto& [edge, weight] : {std::pair{left, 1.0 - t}, std::pair{left + 1, t}}) {
    const double length = arc[edge + 1] - arc[edge];
    tangent_.emplace_back(mesh.node(mesh.ground(), edge + 1), weight / length);
    tangent_.emplace_back(mesh.node(mesh.ground(), edge), -weight / length);
  }
}

/// E along the surface is −q. E along the normal is ρ ∂H/∂s, that of the water (on land H does not vary along
/// the surface).
TransferDerivative Receiver::tm_impedance(const TransferDerivative& normal,
                                          const Eigen::VectorXcd& field) const {
  TransferDerivative e_y;
  e_y.add(-cos_, normal);
  if (!under_sea_) return e_y;  // H = 1
  e_y.add(sin_ * water_ohm_m_, interpolated(tangent_, field));
  return quotient(e_y, interpolated(value_, field));
}

TransferDerivative Receiver::evaluate(Transfer transfer, const ModeOperator& problem, double omega,
                                      const Eigen::MatrixXd& properties,
                                      const Eigen::VectorXcd& field) const {
  const bool current = problem.mode() == Mode::tm && !under_sea_;
  const TransferDerivative normal =
      flux_.at_station(problem, omega, properties, field, current ? FluxDensity::current : FluxDensity::flux);
  if (problem.mode() == Mode::tm) return tm_impedance(normal, field);
  const Complex to_h = 1.0 / (Complex(0.0, 1.0) * omega * mu0);
  const TransferDerivative tangential = interpolated(tangent_, field);
  TransferDerivative h_y;  // −∂E/∂z /(iωμ)
  h_y.add(to_h * cos_, normal);
  h_y.add(-to_h * sin_, tangential);
  if (transfer == Transfer::impedance) return quotient(interpolated(value_, field), h_y);
  TransferDerivative h_z;  // +∂E/∂y /(iωμ)
  h_z.add(to_h * cos_, tangential);
  h_z.add(to_h * sin_, normal);
  return quotient(h_z, h_y);
}

}  // namespace lodestone::physics::mt::d2
