// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/half.hpp"
#include "engine/core/store.hpp"
#include "engine/inspect/compare.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <cmath>
#include <limits>

using namespace lodestone::engine;
using lodestone::core::MemoryArrays;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

/// Three layers, of which the second has an error of this size in front of its function.
struct Network {
  InitialValues initial{7};
  Linear first{4, 16, initial}, second{16, 16, initial}, third{16, 2, initial};
  float error = 0.0F;

  [[nodiscard]] Tensor operator()(const Tensor& x) const {
    const Tensor a = tanh(first(x));
    const Tensor b = tanh(second(a) * (1.0F + error) + 0.25F);  // the line of the error
    return third(b);
  }
  static constexpr int line_of_error = __LINE__ - 3;
  [[nodiscard]] std::vector<NamedVariable> cells() const {
    std::vector<NamedVariable> result;
    for (const auto& [name, layer] : {std::pair{"first", first}, {"second", second}, {"third", third}}) {
      for (const NamedVariable& each : layer.variables())
        result.push_back({std::string(name) + "." + each.name, each.variable});
    }
    return result;
  }
  [[nodiscard]] Function loss() const {
    return [this](const Tensors& in) -> Tensors {
      Variables parameters;
      for (const NamedVariable& each : cells()) parameters.push_back(each.variable);
      const auto [value, gradients] =
          value_and_grad([&] { return mean_squared_error((*this)(in[0]), in[1]); }, parameters);
      Tensors all = gradients;
      all.push_back(value);
      return all;
    };
  }
};

Tensors batch() {
  return {
      lodestone::engine::cast(
          Tensor::from(std::vector<double>{0.1, -0.4, 0.7, 1.2, -0.3, 0.2, 0.9, -1.1}, {2, 4}), DType::f32)
          .eval(),
      (ones({2, 2}) * 0.5).eval()};
}

MemoryArrays dumped(const Network& net, const DumpOptions& options) {
  MemoryArrays arrays;
  DumpOptions named = options;
  named.cells = net.cells();
  dump(net.loss(), batch(), arrays, named);
  return arrays;
}

}  // namespace

TEST_CASE("statistics: those of finite elements, NaN and infinities counted apart") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                   inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values{3.0, nan, -4.0, inf, -inf, -inf};
  const auto found = statistics_of(DType::f64, std::as_bytes(std::span(values)));
  CHECK(found.n == 6);
  CHECK(found.n_nan == 1);
  CHECK(found.n_infinite == 3);
  CHECK(found.min == -4.0);
  CHECK(found.max == 3.0);
  CHECK(found.mean == -0.5);
  CHECK(found.l2 == 5.0);
  const std::vector<double> other{3.0, -nan, -4.0, inf, -inf, -inf};
  CHECK(statistics_of(DType::f64, std::as_bytes(std::span(other))).checksum == found.checksum);
  const std::vector<double> swapped{-4.0, nan, 3.0, inf, -inf, -inf};
  CHECK(statistics_of(DType::f64, std::as_bytes(std::span(swapped))).checksum != found.checksum);
}

TEST_CASE("statistics: every dtype has numbers, complex ones two") {
  const auto n_numbers = [](DType dtype) {
    const Tensor x =
        lodestone::engine::cast(Tensor::from(std::vector<double>{1.0, 0.0, 1.0}, {3}), dtype).eval();
    const std::vector<double> numbers = numbers_of(dtype, x.bytes());
    CHECK(numbers[0] == 1.0);
    return numbers.size();
  };
  for (int i = 0; i < lodestone::core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    CAPTURE(lodestone::core::name_of(dtype));
    CHECK(n_numbers(dtype) == (lodestone::core::is_complex(dtype) ? 6U : 3U));
  }
}

TEST_CASE("dumps: values of all networks agree on both levels, and cover what leaves them") {
  for (const lodestone::tests::SampleNetwork& each : lodestone::tests::SampleNetworks(DType::f32).all()) {
    CAPTURE(each.name);
    MemoryArrays at_0, at_1;
    dump(each.f, each.inputs, at_0);
    dump(each.f, each.inputs, at_1, {.level = Level::O1});
    const Comparison comparison = compare(at_0, at_1);
    CAPTURE(comparison.text());
    CHECK_FALSE(comparison.first);
    CHECK(comparison.n_compared >= std::ssize(each.inputs));
    CHECK(comparison.n_compared <= std::ssize(dumped_values(at_0)));
    CHECK(comparison.n_compared >= std::ssize(dumped_values(at_1)));
  }
}

TEST_CASE("dumps: whole arrays are those of the function") {
  const Function f = [](const Tensors& in) -> Tensors { return {exp(in[0]) + 1.0F}; };
  const Tensor x = (ones({2, 3}) * 0.5).eval();
  MemoryArrays arrays;
  dump(f, {x}, arrays, {.arrays = true});
  const auto values = dumped_values(arrays);
  const DumpedValue& last = values.back();
  CHECK(last.op == "add");
  std::vector<float> elements(6);
  arrays.read(array_of_value(last.value), 0, std::as_writable_bytes(std::span(elements)));
  CHECK(elements == f({x})[0].to_vector<float>());
  CHECK(values.front().op == "input");
  CHECK(values.front().module == "argument 0");
}

TEST_CASE("dumps: cells and the steps of an optimizer stay as they are") {
  const Network net;
  const Adam adam(net.first, {.learning_rate = 0.5});
  const Function step = [&](const Tensors& in) -> Tensors {
    adam.step(
        value_and_grad([&] { return mean(square(net.first(in[0]))); }, net.first.parameters()).gradients);
    return {};
  };
  const auto before = net.first.parameters()[0].value().to_vector<float>();
  MemoryArrays arrays;
  dump(step, batch(), arrays);
  CHECK(net.first.parameters()[0].value().to_vector<float>() == before);
  CHECK(adam.n_steps() == 0);
}

TEST_CASE("compare: an error in one layer is named across levels, by its line and module") {
  Network right, wrong;
  wrong.error = 1e-4F;
  for (const bool arrays : {false, true}) {
    for (const auto& [a, b] : {std::pair{Level::O0, Level::O1},
                               {Level::O1, Level::O0},
                               {Level::O0, Level::O0},
                               {Level::O1, Level::O1}}) {
      const Comparison found = compare(dumped(right, {.level = a, .arrays = arrays}),
                                       dumped(wrong, {.level = b, .arrays = arrays}));
      REQUIRE(found.first);
      CAPTURE(found.text());
      CHECK(found.first->a.module == "second");
      CHECK(found.first->a.place == fmt::format("test_compare.cpp:{}", Network::line_of_error));
      CHECK(found.first->size < 1e-3);
      CHECK(found.deviations.front().size >= found.deviations.back().size);
      CHECK_THAT(found.text(), Catch::Contains("in second (test_compare.cpp:"));
    }
  }
}

TEST_CASE("compare: other parameters are the first deviation themselves") {
  Network right, other;
  other.third.parameters()[0].assign((other.third.parameters()[0].value() * 1.5F).eval());
  const Comparison found = compare(dumped(right, {}), dumped(other, {}));
  REQUIRE(found.first);
  CHECK(found.first->a.op == "input");
  CHECK(found.first->a.module == "third.weight");
  CHECK(found.first->size ==
        Approx(0.5 * found.first->a.statistics.max * std::sqrt(32.0) / found.first->a.statistics.l2)
            .epsilon(0.5));
}

TEST_CASE("compare: dumps of other functions and what is no dump are refused") {
  MemoryArrays a, b, none;
  const Tensor x = (ones({3}) * 0.5).eval();
  dump([](const Tensors& in) -> Tensors { return {exp(in[0])}; }, {x}, a);
  dump([](const Tensors& in) -> Tensors { return {sin(in[0])}; }, {x}, b);
  CHECK_THAT(error_of<lodestone::core::InvalidArgument>([&] { static_cast<void>(compare(a, b)); }),
             HasId("other_programs", {"exp", "sin"}));
  CHECK_THAT(error_of<lodestone::core::FormatError>([&] { static_cast<void>(compare(a, none)); }),
             HasId("no_dump"));
}

TEST_CASE("first_not_finite: a compiled step is searched as it stands, and stays to be made") {
  const Variable p("p", Tensor::from(std::vector<double>{4.0, 0.0}, {2}));
  const Function step = [&](const Tensors& in) -> Tensors {
    const auto [value, gradients] = value_and_grad([&] { return sum(sqrt(p.value() * in[0])); }, {p});
    p.assign((p.value() - gradients[0] * 0.1));
    return {value};
  };
  const Tensor one = (ones({2}, DType::f64) * 1.0).eval();
  const auto found = first_not_finite(step, {one});
  REQUIRE(found);
  CHECK_THAT(*found, Catch::Contains("test_compare.cpp:") && Catch::Contains("from finite inputs"));
  CHECK(p.value().to_vector<double>() == std::vector<double>{4.0, 0.0});
  const Tensor none = (ones({2}, DType::f64) * std::numeric_limits<double>::infinity()).eval();
  CHECK_THAT(first_not_finite(step, {none}).value_or(""), Catch::StartsWith("an input f64[2] of multiply"));
  p.assign(Tensor::from(std::vector<double>{4.0, 1.0}, {2}));
  CHECK_FALSE(first_not_finite(step, {one}));
}

TEST_CASE("first_not_finite: a loop within a plan is named, not the op behind it") {
  const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors { return {carry[0] / now[0]}; };
  const Function f = [&](const Tensors& in) -> Tensors {
    return {sum(scan(step, {in[0]}, {in[1]}).carry[0])};
  };
  const Tensor one = (ones({2}, DType::f64) * 1.0).eval();
  const auto found_for = [&](double last) {
    return first_not_finite(f, {one, Tensor::from(std::vector<double>{1.0, 2.0, last}, {3})}).value_or("");
  };
  CHECK_THAT(found_for(0.0), Catch::StartsWith("scan of f64[2]") && Catch::Contains("test_compare.cpp:"));
  CHECK(found_for(3.0).empty());
}

TEST_CASE("bisect: an op that clusters compute otherwise is named, though none of its values leaves them") {
  // A row whose kernel and function of one element do not agree, which check_op would find.
  static const OpInfo planted = [] {
    OpInfo row = op_named("exp");
    row.name = "planted";
    const OpInfo& other = op_named("tanh");
    for (std::size_t backend = 0; backend < row.kernels.size(); ++backend) {
      for (std::size_t dtype = 0; dtype < row.kernels[backend].size(); ++dtype)
        row.kernels[backend][dtype].body = other.kernels[backend][dtype].body;
    }
    return row;
  }();
  const Tensor x = batch()[0];
  const auto f = [](const OpInfo& op) -> Function {
    return [&op](const Tensors& in) -> Tensors {
      const Tensor y = square(in[0] * 2.0F) + 0.5F;
      const Tensor z = record(op, {y}, {}, std::source_location::current());
      return {sum(sqrt(z + 1.0F) * in[0])};
    };
  };
  const std::uint32_t line = std::source_location::current().line() - 4;
  CHECK_FALSE(bisect(f(op_named("exp")), {x}, Level::O0, Level::O1));
  for (const auto& [a, b] : {std::pair{Level::O0, Level::O1}, {Level::O1, Level::O0}}) {
    const auto found = bisect(f(planted), {x}, a, b);
    REQUIRE(found);
    CHECK(found->a.op == "planted");
    CHECK(found->a.place == fmt::format("test_compare.cpp:{}", line));
    CHECK(found->size > 0.1);
  }
  MemoryArrays at_0, at_1;
  dump(f(planted), {x}, at_0);
  dump(f(planted), {x}, at_1, {.level = Level::O1});
  CHECK(compare(at_0, at_1).first->a.op == "sum");  // which is all that leaves the cluster
}
