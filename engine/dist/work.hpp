// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what an instruction needs and gives on all ranks, when its labels are cut.
#pragma once

#include "engine/dist/leaves.hpp"

namespace lodestone::engine {

/// A box of a tensor for each rank of a mesh, by the place of the rank.
using Boxes = std::vector<Box>;

/// Returns the boxes that ranks have in a layout.
[[nodiscard]] Boxes boxes_of(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh);
/// Returns the elements that all ranks receive, each what its box lacks.
[[nodiscard]] std::int64_t missing(const Boxes& have, const Boxes& need);

/// An instruction with what it needs and gives on all ranks of a mesh.
class Work {
 public:
  /// Lays out an instruction with these cuts. `wanted`: the layouts that its results are to have, which tell
  /// whether a sum arises in pieces.
  Work(const Program& program, const Instruction& its, AxisMap its_map, LabelCuts its_cuts,
       std::span<const MeshLayout> wanted, const DeviceMesh& mesh);

  const Instruction& instruction;
  const AxisMap map;
  const LabelCuts cuts;
  const std::vector<int> by_leaf;   ///< labels that are computed leaf by leaf, reduced ones first
  std::vector<Boxes> needs, gives;  ///< per operand, per result
  int scattered_axis = -1;          ///< an axis of the result, along which the last sum is cut; -1: none
  Cut scattered;

  [[nodiscard]] std::vector<AxisRange> leaves(int label, int rank) const;
  [[nodiscard]] const Label& label(int i) const { return map.labels[static_cast<std::size_t>(i)]; }
  /// Returns the reduced labels that are cut.
  [[nodiscard]] std::vector<int> reduced() const;
  /// Returns the elements of a result that ranks receive while its terms combine. Each of g ranks receives
  /// (g - 1) / g of a sum that is cut. Of one that is the same, it receives twice as much.
  [[nodiscard]] double combined_elements(std::size_t result) const;

 private:
  void add_needs(Boxes& boxes, int rank, std::vector<AxisRange> places, std::size_t n_set,
                 bool is_first) const;
  void find_scatter(const Shape& shape, const MeshLayout& wanted);

  const DeviceMesh& mesh_;
};

}  // namespace lodestone::engine
