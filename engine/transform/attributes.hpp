// SPDX-License-Identifier: Apache-2.0
// Inside of the transforms: the attributes of ops that carry functions.
#pragma once

#include "engine/ops/direction.hpp"
#include "engine/transform/custom.hpp"
#include "engine/transform/subgraph.hpp"

namespace lodestone::engine {

struct CallAttrs {
  Subgraph body;
  std::int64_t n_saved = 0;  ///< number of last outputs that only the backward pass uses
  static auto fields() {
    return std::tuple{Field{"body", &CallAttrs::body}, Field{"n_saved", &CallAttrs::n_saved}};
  }
};

/// The mark of a tensor that a checkpoint may keep.
struct NameAttrs {
  std::string name;
  static auto fields() { return std::tuple{Field{"name", &NameAttrs::name}}; }
};

/// Both take all inputs behind the predicate.
struct CondAttrs {
  Subgraph yes, no;
  static auto fields() { return std::tuple{Field{"yes", &CondAttrs::yes}, Field{"no", &CondAttrs::no}}; }
};

/// A step as a function of (carry…, x_t…, captured…).
struct LoopAttrs {
  Subgraph body;
  std::size_t n_carry = 0, n_x = 0;
  Direction direction = Direction::forward;
  static auto fields() {
    return std::tuple{Field{"body", &LoopAttrs::body}, Field{"n_carry", &LoopAttrs::n_carry},
                      Field{"n_x", &LoopAttrs::n_x}, Field{"direction", &LoopAttrs::direction}};
  }
  [[nodiscard]] std::size_t n_y() const { return body.n_outputs() - n_carry; }
};

struct CustomAttrs {
  Subgraph body;
  std::size_t n_own = 0;  ///< inputs of the rules; the others were captured
  int n_item_axes = 0;    ///< axes in front of all inputs, which the rules do not see
  std::shared_ptr<const CustomRules> rules;
  static auto fields() {
    return std::tuple{Field{"body", &CustomAttrs::body}, Field{"n_own", &CustomAttrs::n_own},
                      Field{"n_item_axes", &CustomAttrs::n_item_axes}, Field{"rules", &CustomAttrs::rules}};
  }
};

}  // namespace lodestone::engine
