// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/layout/layout.hpp"

#include <map>
#include <vector>

namespace lodestone::engine {

/// A layout with the mesh on which it is meant.
struct Placement {
  MeshLayout layout;
  DeviceMesh mesh;
};

/// The box of a tensor that a rank has, or is to have.
struct Holding {
  int rank = 0;
  Box box;
  int part = 0;  ///< number of a term, of a tensor that is partial
  int node = 0;  ///< the machine of the rank
  friend bool operator==(const Holding&, const Holding&) = default;
};

/// A box that goes from one rank to another, or that a rank keeps. Indices are those of the whole tensor.
struct Move {
  int from = 0, to = 0;
  Box box;
  int part = 0;
  friend bool operator==(const Move&, const Move&) = default;
};

/// Moves that may all happen at once. A step that combines gives each element to a rank once per part. Parts
/// combine in the order of a tree that halves their range.
struct RouteStep {
  std::vector<Holding> from, to;  ///< at most one of each per rank
  std::vector<Move> moves;        ///< ordered by receiver, then by part
  Terms combine = Terms::no;
  int n_parts = 1;
  friend bool operator==(const RouteStep&, const RouteStep&) = default;
};

/// Elements that a rank sends to others and receives from others.
struct Traffic {
  std::int64_t sent = 0, received = 0;
};
[[nodiscard]] std::map<int, Traffic> traffic_of(const RouteStep& step);

/// Returns the step that gives each rank its box. A rank keeps what it has. Each other piece comes from the
/// holder on the same machine that has least to send so far, else from one elsewhere. Largest pieces choose
/// first.
///
/// Boxes of one part must be equal or disjoint where they are held. Those to be had may overlap. `combine`:
/// `no` moves each part by itself; else each box to be had combines all parts. errors: InvalidArgument for
/// elements that no rank has. cost: boxes to be had × different boxes that are held.
[[nodiscard]] RouteStep step_between(std::vector<Holding> from, std::vector<Holding> to,
                                     Terms combine = Terms::no);

/// Returns the steps from one layout of a tensor to another. The meshes may have other axes and ranks.
///
/// Each rank receives what its box lacks, and nothing twice. Terms terms combine in one step where no two
/// ranks are to have equal boxes. Where they are, each combines a part of the box, and a second step hands
/// them around: of a tensor of n elements on g ranks, n (g - 1) / g are received per step. errors: as
/// `check_layout`; InvalidArgument for a destination that is partial along other axes than the source, or in
/// another way, and for terms that combine in two ways.
[[nodiscard]] std::vector<RouteStep> route(const Placement& from, const Placement& to, const Shape& shape);

}  // namespace lodestone::engine
