// SPDX-License-Identifier: Apache-2.0
// Optimizers update every parameter with these ops, each in one pass over memory: moving averages and the
// step of Adam.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

OpInfo of_equal_inputs(OpInfo row) {
  row.infer = infer_alike;
  row.op_class = OpClass::elementwise;
  return row;
}

}  // namespace

void register_updates(OpTable& table) {
  OpInfo blended = of_equal_inputs(composite("blend", "keep a + take b", 2, real_floats, [](R args) {
    const auto& [keep, take] = args.as<BlendAttrs>();
    return keep * args.in[0] + take * args.in[1];
  }));
  blended.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    return Sample{{sampler.tensor(shape, 0.5, 2), sampler.tensor(shape, 0.5, 2)},
                  make_attrs(BlendAttrs{sampler.real(0.0, 1.0), sampler.real(0.0, 1.0)})};
  };
  table.add(std::move(blended));

  OpInfo step = of_equal_inputs(
      composite("adam_step", "p - rate m / ((v scale)^(1/2) + epsilon)", 3, real_floats, [](R args) {
        const auto& [rate, scale, epsilon] = args.as<AdamAttrs>();
        return args.in[0] - rate * args.in[1] / (sqrt(args.in[2] * scale) + epsilon);
      }));
  step.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    return Sample{{sampler.tensor(shape, 2, 4), sampler.tensor(shape, -1, 1), sampler.tensor(shape, 0.5, 2)},
                  make_attrs(AdamAttrs{sampler.real(0.1, 0.5), sampler.real(1.0, 2.0), 0.1})};
  };
  table.add(std::move(step));
}

Tensor blend(const Located& a, const Located& b, const BlendWeights& weights) {
  static const OpInfo& op = op_named("blend");
  return record(op, {a.tensor, b.tensor}, make_attrs(BlendAttrs{weights.keep, weights.take}), a.where);
}

Tensor adam_step(const Located& p, const Located& m, const Located& v, const AdamStepOptions& options) {
  static const OpInfo& op = op_named("adam_step");
  return record(op, {p.tensor, m.tensor, v.tensor},
                make_attrs(AdamAttrs{options.rate, options.scale, options.epsilon}), p.where);
}

}  // namespace lodestone::engine
