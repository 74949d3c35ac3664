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
  for (const auto& property : y.property) x.property.push_back({property.cell, a * property.weight});
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

/// Σ weight·u(node).
template <class Weights>
TransferDerivative interpolated(const Weights& weights, const Eigen::VectorXcd& field) {
  TransferDerivative result;
  for (const auto& [node, weight] : weights) {
    result.value += weight * field[node];
    result.gradient.emplace_back(node, weight);
  }
  return result;
}

}  // namespace

Receiver::Receiver(const BandMesh& band, const Station& station) {
  const mesh::QuadMesh2D& mesh = band.mesh;
  const int ground = mesh.ground();
  std::vector<double> arc{0.0};
  for (int i = 0; i < mesh.n_y(); ++i)
    arc.push_back(arc.back() + std::hypot(mesh.y(i + 1) - mesh.y(i), mesh.z(ground, i + 1) - mesh.z(ground, i)));
  const int column = mesh.column_of(station.y_m);
  const double t = (station.y_m - mesh.y(column)) / (mesh.y(column + 1) - mesh.y(column));
  const double length = arc[column + 1] - arc[column];
  if (station.definition == Definition::horizontal) {
    cos_ = (mesh.y(column + 1) - mesh.y(column)) / length;
    sin_ = (mesh.z(ground, column + 1) - mesh.z(ground, column)) / length;
  }
  under_sea_ = !(mesh.is_land(column) && mesh.is_land(column + 1));
  water_ohm_m_ = band.sea_resistivity_ohm_m;
  value_ = {{mesh.node(ground, column), 1.0 - t}, {mesh.node(ground, column + 1), t}};
  const double s = arc[column] + t * length;
  place_flux(mesh, arc, column, s);
  place_tangent(mesh, arc, s);
}

void Receiver::place_flux(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, int column, double s) {
  first_line_ = std::max(0, column - 2);
  const int last_line = std::min(mesh.n_y(), column + 3);
  arc_.assign(arc.begin() + first_line_, arc.begin() + last_line + 1);
  n_rows_ = mesh.n_earth();
  column_ = column;
  s_ = s;
}

void Receiver::place_tangent(const mesh::QuadMesh2D& mesh, const std::vector<double>& arc, double s) {
  const int n = mesh.n_y();
  std::vector<double> middle;
  for (int i = 0; i < n; ++i) middle.push_back(0.5 * (arc[i] + arc[i + 1]));
  if (n < 2) return;
  const auto [left, t] = bracket(middle, s);
  for (const auto& [edge, weight] : {Weighted{left, 1.0 - t}, Weighted{left + 1, t}}) {
    const double length = arc[edge + 1] - arc[edge];
    tangent_.push_back({mesh.node(mesh.ground(), edge + 1), weight / length});
    tangent_.push_back({mesh.node(mesh.ground(), edge), -weight / length});
  }
}

struct Receiver::Hat {
  TransferDerivative mean;
  double centroid;
  std::vector<std::pair<int, double>> centroid_change;  ///< (cell, ∂centroid/∂ρ)
};

Receiver::Hat Receiver::hat(int line, const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                            const Eigen::VectorXcd& field) const {
  struct Side {
    int cell, local;
    double reach, density;  ///< reach: width of the cell, negative to the left
  };
  const bool weighted = interpolates_current(problem);
  const int i = line - first_line_, n = static_cast<int>(arc_.size());
  std::vector<Side> sides;
  const auto add_side = [&](int column, int local, double reach) {
    sides.push_back({column * n_rows_, local, reach, weighted ? properties(column * n_rows_, 0) : 1.0});
  };
  if (i > 0) add_side(line - 1, 1, arc_[i - 1] - arc_[i]);
  if (i + 1 < n) add_side(line, 0, arc_[i + 1] - arc_[i]);
  double mass = 0.0, moment = 0.0;  // ∫ρφ, ∫ρφ (s − s_i)
  for (const Side& side : sides) {
    mass += 0.5 * side.density * std::abs(side.reach);
    moment += side.density * side.reach * std::abs(side.reach) / 6.0;
  }
  Hat result{{}, arc_[i] + moment / mass, {}};
  for (const Side& side : sides) {
    const auto matrix = problem.element(side.cell, omega, properties);
    const auto& nodes = problem.cell_nodes(side.cell);
    for (int b = 0; b < 4; ++b) {
      result.mean.value += matrix[side.local][b] * field[nodes[b]] / mass;
      result.mean.gradient.emplace_back(nodes[b], matrix[side.local][b] / mass);
    }
    result.mean.direct.push_back({side.cell, side.local, 1.0 / mass});
  }
  if (!weighted) return result;
  for (const Side& side : sides) {
    const double mass_change = 0.5 * std::abs(side.reach), moment_change = side.reach * std::abs(side.reach) / 6.0;
    result.mean.property.push_back({side.cell, -result.mean.value * mass_change / mass});
    result.centroid_change.emplace_back(side.cell, (moment_change - mass_change * moment / mass) / mass);
  }
  return result;
}

TransferDerivative Receiver::flux(const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                  const Eigen::VectorXcd& field) const {
  const auto hat_of = [&](int line) { return hat(line, problem, omega, properties, field); };
  const int last_left = first_line_ + static_cast<int>(arc_.size()) - 2;
  int line = std::min(column_, last_left);
  Hat left = hat_of(line), right = hat_of(line + 1);
  if (s_ < left.centroid && line > first_line_) {
    right = std::move(left);
    left = hat_of(--line);
  } else if (s_ > right.centroid && line < last_left) {
    left = std::move(right);
    right = hat_of(++line + 1);
  }
  const double length = right.centroid - left.centroid, t = (s_ - left.centroid) / length;
  const int cell = column_ * n_rows_;
  const double density = interpolates_current(problem) ? properties(cell, 0) : 1.0;
  TransferDerivative result;
  add(result, density * (1.0 - t), left.mean);
  add(result, density * t, right.mean);
  if (!interpolates_current(problem)) return result;
  const Complex slope = density * (right.mean.value - left.mean.value) / length;
  for (const auto& [of, change] : left.centroid_change) result.property.push_back({of, -slope * (1.0 - t) * change});
  for (const auto& [of, change] : right.centroid_change) result.property.push_back({of, -slope * t * change});
  result.property.push_back({cell, result.value / density});
  return result;
}

/// E along the surface is −q and E along the normal ρ ∂H/∂s, that of the water (on land H does not vary along the surface).
TransferDerivative Receiver::tm_impedance(const TransferDerivative& normal, const Eigen::VectorXcd& field) const {
  TransferDerivative e_y;
  add(e_y, -cos_, normal);
  if (!under_sea_) return e_y;  // H = 1
  add(e_y, sin_ * water_ohm_m_, interpolated(tangent_, field));
  return quotient(e_y, interpolated(value_, field));
}

TransferDerivative Receiver::evaluate(Transfer transfer, const ModeOperator& problem, double omega, const Eigen::MatrixXd& properties,
                                      const Eigen::VectorXcd& field) const {
  const TransferDerivative normal = flux(problem, omega, properties, field);
  if (problem.mode() == Mode::tm) return tm_impedance(normal, field);
  const Complex to_h = 1.0 / (Complex(0.0, 1.0) * omega * mu0);
  const TransferDerivative tangential = interpolated(tangent_, field);
  TransferDerivative h_y;  // −∂E/∂z /(iωμ)
  add(h_y, to_h * cos_, normal);
  add(h_y, -to_h * sin_, tangential);
  if (transfer == Transfer::impedance) return quotient(interpolated(value_, field), h_y);
  TransferDerivative h_z;  // +∂E/∂y /(iωμ)
  add(h_z, to_h * cos_, tangential);
  add(h_z, to_h * sin_, normal);
  return quotient(h_z, h_y);
}

}  // namespace lodestone::physics::mt
