// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/record/trace.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>
#include <string>

namespace lodestone::tests {

/// Returns the rows whose kernel for this dtype is known element by element.
inline const std::vector<const engine::OpInfo*>& rows_with_expressions(engine::DType dtype) {
  static const auto lists = [] {
    std::vector<std::vector<const engine::OpInfo*>> result(core::n_dtypes);
    for (const engine::OpInfo& row : engine::OpTable::global().rows()) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        const auto& kernels = row.kernels[static_cast<std::size_t>(engine::Backend::processor)];
        const bool is_elementwise = row.op_class == engine::OpClass::elementwise && row.view == nullptr &&
                                    row.dtypes.contains(static_cast<engine::DType>(i));
        if (is_elementwise && has_expression(kernels[i])) result[i].push_back(&row);
      }
    }
    return result;
  }();
  return lists[static_cast<std::size_t>(dtype)];
}

/// Draws elements between -3 and 3, of floats now and then zeros, infinities and NaN.
inline engine::Tensor drawn(engine::DType dtype, const engine::Shape& shape, std::mt19937_64& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array specials{0.0, -0.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (double& each : values) {
    const std::uint64_t word = random();
    const bool is_special = core::is_float(dtype) && word % 64 == 0;
    each = is_special ? specials[(word >> 8) % specials.size()]
                      : static_cast<double>(word >> 40) * 0x1p-24 * 6.0 - 3.0;
  }
  const engine::Tensor real = engine::Tensor::from(values, shape);
  if (dtype == engine::DType::b8) return greater(real, 0.0).eval();
  if (core::is_integer(dtype))
    return cast(core::name_of(dtype)[0] == 'u' ? engine::abs(real) * 3.0 : real * 3.0, dtype).eval();
  return cast(real, dtype).eval();
}
/// Returns the seeds of random programs from `first` on: n of them, or as many as LODESTONE_PROGRAMS says if
/// these are more; or the one that LODESTONE_PROGRAM_SEED names: that of a failure, to be repeated.
inline std::vector<std::uint64_t> seeds_of_programs(std::uint64_t first, std::uint64_t n) {
  if (const char* one = std::getenv("LODESTONE_PROGRAM_SEED")) return {std::stoull(one)};
  if (const char* more = std::getenv("LODESTONE_PROGRAMS")) n = std::max<std::uint64_t>(n, std::stoull(more));
  std::vector<std::uint64_t> seeds(n);
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

/// Returns numbers that depend on the seed alone.
inline engine::Tensor drawn(const engine::Shape& shape, std::uint64_t seed = 1,
                            engine::DType dtype = engine::DType::f64) {
  std::mt19937_64 random(seed);
  return drawn(dtype, shape, random);
}

/// A function of elementwise ops, broadcasts, other views and sums, the same for each seed.
class RandomProgram {
 public:
  RandomProgram(engine::DType dtype, std::uint64_t seed, bool is_large) : dtype_(dtype), seed_(seed) {
    std::mt19937_64 random(seed);
    const int rank = 1 + static_cast<int>(random() % 3);
    for (int axis = 0; axis < rank; ++axis)
      space_.push_back(is_large ? (axis == 0 ? 9000 : 3) : 1 + static_cast<engine::Dim>(random() % 7));
    for (std::uint64_t i = 0; i < 2 + random() % 3; ++i) inputs_.push_back(input(random));
  }
  [[nodiscard]] const engine::Tensors& inputs() const { return inputs_; }
  [[nodiscard]] engine::Function function() const {
    return [*this](const engine::Tensors& in) { return outputs(in); };
  }

 private:
  /// Dense, turned, or repeated along an axis.
  [[nodiscard]] engine::Tensor input(std::mt19937_64& random) const {
    const auto axis = static_cast<int>(random() % static_cast<std::uint64_t>(space_.rank()));
    switch (random() % 4) {
      case 0:
        return flip(drawn(dtype_, space_, random), axis).eval();
      case 1: {
        engine::Shape thin = space_;
        thin[axis] = 1;
        return broadcast_to(drawn(dtype_, thin, random), space_).eval();
      }
      case 2: {
        engine::Shape turned;
        for (int i = space_.rank() - 1; i >= 0; --i) turned.push_back(space_[i]);
        return transpose(drawn(dtype_, turned, random)).eval();
      }
      default:
        return drawn(dtype_, space_, random);
    }
  }

  [[nodiscard]] engine::Tensors outputs(const engine::Tensors& in) const {
    std::mt19937_64 random(seed_ + 1);
    engine::Tensors pool = in;
    const std::uint64_t n_steps = 3 + random() % 20;
    for (std::uint64_t i = 0; i < n_steps; ++i) pool.push_back(step(pool, random));
    engine::Tensors result{pool.back()};
    for (std::uint64_t i = 0; i < random() % 3; ++i) result.push_back(pick(pool, random));
    return result;
  }

  static const engine::Tensor& pick(const engine::Tensors& pool, std::mt19937_64& random) {
    return pool[random() % pool.size()];
  }
  /// Returns a value of this dtype: a random one, or the first there is.
  static const engine::Tensor* pick(const engine::Tensors& pool, engine::DType dtype,
                                    std::mt19937_64& random) {
    std::vector<const engine::Tensor*> fitting;
    for (const engine::Tensor& each : pool) {
      if (each.dtype() == dtype) fitting.push_back(&each);
    }
    return fitting.empty() ? nullptr : fitting[random() % fitting.size()];
  }

  [[nodiscard]] engine::Tensor step(const engine::Tensors& pool, std::mt19937_64& random) const {
    const engine::Tensor& x = pick(pool, random);
    const auto axis = static_cast<int>(random() % static_cast<std::uint64_t>(space_.rank()));
    switch (random() % 17) {
      case 4:
        return flat(x, pool, random);
      case 5:
        return of_two(x, pick(pool, x.dtype(), random), axis, random);
      case 0:
        return flip(x, axis);
      case 1:
        return broadcast_to(slice(x, axis, 0, 1), space_);
      case 2:
        return core::is_real_float(x.dtype()) && core::size_of(x.dtype()) > 2 ? over(x, axis, random)
                                                                              : stop_gradient(x);
      case 3:
        return core::is_float(x.dtype()) && core::size_of(x.dtype()) > 2 ? x * 0.75 + 1.0 : stop_gradient(x);
      default:
        return elementwise(x, pool, random);
    }
  }

  /// Returns a slice of two values one after the other.
  [[nodiscard]] engine::Tensor of_two(const engine::Tensor& x, const engine::Tensor* y, int axis,
                                      std::mt19937_64& random) const {
    const auto first = static_cast<engine::Dim>(random() % static_cast<std::uint64_t>(space_[axis] + 1));
    return slice(concatenate(engine::Tensors{x, *y}, axis), axis, first, first + space_[axis]);
  }

  /// Returns what an op makes of a value in one row, in its old shape.
  [[nodiscard]] engine::Tensor flat(const engine::Tensor& x, const engine::Tensors& pool,
                                    std::mt19937_64& random) const {
    const engine::Shape row{space_.count()};
    const engine::Tensors both{reshape(x, row), reshape(pick(pool, random), row)};
    return reshape(elementwise(both[0], both, random), space_);
  }

  /// Returns what a reduction of some axes gives, on all of their places.
  [[nodiscard]] engine::Tensor over(const engine::Tensor& x, int axis, std::mt19937_64& random) const {
    engine::Axes axes;
    for (int i = 0; i < space_.rank(); ++i) {
      if (i == axis || random() % 3 == 0) axes.push_back(i);
    }
    using engine::Keep;
    const std::uint64_t kind = random() % 4;
    engine::Tensor y = kind == 0   ? max(x, axes, Keep::yes)
                       : kind == 1 ? min(x, axes, Keep::yes)
                                   : sum(x, axes, Keep::yes);
    if (random() % 2 == 0) y = y * 0.5;
    return broadcast_to(y, space_);
  }

  /// Returns a dtype that holds the numbers of another, roughly.
  static engine::DType cast_of(engine::DType from, std::uint64_t choice) {
    using enum engine::DType;
    constexpr std::array of_floats{f32, f64, bf16, c64}, of_signed{i32, i64, f32, b8};
    constexpr std::array of_unsigned{u8, u32, u64, f32};
    if (core::is_complex(from)) return c128;
    if (core::is_float(from)) return of_floats[choice];
    return core::name_of(from)[0] == 'u' ? of_unsigned[choice] : of_signed[choice];
  }

  [[nodiscard]] engine::Tensor elementwise(const engine::Tensor& x, const engine::Tensors& pool,
                                           std::mt19937_64& random) const {
    const auto& rows = rows_with_expressions(x.dtype());
    const engine::OpInfo& row = *rows[random() % rows.size()];
    const bool is_signed = x.dtype() == engine::DType::i32 || x.dtype() == engine::DType::i64;
    if (is_signed && (row.name == "multiply" || row.name == "square" || row.name == "shift_left"))
      return x + 1;  // numbers stay in the range of their dtype
    engine::Sampler sampler(x.dtype(), random());
    engine::AttrsPtr attrs = row.sample(sampler).attrs;
    engine::Tensors in{x};
    if (row.name == "cast") {
      attrs = engine::make_attrs(engine::CastAttrs{cast_of(x.dtype(), random() % 4)});
    } else if (row.name == "select") {
      const engine::Tensor a = pick(pool, random);
      in = {x, a, *pick(pool, a.dtype(), random)};
    } else if (row.name == "scale_shift") {
      const engine::Shape last{x.shape().back()};
      const auto row_of = [&](const engine::Tensor& of) {
        engine::Tensor part = of;
        for (int axis = 0; axis + 1 < x.rank(); ++axis) part = slice(part, axis, 0, 1);
        return reshape(part, last);
      };
      in = {x, row_of(x), row_of(*pick(pool, x.dtype(), random))};
    } else if (row.name == "adam_step") {
      in = {x, *pick(pool, x.dtype(), random), *pick(pool, x.dtype(), random),
            engine::full({}, 1e-3, x.dtype()), sum(x)};
    } else {
      for (int i = 1; i < row.n_inputs; ++i) in.push_back(*pick(pool, x.dtype(), random));
    }
    return record(row, in, attrs, std::source_location::current());
  }

  engine::DType dtype_;
  std::uint64_t seed_;
  engine::Shape space_;
  engine::Tensors inputs_;
};

}  // namespace lodestone::tests
