// SPDX-License-Identifier: Apache-2.0
// usage: kernel_bits
// Prints a checksum of what each kernel gives whose bits may depend neither on the instruction set
// (LODESTONE_ISA) nor on the number of threads; fails where threads make a difference. Not here: products and
// convolutions, whose sums use fused multiply-adds where the instruction set has them.
#include "engine/core/dtype.hpp"
#include "engine/core/parallel.hpp"
#include "engine/nn/initial_values.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/format.h>

#include <map>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

using Cases = std::map<std::string, std::function<Tensor()>>;

/// Those of a gradient along a fixed direction are the kernels of the backward pass.
Tensor slope(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  return grad([&](const Tensor& at) {
    const Tensor y = f(at);
    return sum(y * y);
  })(x);
}

void add_elementwise(Cases& cases, const Tensor& x, const Tensor& y) {
  const std::map<std::string, Tensor (*)(const Located&)> functions{{"exp", exp},
                                                                    {"expm1", expm1},
                                                                    {"sin", sin},
                                                                    {"cos", cos},
                                                                    {"tan", tan},
                                                                    {"tanh", tanh},
                                                                    {"sinh", sinh},
                                                                    {"cosh", cosh},
                                                                    {"atan", atan},
                                                                    {"erf", erf},
                                                                    {"sigmoid", sigmoid},
                                                                    {"swish", swish},
                                                                    {"reciprocal", reciprocal},
                                                                    {"square", square}};
  for (const auto& [name, f] : functions) cases[name] = [x, f = f] { return f(x * 3.0); };
  cases["log"] = [x] { return log(abs(x)); };
  cases["log1p"] = [x] { return log1p(abs(x)); };
  cases["sqrt"] = [x] { return sqrt(abs(x)); };
  cases["asin, acos"] = [x] { return asin(sin(x)) - acos(cos(x)); };
  cases["power, atan2"] = [=] { return power(abs(x), y) + atan2(x, y); };
  cases["arithmetic"] = [=] { return maximum(x * y - x / y, minimum(x, y)) + x; };
  cases["slope of swish"] = [x] { return slope([](const Tensor& at) { return swish(at); }, x); };
  cases["updates"] = [=] { return adam_step(x, y, square(y), {1e-3, 1.1, 1e-8}) + blend(x, y, {0.7, 0.3}); };
}

void add_sums(Cases& cases, const Tensor& x, const Tensor& narrow, const Tensor& box) {
  for (const auto& [name, of] :
       std::map<std::string, Tensor>{{"wide", x}, {"narrow", narrow}, {"four axes", box}}) {
    for (int axis = 0; axis < of.rank(); ++axis) {
      cases[fmt::format("sum, {}, axis {}", name, axis)] = [of = of, axis] { return sum(of, Axes{axis}); };
      cases[fmt::format("max, {}, axis {}", name, axis)] = [of = of, axis] { return max(of, Axes{axis}); };
    }
    cases["sum of all, " + name] = [of = of] { return sum(of); };
    cases["sum, but the last axis, " + name] = [of = of] {
      return sum(of, IntList::counting(of.rank() - 1));
    };
    cases["sum transposed, " + name] = [of = of] { return sum(transpose(of), Axes{0}); };
    cases["normalize, " + name] = [of = of] { return normalize(of, IntList::counting(of.rank() - 1)); };
    cases["normalize rows, " + name] = [of = of] { return normalize(of, {of.rank() - 1}); };
    cases["slope of normalize, " + name] = [of = of] {
      return slope([](const Tensor& at) { return normalize(at, IntList::counting(at.rank() - 1)); }, of);
    };
  }
  cases["sum of axes 0 and 2"] = [box] { return sum(box, Axes{0, 2}); };
  cases["sum of axes 1 and 3"] = [box] { return sum(box, Axes{1, 3}); };
}

void add_others(Cases& cases, const Tensor& x, const Tensor& y, const Tensor& narrow, const Tensor& box) {
  const Tensor scale = slice(narrow, 0, 0, 1);
  cases["softmax"] = [x] { return softmax(x); };
  cases["log_softmax"] = [x] { return log_softmax(x); };
  cases["cumulative sum"] = [x] { return cumulative_sum(x, 0) + cumulative_sum(x, 1, Direction::reverse); };
  cases["recurrence"] = [=] { return linear_recurrence(sin(x), y, 0); };
  cases["pool"] = [box] { return max_pool(box, {.window = {2, 3}, .stride = {2, 2}, .low = {1, 0}}); };
  cases["slope of pool"] = [box] {
    return slope([](const Tensor& at) { return max_pool(at, {.window = {2, 3}, .stride = {2, 2}}); }, box);
  };
  const Tensor ones_of_narrow = ones({narrow.dim(1)}, narrow.dtype());
  for (const int i : {0, 1, 2}) {
    cases[fmt::format("batch norm, result {}", i)] = [=] {
      const auto [value, mean, variance] = batch_norm(narrow, ones_of_narrow * 0.7, ones_of_narrow);
      return i == 0 ? value : i == 1 ? mean : variance;
    };
    cases[fmt::format("batch norm, slope {}", i)] = [=] {
      const Function f = [](const Tensors& in) -> Tensors {
        return {sum(square(batch_norm(in[0], in[1], in[2]).y))};
      };
      const Tensors at{narrow, ones_of_narrow * 0.7, ones_of_narrow};
      return value_and_grad(f, at).gradients[static_cast<std::size_t>(i)];
    };
  }
  cases["slope of scale and shift"] = [=] {
    return grad([&](const Tensor& at) { return sum(square(scale_shift(narrow, at, at))); })(
        reshape(scale, {narrow.dim(1)}));
  };
}

std::uint64_t checksum(const Tensor& tensor) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte each : tensor.bytes())
    hash = (hash ^ static_cast<std::uint64_t>(each)) * 0x100000001b3;
  return hash;
}

}  // namespace

int main() {
  int n_different = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    InitialValues values(7, dtype);
    const auto drawn = [&](const Shape& shape) { return values.draw(shape, normal_around(0.0, 1.0)).eval(); };
    // Large enough for threads to share them (share.hpp).
    const Tensor x = drawn({101, 1031}), y = drawn({101, 1031}), wide = drawn({1101, 1031}),
                 narrow = drawn({57000, 19}), box = drawn({33, 61, 31, 18});
    Cases cases;
    add_elementwise(cases, x, y);
    add_sums(cases, wide, narrow, box);
    add_others(cases, x, y, narrow, box);
    for (const auto& [name, f] : cases) {
      core::set_threads(1);
      const std::uint64_t alone = checksum(f());
      fmt::print("{} of {}: {:016x}\n", name, core::name_of(dtype), alone);
      for (const int n : {2, 3}) {
        core::set_threads(n);
        const std::uint64_t apart = checksum(f());
        const core::CloseLoops close;  // less work is shared, in smaller pieces
        if (apart == alone && checksum(f()) == alone) continue;
        ++n_different;
        fmt::print("other bits on {} threads: {} of {}\n", n, name, core::name_of(dtype));
      }
    }
  }
  return n_different == 0 ? 0 : 1;
}
