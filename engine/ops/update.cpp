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

/// Three arrays alike, two scalars.
Aval infer_adam_step(const InferArgs& args) {
  const Aval& p = args.aval(0);
  for (std::size_t i = 1; i < 5; ++i) {
    if (!(args.aval(i) == Aval{i < 3 ? p.shape : Shape{}, p.dtype, p.device}))
      throw core::ShapeError("adam_step#wrong_input",
                             "expected moments like {} and scalars of its dtype, got {} as input {} {}",
                             p.text(), args.aval(i).text(), i, at_line(args.where));
  }
  return p;
}

void register_adam_step(OpTable& table) {
  OpInfo row = composite("adam_step", "p - rate m / ((v scale)^(1/2) + epsilon)", 5, real_floats, [](R args) {
    const Tensor &rate = args.in[3], &scale = args.in[4];
    return args.in[0] - rate * args.in[1] / (sqrt(args.in[2] * scale) + args.as<AdamAttrs>().epsilon);
  });
  row.infer = infer_adam_step;
  row.op_class = OpClass::elementwise;
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args); };  // scalars have none
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    return Sample{{sampler.tensor(shape, 2, 4), sampler.tensor(shape, -1, 1), sampler.tensor(shape, 0.5, 2),
                   sampler.tensor({}, 0.1, 0.5), sampler.tensor({}, 1, 2)},
                  make_attrs(AdamAttrs{0.1})};
  };
  table.add(std::move(row));
}

/// Returns an operand as a tensor; a number takes dtype and device of `like`.
Tensor scalar_of(const Operand& operand, const Tensor& like) {
  return operand.tensor.is_valid() ? operand.tensor : scalar(operand.number, like.dtype(), like.device());
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

  register_adam_step(table);
}

Tensor blend(const Located& a, const Located& b, const BlendWeights& weights) {
  static const OpInfo& op = op_named("blend");
  return record(op, {a.tensor, b.tensor}, make_attrs(BlendAttrs{weights.keep, weights.take}), a.where);
}

Tensor adam_step(const Located& p, const Located& m, const Located& v, const AdamStepOptions& options) {
  static const OpInfo& op = op_named("adam_step");
  return record(
      op,
      {p.tensor, m.tensor, v.tensor, scalar_of(options.rate, p.tensor), scalar_of(options.scale, p.tensor)},
      make_attrs(AdamAttrs{options.epsilon}), p.where);
}

}  // namespace lodestone::engine
