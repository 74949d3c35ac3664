// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/roughness.hpp"

#include "engine/core/error.hpp"
#include "inversion/objective/regularization.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::prior {
namespace {

using physics::mesh::TensorGrid2D;
using SparseMatrix = Eigen::SparseMatrix<double>;
using Triplets = std::vector<Eigen::Triplet<double>>;

void check(const RoughnessOptions& options) {
  constexpr const char* component = "inversion::roughness_operator";
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  if (options.order != 1 && options.order != 2)
    throw core::InvalidArgument(component, "expected roughness of order 1 or 2, got {}", options.order);
  if (!positive(options.horizontal_weight) || !positive(options.vertical_weight))
    throw core::InvalidArgument(component, "expected positive weights, got horizontal {} and vertical {}",
                                options.horizontal_weight, options.vertical_weight);
  if (!std::isfinite(options.depth_weight_exponent) ||
      !std::isfinite(options.horizontal_depth_exponent.value_or(0.0)) || !positive(options.depth_weight_z0_m))
    throw core::InvalidArgument(component,
                                "expected a finite depth exponent and a positive z0, got {} and {} m",
                                options.depth_weight_exponent, options.depth_weight_z0_m);
  if (!(std::isfinite(options.smallness_length_m) && options.smallness_length_m >= 0.0))
    throw core::InvalidArgument(component, "expected a smallness length of 0 or more, got {} m",
                                options.smallness_length_m);
  for (const Tear& tear : options.tears) check(tear);
}

/// Distances, areas and weights of one grid.
class Geometry {
 public:
  Geometry(const TensorGrid2D& grid, const RoughnessOptions& options) : grid_(grid), options_(options) {
    const auto& y = grid.y_edges_m();
    const auto& z = grid.z_edges_m();
    depth_ = z.back() - z.front();
    smallness_length_ = options.smallness_length_m > 0.0 ? options.smallness_length_m
                                                         : 10.0 * std::max(y.back() - y.front(), depth_);
  }

  [[nodiscard]] double depth() const { return depth_; }
  [[nodiscard]] double smallness_length() const { return smallness_length_; }
  [[nodiscard]] double width(int iy) const { return grid_.y_edges_m()[iy + 1] - grid_.y_edges_m()[iy]; }
  [[nodiscard]] double height(int iz) const { return grid_.z_edges_m()[iz + 1] - grid_.z_edges_m()[iz]; }
  /// Of the vertical part of the integrand at a depth below the grid's top.
  [[nodiscard]] double depth_weight(double z_m) const {
    return std::pow(relative_depth(z_m), options_.depth_weight_exponent);
  }
  /// Of the horizontal part, relative to the vertical.
  [[nodiscard]] double horizontal_to_vertical(double z_m) const {
    return std::pow(relative_depth(z_m),
                    options_.horizontal_depth_exponent.value_or(options_.depth_weight_exponent) -
                        options_.depth_weight_exponent);
  }
  /// Calls f(cell, neighbour, length of the face / distance of the centres, depth of the face); what a tear
  /// lets through of the face is all that counts.
  template <class F>
  void for_each_horizontal_pair(F&& f) const {
    for (int iz = 0; iz < grid_.n_z(); ++iz) {
      for (int iy = 0; iy + 1 < grid_.n_y(); ++iy)
        f(grid_.index(iz, iy), grid_.index(iz, iy + 1),
          weight_across(options_.tears, centre(iz, iy), centre(iz, iy + 1)) * 2.0 * height(iz) /
              (width(iy) + width(iy + 1)),
          grid_.z_centre_m(iz));
    }
  }
  template <class F>
  void for_each_vertical_pair(F&& f) const {
    for (int iz = 0; iz + 1 < grid_.n_z(); ++iz) {
      for (int iy = 0; iy < grid_.n_y(); ++iy)
        f(grid_.index(iz, iy), grid_.index(iz + 1, iy),
          weight_across(options_.tears, centre(iz, iy), centre(iz + 1, iy)) * 2.0 * width(iy) /
              (height(iz) + height(iz + 1)),
          grid_.z_edges_m()[iz + 1]);
    }
  }
  template <class F>
  void for_each_cell(F&& f) const {
    for (int iz = 0; iz < grid_.n_z(); ++iz) {
      for (int iy = 0; iy < grid_.n_y(); ++iy)
        f(grid_.index(iz, iy), width(iy) * height(iz), grid_.z_centre_m(iz));
    }
  }

 private:
  [[nodiscard]] physics::mesh::Point2D centre(int iz, int iy) const {
    return {grid_.y_centre_m(iy), grid_.z_centre_m(iz)};
  }
  [[nodiscard]] double relative_depth(double z_m) const {
    return (z_m - grid_.z_edges_m().front() + options_.depth_weight_z0_m) /
           (depth_ + options_.depth_weight_z0_m);
  }

  const TensorGrid2D& grid_;
  const RoughnessOptions& options_;
  double depth_ = 0.0, smallness_length_ = 0.0;
};

/// w_h as a function of depth, relative to the vertical part.
auto horizontal_weight(const Geometry& geometry, const RoughnessOptions& options) {
  return [&geometry, &options](double z_m) {
    return options.horizontal_weight * geometry.horizontal_to_vertical(z_m);
  };
}

SparseMatrix first_order(const TensorGrid2D& grid, const Geometry& geometry,
                         const RoughnessOptions& options) {
  Triplets entries;
  int row = 0;
  const auto difference = [&](auto direction_weight) {
    return [&, direction_weight](Eigen::Index a, Eigen::Index b, double face_over_distance, double z_m) {
      const double factor =
          std::sqrt(direction_weight(z_m) * face_over_distance * geometry.depth_weight(z_m));
      entries.emplace_back(row, static_cast<int>(a), -factor);
      entries.emplace_back(row, static_cast<int>(b), factor);
      ++row;
    };
  };
  geometry.for_each_horizontal_pair(difference(horizontal_weight(geometry, options)));
  geometry.for_each_vertical_pair(difference([&](double) { return options.vertical_weight; }));
  geometry.for_each_cell([&](Eigen::Index cell, double area, double) {
    entries.emplace_back(row++, static_cast<int>(cell), std::sqrt(area) / geometry.smallness_length());
  });
  SparseMatrix roughness(row, grid.n_cells());
  roughness.setFromTriplets(entries.begin(), entries.end());
  return roughness;
}

/// (area)^{-1/2}·√(depth weight)·(ℓ K + area/L): K sums the fluxes out of a cell, K m ≈ −∇²m·area; a constant
/// model costs ∫ m²/L² as in the first order.
SparseMatrix second_order(const TensorGrid2D& grid, const Geometry& geometry,
                          const RoughnessOptions& options) {
  std::vector<double> row_scale(static_cast<std::size_t>(grid.n_cells()));
  Triplets entries;
  geometry.for_each_cell([&](Eigen::Index cell, double area, double z_m) {
    row_scale[static_cast<std::size_t>(cell)] =
        geometry.depth() * std::sqrt(geometry.depth_weight(z_m) / area);
    entries.emplace_back(static_cast<int>(cell), static_cast<int>(cell),
                         std::sqrt(area) / geometry.smallness_length());
  });
  const auto flux = [&](auto direction_weight) {
    return [&, direction_weight](Eigen::Index a, Eigen::Index b, double face_over_distance, double z_m) {
      for (const auto& [cell, other] : {std::pair{a, b}, std::pair{b, a}}) {
        const double factor =
            row_scale[static_cast<std::size_t>(cell)] * direction_weight(z_m) * face_over_distance;
        entries.emplace_back(static_cast<int>(cell), static_cast<int>(cell), factor);
        entries.emplace_back(static_cast<int>(cell), static_cast<int>(other), -factor);
      }
    };
  };
  // The weights of an operator enter its square: the square root of the ratio here.
  const auto root = [&](double z_m) {
    return options.horizontal_weight * std::sqrt(geometry.horizontal_to_vertical(z_m));
  };
  geometry.for_each_horizontal_pair(flux(root));
  geometry.for_each_vertical_pair(flux([&](double) { return options.vertical_weight; }));
  SparseMatrix roughness(grid.n_cells(), grid.n_cells());
  roughness.setFromTriplets(entries.begin(), entries.end());
  return roughness;
}

}  // namespace

SparseMatrix roughness_operator(const TensorGrid2D& grid, const RoughnessOptions& options) {
  check(options);
  const Geometry geometry(grid, options);
  return options.order == 1 ? first_order(grid, geometry, options) : second_order(grid, geometry, options);
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
