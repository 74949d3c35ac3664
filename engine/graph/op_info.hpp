// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "engine/record/tensor.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

struct OpInfo;

/// A set of dtypes.
class DTypes {
 public:
  constexpr DTypes() = default;
  constexpr DTypes(std::initializer_list<DType> list) {
    for (const DType each : list) bits_ |= bit(each);
  }
  [[nodiscard]] constexpr bool contains(DType dtype) const { return (bits_ & bit(dtype)) != 0; }
  [[nodiscard]] constexpr DTypes operator|(DTypes other) const {
    DTypes both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  [[nodiscard]] std::string text() const;  ///< "f32, f64"

 private:
  [[nodiscard]] static constexpr unsigned bit(DType dtype) { return 1U << static_cast<unsigned>(dtype); }
  unsigned bits_ = 0;
};
inline constexpr DTypes real_floats{DType::f32, DType::f64};
inline constexpr DTypes complexes{DType::c64, DType::c128};
inline constexpr DTypes floats = real_floats | complexes;
inline constexpr DTypes integers{DType::i8, DType::u8, DType::i32, DType::u32, DType::i64, DType::u64};
inline constexpr DTypes reals = real_floats | integers;
inline constexpr DTypes numbers = floats | integers;
inline constexpr DTypes any_computed = numbers | DTypes{DType::b8};

/// What a shape rule sees.
struct InferArgs {
  const OpInfo& op;
  std::span<const Tensor> in;
  const Attrs* attrs;
  std::source_location where;
  [[nodiscard]] const Aval& aval(std::size_t i) const { return in[i].aval(); }
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(*attrs);
  }
};

/// What a derivative or batching rule sees: the op at its inputs, its output, all of them graph nodes.
struct RuleArgs {
  const OpInfo& op;
  std::span<const Tensor> in;
  const Tensor& out;
  const AttrsPtr& attrs;
  std::source_location where;
  template <class T>
  [[nodiscard]] const T& as() const {
    return attrs_as<T>(*attrs);
  }
  /// The same op with the same attributes on other inputs.
  [[nodiscard]] Tensor again(std::span<const Tensor> inputs) const;
};

/// How an op is differentiated. Rules build graph nodes, so that derivatives can be differentiated again. The
/// inner product is Re⟨x, y⟩: the reverse rule of a complex op is its adjoint.
struct Derivative {
  /// Tangent of the output for tangents of the inputs, of which those that are not valid are zero (at least
  /// one is valid).
  std::function<Tensor(const RuleArgs&, std::span<const Tensor> tangents)> jvp;
  /// Cotangent of input `which` for a cotangent of the output; not valid: zero.
  std::function<Tensor(const RuleArgs&, const Tensor& cotangent, std::size_t which)> vjp;
  /// Set instead of `vjp` where the cotangents of the inputs share most of their work: all that are wanted.
  std::function<std::vector<Tensor>(const RuleArgs&, const Tensor& cotangent,
                                    const std::vector<bool>& wanted)>
      pull_back;
  std::string why_none;       ///< set instead of both: why there is none
  std::string why_no_second;  ///< why the derivative cannot be differentiated with respect to the inputs;
                              ///< asked for, the rules throw
  std::string formula;        ///< for the documentation
  [[nodiscard]] bool exists() const { return static_cast<bool>(jvp); }
};

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

struct KernelCall {
  const OpInfo& op;
  const Attrs* attrs;
  std::span<const View> in;
  View out;                         ///< contiguous
  std::source_location where = {};  ///< who recorded it, for errors that depend on values
  template <class T>
  [[nodiscard]] const T& attrs_of() const {
    return attrs_as<T>(*attrs);
  }
};

/// A kernel for one dtype of the first input (of the output, where there is no input).
struct Kernel {
  std::string_view name;  ///< "cpu.loop"
  void (*run)(const KernelCall&) = nullptr;
  bool contiguous_inputs = false;  ///< inputs with gaps are copied first
  bool in_place = false;  ///< the output may be the buffer of an input of the same size: element i is read
                          ///< before it is written
};
enum class Backend : std::uint8_t { reference, processor };
inline constexpr int n_backends = 2;

/// What tests and checks feed an op with: inputs drawn from its domain, and attributes.
struct Sample {
  std::vector<Tensor> inputs;
  AttrsPtr attrs;
  /// For ops on values that are not arrays: the op's inputs from these arrays, an array from what it gives.
  /// Not set: as they are.
  std::function<std::vector<Tensor>(const std::vector<Tensor>&)> prepare = {};
  std::function<Tensor(const Tensor&)> finish = {};
  std::vector<std::size_t> constants = {};  ///< inputs in which the op is not differentiated
};
class Sampler;

/// One row per primitive: the only place where an op is described. Rows are registered by explicit calls;
/// users add their own.
struct OpInfo {
  std::string name;
  std::string formula;  ///< for the documentation
  int n_inputs = 1;     ///< -1: any number
  DTypes dtypes;        ///< of the first input (of the output, where there is none)
  std::function<Aval(const InferArgs&)> infer;
  std::function<std::vector<Aval>(const InferArgs&)>
      results;  ///< of ops that give several tensors: what they are
  Derivative derivative;
  /// Batches along a new axis 0 of the output, given inputs that carry the batch as axis 0 where `batched`.
  std::function<Tensor(const RuleArgs&, const std::vector<bool>& batched)> batch;
  std::function<Sample(Sampler&)> sample;
  /// Real operations of a call, roughly; null: one per element of the output.
  std::function<double(const InferArgs&, const Aval& out)> flops;
  /// For ops that only look at their input in another way: sets offset and strides of `out`. False: a copy is
  /// needed, a kernel makes it.
  bool (*view)(const Node& in, const Attrs* attrs, Node& out) = nullptr;
  std::array<std::array<Kernel, core::n_dtypes>, n_backends> kernels = {};
  /// For ops whose value no kernel computes (simulations, sub-graphs): a tensor with the value, from
  /// evaluated inputs; what it records runs. Such ops may take and give values that are not arrays.
  std::function<Tensor(const RuleArgs&)> run;
  /// For ops that may be collective over ranks: whether they run when recorded, on the calling thread, in
  /// program order, never twice, never left out.
  bool (*runs_when_recorded)(const Attrs* attrs) = nullptr;
  /// For ops that other ops can say (see `composite`): what is recorded instead where no backend has a kernel
  /// that accepts the inputs.
  std::function<Tensor(const RuleArgs&)> decompose;
  bool (*accepts)(const InferArgs&) = nullptr;  ///< null: kernels take all inputs the shape rule does

  /// The fastest kernel there is. errors: InvalidArgument when not even the reference has this dtype.
  [[nodiscard]] const Kernel& kernel(DType dtype) const;
  /// Whether a composite is recorded as one node.
  [[nodiscard]] bool has_kernel(const InferArgs& args) const;
  OpInfo& with_kernel(Backend backend, DType dtype, Kernel kernel);
};

/// While one lives, only reference kernels run (on this thread): what the other backends are compared with.
class ReferenceOnly {
 public:
  ReferenceOnly();
  ~ReferenceOnly();
  ReferenceOnly(const ReferenceOnly&) = delete;
  ReferenceOnly& operator=(const ReferenceOnly&) = delete;
};

}  // namespace lodestone::engine
