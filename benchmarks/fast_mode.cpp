// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/fast_mode.hpp"

#include "benchmarks/mt_vae.hpp"
#include "benchmarks/turns.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/format.h>

#include <array>

namespace lodestone::bench {
namespace {

using namespace engine;

/// One function, compiled twice.
struct Pair {
  Compiled strict, fast;
};
Pair pair_of(const Function& f, CompileOptions options) {
  const Compiled strict = compile(f, options);
  options.exactness = Exactness::fast;
  return {strict, compile(f, options)};
}

void measure(Results& results, const std::string& name, const Pair& pair, const Tensors& in) {
  const auto [strict, fast] = medians_of_turns(pair.strict, pair.fast, in);
  results.add({name, "fast", "s", fast, {}, "strict", strict});
  std::int64_t n_liberties = 0;
  for (const Liberty& each : pair.fast.stats().liberties) n_liberties += each.n;
  results.add({name, "liberties", "", static_cast<double>(n_liberties), {}, {}, {}});
}

Tensors chain_of_8(const Tensors& in) {
  const Tensor z = engine::abs(0.5 - in[0] * 1.5) + 0.25;
  return {engine::maximum(-z * 0.75, 0.125) - 2.0};
}

/// Each liberty alone.
const std::array<std::pair<const char*, Function>, 4> alone{{
    {"x / 3", [](const Tensors& in) -> Tensors { return {in[0] / 3.0}; }},
    {"power(x, 3)", [](const Tensors& in) -> Tensors { return {power(in[0], 3.0)}; }},
    {"2 (x - 0.1) 0.001", [](const Tensors& in) -> Tensors { return {2.0 * (in[0] - 0.1) * 0.001}; }},
    {"(1.7 x + 0) x", [](const Tensors& in) -> Tensors { return {(in[0] * 1.7 + 0.0) * in[0]}; }},
}};

void measure_with(Results& results, DType dtype, bool by_text) {
  const CompileOptions options{.by_text = by_text};
  const auto named = [&](const std::string& name) {
    return fmt::format("{}, {}{}", name, core::name_of(dtype), by_text ? ", by text" : "");
  };
  const MtVaeStep strict_step(dtype), fast_step(dtype);
  CompileOptions fast = options;
  fast.exactness = Exactness::fast;
  measure(results, named("MT-VAE training step"), {strict_step.compiled(options), fast_step.compiled(fast)},
          {});
  InitialValues initial(7, dtype);
  const models::vae::VaeDecoderNet decoder({}, initial);
  decoder.set_mode(Mode::evaluation);
  const auto columns = vmap([&](const Tensor& code) {
    const auto of_one = [&](const Tensor& one) { return squeeze(decoder(expand_dims(one, 0)), 0); };
    return jacobian(of_one, code, JacobianMode::forward);
  });
  const Function jacobians = [&](const Tensors& in) -> Tensors { return {columns(in[0])}; };
  measure(results, named("MT decoder, 40 columns, Jacobian"), pair_of(jacobians, options),
          {normals({40, 16}, 3, dtype)});
  for (const Dim n : {Dim{1} << 14, Dim{1} << 24}) {
    const Tensors in{(ones({n}, dtype) * 0.3).eval()};
    const char* const size = n > 1 << 20 ? "16 M" : "16 K";
    measure(results, named(fmt::format("chain of 8 ops on {}", size)), pair_of(chain_of_8, options), in);
    for (const auto& [name, f] : alone)
      measure(results, named(fmt::format("{} on {}", name, size)), pair_of(f, options), in);
  }
}

}  // namespace

void measure_fast_mode(Results& results) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const bool by_text : {false, true}) measure_with(results, dtype, by_text);
  }
}

}  // namespace lodestone::bench
