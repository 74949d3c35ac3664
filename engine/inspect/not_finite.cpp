// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/not_finite.hpp"

#include "engine/dispatch/executor.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine {
namespace {

/// Returns true if some element has all bits of its exponent set, as infinities and NaN do.
template <class Bits>
bool any_set(const Node& node, std::int64_t n, Bits exponent) {
  const auto* from = reinterpret_cast<const std::byte*>(node.data());
  Bits found = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    Bits element;
    std::memcpy(&element, from + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    found |= static_cast<Bits>((element & exponent) == exponent);
  }
  return found != 0;
}

/// Returns true for a tuple whose elements a kernel computed; those of others came out of other ops.
bool is_computed_tuple(const Node& node) {
  return node.aval.kind == Kind::tuple && node.op != nullptr && !node.op->run;
}

bool is_finite(const NodePtr& node) {
  if (is_computed_tuple(*node))
    return std::ranges::all_of(evaluated_elements(*node),
                               [](const Tensor& each) { return is_finite(each.node_pointer()); });
  if (node->aval.kind != Kind::array) return true;
  const std::int64_t n = node->aval.count();
  switch (node->aval.dtype) {
    case DType::bf16:
      return !any_set<std::uint16_t>(*contiguous(node), n, 0x7f80);
    case DType::f16:
      return !any_set<std::uint16_t>(*contiguous(node), n, 0x7c00);
    case DType::f32:
      return !any_set<std::uint32_t>(*contiguous(node), n, 0x7f800000);
    case DType::f64:
      return !any_set<std::uint64_t>(*contiguous(node), n, 0x7ff0000000000000);
    case DType::c64:
      return !any_set<std::uint32_t>(*contiguous(node), 2 * n, 0x7f800000);
    case DType::c128:
      return !any_set<std::uint64_t>(*contiguous(node), 2 * n, 0x7ff0000000000000);
    default:
      return true;
  }
}

/// Returns true if the value of a node lies in this buffer, or an element of it.
bool holds(const Node& node, const BufferPtr& buffer) {
  if (!is_computed_tuple(node)) return node.buffer == buffer;
  return std::ranges::any_of(evaluated_elements(node),
                             [&](const Tensor& each) { return each.node().buffer == buffer; });
}

}  // namespace

bool all_finite(const Tensors& tensors) {
  eval(tensors);
  return std::ranges::all_of(tensors, [](const Tensor& each) { return is_finite(NodePtr(&each.node())); });
}

std::optional<std::string> first_not_finite(const std::function<void()>& f) {
  std::optional<std::string> found;
  const ExecutionObserver observer([&](const Node& node) {
    // A view shows what was there before.
    if (found || is_view(node) || is_finite(NodePtr(const_cast<Node*>(&node)))) return;
    const std::string here = fmt::format("{} {}", node.op->name, at_line(node.where));
    // Inputs that this op has written over were computed, so they have been looked at.
    const auto came_in = [&](const NodePtr& input) {
      return input->buffer && !holds(node, input->buffer) && !is_finite(input);
    };
    const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), came_in);
    found = input != node.inputs.end() ? fmt::format("an input {} of {}", (*input)->aval.text(), here)
                                       : fmt::format("{} of {} {}, from finite inputs", node.op->name,
                                                     node.aval.text(), at_line(node.where));
  });
  f();
  return found;
}

}  // namespace lodestone::engine
