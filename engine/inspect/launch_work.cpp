// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/launch_work.hpp"

#include "engine/compile/fused_op.hpp"
#include "engine/compile/hooked_kernel.hpp"
#include "engine/compile/parts.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/inspect/lone_launch.hpp"

namespace lodestone::engine {
namespace {

void add(LaunchWork& work, const Expr& expr) {
  for (const FunctionUse& each : functions_of(expr)) work.functions.push_back(each);
  static const OpInfo& random_bits = op_named("random_bits");
  for (const Expr::Words& each : expr.words) {
    const DType of_keys = expr.dtype_of_load(each.load);
    const auto n = static_cast<double>(expr.count_of(each.out));
    const auto bytes = n * static_cast<double>(core::size_of(expr.values[each.out].dtype));
    work.kernels.push_back({with_dtype(random_bits.name, of_keys), std::string(name_of(random_bits.op_class)),
                            of_keys, n, bytes});
  }
}

/// Adds a call of an op's kernel on operands of so many bytes; that of an elementwise op is its functions.
void add(LaunchWork& work, const OpInfo& op, const Attrs* attrs, std::span<const Aval* const> in,
         const Aval& out, double bytes, const std::source_location& where) {
  const DType dtype = in.empty() ? out.dtype : in[0]->dtype;
  const Kernel& kernel = op.kernel(out.device, dtype);
  if (has_expression(kernel)) {
    ExprWriter writer;
    std::vector<ExprId> loads;
    for (const Aval* each : in)
      loads.push_back(writer.load(each->dtype, IntList::counting(out.shape.rank()), out.shape));
    writer.store(append(writer, kernel, attrs, loads, out.dtype), out.shape);
    return add(work, writer.expr());
  }
  const double flops = flops_of(op, attrs, in, out, where);
  work.kernels.push_back({with_dtype(op.name, dtype), std::string(name_of(op.op_class)), dtype,
                          flops > 0.0 ? flops : static_cast<double>(out.count()), bytes});
}

void add_hooked(LaunchWork& work, const HookedAttrs& attrs, const std::source_location& where) {
  const auto& [use, hooks] = attrs;
  std::vector<const Aval*> in;
  std::size_t bytes = 0;
  for (const Aval& each : use.operands) {
    in.push_back(&each);
    bytes += each.bytes();
  }
  for (const Aval& each : use.results) bytes += each.bytes();
  add(work, *use.op, use.attrs.get(), in, use.results[0], static_cast<double>(bytes), where);
  for (const auto& each : {hooks.before, hooks.after})
    if (each != nullptr) add(work, each->expr());
}

}  // namespace

std::string with_dtype(std::string_view name, DType dtype) {
  return fmt::format("{} {}", name, core::name_of(dtype));
}

WorkPart part_of(const FunctionUse& use) {
  if (use.row_body != nullptr)
    return {with_dtype(fmt::format("rows of {}", use.row_body->text), use.in[0]), "rows", use.in[0], use.n};
  const DType dtype = use.in[static_cast<std::size_t>(use.body->n_inputs - 1)];  // of what is chosen from
  const bool is_function = use.body->text.find("vmath::") != std::string_view::npos;
  return {with_dtype(use.body->text, dtype), is_function ? "function" : "arithmetic", dtype, use.n};
}

std::vector<WorkPart> LaunchWork::parts() const {
  std::vector<WorkPart> all = kernels;
  for (const FunctionUse& each : functions) all.push_back(part_of(each));
  return all;
}

LaunchWork work_of(const Lowered& plan, const Launch& launch) {
  LaunchWork work;
  work.bytes = bytes_moved(plan, launch);
  std::vector<const Aval*> avals;
  for (const Access& each : plan.operands_of(launch)) avals.push_back(each.aval);
  const auto in = std::span<const Aval* const>(avals).first(launch.n_in);
  const Aval& out = *avals[launch.n_in];
  work.flops = flops_of(*launch.op, launch.attrs, in, out, launch.where);
  if (launch.op == &hooked_kernel_op()) {
    add_hooked(work, attrs_as<HookedAttrs>(*launch.attrs), launch.where);
  } else if (launch.op == &fused_op()) {
    for (const auto& program : attrs_as<TileAttrs>(*launch.attrs).programs) add(work, program->expr());
  } else {
    add(work, *launch.op, launch.attrs, in, out, work.bytes, launch.where);
  }
  return work;
}

}  // namespace lodestone::engine
