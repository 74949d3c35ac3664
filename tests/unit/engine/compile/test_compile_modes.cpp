// SPDX-License-Identifier: Apache-2.0
// Which modes of modules decide on the plan of a compiled function, and keys that forget what decides.
#include "engine/compile/compile.hpp"
#include "engine/compile/key.hpp"
#include "engine/core/parallel.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::same_bits;

TEST_CASE("compile: the modes that a function asks or sets decide, those of other modules do not",
          "[engine]") {
  InitialValues initial(1);
  const Linear linear(3, 3, initial);
  const BatchNorm norm(3, initial), other(3, initial);
  const Tensor x = Tensor::from(std::vector<float>{1, 2, 3, 5, 7, 11}, {2, 3});
  const Compiled asks = compile([&](const Tensors& in) -> Tensors { return {norm(linear(in[0]))}; });
  const Compiled sets = compile([&](const Tensors& in) -> Tensors {
    const InMode evaluation(norm, Mode::evaluation);
    return {norm(in[0])};
  });
  const Compiled sets_then_asks = compile([&](const Tensors& in) -> Tensors {
    static_cast<void>(InMode(norm, Mode::evaluation));
    return {norm(in[0])};
  });
  for (int i = 0; i < 3; ++i) {
    for (const Compiled& each : {asks, sets, sets_then_asks}) static_cast<void>(each({x}));
    other.set_mode(i == 0 ? Mode::evaluation : Mode::training);
  }
  for (const Compiled& each : {asks, sets, sets_then_asks}) CHECK(each.stats().n_traces == 1);
  norm.set_mode(Mode::evaluation);
  CHECK(same_bits(sets_then_asks({x})[0], norm(x)));
  CHECK(sets_then_asks.stats().n_traces == 2);
  // Read from a value, so it runs op by op in either mode, and finds that out once in each.
  int n_calls = 0;
  const Compiled reads = compile([&](const Tensors& in) -> Tensors {
    ++n_calls;
    const Tensor y = norm(in[0]);
    return {sum(y).item<float>() > 0.0F ? y : -y};
  });
  for (int i = 0; i < 3; ++i) {
    for (const Mode mode : {Mode::training, Mode::evaluation}) {
      norm.set_mode(mode);
      static_cast<void>(reads({x}));
    }
  }
  REQUIRE(reads.stats().breaks.size() == 1);
  CHECK(reads.stats().breaks[0].n == 6);
  CHECK(n_calls == 6 + 2);
}

namespace {

Key key_of(const Tensors& inputs, const std::string& form = "", std::vector<HostChoice> choices = {}) {
  return Key::of(inputs, inputs.size(), form, std::move(choices));
}

}  // namespace

TEST_CASE("key: one that forgets dtype or strides gives a plan that refuses the call", "[engine]") {
  const Tensors turned{transpose(Tensor::from(std::vector<double>{1, 2, 3, 4}, {2, 2})).eval()};
  const Tensors of_f64{Tensor::from(std::vector<double>{1, 2, 3, 4}, {2, 2}).eval()};
  const Tensors of_f32{cast(of_f64[0], DType::f32).eval()};
  const Function f = [](const Tensors& in) -> Tensors { return {in[0] * in[0]}; };
  const auto plan = tests::plan_of(f, of_f64);
  const auto check = [&](const Tensors& others, const auto& forget) {
    Key key = key_of(of_f64);
    CHECK_FALSE(key.fits(others, 0));
    CHECK(key.difference(key_of(others), std::source_location::current()).has_value());
    forget(key);
    REQUIRE(key.fits(others, 0));
    CHECK_FALSE(key.difference(key_of(others), std::source_location::current()).has_value());
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(plan->run(others)); }),
               HasId("wrong_input"));
  };
  check(of_f32, [](Key& key) { key.inputs[0].aval.dtype = DType::f32; });
  check(turned, [](Key& key) { key.inputs[0].strides = {1, 2}; });
}

TEST_CASE("key: one that forgets the mode of a module, or the form of arguments, gives other bits",
          "[engine]") {
  InitialValues initial(1);
  const BatchNorm norm(3, initial);
  const Tensors x{Tensor::from(std::vector<float>{1, 2, 3, 5, 7, 11}, {2, 3}).eval()};
  norm.set_mode(Mode::evaluation);
  std::vector<HostChoice> choices;
  std::unique_ptr<Plan> plan;
  {
    const HostStateScope scope;
    plan = tests::plan_of([&](const Tensors& in) -> Tensors { return {norm(in[0])}; }, x);
    choices = scope.choices();
  }
  Key key = key_of(x, "", choices);
  CHECK(key.fits_process());
  CHECK(same_bits(plan->run(x), {norm(x[0])}));
  norm.set_mode(Mode::training);
  CHECK_FALSE(key.fits_process());
  CHECK(key.difference(key, std::source_location::current())->cause == Cause::host_state);
  key.choices.clear();
  REQUIRE(key.fits_process());
  CHECK_FALSE(same_bits(plan->run(x), {norm(x[0])}));

  const auto times = [](double factor) -> Function {
    return [factor](const Tensors& in) -> Tensors { return {in[0] * factor}; };
  };
  Key of_two = key_of(x, "2");
  const Key of_three = key_of(x, "3");
  CHECK(of_two.difference(of_three, std::source_location::current())->cause == Cause::form);
  of_two.form = of_three.form;
  REQUIRE_FALSE(of_two.difference(of_three, std::source_location::current()).has_value());
  CHECK_FALSE(same_bits(tests::plan_of(times(2), x)->run(x), times(3)(x)));
}

TEST_CASE("key: one that forgets the number of threads gives a plan that refuses more", "[engine]") {
  const Tensors x{Tensor::from(std::vector<double>{1, 2}, {2}).eval()};
  const auto plan = tests::plan_of([](const Tensors& in) -> Tensors { return {in[0] * in[0]}; }, x);
  Key key = key_of(x);
  const int before = core::threads();
  core::set_threads(before + 1);
  CHECK_FALSE(key.fits_process());
  key.n_threads = before + 1;
  CHECK(key.fits_process());
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(plan->run(x)); }),
             HasId("more_threads"));
  core::set_threads(before);
}
