// SPDX-License-Identifier: Apache-2.0
// Rows and public functions of the elementwise ops. x, a, b inputs; y output.
#include "engine/core/error.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/constant.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <numbers>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// The interval inputs are drawn from in checks, and for whom derivatives are exact away from its ends.
struct Domain {
  double low = -2.0, high = 2.0;
};

DType same_dtype(DType dtype) { return dtype; }
DType boolean(DType) { return DType::b8; }

Aval infer_elementwise(const InferArgs& args, DType (*result)(DType)) {
  const Aval& first = args.aval(0);
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    const Aval& other = args.aval(i);
    if (!(other.shape == first.shape))
      throw core::ShapeError(args.op.name + "#unequal_shapes", "expected equal shapes, got {} and {} {}",
                             first.text(), other.text(), at_line(args.where));
    if (other.dtype != first.dtype)
      throw core::InvalidArgument(args.op.name + "#unequal_dtypes",
                                  "expected equal dtypes, got {} and {}; cast one of them {}", first.text(),
                                  other.text(), at_line(args.where));
  }
  return {first.shape, result(first.dtype), first.device};
}

OpInfo elementwise(std::string name, std::string formula, int n_inputs, DTypes dtypes, Derivative derivative,
                   Domain domain, DType (*result)(DType) = same_dtype) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.n_inputs = n_inputs;
  row.dtypes = dtypes;
  row.infer = [result](const InferArgs& args) { return infer_elementwise(args, result); };
  row.derivative = std::move(derivative);
  row.op_class = OpClass::elementwise;
  row.sample = [n_inputs, domain](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    Sample sample;
    for (int i = 0; i < n_inputs; ++i)
      sample.inputs.push_back(sampler.tensor(shape, domain.low, domain.high));
    return sample;
  };
  return row;
}

// Terms of sums, each its own adjoint.
Tensor itself(R, const Tensor& tangent, std::size_t) { return tangent; }
Tensor second_negative(R, const Tensor& tangent, std::size_t which) {
  return which == 0 ? tangent : negative(tangent);
}

void register_unary(OpTable& table) {
  const auto unary = [&](const char* name, const char* formula, DTypes dtypes, const char* slope,
                         Partial partial, Domain domain = {}) {
    table.add(elementwise(name, formula, 1, dtypes, by_partials(slope, {partial}), domain));
  };
  table.add(elementwise(
      "negative", "-x", 1, numbers,
      linear("-dx", [](R, const Tensor& cotangent, std::size_t) { return negative(cotangent); }), {}));
  unary("reciprocal", "1 / x", floats, "-y^2", [](R a) { return negative(square(a.out)); }, {0.5, 2.0});
  unary("square", "x^2", numbers, "2 x", [](R a) { return 2.0 * a.in[0]; });
  unary("sqrt", "x^(1/2)", floats, "1 / (2 y)", [](R a) { return 0.5 / a.out; }, {0.2, 3.0});
  unary("exp", "e^x", floats, "y", [](R a) { return a.out; });
  unary("expm1", "e^x - 1", real_floats, "y + 1", [](R a) { return a.out + 1.0; });
  unary("log", "ln x", floats, "1 / x", [](R a) { return reciprocal(a.in[0]); }, {0.2, 3.0});
  unary("log1p", "ln (1 + x)", real_floats, "1 / (1 + x)", [](R a) { return reciprocal(a.in[0] + 1.0); },
        {-0.5, 3.0});
  unary("sin", "sin x", floats, "cos x", [](R a) { return cos(a.in[0]); });
  unary("cos", "cos x", floats, "-sin x", [](R a) { return -sin(a.in[0]); });
  unary("tan", "tan x", real_floats, "1 + y^2", [](R a) { return square(a.out) + 1.0; }, {-1.2, 1.2});
  unary("asin", "arcsin x", real_floats, "(1 - x^2)^(-1/2)",
        [](R a) { return reciprocal(sqrt(1.0 - square(a.in[0]))); }, {-0.8, 0.8});
  unary("acos", "arccos x", real_floats, "-(1 - x^2)^(-1/2)",
        [](R a) { return -reciprocal(sqrt(1.0 - square(a.in[0]))); }, {-0.8, 0.8});
  unary("atan", "arctan x", real_floats, "1 / (1 + x^2)",
        [](R a) { return reciprocal(square(a.in[0]) + 1.0); });
  unary("sinh", "sinh x", floats, "cosh x", [](R a) { return cosh(a.in[0]); });
  unary("cosh", "cosh x", floats, "sinh x", [](R a) { return sinh(a.in[0]); });
  unary("tanh", "tanh x", floats, "1 - y^2", [](R a) { return 1.0 - square(a.out); }, {-1.0, 1.0});
  unary("erf", "2 π^(-1/2) ∫_0^x e^(-t^2) dt", real_floats, "2 π^(-1/2) e^(-x^2)",
        [](R a) { return 2.0 * std::numbers::inv_sqrtpi * exp(-square(a.in[0])); });
  unary("sigmoid", "1 / (1 + e^(-x))", real_floats, "y (1 - y)", [](R a) { return a.out * (1.0 - a.out); });

  const char* steps = "its result is constant between steps";
  const char* truth = "its result is true or false";
  table.add(elementwise("sign", "x / |x|, 0 at 0", 1, reals, no_derivative(steps), {}));
  table.add(elementwise("floor", "largest integer <= x", 1, real_floats, no_derivative(steps), {}));
  table.add(elementwise("ceil", "smallest integer >= x", 1, real_floats, no_derivative(steps), {}));
  table.add(
      elementwise("round", "nearest integer, halves to even", 1, real_floats, no_derivative(steps), {}));
  table.add(elementwise("is_finite", "x is neither infinite nor NaN", 1, floats, no_derivative(truth), {},
                        boolean));
  table.add(elementwise("logical_not", "not x", 1, {DType::b8}, no_derivative(truth), {}));
  table.add(elementwise("stop_gradient", "x", 1, any_stored, no_derivative("asked for by the caller"), {}))
      .view = same_look;
  table.add(elementwise("identity", "x", 1, any_stored, linear("dx", itself), {})).view = same_look;
}

/// Ops between a complex number and its real parts: linear over the reals, or |x|.
void register_complex(OpTable& table) {
  const auto real_part = [](DType dtype) { return core::real_of(dtype); };
  const auto zero_imag = [](const Tensor& t) { return complex(t, zeros_like(t)); };
  table.add(elementwise(
      "real", "Re x", 1, complexes,
      linear("Re dx", [zero_imag](R, const Tensor& cotangent, std::size_t) { return zero_imag(cotangent); }),
      {}, real_part));
  table.add(
      elementwise("imag", "Im x", 1, complexes,
                  linear("Im dx", [](R, const Tensor& cotangent,
                                     std::size_t) { return complex(zeros_like(cotangent), cotangent); }),
                  {}, real_part));
  table.add(elementwise(
      "conj", "Re x - i Im x", 1, complexes,
      linear("conj dx", [](R, const Tensor& cotangent, std::size_t) { return conj(cotangent); }), {}));
  table.add(elementwise(
      "complex", "a + i b", 2, real_floats,
      linear("da + i db", [](R, const Tensor& cotangent,
                             std::size_t which) { return which == 0 ? real(cotangent) : imag(cotangent); }),
      {}, [](DType dtype) { return core::complex_of(dtype); }));
  Derivative of_abs;
  of_abs.formula = "Re(conj(x) dx) / y, 0 at 0";
  const auto direction = [](R a) {
    if (!core::is_complex(a.in[0].dtype())) return sign(a.in[0]);
    // The divisor is never 0, so that the other choice at 0 has finite derivatives, too.
    const Tensor at_zero = equal(a.out, 0.0), modulus = select(at_zero, 1.0, a.out);
    return select(at_zero, 0.0, a.in[0] / complex(modulus, zeros_like(modulus)));
  };
  of_abs.jvp = [direction](R a, std::span<const Tensor> tangents) {
    return real(conj(direction(a)) * tangents[0]);
  };
  of_abs.vjp = [direction, zero_imag](R a, const Tensor& cotangent, std::size_t) {
    return direction(a) * (core::is_complex(a.in[0].dtype()) ? zero_imag(cotangent) : cotangent);
  };
  table.add(elementwise("abs", "|x|", 1, floats | DTypes{DType::i8, DType::i32, DType::i64}, of_abs,
                        {0.3, 2.0}, real_part));
}

/// b a^(b-1), and 0 at a = 0 for b = 0.
Tensor power_slope_in_base(R args) {
  const Tensor &a = args.in[0], &b = args.in[1];
  const Tensor both_zero = logical_and(equal(a, 0.0), equal(b, 0.0));
  return b * power(select(both_zero, 1.0, a), b - 1.0);
}

/// y ln a, and 0 at a = 0 for b >= 0.
Tensor power_slope_in_exponent(R args) {
  const Tensor &a = args.in[0], &b = args.in[1];
  const Tensor stays = logical_and(equal(a, 0.0), greater_equal(b, 0.0));
  return args.out * log(select(stays, 1.0, a));
}

void register_binary(OpTable& table) {
  table.add(elementwise("add", "a + b", 2, numbers, linear("da + db", itself, itself), {}));
  table.add(
      elementwise("subtract", "a - b", 2, numbers, linear("da - db", second_negative, second_negative), {}));
  table.add(elementwise(
      "multiply", "a b", 2, numbers,
      by_partials("b da + a db", {[](R a) { return a.in[1]; }, [](R a) { return a.in[0]; }}), {}));
  table.add(elementwise("divide", "a / b", 2, floats,
                        by_partials("(da - y db) / b", {[](R a) { return reciprocal(a.in[1]); },
                                                        [](R a) { return negative(a.out / a.in[1]); }}),
                        {0.5, 2.0}));
  table.add(elementwise("power", "a^b", 2, real_floats,
                        by_partials("b a^(b-1) da + y ln a db; at a = 0 no da for b = 0, no db for b >= 0",
                                    {power_slope_in_base, power_slope_in_exponent}),
                        {0.3, 2.0}));
  table.add(elementwise("atan2", "angle of b + i a", 2, real_floats,
                        by_partials("(b da - a db) / (a^2 + b^2)",
                                    {[](R a) { return a.in[1] / (square(a.in[0]) + square(a.in[1])); },
                                     [](R a) { return -a.in[0] / (square(a.in[0]) + square(a.in[1])); }}),
                        {0.3, 2.0}));
  // At a tie each input gets half, so that max(x, x) has the slope of x.
  const Partial larger_a = [](R a) {
    return cast(greater(a.in[0], a.in[1]), a.out.dtype()) +
           0.5 * cast(equal(a.in[0], a.in[1]), a.out.dtype());
  };
  const Partial smaller_a = [](R a) {
    return cast(less(a.in[0], a.in[1]), a.out.dtype()) + 0.5 * cast(equal(a.in[0], a.in[1]), a.out.dtype());
  };
  const auto without_ties = [&](OpInfo row) {
    row.sample = [](Sampler& sampler) {
      const Tensor both = sampler.apart(sampler.shape(0, 4).inserted(0, 2));
      return Sample{{squeeze(slice(both, 0, 0, 1), 0), squeeze(slice(both, 0, 1, 2), 0)}, {}};
    };
    table.add(std::move(row));
  };
  without_ties(elementwise("maximum", "the larger of a and b", 2, reals,
                           by_partials("da where a > b, else db; half each at a tie", {larger_a, smaller_a}),
                           {}));
  without_ties(elementwise("minimum", "the smaller of a and b", 2, reals,
                           by_partials("da where a < b, else db; half each at a tie", {smaller_a, larger_a}),
                           {}));
}

/// Registers the binary ops without a derivative.
void register_logic(OpTable& table) {
  const char* truth = "its result is true or false";
  for (const auto& [name, formula] : {std::pair{"less", "a < b"},
                                      {"less_equal", "a <= b"},
                                      {"greater", "a > b"},
                                      {"greater_equal", "a >= b"}})
    table.add(elementwise(name, formula, 2, reals, no_derivative(truth), {}, boolean));
  table.add(elementwise("equal", "a = b", 2, any_computed, no_derivative(truth), {}, boolean));
  table.add(elementwise("not_equal", "a != b", 2, any_computed, no_derivative(truth), {}, boolean));
  const char* integral = "its operands are integers";
  table.add(elementwise("remainder", "a - b floor(a / b), 0 where b = 0", 2, integers,
                        no_derivative(integral), {-9.0, 9.0}));
  table.add(
      elementwise("bitwise_and", "bits set in a and b", 2, integers, no_derivative(integral), {-99.0, 99.0}));
  table.add(
      elementwise("bitwise_or", "bits set in a or b", 2, integers, no_derivative(integral), {-99.0, 99.0}));
  table.add(elementwise("bitwise_xor", "bits set in one of a and b", 2, integers, no_derivative(integral),
                        {-99.0, 99.0}));
  table.add(elementwise("shift_left", "a 2^b without the bits that leave the dtype", 2, integers,
                        no_derivative(integral), {-9.0, 40.0}));
  table.add(elementwise("shift_right", "floor(a / 2^b)", 2, integers, no_derivative(integral), {-9.0, 40.0}));
  table.add(elementwise("logical_and", "a and b", 2, {DType::b8}, no_derivative(truth), {}));
  table.add(elementwise("logical_or", "a or b", 2, {DType::b8}, no_derivative(truth), {}));
}

Aval infer_select(const InferArgs& args) {
  const Aval &condition = args.aval(0), &a = args.aval(1), &b = args.aval(2);
  if (!(condition.shape == a.shape) || !(a == b)) {
    throw core::ShapeError("select#unequal_operands",
                           "expected equal shapes, and equal dtypes of the two choices, got {}, {} and {} {}",
                           condition.text(), a.text(), b.text(), at_line(args.where));
  }
  return a;
}

/// Choices of all dtypes, so the kernel is chosen by element size.
void register_select(OpTable& table) {
  Derivative derivative;
  derivative.formula = "da where c, else db";
  derivative.jvp = [](R args, std::span<const Tensor> tangents) {
    return select(args.in[0], tangent_or_zeros(tangents[1], args.in[1]),
                  tangent_or_zeros(tangents[2], args.in[2]));
  };
  derivative.vjp = [](R args, const Tensor& cotangent, std::size_t which) {
    if (which == 0) return Tensor();
    const Tensor zero = zeros_like(cotangent);
    return which == 1 ? select(args.in[0], cotangent, zero) : select(args.in[0], zero, cotangent);
  };
  OpInfo row = elementwise("select", "a where c, else b", 3, {DType::b8}, derivative, {});
  row.infer = infer_select;
  row.sample = [](Sampler& sampler) {
    const Shape shape = sampler.shape(0, 4);
    return Sample{{sampler.tensor(shape, 0, 1, DType::b8), sampler.tensor(shape, -2, 2, DType::f64),
                   sampler.tensor(shape, -2, 2, DType::f64)},
                  {}};
  };
  table.add(std::move(row));
}

void register_cast(OpTable& table) {
  Derivative derivative = linear("dx, zero to or from integers", [](R args, const Tensor& cotangent,
                                                                    std::size_t) {
    if (!core::is_float(args.out.dtype()) || !core::is_float(args.in[0].dtype())) return Tensor();
    return cast(core::is_complex(args.out.dtype()) && !core::is_complex(args.in[0].dtype()) ? real(cotangent)
                                                                                            : cotangent,
                args.in[0].dtype());
  });
  OpInfo row = elementwise(
      "cast", "x in another dtype; to integers towards zero, to bf16 and f16 to the nearest, ties to even", 1,
      any_stored, derivative, {});
  row.infer = [](const InferArgs& args) {
    const DType from = args.aval(0).dtype, to = args.as<CastAttrs>().to;
    if (core::is_complex(from) && !core::is_complex(to)) {
      throw core::InvalidArgument("cast#complex_to_real",
                                  "expected a complex dtype for {}, got {}; take real(x) or abs(x) first {}",
                                  args.aval(0).text(), core::name_of(to), at_line(args.where));
    }
    return Aval{args.aval(0).shape, to, args.aval(0).device};
  };
  row.sample = [](Sampler& sampler) {
    const DType to = core::is_complex(sampler.dtype()) ? (sampler.chance(0.5) ? DType::c64 : DType::c128)
                     : sampler.chance(0.3)             ? (sampler.chance(0.5) ? DType::bf16 : DType::f16)
                     : sampler.chance(0.5)             ? DType::c128
                     : sampler.chance(0.5)             ? DType::f32
                                                       : DType::i32;
    return Sample{{sampler.tensor(sampler.shape(0, 4), -2, 2)}, make_attrs(CastAttrs{to})};
  };
  table.add(std::move(row));
}

// Operands.

/// A number takes dtype and device of the other operand.
Tensor as_tensor(std::string_view op, const Operand& operand, const Operand& other) {
  if (operand.tensor.is_valid()) return operand.tensor;
  if (!other.tensor.is_valid())
    throw core::InvalidArgument(std::string(op) + "#no_tensor",
                                "expected at least one tensor, got two numbers or empty tensors {}",
                                at_line(operand.where));
  const DType dtype = other.tensor.dtype();
  if (!operand.number.fits(dtype))
    throw core::InvalidArgument(std::string(op) + "#number_not_held",
                                "expected a number that {} holds, got {}; cast the tensor first {}",
                                core::name_of(dtype), operand.number.text(), at_line(operand.where));
  return scalar(operand.number, dtype, other.tensor.device());
}

Tensor binary(const OpInfo& op, const Operand& a, const Operand& b) {
  std::array in{as_tensor(op.name, a, b), as_tensor(op.name, b, a)};
  if (!(in[0].shape() == in[1].shape())) {
    const Shape shape = broadcast_shapes(op.name, in[0].aval(), in[1].aval(), a.where);
    for (Tensor& each : in) each = broadcast_to({each, a.where}, shape);
  }
  return record(op, in, {}, a.where);
}

Tensor unary(const OpInfo& op, const Located& x) { return record(op, std::span(&x.tensor, 1), {}, x.where); }

}  // namespace

void register_elementwise(OpTable& table) {
  register_unary(table);
  register_complex(table);
  register_binary(table);
  register_logic(table);
  register_select(table);
  register_cast(table);
}

Tensor real(const Located& x) {
  static const OpInfo& op = op_named("real");
  return core::is_complex(x.tensor.dtype()) ? unary(op, x) : x.tensor;
}

Tensor imag(const Located& x) {
  static const OpInfo& op = op_named("imag");
  return core::is_complex(x.tensor.dtype()) ? unary(op, x) : zeros_like(x.tensor);
}

Tensor conj(const Located& x) {
  static const OpInfo& op = op_named("conj");
  return core::is_complex(x.tensor.dtype()) ? unary(op, x) : x.tensor;
}

Tensor cast(const Located& x, DType dtype) {
  static const OpInfo& op = op_named("cast");
  return x.tensor.dtype() == dtype ? x.tensor : record(op, {x.tensor}, make_attrs(CastAttrs{dtype}), x.where);
}

Tensor select(const Located& condition, const Operand& where_true, const Operand& where_false) {
  static const OpInfo& op = op_named("select");
  const Tensor a = as_tensor("select", where_true, where_false),
               b = as_tensor("select", where_false, where_true);
  const Shape both = broadcast_shapes("select", a.aval(), b.aval(), condition.where);
  const Shape shape =
      broadcast_shapes("select", condition.tensor.aval(), {both, a.dtype(), a.device()}, condition.where);
  const auto spread = [&](const Tensor& t) { return broadcast_to({t, condition.where}, shape); };
  return record(op, {spread(condition.tensor), spread(a), spread(b)}, {}, condition.where);
}

Tensor scalar(const Number& value, DType dtype, Device device) {
  return literal({value.element(dtype), dtype, device});
}

Tensor full(const Shape& shape, const Number& value, DType dtype, Device device, std::source_location where) {
  return broadcast_to({scalar(value, dtype, device), where}, shape);
}
Tensor zeros(const Shape& shape, DType dtype, Device device, std::source_location where) {
  Tensor result = full(shape, 0.0, dtype, device, where);
  result.node().is_zero = true;
  return result;
}
Tensor ones(const Shape& shape, DType dtype, Device device, std::source_location where) {
  return full(shape, 1.0, dtype, device, where);
}
Tensor zeros_like(const Tensor& like) { return zeros(like.shape(), like.dtype(), like.device()); }
Tensor ones_like(const Tensor& like) { return ones(like.shape(), like.dtype(), like.device()); }

// One line per function.
// clang-format off
#define LODESTONE_UNARY(name)           \
  Tensor name(const Located& x) {       \
    static const OpInfo& op = op_named(#name); \
    return unary(op, x);                \
  }
#define LODESTONE_BINARY(name)                           \
  Tensor name(const Operand& a, const Operand& b) {      \
    static const OpInfo& op = op_named(#name);           \
    return binary(op, a, b);                             \
  }
LODESTONE_UNARY(negative) LODESTONE_UNARY(abs) LODESTONE_UNARY(sign) LODESTONE_UNARY(reciprocal)
LODESTONE_UNARY(square) LODESTONE_UNARY(sqrt) LODESTONE_UNARY(exp) LODESTONE_UNARY(expm1)
LODESTONE_UNARY(log) LODESTONE_UNARY(log1p) LODESTONE_UNARY(sin) LODESTONE_UNARY(cos) LODESTONE_UNARY(tan)
LODESTONE_UNARY(asin) LODESTONE_UNARY(acos) LODESTONE_UNARY(atan) LODESTONE_UNARY(sinh)
LODESTONE_UNARY(cosh) LODESTONE_UNARY(tanh) LODESTONE_UNARY(erf) LODESTONE_UNARY(sigmoid)
LODESTONE_UNARY(floor) LODESTONE_UNARY(ceil) LODESTONE_UNARY(round) LODESTONE_UNARY(is_finite)
LODESTONE_UNARY(logical_not) LODESTONE_UNARY(stop_gradient) LODESTONE_UNARY(identity)
LODESTONE_BINARY(add) LODESTONE_BINARY(subtract) LODESTONE_BINARY(multiply) LODESTONE_BINARY(divide)
LODESTONE_BINARY(power) LODESTONE_BINARY(maximum) LODESTONE_BINARY(minimum) LODESTONE_BINARY(atan2)
LODESTONE_BINARY(equal) LODESTONE_BINARY(not_equal) LODESTONE_BINARY(less) LODESTONE_BINARY(less_equal)
LODESTONE_BINARY(greater) LODESTONE_BINARY(greater_equal) LODESTONE_BINARY(logical_and)
LODESTONE_BINARY(logical_or) LODESTONE_BINARY(complex) LODESTONE_BINARY(remainder)
LODESTONE_BINARY(bitwise_and) LODESTONE_BINARY(bitwise_or) LODESTONE_BINARY(bitwise_xor)
LODESTONE_BINARY(shift_left) LODESTONE_BINARY(shift_right)
#undef LODESTONE_UNARY
#undef LODESTONE_BINARY

Tensor clip(const Located& x, const Operand& low, const Operand& high) {
  return minimum({maximum({x.tensor, x.where}, low), x.where}, high);
}

// As a choice its slope is one op; the condition is written so that NaN comes through.
Tensor relu(const Located& x) {
  return select({less_equal({x.tensor, x.where}, 0.0), x.where}, 0.0, x.tensor);
}

Tensor softplus(const Located& x) { return maximum({x.tensor, x.where}, 0.0) + log1p(exp(-abs(x))); }

Tensor squared_modulus(const Located& x) {
  if (!core::is_complex(x.tensor.dtype())) return square(x);
  return square({real(x), x.where}) + square({imag(x), x.where});
}

}  // namespace lodestone::engine
