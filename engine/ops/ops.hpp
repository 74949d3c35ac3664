// SPDX-License-Identifier: Apache-2.0
// The public functions on tensors. All record; none computes. Shapes broadcast as in NumPy; dtypes must agree
// (a plain number takes the tensor's). errors of all: ShapeError, InvalidArgument (dtype, axis), DeviceError,
// each with the op's name and the caller's line.
#pragma once

#include "engine/record/tensor.hpp"

#include <optional>

namespace lodestone::engine {

// Constants.
[[nodiscard]] Tensor full(const Shape& shape, const Number& value, DType dtype = DType::f32,
                          Device device = default_device(),
                          std::source_location where = std::source_location::current());
[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype = DType::f32, Device device = default_device(),
                           std::source_location where = std::source_location::current());
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype = DType::f32, Device device = default_device(),
                          std::source_location where = std::source_location::current());
[[nodiscard]] Tensor zeros_like(const Tensor& like);
[[nodiscard]] Tensor ones_like(const Tensor& like);
[[nodiscard]] Tensor scalar(const Number& value, DType dtype = DType::f32, Device device = default_device());

// Elementwise, one operand.
[[nodiscard]] Tensor negative(const Located& x);
[[nodiscard]] Tensor abs(const Located& x);  ///< |x|, real also for complex x
[[nodiscard]] Tensor sign(const Located& x);
[[nodiscard]] Tensor reciprocal(const Located& x);
[[nodiscard]] Tensor square(const Located& x);
[[nodiscard]] Tensor sqrt(const Located& x);
[[nodiscard]] Tensor exp(const Located& x);
[[nodiscard]] Tensor expm1(const Located& x);
[[nodiscard]] Tensor log(const Located& x);
[[nodiscard]] Tensor log1p(const Located& x);
[[nodiscard]] Tensor sin(const Located& x);
[[nodiscard]] Tensor cos(const Located& x);
[[nodiscard]] Tensor tan(const Located& x);
[[nodiscard]] Tensor asin(const Located& x);
[[nodiscard]] Tensor acos(const Located& x);
[[nodiscard]] Tensor atan(const Located& x);
[[nodiscard]] Tensor sinh(const Located& x);
[[nodiscard]] Tensor cosh(const Located& x);
[[nodiscard]] Tensor tanh(const Located& x);
[[nodiscard]] Tensor erf(const Located& x);
[[nodiscard]] Tensor sigmoid(const Located& x);
[[nodiscard]] Tensor floor(const Located& x);
[[nodiscard]] Tensor ceil(const Located& x);
[[nodiscard]] Tensor round(const Located& x);  ///< halves to even
[[nodiscard]] Tensor is_finite(const Located& x);
[[nodiscard]] Tensor logical_not(const Located& x);
[[nodiscard]] Tensor real(const Located& x);
[[nodiscard]] Tensor imag(const Located& x);  ///< zeros for real x
[[nodiscard]] Tensor conj(const Located& x);
[[nodiscard]] Tensor cast(const Located& x,
                          DType dtype);  ///< complex to real drops the imaginary part only by `real`
[[nodiscard]] Tensor identity(
    const Located& x);  ///< x as a node of its own, which is how transforms mark their inputs
[[nodiscard]] Tensor stop_gradient(const Located& x);  ///< x, whose derivative is taken as zero

// Elementwise, two operands.
[[nodiscard]] Tensor add(const Operand& a, const Operand& b);
[[nodiscard]] Tensor subtract(const Operand& a, const Operand& b);
[[nodiscard]] Tensor multiply(const Operand& a, const Operand& b);
[[nodiscard]] Tensor divide(const Operand& a, const Operand& b);
[[nodiscard]] Tensor power(const Operand& a, const Operand& b);
[[nodiscard]] Tensor maximum(const Operand& a, const Operand& b);
[[nodiscard]] Tensor minimum(const Operand& a, const Operand& b);
[[nodiscard]] Tensor atan2(const Operand& y, const Operand& x);
[[nodiscard]] Tensor equal(const Operand& a, const Operand& b);
[[nodiscard]] Tensor not_equal(const Operand& a, const Operand& b);
[[nodiscard]] Tensor less(const Operand& a, const Operand& b);
[[nodiscard]] Tensor less_equal(const Operand& a, const Operand& b);
[[nodiscard]] Tensor greater(const Operand& a, const Operand& b);
[[nodiscard]] Tensor greater_equal(const Operand& a, const Operand& b);
[[nodiscard]] Tensor logical_and(const Operand& a, const Operand& b);
[[nodiscard]] Tensor logical_or(const Operand& a, const Operand& b);
// Integers: the remainder has the sign of b; b of a shift counts as unsigned, past the width nothing (or the
// sign) is left.
[[nodiscard]] Tensor remainder(const Operand& a, const Operand& b);
[[nodiscard]] Tensor bitwise_and(const Operand& a, const Operand& b);
[[nodiscard]] Tensor bitwise_or(const Operand& a, const Operand& b);
[[nodiscard]] Tensor bitwise_xor(const Operand& a, const Operand& b);
[[nodiscard]] Tensor shift_left(const Operand& a, const Operand& b);
[[nodiscard]] Tensor shift_right(const Operand& a, const Operand& b);
[[nodiscard]] Tensor complex(const Operand& real, const Operand& imag);
[[nodiscard]] Tensor select(const Located& condition, const Operand& where_true, const Operand& where_false);

/// Returns the nearest number from low to high.
[[nodiscard]] Tensor clip(const Located& x, const Operand& low, const Operand& high);
[[nodiscard]] Tensor relu(const Located& x);             ///< max(x, 0)
[[nodiscard]] Tensor softplus(const Located& x);         ///< ln (1 + e^x), without overflow
[[nodiscard]] Tensor squared_modulus(const Located& x);  ///< |x|², real also for complex x

[[nodiscard]] inline Tensor operator-(const Located& x) { return negative(x); }
[[nodiscard]] inline Tensor operator+(const Operand& a, const Operand& b) { return add(a, b); }
[[nodiscard]] inline Tensor operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
[[nodiscard]] inline Tensor operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
[[nodiscard]] inline Tensor operator/(const Operand& a, const Operand& b) { return divide(a, b); }

// Reductions over axes (negative ones count from the last); no axes given: over all. Without `keep`, the axes
// disappear.
enum class Keep : std::uint8_t { no, yes };
[[nodiscard]] Tensor sum(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
[[nodiscard]] Tensor mean(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
[[nodiscard]] Tensor max(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
[[nodiscard]] Tensor min(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
/// Returns ln Σ e^x, without overflow.
[[nodiscard]] Tensor logsumexp(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
/// Returns Σ |x - mean|^2 / (n - correction).
[[nodiscard]] Tensor variance(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no,
                              double correction = 0.0);
[[nodiscard]] Tensor standard_deviation(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no,
                                        double correction = 0.0);
/// Returns (Σ |x|²)^(1/2); its slope at 0 is taken as 0.
[[nodiscard]] Tensor norm(const Located& x, std::optional<Axes> axes = {}, Keep keep = Keep::no);
// Along one axis.
[[nodiscard]] Tensor softmax(const Located& x, int axis = -1);      ///< e^x / Σ e^x, without overflow
[[nodiscard]] Tensor log_softmax(const Located& x, int axis = -1);  ///< x - ln Σ e^x, without overflow

/// Returns x in the memory of a device: the only way from one to another. errors: DeviceError when it runs,
/// for one this build does not have.
[[nodiscard]] Tensor copy_to(const Located& x, Device device);

// Movement: views wherever strides can say it.
[[nodiscard]] Tensor reshape(const Located& x, const Shape& shape);                ///< one extent may be -1
[[nodiscard]] Tensor transpose(const Located& x, std::optional<Axes> order = {});  ///< no order: reversed
[[nodiscard]] Tensor broadcast_to(const Located& x, const Shape& shape);
[[nodiscard]] Tensor expand_dims(const Located& x, int axis);
[[nodiscard]] Tensor squeeze(const Located& x, int axis);
/// Elements first, first + step, … before last of an axis; negative first and last count from the end.
[[nodiscard]] Tensor slice(const Located& x, int axis, Dim first, Dim last, Dim step = 1);
[[nodiscard]] Tensor flip(const Located& x, int axis);
/// `value` around x: `low` before, `high` after the elements of each axis, `inside` between them; negative
/// low and high crop.
[[nodiscard]] Tensor pad(const Located& x, const IntList& low, const IntList& high,
                         const IntList& inside = {}, double value = 0.0);
[[nodiscard]] Tensor concatenate(std::span<const Tensor> parts, int axis,
                                 std::source_location where = std::source_location::current());
/// Tensors of one shape along a new axis.
[[nodiscard]] Tensor stack(std::span<const Tensor> parts, int axis = 0,
                           std::source_location where = std::source_location::current());
/// Parts of these extents along an axis. errors: ShapeError when they do not add up to its extent.
[[nodiscard]] Tensors split(const Located& x, const IntList& extents, int axis = 0);
/// Returns x so many times along each axis, one after another.
[[nodiscard]] Tensor tile(const Located& x, const IntList& times);
/// Returns each element so many times in a row.
[[nodiscard]] Tensor repeat(const Located& x, Dim times, int axis);

// Products.
/// Which axes of two tensors are summed over and which are kept in step; the output has the batch axes, then
/// a's, then b's other axes.
struct DotAxes {
  Axes contract_a, contract_b, batch_a, batch_b;
};
[[nodiscard]] Tensor dot_general(const Located& a, const Located& b, const DotAxes& axes);
/// Returns the same for operands of bf16 or f16, multiplied and added in f32, of i8, in i32, and of u8 and
/// i8, in i32. The result has the wide dtype; derivatives take cotangents in the narrow one. errors:
/// InvalidArgument for other dtypes.
[[nodiscard]] Tensor widening_dot_general(const Located& a, const Located& b, const DotAxes& axes);
/// Returns the matrix product of the last two axes, the others broadcast; vectors as in NumPy.
[[nodiscard]] Tensor matmul(const Located& a, const Located& b);

// Normalization and activation.
/// Returns (x - mean) / (variance + epsilon)^(1/2) over the axes, variance with 1 / n.
[[nodiscard]] Tensor normalize(const Located& x, const Axes& axes, double epsilon = 1e-5);
/// The normalized values, and the moments that they were normalized by.
struct BatchNormed {
  Tensor y, mean, variance;
};
/// Returns (x − mean) / (variance + epsilon)^(1/2) · scale + shift with mean and variance (with 1 / n) of
/// each channel. shapes: x and y [n, …, c], all others [c], n ≥ 1. errors: ShapeError for other shapes.
/// source: Ioffe & Szegedy 2015, arXiv:1502.03167
[[nodiscard]] BatchNormed batch_norm(const Located& x, const Located& scale, const Located& shift,
                                     double epsilon = 1e-5);
/// Returns x · scale + shift, scale and shift one number per channel. shapes: x […, c], scale and shift [c].
[[nodiscard]] Tensor scale_shift(const Located& x, const Located& scale, const Located& shift);
[[nodiscard]] Tensor swish(const Located& x);  ///< x / (1 + e^(-x))

// Updates of optimizers.
/// Factors of the first and of the second of two tensors.
struct BlendWeights {
  double keep, take;
};
/// Returns keep · a + take · b. shapes: a and b alike.
[[nodiscard]] Tensor blend(const Located& a, const Located& b, const BlendWeights& weights);
struct AdamStepOptions {
  Operand rate,
      scale;  ///< scalars: numbers, or tensors of the dtype of p, which may be other ones in every run
  double epsilon;
};
/// Returns p − rate m / ((v scale)^(1/2) + epsilon). shapes: p, m and v alike. errors: ShapeError for other
/// shapes and dtypes. source: Kingma & Ba 2015, arXiv:1412.6980, algorithm 1
[[nodiscard]] Tensor adam_step(const Located& p, const Located& m, const Located& v,
                               const AdamStepOptions& options);

// Convolutions and pooling, channels last: x [n, spatial…, c] with 1 to 3 spatial axes, w [window…, c /
// groups, k]. Empty lists: 1 or 0 everywhere.
struct ConvOptions {
  IntList stride = {}, low = {}, high = {},
          dilation = {};  ///< per spatial axis; low and high: zeros before and after
  int groups = 1;
};
[[nodiscard]] Tensor conv(const Located& x, const Located& w, const ConvOptions& options = {});
/// Returns the adjoint of `conv` in x: y [n, spatial…, k] → [n, `spatial`…, c]. `spatial` selects one of the
/// inputs with this output.
[[nodiscard]] Tensor conv_transpose(const Located& y, const Located& w, const IntList& spatial,
                                    const ConvOptions& options = {});
struct PoolOptions {
  IntList window;
  IntList stride = {};  ///< empty: the window
  IntList low = {}, high = {};
};
[[nodiscard]] Tensor max_pool(const Located& x, const PoolOptions& options);

}  // namespace lodestone::engine
