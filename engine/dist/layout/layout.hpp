// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "engine/dist/layout/device_mesh.hpp"
#include "engine/graph/box.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

/// The mesh axes that cut one axis of a tensor, the first one slowest; none: it is whole on each rank.
struct Cut {
  IntList axes;
  Dim grain = 1;  ///< pieces end at multiples of it, the last one at the end of the axis
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// The way in which what ranks hold along a mesh axis combines to the tensor.
enum class Terms : std::uint8_t {
  no,   ///< each holds elements of the tensor
  sum,  ///< elements are sums of what they hold
  max,  ///< likewise the largest
  min,  ///< likewise the smallest
  one   ///< one of them holds the element, the others zero bits: it moves without a sum that would lose −0
};
[[nodiscard]] constexpr auto words(Terms) {
  return core::Words<Terms>{
      {Terms::no, "no"}, {Terms::sum, "sum"}, {Terms::max, "max"}, {Terms::min, "min"}, {Terms::one, "one"}};
}

/// The memory in which the pieces lie.
enum class Memory : std::uint8_t { device, host };

/// The place of each element of a tensor on a mesh of ranks. Along a mesh axis that neither cuts nor is
/// partial, ranks hold the same elements.
struct MeshLayout {
  std::vector<Cut> cuts;     ///< per axis of the tensor
  std::vector<Terms> terms;  ///< per axis of the mesh
  Memory memory = Memory::device;
  friend bool operator==(const MeshLayout&, const MeshLayout&) = default;
};

/// Returns the layout of a tensor that is whole on every rank.
[[nodiscard]] MeshLayout whole_layout(int rank_of_tensor, const DeviceMesh& mesh);
/// Checks a layout. errors: InvalidArgument for other numbers of axes. Also for a mesh axis that does not
/// exist or occurs twice, as one that cuts, or cuts and is partial; a grain below 1, or of an axis that
/// nothing cuts.
void check_layout(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh);

/// Returns where the pieces of an axis begin, and its end behind them: of `shards` equal parts, rounded down
/// to multiples of the grain, rank i of n holds those from ⌊i shards / n⌋ on. shapes: [n + 1].
[[nodiscard]] std::vector<Dim> boundaries(Dim extent, int n, int shards, Dim grain = 1);
/// Returns the box of a tensor that a rank holds. errors: as `check_layout`, and InvalidArgument for a rank
/// outside of the mesh.
[[nodiscard]] Box box_of(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh, int rank);
/// Returns true if both layouts give every rank the same elements, combined in the same way in the same
/// memory.
[[nodiscard]] bool same_places(const MeshLayout& a, const MeshLayout& b, const Shape& shape,
                               const DeviceMesh& mesh);

/// Returns a layout as text, "[data, whole, stage*model by 4], sum over row, on host".
[[nodiscard]] std::string text_of(const MeshLayout& layout, const DeviceMesh& mesh);
/// Reads what `text_of` writes. errors: InvalidArgument, which quotes the part that was not understood.
[[nodiscard]] MeshLayout layout_from(std::string_view text, const DeviceMesh& mesh);

}  // namespace lodestone::engine
