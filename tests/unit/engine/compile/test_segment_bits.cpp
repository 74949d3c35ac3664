// SPDX-License-Identifier: Apache-2.0
// Functions that read values while they are recorded have the bits, the effects, the errors and the cells of
// a run op by op.
#include "engine/core/map_algebra.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/op_by_op.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/segments_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::finite;
using tests::n_kernels;
using tests::number;
using tests::row;
using tests::same_bits;
using tests::SegmentCounts;
using tests::wave;

namespace {

using Numbers = std::vector<double>;
using Is = std::vector<std::int64_t>;

Numbers held(const Variable& variable) { return variable.value().to_vector<double>(); }

}  // namespace

namespace {

/// A function of square matrices that reads values here and there and goes on as they say, the same for each
/// seed. It notes what it reads.
class MatrixReader {
 public:
  MatrixReader(DType dtype, std::uint64_t seed) : dtype_(dtype), seed_(seed) {}
  [[nodiscard]] Tensors inputs(std::uint64_t number) const {
    std::mt19937_64 random(seed_ + 1000 * number);  // with zeros, infinities and NaN now and then
    const Tensor any = number == 2 ? tests::drawn(dtype_, {n, n}, random) : finite({n, n}, random(), dtype_);
    return {any, transpose(finite({n, n}, random(), dtype_)).eval()};
  }
  [[nodiscard]] Tensors operator()(const Tensors& in) const {
    std::mt19937_64 random(seed_);
    Tensors pool = in;
    const auto pick = [&] { return pool[random() % pool.size()]; };
    seen_->clear();
    for (std::uint64_t i = 0; i < 6 + random() % 20; ++i) {
      if (random() % 4 != 0) {
        pool.push_back(step(pick(), pick(), random()));
        continue;
      }
      const Tensor read = random() % 2 == 0 ? sum(pick()) : slice(reshape(pick(), {n * n}), 0, 3, 4);
      seen_->push_back(read);
      if (cast(reshape(read, {}), DType::f64).item<double>() > 0.0) pool.push_back(-pick());
    }
    Tensors result{pool.back(), pick()};
    for (std::uint64_t i = 0; i < random() % 3; ++i) result.push_back(sum(pick(), Axes{0}));
    return result;
  }
  [[nodiscard]] Tensors seen() const { return *seen_; }

 private:
  static constexpr Dim n = 96;  // large enough that three kernels make a plan
  [[nodiscard]] static Tensor step(const Tensor& x, const Tensor& y, std::uint64_t choice) {
    switch (choice % 12) {
      case 0:
        return transpose(x);
      case 1:
        return flip(x, 0) * 0.5;
      case 2:
        return broadcast_to(sum(x, Axes{1}, Keep::yes), {n, n}) * 0.1;
      case 3:
        return tanh(matmul(x, y));
      case 4:
        return batch_norm(x, slice(reshape(y, {n * n}), 0, 0, n), slice(reshape(y, {n * n}), 0, n, 2 * n)).y;
      case 5:
        return reshape(reshape(transpose(x), {n * n}) + 1.0, {n, n});
      case 6:
        return checkpoint([&](const Tensors& in) -> Tensors { return {sin(in[0]) * in[1]}; })({x, y})[0];
      case 7:
        return select(greater(x, y), x, y);
      case 8:
        return pad(slice(x, 0, 1, n - 2), {1, 0}, {2, 0});
      case 9:
        return x * 1.0 + 0.0;
      case 10:
        return tanh(x) + y;
      default:
        return x * y - x;
    }
  }

  DType dtype_;
  std::uint64_t seed_;
  std::shared_ptr<Tensors> seen_ = std::make_shared<Tensors>();
};

bool same_strides(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    return same_steps(x.shape(), x.node().look.strides, y.node().look.strides);
  });
}

}  // namespace

TEST_CASE("segments: reads in any place of random functions see the bits of runs op by op", "[engine]") {
  std::int64_t n_segments = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const std::uint64_t seed : tests::seeds_of_programs(1, 100)) {
      INFO("seed " << seed << ", " << core::name_of(dtype));
      const MatrixReader plain(dtype, seed), read(dtype, seed);
      for (const Level level : {Level::O0, Level::O1}) {
        const Compiled compiled = compile(read, {.level = level, .most_plans = 20});
        for (std::uint64_t i = 0; i < 4; ++i) {
          const Tensors in = plain.inputs(i % 3);
          const Tensors right = plain(in), given = compiled(in);
          eval(right);
          CHECK(same_bits(given, right));
          CHECK(same_strides(given, right));
          CHECK(same_bits(read.seen(), plain.seen()));
        }
        n_segments += compiled.stats().n_segments;
      }
    }
  }
  CHECK(n_segments > 500);
}

TEST_CASE("segments: reads in the middle of what is differentiated", "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const tests::SampleNetwork& each : tests::SampleNetworks(dtype).all()) {
      INFO(each.name << ", " << core::name_of(dtype));
      const Function f = [&](const Tensors& in) -> Tensors {
        Tensors scaled = in;
        scaled[0] = wave(in[0]);
        const double size = cast(sum(abs(scaled[0])), DType::f64).item<double>();
        const auto once_more = value_and_grad(
            [&](const Tensors& x) -> Tensors {
              const Tensor y = wave(x[0]);
              const double value = cast(mean(y), DType::f64).item<double>();
              return {mean(value > 0.0 ? tanh(y) * y : y)};
            },
            {scaled[0]});
        Tensors result = each.f(scaled);
        const double first = cast(sum(result[0]), DType::f64).item<double>();
        result.push_back(wave(once_more.gradients[0]) * (size > first ? 2.0 : 3.0));
        return result;
      };
      const Compiled compiled = compile(f);
      const Tensors right = f(each.inputs);
      for (int i = 0; i < 3; ++i) CHECK(same_bits(compiled(each.inputs), right));
      CHECK(compiled.stats().n_segments >= 4);
      CHECK(compiled.stats().n_plans <= 5);
    }
  }
}

namespace {

/// A network with batch norm and dropout, whose step of training reads its loss before the update.
class Trained {
 public:
  enum class Reads : std::uint8_t { loss_before_update, inside_of_loss, gradient_norm };
  explicit Trained(Reads reads)
      : reads_(reads),
        net_{Linear(3, 8, initial_), BatchNorm(8, initial_), Dropout(0.25, initial_),
             Linear(8, 1, initial_)} {}
  [[nodiscard]] Tensors step(const Tensors& batch) const {
    const auto loss = [&] {
      const Tensor y = engine::tanh(net_(batch[0]));
      const Tensor error = mean_squared_error(y, batch[1]);
      if (reads_ != Reads::inside_of_loss) return error;
      return error.item<float>() > 0.5F ? error : mean_absolute_error(y, batch[1]);
    };
    const auto [value, gradients] = value_and_grad(loss, net_.parameters());
    if (reads_ == Reads::loss_before_update && value.item<float>() > 0.6F) return {value, value * 2.0F};
    if (reads_ == Reads::gradient_norm) {
      Tensor norm = sum(square(gradients[0]));
      for (std::size_t i = 1; i < gradients.size(); ++i) norm = norm + sum(square(gradients[i]));
      if (norm.item<float>() > 0.6F) return {value, norm};
    }
    adam_.step(gradients);
    return {value, value + 1.0F};
  }
  [[nodiscard]] NamedTensors state() const {
    NamedTensors all = net_.state();
    for (const auto& [name, tensor] : adam_.state()) all.emplace("adam." + name, tensor);
    return all;
  }

 private:
  Reads reads_;
  InitialValues initial_{3};
  Sequential net_;
  Adam adam_{net_, {.learning_rate = 0.05}};
};

Tensors batch(std::uint64_t i) {
  return {finite({6, 3}, i + 1, DType::f32), finite({6, 1}, i + 50, DType::f32)};
}

}  // namespace

TEST_CASE("segments: steps of training that read leave the bytes of steps op by op", "[engine][train]") {
  using enum Trained::Reads;
  for (const auto reads : {loss_before_update, inside_of_loss, gradient_norm}) {
    for (const Level level : {Level::O0, Level::O1}) {
      INFO(static_cast<int>(reads) << ", level " << static_cast<int>(level));
      const Trained plain(reads), other(reads);
      const Compiled step = compile([&](const Tensors& in) { return other.step(in); }, {.level = level});
      std::int64_t n_op_by_op = 0, n_plans = 0;
      int n_without_update = 0;
      constexpr std::uint64_t n_steps = 20;
      for (std::uint64_t i = 0; i < n_steps; ++i) {
        const Tensors in = batch(i), right = plain.step(in);
        CAPTURE(right[0].item<float>(), right[1].item<float>());
        n_without_update += right[1].item<float>() == right[0].item<float>() + 1.0F ? 0 : 1;
        CHECK(same_bits(step(in), right));
        const NamedTensors x = plain.state(), y = other.state();
        CHECK(std::ranges::equal(x, y, [](const auto& a, const auto& b) {
          return a.first == b.first && same_bits(a.second, b.second);
        }));
        if (i != n_steps / 2) continue;
        n_op_by_op = step.stats().n_op_by_op;
        n_plans = step.stats().n_plans;
      }
      CHECK((n_without_update > 0 || reads == inside_of_loss));
      CHECK(n_without_update < static_cast<int>(n_steps));
      CHECK(step.stats().n_plans == n_plans);
      CHECK(step.stats().n_op_by_op - n_op_by_op <= static_cast<std::int64_t>(n_steps) / 2);
      CHECK(step.stats().n_segments > 15);
      REQUIRE(step.stats().breaks.size() == 1);
      CHECK(step.stats().breaks[0].n == n_steps);
    }
  }
}

TEST_CASE("segments: a step of training that reads takes fewer launches than op by op", "[engine][train]") {
  const Trained trained(Trained::Reads::loss_before_update);
  const auto f = [&](const Tensors& in) {
    Tensors result = trained.step(in);
    eval(result);
    for (const auto& [name, tensor] : trained.state()) tensor.eval();
    return result;
  };
  const Compiled step = compile(f);
  for (std::uint64_t i = 0; i < 12; ++i) static_cast<void>(step(batch(i)));
  SegmentCounts counts(step);
  counts.take();
  static_cast<void>(step(batch(7)));
  const Is by_plans = counts.take();
  const std::int64_t one_by_one = n_kernels([&] { f(batch(7)); });
  INFO(by_plans[3] << " launches, " << one_by_one << " kernels op by op");
  CHECK(by_plans[2] == 0);
  CHECK(2 * by_plans[3] < one_by_one);
}

TEST_CASE("segments: a function that throws after a read leaves every cell as it was", "[engine]") {
  const Variable a("a", row({1, 2}), Variable::Role::state), b("b", row({3}), Variable::Role::state);
  bool fails = false;
  const Function f = [&](const Tensors& x) -> Tensors {
    a.assign(wave(a.value()) + x[0]);
    const double first = number(a.value());
    b.assign(b.value() * first);
    a.assign(wave(a.value() * b.value()));
    if (fails && number(b.value()) != 0.0) throw core::SolverError("test#diverged", "diverged");
    return {wave(a.value())};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 6; ++i) {
    const Numbers a_before = held(a), b_before = held(b);
    fails = i % 2 == 1;
    if (fails) {
      CHECK_THROWS_AS(compiled({row({4, 5})}), core::SolverError);
      CHECK(held(a) == a_before);
      CHECK(held(b) == b_before);
      continue;
    }
    const Tensors given = compiled({row({4, 5})});
    const Numbers a_then = held(a), b_then = held(b);
    a.assign(row(a_before));
    b.assign(row(b_before));
    CHECK(same_bits(given, f({row({4, 5})})));
    CHECK(held(a) == a_then);
    CHECK(held(b) == b_then);
  }
  CHECK(compiled.stats().n_segments > 5);
}

TEST_CASE("segments: an error names the line that was called, and the function may go on", "[engine]") {
  const Tensor indices = Tensor::from(std::vector<std::int64_t>{0, 7}, {2});
  const auto take_at = [&](const Tensor& x, bool first) {
    const Tensor y = wave(x);
    if (first) return number(take(y, indices) * 1.0);
    return number(take(y, indices) * 1.0);  // the same ops on another line
  };
  std::string message;
  const Function f = [&](const Tensors& x) -> Tensors {
    message.clear();
    double result = 0.0;
    for (const bool first : {true, false}) {
      try {
        result += take_at(x[0], first);
      } catch (const core::InvalidArgument& error) {
        if (std::string_view(error.what()).find("without values") != std::string_view::npos) throw;
        message += error.what();
      } catch (const core::Error& error) {
        message += error.what();
      }
    }
    return {wave(x[0] + result)};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 3; ++i) {
    for (const Dim n : {Dim{8}, Dim{3}}) {
      const Tensors x{finite({n}, static_cast<std::uint64_t>(i) + 1)};
      const Tensors right = f(x);
      const std::string expected = message;
      CHECK(same_bits(compiled(x), right));
      CHECK(message == expected);
      CHECK(message.empty() == (n == 8));
    }
  }
  CHECK(compiled.stats().n_segments > 5);
}

TEST_CASE("segments: branches that differ in one attribute, or in what is kept", "[engine]") {
  std::vector<Tensor> kept;
  const Function f = [&](const Tensors& x) -> Tensors {
    const double first = number(wave(x[0]));
    const Tensor y = wave(x[0]), z = sum(wave(y), Axes{std::fmod(std::abs(first) * 10.0, 2.0) < 1.0 ? 0 : 1});
    const Tensor inside = [&] {
      const Tensor part = wave(z * 2.0);
      if (x[1].item<double>() > 0.0) kept.push_back(part);
      return wave(part);
    }();
    return {z + number(inside), inside};
  };
  const Compiled compiled = compile(f);
  for (std::uint64_t i = 0; i < 16; ++i) {
    const Tensors x{finite({4, 4}, i + 1), Tensor::from(Numbers{i % 3 == 0 ? 1.0 : -1.0}, {})};
    kept.clear();
    const Tensors right = f(x);
    eval(right);
    const Tensors expected = std::exchange(kept, {});
    CHECK(same_bits(compiled(x), right));
    REQUIRE(kept.size() >= expected.size());
    CHECK(same_bits(Tensors(kept.end() - std::ssize(expected), kept.end()), expected));
  }
  CHECK(compiled.stats().n_segments > 25);
}

TEST_CASE("segments: tensors that the function gives away are right whenever they are read", "[engine]") {
  Tensors kept;
  const Function f = [&](const Tensors& x) -> Tensors {
    const Tensor a = wave(x[0]), b = a * a, c = wave(b);
    kept = {a, b, c, transpose(reshape(c, {2, 2})), x[0] * 7.0};
    if (number(c) > 1e9) return {a};
    return {wave(c)};
  };
  const Compiled compiled = compile(f);
  for (std::uint64_t i = 0; i < 4; ++i) {
    const Tensors x{finite({4}, i + 1)};
    const Tensors right = f(x), expected = std::exchange(kept, {});
    CHECK(same_bits(compiled(x), right));
    CHECK(same_bits(kept, expected));
    CHECK(same_strides(kept, expected));
  }
  CHECK(compiled.stats().n_segments == 6);
}

TEST_CASE("segments: a compiled function that is called inside is its function", "[engine]") {
  const Variable cell("cell", row({1, 2}), Variable::Role::state);
  bool fails = false;
  const Compiled inner = compile([&](const Tensors& x) -> Tensors {
    cell.assign(wave(cell.value()) + x[0]);
    return {number(cell.value()) > 0.0 ? wave(x[0]) : x[0] * 2.0};
  });
  const Compiled quiet = compile([&](const Tensors& x) -> Tensors {
    cell.assign(cell.value() * x[0] + 1.0);
    return {wave(x[0])};
  });
  const Function f = [&](const Tensors& x) -> Tensors {
    const Tensor y = quiet({inner({wave(x[0])})[0]})[0];
    if (number(y) > 1e9 || fails) throw core::SolverError("test#diverged", "diverged");
    return {wave(y)};
  };
  const Compiled outer = compile(f);
  for (int i = 0; i < 5; ++i) {
    const Tensors x{row({0.5 * i, 3})};
    const Numbers before = held(cell);
    fails = true;
    CHECK_THROWS_AS(outer(x), core::SolverError);
    CHECK(held(cell) == before);
    fails = false;
    const std::array before_call{inner.stats().n_traces, quiet.stats().n_traces, quiet.stats().n_hits};
    const Tensors given = outer(x);
    CHECK(before_call == std::array{inner.stats().n_traces, quiet.stats().n_traces, quiet.stats().n_hits});
    const Numbers then = held(cell);
    cell.assign(row(before));
    CHECK(same_bits(given, run_op_by_op(f, x)));
    CHECK(held(cell) == then);
  }
  CHECK(outer.stats().n_segments > 5);
}

TEST_CASE("segments: memory of a cell that goes back to its value is not written over", "[engine]") {
  const Variable cell("cell", row({1, 2}), Variable::Role::state);
  const Compiled step = compile([&](const Tensors& x) -> Tensors {
    cell.assign(cell.value() * x[0] + 1.0);
    return {wave(x[0])};
  });
  const Tensors x{row({3, 4})};
  static_cast<void>(step(x));
  CHECK(step.stats().n_undonated == 0);
  const auto fails = [&](const Tensors& in) -> Tensors {
    static_cast<void>(step(in));
    throw core::SolverError("test#diverged", "diverged");
  };
  CHECK_THROWS_AS(run_op_by_op(fails, x), core::SolverError);
  CHECK(held(cell) == Numbers{4, 9});
  static_cast<void>(step(x));
  CHECK(held(cell) == Numbers{13, 37});
}

TEST_CASE("segments: simulations run once each, in the order of the calls", "[engine]") {
  std::string taken;
  const auto noting = [&](const std::string& name) {
    return core::pointwise(
        name, 2, [&taken, name](double t) { return taken += name, 2.0 * t; }, [](double) { return 2.0; });
  };
  const core::MapPtr a = noting("a"), b = noting("b");
  const Function f = [&](const Tensors& x) -> Tensors {
    const Tensor y = wave(external(a, wave(x[0])));
    static_cast<void>(external(b, y));  // nobody needs its result
    if (number(y) > 0.0) return {wave(external(a, y)), y};
    return {external(b, wave(y)), y};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 6; ++i) {
    const Tensors x{row({i % 2 == 0 ? 2.0 : -2.0, 1})};
    taken.clear();
    const Tensors right = f(x);
    eval(right);
    const std::string expected = std::exchange(taken, {});
    CHECK(same_bits(compiled(x), right));
    CHECK(taken == expected);
    CHECK(taken == (number(right[1]) > 0.0 ? "aabbaa" : "aabbbb"));
  }
  CHECK(compiled.stats().n_segments > 5);
}

TEST_CASE("segments: results of one op that are read at different times", "[engine]") {
  const Tensor scale = row({1, 2, 3}), shift = row({0.5, 0, 1});
  const Function f = [&](const Tensors& x) -> Tensors {
    const BatchNormed all = batch_norm(wave(x[0]), scale, shift);
    const double first = number(all.mean);
    const auto [big, both] = std::pair{sum(all.y), wave(all.y * first)};
    const Tensors chosen = cond(
        greater(big, 0.0),
        [](const Tensors& in) -> Tensors {
          return {in[0] * 2.0, transpose(in[0])};
        },
        [](const Tensors& in) -> Tensors {
          return {in[0] + 1.0, transpose(in[0] * 3.0)};
        },
        {both});
    const double second = number(chosen[1]);
    return {all.variance * second, wave(chosen[0]), chosen[1]};
  };
  const Compiled compiled = compile(f, {.breaks = Breaks::counted});
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Tensors x{finite({7, 3}, i + 1)};
    const Tensors right = f(x);
    eval(right);
    const Tensors given = compiled(x);
    CHECK(same_bits(given, right));
    CHECK(same_strides(given, right));
  }
  CHECK(compiled.stats().n_segments >= 9);
}

TEST_CASE("segments: threads may call at once", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (int i = 0; i < 3; ++i) y = number(wave(y)) > 0.0 ? wave(y) + x[1] : matmul(y, y) * 0.1 - x[1];
    return {y, sum(y, Axes{0})};
  };
  const Compiled compiled = compile(f, {.most_plans = 16});
  const Tensor shared = transpose(finite({4, 4}, 77)).eval();
  constexpr std::uint64_t n_threads = 4, n_calls = 25;
  std::array<int, n_threads> n_wrong{};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < n_threads; ++t) {
    threads.emplace_back([&, t] {
      const DefaultDevice scope(shared.device());
      for (std::uint64_t i = 0; i < n_calls; ++i) {
        const Tensors x{finite({4, 4}, 100 * t + i), shared};
        n_wrong[t] += same_bits(compiled(x), f(x)) ? 0 : 1;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(std::ranges::count(n_wrong, 0) == n_threads);
  CHECK(compiled.stats().n_segments > 50);
  CHECK(compiled.stats().breaks[0].n == n_threads * n_calls);
}
