// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.hpp"
#include "engine/graph/number.hpp"

#include <complex>
#include <functional>
#include <map>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace lodestone::engine {

/// An array of numbers, or the recipe for one: operations are recorded and run when elements are read.
/// Immutable; copies share.
///
/// Gradients come from transforms of functions (`grad`), not from the tensor. A tensor that has not been
/// evaluated belongs to the thread that recorded it; an evaluated one may be read by threads at once.
class Tensor {
 public:
  Tensor() = default;  ///< no tensor; only `is_valid` may be called
  explicit Tensor(NodePtr node) : node_(std::move(node)) {}

  /// Copies the elements, row-major. errors: ShapeError when their number is not that of the shape.
  template <class T>
  [[nodiscard]] static Tensor from(std::span<const T> values, const Shape& shape,
                                   Device device = default_device(),
                                   std::source_location where = std::source_location::current()) {
    return from_bytes(std::as_bytes(values), {shape, core::dtype_of<T>, device}, where);
  }
  template <class T>
  [[nodiscard]] static Tensor from(const std::vector<T>& values, const Shape& shape,
                                   Device device = default_device(),
                                   std::source_location where = std::source_location::current()) {
    return from(std::span<const T>(values), shape, device, where);
  }
  [[nodiscard]] static Tensor from_bytes(std::span<const std::byte> bytes, const Aval& aval,
                                         std::source_location where = std::source_location::current());

  [[nodiscard]] bool is_valid() const { return static_cast<bool>(node_); }
  [[nodiscard]] const Aval& aval() const { return node_->aval; }
  [[nodiscard]] const Shape& shape() const { return node_->aval.shape; }
  [[nodiscard]] int rank() const { return node_->aval.shape.rank(); }
  [[nodiscard]] Dim dim(int axis) const;  ///< negative axes count from the last; errors: ShapeError
  [[nodiscard]] std::int64_t count() const { return node_->aval.count(); }
  [[nodiscard]] DType dtype() const { return node_->aval.dtype; }
  [[nodiscard]] Device device() const { return node_->aval.device; }

  /// Runs what is recorded. errors: those of the kernels; InvalidArgument inside `vmap`, where elements do
  /// not exist.
  const Tensor& eval() const;
  /// The only element. errors: ShapeError for more or none, InvalidArgument for another dtype.
  template <class T>
  [[nodiscard]] T item(std::source_location where = std::source_location::current()) const {
    check_item(core::dtype_of<T>, where);
    return *reinterpret_cast<const T*>(node_->data());
  }
  /// Returns all elements, row-major, copied.
  template <class T>
  [[nodiscard]] std::vector<T> to_vector(std::source_location where = std::source_location::current()) const {
    const auto elements = data<T>(where);
    return {elements.begin(), elements.end()};
  }
  /// Returns all elements, row-major; valid while this tensor (or a copy) lives.
  template <class T>
  [[nodiscard]] std::span<const T> data(std::source_location where = std::source_location::current()) const {
    const auto bytes = contiguous_bytes(core::dtype_of<T>, where);
    return {reinterpret_cast<const T*>(bytes.data()), static_cast<std::size_t>(count())};
  }
  /// Returns the elements as bytes, for any dtype.
  [[nodiscard]] std::span<const std::byte> bytes(
      std::source_location where = std::source_location::current()) const {
    return contiguous_bytes(dtype(), where);
  }

  [[nodiscard]] Node& node() const { return *node_; }
  [[nodiscard]] const NodePtr& node_pointer() const { return node_; }

 private:
  void check_item(DType dtype, const std::source_location& where) const;
  [[nodiscard]] std::span<const std::byte> contiguous_bytes(DType dtype,
                                                            const std::source_location& where) const;
  NodePtr node_;
};

using Tensors = std::vector<Tensor>;
/// Tensors by name ("encoder.0.weight"), in the order of their names: what is saved and loaded.
using NamedTensors = std::map<std::string, Tensor, std::less<>>;

/// Runs what the tensors need, in one pass.
void eval(std::span<const Tensor> tensors);

/// A tensor argument, and the line of the user's code that gave it: made by implicit conversion at the call.
struct Located {
  Located(Tensor argument,
          std::source_location line = std::source_location::current())  // NOLINT(google-explicit-constructor)
      : tensor(std::move(argument)), where(line) {}
  Tensor tensor;
  std::source_location where;
};

/// An operand of arithmetic: a tensor, or a number that takes dtype and device from the other operand.
struct Operand {
  Operand(Tensor argument,
          std::source_location line = std::source_location::current())  // NOLINT(google-explicit-constructor)
      : tensor(std::move(argument)), where(line) {}
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<double>> Operand(
      T value,
      std::source_location line = std::source_location::current())  // NOLINT(google-explicit-constructor)
      : number(value), where(line) {}
  Tensor tensor;  ///< not valid: the number counts
  Number number;
  std::source_location where;
};

}  // namespace lodestone::engine
