// SPDX-License-Identifier: Apache-2.0
// Steps of training as compiled functions: one recording serves all of them, and ends in the bytes of the
// plain loop.
#include "engine/compile/compile.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/feed.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::same_bits;

namespace {

using Numbers = std::vector<double>;
using MakeOptimizer = std::function<std::shared_ptr<const Optimizer>(const Module&)>;
constexpr int n_steps = 10;

/// A perceptron with batch norm and dropout, and what trains it.
class Training {
 public:
  Training(DType dtype, const MakeOptimizer& make)
      : initial_(3, dtype),
        net_{Linear(3, 8, initial_), BatchNorm(8, initial_), engine::tanh, Dropout(0.25, initial_),
             Linear(8, 1, initial_)},
        optimizer_(make(net_)),
        dtype_(dtype) {}
  [[nodiscard]] const Optimizer& optimizer() const { return *optimizer_; }
  /// Returns a batch of inputs and targets.
  [[nodiscard]] Tensors batch(int i) const {
    Numbers x, y;
    for (int k = 0; k < 12; ++k) x.push_back(std::sin(0.7 * (k + 12 * i)));
    for (int k = 0; k < 4; ++k) y.push_back(x[static_cast<std::size_t>(3 * k)] * x[1]);
    return {cast(Tensor::from(x, {4, 3}), dtype_), cast(Tensor::from(y, {4, 1}), dtype_)};
  }
  /// One step on a batch; returns the loss.
  [[nodiscard]] Tensors step(const Tensors& batch) const {
    const auto loss = [&] { return mean_squared_error(net_(batch[0]), batch[1]); };
    const auto [value, gradients] = value_and_grad(loss, optimizer_->trained());
    optimizer_->step(clipped_by_norm(gradients, 0.5));
    return {value};
  }
  /// Returns losses of some steps.
  [[nodiscard]] Tensors run(const Function& by, int first = 0, int last = n_steps) const {
    Tensors result;
    for (int i = first; i < last; ++i) result.push_back(by(batch(i))[0].eval());
    return result;
  }
  /// Returns all state by name.
  [[nodiscard]] NamedTensors state() const {
    NamedTensors all = net_.state();
    for (const auto& [name, tensor] : optimizer_->state()) all.emplace("optimizer." + name, tensor);
    return all;
  }
  void load_state(const Training& other) const {
    net_.load_state(other.net_.state());
    optimizer_->load_state(other.optimizer_->state());
  }

 private:
  InitialValues initial_;
  Sequential net_;
  std::shared_ptr<const Optimizer> optimizer_;
  DType dtype_;
};

template <class O, class Options>
MakeOptimizer made_with(const Options& options) {
  return [=](const Module& net) { return std::make_shared<const O>(net, options); };
}

bool same_state(const Training& a, const Training& b) {
  const NamedTensors x = a.state(), y = b.state();
  return std::ranges::equal(x, y, [](const auto& one, const auto& other) {
    return one.first == other.first && same_bits(one.second, other.second);
  });
}

void expect_one_recording(const std::string& name, DType dtype, const MakeOptimizer& make) {
  INFO(name << ", " << core::name_of(dtype));
  const Training plain(dtype, make), compiled(dtype, make);
  const Compiled step =
      compile([&](const Tensors& batch) { return compiled.step(batch); }, {.breaks = Breaks::refused});
  const Tensors right = plain.run([&](const Tensors& batch) { return plain.step(batch); });
  CHECK(same_bits(compiled.run(step), right));
  CHECK(same_state(compiled, plain));
  CHECK(compiled.optimizer().n_steps() == n_steps);
  CHECK(step.stats().n_traces == 1);
  CHECK(step.stats().n_hits == n_steps - 1);
  CHECK(step.stats().recompiles.empty());
}

}  // namespace

TEST_CASE("compiled training: one recording serves all steps of every optimizer", "[engine]") {
  const Schedule rate = warm_up(3, cosine_decay({.rate = 0.05, .n_steps = 8}));
  for (const DType dtype : {DType::f32, DType::f64}) {
    expect_one_recording("Sgd", dtype, made_with<Sgd>(SgdOptions{.learning_rate = rate}));
    expect_one_recording(
        "Nesterov", dtype,
        made_with<Sgd>(SgdOptions{
            .learning_rate = rate, .momentum = 0.9, .kind = Momentum::nesterov, .weight_decay = 0.01}));
    expect_one_recording("Adam", dtype,
                         made_with<Adam>(AdamOptions{.learning_rate = rate, .weight_decay = 0.01}));
    expect_one_recording("AdamW", dtype,
                         made_with<AdamW>(AdamOptions{.learning_rate = rate, .weight_decay = 0.1}));
  }
}

TEST_CASE("compiled training: complex parameters", "[engine]") {
  struct Point : Module {
    Variable z = add_parameter("z", complex(row({1, -2}), row({0.5, 3})));
  };
  const auto trained = [](bool is_compiled) {
    const Point point;
    const Adam adam(point, {.learning_rate = exponential_decay({.rate = 0.1, .factor = 0.9})});
    const Function step = [&](const Tensors&) -> Tensors {
      adam.step(
          value_and_grad([&] { return sum(squared_modulus(point.z.value() - 1.0)); }, {point.z}).gradients);
      return {};
    };
    const Compiled compiled = compile(step);
    for (int i = 0; i < n_steps; ++i) static_cast<void>(is_compiled ? compiled({}) : step({}));
    CHECK(compiled.stats().n_traces == (is_compiled ? 1 : 0));
    return point.z.value().eval();
  };
  CHECK(same_bits(trained(true), trained(false)));
}

TEST_CASE("compiled training: the host changes the rate, and a state that was saved is gone on from",
          "[engine]") {
  const MakeOptimizer make =
      made_with<Adam>(AdamOptions{.learning_rate = step_decay({.rate = 0.1, .every = 4, .factor = 0.5})});
  const Training plain(DType::f32, make), first(DType::f32, make), second(DType::f32, make);
  const Function by_plain = [&](const Tensors& batch) { return plain.step(batch); };
  static_cast<void>(plain.run(by_plain, 0, 6));
  plain.optimizer().scale_learning_rate(0.25);
  static_cast<void>(plain.run(by_plain, 6));

  const Compiled of_first = compile([&](const Tensors& batch) { return first.step(batch); });
  static_cast<void>(first.run(of_first, 0, 6));
  first.optimizer().scale_learning_rate(0.25);
  static_cast<void>(first.run(of_first, 6));
  CHECK(same_state(first, plain));
  CHECK(of_first.stats().n_traces == 1);

  const Training start(DType::f32, make);
  static_cast<void>(start.run([&](const Tensors& batch) { return start.step(batch); }, 0, 6));
  start.optimizer().scale_learning_rate(0.25);
  const Compiled of_second = compile([&](const Tensors& batch) { return second.step(batch); });
  static_cast<void>(second.run(of_second, 0, 2));
  second.load_state(start);
  static_cast<void>(second.run(of_second, 6));
  CHECK(same_state(second, plain));
  CHECK(of_second.stats().n_traces == 1);
}

TEST_CASE("compiled training: several steps in one call count one after the other", "[engine]") {
  const MakeOptimizer make =
      made_with<Adam>(AdamOptions{.learning_rate = exponential_decay({.rate = 0.1, .factor = 0.5})});
  const Training plain(DType::f64, make), compiled(DType::f64, make);
  const auto two_steps = [](const Training& training, const Tensors& batch) {
    static_cast<void>(training.step(batch));
    return training.step(batch);
  };
  const Compiled step = compile([&](const Tensors& batch) { return two_steps(compiled, batch); });
  static_cast<void>(plain.run([&](const Tensors& batch) { return two_steps(plain, batch); }));
  static_cast<void>(compiled.run(step));
  CHECK(same_state(compiled, plain));
  CHECK(compiled.optimizer().n_steps() == 2 * n_steps);
  CHECK(step.stats().n_traces == 1);
}

TEST_CASE("compiled training: a step whose number the host cannot know is refused", "[engine]") {
  const Training training(DType::f64, made_with<Sgd>(SgdOptions{}));
  const Function inside = [&](const Tensors& batch) {
    return checkpoint([&](const Tensors& x) { return training.step(x); })(batch);
  };
  const Compiled compiled = compile(inside);
  for (const Function& each : {inside, Function(compiled)}) {
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(each(training.batch(0))); }),
               HasId("unknown_step", {"(test_compiled_training.cpp:"}));
  }
}

TEST_CASE("fed: the host gives a number before every run", "[engine]") {
  double number = 2.0;
  int n_calls = 0;
  const auto scaled = [&](const Tensor& x) {
    return x * fed([&] { return ++n_calls, Number(number); }, DType::f64);
  };
  CHECK(scaled(row({3})).item<double>() == 6.0);
  const Compiled compiled = compile([&](const Tensors& x) -> Tensors {
    static_cast<void>(fed([&] { return ++n_calls, Number(0); }));  // nobody needs it
    return {checkpoint([&](const Tensors& in) -> Tensors { return {scaled(in[0])}; })(x)[0] + scaled(x[0])};
  });
  n_calls = 0;
  for (const double each : {5.0, 7.0, 11.0}) {
    number = each;
    CHECK(compiled({row({3})})[0].item<double>() == 6.0 * each);
  }
  CHECK(n_calls == 6);
  CHECK(compiled.stats().n_traces == 1);
  const Compiled twice = compile([&](const Tensors&) -> Tensors {
    return {fed([&] { return Number(2 * number); }, DType::i32), fed([&] { return Number(number); })};
  });
  CHECK(twice({})[0].item<std::int32_t>() == 22);
  CHECK(twice({})[1].item<double>() == 11.0);
  CHECK_THAT(error_of<core::InvalidArgument>([] { static_cast<void>(fed({})); }),
             HasId("no_function", {"(test_compiled_training.cpp:"}));
}

// ---- State in sub-graphs
// -----------------------------------------------------------------------------------

namespace {

/// Two layers with a batch norm and a dropout between them, which assign cells.
struct Net {
  Net() : net{Linear(3, 8, initial), BatchNorm(8, initial), Dropout(0.5, initial), Linear(8, 1, initial)} {}
  [[nodiscard]] Tensors operator()(const Tensors& x) const { return {net(x[0])}; }
  /// Returns the gradient of Σ f², by parameters, and all state afterwards.
  [[nodiscard]] Tensors gradients_and_state(const Function& f, const Tensor& x) const {
    return with_state(value_and_grad([&] { return sum(square(f({x})[0])); }, net.parameters()).gradients);
  }
  /// Adds all state. A loop adds to zero, so that -0 becomes 0: so does it everywhere here.
  [[nodiscard]] Tensors with_state(Tensors all) const {
    for (const Variable& each : net.cells()) all.push_back(each.value());
    for (Tensor& each : all) each = each + 0;
    eval(all);
    return all;
  }
  InitialValues initial{3, DType::f64};
  Sequential net;
};

Tensor drawn(const Shape& shape, double scale = 1.0) {
  Numbers values;
  for (std::int64_t i = 0; i < shape.count(); ++i)
    values.push_back(std::sin(scale * static_cast<double>(i + 1)));
  return Tensor::from(values, shape);
}

/// f, recorded in one of several ways.
using Wrap = std::function<Function(Function)>;
Function in_scan(const Function& f) {
  return [f](const Tensors& x) -> Tensors {
    const auto step = [&](const Tensors& carry, const Tensors& xt) -> Tensors {
      const Tensor y = f(xt)[0];
      return {carry[0] + y, y};
    };
    return {scan(step, {zeros({x[0].dim(0), 1}, DType::f64)}, {expand_dims(x[0], 0)}).carry[0]};
  };
}
Function in_cond(const Function& f) {
  return [f](const Tensors& x) -> Tensors {
    const auto no = [](const Tensors& in) -> Tensors { return {sum(in[0], Axes{1}, Keep::yes)}; };
    return cond(greater(sum(x[0] * x[0]), 0.0), f, no, x);
  };
}

}  // namespace

TEST_CASE("state in sub-graphs: batch norm and dropout train in checkpoints, loops and branches",
          "[engine]") {
  const Tensor x = drawn({5, 3});
  const Net plain;
  const Tensors right = plain.gradients_and_state(plain, x);
  const std::map<std::string, Wrap> ways{
      {"checkpoint", [](const Function& f) { return checkpoint(f); }},
      {"checkpoint in a checkpoint", [](const Function& f) { return checkpoint(checkpoint(f)); }},
      {"scan", in_scan},
      {"cond", in_cond},
      {"checkpoint in a loop", [](const Function& f) { return in_scan(checkpoint(f)); }}};
  for (const auto& [name, wrap] : ways) {
    INFO(name);
    const Net net, compiled_net;
    CHECK(same_bits(net.gradients_and_state(wrap(net), x), right));
    const Compiled step = compile(
        [&, f = wrap(compiled_net)](const Tensors& in) {
          return value_and_grad([&] { return sum(square(f(in)[0])); }, compiled_net.net.parameters())
              .gradients;
        },
        {.breaks = Breaks::refused});
    CHECK(same_bits(compiled_net.with_state(step({x})), right));
    static_cast<void>(step({x}));
    CHECK(step.stats().n_hits == 1);
  }
}

TEST_CASE("state in sub-graphs: a loop carries cells from step to step", "[engine]") {
  const Variable total("total", row({1}), Variable::Role::state),
      last("last", row({0}), Variable::Role::state), factor("factor", row({2})),
      unused("unused", row({9}), Variable::Role::state);
  const auto run = [&](const Tensors& in) -> Tensors {
    const auto step = [&](const Tensors& carry, const Tensors& x) -> Tensors {
      last.assign(x[0] * factor.value());
      total.assign(total.value() + last.value() + 0.0 * unused.value());
      return {carry[0] + total.value(), last.value()};
    };
    const Scanned scanned = scan(step, {row({0})}, in);
    return {scanned.carry[0], scanned.ys[0]};
  };
  const Compiled compiled = compile(run, {.breaks = Breaks::refused});
  const Tensor x = reshape(row({1, 2, 3}), {3, 1});
  for (const Function& each : {Function(run), Function(compiled), Function(compiled)}) {
    total.assign(row({1}));
    const Tensors given = each({x});
    CHECK(given[0].to_vector<double>() == Numbers{3 + 7 + 13});
    CHECK(given[1].to_vector<double>() == Numbers{2, 4, 6});
    CHECK(total.value().to_vector<double>() == Numbers{13});
    CHECK(last.value().to_vector<double>() == Numbers{6});
  }
  CHECK(compiled.stats().n_traces == 1);
  // The derivative goes through what cells carry: the result is 3 + 10 f.
  total.assign(row({1}));
  CHECK(value_and_grad([&] { return sum(run({x})[0]); }, {factor}).gradients[0].item<double>() == 10.0);
  const auto loses_carry = [&](const Tensors&, const Tensors& in) -> Tensors {
    total.assign(total.value() + in[0]);
    return {};
  };
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(scan(loses_carry, {row({0})}, {x})); }),
             HasId("carry_changes", {"none"}));
}

TEST_CASE("state in sub-graphs: a branch that is not taken changes no cell", "[engine]") {
  const Variable a("a", row({1}), Variable::Role::state), b("b", row({10}), Variable::Role::state);
  const auto run = [&](const Tensors& x) {
    const auto yes = [&](const Tensors& in) -> Tensors {
      a.assign(a.value() + in[0]);
      return {in[0]};
    };
    const auto no = [&](const Tensors& in) -> Tensors {
      b.assign(a.value() * in[0]);
      return {in[0]};
    };
    return cond(greater(sum(x[0]), 0.0), yes, no, x);
  };
  const Compiled compiled = compile(run, {.breaks = Breaks::refused});
  for (const Function& each : {Function(run), Function(compiled)}) {
    a.assign(row({1}));
    b.assign(row({10}));
    static_cast<void>(each({row({2})}));
    CHECK(a.value().item<double>() == 3.0);
    CHECK(b.value().item<double>() == 10.0);
    static_cast<void>(each({row({-4})}));
    CHECK(a.value().item<double>() == 3.0);
    CHECK(b.value().item<double>() == -12.0);
  }
  CHECK(compiled.stats().n_traces == 1);
}
