// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what the rows of the collectives are made of.
#pragma once

#include "engine/dist/collectives/collectives.hpp"
#include "engine/record/rule_args.hpp"

#include <optional>

namespace lodestone::engine {

// As attributes steps are compared by value.
[[nodiscard]] std::string attr_text(const StepPtr& step);
[[nodiscard]] std::uint64_t attr_hash(const StepPtr& step);
[[nodiscard]] bool attr_equals(const StepPtr& a, const StepPtr& b);
/// Gives all boxes of a step one more axis in front.
[[nodiscard]] bool fit_member(StepPtr& step, const AxisRole& role, const NewAxis& axis);
/// Gives all boxes other extents along axes on which they are the whole tensor.
[[nodiscard]] bool fit_member(StepPtr& step, const AxisRole& role, const NewExtents& extents);

/// all_reduce
struct CombineAttrs {
  GroupPtr group;
  int shards;  ///< the axis along which the terms of this rank's shards lie
  Terms how;
  static auto fields() {
    return std::tuple{Field{"group", &CombineAttrs::group},
                      Field{"shards", &CombineAttrs::shards, axes_of(0)}, Field{"how", &CombineAttrs::how}};
  }
};
/// as_own
struct OwnAttrs {
  GroupPtr group;
  static auto fields() { return std::tuple{Field{"group", &OwnAttrs::group}}; }
};
/// reduce_scatter: an axis of the sum that is cut.
struct ScatterAttrs {
  GroupPtr group;
  int shards, axis;  ///< the axis of the terms, and the one that is cut, counted in the sum
  Dim extent, grain;
  static auto fields() {
    return std::tuple{Field{"group", &ScatterAttrs::group},
                      Field{"shards", &ScatterAttrs::shards, axes_of(0)},
                      Field{"axis", &ScatterAttrs::axis, axes_of(0)}, Field{"extent", &ScatterAttrs::extent},
                      Field{"grain", &ScatterAttrs::grain}};
  }
};
/// all_gather, own_piece: an axis of the tensor that consists of the pieces.
struct PiecesAttrs {
  GroupPtr group;
  int axis;
  Dim extent, grain;
  bool is_same;  ///< the whole tensor, on all ranks
  static auto fields() {
    return std::tuple{Field{"group", &PiecesAttrs::group}, Field{"axis", &PiecesAttrs::axis, axes_of(0)},
                      Field{"extent", &PiecesAttrs::extent}, Field{"grain", &PiecesAttrs::grain},
                      Field{"is_same", &PiecesAttrs::is_same}};
  }
};
/// exchange
struct ExchangeAttrs {
  GroupPtr group;
  StepPtr step;
  bool is_back;  ///< all moves back, and what comes to one place adds up
  static auto fields() {
    return std::tuple{Field{"group", &ExchangeAttrs::group},
                      Field{"step", &ExchangeAttrs::step, extents_of_result},
                      Field{"is_back", &ExchangeAttrs::is_back}};
  }
  /// Returns the box of this rank before the moves, and the one after them. errors: InvalidArgument where
  /// this rank has none.
  [[nodiscard]] const Box& before() const;
  [[nodiscard]] const Box& after() const;
};

/// The way in which a row leads from values of one kind to another, along the axes of a group.
struct Crossing {
  const Group* group;
  bool takes_own, gives_own;
};
/// Returns the way of a collective; none for the attributes of other ops.
[[nodiscard]] std::optional<Crossing> crossing_of(const Attrs* attrs, const OpInfo& op);
/// Returns the extent of an axis of which each rank has a piece. collective over the group. errors:
/// ShapeError where the pieces are not those that the axis is cut into.
[[nodiscard]] Dim extent_of_all(const Group& group, Dim own, Dim grain, const std::source_location& where);

/// Returns the boxes of a tensor of which the ranks of a group have pieces along an axis.
[[nodiscard]] std::vector<Box> boxes_of_pieces(const Group& group, const Shape& whole, int axis, Dim grain);
/// Returns the extent of this rank's piece of an axis.
[[nodiscard]] Dim own_extent(const Group& group, Dim extent, Dim grain);

[[nodiscard]] Tensor run_all_reduce(const RuleArgs& args);
[[nodiscard]] Tensor run_all_gather(const RuleArgs& args);
[[nodiscard]] Tensor run_own_piece(const RuleArgs& args);
[[nodiscard]] Tensor run_reduce_scatter(const RuleArgs& args);
[[nodiscard]] Tensor run_exchange(const RuleArgs& args);

// Samples on a lone rank with several shards, on which every row is checked.
[[nodiscard]] Sample sample_all_reduce(Sampler& sampler);
[[nodiscard]] Sample sample_as_own(Sampler& sampler);
[[nodiscard]] Sample sample_pieces(Sampler& sampler);
[[nodiscard]] Sample sample_reduce_scatter(Sampler& sampler);
[[nodiscard]] Sample sample_exchange(Sampler& sampler);

}  // namespace lodestone::engine
