// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/fused_op.hpp"

#include "engine/compile/cost.hpp"
#include "engine/core/error.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

namespace lodestone::engine {
namespace {

std::vector<Aval> results(const InferArgs& args) {
  std::vector<Aval> result;
  for (const cpu_backend::TileProgramPtr& program : args.as<TileAttrs>().programs) {
    const Expr& expr = program->expr();
    for (const auto& [value, shape] : expr.stores)
      result.push_back({shape, expr.values[value].dtype, args.aval(0).device});
  }
  return result;
}

double flops(const InferArgs& args, const Aval&) {
  double sum = 0.0;
  for (const cpu_backend::TileProgramPtr& program : args.as<TileAttrs>().programs) sum += flops_of(*program);
  return sum;
}

/// Returns the name of the op with the number of clusters in one launch: "fused, 40 clusters".
std::string title(const Attrs& attrs) {
  const std::size_t n = attrs_as<TileAttrs>(attrs).programs.size();
  return n == 1 ? "fused" : fmt::format("fused, {} clusters", n);
}

OpInfo fused_row() {
  OpInfo row;
  row.name = "fused";
  row.formula = "elementwise ops in one pass";
  row.title = title;
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
  const Expr& expr = program.expr();
  for (const FunctionUse& each : functions_of(expr)) sum += each.n;
  for (const Expr::Words& each : expr.words) sum += static_cast<double>(expr.count_of(each.out));
  return sum;
}

const OpInfo& fused_op() {
  static const OpInfo row = fused_row();
  return row;
}

}  // namespace lodestone::engine
