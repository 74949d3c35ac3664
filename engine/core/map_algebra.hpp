// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <functional>
#include <vector>

namespace lodestone::core {

/// Returns outer ∘ inner, by the chain rule. errors: ShapeError when inner's outputs are not outer's inputs.
[[nodiscard]] MapPtr compose(MapPtr outer, MapPtr inner);

/// Returns one map of several of the same unknowns, outputs one below the other (several data sets). errors:
/// ShapeError, InvalidArgument when empty.
[[nodiscard]] MapPtr stack(std::vector<MapPtr> maps);

/// Returns several maps beside each other (⊕): inputs and outputs one below the other, the Jacobian is
/// block-diagonal. A `jvp` does not ask maps that no direction moves. errors: InvalidArgument when empty or
/// over several communicators.
[[nodiscard]] MapPtr parallel(std::vector<MapPtr> maps);

/// Returns the map y_i = x_(rows_i): some entries of the input in any order, repeated if wanted. shapes:
/// (size_in) → (rows.size()). errors: InvalidArgument on an index outside.
[[nodiscard]] MapPtr select(Eigen::Index size_in, std::vector<Eigen::Index> rows);

/// Returns the map as a function of part of its unknowns: x = base with `free_indices` replaced by the
/// argument. shapes: argument (free_indices.size()) → (n_out). errors: ShapeError, InvalidArgument on
/// repeated or outside indices.
[[nodiscard]] MapPtr restrict_unknowns(MapPtr map, std::vector<Eigen::Index> free_indices,
                                       Eigen::VectorXd base);

/// Returns the map y_i = f(x_i), elementwise, with derivative df(x_i). `name` appears in messages.
[[nodiscard]] MapPtr pointwise(std::string name, Eigen::Index size, std::function<double(double)> f,
                               std::function<double(double)> df);

/// Returns the map y = A x + b for a dense A; the simplest map, used by examples and tests.
[[nodiscard]] MapPtr affine(Eigen::MatrixXd a, Eigen::VectorXd b);

}  // namespace lodestone::core
