// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/calibration_ops.hpp"

#include "engine/ops/attention.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/transform/transforms.hpp"

namespace lodestone::engine {
namespace {

/// Returns the function and its slopes, for a cotangent behind its arguments.
Function with_slopes(std::function<Tensor(const Tensors&)> f) {
  return [f = std::move(f)](const Tensors& in) {
    const Tensors at(in.begin(), in.end() - 1);
    const Linearized linear = linearize([&](const Tensors& x) -> Tensors { return {f(x)}; }, at);
    Tensors results = linear.vjp({in.back()});
    results.push_back(linear.value()[0]);
    return results;
  };
}

/// Returns a function of one result.
Function plain(std::function<Tensor(const Tensors&)> f) {
  return [f = std::move(f)](const Tensors& in) -> Tensors { return {f(in)}; };
}

class Uses {
 public:
  explicit Uses(DType dtype) : dtype_(dtype) {}

  /// Adds a function of arrays of the dtype, and others behind them.
  void add(Function f, const std::vector<Shape>& shapes, const std::vector<Aval>& others = {}) {
    std::vector<Aval> arguments;
    for (const Shape& each : shapes) arguments.push_back({each, dtype_, default_device()});
    arguments.insert(arguments.end(), others.begin(), others.end());
    all_.push_back({std::move(f), std::move(arguments)});
  }
  [[nodiscard]] std::vector<SampleUse> all() && { return std::move(all_); }

 private:
  DType dtype_;
  std::vector<SampleUse> all_;
};

void add_products(Uses& uses) {
  const auto product = [](const Tensors& x) { return matmul(x[0], x[1]); };
  uses.add(with_slopes(product), {{512, 256}, {256, 512}, {512, 512}});  // large enough to be shared
  uses.add(with_slopes(product), {{256, 64}, {64, 256}, {256, 256}});
  uses.add(with_slopes(product), {{64, 32, 32}, {64, 32, 32}, {64, 32, 32}});
  const Shape heads{4, 128, 4, 32};
  uses.add(with_slopes([](const Tensors& x) { return attention(x[0], x[1], x[2]); }),
           {heads, heads, heads, heads});
}

void add_windows(Uses& uses) {
  const auto convolve = [](int n_axes) {
    return with_slopes([n_axes](const Tensors& x) {
      const IntList ones = IntList::filled(n_axes, 1);
      return conv(x[0], x[1], {.low = ones, .high = ones});
    });
  };
  for (const auto& [n, m] : {std::pair<Dim, Dim>{1, 16}, {16, 1}, {16, 16}, {32, 32}, {64, 64}}) {
    uses.add(convolve(1), {{64, 16, n}, {3, n, m}, {64, 16, m}});
    uses.add(convolve(2), {{8, 16, 16, n}, {3, 3, n, m}, {8, 16, 16, m}});
  }
  uses.add(with_slopes([](const Tensors& x) { return max_pool(x[0], {.window = {2}}); }),
           {{64, 32, 16}, {64, 16, 16}});
  uses.add(with_slopes([](const Tensors& x) {
             return max_pool(x[0], {.window = {2, 2}});
           }),
           {{8, 32, 32, 16}, {8, 16, 16, 16}});
}

void add_reductions(Uses& uses) {
  const Shape matrix{256, 256};
  for (const auto& axes : {std::optional<Axes>(), std::optional(Axes{0}), std::optional(Axes{1})}) {
    uses.add(plain([axes](const Tensors& x) { return sum(x[0], axes); }), {matrix});
    uses.add(plain([axes](const Tensors& x) { return max(x[0], axes); }), {matrix});
    uses.add(plain([axes](const Tensors& x) { return min(x[0], axes); }), {matrix});
  }
  uses.add(with_slopes([](const Tensors& x) { return softmax(x[0]); }), {matrix, matrix});
  uses.add(with_slopes([](const Tensors& x) { return log_softmax(x[0]); }), {matrix, matrix});
  uses.add(with_slopes([](const Tensors& x) { return normalize(x[0], {1}); }), {matrix, matrix});
  uses.add(with_slopes([](const Tensors& x) { return batch_norm(x[0], x[1], x[2]).y; }),
           {{64, 16, 32}, {32}, {32}, {64, 16, 32}});
  uses.add(plain([](const Tensors& x) { return argmax(x[0], 1); }), {matrix});
}

void add_scans(Uses& uses) {
  for (const int axis : {0, 1}) {
    uses.add(plain([axis](const Tensors& x) { return cumulative_sum(x[0], axis); }), {{256, 256}});
    uses.add(plain([axis](const Tensors& x) { return linear_recurrence(x[0], x[1], axis); }),
             {{256, 256}, {256, 256}});
  }
}

void add_movement(Uses& uses) {
  uses.add(with_slopes([](const Tensors& x) {
             return concatenate(std::array{x[0], pad(x[1], {0, 1}, {0, 1})}, 0);
           }),
           {{256, 258}, {256, 256}, {512, 258}});
  uses.add(
      [](const Tensors& x) -> Tensors {
        return {take(x[0], x[2]), scatter_add(x[0], x[2], x[1])};
      },
      {{1024, 64}, {512, 64}}, {{{512}, DType::i64}});
}

void add_others(Uses& uses, DType dtype) {
  const auto solve = [](const Tensors& x) { return triangular_solve(x[0], x[1]); };
  uses.add(plain(solve), {{4, 64, 64}, {4, 64, 64}});
  uses.add(
      [dtype](const Tensors& x) -> Tensors {
        return {random_uniform(x[0], {65536}, dtype), random_normal(x[0], {65536}, dtype)};
      },
      {}, {random_key(0).aval()});
  // Functions that are no kernel of the table.
  const Shape array{16384};
  uses.add(
      [](const Tensors& x) -> Tensors {
        const Tensor updated = adam_step(x[0], x[1], x[2], {.rate = 1e-3, .scale = 1.0, .epsilon = 1e-8});
        const Tensor chosen = select(less(x[0], x[1]), x[1], x[2]);
        const DType other = x[0].dtype() == DType::f32 ? DType::f64 : DType::f32;
        return {updated, chosen, scale_shift(x[0], x[1], x[2]), blend(x[0], x[1], {0.9, 0.1}),
                cast(x[0], other)};
      },
      {array, array, array});
}

}  // namespace

std::vector<SampleUse> sample_uses(DType dtype) {
  Uses uses(dtype);
  add_products(uses);
  add_windows(uses);
  add_reductions(uses);
  add_scans(uses);
  add_movement(uses);
  add_others(uses, dtype);
  return std::move(uses).all();
}

}  // namespace lodestone::engine
