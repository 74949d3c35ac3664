// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/shape.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

/// An axis of a mesh of ranks.
struct MeshAxis {
  std::string name;  ///< letters, digits and underscores, not "whole"
  int size = 1;      ///< ranks along it
  int shards = 0;    ///< parts that fix the bits of sums, at least `size`; 0: `size`
  [[nodiscard]] int n_shards() const { return shards == 0 ? size : shards; }
  friend bool operator==(const MeshAxis&, const MeshAxis&) = default;
};

/// Ranks at the points of a grid with named axes. A value, equal on all ranks that use it.
class DeviceMesh {
 public:
  DeviceMesh() : DeviceMesh(std::vector<MeshAxis>{}) {}  ///< rank 0 alone, without axes
  /// Puts ranks at the points, the last axis fastest. Without `ranks` they are 0, 1, …; `nodes` holds the
  /// machine of each, in the same order, or nothing where all are on one. errors: InvalidArgument for names,
  /// sizes or shards that are no such, a rank that occurs twice, and other numbers of ranks or nodes.
  explicit DeviceMesh(std::vector<MeshAxis> axes, std::vector<int> ranks = {}, std::vector<int> nodes = {});

  [[nodiscard]] const std::vector<MeshAxis>& axes() const { return axes_; }
  [[nodiscard]] int n_axes() const { return static_cast<int>(axes_.size()); }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }  ///< in the order of the points
  /// Returns the number of an axis. errors: InvalidArgument, which names the axes that there are.
  [[nodiscard]] int axis_named(std::string_view name) const;

  [[nodiscard]] bool contains(int rank) const;
  [[nodiscard]] int rank_at(const IntList& point) const;
  /// Returns where a rank stands, an index per axis. errors: InvalidArgument for a rank outside of the mesh.
  [[nodiscard]] IntList point_of(int rank) const;
  /// Returns the number of the machine of a rank. errors: as `point_of`.
  [[nodiscard]] int node_of(int rank) const;
  /// Returns the ranks whose points differ from that of a rank along these axes alone, the first axis
  /// slowest. errors: as `point_of`.
  [[nodiscard]] std::vector<int> group(int rank, const IntList& axes) const;
  /// Returns the place of a rank in its group along these axes. errors: as `point_of`.
  [[nodiscard]] int index_along(int rank, const IntList& axes) const;
  [[nodiscard]] int size_along(const IntList& axes) const;
  [[nodiscard]] int shards_along(const IntList& axes) const;

  [[nodiscard]] std::string text() const;  ///< "data=2/8, model=4"; with ranks where they are not 0, 1, …
  friend bool operator==(const DeviceMesh&, const DeviceMesh&) = default;

 private:
  [[nodiscard]] std::size_t place_of(int rank) const;
  std::vector<MeshAxis> axes_;
  std::vector<int> ranks_, nodes_;
};

}  // namespace lodestone::engine
