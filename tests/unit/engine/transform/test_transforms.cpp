// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/custom.hpp"
#include "engine/transform/function_map.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::engine;
using tests::row;

namespace {

Tensor cubes(const Tensor& x) { return sum(x * x * x); }

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "no error";
}
auto ends_at(int line) { return Catch::EndsWith(fmt::format(" (test_transforms.cpp:{})", line)); }

}  // namespace

TEST_CASE("grad: of a sum of cubes, and of that again", "[engine]") {
  const Tensor x = row({1, 2, 3});
  CHECK(grad(cubes)(x).to_vector<double>() == std::vector<double>{3, 12, 27});
  const auto total_slope = [](const Tensor& y) { return sum(grad(cubes)(y)); };
  CHECK(grad(total_slope)(x).to_vector<double>() == std::vector<double>{6, 12, 18});
  CHECK(hessian_product(cubes, x, row({1, 0, 1})).to_vector<double>() == std::vector<double>{6, 0, 18});
}

TEST_CASE("grad: what is captured is constant, stop_gradient too", "[engine]") {
  const Tensor x = row({2});
  CHECK(grad([&](const Tensor& y) { return sum(y * x); })(x).item<double>() == 2.0);
  CHECK(grad([&](const Tensor& y) { return sum(y * stop_gradient(y)); })(x).item<double>() == 2.0);
}

TEST_CASE("grad: the function may look at values and branch on them", "[engine]") {
  const auto branching = [](const Tensor& x) { return x.item<double>() > 0.0 ? x * x : -x; };
  CHECK(grad(branching)(scalar(3.0, DType::f64)).item<double>() == 6.0);
  CHECK(grad(branching)(scalar(-3.0, DType::f64)).item<double>() == -1.0);
}

TEST_CASE("grad: of a complex argument is the direction of steepest ascent", "[engine]") {
  const Tensor z = full({1}, {3.0, -4.0}, DType::c128);
  const auto squared = [](const Tensor& x) { return sum(real(x * conj(x))); };
  CHECK(grad(squared)(z).to_vector<std::complex<double>>()[0] == std::complex<double>(6.0, -8.0));
}

TEST_CASE("grad: of |z| at 0 is 0, and so is every derivative of it", "[engine]") {
  const Tensor z = Tensor::from(std::vector<std::complex<double>>{0.0, {3.0, -4.0}}, {2});
  const auto moduli = [](const Tensor& x) { return sum(abs(x)); };
  const std::vector<std::complex<double>> slopes{0.0, {0.6, -0.8}};
  CHECK(grad(moduli)(z).to_vector<std::complex<double>>() == slopes);
  const Tensor along = ones({2}, DType::c128);
  const auto forward = linearize([](const Tensors& x) -> Tensors { return {abs(x[0])}; }, {z}).jvp({along});
  CHECK(forward[0].to_vector<double>() == std::vector<double>{0.0, 0.6});
  const auto second = hessian_product(moduli, z, along).to_vector<std::complex<double>>();
  CHECK(second[0] == 0.0);
  CHECK(std::abs(second[1] - std::complex<double>(0.128, 0.096)) < 1e-15);
}

TEST_CASE("grad: of a power of 0 is its limit where that is finite", "[engine]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Tensor a = row({0, 0, 0, 0, 0, 2}), b = row({0, 1, 2, 0.5, -1, 0});
  const auto powers = [](const Tensors& x) -> Tensors { return {sum(power(x[0], x[1]))}; };
  const Tensors slopes = value_and_grad(powers, {a, b}).gradients;
  CHECK(slopes[0].to_vector<double>() == std::vector<double>{0, 1, 0, infinity, -infinity, 0});
  CHECK(slopes[1].to_vector<double>() == std::vector<double>{0, 0, 0, 0, -infinity, std::log(2.0)});
  const auto cubic = [](const Tensor& x) { return sum(power(x, row({0, 1, 2, 3}))); };
  CHECK(hessian_product(cubic, zeros({4}, DType::f64), ones({4}, DType::f64)).to_vector<double>() ==
        std::vector<double>{0, 0, 2, 0});
  const auto of_exponent = [](const Tensor& x) { return sum(power(zeros({2}, DType::f64), x)); };
  CHECK(hessian_product(of_exponent, row({1, 2}), row({1, 1})).to_vector<double>() ==
        std::vector<double>{0, 0});
}

TEST_CASE("jvp: constants add nothing to a tangent", "[engine]") {
  const Tensor x = row({1, 2}), c = row({3, 4}), along = row({5, 6});
  const auto tangent = [&](const std::function<Tensor(const Tensor&)>& f) {
    return linearize([&](const Tensors& in) -> Tensors { return {f(in[0])}; }, {x}).jvp({along})[0];
  };
  CHECK(tangent([&](const Tensor& t) { return t + c; }).node_pointer() == along.node_pointer());
  CHECK(tangent([&](const Tensor& t) { return c + (t - c); }).node_pointer() == along.node_pointer());
  const Tensor turned = tangent([&](const Tensor& t) { return c - t; });
  CHECK(turned.node().op->name == "negative");
  CHECK(turned.node().inputs[0] == along.node_pointer());
  CHECK(turned.to_vector<double>() == std::vector<double>{-5, -6});
  CHECK(tangent([&](const Tensor& t) { return t - (t + t); }).to_vector<double>() ==
        std::vector<double>{-5, -6});
  const auto both = [](const Tensors& in) -> Tensors { return {in[0] * in[1]}; };
  const Tensor product = linearize(both, {x, c}).jvp({along, zeros_like(c)})[0];
  CHECK(product.node().op->name == "multiply");  // a tangent known to be zero is none
  CHECK(product.to_vector<double>() == std::vector<double>{15, 24});
}

TEST_CASE("grad: an op that others express is expressed once for the slopes of all its inputs", "[engine]") {
  static int n_times = 0;
  static const OpInfo op = [] {  // nodes point at it
    OpInfo row = composite("product_of_three", "a b c", 3, real_floats, [](const RuleArgs& args) {
      ++n_times;
      return args.in[0] * args.in[1] * args.in[2];
    });
    row.infer = infer_alike;
    row.with_kernel(Backend::reference, DType::f64, {"reference.loop", [](const KernelCall& call) {
                                                       *call.out[0].as<double>() = *call.in[0].as<double>() *
                                                                                   *call.in[1].as<double>() *
                                                                                   *call.in[2].as<double>();
                                                     }});
    return row;
  }();
  const auto f = [](const Tensors& x) -> Tensors {
    return {sum(record(op, {x[0], x[1], x[2]}, {}, std::source_location::current()))};
  };
  const Tensors slopes = value_and_grad(f, {row({2}), row({3}), row({5})}).gradients;
  CHECK(n_times == 1);
  CHECK(slopes[0].item<double>() == 15.0);
  CHECK(slopes[1].item<double>() == 10.0);
  CHECK(slopes[2].item<double>() == 6.0);
  const auto of_last = [&](const Tensor& x) { return f({row({2}), row({3}), x})[0]; };
  CHECK(grad(of_last)(row({5})).item<double>() == 6.0);
  CHECK(n_times == 2);
}

TEST_CASE("grad: refuses integers and functions without one real value", "[engine]") {
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(grad(cubes)(zeros({2}, DType::i32))); }),
      tests::HasId("not_floating_point", {"i32[2]"}));
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(grad([](const Tensor& x) { return x; })(zeros({2}))); }),
             tests::HasId("not_one_real_number", {"1 outputs", "f32[2]"}));
}

TEST_CASE("jacobian: forward, reverse and batched over items agree", "[engine]") {
  const Tensor weights = reshape(row({1, -2, 3, 0.5, 2, -1}), {2, 3});
  const auto f = [&](const Tensor& x) { return tanh(matmul(weights, x)); };
  const Tensor x = row({0.1, 0.2, -0.3});
  const Tensor forward = jacobian(f, x, JacobianMode::forward),
               reverse = jacobian(f, x, JacobianMode::reverse);
  CHECK(forward.shape() == Shape{2, 3});
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(forward.to_vector<double>()[i] == Approx(reverse.to_vector<double>()[i]).epsilon(1e-14));
  const double y0 = std::tanh(0.1 - 0.4 - 0.9);
  CHECK(forward.to_vector<double>()[1] == Approx(-2.0 * (1.0 - y0 * y0)).epsilon(1e-14));

  const Tensor items = concatenate(std::vector<Tensor>{expand_dims(x, 0), expand_dims(2.0 * x, 0)}, 0);
  const Tensor batched = vmap([&](const Tensor& each) { return jacobian(f, each); })(items);
  CHECK(batched.shape() == Shape{2, 2, 3});
  const auto second = jacobian(f, 2.0 * x).to_vector<double>();
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(batched.to_vector<double>()[6 + i] == Approx(second[i]).epsilon(1e-14));
}

TEST_CASE("linearize: may be used after everything has been evaluated, in both directions", "[engine]") {
  const Function f = as_function([](const Tensor& a, const Tensor& b) { return a * exp(b); });
  const Tensor a = row({1, 2}), b = row({0, 1});
  const Linearized at = linearize(f, {a, b});
  at.value()[0].eval();
  const Tensor jv = at.jvp({row({1, 1}), row({1, 1})})[0];
  CHECK(jv.to_vector<double>()[1] == Approx(3.0 * std::exp(1.0)));
  CHECK(at.vjp({row({1, 1})})[1].to_vector<double>()[0] == Approx(1.0));
  CHECK_THAT(tests::error_of<core::ShapeError>([&] {
               static_cast<void>(at.jvp({row({1, 1})}));
             }),
             tests::HasId("wrong_tensors", {"[jvp]", "f64[2], f64[2]"}));
}

TEST_CASE("vmap: writes the loop for the caller, and says where host code looked at a value", "[engine]") {
  const Tensor table = reshape(row({1, 2, 3, 4}), {2, 2});
  const auto norm = [](const Tensor& x) { return sqrt(sum(x * x)); };
  CHECK(vmap(norm)(table).to_vector<double>()[1] == Approx(5.0));
  const auto looking = [](const Tensor& x) { return x.data<double>()[0] > 0.0 ? x : -x; };
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(vmap(looking)(table)); }),
             tests::HasId("no_values_while_tracing"));
}

TEST_CASE("transforms: a function that gives an empty tensor is told so", "[engine]") {
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(grad([](const Tensor&) { return Tensor(); })(row({1}))); }),
             tests::HasId("empty_output", {"output 0"}));
}

TEST_CASE("transforms: errors name the line that asked for the transform", "[engine]") {
  const Tensor x = row({1, 2}), whole = zeros({2}, DType::i32);
  const auto same = [](const Tensor& in) { return in; };
  const Function list = [](const Tensors& in) { return in; };
  const Linearized at = linearize(list, {x});
  const Variable cell("cell", x);

  CHECK_THAT(error_of([&] { return linearize(list, {whole}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return at.jvp({row({1})}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return at.vjp({}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return grad(same)(x); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return grad([](const Tensor&) { return Tensor(); })(x); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return value_and_grad(list, {x}); }), ends_at(__LINE__));
  const auto value = [&] { return cell.value(); };
  CHECK_THAT(error_of([&] { return value_and_grad(value, {cell}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return vmap(list, {true, false})({x}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return vmap(list, {false})({x}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return vmap(same)(full({}, 1.0)); }), ends_at(__LINE__));
  const auto host = [](const Tensor& in) { return in.eval(); };
  CHECK_THAT(error_of([&] { return vmap(host)(x); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return jacobian(same, whole); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return hessian_product(same, x, x); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return custom(list, {"f"})({}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return linearize(custom(list, {"f"}), {x}).jvp({x}); }), ends_at(__LINE__));
  CHECK_THAT(error_of([&] { return checkpoint(list, {"mark"})({x}); }), ends_at(__LINE__));
  const auto total = [](const Tensor& in) { return sum(in); };
  CHECK_THAT(error_of([&] { return function_map(total, {"f", 2}); }), ends_at(__LINE__));
  for (const Function& as_node : {checkpoint(list), custom(list, {"f"})})
    CHECK(as_node({x})[0].node().where.line() == __LINE__ - 1);
}
