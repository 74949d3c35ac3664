// SPDX-License-Identifier: Apache-2.0
#include "engine/record/tensor.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/record.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine {

// So that spans of it stay valid and threads may ask at once.
NodePtr row_major(const NodePtr& node) {
  if (node->is_contiguous()) return node;
  Node* kept = node->row_major.get();
  return NodePtr(kept != nullptr ? kept : node->row_major.keep(contiguous(node)));
}

Tensor Tensor::from_bytes(std::span<const std::byte> bytes, const Aval& aval, std::source_location where) {
  if (std::any_of(aval.shape.begin(), aval.shape.end(), [](Dim extent) { return extent < 0; }))
    throw core::ShapeError("engine::Tensor#negative_extent", "expected extents of 0 or more, got {} {}",
                           aval.shape.text(), at_line(where));
  if (bytes.size() != aval.bytes()) {
    throw core::ShapeError("engine::Tensor#wrong_byte_count",
                           "expected {} bytes for {}, got {}; do the elements fit the shape? {}",
                           aval.bytes(), aval.text(), bytes.size(), at_line(where));
  }
  Tensor result = new_array(aval);
  if (!bytes.empty()) std::memcpy(result.node().data(), bytes.data(), bytes.size());
  return result;
}

Dim Tensor::dim(int axis) const {
  const int counted = axis < 0 ? axis + rank() : axis;
  if (counted < 0 || counted >= rank())
    throw core::ShapeError("engine::Tensor#no_such_axis", "expected an axis of {}, got {}", aval().text(),
                           axis);
  return shape()[counted];
}

const Tensor& Tensor::eval() const {
  if (!node_->is_evaluated()) evaluate(std::span(&node_, 1));
  return *this;
}

void Tensor::check_item(DType dtype, const std::source_location& where) const {
  if (is_valid() && count() != 1)
    throw core::ShapeError("engine::Tensor::item#not_one_element", "expected one element, got {} {}",
                           aval().text(), at_line(where));
  static_cast<void>(contiguous_bytes(dtype, where));
}

std::span<const std::byte> Tensor::contiguous_bytes(DType dtype, const std::source_location& where) const {
  if (!is_valid())
    throw core::InvalidArgument("engine::Tensor#empty_tensor", "expected a tensor, got an empty one {}",
                                at_line(where));
  if (aval().kind != Kind::array)
    throw core::InvalidArgument("engine::Tensor#not_an_array", "expected an array, got a {} {}",
                                aval().text(), at_line(where));
  if (dtype != aval().dtype) {
    throw core::InvalidArgument("engine::Tensor#wrong_dtype",
                                "expected to be read as {}, got {}; cast it first {}",
                                core::name_of(aval().dtype), core::name_of(dtype), at_line(where));
  }
  if (node_->is_abstract && !node_->is_evaluated()) refuse_values(*node_, where);
  eval();
  return {row_major(node_)->data(), aval().bytes()};
}

void eval(std::span<const Tensor> tensors) {
  std::vector<NodePtr> nodes;
  nodes.reserve(tensors.size());
  for (const Tensor& each : tensors) nodes.push_back(each.node_pointer());
  evaluate(nodes);
}

}  // namespace lodestone::engine
