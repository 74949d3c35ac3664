// SPDX-License-Identifier: Apache-2.0
// Pictures of a learned prior. Subdomains are columns of a matrix, their cells row by row from the top, log10
// of ohm m.
#pragma once

#include "io/report/canvas.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <string>
#include <vector>

namespace lodestone::io::report {

/// Figures of an epoch; those of the validation draws but for the first.
struct TrainingEpoch {
  int epoch = 0;
  double training_loss = 0.0, loss = 0.0, reconstruction = 0.0, dissimilarity = 0.0, divergence = 0.0;
};

/// Draws the loss per epoch, and its terms on the validation draws.
[[nodiscard]] Canvas training_picture(const std::vector<TrainingEpoch>& history, int best_epoch);

/// Draws beside what the network makes of them: curves over depth for columns, sections one above the other
/// for patches. shapes: (n_cells, n). errors: ShapeError.
[[nodiscard]] Canvas reconstruction_picture(const physics::mesh::TensorGrid& grid,
                                            const Eigen::MatrixXd& draws,
                                            const Eigen::MatrixXd& reconstructions);

/// Draws above decoded random codes, in the same colours: whether the network invents what the prior would.
[[nodiscard]] Canvas decoding_picture(const physics::mesh::TensorGrid& grid, const Eigen::MatrixXd& draws,
                                      const Eigen::MatrixXd& decodings);

/// The statistics of the codes of validation draws.
struct CodeFigures {
  Eigen::MatrixXd codes;       ///< means of the codes (n_codes, n)
  Eigen::VectorXd divergence;  ///< per code
  Eigen::VectorXd cell_rms;    ///< rms of the reconstruction, decades
};
/// Draws the two codes of the largest divergence against each other, all codes as a histogram, divergence per
/// code, error over depth.
[[nodiscard]] Canvas code_picture(const physics::mesh::TensorGrid& grid, const CodeFigures& figures);

}  // namespace lodestone::io::report
