// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/implicit.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

struct Calls {
  int solvers = 0, solves = 0, adjoint_solves = 0, alive = 0;
  Dim right_hand_sides = 0;
};
constexpr std::size_t held = 1 << 20;

/// A diagonal F_u of any dtype, which counts.
class Diagonal final : public ImplicitFactors {
 public:
  Diagonal(Calls& calls, Tensor diagonal) : calls_(calls), diagonal_(std::move(diagonal)) { ++calls_.alive; }
  ~Diagonal() override { --calls_.alive; }
  std::size_t bytes() const override { return held; }
  Tensor solve(const Tensor& b) const override {
    ++calls_.solves;
    calls_.right_hand_sides += b.dim(0);
    return b / diagonal_;
  }
  Tensor solve_adjoint(const Tensor& b) const override {
    ++calls_.adjoint_solves;
    calls_.right_hand_sides += b.dim(0);
    return b / conj(diagonal_);
  }

 private:
  Calls& calls_;
  Tensor diagonal_;
};

/// u² = m, solved elsewhere: by the standard library.
Function square_root(Calls& calls, DType dtype, Shape shape = {3}) {
  const auto solve = [&calls](const Tensors& m) -> Solution {
    ++calls.solvers;
    const Tensor u = sqrt(m[0]).eval();
    return {u, std::make_unique<Diagonal>(calls, (2.0 * u).eval())};
  };
  return implicit(
      {"root", shape, dtype, [](const Tensor& u, const Tensors& m) { return square(u) - m[0]; }, solve});
}

}  // namespace

TEST_CASE(
    "implicit: value and gradient cost one solver call and one adjoint solve, after which nothing is held",
    "[engine]") {
  Calls calls;
  const std::size_t before = Arena::of(default_device()).stats().in_use;
  {
    const Function root = square_root(calls, DType::f64);
    const auto [value, gradients] = value_and_grad(
        [&](const Tensors& m) -> Tensors { return {sum(root({square(m[0])})[0])}; }, {row({1, 2, 3})});
    CHECK(value.item<double>() == 6.0);
    CHECK(gradients[0].to_vector<double>() == std::vector<double>{1, 1, 1});
  }
  CHECK(calls.solvers == 1);
  CHECK(calls.solves == 0);
  CHECK(calls.adjoint_solves == 1);
  CHECK(calls.right_hand_sides == 1);
  CHECK(calls.alive == 0);
  CHECK(Arena::of(default_device()).stats().in_use < before + held);
}

TEST_CASE("implicit: k directions are one solve with k right-hand sides, forward and in reverse",
          "[engine]") {
  for (const JacobianMode mode : {JacobianMode::forward, JacobianMode::reverse}) {
    Calls calls;
    const Function root = square_root(calls, DType::f64);
    const Tensor whole = jacobian([&](const Tensor& m) { return root({m})[0]; }, row({1, 4, 16}), mode);
    CHECK(whole.to_vector<double>() == std::vector<double>{0.5, 0, 0, 0, 0.25, 0, 0, 0, 0.125});
    CHECK(calls.solvers == 1);
    CHECK(calls.solves + calls.adjoint_solves == 1);
    CHECK(calls.right_hand_sides == 3);
  }
}

TEST_CASE("implicit: of complex numbers the reverse is the adjoint", "[engine]") {
  Calls calls;
  const Function root = square_root(calls, DType::c128, {1});
  const Tensor m = full({1}, {3.0, 4.0}, DType::c128);
  const Linearized at = linearize(root, {m});
  const std::complex<double> u = std::sqrt(std::complex<double>(3.0, 4.0)), w(0.3, -0.7);
  CHECK(std::abs(at.value()[0].item<std::complex<double>>() - u) < 1e-15);
  CHECK(std::abs(at.jvp({full({1}, w, DType::c128)})[0].item<std::complex<double>>() - w / (2.0 * u)) <
        1e-15);
  CHECK(std::abs(at.vjp({full({1}, w, DType::c128)})[0].item<std::complex<double>>() -
                 w / std::conj(2.0 * u)) < 1e-15);
}

TEST_CASE("implicit: second derivatives use the same factorisation", "[engine]") {
  Calls calls;
  const Function root = square_root(calls, DType::f64);
  const Tensor curvature =
      hessian_product([&](const Tensor& m) { return sum(root({m})[0]); }, row({1, 4, 16}), row({1, 1, 1}));
  const auto values = curvature.to_vector<double>();
  CHECK(values[0] == Approx(-0.25));
  CHECK(values[2] == Approx(-0.25 / 64.0));
  CHECK(calls.solvers == 1);
}

TEST_CASE("implicit: a batch of parameters is solved one by one, each with its right-hand sides together",
          "[engine]") {
  Calls calls;
  const Function root = square_root(calls, DType::f64);
  const Tensor table = reshape(row({1, 4, 16, 4, 64, 1}), {2, 3});
  const auto slopes = [&](const Tensor& m) {
    return jacobian([&](const Tensor& each) { return root({each})[0]; }, m);
  };
  const Tensor together = vmap(slopes)(table);
  CHECK(calls.solvers == 2);
  CHECK(calls.solves == 2);
  CHECK(calls.right_hand_sides == 6);
  CHECK(slice(together, 0, 1, 2).to_vector<double>() == slopes(row({4, 64, 1})).to_vector<double>());
}

TEST_CASE(
    "implicit: a solver may look at tensors that the function made, whose own derivative stays what it is",
    "[engine]") {
  Calls calls;
  const auto f = [&](const Tensor& x) {
    const Tensor y = 2.0 * x;
    const auto solve = [&](const Tensors& m) -> Solution {
      const double scale = y.data<double>()[0] > 0.0
                               ? 1.0
                               : -1.0;  // the solver's choice of the root; y is recorded, and runs here
      return {(scale * sqrt(m[0])).eval(),
              std::make_unique<Diagonal>(calls, (2.0 * scale * sqrt(m[0])).eval())};
    };
    const Function root = implicit(
        {"root", {1}, DType::f64, [](const Tensor& u, const Tensors& m) { return square(u) - m[0]; }, solve});
    return sum(root({stop_gradient(square(x))})[0] + y);
  };
  CHECK(grad(f)(row({3})).to_vector<double>() == std::vector<double>{2});
}

TEST_CASE("implicit: what a solver evaluates does not write over constants that a derivative still needs",
          "[engine]") {
  Calls calls;
  const auto f = [&](const Tensor& x) {
    const Tensor y = x * row({2});  // the product could take the constant's memory
    const auto solve = [&](const Tensors& m) -> Solution {
      const double scale = y.data<double>()[0] > 0.0 ? 1.0 : -1.0;
      return {(scale * sqrt(m[0])).eval(),
              std::make_unique<Diagonal>(calls, (2.0 * scale * sqrt(m[0])).eval())};
    };
    const Function root = implicit(
        {"root", {1}, DType::f64, [](const Tensor& u, const Tensors& m) { return square(u) - m[0]; }, solve});
    return sum(root({stop_gradient(square(x))})[0] + y);
  };
  CHECK(grad(f)(row({3})).to_vector<double>() == std::vector<double>{2});
}

TEST_CASE("implicit: errors name the problem and what came from whom", "[engine]") {
  Calls calls;
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(square_root(calls, DType::f64, {2})({row({1, 2, 3})}));
             }),
             HasId("wrong_solution", {"[implicit]", "root", "f64[2]", "f64[3]"}));
  const auto no_factors = [](const Tensors& m) -> Solution { return {m[0], nullptr}; };
  const auto residual = [](const Tensor& u, const Tensors& m) {
    return concatenate(Tensors{u - m[0], u}, 0);
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(implicit({"none", {1}, DType::f64, residual, no_factors})({row({1})}));
             }),
             HasId("incomplete_solution", {"none:"}));
  const auto solve = [&](const Tensors& m) -> Solution {
    return {m[0], std::make_unique<Diagonal>(calls, m[0])};
  };
  const Function wrong = implicit({"wrong", {1}, DType::f64, residual, solve});
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(grad([&](const Tensor& m) { return sum(wrong({m})[0]); })(row({1})));
             }),
             HasId("wrong_equation_count", {"wrong", "f64[1]", "f64[2]"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(implicit({"empty", {1}, DType::f64, residual, {}}));
             }),
             HasId("no_function", {"\"empty\"", "(test_implicit.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(implicit({"integers", {1}, DType::i32, residual, solve}));
             }),
             HasId("wrong_dtype", {"\"integers\"", "i32"}));
}
