// SPDX-License-Identifier: Apache-2.0
// What computes an op on one kind of device: a function on memory that others own.
#pragma once

#include "engine/graph/expr.hpp"
#include "engine/graph/scratch.hpp"

#include <source_location>
#include <span>
#include <string_view>

namespace lodestone::engine {

struct OpInfo;

/// An operand of a kernel.
struct View {
  std::byte* data;
  const Aval* aval;
  const Strides* strides;
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
  [[nodiscard]] const Shape& shape() const { return aval->shape; }
  [[nodiscard]] std::int64_t count() const { return aval->count(); }
};

/// Makes the elements of an operand that nobody stores, row-major without gaps, when a kernel asks for them.
class Reader {
 public:
  /// Makes ready to read on the calling thread.
  virtual void open() const = 0;
  /// Writes n elements from `first` on. A kernel reads each element once.
  virtual void read(std::int64_t first, std::int64_t n, std::byte* to) const = 0;
  /// Returns nanoseconds per element, roughly.
  [[nodiscard]] virtual double ns() const = 0;

 protected:
  ~Reader() = default;
};

/// Takes the elements of a kernel's first output when they are finished, while they lie in the cache.
class Writer {
 public:
  /// Makes ready to take on the calling thread.
  virtual void open() const = 0;
  /// The n elements from `first` on, row-major, are in their places, and the kernel needs them no more.
  virtual void take(std::int64_t first, std::int64_t n) const = 0;
  /// Returns nanoseconds per element, roughly.
  [[nodiscard]] virtual double ns() const = 0;

 protected:
  ~Writer() = default;
};

/// One run of a kernel.
struct KernelCall {
  const OpInfo& op;
  const Attrs* attrs;
  std::span<const View> in, out;  ///< every output is row-major without gaps
  Scratch scratch = {};
  std::source_location where = {};  ///< place of its recording, for errors that depend on values
  const Reader* reader = nullptr;   ///< makes the elements of the first operand, if that has no memory
  const Writer* writer = nullptr;   ///< takes each element of the first output once, if anybody waits for it
  const std::byte* packed = nullptr;  ///< an operand as `pack` of the kernel has made it; null: nobody has
  /// Defined with the row of an op, whose name is part of the message. errors: as `attrs_as`.
  template <class T>
  [[nodiscard]] const T& attrs_of() const;
};

/// An operand that a kernel brings into another order first, and the bytes that it takes there.
struct Packing {
  std::size_t operand = 0, bytes = 0;
};

/// A kernel for one dtype of the first input (of the output, where there is no input). It allocates nothing.
struct Kernel {
  std::string_view name;  ///< "cpu.loop"
  void (*run)(const KernelCall&) = nullptr;
  bool contiguous_inputs = false;  ///< inputs with gaps are copied first
  bool in_place = false;    ///< the first output may be the buffer of an input of the same size: element i is
                            ///< read before it is written
  bool reads_once = false;  ///< it reads each element of its first operand once, which a reader may make
  /// Returns whether an output may be the buffer of an input of the same size, both given by their numbers;
  /// null: what `in_place` says. Outputs may be in the place of several inputs at once.
  bool (*writes_over)(const Attrs* attrs, std::size_t in, std::size_t out) = nullptr;
  /// Returns whether that input is copied where it has gaps; null: what `contiguous_inputs` says of all.
  bool (*is_copied)(const Attrs* attrs, std::size_t in) = nullptr;
  /// Returns what `run` finds as `scratch`, by shapes, strides and attributes alone; null: nothing.
  Workspace (*workspace)(const KernelCall&) = nullptr;
  /// Set for a kernel that tells a writer what it has finished: returns a number of elements of the first
  /// output such that what is finished at once starts and ends at a multiple of it.
  std::int64_t (*hands_over)(const KernelCall&) = nullptr;
  /// Returns a number of elements of the first operand such that what is read at once starts and ends at a
  /// multiple of it; 0 where it cannot read what is made. Null: 1 if it reads once.
  std::int64_t (*reads_by)(const KernelCall&) = nullptr;
  /// Set for a kernel that brings an operand, such as weights, into another order: says which one, by shapes,
  /// strides and attributes alone. No bytes: not for such a call. The operand has no gaps.
  Packing (*packing)(const KernelCall&) = nullptr;
  /// Writes that operand as `run` finds it in `packed` of the same call; runs that find it there do not look
  /// at the operand. No bit depends on who has packed it.
  void (*pack)(const KernelCall&, std::byte* to) = nullptr;
  const LoopBody* body = nullptr;     ///< set for an elementwise op whose result is one function
  const RowBody* row_body = nullptr;  ///< set for a reduction that takes rows without gaps one by one
  /// Set for an elementwise op whose function depends on attributes, or takes several steps: appends these,
  /// which give the bits of `run`, and returns the result. The inputs are in the writer already.
  ExprId (*expression)(ExprWriter& writer, const Attrs* attrs, std::span<const ExprId> in) = nullptr;

  [[nodiscard]] bool may_write_over(const Attrs* attrs, std::size_t input, std::size_t output) const {
    return writes_over != nullptr ? writes_over(attrs, input, output) : in_place && output == 0;
  }
  [[nodiscard]] bool wants_dense(const Attrs* attrs, std::size_t input) const {
    return is_copied != nullptr ? is_copied(attrs, input) : contiguous_inputs;
  }
};

}  // namespace lodestone::engine
