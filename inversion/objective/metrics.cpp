// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/metrics.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::objective {
namespace {

double similarity_of_window(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b, double c1,
                            double c2) {
  const double mean_a = a.mean(), mean_b = b.mean();
  const Eigen::ArrayXXd da = a.array() - mean_a, db = b.array() - mean_b;
  const double variance_a = da.square().mean(), variance_b = db.square().mean(),
               covariance = (da * db).mean();
  return (2.0 * mean_a * mean_b + c1) * (2.0 * covariance + c2) /
         ((mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2));
}

void check(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b, const SimilarityOptions& options) {
  if (options.window_cells < 2 || !(options.range_decades > 0.0) || !(options.k1 > 0.0) ||
      !(options.k2 > 0.0))
    throw core::InvalidArgument(
        "inversion::section_metrics#wrong_options",
        "expected windows of 2 cells or more, a positive range, k1 and k2, got {}, {}, {} and {}",
        options.window_cells, options.range_decades, options.k1, options.k2);
  if (a.rows() != b.rows() || a.cols() != b.cols() || std::min(a.rows(), a.cols()) < options.window_cells)
    throw core::ShapeError("inversion::section_metrics#wrong_sections",
                           "expected two sections of the same size with room for a window of {} × {} cells, "
                           "got {} × {} and {} × {}",
                           options.window_cells, options.window_cells, a.rows(), a.cols(), b.rows(),
                           b.cols());
}

}  // namespace

double relative_error(const core::ConstVectorRef& model, const core::ConstVectorRef& truth,
                      const std::vector<Eigen::Index>& cells) {
  if (model.size() != truth.size())
    throw core::ShapeError("inversion::section_metrics#wrong_size",
                           "expected a model with the {} cells of the truth, got {}", truth.size(),
                           model.size());
  if (cells.empty())
    throw core::InvalidArgument("inversion::section_metrics#no_cell", "expected at least one of the {} cells",
                                truth.size());
  for (const Eigen::Index cell : cells) {
    if (cell < 0 || cell >= truth.size())
      throw core::InvalidArgument("inversion::section_metrics#cell_outside",
                                  "expected cells from 0 to {}, got {}", truth.size() - 1, cell);
  }
  const double length = truth(cells).norm();
  if (!(length > 0.0))
    throw core::InvalidArgument(
        "inversion::section_metrics#zero_truth",
        "the truth is 0 (1 ohm m) in all cells, so that no relative error exists; select other cells");
  return (model(cells) - truth(cells)).norm() / length;
}

double structural_similarity(const core::ConstMatrixRef& a, const core::ConstMatrixRef& b,
                             const SimilarityOptions& options) {
  check(a, b, options);
  const Eigen::Index n = options.window_cells;
  const double c1 = std::pow(options.k1 * options.range_decades, 2),
               c2 = std::pow(options.k2 * options.range_decades, 2);
  double sum = 0.0;
  for (Eigen::Index j = 0; j + n <= a.cols(); ++j) {
    for (Eigen::Index i = 0; i + n <= a.rows(); ++i)
      sum += similarity_of_window(a.block(i, j, n, n), b.block(i, j, n, n), c1, c2);
  }
  return sum / static_cast<double>((a.rows() - n + 1) * (a.cols() - n + 1));
}

}  // namespace lodestone::inversion::objective
