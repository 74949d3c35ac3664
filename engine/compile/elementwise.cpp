// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/elementwise.hpp"

#include "engine/compile/expr_loads.hpp"
#include "engine/compile/fused_op.hpp"

namespace lodestone::engine {

std::optional<Elementwise> elementwise(const Program& program, const Instruction& each) {
  const std::span<const ValueId> in = program.operands(each);
  if (each.op == &fused_op()) {
    const auto& programs = attrs_as<TileAttrs>(*each.attrs).programs;
    if (programs.size() > 1) return std::nullopt;
    return Elementwise{programs[0]->expr(), {in.begin(), in.end()}};
  }
  const Aval& out = program.values()[each.first_result].aval;
  const bool is_candidate = each.op->op_class == OpClass::elementwise && each.op->view == nullptr &&
                            !each.op->run && each.n_results == 1 && !in.empty() &&
                            out.device.kind == Device::Kind::cpu && out.count() > 0;
  if (!is_candidate) return std::nullopt;
  std::vector<Aval> avals;
  for (const ValueId id : in) avals.push_back(program.values()[id].aval);
  const Kernel& kernel = each.op->kernel(out.device, avals[0].dtype);
  if (!has_expression(kernel)) return std::nullopt;
  const AxisMap map = each.op->axis_map({avals, out, each.attrs.get()});
  ExprWriter writer;
  ExprLoads loads(program, writer);
  std::vector<ExprId> inputs;
  for (std::size_t i = 0; i < in.size(); ++i) inputs.push_back(loads.of(in[i], map.sources(i), out.shape));
  writer.store(append(writer, kernel, each.attrs.get(), inputs, out.dtype), out.shape);
  return Elementwise{writer.expr(), loads.operands()};
}

}  // namespace lodestone::engine
