// SPDX-License-Identifier: Apache-2.0
// Small on purpose: what a search may choose from, apart from how it chooses.
// Inside of the engine: the ways in which an instruction or a cell may be cut over a mesh.
#pragma once

#include "engine/dist/leaves.hpp"

namespace lodestone::engine {

/// A way to compute an instruction: the cuts of its labels, and the layouts that its results then have.
struct WayToCut {
  LabelCuts cuts;
  std::vector<MeshLayout> results;
};

/// Returns the ways to cut an instruction, the whole one first: each mesh axis cuts one label, or none.
///
/// A sum over a cut label comes twice and more often: the same on all ranks, and cut along each axis that has
/// room. Labels without an element for each shard stay whole, and of many labels the shortest do.
[[nodiscard]] std::vector<WayToCut> ways_to_cut(const Program& program, const Instruction& instruction,
                                                const AxisMap& map, const DeviceMesh& mesh);
/// Returns the ways to keep a tensor, the whole one first: each mesh axis cuts one axis, or none.
[[nodiscard]] std::vector<MeshLayout> ways_to_keep(const Shape& shape, const DeviceMesh& mesh);

}  // namespace lodestone::engine
