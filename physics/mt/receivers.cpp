// SPDX-License-Identifier: Apache-2.0
// Symbols: s arc length along the surface (to +y), n the outward (upward) normal, q = ∂E/∂n (TE) or ρ ∂H/∂n (TM).
#include "physics/mt/receivers.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {

namespace {

struct Bracket {
  int left;
  double t;
};

/// Interval of increasing points that holds s and the position in it; the end intervals extrapolate.
Bracket bracket(const std::vector<double>& points, double s) {
  const auto right = std::upper_bound(points.begin(), points.end(), s) - points.begin();
  const int left = static_cast<int>(std::clamp<std::ptrdiff_t>(right - 1, 0, static_cast<std::ptrdiff_t>(points.size()) - 2));
  return {left, (s - points[left]) / (points[left + 1] - points[left])};
}

/// a·x + b·y for two derivatives of the same station.
void add(TransferDerivative& x, Complex a, const TransferDerivative& y) {
  x.value += a * y.value;
  for (const auto& [node, weight] : y.gradient) x.gradient.emplace_back(node, a * weight);
  for (const auto& direct : y.direct) x.direct.push_back({direct.cell, direct.local, a * direct.weight});
}

/// Derivative of numerator/denominator.
TransferDerivative quotient(const TransferDerivative& numerator, const TransferDerivative& denominator) {
  TransferDerivative result;
  add(result, 1.0 / denominator.value, numerator);
  const Complex ratio = result.value;
  add(result, -ratio / denominator.value, denominator);
  result.value = ratio;
  return result;
}

}  // namespace

Receiver::Receiver(const mesh::QuadMesh2D& mesh, double y_m) {
  const int top = mesh.n_air();
  std::vector<double> arc{0.0};
  for (int i = 0; i < mesh.n_y(); ++i)
    arc.push_back(arc.back() + std::hypot(mesh.y(i + 1) - mesh.y(i), mesh.z(top, i + 1) - mesh.z(top, i)));
  const int column = mesh.column_of(y_m);
  const double t = (y_m - mesh.y(column)) / (mesh.y(column + 1) - mesh.y(column));
  const double length = arc[column + 1] - arc[column];
  cos_ = (mesh.y(column + 1) - mesh.y(column)) / length;
  sin_ = (mesh.z(top, column + 1) - mesh.z(top, column)) / length;
  value_ = {{mesh.node(top, column), 1.0 - t}, {mesh.node(top, column + 1), t}};
  const double s = arc[column] + t * length;
  place_flux(mesh, arc, s);
  place_tangent(mesh, arc, s);
}

void Receiver::place_flux(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, double s) {
  const int n = mesh.n_y(), n_rows = mesh.n_z() - mesh.n_air();
  std::vector<double> centroid(n + 1);
  for (int i = 0; i <= n; ++i) {
    const double left = i > 0 ? arc[i - 1] : arc[0], right = i < n ? arc[i + 1] : arc[n];
    const double wl = arc[i] - left, wr = right - arc[i];
    centroid[i] = arc[i] + (wr * wr - wl * wl) / (3.0 * (wl + wr));
  }
  const auto [left, t] = bracket(centroid, s);
  for (const auto& [line, weight] : {Weighted{left, 1.0 - t}, Weighted{left + 1, t}}) {
    const double hat = 0.5 * (arc[std::min(line + 1, n)] - arc[std::max(line - 1, 0)]);
    if (line > 0) flux_.push_back({(line - 1) * n_rows, 1, weight / hat});
    if (line < n) flux_.push_back({line * n_rows, 0, weight / hat});
  }
}

void Receiver::place_tangent(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, double s) {
  const int n = mesh.n_y();
  std::vector<double> middle;
  for (int i = 0; i < n; ++i) middle.push_back(0.5 * (arc[i] + arc[i + 1]));
  if (n < 2) return;
  const auto [left, t] = bracket(middle, s);
  for (const auto& [edge, weight] : {Weighted{left, 1.0 - t}, Weighted{left + 1, t}}) {
    const double length = arc[edge + 1] - arc[edge];
    tangent_.push_back({mesh.node(mesh.n_air(), edge + 1), weight / length});
    tangent_.push_back({mesh.node(mesh.n_air(), edge), -weight / length});
  }
}

TransferDerivative Receiver::flux(const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                  const Eigen::VectorXcd& field) const {
  TransferDerivative result;
  for (const auto& [cell, local, weight] : flux_) {
    const auto matrix = problem.element(cell, omega, properties);
    const auto& nodes = problem.cell_nodes(cell);
    for (int b = 0; b < 4; ++b) {
      result.value += weight * matrix[local][b] * field[nodes[b]];
      result.gradient.emplace_back(nodes[b], weight * matrix[local][b]);
    }
    result.direct.push_back({cell, local, weight});
  }
  return result;
}

TransferDerivative Receiver::evaluate(Transfer transfer, const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                      const Eigen::VectorXcd& field) const {
  const auto interpolated = [&](const std::vector<Weighted>& weights) {
    TransferDerivative result;
    for (const auto& [node, weight] : weights) {
      result.value += weight * field[node];
      result.gradient.emplace_back(node, weight);
    }
    return result;
  };
  const TransferDerivative normal = flux(problem, omega, properties, field);
  if (problem.mode() == Mode::tm) {  // H = 1 on the surface; E along it is −q, its horizontal part −q cos
    TransferDerivative impedance;
    add(impedance, -cos_, normal);
    return impedance;
  }
  const Complex to_h = 1.0 / (Complex(0.0, 1.0) * omega * mu0);
  const TransferDerivative tangential = interpolated(tangent_);
  TransferDerivative h_y;  // −∂E/∂z /(iωμ)
  add(h_y, to_h * cos_, normal);
  add(h_y, -to_h * sin_, tangential);
  if (transfer == Transfer::impedance) return quotient(interpolated(value_), h_y);
  TransferDerivative h_z;  // +∂E/∂y /(iωμ)
  add(h_z, to_h * cos_, tangential);
  add(h_z, to_h * sin_, normal);
  return quotient(h_z, h_y);
}

}  // namespace lodestone::physics::mt
