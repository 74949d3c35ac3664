// SPDX-License-Identifier: Apache-2.0
// Compiled functions of numbers, vectors, maps, tuples and structs.
#include "engine/compile/tree.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/row.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::row;

namespace {

using Numbers = std::vector<double>;

double number(const Tensor& tensor) { return tensor.item<double>(); }

/// A layer, its name and how often it is applied.
struct Block {
  Tensor weight;
  std::vector<Tensor> shifts;
  std::int64_t n_times = 1;
  static auto fields() {
    return std::tuple{Field{"weight", &Block::weight}, Field{"shifts", &Block::shifts},
                      Field{"n_times", &Block::n_times}};
  }
};

/// A function for each form of the same tensors.
struct Overloaded {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return a - b; }
  Tensor operator()(const std::pair<Tensor, Tensor>& both) const { return both.second - both.first; }
  Tensor operator()(const Tensor& a, int factor) const { return a * factor; }
  Tensor operator()(const Tensor& a, double shift) const { return a + shift; }
};

}  // namespace

TEST_CASE("compile on trees: a number is an input, so that one recording serves all", "[engine]") {
  int n_calls = 0;
  const auto step = compile([&](const Tensor& x, const Tensor& dt, const Tensor& n) {
    ++n_calls;
    return x + dt * cast(n, DType::f64);
  });
  for (int i = 0; i < 1000; ++i) CHECK(number(step(row({1}), 0.5 * i, i)) == 1.0 + 0.5 * i * i);
  CHECK(n_calls == 1);
  CHECK(step.stats().n_traces == 1);
  CHECK(step.stats().n_hits == 999);
  CHECK(step(row({1}), 2.0F * row({1}), 3).to_vector<double>() == Numbers{7});
  CHECK(step.stats().n_traces == 2);  // a row in place of a scalar
  const auto kinds = compile([](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
    return Tensors{a, b, c, d};
  });
  const Tensors given = kinds(1.5F, true, 2U, std::complex<double>(0, 1));
  CHECK(given[0].dtype() == DType::f32);
  CHECK(given[1].dtype() == DType::b8);
  CHECK(given[2].dtype() == DType::i64);
  CHECK(given[3].dtype() == DType::c128);
}

TEST_CASE("compile on trees: what decides on the recording belongs to the key, and is named", "[engine]") {
  const auto power = compile([](const Tensor& x, int exponent, const std::string& sign) {
    Tensor result = ones_like(x);
    for (int i = 0; i < exponent; ++i) result = result * x;
    return sign == "minus" ? -result : result;
  });
  const auto run = [&](int exponent, const char* sign) {
    return number(power(row({3}), static_arg(exponent), static_arg(std::string(sign))));
  };
  for (int i = 0; i < 3; ++i) {
    CHECK(run(2, "plus") == 9.0);
    CHECK(run(3, "plus") == 27.0);
    CHECK(run(3, "minus") == -27.0);
  }
  CHECK(power.stats().n_traces == 3);
  REQUIRE(power.stats().recompiles.size() == 2);
  CHECK(power.stats().recompiles[0].cause == Cause::form);
  CHECK_THAT(power.stats().recompiles[1].what,
             Catch::Contains("form of the arguments") && Catch::Contains("minus"));
}

TEST_CASE("compile on trees: vectors, maps, tuples and structs come and go", "[engine]") {
  const auto f =
      compile([](const NamedTensors& named, const std::tuple<Tensors, Tensor>& both, const Block& block) {
        Tensor sum = std::get<1>(both);
        for (const Tensor& each : std::get<0>(both)) sum = sum + each;
        for (const auto& [name, tensor] : named) sum = name == "minus" ? sum - tensor : sum + tensor;
        Block next = block;
        for (std::int64_t i = 0; i < block.n_times; ++i) next.weight = next.weight * sum;
        return std::pair<std::map<std::string, Tensor>, Block>({{"sum", sum}}, next);
      });
  const auto run = [&](const NamedTensors& named, const Tensors& list, std::int64_t n_times) {
    return f(named, std::tuple{list, 100.0}, Block{row({2}), {row({7}), row({8})}, n_times});
  };
  for (int i = 0; i < 2; ++i) {
    const auto [sums, block] = run({{"a", row({1})}, {"minus", row({2})}}, {row({10}), row({20})}, 1);
    CHECK(number(sums.at("sum")) == 129.0);
    CHECK(number(block.weight) == 258.0);
    CHECK(number(block.shifts.at(1)) == 8.0);
    CHECK(block.n_times == 1);
    // Other names, another number of elements, another member: each is another function.
    CHECK(number(run({{"a", row({1})}, {"b", row({2})}}, {row({10}), row({20})}, 1).first.at("sum")) ==
          133.0);
    CHECK(number(run({{"a", row({1})}, {"minus", row({2})}}, {row({10})}, 1).first.at("sum")) == 109.0);
    CHECK(number(run({{"a", row({1})}, {"minus", row({2})}}, {row({10})}, 2).second.weight) ==
          2.0 * 109.0 * 109.0);
  }
  CHECK(f.stats().n_traces == 4);
  CHECK(f.stats().n_hits == 4);
}

TEST_CASE("compile on trees: forms that could be mistaken for each other are not", "[engine]") {
  const auto joined = compile([](const std::map<std::string, Tensors>& map) {
    std::string text;
    for (const auto& [name, list] : map) text += name + std::to_string(list.size());
    return std::pair{Tensors{}, text};
  });
  const auto run = [&](const std::map<std::string, Tensors>& map) { return joined(map).second; };
  const Tensor x = row({1});
  for (int i = 0; i < 2; ++i) {
    CHECK(run({{"a", {x, x}}}) == "a2");
    CHECK(run({{"a", {x}}, {"b", {x}}}) == "a1b1");
    CHECK(run({{"a", {}}, {"b", {x, x}}}) == "a0b2");
    CHECK(run({{"a[**]1:b", {}}}) == "a[**]1:b0");
  }
  CHECK(joined.stats().n_traces == 4);
  const auto overloaded = compile(Overloaded());
  for (int i = 0; i < 2; ++i) {
    CHECK(number(overloaded(row({5}), row({3}))) == 2.0);
    CHECK(number(overloaded(std::pair(row({5}), row({3})))) == -2.0);
    CHECK(number(overloaded(row({5}), static_arg(2))) == 10.0);
    CHECK(number(overloaded(row({5}), static_arg(2.0))) == 7.0);
  }
  CHECK(overloaded.stats().n_traces == 4);
}

TEST_CASE("compile on trees: cells, breaks and transforms as in functions of lists", "[engine]") {
  const Variable total("total", row({0}), Variable::Role::state);
  const auto add = compile([&](const Tensor& x) {
    total.assign(total.value() + x);
    return total.value() * 1.0;
  });
  for (const double x : {1.0, 2.0, 4.0}) static_cast<void>(add(row({x})));
  CHECK(number(total.value()) == 7.0);
  CHECK(add.stats().n_traces == 1);

  const auto absolute = compile([](const std::vector<Tensor>& x) {
    return std::tuple{x[0].item<double>() < 0.0 ? -x[0] : x[0] * 1.0, std::string("op by op")};
  });
  CHECK(number(std::get<0>(absolute(std::vector{row({-3})}))) == 3.0);
  CHECK(std::get<1>(absolute(std::vector{row({3})})) == "op by op");
  REQUIRE(absolute.stats().breaks.size() == 1);
  CHECK(absolute.stats().breaks[0].n == 2);

  const auto cube = compile([](const Tensor& x, const Tensor& scale) { return sum(x * x * x) * scale; });
  CHECK(number(grad([&](const Tensor& x) { return cube(x, 2.0); })(row({3}))) == 54.0);
}
