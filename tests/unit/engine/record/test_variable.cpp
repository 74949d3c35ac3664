// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {
std::vector<double> held(const Variable& variable) { return variable.value().to_vector<double>(); }
}  // namespace

TEST_CASE("variable: copies name the same cell, whose shape and dtype stay", "[engine]") {
  const Variable a("a", row({1, 2}));
  const Variable b = a;
  b.assign(row({3, 4}));
  CHECK(held(a) == std::vector<double>{3, 4});
  CHECK(a == b);
  CHECK_FALSE(a == Variable("a", row({1, 2})));
  CHECK_THAT(error_of<core::ShapeError>([&] { a.assign(row({1})); }),
             HasId("wrong_tensor", {"f64[2]", "\"a\"", "f64[1]", "(test_variable.cpp:"}));
  CHECK_THROWS_AS(a.assign(cast(row({1, 2}), DType::f32)), core::ShapeError);
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(Variable("n", zeros({2}, DType::i32))); }),
      HasId("not_floating_point", {"\"n\"", "i32[2]"}));
}

TEST_CASE("value_and_grad of variables: gradients in their order, and the cells hold what they held",
          "[engine]") {
  const Variable a("a", row({1, 2})), b("b", row({3, 4})), unused("unused", row({5}));
  const Tensor before = a.value();
  const auto [value, gradients] =
      value_and_grad([&] { return sum(a.value() * a.value() * b.value()); }, {a, b, unused});
  CHECK(value.item<double>() == 19.0);
  CHECK(gradients[0].to_vector<double>() == std::vector<double>{6, 16});
  CHECK(gradients[1].to_vector<double>() == std::vector<double>{1, 4});
  CHECK(gradients[2].to_vector<double>() == std::vector<double>{0});
  CHECK(a.value().node_pointer() == before.node_pointer());
}

TEST_CASE("value_and_grad of variables: a variable that is not listed counts as constant", "[engine]") {
  const Variable a("a", row({2})), b("b", row({3}));
  CHECK(value_and_grad([&] { return sum(a.value() * b.value()); }, {a}).gradients[0].item<double>() == 3.0);
}

TEST_CASE(
    "value_and_grad of variables: what the function assigns stays, listed or not, and is not followed "
    "further",
    "[engine]") {
  const Variable a("a", row({2})), statistic("statistic", row({10}), Variable::Role::state);
  const auto f = [&] {
    const Tensor old = a.value();
    statistic.assign(0.5 * statistic.value() + old);
    a.assign(3.0 * old);
    return sum(square(a.value()) * statistic.value());  // 9 a^2 (5 + a)
  };
  const auto [value, gradients] = value_and_grad(f, {a});
  CHECK(gradients[0].item<double>() == 18.0 * 2.0 * 7.0 + 9.0 * 4.0);
  CHECK(value.item<double>() == 252.0);
  CHECK(held(statistic) == std::vector<double>{7});
  CHECK(held(a) == std::vector<double>{6});
}

TEST_CASE("value_and_grad of variables: a function that throws leaves every cell as it was", "[engine]") {
  const Variable a("a", row({2})), b("b", row({3})), other("other", row({4}), Variable::Role::state);
  const auto inner = [&] {
    a.assign(row({20}));
    other.assign(row({40}));
    return sum(a.value());
  };
  const auto outer = [&]() -> Tensor {
    static_cast<void>(value_and_grad(inner, {b}));
    throw core::SolverError("test", "diverged");
  };
  CHECK_THROWS_AS(value_and_grad(outer, {a}), core::SolverError);
  CHECK(held(a) == std::vector<double>{2});
  CHECK(held(b) == std::vector<double>{3});
  CHECK(held(other) == std::vector<double>{4});
  CHECK(value_and_grad(inner, {b}).value.item<double>() == 20.0);
  CHECK(held(other) == std::vector<double>{40});
}

TEST_CASE("value_and_grad of variables: outputs beside the value come with it", "[engine]") {
  const Variable a("a", row({2, 3}));
  const auto both = value_and_grad_with_more(
      [&]() -> Tensors {
        return {sum(square(a.value())), a.value() + 1.0};
      },
      {a});
  CHECK(both.gradients[0].to_vector<double>() == std::vector<double>{4, 6});
  CHECK(both.more[0].to_vector<double>() == std::vector<double>{3, 4});
  CHECK_THAT(
      error_of<core::ShapeError>([&] { static_cast<void>(value_and_grad([&] { return a.value(); }, {a})); }),
      HasId("not_one_real_number", {"f64[2]"}));
}

TEST_CASE("function_of: jvp, second derivatives and batches through variables", "[engine]") {
  const Variable a("a", row({1, 2}));
  const auto f = function_of({a}, [&]() -> Tensors { return {sum(a.value() * a.value() * a.value())}; });
  CHECK(linearize(f, values_of(Variables{a})).jvp({row({1, 1})})[0].item<double>() == 15.0);
  CHECK(hessian_product([&](const Tensor& x) { return f({x})[0]; }, a.value(), row({1, 1}))
            .to_vector<double>() == std::vector<double>{6, 12});
  CHECK(vmap(f)({reshape(row({1, 0, 0, 2}), {2, 2})})[0].to_vector<double>() == std::vector<double>{1, 8});
  const Variable kept("kept", row({0, 0}), Variable::Role::state);
  const auto assigns = function_of({a}, [&]() -> Tensors {
    kept.assign(a.value());
    return {a.value()};
  });
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(vmap(assigns)({zeros({3, 2}, DType::f64)}));
             }),
             HasId("no_values_while_tracing", {"\"kept\""}));
}
