// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/fused_op.hpp"

#include "engine/compile/cost.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

namespace lodestone::engine {
namespace {

std::vector<Aval> results(const InferArgs& args) {
  const Expr& expr = args.as<TileAttrs>().program->expr();
  std::vector<Aval> result;
  for (const auto& [value, shape] : expr.stores)
    result.push_back({shape, expr.values[value].dtype, args.aval(0).device});
  return result;
}

double flops(const InferArgs& args, const Aval&) { return flops_of(*args.as<TileAttrs>().program); }

OpInfo fused_row() {
  OpInfo row;
  row.name = "fused";
  row.formula = "elementwise ops in one pass";
  row.n_inputs = -1;
  row.dtypes = any_stored;
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = results;
  row.flops = flops;
  row.derivative.why_none = "it is made of ops whose derivatives are taken before";
  row.op_class = OpClass::elementwise;
  const Kernel kernel = cpu_backend::TileProgram::kernel();
  for (int i = 0; i < core::n_dtypes; ++i) row.with_kernel(Backend::processor, static_cast<DType>(i), kernel);
  return row;
}

}  // namespace

double flops_of(const cpu_backend::TileProgram& program) {
  double sum = 0.0;
  for (const FunctionUse& each : functions_of(program.expr())) sum += each.n;
  return sum;
}

const OpInfo& fused_op() {
  static const OpInfo row = fused_row();
  return row;
}

}  // namespace lodestone::engine
