// SPDX-License-Identifier: Apache-2.0
// Random numbers: one primitive, the bits; everything else is composed of them.
#include "engine/ops/random.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <cmath>
#include <numbers>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// The first counter of the children of a key; elements never reach it.
constexpr double first_child = 0x1p63;

void check_key(std::string_view what, const Aval& aval, const std::source_location& where) {
  if (aval.shape.rank() == 0 || aval.shape.back() != 3 || aval.dtype != DType::u64)
    throw core::ShapeError(std::string(what) + "#wrong_key",
                           "expected a key u64[…, 3] as random_key gives it, got {} {}", aval.text(),
                           at_line(where));
}

Aval infer_bits(const InferArgs& args) {
  const auto& [shape, dtype] = args.as<RandomAttrs>();
  Aval result = args.aval(0);
  check_key(args.op.name, result, args.where);
  if (dtype != DType::u32 && dtype != DType::u64)
    throw core::InvalidArgument(args.op.name + "#wrong_dtype", "expected u32 or u64 to be drawn, got {} {}",
                                core::name_of(dtype), at_line(args.where));
  result.shape = result.shape.erased(result.shape.rank() - 1);
  for (const Dim extent : shape) result.shape.push_back(extent);
  result.dtype = dtype;
  return result;
}

void check_float(std::string_view what, DType dtype, const std::source_location& where) {
  if (!real_floats.contains(dtype))
    throw core::InvalidArgument(std::string(what) + "#wrong_dtype", "expected {} to be drawn, got {} {}",
                                real_floats.text(), core::name_of(dtype), at_line(where));
}

Tensor whole_number(std::uint64_t value, Device device) {
  return Tensor::from(std::vector<std::uint64_t>{value}, {}, device);
}

/// The parts of a key: seed and stream, position.
struct KeyParts {
  Tensor stream, position;
};
KeyParts parts_of(const Located& key, std::string_view what) {
  check_key(what, key.tensor.aval(), key.where);
  return {slice(key, -1, 0, 2), slice(key, -1, 2, 3)};
}
Tensor key_of(const Tensor& stream, const Tensor& position) {
  return concatenate(Tensors{stream, position}, -1);
}

void register_bits(OpTable& table) {
  OpInfo row;
  row.name = "random_bits";
  row.formula = "words of Philox4x32-10, keyed on the seed, counted by stream and index";
  row.dtypes = {DType::u64};
  row.infer = infer_bits;
  row.derivative = no_derivative("its result is random bits");
  row.op_class = OpClass::random;
  row.axes = [](const AxisArgs& args) {
    const int n_keys = args.in[0].shape.rank() - 1;
    return axis_by_axis(args, IntList::counting(args.out.shape.rank() - n_keys, n_keys));
  };
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Shape batch = sampler.chance(0.5) ? Shape{} : Shape{sampler.integer(0, 3)};
    const Tensor key = sampler.tensor(batch.inserted(batch.rank(), 3), 0, 0x1p52);
    return Sample{
        {key}, make_attrs(RandomAttrs{sampler.shape(0, 3), sampler.chance(0.5) ? DType::u32 : DType::u64})};
  };
  table.add(std::move(row));
}

void register_permutation(OpTable& table) {
  OpInfo row;
  row.name = "random_permutation";
  row.formula = "0 … n - 1, each order equally likely, drawn from words of Philox4x32-10";
  row.dtypes = {DType::u64};
  row.infer = [](const InferArgs& args) {
    const Dim n = args.as<IotaAttrs>().count;
    Aval result = args.aval(0);
    check_key(args.op.name, result, args.where);
    if (n < 0)
      throw core::InvalidArgument(args.op.name + "#negative_count",
                                  "expected a number of elements >= 0, got {} {}", n, at_line(args.where));
    result.shape[result.shape.rank() - 1] = n;
    result.dtype = DType::i64;
    return result;
  };
  row.derivative = no_derivative("its result is integers");
  row.op_class = OpClass::random;
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args, {args.out.shape.rank() - 1}); };
  row.stacks = true;
  row.sample = [](Sampler& sampler) {
    const Shape batch = sampler.chance(0.5) ? Shape{} : Shape{sampler.integer(0, 3)};
    const Tensor key = sampler.tensor(batch.inserted(batch.rank(), 3), 0, 0x1p52);
    return Sample{{key},
                  make_attrs(IotaAttrs{sampler.chance(0.2) ? sampler.integer(0, 1) : sampler.integer(2, 40),
                                       DType::i64, key.device()})};
  };
  table.add(std::move(row));
}

void register_quantile(OpTable& table) {
  OpInfo row;
  row.name = "normal_quantile";
  row.formula = "x with (2π)^(-1/2) ∫_-∞^x e^(-t^2/2) dt = p";
  row.dtypes = real_floats;
  row.infer = infer_alike;
  row.derivative =
      by_partials("(2π)^(1/2) e^(y^2/2)",
                  {[](R a) { return std::sqrt(2.0 * std::numbers::pi) * exp(0.5 * square(a.out)); }});
  row.op_class = OpClass::elementwise;
  row.sample = [](Sampler& sampler) { return Sample{{sampler.tensor(sampler.shape(0, 4), 0.01, 0.99)}, {}}; };
  table.add(std::move(row));
}

}  // namespace

void register_random(OpTable& table) {
  register_bits(table);
  register_permutation(table);
  register_quantile(table);
}

Tensor random_key(std::uint64_t seed, std::uint64_t stream, Device device) {
  return Tensor::from(std::vector<std::uint64_t>{seed, stream, 0}, {3}, device);
}

Tensor advance(const Located& key, std::int64_t n) {
  const auto [stream, position] = parts_of(key, "advance");
  return key_of(stream,
                add({position, key.where}, whole_number(static_cast<std::uint64_t>(n), key.tensor.device())));
}

Tensor split_key(const Located& key, Dim n) {
  const auto [stream, position] = parts_of(key, "split_key");
  const Tensor words =
      random_bits({key_of(stream, position * 2.0 + first_child), key.where}, {n, 2}, DType::u64);
  return pad(words, IntList::filled(words.rank(), 0),
             IntList::filled(words.rank() - 1, 0).inserted(words.rank() - 1, 1));
}

Tensor random_bits(const Located& key, const Shape& shape, DType dtype) {
  static const OpInfo& op = op_named("random_bits");
  return record(op, {key.tensor}, make_attrs(RandomAttrs{shape, dtype}), key.where);
}

namespace {

/// Words of which a number of this dtype takes one.
Tensor words_of_numbers(const Located& key, const Shape& shape, DType dtype) {
  return random_bits(key, shape, dtype == DType::f32 ? DType::u32 : DType::u64);
}
Tensor uniform_of(const Tensor& words, DType dtype) {
  const bool is_single = dtype == DType::f32;
  const Tensor bits = shift_right(words, is_single ? 9 : 12);
  return cast(bits, dtype) * (is_single ? 0x1p-23 : 0x1p-52) + (is_single ? 0x1p-24 : 0x1p-53);  // both exact
}

}  // namespace

Tensor random_uniform(const Located& key, const Shape& shape, DType dtype) {
  check_float("random_uniform", dtype, key.where);
  return uniform_of(words_of_numbers(key, shape, dtype), dtype);
}

Tensor random_normal(const Located& key, const Shape& shape, DType dtype) {
  check_float("random_normal", dtype, key.where);
  const Tensor pairs = words_of_numbers(key, shape.inserted(shape.rank(), 2), dtype);
  const auto each = [&](Dim which) {
    return uniform_of(squeeze(slice(pairs, -1, which, which + 1), -1), dtype);
  };
  return sqrt(-2.0 * log(each(0))) * cos(2.0 * std::numbers::pi * each(1));
}

Tensor random_truncated_normal(const Located& key, const Shape& shape, double low, double high, DType dtype) {
  check_float("random_truncated_normal", dtype, key.where);
  constexpr double last = 37.0;  // beyond it Φ is below the smallest normal number
  if (!(low < high) || low > last || high < -last)
    throw core::InvalidArgument("random_truncated_normal#wrong_limits",
                                "expected low < high, low <= {} and high >= -{}, got {} and {} {}", last,
                                last, low, high, at_line(key.where));
  if (low > 0.0) return -random_truncated_normal(key, shape, -high, -low, dtype);
  const auto below = [](double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); };
  const Tensor u = cast(random_uniform(key, shape, dtype), DType::f64);
  const Tensor x = normal_quantile({below(low) + (below(high) - below(low)) * u, key.where});
  return cast(minimum(maximum(x, low), high), dtype);
}

Tensor random_bernoulli(const Located& key, double probability, const Shape& shape) {
  if (!(probability >= 0.0 && probability <= 1.0))
    throw core::InvalidArgument("random_bernoulli#wrong_probability",
                                "expected a probability from 0 to 1, got {} {}", probability,
                                at_line(key.where));
  const double below = std::round(probability * 0x1p32);  // of the 2^32 words
  const Tensor words = random_bits(key, shape);
  return below < 0x1p32 ? less(words, below) : greater_equal(words, 0);
}

Tensor random_integers(const Located& key, const Shape& shape, std::int64_t low, std::int64_t high,
                       DType dtype) {
  if (low >= high || !core::is_integer(dtype))
    throw core::InvalidArgument("random_integers#wrong_range_or_dtype",
                                "expected low < high and an integer dtype, got {}, {} and {} {}", low, high,
                                core::name_of(dtype), at_line(key.where));
  const std::uint64_t first = static_cast<std::uint64_t>(low),
                      range = static_cast<std::uint64_t>(high) - first;
  const Device device = key.tensor.device();
  return cast(remainder(random_bits(key, shape, DType::u64), whole_number(range, device)) +
                  whole_number(first, device),
              dtype);
}

Tensor random_permutation(const Located& key, Dim n) {
  static const OpInfo& op = op_named("random_permutation");
  return record(op, {key.tensor}, make_attrs(IotaAttrs{n, DType::i64, key.tensor.device()}), key.where);
}

Tensor normal_quantile(const Located& p) {
  static const OpInfo& op = op_named("normal_quantile");
  return record(op, {p.tensor}, {}, p.where);
}

Tensor random_categorical(const Located& key, const Located& logits, int axis) {
  const Tensor& x = logits.tensor;
  return argmax({x - log(-log(random_uniform(key, x.shape(), x.dtype()))), key.where}, axis);
}

}  // namespace lodestone::engine
