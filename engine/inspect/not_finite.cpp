// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/not_finite.hpp"

#include "engine/graph/op_table.hpp"
#include "engine/runtime/executor.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::engine {
namespace {

template <class T>
bool all_finite(const Node& node, std::int64_t n) {
  const T* values = reinterpret_cast<const T*>(node.data());
  return std::all_of(values, values + n, [](T value) { return std::isfinite(value); });
}

bool is_finite(const NodePtr& node) {
  if (node->aval.kind != Kind::array) return true;  // elements of a tuple are looked at where they are computed
  const std::int64_t n = node->aval.count();
  switch (node->aval.dtype) {
    case DType::f32:
      return all_finite<float>(*contiguous(node), n);
    case DType::f64:
      return all_finite<double>(*contiguous(node), n);
    case DType::c64:
      return all_finite<float>(*contiguous(node), 2 * n);
    case DType::c128:
      return all_finite<double>(*contiguous(node), 2 * n);
    default:
      return true;
  }
}

}  // namespace

std::optional<std::string> first_not_finite(const std::function<void()>& f) {
  std::optional<std::string> found;
  const ExecutionObserver observer([&](const Node& node) {
    const bool is_view = node.op->view != nullptr && node.buffer == node.inputs[0]->buffer;  // shows what was there before
    if (found || is_view || is_finite(NodePtr(const_cast<Node*>(&node)))) return;
    const std::string here = fmt::format("{} {}", node.op->name, at_line(node.where));
    // Inputs that this op has written over were computed, so they have been looked at.
    const auto came_in = [&](const NodePtr& input) { return input->buffer && !(input->buffer == node.buffer) && !is_finite(input); };
    const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), came_in);
    found = input != node.inputs.end()
                ? fmt::format("an input {} of {}", (*input)->aval.text(), here)
                : fmt::format("{} of {} {}, from finite inputs", node.op->name, node.aval.text(), at_line(node.where));
  });
  f();
  return found;
}

}  // namespace lodestone::engine
