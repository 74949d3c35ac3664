// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/cost.hpp"

#include "engine/graph/op_info.hpp"
#include "engine/record/record.hpp"
#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

std::vector<FunctionUse> functions_of(const Expr& expr) {
  const auto n = [&](ExprId value) { return static_cast<double>(expr.count_of(value)); };
  std::vector<FunctionUse> uses;
  for (const Expr::Code& each : expr.codes) {
    FunctionUse& use = uses.emplace_back(FunctionUse{.body = each.body, .n = n(each.out)});
    for (std::size_t i = 0; i < static_cast<std::size_t>(each.body->n_inputs); ++i)
      use.in[i] = expr.values[each.in[i]].dtype;
  }
  for (const Expr::Reduce& each : expr.reduces)
    uses.push_back({.row_body = each.body, .in = {expr.values[each.in].dtype}, .n = n(each.in)});
  return uses;
}

double flops_of(const OpInfo& op, const Attrs* attrs, std::span<const Aval* const> in, const Aval& out,
                const std::source_location& where) {
  if (!op.flops) return static_cast<double>(out.count());
  Tensors operands;
  for (const Aval* each : in) operands.push_back(placeholder(*each));
  return op.flops({op, operands, attrs, where}, out);
}

}  // namespace lodestone::engine
