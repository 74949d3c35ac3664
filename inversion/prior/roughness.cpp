// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/roughness.hpp"

#include "engine/core/error.hpp"
#include "inversion/objective/regularization.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::prior {
namespace {

namespace mesh = physics::mesh;
using SparseMatrix = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

void check(const RoughnessOptions& options) {
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  if (options.order != 1 && options.order != 2)
    throw core::InvalidArgument("inversion::roughness_operator#wrong_order",
                                "expected roughness of order 1 or 2, got {}", options.order);
  if (!positive(options.horizontal_weight) || !positive(options.vertical_weight))
    throw core::InvalidArgument("inversion::roughness_operator#wrong_weights",
                                "expected positive weights, got horizontal {} and vertical {}",
                                options.horizontal_weight, options.vertical_weight);
  if (!std::isfinite(options.depth_weight_exponent) ||
      !std::isfinite(options.horizontal_depth_exponent.value_or(0.0)) || !positive(options.depth_weight_z0_m))
    throw core::InvalidArgument("inversion::roughness_operator#wrong_depth_weights",
                                "expected a finite depth exponent and a positive z0, got {} and {} m",
                                options.depth_weight_exponent, options.depth_weight_z0_m);
  if (!(std::isfinite(options.smallness_length_m) && options.smallness_length_m >= 0.0))
    throw core::InvalidArgument("inversion::roughness_operator#wrong_smallness",
                                "expected a smallness length of 0 or more, got {} m",
                                options.smallness_length_m);
  if (!std::isfinite(options.edges_reach) || options.edges_reach < 0.0 ||
      (options.order == 2 && options.edges_reach > 0.0))
    throw core::InvalidArgument("inversion::roughness_operator#wrong_edges_reach",
                                "expected a reach of the edges of 0 or more, and 0 with order 2, got {} with "
                                "order {}",
                                options.edges_reach, options.order);
  for (const mesh::Tear& tear : options.tears) mesh::check(tear);
}

/// Weights of the faces and cells of one grid.
class Weights {
 public:
  Weights(const mesh::Cells& cells, const RoughnessOptions& options) : cells_(cells), options_(options) {
    depth_ = cells.extent.z_m.length();
    smallness_length_ =
        options.smallness_length_m > 0.0 ? options.smallness_length_m : 10.0 * cells.longest_side_m();
  }

  [[nodiscard]] double depth() const { return depth_; }
  [[nodiscard]] double smallness_length() const { return smallness_length_; }
  /// Returns the weight of the vertical part of the integrand at a depth below the grid's top.
  [[nodiscard]] double depth_weight(double z_m) const {
    return std::pow(relative_depth(z_m), options_.depth_weight_exponent);
  }
  /// Returns the weight of the horizontal part, relative to the vertical.
  [[nodiscard]] double horizontal_to_vertical(double z_m) const {
    return std::pow(relative_depth(z_m),
                    options_.horizontal_depth_exponent.value_or(options_.depth_weight_exponent) -
                        options_.depth_weight_exponent);
  }
  /// Returns area of a face / distance of the centres; only the part that tears and areas leave of the face
  /// counts.
  [[nodiscard]] double conductance(const mesh::Face& face) const { return beyond_edges(face) * inside(face); }

 private:
  [[nodiscard]] double inside(const mesh::Face& face) const {
    const auto centre = [&](Eigen::Index cell) { return cells_.centre[static_cast<std::size_t>(cell)]; };
    return weight_across(options_.tears, centre(face.a), centre(face.b)) *
           options_.areas.weight_across(face.a, face.b) * face.area / face.distance;
  }

  /// Returns how many times as large a face along the edges of the grid is with its part beyond them.
  [[nodiscard]] double beyond_edges(const mesh::Face& face) const {
    const double reach = options_.edges_reach * depth_;
    if (reach == 0.0) return 1.0;
    const auto& [n_z, n_y, n_x] = cells_.shape;
    const Eigen::Index ix = face.a % n_x, iy = (face.a / n_x) % n_y, iz = face.a / n_x / n_y;
    const mesh::Point& centre = cells_.centre[static_cast<std::size_t>(face.a)];
    double factor = 1.0;
    const auto widen = [&](mesh::Axis across, bool is_outermost, double to_edge_m) {
      if (across != face.normal && is_outermost) factor *= 1.0 + reach / (2.0 * to_edge_m);
    };
    const mesh::Box& ends = cells_.extent;
    widen(mesh::Axis::x, n_x > 1 && ix == 0, centre.x_m - ends.x_m.from);
    widen(mesh::Axis::x, n_x > 1 && ix == n_x - 1, ends.x_m.to - centre.x_m);
    widen(mesh::Axis::y, n_y > 1 && iy == 0, centre.y_m - ends.y_m.from);
    widen(mesh::Axis::y, n_y > 1 && iy == n_y - 1, ends.y_m.to - centre.y_m);
    widen(mesh::Axis::z, n_z > 1 && iz == n_z - 1, ends.z_m.to - centre.z_m);
    return factor;
  }
  [[nodiscard]] double relative_depth(double z_m) const {
    return (z_m - cells_.extent.z_m.from + options_.depth_weight_z0_m) /
           (depth_ + options_.depth_weight_z0_m);
  }

  const mesh::Cells& cells_;
  const RoughnessOptions& options_;
  double depth_ = 0.0, smallness_length_ = 0.0;
};

SparseMatrix first_order(const mesh::Cells& cells, const Weights& weights, const RoughnessOptions& options) {
  Triplets entries;
  int row = 0;
  for (const mesh::Face& face : cells.faces) {
    const double direction = face.normal == mesh::Axis::z
                                 ? options.vertical_weight
                                 : options.horizontal_weight * weights.horizontal_to_vertical(face.depth_m);
    const double factor =
        std::sqrt(direction * weights.conductance(face) * weights.depth_weight(face.depth_m));
    entries.emplace_back(row, static_cast<int>(face.a), -factor);
    entries.emplace_back(row, static_cast<int>(face.b), factor);
    ++row;
  }
  for (Eigen::Index cell = 0; cell < cells.n_cells(); ++cell)
    entries.emplace_back(row++, static_cast<int>(cell),
                         std::sqrt(cells.volume[cell]) / weights.smallness_length());
  SparseMatrix roughness(row, cells.n_cells());
  roughness.setFromTriplets(entries.begin(), entries.end());
  return roughness;
}

/// Returns (volume)^{-1/2}·√(depth weight)·(ℓ K + volume/L): K sums the fluxes out of a cell, K m ≈
/// −∇²m·volume; a constant model costs ∫ m²/L² as in the first order.
SparseMatrix second_order(const mesh::Cells& cells, const Weights& weights, const RoughnessOptions& options) {
  std::vector<double> row_scale(static_cast<std::size_t>(cells.n_cells()));
  Triplets entries;
  for (Eigen::Index cell = 0; cell < cells.n_cells(); ++cell) {
    const auto k = static_cast<std::size_t>(cell);
    const double volume = cells.volume[cell];
    row_scale[k] = weights.depth() * std::sqrt(weights.depth_weight(cells.centre[k].z_m) / volume);
    entries.emplace_back(static_cast<int>(cell), static_cast<int>(cell),
                         std::sqrt(volume) / weights.smallness_length());
  }
  for (const mesh::Face& face : cells.faces) {
    // The weights of an operator enter its square: the square root of the ratio here.
    const double direction =
        face.normal == mesh::Axis::z
            ? options.vertical_weight
            : options.horizontal_weight * std::sqrt(weights.horizontal_to_vertical(face.depth_m));
    const double conductance = weights.conductance(face);
    for (const auto& [cell, other] : {std::pair{face.a, face.b}, std::pair{face.b, face.a}}) {
      const double factor = row_scale[static_cast<std::size_t>(cell)] * direction * conductance;
      entries.emplace_back(static_cast<int>(cell), static_cast<int>(cell), factor);
      entries.emplace_back(static_cast<int>(cell), static_cast<int>(other), -factor);
    }
  }
  SparseMatrix roughness(cells.n_cells(), cells.n_cells());
  roughness.setFromTriplets(entries.begin(), entries.end());
  return roughness;
}

}  // namespace

SparseMatrix roughness_operator(const mesh::Cells& cells, const RoughnessOptions& options) {
  check(options);
  const std::vector<int>& areas = options.areas.of_cell;
  if (!areas.empty() && std::ssize(areas) != cells.n_cells())
    throw core::ShapeError("inversion::roughness_operator#wrong_areas",
                           "expected an area for each of {} cells, got {}", cells.n_cells(), areas.size());
  const Weights weights(cells, options);
  return options.order == 1 ? first_order(cells, weights, options) : second_order(cells, weights, options);
}

SparseMatrix roughness_operator(const mesh::TensorGrid& grid, const RoughnessOptions& options) {
  return roughness_operator(mesh::cells(grid), options);
}

SparseMatrix of_free_cells(const SparseMatrix& roughness, const std::vector<Eigen::Index>& free_cells) {
  const bool is_square = roughness.rows() == roughness.cols();
  std::vector<int> place(static_cast<std::size_t>(roughness.cols()), -1);
  for (std::size_t i = 0; i < free_cells.size(); ++i)
    place[static_cast<std::size_t>(free_cells[i])] = static_cast<int>(i);
  Triplets entries;
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    if (place[static_cast<std::size_t>(cell)] < 0) continue;
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry) {
      const int row =
          is_square ? place[static_cast<std::size_t>(entry.row())] : static_cast<int>(entry.row());
      if (row >= 0) entries.emplace_back(row, place[static_cast<std::size_t>(cell)], entry.value());
    }
  }
  const auto n = static_cast<Eigen::Index>(free_cells.size());
  SparseMatrix result(is_square ? n : roughness.rows(), n);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

SparseMatrix with_further_unknowns(const SparseMatrix& roughness, const core::ConstVectorRef& weights) {
  SparseMatrix result(roughness.rows() + weights.size(), roughness.cols() + weights.size());
  Triplets entries;
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry)
      entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(cell), entry.value());
  }
  for (Eigen::Index i = 0; i < weights.size(); ++i)
    entries.emplace_back(static_cast<int>(roughness.rows() + i), static_cast<int>(roughness.cols() + i),
                         weights[i]);
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace lodestone::inversion::prior
