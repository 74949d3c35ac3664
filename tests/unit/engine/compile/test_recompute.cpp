// SPDX-License-Identifier: Apache-2.0
// Recomputation: less memory for more work, with the same bits.
#include "engine/compile/compile.hpp"
#include "engine/compile/passes.hpp"
#include "engine/compile/recompute.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <algorithm>
#include <limits>
#include <regex>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::same_bits;
using tests::strides_of;

namespace {

/// A program as it is after the passes of a level, with what it runs on.
struct Optimized {
  Optimized(const Function& f, const Tensors& like, Level level = Level::O1)
      : inputs(strides_of(like)),
        program(Program::of(Trace::without_values(f, avals_of(like), std::source_location::current()))) {
    if (auto other = after(program, inputs, passes_of(level))) program = *std::move(other);
  }
  std::vector<Strides> inputs;
  Program program;
};

std::size_t block_bytes(const Program& program, std::span<const Strides> inputs) {
  std::size_t bytes = 0;
  for (const Block& each : lowered(program, inputs).blocks) bytes += each.bytes;
  return bytes;
}

/// Returns the budget that the message on one that is too small names.
std::size_t smallest_budget(const Optimized& of) {
  const auto error =
      error_of<core::InvalidArgument>([&] { static_cast<void>(within_budget(of.program, of.inputs, 1)); });
  CHECK_THAT(error, HasId("budget_too_small"));
  std::smatch found;
  const std::string message = error.what();
  REQUIRE(std::regex_search(message, found, std::regex("at least ([0-9]+) bytes")));
  return std::stoull(found[1]);
}

/// A loss of n layers of equal size, and its gradients.
Function layers(int n) {
  const auto loss = [n](const Tensors& in) -> Tensors {
    Tensor x = in[0];
    for (int i = 0; i < n; ++i) x = tanh(matmul(x, in[1]));
    return {sum(square(x))};
  };
  return [loss](const Tensors& in) { return value_and_grad(loss, in).gradients; };
}

Tensor sines(const Shape& shape, double scale) {
  return reshape(sin(iota(shape.count(), DType::f64) * scale) * 0.2, shape).eval();
}

}  // namespace

TEST_CASE("recomputation: networks keep their bits on every budget and number of threads", "[engine]") {
  int n_smaller = 0;
  for (const tests::SampleNetwork& each : tests::SampleNetworks(DType::f64).all()) {
    INFO(each.name);
    const Tensors right = each.f(each.inputs);
    for (const Level level : {Level::O0, Level::O1}) {
      const Optimized of(each.f, each.inputs, level);
      for (const int n_threads : {1, 2, 3}) {
        const tests::Threads threads(n_threads);  // which change the scratch of kernels
        const std::size_t all = block_bytes(of.program, of.inputs);
        if (Recomputation(of.program, of.inputs).candidates().empty()) continue;
        const std::size_t least = smallest_budget(of);
        n_smaller += least <= all / 4 * 3 ? 1 : 0;
        for (const std::size_t budget : {least, (least + all) / 2}) {
          const Compiled f = compile(each.f, {.level = level, .budget = budget});
          CHECK(same_bits(f(each.inputs), right));
          CHECK(f.stats().block_bytes <= budget);
        }
      }
    }
  }
  CHECK(n_smaller >= 10);
}

TEST_CASE("recomputation: what does not fit is seen without places, and else counted to the byte",
          "[engine]") {
  for (const tests::SampleNetwork& each : tests::SampleNetworks(DType::f32).all()) {
    INFO(each.name);
    const Optimized of(each.f, each.inputs);
    const std::vector<Block> blocks = lowered(of.program, of.inputs).blocks;
    std::size_t alive = 0;
    for (const Block& block : blocks) alive += block.most_alive;
    const std::size_t all = block_bytes(of.program, of.inputs);
    CHECK(engine::block_bytes(of.program, of.inputs, Level::O0) == all);
    CHECK(engine::block_bytes(of.program, of.inputs, Level::O0, all) == all);
    CHECK(engine::block_bytes(of.program, of.inputs, Level::O0, alive) == all);
    if (alive > 0) CHECK(engine::block_bytes(of.program, of.inputs, Level::O0, alive - 1) == alive);
    std::size_t seen = 0;
    for (const Block& block : unplaced(of.program, of.inputs, Level::O0).blocks) seen += block.bytes;
    CHECK(seen == alive);
  }
}

TEST_CASE("recomputation: a chain of n products lives in a multiple of the root of n", "[engine]") {
  constexpr int n = 64;
  constexpr Dim width = 32;
  constexpr std::size_t array = width * width * sizeof(double);
  for (const Level level : {Level::O0, Level::O1}) {
    const Optimized of(layers(n), {sines({width, width}, 0.1), sines({width, width}, 0.2)}, level);
    const std::size_t all = block_bytes(of.program, of.inputs), least = smallest_budget(of);
    CHECK(all >= n * array);
    CHECK(all <= (n + 8) * array);  // no merge stores what the backward pass can make when it needs it
    // Clusters of sums on level 1 wait for the gradients of a few layers.
    const std::size_t waiting = level == Level::O0 ? 0 : 8;
    CHECK(least <= (waiting + 19) * array);
    // Of three products per layer, the first runs twice.
    const Program program = within_budget(of.program, of.inputs, least);
    CHECK(Recomputation::work(program) <= 1.4 * Recomputation::work(of.program));
  }
}

TEST_CASE("recomputation: the choice costs little more work than the best of all", "[engine]") {
  const auto loss = [](const Tensors& in) -> Tensors {
    Tensor x = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) x = i % 3 == 0 ? sin(x) : tanh(matmul(x, in[i]));
    return {sum(square(x))};
  };
  const auto step = [&](const Tensors& in) { return value_and_grad(loss, in).gradients; };
  Tensors inputs{sines({64, 16}, 0.1)};
  for (int i = 0; i < 10; ++i) inputs.push_back(sines({16, 16}, 0.2 + 0.1 * i));
  const Optimized of(step, inputs);
  const Recomputation recomputation(of.program, of.inputs);
  const std::size_t n = recomputation.candidates().size();
  REQUIRE(n >= 8);
  REQUIRE(n <= 12);
  struct Way {
    std::size_t bytes;
    double work;
  };
  std::vector<Way> ways;
  for (std::size_t bits = 0; bits < (std::size_t{1} << n); ++bits) {
    Recomputation::Forgotten forgotten(n);
    for (std::size_t i = 0; i < n; ++i) forgotten[i] = ((bits >> i) & 1U) != 0;
    const Program program = recomputation.without(forgotten);
    ways.push_back({recomputation.block_bytes(program), Recomputation::work(program)});
  }
  const std::size_t all = block_bytes(of.program, of.inputs), least = smallest_budget(of);
  for (int part = 0; part <= 8; ++part) {
    const std::size_t budget = least + (all - least) * static_cast<std::size_t>(part) / 8;
    double best = std::numeric_limits<double>::infinity();
    for (const Way& way : ways) best = way.bytes <= budget ? std::min(best, way.work) : best;
    INFO(budget << " of " << all << " bytes");
    CHECK(Recomputation::work(within_budget(of.program, of.inputs, budget)) <= 1.1 * best);
  }
}

TEST_CASE("recomputation: ops with effects and functions run once", "[engine]") {
  int n_calls = 0;
  const core::MapPtr twice = core::pointwise(
      "twice", 256, [&](double t) { return ++n_calls, 2.0 * t; }, [](double) { return 2.0; });
  const auto f = [&](const Tensors& in) -> Tensors {
    Tensors kept;
    Tensor x = in[0];
    for (int i = 0; i < 6; ++i) {
      x = sin(reshape(external(twice, reshape(x, {256})), {16, 16}));
      kept.push_back(x);
    }
    for (int i = 5; i >= 0; --i) x = matmul(x, transpose(kept[static_cast<std::size_t>(i)]));
    return {x};
  };
  const Tensor x = sines({16, 16}, 0.1);
  const Tensors right{f({x})[0].eval()};
  const std::size_t least = smallest_budget(Optimized(f, {x}));
  const Compiled compiled = compile(f, {.budget = least});
  static_cast<void>(compiled({x}));
  n_calls = 0;
  CHECK(same_bits(compiled({x}), right));
  CHECK(n_calls == 6 * 256);
}

TEST_CASE("recomputation: an impossible budget names the smallest, which works", "[engine]") {
  const Tensors inputs{sines({32, 32}, 0.1), sines({32, 32}, 0.2)};
  const std::size_t least = smallest_budget(Optimized(layers(20), inputs));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { compile(layers(20), {.budget = least - 1})(inputs); }),
             HasId("budget_too_small"));
  const Compiled f = compile(layers(20), {.budget = least});
  CHECK(same_bits(f(inputs), layers(20)(inputs)));
  CHECK(f.stats().block_bytes <= least);
  const DryRun announced = dry_run(layers(20), avals_of(inputs), {.budget = least, .times = Times::none});
  CHECK(announced.peak.block == Arena::taken_by(f.stats().block_bytes));
}
