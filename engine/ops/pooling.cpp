// SPDX-License-Identifier: Apache-2.0
// Pooling over windows of the spatial axes, channels last. max_pool picks the largest element of each window
// (the first of equals); pool_pick picks the same elements of another tensor, pool_place puts elements back
// there: each other's adjoints.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

Shape pooled_shape(const InferArgs& args) {
  const auto& attrs = args.as<PoolAttrs>();
  Shape shape = args.aval(0).shape;
  const int n = shape.rank() - 2;
  bool fits = n >= 1 && attrs.window.size() == n && attrs.stride.size() == n && attrs.low.size() == n &&
              attrs.high.size() == n;
  for (int i = 0; fits && i < n; ++i) {
    // Every window must hold at least one element, else its maximum does not exist.
    fits = attrs.window[i] >= 1 && attrs.stride[i] >= 1 && attrs.low[i] >= 0 && attrs.high[i] >= 0 &&
           attrs.low[i] < attrs.window[i] && attrs.high[i] < attrs.window[i];
    if (fits)
      shape[1 + i] =
          n_windows(shape[1 + i], attrs.low[i], attrs.high[i], attrs.window[i], attrs.stride[i], 1);
    fits = fits && shape[1 + i] >= 0;
  }
  if (!fits) {
    throw core::ShapeError(args.op.name + "#wrong_window",
                           "expected x [n, spatial…, c], a window and stride per spatial axis and less "
                           "padding than window, got {} with {} {}",
                           args.aval(0).text(), args.attrs->text(), at_line(args.where));
  }
  return shape;
}

/// Labels are the axes of the output; a place of it needs a window of each input.
AxisMap axes_of_windows(const AxisArgs& args) {
  const auto& attrs = args.as<PoolAttrs>();
  AxisMap map = axis_by_axis(args);
  for (int i = 0; i < attrs.window.size(); ++i) {
    AxisAccess window = affine_in(1 + i, attrs.stride[i], -attrs.low[i]);
    window.n_window = attrs.window[i];
    for (std::size_t input = 0; input < map.inputs.size(); ++input) map.set(input, 1 + i, window);
  }
  return map;
}

OpInfo pooling(std::string name, std::string formula, int n_inputs, DTypes dtypes, Derivative derivative) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = dtypes;
  row.derivative = std::move(derivative);
  row.op_class = OpClass::window;
  row.axes = axes_of_windows;
  row.exact_when_cut = true;  // each channel goes through its windows in order
  return row;
}

struct PoolSample {
  Shape x, y;
  PoolAttrs attrs;
};

PoolSample draw(Sampler& sampler) {
  const auto n = static_cast<int>(sampler.integer(1, 3));
  PoolSample result;
  result.x.push_back(sampler.chance(0.05) ? 0 : sampler.integer(1, 3));
  result.y.push_back(result.x[0]);
  for (int i = 0; i < n; ++i) {
    const Dim window = sampler.integer(1, 3), stride = sampler.integer(1, 3),
              low = sampler.integer(0, window - 1), high = sampler.integer(0, window - 1);
    const Dim extent = window + sampler.integer(0, 6);
    result.x.push_back(extent);
    result.y.push_back(n_windows(extent, low, high, window, stride, 1));
    result.attrs.window.push_back(window);
    result.attrs.stride.push_back(stride);
    result.attrs.low.push_back(low);
    result.attrs.high.push_back(high);
  }
  const Dim channels = sampler.integer(1, 5);
  result.x.push_back(channels);
  result.y.push_back(channels);
  return result;
}

/// x decides, t is what is moved.
Aval moved(const InferArgs& args, const Shape& expected, const Shape& result) {
  const Aval& t = args.aval(1);
  if (!(t.shape == expected) || t.dtype != args.aval(0).dtype) {
    throw core::ShapeError(args.op.name + "#wrong_moved_operand", "expected {}{} beside {}, got {} {}",
                           core::name_of(args.aval(0).dtype), expected.text(), args.aval(0).text(), t.text(),
                           at_line(args.where));
  }
  return {result, t.dtype, t.device};
}

Tensor pick(R args, const Tensor& x, const Tensor& t) {
  return record(op_named("pool_pick"), {x, t}, args.attrs, args.where);
}
Tensor place(R args, const Tensor& x, const Tensor& t) {
  return record(op_named("pool_place"), {x, t}, args.attrs, args.where);
}

/// Linear in input 1; input 0 only decides, which has no slope.
Derivative of_second(std::string formula, Tensor (*adjoint)(R, const Tensor&, const Tensor&)) {
  Derivative result;
  result.formula = std::move(formula);
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    return tangents[1].is_valid() ? args.again(Tensors{args.in[0], tangents[1]}) : Tensor();
  };
  result.vjp = [adjoint](R args, const Tensor& cotangent, std::size_t which) {
    return which == 0 ? Tensor() : adjoint(args, args.in[0], cotangent);
  };
  return result;
}

}  // namespace

void register_pooling(OpTable& table) {
  Derivative of_max;
  of_max.formula = "dx where the window has its maximum";
  of_max.jvp = [](R args, std::span<const Tensor> tangents) { return pick(args, args.in[0], tangents[0]); };
  of_max.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    return place(args, args.in[0], cotangent);
  };
  OpInfo max_pool_row = pooling("max_pool", "largest x of each window", 1, real_floats, of_max);
  max_pool_row.infer = [](const InferArgs& args) {
    return Aval{pooled_shape(args), args.aval(0).dtype, args.aval(0).device};
  };
  max_pool_row.sample = [](Sampler& sampler) {
    const PoolSample drawn = draw(sampler);
    return Sample{{sampler.apart(drawn.x)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(max_pool_row));

  OpInfo pick_row = pooling("pool_pick", "t where x is largest in its window", 2, real_floats,
                            of_second("dt there", place));
  pick_row.infer = [](const InferArgs& args) { return moved(args, args.aval(0).shape, pooled_shape(args)); };
  pick_row.sample = [](Sampler& sampler) {
    const PoolSample drawn = draw(sampler);
    return Sample{{sampler.apart(drawn.x), sampler.tensor(drawn.x, -2, 2)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(pick_row));

  OpInfo place_row = pooling("pool_place", "t put where x is largest in its window, added up", 2, real_floats,
                             of_second("dt there", pick));
  place_row.infer = [](const InferArgs& args) { return moved(args, pooled_shape(args), args.aval(0).shape); };
  place_row.axes = [](const AxisArgs& args) {
    return axis_by_axis(args, IntList::counting(args.out.shape.rank() - 2, 1));
  };
  place_row.sample = [](Sampler& sampler) {
    const PoolSample drawn = draw(sampler);
    return Sample{{sampler.apart(drawn.x), sampler.tensor(drawn.y, -2, 2)}, make_attrs(drawn.attrs)};
  };
  table.add(std::move(place_row));
}

Tensor max_pool(const Located& x, const PoolOptions& options) {
  static const OpInfo& op = op_named("max_pool");
  const int n = x.tensor.rank() - 2;
  const auto each = [&](const IntList& list, const IntList& otherwise) {
    return list.empty() ? otherwise : list;
  };
  const IntList none = IntList::filled(std::max(n, 0), 0);
  return record(op, {x.tensor},
                make_attrs(PoolAttrs{options.window, each(options.stride, options.window),
                                     each(options.low, none), each(options.high, none)}),
                x.where);
}

}  // namespace lodestone::engine
