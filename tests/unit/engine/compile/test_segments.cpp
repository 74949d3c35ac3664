// SPDX-License-Identifier: Apache-2.0
// Functions that read values while they are recorded: what they compute between two reads runs as plans, with
// the bits, the effects and the cells of a run op by op.
#include "engine/compile/compile.hpp"
#include "engine/compile/segments.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/op_by_op.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::same_bits;

namespace {

using Numbers = std::vector<double>;

/// Returns numbers between -1 and 1 that depend on the seed.
Tensor drawn(const Shape& shape, std::uint64_t seed, DType dtype = DType::f64) {
  const core::Philox random(seed, 0);
  Numbers values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(random.normal(i));
  return cast(Tensor::from(values, shape), dtype).eval();
}

double number(const Tensor& x) { return sum(x).item<double>(); }
Numbers held(const Variable& variable) { return variable.value().to_vector<double>(); }

/// Returns the number of kernels that f runs, op by op.
std::int64_t n_kernels(const std::function<void()>& f) {
  std::int64_t n = 0;
  const ExecutionObserver observer([&](const Node& node) { n += is_view(node) ? 0 : 1; });
  f();
  return n;
}

/// What a function has counted since the last look.
class Counts {
 public:
  explicit Counts(const Compiled& f) : f_(f) {}
  /// Returns segments by plan, segments op by op, plans made and launches.
  std::vector<std::int64_t> take() {
    const CompileStats now = f_.stats();
    const std::vector all{now.n_segments, now.n_op_by_op, now.n_plans, now.n_launches};
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i < all.size(); ++i)
      result.push_back(all[i] - std::exchange(before_[i], all[i]));
    return result;
  }

 private:
  const Compiled& f_;
  std::array<std::int64_t, 4> before_{};
};
using Is = std::vector<std::int64_t>;

/// Twelve elementwise ops.
Tensor wave(Tensor x) {
  for (int i = 0; i < 3; ++i) x = sin(x * 0.5 + 1.0) - x;
  return x;
}

}  // namespace

TEST_CASE("segments: what is between two reads is a plan from its second run on", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]);
    const double first = number(y);
    return {first > 0.0 ? wave(y) : wave(wave(y))};
  };
  const Compiled compiled = compile(f), as_recorded = compile(f, {.level = Level::O0});
  Counts counts(compiled), counts_as_recorded(as_recorded);
  const Tensors x{row({1, 2, 3})}, small{row({1, 2, 2.5})}, other{row({-9, -9, -9})};
  REQUIRE(number(wave(x[0])) * number(wave(other[0])) < 0.0);
  REQUIRE(number(wave(x[0])) * number(wave(small[0])) > 0.0);
  const auto expect = [&](const Tensors& in, const Is& expected) {
    CHECK(same_bits(compiled(in), f(in)));
    CHECK(same_bits(as_recorded(in), f(in)));
    CHECK(counts.take() == expected);
    counts_as_recorded.take();
  };
  expect(x, {0, 2, 0, 0});
  expect(x, {2, 0, 2, 2});  // a wave with its sum, and a wave
  expect(small, {2, 0, 0, 2});
  expect(other, {1, 1, 0, 1});  // another branch
  expect(other, {2, 0, 1, 2});
  expect(x, {2, 0, 0, 2});
  static_cast<void>(as_recorded(x));
  CHECK(counts_as_recorded.take() == Is{2, 0, 0, n_kernels([&] { eval(f(x)); })});
  const CompileStats stats = compiled.stats();
  REQUIRE(stats.breaks.size() == 1);
  CHECK(stats.breaks[0].n == 6);
  CHECK(stats.n_traces == 0);
  CHECK(compiled.text(Stage::running).find("fused") != std::string::npos);
  CHECK(as_recorded.text(Stage::running).find("fused") == std::string::npos);
}

TEST_CASE("segments: what the caller has already, and a few kernels, are no plans", "[engine]") {
  const Compiled twice = compile([](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]);
    const double first = number(x[0]), second = number(x[0] * 2.0), third = y.data<double>()[0];
    return {y * (first + second + third + y.data<double>()[1])};
  });
  Counts counts(twice);
  for (int i = 0; i < 2; ++i) static_cast<void>(twice({row({1, 2})}));
  CHECK(counts.take() == Is{1, 7, 1, 1});
  static_cast<void>(twice({row({1, 2})}));
  CHECK(counts.take() == Is{1, 3, 0, 1});
}

TEST_CASE("segments: reading several values at once closes one segment", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensors both{wave(x[0]), wave(x[0] * 3.0)};
    eval(both);
    return {wave(both[0] * both[1].data<double>()[1] + both[0].data<double>()[0])};
  };
  const Compiled compiled = compile(f);
  Counts counts(compiled);
  for (const double x : {1.0, 2.0, 3.0, 4.0}) CHECK(same_bits(compiled({row({x, 1})}), f({row({x, 1})})));
  const Is taken = counts.take();
  CHECK(taken[0] == 6);
  CHECK(taken[1] == 2);
  CHECK(taken[2] == 3);  // the numbers in the second one become inputs
}

TEST_CASE("segments: numbers in the code that change become inputs once", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {  // steps shorten until they go down
    Tensor at = x[0];
    double step = 3.0, best = number(square(at));
    for (int turn = 0; turn < 12; ++turn) {
      const Tensor next = at - sin(at) * cos(at) * step * 2.0;
      const double value = number(square(next));
      if (value < best)
        at = next, best = value;
      else
        step *= 0.7;
    }
    return {at * 1.0};
  };
  const Compiled compiled = compile(f);
  for (int i = 0; i < 4; ++i) {
    const Tensors x{drawn({5000}, static_cast<std::uint64_t>(i)) * 2.0};
    CHECK(same_bits(compiled(x), f(x)));
  }
  CHECK(compiled.stats().n_plans == 2);
  CHECK(compiled.stats().n_segments > 40);
}

TEST_CASE("segments: loops whose turns depend on data share their plans", "[engine]") {
  const Function root = [](const Tensors& x) -> Tensors {
    Tensor y = x[0] * 0.5 + 1.0;
    while (true) {
      const Tensor next = 0.5 * (y + x[0] / y);
      if (max(abs(next - y)).item<double>() < 1e-12) return {next};
      y = next;
    }
  };
  const Compiled compiled = compile(root);
  for (int i = 1; i < 6; ++i) {
    const Tensors x{abs(drawn({5000}, static_cast<std::uint64_t>(i))) * std::pow(10.0, i) + 1.0};
    CHECK(same_bits(compiled(x), root(x)));
  }
  CHECK(compiled.stats().n_plans == 2);  // the first turn has the first guess in it
  CHECK(compiled.stats().n_segments > 20);
}

namespace {

/// A function of square matrices that reads values here and there and goes on as they say, the same for each
/// seed. It notes what it reads.
class MatrixReader {
 public:
  MatrixReader(DType dtype, std::uint64_t seed) : dtype_(dtype), seed_(seed) {}
  [[nodiscard]] Tensors inputs(std::uint64_t number) const {
    std::mt19937_64 random(seed_ + 1000 * number);  // with zeros, infinities and NaN now and then
    const Tensor any = number == 2 ? tests::drawn(dtype_, {n, n}, random) : drawn({n, n}, random(), dtype_);
    return {any, transpose(drawn({n, n}, random(), dtype_)).eval()};
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
      : reads_(reads), net_{Linear(3, 8, initial_), BatchNorm(8, initial_), Dropout(0.25, initial_),
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
  return {drawn({6, 3}, i + 1, DType::f32), drawn({6, 1}, i + 50, DType::f32)};
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
  Counts counts(step);
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
    double result = 0.0;
    for (const bool first : {true, false}) {
      message.clear();
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
      const Tensors x{drawn({n}, static_cast<std::uint64_t>(i) + 1)};
      const Tensors right = f(x);
      const std::string expected = message;
      CHECK(same_bits(compiled(x), right));
      CHECK(message == expected);
      CHECK(message.empty() == (n == 8));
    }
  }
  CHECK(compiled.stats().n_segments > 5);
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
    const Tensors x{drawn({4}, i + 1)};
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
    const Tensors given = outer(x);
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
    const Tensors chosen =
        cond(greater(big, 0.0), [](const Tensors& in) -> Tensors { return {in[0] * 2.0, transpose(in[0])}; },
             [](const Tensors& in) -> Tensors { return {in[0] + 1.0, transpose(in[0] * 3.0)}; }, {both});
    const double second = number(chosen[1]);
    return {all.variance * second, wave(chosen[0]), chosen[1]};
  };
  const Compiled compiled = compile(f, {.breaks = Breaks::counted});
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Tensors x{drawn({7, 3}, i + 1)};
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
  const Tensor shared = transpose(drawn({4, 4}, 77)).eval();
  constexpr std::uint64_t n_threads = 4, n_calls = 25;
  std::array<int, n_threads> n_wrong{};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < n_threads; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < n_calls; ++i) {
        const Tensors x{drawn({4, 4}, 100 * t + i), shared};
        n_wrong[t] += same_bits(compiled(x), f(x)) ? 0 : 1;
      }
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(std::ranges::count(n_wrong, 0) == n_threads);
  CHECK(compiled.stats().n_segments > 50);
  CHECK(compiled.stats().breaks[0].n == n_threads * n_calls);
}

TEST_CASE("segments: the plan goes that was not used for the longest time, none that the call needs",
          "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (Dim i = 1; i < 4; ++i) {  // a segment of its own in every turn
      y = wave(reshape(y, {i, 12 / i}));
      if (number(y) == 0.0) break;
    }
    return {y};
  };
  const Tensors x{drawn({12}, 3)}, y{drawn({12}, 3, DType::f64) * 2.0};
  const Compiled roomy = compile(f), narrow = compile(f, {.most_plans = 2});
  Counts counts(roomy), of_narrow(narrow);
  const auto n_warnings = [&](const Compiled& compiled) {
    return tests::warnings_of([&] {
             for (int i = 0; i < 4; ++i) CHECK(same_bits(compiled(x), f(x)));
           }).size();
  };
  CHECK(n_warnings(roomy) == 0);
  CHECK(counts.take() == Is{9, 3, 3, 9});  // nothing is left to run at the end
  CHECK(n_warnings(narrow) == 0);
  CHECK(of_narrow.take() == Is{6, 6, 2, 6});
  // Others take the places in later calls.
  const Function by_shape = [](const Tensors& in) -> Tensors {
    return {in[0] * number(wave(in[0]))};
  };
  const Compiled changing = compile(by_shape, {.most_plans = 2});
  const auto warnings = tests::warnings_of([&] {
    for (const Dim n : {2, 3, 4, 4, 2, 3}) {
      for (std::uint64_t i = 0; i < 2; ++i) {
        const Tensors in{drawn({n}, i + 1)};
        CHECK(same_bits(changing(in), by_shape(in)));
      }
    }
  });
  CHECK(changing.stats().n_plans == 5);
  CHECK_FALSE(tests::text_with(warnings, "engine::compile#too_many_segments").empty());
}

TEST_CASE("segments: options hold for them, and who looks on sees every op", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor y = wave(x[0]) / 3.0;
    return {wave(y) / (number(y) > 0.0 ? 3.0 : 7.0)};
  };
  const Tensors x{drawn({64}, 5)};
  const Compiled fast = compile(f, {.exactness = Exactness::fast});
  const Compiled tight = compile([](const Tensors& in) -> Tensors {
    const Tensor y = matmul(wave(matmul(in[0], in[0])), in[0]);
    return {y * number(y)};
  }, {.budget = 8});
  const Tensors square{drawn({8, 8}, 5)};
  for (int i = 0; i < 3; ++i) {
    const Tensor right = f(x)[0], given = fast(x)[0];
    const auto a = right.data<double>(), b = given.data<double>();
    for (std::size_t k = 0; k < a.size(); ++k) CHECK(b[k] == Approx(a[k]).epsilon(1e-14));
    static_cast<void>(tight(square));
  }
  REQUIRE(fast.stats().liberties.size() == 1);
  CHECK(fast.stats().liberties[0].name == "x / c");
  CHECK(fast.text().find("divide") != std::string::npos);
  CHECK(fast.text(Stage::rewritten).find("divide") == std::string::npos);
  CHECK(tight.stats().n_segments == 0);  // no plan fits into so few bytes
  const Compiled compiled = compile(f);
  for (int i = 0; i < 2; ++i) static_cast<void>(compiled(x));
  const CompileStats before = compiled.stats();
  CHECK(n_kernels([&] { eval(compiled(x)); }) == n_kernels([&] { eval(f(x)); }));
  CHECK(compiled.stats().n_segments == before.n_segments);
  CHECK(compiled.stats().n_op_by_op == before.n_op_by_op);
}

TEST_CASE("segments: thousands of ops without a read are cut where a run op by op evaluates", "[engine]") {
  const Function f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0] * number(x[0]);
    for (int i = 0; i < most_pending + 100; ++i) y = sin(y);
    return {y};
  };
  const Compiled compiled = compile(f);
  const Tensors x{row({1, 2})};
  const Tensors right = f(x);
  for (int i = 0; i < 3; ++i) CHECK(same_bits(compiled(x), right));
  CHECK(compiled.stats().n_plans == 2);
  CHECK(compiled.stats().n_segments == 4);
}

// ---- What decides on a plan ------------------------------------------------------------------------------

namespace {

/// Nodes that a tensor needs, as they would run.
SegmentNodes nodes_of(const Tensor& result, bool all_leave = false) {
  std::vector<Node*> found{&result.node()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const NodePtr& input : found[i]->inputs) {
      if (!input->is_evaluated() && std::ranges::find(found, input.get()) == found.end())
        found.push_back(input.get());
    }
  }
  SegmentNodes nodes;
  nodes.take(found, all_leave);
  return nodes;
}

}  // namespace

TEST_CASE("segments: what leaves one is what has an owner beside it", "[engine]") {
  const Tensor x = row({1, 2});
  const auto n_leaving = [](const SegmentNodes& nodes) { return nodes.leaving().size(); };
  const Tensor y = wave(wave(x));
  CHECK(n_leaving(nodes_of(y)) == 1);
  CHECK(n_leaving(nodes_of(y, true)) == nodes_of(y).nodes().size());
  const Tensor z = square(y);
  CHECK(n_leaving(nodes_of(y * y)) == 2);            // z needs y
  const Tensor sum_of_all = [&] { return square(x) * z; }();
  CHECK(n_leaving(nodes_of(sum_of_all)) == 3);  // and so does this variable
  const Tensor both = [&] {
    const Tensor inside = sin(x);
    return inside * inside + inside;
  }();
  CHECK(n_leaving(nodes_of(both)) == 1);
  const auto held = std::make_unique<NodePtr>(both.node().inputs[1]);
  CHECK(n_leaving(nodes_of(both)) == 2);
  CHECK(nodes_of(both).is_leaving(0));
}

TEST_CASE("segments: one difference anywhere is another program", "[engine]") {
  using Match = SegmentCode::Match;
  const Tensor x = drawn({3, 3}, 1), y = drawn({3, 3}, 2), turned = transpose(drawn({3, 3}, 3)).eval();
  const auto recorded = [](const Tensor& in, int axis, double factor, bool adds, const Tensor& other) {
    const Tensor first = sum(sin(in) * factor, Axes{axis}, Keep::yes);
    return adds ? first + other : first - other;
  };
  const Tensor right = recorded(x, 0, 2.0, true, y);
  const SegmentNodes nodes = nodes_of(right);
  const SegmentCode code(nodes);
  const auto match = [&](const Tensor& result) { return code.match(nodes_of(result)); };
  CHECK(match(recorded(x, 0, 2.0, true, y)) == Match::same);
  CHECK(match(recorded(y, 0, 2.0, true, x)) == Match::same);
  CHECK(match(recorded(x, 1, 2.0, true, y)) == Match::none);
  CHECK(match(recorded(x, 0, 2.0, false, y)) == Match::none);
  CHECK(match(recorded(x, 0, 2.0, true, x)) == Match::none);
  CHECK(match(recorded(turned, 0, 2.0, true, y)) == Match::none);
  CHECK(match(recorded(cast(x, DType::f32).eval(), 0, 2.0, true, cast(y, DType::f32).eval())) == Match::none);
  CHECK(match(recorded(drawn({4, 3}, 1), 0, 2.0, true, y)) == Match::none);
  CHECK(match(sin(right)) == Match::none);
  const Tensor again = recorded(x, 0, 2.0, true, y);
  const NodePtr owner = again.node().inputs[1];
  CHECK(match(again) == (owner->is_evaluated() ? Match::same : Match::none));
  // Numbers are part of the program, until others come.
  const Tensor thrice = recorded(x, 0, 3.0, true, y);
  CHECK(match(thrice) == Match::but_for_numbers);
  CHECK(code.inputs(nodes).size() == 2);
  SegmentCode freed = code;
  freed.free_numbers(nodes_of(thrice));
  CHECK(freed.match(nodes_of(thrice)) == Match::same);
  CHECK(freed.match(nodes) == Match::same);
  CHECK(freed.inputs(nodes).size() == 3);
  const Program program = code.program(nodes), of_freed = freed.program(nodes);
  CHECK(program.n_inputs() == 2);
  CHECK(of_freed.n_inputs() == 3);
  CHECK_FALSE(program.same(of_freed));
}
