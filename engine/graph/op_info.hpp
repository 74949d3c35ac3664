// SPDX-License-Identifier: Apache-2.0
// The row of an op. What its functions receive and give is defined in engine/record, how its kernels are
// found in engine/dispatch.
#pragma once

#include "engine/graph/axis_map.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/graph/kernel.hpp"
#include "engine/graph/node.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

struct InferArgs;
struct OpInfo;
struct RuleArgs;
struct Sample;
class Sampler;
class Tensor;

/// The rules of differentiation of an op. They build graph nodes, so that derivatives can be differentiated
/// again. The inner product is Re⟨x, y⟩: the reverse rule of a complex op is its adjoint.
struct Derivative {
  /// Returns the tangent of the output for tangents of the inputs. Invalid ones are zero; at least one is
  /// valid.
  std::function<Tensor(const RuleArgs&, std::span<const Tensor> tangents)> jvp;
  /// Cotangent of input `which` for a cotangent of the output; not valid: zero.
  std::function<Tensor(const RuleArgs&, const Tensor& cotangent, std::size_t which)> vjp;
  /// Set instead of `vjp` where the cotangents of the inputs share most of their work: all that are wanted.
  std::function<std::vector<Tensor>(const RuleArgs&, const Tensor& cotangent,
                                    const std::vector<bool>& wanted)>
      pull_back;
  std::string why_none;       ///< set instead of both: why there is none
  std::string why_no_second;  ///< why the derivative cannot be differentiated with respect to the inputs;
                              ///< the rules throw in that case
  std::string formula;        ///< for the documentation
  [[nodiscard]] bool exists() const { return static_cast<bool>(jvp); }
};

/// Whose kernels they are: plain loops on the processor, fast loops on the processor, those of oneDNN, those
/// of a CUDA device. Which of them a device runs, and in what order they are tried, is the business of
/// `OpInfo::kernel`. Kernels of oneDNN leave calls that it is not faster at to `processor`, by shape alone.
enum class Backend : std::uint8_t { reference, processor, onednn, cuda };
inline constexpr int n_backends = 4;

/// One row per primitive: the only place where an op is described. Rows are registered by explicit calls;
/// users add their own.
struct OpInfo {
  std::string name;
  std::string formula;  ///< for the documentation
  int n_inputs = 1;     ///< -1: any number
  DTypes dtypes;        ///< allowed for the first input (for the output of an op without inputs)
  std::function<Aval(const InferArgs&)> infer;
  std::function<std::vector<Aval>(const InferArgs&)>
      results;  ///< abstract values of the tensors of an op with several results
  Derivative derivative;
  OpClass op_class = OpClass::opaque;
  /// Returns the loops that the op stands for, and what they need of its inputs, which are arrays; with
  /// `attrs_of_part` the attributes serve any part of them. Null: of an elementwise op axis by axis, else
  /// nothing is known.
  std::function<AxisMap(const AxisArgs&)> axes;
  /// True where one more axis may stand in front of all inputs and the output, for which the op is done item
  /// by item; attributes change as their roles say.
  bool stacks = false;
  /// Bit i: input i may have such an axis while all others lack it, if its attributes can say so. The output
  /// has it where the map of axes says.
  std::uint64_t stacks_alone = 0;
  /// True where a part of free labels gives the bits that the whole gives there, whatever the kernel; see
  /// `is_exact_when_cut`.
  bool exact_when_cut = false;
  /// For ops whose batches do not follow from all this, or would be slow: records the op for inputs that
  /// carry the batch as axis 0 where `batched`; the output has it as axis 0, too.
  std::function<Tensor(const RuleArgs&, const std::vector<bool>& batched)> batch;
  std::function<Sample(Sampler&)> sample;
  bool checks_values = false;  ///< its kernels throw for values out of range, such as indices
  /// Real operations of a call, roughly; null: one per element of the output.
  std::function<double(const InferArgs&, const Aval& out)> flops;
  ViewRule view = nullptr;  ///< rule of ops that only look at their input in another way
  std::array<std::array<Kernel, core::n_dtypes>, n_backends> kernels = {};  ///< by backend and dtype
  /// For ops whose value no kernel computes (simulations, sub-graphs): a tensor with the value, from
  /// evaluated inputs; what it records runs. Such ops may take and give values that are not arrays.
  std::function<Tensor(const RuleArgs&)> run;
  /// For ops that may be collective over ranks: whether they run when recorded, on the calling thread, in
  /// program order, never twice, never left out.
  bool (*runs_when_recorded)(const Attrs* attrs) = nullptr;
  /// For ops that other ops can express (see `composite`): what is recorded instead where no backend has a
  /// kernel that accepts the inputs.
  std::function<Tensor(const RuleArgs&)> decompose;
  bool (*accepts)(const InferArgs&) = nullptr;  ///< null: kernels take all inputs the shape rule does
  /// For ops that stand for another one: returns what profiles and pictures call a use; null: `name`.
  std::string (*title)(const Attrs& attrs) = nullptr;

  [[nodiscard]] std::string title_of(const Attrs* attrs) const {
    return title == nullptr ? name : title(*attrs);
  }
  /// Returns true if all inputs have the axes of the output, which come from them one by one.
  [[nodiscard]] bool is_axis_by_axis() const { return op_class == OpClass::elementwise && !axes; }
  /// Returns whether a part of free labels gives the bits that the whole gives there: where elements are
  /// computed alone or only moved, and where the row says so.
  [[nodiscard]] bool is_exact_when_cut() const {
    return exact_when_cut || op_class == OpClass::elementwise || op_class == OpClass::movement ||
           op_class == OpClass::random;
  }
  /// Returns what is known of the axes; see `axes`.
  [[nodiscard]] AxisMap axis_map(const AxisArgs& args) const {
    return axes ? axes(args) : is_axis_by_axis() ? axis_by_axis(args) : all_whole(args);
  }
  /// Returns the kernel that runs on a device for this dtype: that of the first of its backends that has one.
  /// errors: DeviceError when the op has no kernel for this device, InvalidArgument when it has none for this
  /// dtype.
  [[nodiscard]] const Kernel& kernel(Device device, DType dtype) const;
  /// Returns the kernel of one backend; that has no `run` where there is none.
  [[nodiscard]] const Kernel& kernel_of(Backend backend, DType dtype) const {
    return kernels[static_cast<std::size_t>(backend)][static_cast<std::size_t>(dtype)];
  }
  /// Returns whether a kernel accepts these inputs on their device, so that a composite is recorded as one
  /// node.
  [[nodiscard]] bool has_kernel(const InferArgs& args) const;
  OpInfo& with_kernel(Backend backend, DType dtype, Kernel kernel);
};

template <class T>
const T& KernelCall::attrs_of() const {
  return attrs_as<T>(attrs, op.name, where);
}

}  // namespace lodestone::engine
