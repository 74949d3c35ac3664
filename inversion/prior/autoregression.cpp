// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/autoregression.hpp"

#include "engine/core/error.hpp"
#include "physics/mesh/cells.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::prior {
namespace {

namespace mesh = physics::mesh;
using SparseMatrix = Eigen::SparseMatrix<double>;
using objective::TriangularProduct;
using Triplets = std::vector<Eigen::Triplet<double>>;

void check(const mesh::TensorGrid& grid, const Autoregression& options) {
  const auto layers = static_cast<std::size_t>(grid.n_z());
  if (options.x_smoothing.size() != layers || options.y_smoothing.size() != layers)
    throw core::ShapeError("inversion::autoregression_operator#wrong_layers",
                           "expected smoothing along x and y for each of {} layers, got {} and {} numbers",
                           layers, options.x_smoothing.size(), options.y_smoothing.size());
  if (!options.area_of_cell.empty() && std::ssize(options.area_of_cell) != grid.n_cells())
    throw core::ShapeError("inversion::autoregression_operator#wrong_areas",
                           "expected an area for each of {} cells, got {}", grid.n_cells(),
                           options.area_of_cell.size());
  std::vector<double> all{options.z_smoothing};
  for (const auto* list : {&options.x_smoothing, &options.y_smoothing})
    all.insert(all.end(), list->begin(), list->end());
  for (const Autoregression::Border& border : options.borders) all.push_back(border.smoothing);
  for (const double smoothing : all) {
    if (!(smoothing >= 0.0 && smoothing < 1.0))
      throw core::InvalidArgument("inversion::autoregression_operator#wrong_smoothing",
                                  "expected smoothing of 0 to below 1, got {}; at 1 a cell is as far from "
                                  "the reference as all cells before it together",
                                  smoothing);
  }
  if (options.n_times < 0)
    throw core::InvalidArgument("inversion::autoregression_operator#wrong_repetitions",
                                "expected 0 repetitions of the smoothing or more, got {}", options.n_times);
}

/// The factors of R on the free cells of one grid.
class Factors {
 public:
  Factors(const mesh::TensorGrid& grid, const Autoregression& options,
          const std::vector<Eigen::Index>& free_cells, const core::ConstVectorRef& further_weights)
      : options_(options),
        cells_(mesh::cells(grid)),
        free_cells_(free_cells),
        further_weights_(further_weights),
        n_per_layer_(grid.n_cells() / grid.n_z()),
        place_(static_cast<std::size_t>(grid.n_cells()), -1) {
    for (std::size_t i = 0; i < free_cells.size(); ++i)
      place_[static_cast<std::size_t>(free_cells[i])] = static_cast<int>(i);
  }

  /// Returns the diagonal by which one repetition of S keeps a constant.
  [[nodiscard]] SparseMatrix scale() const {
    Eigen::VectorXd diagonal = Eigen::VectorXd::Ones(size());
    for (std::size_t i = 0; i < free_cells_.size(); ++i) {
      for (const mesh::Axis axis : mesh::all_axes)
        diagonal[static_cast<Eigen::Index>(i)] /= std::pow(1.0 - smoothing(axis, free_cells_[i]), 2.0);
    }
    return SparseMatrix(diagonal.asDiagonal());
  }

  /// Returns the weights of the further unknowns behind ones.
  [[nodiscard]] SparseMatrix weights() const {
    Eigen::VectorXd diagonal = Eigen::VectorXd::Ones(size());
    diagonal.tail(further_weights_.size()) = further_weights_;
    return SparseMatrix(diagonal.asDiagonal());
  }

  /// Returns I − α (cell before) along an axis.
  [[nodiscard]] SparseMatrix along(mesh::Axis axis) const {
    Triplets entries;
    for (int i = 0; i < size(); ++i) entries.emplace_back(i, i, 1.0);
    for (const mesh::Face& face : cells_.faces) {
      const int a = place_[static_cast<std::size_t>(face.a)], b = place_[static_cast<std::size_t>(face.b)];
      if (face.normal == axis && a >= 0 && b >= 0) entries.emplace_back(b, a, -across(face));
    }
    SparseMatrix lower(size(), size());
    lower.setFromTriplets(entries.begin(), entries.end());
    return lower;
  }

 private:
  [[nodiscard]] int size() const {
    return static_cast<int>(std::ssize(free_cells_) + further_weights_.size());
  }

  [[nodiscard]] double smoothing(mesh::Axis axis, Eigen::Index cell) const {
    if (cells_.shape[2 - static_cast<std::size_t>(axis)] == 1) return 0.0;
    const auto layer = static_cast<std::size_t>(cell / n_per_layer_);
    if (axis == mesh::Axis::z) return options_.z_smoothing;
    return axis == mesh::Axis::x ? options_.x_smoothing[layer] : options_.y_smoothing[layer];
  }

  [[nodiscard]] double across(const mesh::Face& face) const {
    const double usual = smoothing(face.normal, face.a);
    if (options_.area_of_cell.empty()) return usual;
    const int area = options_.area_of_cell[static_cast<std::size_t>(face.a)],
              other = options_.area_of_cell[static_cast<std::size_t>(face.b)];
    const auto found = std::ranges::find_if(options_.borders, [&](const Autoregression::Border& border) {
      return (border.area == area && border.other_area == other) ||
             (border.area == other && border.other_area == area);
    });
    return found == options_.borders.end() ? usual : found->smoothing;
  }

  const Autoregression& options_;
  mesh::Cells cells_;
  const std::vector<Eigen::Index>& free_cells_;
  const core::ConstVectorRef& further_weights_;
  Eigen::Index n_per_layer_;
  std::vector<int> place_;  // of a cell among the free ones, −1 for held ones
};

}  // namespace

TriangularProduct autoregression_operator(const mesh::TensorGrid& grid, const Autoregression& options,
                                          const std::vector<Eigen::Index>& free_cells,
                                          const core::ConstVectorRef& further_weights) {
  check(grid, options);
  const Factors of(grid, options, free_cells, further_weights);
  TriangularProduct product;
  if (options.n_times == 0 || further_weights.size() > 0) product.factors.push_back({of.weights()});
  for (int time = 0; time < options.n_times; ++time) {
    product.factors.push_back({of.scale()});
    for (const mesh::Axis axis : mesh::all_axes) {
      const SparseMatrix lower = of.along(axis);
      product.factors.push_back({lower, false});
      product.factors.push_back({lower, true});
    }
  }
  return product;
}

}  // namespace lodestone::inversion::prior
