// SPDX-License-Identifier: Apache-2.0
// Collectives as ops. A value is either the *same* on all ranks of a group, or each rank's *own*; `own`
// values may have other shapes on other ranks. All of them run when they are recorded, in program order, on
// all ranks of the group. A transform of a function in which they occur has to be taken on all ranks, too.
#pragma once

#include "engine/dist/collectives/group.hpp"
#include "engine/dist/layout/redistribute.hpp"
#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// An axis of a tensor that the ranks of a group cut: its extent, and the multiples at which pieces end.
struct CutAxis {
  int axis = 0;
  Dim extent = 0;
  Dim grain = 1;
};
using StepPtr = std::shared_ptr<const RouteStep>;

/// Returns the sum of x over a group, or its largest or smallest elements: own → same. shapes: x as the
/// result. errors, of all functions here: ShapeError, InvalidArgument (another collective on another rank),
/// those of `Transport::test`.
[[nodiscard]] Tensor all_reduce(const Located& x, const GroupPtr& group, Terms how = Terms::sum);
/// Returns the sum over all shards of a group, of which each rank has its own: own → same. Terms add in the
/// order of a tree over the shards, whoever has them. shapes: x [shards of this rank, …] → […].
[[nodiscard]] Tensor all_reduce_shards(const Located& x, const GroupPtr& group, Terms how = Terms::sum);
/// Returns x as each rank's own value, which may then be combined with others of its own: same → own. Cost:
/// none; its derivative is the sum over the group.
[[nodiscard]] Tensor as_own(const Located& x, const GroupPtr& group);

/// Returns the pieces of an axis put together: own → same. shapes: x with the piece of this rank along the
/// axis → with its extent.
[[nodiscard]] Tensor all_gather(const Located& x, const GroupPtr& group, const CutAxis& cut);
/// Returns the pieces put together for each rank to use in its own way: own → own. Derivative:
/// `reduce_scatter` of the ranks' cotangents.
[[nodiscard]] Tensor all_gather_own(const Located& x, const GroupPtr& group, const CutAxis& cut);
/// Returns this rank's piece along an axis: same → own. Cost: none; its derivative is `all_gather`.
[[nodiscard]] Tensor own_piece(const Located& x, const GroupPtr& group, int axis, Dim grain = 1);
/// Returns this rank's piece, along an axis, of the sum of x over a group: own → own.
[[nodiscard]] Tensor reduce_scatter(const Located& x, const GroupPtr& group, int axis, Dim grain = 1);
/// Returns this rank's piece of the sum over all shards, as `all_reduce_shards` adds them: own → own. shapes:
/// x [shards of this rank, …] → […], of which `axis` is cut.
[[nodiscard]] Tensor reduce_scatter_shards(const Located& x, const GroupPtr& group, int axis, Dim grain = 1);

/// Returns a tensor that was cut along one axis as one that is cut along another: own → own. shapes: x with
/// its piece along `from.axis`, whole along `to.axis` → the other way round.
[[nodiscard]] Tensor all_to_all(const Located& x, const GroupPtr& group, const CutAxis& from,
                                const CutAxis& to);
/// Returns the x of the rank that stands `by` places before this one in its group, which is a ring: own →
/// own. shapes: equal on all ranks.
[[nodiscard]] Tensor permute(const Located& x, const GroupPtr& group, int by);
/// Returns the box of this rank after any moves within a group: own → own. Derivative: all moves back, where
/// elements that went to several ranks are the sums of what comes back. shapes: x of the box that this rank
/// holds → of the box that it is to have. The step moves boxes; it does not combine terms.
[[nodiscard]] Tensor exchange(const Located& x, const GroupPtr& group, const StepPtr& step);

}  // namespace lodestone::engine
