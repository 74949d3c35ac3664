// SPDX-License-Identifier: Apache-2.0
// dot_general: C[batch, free a, free b] = Σ A[batch, free a, k] B[batch, k, free b], with axes anywhere; and
// the same for narrow operands with a wide result.
#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>
#include <array>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

void check_pairs(const InferArgs& args, const Axes& of_a, const Axes& of_b, std::string_view what) {
  const Aval &a = args.aval(0), &b = args.aval(1);
  const auto has = [](const Aval& x, const Axes& axes) {
    return std::all_of(axes.begin(), axes.end(), [&](Dim axis) { return axis < x.shape.rank(); });
  };
  bool fits = of_a.size() == of_b.size() && has(a, of_a) && has(b, of_b);
  for (int i = 0; fits && i < of_a.size(); ++i)
    fits = a.shape[static_cast<int>(of_a[i])] == b.shape[static_cast<int>(of_b[i])];
  if (!fits) {
    throw core::ShapeError(args.op.name + "#unequal_extents",
                           "expected {} axes of equal extents, got axes {} of {} and {} of {} {}", what,
                           of_a.text(), a.text(), of_b.text(), b.text(), at_line(args.where));
  }
}

/// The axes of two lists as bits; none may come twice, whether it is summed or batch.
unsigned taken_axes(const InferArgs& args, const Axes& contract, const Axes& batch, std::size_t which) {
  unsigned taken = 0;
  for (const Axes* list : {&contract, &batch}) {
    for (const Dim axis : *list) {
      if ((taken >> axis & 1) != 0)
        throw core::ShapeError(args.op.name + "#axis_repeated",
                               "expected each axis of {} once, got axis {} again, summed {} and batch {} {}",
                               args.aval(which).text(), axis, contract.text(), batch.text(),
                               at_line(args.where));
      taken |= 1U << axis;
    }
  }
  return taken;
}

/// Returns what the product of operands of any dtype gives, in that of the first.
Aval infer_product(const InferArgs& args) {
  const auto& attrs = args.as<DotAttrs>();
  const Aval& a = args.aval(0);
  const std::array taken{taken_axes(args, attrs.contract_a, attrs.batch_a, 0),
                         taken_axes(args, attrs.contract_b, attrs.batch_b, 1)};
  check_pairs(args, attrs.contract_a, attrs.contract_b, "summed");
  check_pairs(args, attrs.batch_a, attrs.batch_b, "batch");
  Aval result{{}, a.dtype, a.device};
  for (const Dim axis : attrs.batch_a) result.shape.push_back(a.shape[static_cast<int>(axis)]);
  for (const std::size_t which : {0U, 1U}) {
    const Shape& shape = args.aval(which).shape;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if ((taken[which] >> axis & 1) == 0) result.shape.push_back(shape[axis]);
    }
  }
  return result;
}

Aval infer_dot(const InferArgs& args) {
  const Aval &a = args.aval(0), &b = args.aval(1);
  if (a.dtype != b.dtype)
    throw core::InvalidArgument(args.op.name + "#unequal_dtypes",
                                "expected equal dtypes, got {} and {}; cast one of them {}", a.text(),
                                b.text(), at_line(args.where));
  return infer_product(args);
}

Aval infer_widening(const InferArgs& args) {
  const Aval &a = args.aval(0), &b = args.aval(1);
  if (a.dtype != b.dtype && (a.dtype != DType::u8 || b.dtype != DType::i8))
    throw core::InvalidArgument(args.op.name + "#unequal_dtypes",
                                "expected equal dtypes, or u8 and i8, got {} and {}; cast one of them {}",
                                a.text(), b.text(), at_line(args.where));
  Aval result = infer_product(args);
  result.dtype = core::is_integer(a.dtype) ? DType::i32 : DType::f32;
  return result;
}

/// Returns the position of the axis in `list`.
int position(const Axes& list, Dim axis) {
  return static_cast<int>(std::find(list.begin(), list.end(), axis) - list.begin());
}

/// Cotangent of one operand ("this") from that of the output: the output's axes of the other operand are
/// summed away.
Tensor dot_adjoint(R args, const Tensor& cotangent, std::size_t which) {
  const auto& attrs = args.as<DotAttrs>();
  const bool is_a = which == 0;
  const Tensor &self = args.in[which], &other = args.in[1 - which];
  const Axes &contract = is_a ? attrs.contract_a : attrs.contract_b,
             &contract_other = is_a ? attrs.contract_b : attrs.contract_a;
  const Axes &batch = is_a ? attrs.batch_a : attrs.batch_b,
             &batch_other = is_a ? attrs.batch_b : attrs.batch_a;
  const Axes free = DotAttrs::free_axes(self.rank(), contract, batch),
             free_other = DotAttrs::free_axes(other.rank(), contract_other, batch_other);

  DotAttrs back;  // cotangent [batch, free a, free b] times the other operand
  const int n_batch = batch.size();
  back.batch_a = IntList::counting(n_batch);
  back.batch_b = batch_other;
  back.contract_a = IntList::counting(free_other.size(), n_batch + (is_a ? free.size() : 0));
  back.contract_b = free_other;
  const Tensor product = record(args.op, {cotangent, conj(other)}, make_attrs(back), args.where);

  // product: [batch, free of this, the other's summed axes ascending]; bring them where they were.
  Axes sources = batch;
  for (const Dim axis : free) sources.push_back(axis);
  for (Dim axis = 0; axis < other.rank(); ++axis) {
    if (const int at = position(contract_other, axis); at < contract_other.size())
      sources.push_back(contract[at]);
  }
  Axes order = sources;
  for (int i = 0; i < sources.size(); ++i) order[static_cast<int>(sources[i])] = i;
  return transpose(product, order);
}

/// Returns the cotangent of a narrow operand: a product of narrow operands, too.
Tensor widening_adjoint(R args, const Tensor& cotangent, std::size_t which) {
  const DType narrow = args.in[which].dtype();
  return cast(dot_adjoint(args, cast(cotangent, narrow), which), narrow);
}

AxisMap axes_of_dot(const AxisArgs& args) {
  const auto& [contract_a, contract_b, batch_a, batch_b] = args.as<DotAttrs>();
  const Shape &a = args.in[0].shape, &b = args.in[1].shape;
  AxisMap map = needing_all(args, Label::Kind::free);
  const auto put_both = [&](const Axes& of_a, const Axes& of_b, int i, int label) {
    map.set(0, of_a[i], same_as(label));
    map.set(1, of_b[i], same_as(label));
  };
  int label = 0;
  for (; label < batch_a.size(); ++label) put_both(batch_a, batch_b, label, label);
  for (const Dim axis : DotAttrs::free_axes(a.rank(), contract_a, batch_a))
    map.set(0, axis, same_as(label++));
  for (const Dim axis : DotAttrs::free_axes(b.rank(), contract_b, batch_b))
    map.set(1, axis, same_as(label++));
  for (int i = 0; i < contract_a.size(); ++i)
    put_both(contract_a, contract_b, i, map.add(Label::Kind::reduced, a[static_cast<int>(contract_a[i])]));
  return map;
}

Sample sample_dot(Sampler& sampler) {
  const Dim n_batch = sampler.integer(0, 1), n_contract = sampler.integer(0, 2),
            n_free_a = sampler.integer(0, 1), n_free_b = sampler.integer(0, 2);
  DotAttrs attrs;
  Shape a, b;
  const auto extent = [&] {
    return sampler.chance(0.1)   ? sampler.integer(0, 1)
           : sampler.chance(0.1) ? sampler.integer(17, 33)
                                 : sampler.integer(2, 5);
  };
  for (Dim i = 0; i < n_free_a; ++i) a.push_back(extent());
  for (Dim i = 0; i < n_free_b; ++i) b.push_back(extent());
  for (Dim i = 0; i < n_contract + n_batch; ++i) {  // pairs, at the front or the back of either
    const Dim dim = extent();
    const auto place = [&](Shape& shape, Axes& contract, Axes& batch, Axes& mine) {
      const bool front = sampler.chance(0.5);
      if (front) {
        contract = shifted(contract);
        batch = shifted(batch);
      }
      mine.push_back(front ? 0 : shape.rank());
      shape = shape.inserted(front ? 0 : shape.rank(), dim);
    };
    place(a, attrs.contract_a, attrs.batch_a, i < n_contract ? attrs.contract_a : attrs.batch_a);
    place(b, attrs.contract_b, attrs.batch_b, i < n_contract ? attrs.contract_b : attrs.batch_b);
  }
  return {{sampler.tensor(a, -1, 1), sampler.tensor(b, -1, 1)}, make_attrs(attrs)};
}

/// Returns a row with all that products share.
OpInfo as_product(OpInfo row) {
  row.op_class = OpClass::product;
  row.axes = axes_of_dot;
  row.stacks = true;
  row.stacks_alone = 0b11;
  row.sample = sample_dot;
  row.flops = [](const InferArgs& args, const Aval& out) {
    double summed = 1.0;
    for (const Dim axis : args.as<DotAttrs>().contract_a)
      summed *= static_cast<double>(args.aval(0).shape[static_cast<int>(axis)]);
    return multiply_adds(static_cast<double>(out.count()) * summed, out.dtype);
  };
  return row;
}

}  // namespace

void register_products(OpTable& table) {
  OpInfo row;
  row.name = "dot_general";
  row.formula = "Σ_k a[batch, i, k] b[batch, k, j], axes anywhere";
  row.n_inputs = 2;
  row.dtypes = numbers;
  row.infer = infer_dot;
  row.derivative = multilinear("da b + a db", dot_adjoint);
  table.add(as_product(std::move(row)));

  OpInfo wide;
  wide.name = "widening_dot_general";
  wide.formula = "dot_general of bf16 or f16 in f32, of i8 or u8 in i32";
  wide.n_inputs = 2;
  wide.dtypes = halves | DTypes{DType::i8, DType::u8};
  wide.infer = infer_widening;
  wide.derivative = multilinear("da b + a db, of cotangents in the dtype of a", widening_adjoint);
  table.add(as_product(std::move(wide)));
}

namespace {

Tensor product_of(const OpInfo& op, const Located& a, const Located& b, const DotAxes& axes) {
  DotAttrs attrs{axes.contract_a, axes.contract_b, axes.batch_a, axes.batch_b};
  const auto count = [&](Axes& list, int rank) {
    for (int i = 0; i < list.size(); ++i) list[i] = counted_axis(op.name, list[i], rank, a.where);
  };
  count(attrs.contract_a, a.tensor.rank());
  count(attrs.contract_b, b.tensor.rank());
  count(attrs.batch_a, a.tensor.rank());
  count(attrs.batch_b, b.tensor.rank());
  return record(op, std::array{a.tensor, b.tensor}, make_attrs(std::move(attrs)), a.where);
}

}  // namespace

Tensor dot_general(const Located& a, const Located& b, const DotAxes& axes) {
  static const OpInfo& op = op_named("dot_general");
  return product_of(op, a, b, axes);
}

Tensor widening_dot_general(const Located& a, const Located& b, const DotAxes& axes) {
  static const OpInfo& op = op_named("widening_dot_general");
  return product_of(op, a, b, axes);
}

Tensor matmul(const Located& a, const Located& b) {
  const int rank_a = a.tensor.rank(), rank_b = b.tensor.rank();
  if (rank_a == 0 || rank_b == 0)
    throw core::ShapeError("matmul#scalar_operand", "expected vectors or matrices, got {} and {} {}",
                           a.tensor.aval().text(), b.tensor.aval().text(), at_line(a.where));
  if (rank_b <= 2) {  // without the detour over lists of negative axes: a product of small matrices takes no
                      // longer than that
    static const OpInfo& op = op_named("dot_general");
    DotAttrs attrs;
    attrs.contract_a.push_back(rank_a - 1);
    attrs.contract_b.push_back(0);
    return record(op, std::array{a.tensor, b.tensor}, make_attrs(std::move(attrs)), a.where);
  }
  if (rank_a == 1) return squeeze(matmul({expand_dims(a, 0), a.where}, b), -2);
  const auto stack_of = [](const Tensor& t) {
    return Shape(std::span(t.shape().begin(), static_cast<std::size_t>(t.rank() - 2)));
  };
  const Shape stack = broadcast_shapes("matmul", {stack_of(a.tensor), a.tensor.dtype()},
                                       {stack_of(b.tensor), b.tensor.dtype()}, a.where);
  const auto stacked = [&](const Located& t) {
    Shape shape = stack;
    shape.push_back(t.tensor.dim(-2));
    shape.push_back(t.tensor.dim(-1));
    return broadcast_to(t, shape);
  };
  const Axes batch = IntList::counting(stack.rank());
  return dot_general({stacked(a), a.where}, {stacked(b), b.where}, {{-1}, {-2}, batch, batch});
}

}  // namespace lodestone::engine
