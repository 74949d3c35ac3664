// SPDX-License-Identifier: Apache-2.0
// Small on purpose: draws are made without a network.
#pragma once

#include "engine/data/dataset.hpp"
#include "models/earths/prior.hpp"

namespace lodestone::models::vae {

/// Draws of a prior in memory, in f32, split for training; moments of the part that is trained on.
struct VaeDraws {
  engine::Dataset training, validation;  ///< "cells" [n, n_cells], log10 of ohm m
  Eigen::VectorXd mean;                  ///< [n_cells]
  Eigen::MatrixXd covariance;            ///< [n_cells, n_cells], 1 / (n − 1)
  double range = 0.0;                    ///< max|x| − min|x|, decades
};

/// Draws for training, and for validation from the last share: no draw depends on those before it. errors:
/// InvalidArgument for fewer than two draws in either part, draws that are not finite (with their number) and
/// those that do not vary.
[[nodiscard]] VaeDraws make_draws(const earths::Prior& prior, std::int64_t n, double validation_share);

}  // namespace lodestone::models::vae
