// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/surface_flux.hpp"

#include <algorithm>

namespace lodestone::physics::mt::d2 {

void TransferDerivative::add(Complex a, const TransferDerivative& other) {
  value += a * other.value;
  for (const auto& [node, weight] : other.gradient) gradient.emplace_back(node, a * weight);
  for (const auto& part : other.direct) direct.push_back({part.cell, part.local, a * part.weight});
  for (const auto& part : other.property) property.push_back({part.cell, a * part.weight});
}

TransferDerivative quotient(const TransferDerivative& numerator, const TransferDerivative& denominator) {
  TransferDerivative result;
  result.add(1.0 / denominator.value, numerator);
  const Complex ratio = result.value;
  result.add(-ratio / denominator.value, denominator);
  result.value = ratio;
  return result;
}

SurfaceFlux::SurfaceFlux(const BandMesh& band, const std::vector<double>& arc_m, int column, double t)
    : station_cell_(column * band.mesh.n_earth()),
      station_arc_m_(arc_m[column] + t * (arc_m[column + 1] - arc_m[column])) {
  const int order = band.order, last = order * band.mesh.n_y();
  const int left = std::min(order * column + static_cast<int>(t * order), last - 1);
  const int first = std::max(0, left - 1);
  for (int node = first; node <= std::min(last, left + 2); ++node) add_node(band, arc_m, node);
  left_ = left - first;
}

void SurfaceFlux::add_node(const BandMesh& band, const std::vector<double>& arc_m, int node) {
  const int order = band.order, n_rows = band.mesh.n_earth(), column = node / order, local = node % order;
  const fem::QuadElement shape(order);
  const auto length = [&](int c) { return arc_m[c + 1] - arc_m[c]; };
  // First moments about the node on an edge of length 1: 1/6 for the linear function, 0 for the quadratic
  // ones.
  const double moment = order == 1 ? 1.0 / 6.0 : 0.0;
  Node& added = nodes_.emplace_back();
  if (local > 0) {
    added.arc_m = arc_m[column] + local * length(column) / order;
    added.sides.push_back({column * n_rows, local, shape.edge_load(local) * length(column), 0.0});
    return;
  }
  added.arc_m = arc_m[column];
  if (column > 0) {
    const double l = length(column - 1);
    added.sides.push_back({(column - 1) * n_rows, order, shape.edge_load(order) * l, -moment * l * l});
  }
  if (column < band.mesh.n_y()) {
    const double l = length(column);
    added.sides.push_back({column * n_rows, 0, shape.edge_load(0) * l, moment * l * l});
  }
}

struct SurfaceFlux::Mean {
  TransferDerivative value;
  double centroid;
  std::vector<std::pair<int, double>> centroid_change;  ///< (cell, ∂centroid/∂ρ)
};

SurfaceFlux::Mean SurfaceFlux::mean(const Node& node, const ModeOperator& problem, double omega,
                                    const Eigen::MatrixXd& properties, const Eigen::VectorXcd& field,
                                    FluxDensity density) {
  const auto weight = [&](const Side& side) {
    return density == FluxDensity::current ? properties(side.cell, 0) : 1.0;
  };
  double mass = 0.0, moment = 0.0;
  for (const Side& side : node.sides) {
    mass += weight(side) * side.mass;
    moment += weight(side) * side.moment;
  }
  Mean result{{}, node.arc_m + moment / mass, {}};
  for (const Side& side : node.sides) {
    const auto matrix = problem.element(side.cell, omega, properties);
    const auto nodes = problem.cell_nodes(side.cell);
    for (std::size_t b = 0; b < nodes.size(); ++b) {
      const Complex factor = matrix(side.local, static_cast<Eigen::Index>(b)) / mass;
      result.value.value += factor * field[nodes[b]];
      result.value.gradient.emplace_back(nodes[b], factor);
    }
    result.value.direct.push_back({side.cell, side.local, 1.0 / mass});
  }
  if (density == FluxDensity::flux) return result;
  for (const Side& side : node.sides) {
    result.value.property.push_back({side.cell, -result.value.value * side.mass / mass});
    result.centroid_change.emplace_back(side.cell, (side.moment - side.mass * moment / mass) / mass);
  }
  return result;
}

TransferDerivative SurfaceFlux::at_station(const ModeOperator& problem, double omega,
                                           const Eigen::MatrixXd& properties, const Eigen::VectorXcd& field,
                                           FluxDensity density) const {
  const auto mean_of = [&](int node) {
    return mean(nodes_[node], problem, omega, properties, field, density);
  };
  int at = left_;
  Mean left = mean_of(at), right = mean_of(at + 1);
  if (station_arc_m_ < left.centroid && at > 0) {
    right = std::move(left);
    left = mean_of(--at);
  } else if (station_arc_m_ > right.centroid && at + 2 < std::ssize(nodes_)) {
    left = std::move(right);
    right = mean_of(++at + 1);
  }
  const double length = right.centroid - left.centroid, t = (station_arc_m_ - left.centroid) / length;
  const bool current = density == FluxDensity::current;
  const double rho = current ? properties(station_cell_, 0) : 1.0;  // q = ρJ with the ρ of the station's cell
  TransferDerivative result;
  result.add(rho * (1.0 - t), left.value);
  result.add(rho * t, right.value);
  if (!current) return result;
  const Complex slope = rho * (right.value.value - left.value.value) / length;
  for (const auto& [cell, change] : left.centroid_change)
    result.property.push_back({cell, -slope * (1.0 - t) * change});
  for (const auto& [cell, change] : right.centroid_change)
    result.property.push_back({cell, -slope * t * change});
  result.property.push_back({station_cell_, result.value / rho});
  return result;
}

}  // namespace lodestone::physics::mt::d2
