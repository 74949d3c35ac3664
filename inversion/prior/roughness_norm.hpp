// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/prior/roughness.hpp"

namespace lodestone::inversion::prior {

/// The measure of a gradient v in the roughness: v², or like v² below ε and less beyond it, which leaves a
/// few sharp boundaries instead of many soft ones.
enum class RoughnessNorm {
  l2,  ///< v²
  l1,  ///< 2ε(√(v² + ε²) − ε): 2ε|v| for large v, the total variation. source: Rudin, Osher & Fatemi 1992;
       ///< Farquharson & Oldenburg 1998
  minimum_gradient_support,  ///< ε² v²/(v² + ε²): ε² for large v, whatever its size. source: Portniaguine &
                             ///< Zhdanov 1999
};
constexpr auto words(RoughnessNorm) {
  using enum RoughnessNorm;
  return core::Words<RoughnessNorm>{{l2, "l2"}, {l1, "l1"}, {minimum_gradient_support, "mgs"}};
}

/// Returns the ε that applies where none is given: a tenth of a decade for l1, half a decade for minimum
/// gradient support, over a distance of (depth + z0).
[[nodiscard]] double usual_epsilon(RoughnessNorm norm);

struct RoughnessNormOptions {
  RoughnessNorm norm = RoughnessNorm::l2;
  double epsilon = 0.1;  ///< ε, in decades over a distance of (depth + z0), z0 as in RoughnessOptions
};

/// Returns the operator of the gradients v that the norms count. A row of the first-order
/// `roughness_operator` gives the difference of its two cells, divided by the distance of their centres and
/// times (depth + z0). Rows of smallness are zero. shape: (n_rows, n_cells). errors: InvalidArgument for
/// another order.
[[nodiscard]] Eigen::SparseMatrix<double> scaled_gradient(const physics::mesh::Cells& cells,
                                                          const RoughnessOptions& options);
[[nodiscard]] Eigen::SparseMatrix<double> scaled_gradient(const physics::mesh::TensorGrid& grid,
                                                          const RoughnessOptions& options);

/// Returns the operator whose ‖R m‖² touches the norm at gradients v and lies above it elsewhere: row i times
/// √ω, ω = norm'(v)/(2v), 1 at v = 0. shapes: roughness (n_rows, n), gradient (n_rows). errors: ShapeError,
/// InvalidArgument when ε is not positive. source: Farquharson & Oldenburg 1998, Geophys. J. Int. 134, 213
/// (iterative reweighting).
[[nodiscard]] Eigen::SparseMatrix<double> reweighted(Eigen::SparseMatrix<double> roughness,
                                                     const core::ConstVectorRef& gradient,
                                                     const RoughnessNormOptions& options);

}  // namespace lodestone::inversion::prior
