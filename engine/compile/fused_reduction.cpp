// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/fused_reduction.hpp"

#include "engine/compile/fused_op.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

namespace lodestone::engine {
namespace {

using cpu_backend::TileReader;

const Kernel& kernel_of(const ReductionUse& use) {
  return use.op->kernel(use.operand.device.kind, use.operand.dtype);
}

std::vector<Aval> results(const InferArgs& args) {
  const auto& [program, use] = args.as<FusedReductionAttrs>();
  const Expr& expr = program->expr();
  std::vector<Aval> result{use.result};
  for (std::size_t i = 1; i < expr.stores.size(); ++i)
    result.push_back({expr.stores[i].shape, expr.values[expr.stores[i].value].dtype, use.operand.device});
  return result;
}

/// A call of the reduction's kernel, on an operand that is made.
struct ReductionCall {
  const ReductionUse& use;
  Strides strides;
  View operand;
  KernelCall call;

  ReductionCall(const KernelCall& of, const Reader& reader)
      : use(of.attrs_of<FusedReductionAttrs>().reduction),
        strides(contiguous_strides(use.operand.shape)),
        operand{nullptr, &use.operand, &strides},
        call{*use.op,  use.attrs.get(), std::span(&operand, 1), of.out.first(1), of.scratch,
             of.where, &reader} {}
  ReductionCall(const ReductionCall&) = delete;
  ReductionCall& operator=(const ReductionCall&) = delete;

  /// Returns what the kernel works in. The reader's part of a thread's scratch stands behind it.
  [[nodiscard]] Workspace workspace() const {
    const Kernel& kernel = kernel_of(use);
    return kernel.workspace == nullptr ? Workspace{} : kernel.workspace(call);
  }
};

const cpu_backend::TileProgram& program_of(const KernelCall& call) {
  return *call.attrs_of<FusedReductionAttrs>().program;
}

Workspace workspace(const KernelCall& call) {
  const TileReader reader(program_of(call), call);
  Workspace result = ReductionCall(call, reader).workspace();
  result.per_thread = Scratch::aligned(result.per_thread) + reader.bytes();
  return result;
}

void run(const KernelCall& call) {
  const TileReader measured(program_of(call), call);
  const TileReader reader(program_of(call), call,
                          Scratch::aligned(ReductionCall(call, measured).workspace().per_thread));
  const ReductionCall made(call, reader);
  kernel_of(made.use).run(made.call);
}

/// The result of the reduction is written while operands are read.
bool writes_over(const Attrs* attrs, std::size_t operand, std::size_t output) {
  return output > 0 && attrs_as<FusedReductionAttrs>(*attrs).program->writes_over(operand, output);
}

OpInfo row() {
  OpInfo row;
  row.name = "fused_reduction";
  row.formula = "a reduction of what elementwise ops give, in one pass";
  row.n_inputs = -1;
  row.dtypes = any_stored;
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = results;
  row.flops = [](const InferArgs& args, const Aval&) {
    const auto& [program, reduction] = args.as<FusedReductionAttrs>();
    return flops_of(*program) + static_cast<double>(reduction.operand.count());
  };
  row.derivative.why_none = "it is made of ops whose derivatives are taken before";
  row.op_class = OpClass::reduction;
  const Kernel kernel{.name = "cpu.tiles", .run = run, .writes_over = writes_over, .workspace = workspace};
  for (int i = 0; i < core::n_dtypes; ++i) row.with_kernel(Backend::processor, static_cast<DType>(i), kernel);
  return row;
}

}  // namespace

std::string attr_text(const ReductionUse& value) {
  return fmt::format("{} of {} over {}", value.op->name, value.operand.text(), value.attrs->text());
}

std::uint64_t attr_hash(const ReductionUse& value) {
  return detail::mixed(detail::attr_hash(value.op->name), value.attrs->hash());
}

const OpInfo& fused_reduction_op() {
  static const OpInfo made = row();
  return made;
}

bool can_reduce_what_is_made(const OpInfo& op, const Aval& operand) {
  return op.op_class == OpClass::reduction && operand.kind == Kind::array && operand.count() > 0 &&
         operand.device.kind == Device::Kind::cpu && op.kernel(Device::Kind::cpu, operand.dtype).reads_once;
}

}  // namespace lodestone::engine
