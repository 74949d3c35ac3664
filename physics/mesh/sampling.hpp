// SPDX-License-Identifier: Apache-2.0
// Small on purpose: few of those who take an earth sample it.
#pragma once

#include "physics/mesh/earth.hpp"

namespace lodestone::physics::mesh {

/// Returns the values of an earth's cells at the cell centres of another grid. An earth that lacks an axis is
/// the same all along it; beyond its edges the outermost cells continue.
///
/// z counts as it does in both grids where they share the depth reference. Else it is converted at the
/// surface of the sampled earth, so that every cell stays at its true z. shapes: values (cells of `from`);
/// result (cells of `to`). errors: ShapeError.
[[nodiscard]] Eigen::VectorXd sampled(const Earth& from, const Eigen::VectorXd& values, const TensorGrid& to);

/// Returns log10 resistivity of a model at the cell centres of another grid. shape: (n_cells). errors: those
/// of `log10_resistivity` and `sampled`.
[[nodiscard]] Eigen::VectorXd sampled_log10(const Model& model, const TensorGrid& to);

}  // namespace lodestone::physics::mesh
