// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/cost.hpp"

#include "engine/graph/op_info.hpp"
#include "engine/record/record.hpp"
#include "engine/record/rule_args.hpp"

namespace lodestone::engine {

double flops_of(const OpInfo& op, const Attrs* attrs, std::span<const Aval* const> in, const Aval& out,
                const std::source_location& where) {
  if (!op.flops) return static_cast<double>(out.count());
  Tensors operands;
  for (const Aval* each : in) operands.push_back(placeholder(*each));
  return op.flops({op, operands, attrs, where}, out);
}

}  // namespace lodestone::engine
