// SPDX-License-Identifier: Apache-2.0
// Small on purpose: relative work and memory of meshes, for estimates above and beside the certificate.
#pragma once

#include "physics/mt/d2/mesh_design.hpp"

namespace lodestone::physics::mt::d2 {

using mt::meshes_at;

/// Returns the relative work of one factorization and its solves on a mesh: nodes to the power 1.25, which
/// was measured between 1e4 and 1e5 nodes. Only ratios of such numbers have a meaning.
[[nodiscard]] double work_of(const fem::QuadMesh& mesh, int order);
/// Returns the work of one forward run of a survey, of all frequencies and of the modes of its data.
[[nodiscard]] double work_of(const MeshSet& meshes, const Survey& survey);
/// Returns the number of modes that the data of a survey belong to.
[[nodiscard]] int n_modes(const Survey& survey);

/// Returns the bytes of the factors of one system on a mesh: whole lines for `lines`, what nested dissection
/// fills in for `petsc`. Of the two modes that with air, which is the larger.
[[nodiscard]] double factor_bytes(const fem::QuadMesh& mesh, int order, SystemSolver solver);
/// Returns the bytes of the largest factors of a set.
[[nodiscard]] double largest_factor_bytes(const MeshSet& meshes);

/// Bytes of factors that a linearization keeps on a rank. Of more it keeps its Jacobian in their place, which
/// takes a solve per response at once.
inline constexpr double most_kept_factor_bytes = 1e9;
/// Returns the bytes of a linearization on a rank with its Jacobian left out, from those of all factors and
/// of the largest: those it keeps, or of one system per thread.
[[nodiscard]] double bytes_of_linearization(double factor_bytes, double largest_bytes);

}  // namespace lodestone::physics::mt::d2
