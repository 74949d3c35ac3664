// SPDX-License-Identifier: Apache-2.0
#include "engine/record/op_by_op.hpp"

#include "engine/record/variable.hpp"

namespace lodestone::engine {

Tensors run_op_by_op(const Function& f, const Tensors& inputs) {
  HeldValues cells({}, {});
  Tensors outputs = f(inputs);
  Tensors all = outputs;
  for (const Variable& each : cells.assigned()) all.push_back(each.value());
  eval(all);
  cells.keep();
  return outputs;
}

}  // namespace lodestone::engine
