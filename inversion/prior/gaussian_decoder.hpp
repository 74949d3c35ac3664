// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one kind of decoder, as network_decoder.hpp is; decoder.hpp holds what all kinds share.
#pragma once

#include "inversion/prior/decoder.hpp"

namespace lodestone::inversion::prior {

/// Returns the normal distribution of subdomains with this mean and covariance as a decoder: m = mean + L v,
/// L Lᵀ = covariance, standard normal v. L are the eigenvectors times the square roots of their eigenvalues,
/// the largest first; those under 1e-10 of the largest are left out. `encode` is least squares. shapes: mean
/// (n_cells), covariance (n_cells, n_cells). errors: ShapeError; InvalidArgument for numbers that are not
/// finite, a matrix that is not symmetric or has a negative eigenvalue (beyond rounding), or no variance at
/// all.
[[nodiscard]] DecoderPtr gaussian_decoder(const core::ConstVectorRef& mean,
                                          const core::ConstMatrixRef& covariance);

}  // namespace lodestone::inversion::prior
