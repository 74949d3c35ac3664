// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: several tensors as one value, for ops that give more than one. The tangent of a tuple
// is the tuple of the tangents.
#pragma once

#include "engine/record/tensor.hpp"

namespace lodestone::engine {

/// The elements of a tuple: their abstract values as soon as the op is recorded, their data once it has run.
class TupleValue final : public Opaque {
 public:
  TupleValue(Device device, std::vector<Aval> types) : Opaque(device, 0), avals(std::move(types)) {}
  [[nodiscard]] bool is_evaluated() const override { return elements.size() == avals.size(); }
  const std::vector<Aval> avals;
  Tensors elements;
};

/// Which element of a tuple `get` gives.
struct ElementAttrs {
  std::int64_t index = 0;
  static auto fields() { return std::tuple{Field{"index", &ElementAttrs::index}}; }
};

/// Makes a tuple of tensors. errors: InvalidArgument for no elements.
[[nodiscard]] Tensor tuple(const Tensors& elements,
                           std::source_location where = std::source_location::current());
/// Returns element i; for a tuple just made, the tensor that went in.
[[nodiscard]] Tensor get(const Tensor& tuple, std::size_t i,
                         std::source_location where = std::source_location::current());
[[nodiscard]] Tensors elements_of(const Tensor& tuple,
                                  std::source_location where = std::source_location::current());
[[nodiscard]] const std::vector<Aval>& avals_of(const Tensor& tuple);
[[nodiscard]] std::vector<Aval> avals_of(std::span<const Tensor> tensors);
/// Returns the elements of a node of `Kind::tuple` that has run.
[[nodiscard]] const Tensors& evaluated_elements(const Node& tuple);
/// For ops that run: a tuple that has its values, on this device or that of its first element.
[[nodiscard]] Tensor evaluated_tuple(Tensors elements, Device device);
[[nodiscard]] inline Tensor evaluated_tuple(const Tensors& elements) {
  return evaluated_tuple(elements, elements[0].device());
}
/// Returns the tensors evaluated, arrays without gaps: what a function gives looks the same however it was
/// computed, and so does what kernels make of it.
[[nodiscard]] Tensors without_gaps(Tensors tensors);
/// Returns the aval of a tuple on this device.
[[nodiscard]] Aval tuple_aval(Device device);

}  // namespace lodestone::engine
