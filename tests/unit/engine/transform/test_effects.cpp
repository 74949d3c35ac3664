// SPDX-License-Identifier: Apache-2.0
// Ops that may be collective, inside of functions that nodes carry: each runs in the order in which it was
// recorded, and runs also if nobody needs its result.
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/custom.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/row.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::row;

namespace {

/// Simulations of one unknown that note their names when they run.
class Notes {
 public:
  Notes() = default;
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  /// Returns 2 x.
  Tensor twice(const std::string& name, const Tensor& x) {
    const auto value = [this, name](double t) { return taken_ += name, 2.0 * t; };
    return external(core::pointwise(name, 1, value, [](double) { return 2.0; }), x);
  }
  /// Returns the names of those that ran since the last call.
  std::string take() { return std::exchange(taken_, {}); }

 private:
  std::string taken_;
};

Tensor boolean(bool value) {
  return Tensor::from_bytes(std::as_bytes(std::span(&value, 1)), {{}, DType::b8});
}

}  // namespace

TEST_CASE("effects: run in the order of the calls, whatever the order of the results", "[engine]") {
  Notes notes;
  const Function f = checkpoint([&](const Tensors& x) -> Tensors {
    const Tensor a = notes.twice("a", x[0]), b = notes.twice("b", x[0]);
    return {b + 1.0, a};
  });
  const Tensors y = f({row({1})});
  CHECK(notes.take() == "ab");
  CHECK(y[0].item<double>() == 3.0);
}

TEST_CASE("effects: run once though nobody needs their result", "[engine]") {
  Notes notes;
  const auto idle = [&](const Tensors& x) -> Tensors {
    static_cast<void>(notes.twice("a", notes.twice("b", x[0] + 1.0)));
    return {3.0 * x[0]};
  };
  const Tensor x = row({1});
  CHECK(checkpoint(idle)({x})[0].item<double>() == 3.0);
  CHECK(notes.take() == "ba");
  CHECK(custom(idle, {"idle"})({x})[0].item<double>() == 3.0);
  CHECK(notes.take() == "ba");
  const auto nothing = [](const Tensors& in) -> Tensors { return {in[0]}; };
  CHECK(cond(boolean(true), idle, nothing, {x})[0].item<double>() == 3.0);
  CHECK(notes.take() == "ba");
  CHECK(cond(boolean(false), idle, nothing, {x})[0].item<double>() == 1.0);
  CHECK(notes.take().empty());
  const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    static_cast<void>(notes.twice("s", carry[0]));
    return {carry[0] + now[0]};
  };
  CHECK(scan(step, {row({0})}, {reshape(row({1, 2, 3}), {3, 1})}).carry[0].item<double>() == 6.0);
  CHECK(notes.take() == "sss");
}

TEST_CASE("effects: of functions inside of functions, and of batches", "[engine]") {
  Notes notes;
  const auto inner = [&](const Tensors& x) -> Tensors {
    static_cast<void>(notes.twice("i", x[0]));
    return {x[0]};
  };
  const Function outer = checkpoint([&](const Tensors& x) -> Tensors {
    const Tensor a = notes.twice("a", x[0]);
    const Tensor b = checkpoint(inner)(x)[0];
    // One whose argument belongs to the function around.
    const Tensor c = vmap([&](const Tensor& each) {
      static_cast<void>(notes.twice("c", x[0]));
      return each;
    })(x[0]);
    return {notes.twice("d", c), b, a};
  });
  CHECK(outer({row({1})})[0].item<double>() == 2.0);
  CHECK(notes.take() == "aicd");
  const auto as_row = [&](const Tensor& x) { return inner({reshape(x, {1})})[0]; };
  CHECK(vmap(as_row)(row({1, 2})).to_vector<double>() == std::vector<double>{1, 2});
  CHECK(notes.take() == "ii");
  const auto both = [&](const Tensor& x) { return checkpoint(inner)({reshape(x, {1})})[0]; };
  CHECK(vmap(both)(row({1, 2})).to_vector<double>() == std::vector<double>{1, 2});
  CHECK(notes.take() == "ii");
}

TEST_CASE("effects: derivatives compute again what they need only", "[engine]") {
  Notes notes;
  const auto idle = [&](const Tensors& x) -> Tensors {
    static_cast<void>(notes.twice("a", x[0]));
    return {square(x[0])};
  };
  const Tensor x = row({3});
  const auto slope = [&](const Function& f) {
    const double result = grad([&](const Tensor& at) { return sum(f({at})[0]); })(x).item<double>();
    const double forward = linearize(f, {x}).jvp({row({1})})[0].item<double>();
    CHECK(forward == result);
    return result;
  };
  const Function each = checkpoint(idle);
  CHECK(slope(each) == 6.0);
  CHECK(notes.take() == "aa");  // one per call
  CHECK(slope([&](const Tensors& in) { return cond(boolean(true), idle, idle, in); }) == 6.0);
  CHECK(notes.take() == "aa");
  const auto step = [&](const Tensors& carry, const Tensors& now) -> Tensors {
    static_cast<void>(notes.twice("s", carry[0]));
    return {carry[0] * now[0]};
  };
  CHECK(slope([&](const Tensors& in) {
          return scan(step, in, {reshape(row({2, 3}), {2, 1})}).carry;
        }) == 6.0);
  CHECK(notes.take() == "ssss");
  const auto curved = [&](const Tensor& at) { return sum(each({at})[0]); };
  CHECK(hessian_product(curved, x, row({1})).item<double>() == 2.0);
  CHECK(notes.take() == "a");
}
