// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/per_rank.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

Tensor numbers_of(const Shape& shape, std::uint64_t seed) {
  const core::Philox random(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.uniform(i) * 2.0 - 1.0;
  return Tensor::from(values, shape);
}

/// Throws unless two tensors agree.
void expect_close(const Tensor& got, const Tensor& expected, std::string_view what) {
  const auto a = got.to_vector<double>(), b = expected.to_vector<double>();
  double gap = a.size() == b.size() ? 0.0 : 1.0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) gap = std::max(gap, std::abs(a[i] - b[i]));
  if (!(gap < 1e-12) || !(got.shape() == expected.shape()))
    throw core::InvalidArgument("test#gap", "{} is {} off: {} for {}", what, gap, got.aval().text(),
                                expected.aval().text());
}

std::vector<MeshLayout> layouts(const DeviceMesh& mesh, const std::vector<std::string>& texts) {
  std::vector<MeshLayout> result;
  for (const std::string& text : texts) result.push_back(layout_from(text, mesh));
  return result;
}

/// The loss of two layers on one machine. x [7, 4], w [4, 6], v [6, 3].
Tensors two_layers(const Tensors& in) { return {sum(square(matmul(tanh(matmul(in[0], in[1])), in[2])))}; }

Tensors inputs() { return {numbers_of({7, 4}, 1), numbers_of({4, 6}, 2), numbers_of({6, 3}, 3)}; }

/// Compares value and gradients of a function of pieces with those of `two_layers`, from outside.
void expect_two_layers(const Function& f, const std::string& what) {
  const auto expected = value_and_grad(two_layers, inputs()), got = value_and_grad(f, inputs());
  expect_close(got.value, expected.value, what);
  for (std::size_t i = 0; i < 3; ++i)
    expect_close(got.gradients[i], expected.gradients[i], fmt::format("gradient {} of {}", i, what));
}

/// Runs f on pieces on four ranks, and returns its error.
core::Error refusal(const std::vector<std::string>& in, const std::vector<std::string>& out,
                    const std::function<Tensors(const Tensors&, const GroupPtr& x, const GroupPtr& y)>& f) {
  return error_of<core::Error>([&] {
    run_ranks(4, [&](const World& world) {
      const DeviceMesh mesh({{"x", 2}, {"y", 2}});
      const GroupPtr x = group_of(world, mesh, {"x"}), y = group_of(world, mesh, {"y"});
      Tensors args;
      for (std::size_t i = 0; i < in.size(); ++i) args.push_back(numbers_of({4, 4}, i));
      (void)per_rank(world, mesh, layouts(mesh, in), layouts(mesh, out),
                     [&](const Tensors& pieces) { return f(pieces, x, y); })(args);
    });
  });
}

}  // namespace

TEST_CASE("per_rank: pieces of inputs make whole outputs, with uneven and empty pieces", "[engine]") {
  run_ranks(6, [](const World& world) {
    const DeviceMesh mesh({{"x", 2, 5}, {"y", 3}});
    for (const char* layout :
         {"[x, y]", "[y*x, whole]", "[whole, x by 2]", "[whole, whole]", "[x*y by 3, whole]"}) {
      for (const Shape& shape : {Shape{7, 4}, Shape{1, 5}, Shape{0, 3}}) {
        const Tensor whole = numbers_of(shape, 5);
        const Function twice = per_rank(world, mesh, layouts(mesh, {layout}), layouts(mesh, {layout}),
                                        [](const Tensors& piece) -> Tensors { return {piece[0] * 2.0}; });
        expect_close(twice({whole})[0], whole * 2.0, layout);
      }
    }
    const Function terms = per_rank(world, mesh, layouts(mesh, {"[x*y, whole]"}),
                                    layouts(mesh, {"[whole], sum over x, sum over y"}),
                                    [](const Tensors& piece) -> Tensors { return {sum(piece[0], Axes{0})}; });
    const Tensor whole = numbers_of({7, 4}, 5);
    expect_close(terms({whole})[0], sum(whole, Axes{0}), "sum of terms");
  });
}

TEST_CASE("per_rank: data and operators cut over a mesh have the gradients of one machine", "[engine]") {
  run_ranks(4, [](const World& world) {
    const DeviceMesh mesh({{"data", 2}, {"model", 2}});
    const GroupPtr data = group_of(world, mesh, {"data"}), model = group_of(world, mesh, {"model"});
    const Function by_data = per_rank(
        world, DeviceMesh({{"data", 4}}),
        layouts(DeviceMesh({{"data", 4}}), {"[data, whole]", "[whole, whole]", "[whole, whole]"}),
        layouts(DeviceMesh({{"data", 4}}), {"[], sum over data"}), [&](const Tensors& in) -> Tensors {
          const GroupPtr all = group_of(world, DeviceMesh({{"data", 4}}), {"data"});
          return two_layers({in[0], as_own(in[1], all), as_own(in[2], all)});
        });
    expect_two_layers(by_data, "data parallel");
    // Columns of the first weight and rows of the second one are cut: the second product has terms.
    const Function by_both =
        per_rank(world, mesh, layouts(mesh, {"[data, whole]", "[whole, model]", "[model, whole]"}),
                 layouts(mesh, {"[], sum over data"}), [&](const Tensors& in) -> Tensors {
                   const Tensor hidden = tanh(matmul(as_own(in[0], model), as_own(in[1], data)));
                   const Tensor y = all_reduce(matmul(hidden, as_own(in[2], data)), model);
                   return {sum(square(y))};
                 });
    expect_two_layers(by_both, "data and model parallel");
    // The gradient is taken inside of the function.
    const Function inside = per_rank(
        world, mesh, layouts(mesh, {"[data, whole]", "[whole, whole]", "[whole, whole]"}),
        layouts(mesh, {"[]", "[whole, whole]"}), [&](const Tensors& in) -> Tensors {
          const auto [value, gradients] = value_and_grad(
              [&](const Tensors& w) -> Tensors {
                return {all_reduce(two_layers({in[0], as_own(w[0], data), as_own(in[2], data)})[0], data)};
              },
              {in[1]});
          return {value, gradients[0]};
        });
    const auto expected = value_and_grad(two_layers, inputs());
    const Tensors got = inside(inputs());
    expect_close(got[0], expected.value, "value of a loss inside");
    expect_close(got[1], expected.gradients[1], "gradient inside");
  });
}

TEST_CASE("per_rank: attention over a ring is that of one machine", "[engine]") {
  run_ranks(3, [](const World& world) {
    const DeviceMesh mesh({{"time", 3}});
    const GroupPtr ring = group_of(world, mesh, {"time"});
    const Tensors in{numbers_of({6, 4}, 1), numbers_of({6, 4}, 2), numbers_of({6, 4}, 3)};
    const auto whole = [](const Tensors& x) -> Tensors {
      const Tensor weights = exp(matmul(x[0], transpose(x[1])));
      return {matmul(weights / sum(weights, Axes{1}, Keep::yes), x[2])};
    };
    // One turn of the ring: keys, values, the sum of weighted values and that of weights.
    const auto turn = [&](const Tensor& queries, const Tensors& at) -> Tensors {
      const Tensor weights = exp(matmul(queries, transpose(at[0])));
      return {permute(at[0], ring, 1), permute(at[1], ring, 1), at[2] + matmul(weights, at[1]),
              at[3] + sum(weights, Axes{1}, Keep::yes)};
    };
    const auto start = [](const Tensors& x) -> Tensors {
      return {x[1], x[2], zeros({2, 4}, DType::f64), zeros({2, 1}, DType::f64)};
    };
    const Function unrolled = [&](const Tensors& x) -> Tensors {
      Tensors at = start(x);
      for (int i = 0; i < ring->size(); ++i) at = turn(x[0], at);
      return {at[2] / at[3]};
    };
    const Function looped = [&](const Tensors& x) -> Tensors {
      const auto step = [&](const Tensors& carry, const Tensors&) { return turn(x[0], carry); };
      const Tensors at = scan(step, start(x), {zeros({3}, DType::f64)}).carry;
      return {at[2] / at[3]};
    };
    const auto loss = [](const Function& f) -> Function {
      return [f](const Tensors& x) -> Tensors { return {sum(square(f(x)[0]))}; };
    };
    const auto expected = value_and_grad(loss(whole), in);
    for (const Function& f : {unrolled, looped}) {
      const Function by_ring =
          per_rank(world, mesh, layouts(mesh, {"[time, whole]", "[time, whole]", "[time, whole]"}),
                   layouts(mesh, {"[time, whole]"}), f);
      expect_close(by_ring(in)[0], whole(in)[0], "attention");
      const auto got = value_and_grad(loss(by_ring), in);
      for (std::size_t i = 0; i < 3; ++i) expect_close(got.gradients[i], expected.gradients[i], "slope");
    }
  });
}

TEST_CASE("per_rank: compiled steps and batches give what plain ones give", "[engine]") {
  run_ranks(3, [](const World& world) {
    const DeviceMesh mesh({{"data", 3}});
    const GroupPtr data = group_of(world, mesh, {"data"});
    const Function loss =
        per_rank(world, mesh, layouts(mesh, {"[data, whole]", "[whole, whole]", "[whole, whole]"}),
                 layouts(mesh, {"[], sum over data"}), [&](const Tensors& in) -> Tensors {
                   return two_layers({in[0], as_own(in[1], data), as_own(in[2], data)});
                 });
    const auto step = [&](const Tensors& in) -> Tensors {
      const auto [value, gradients] = value_and_grad(loss, in);
      return {value, gradients[1], gradients[2]};
    };
    const Compiled compiled = compile(step);
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const Tensors in{numbers_of({7, 4}, seed), numbers_of({4, 6}, seed + 10), numbers_of({6, 3}, 3)};
      const Tensors expected = step(in), got = compiled(in);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].to_vector<double>() != expected[i].to_vector<double>())
          throw core::InvalidArgument("test#bits", "result {} of the plan has other bits", i);
      }
    }
    if (compiled.stats().recompiles.size() > 1)
      throw core::InvalidArgument("test#recompiles", "{} recordings", compiled.stats().recompiles.size());
    const Tensors many{numbers_of({2, 7, 4}, 1), numbers_of({2, 4, 6}, 2), numbers_of({2, 6, 3}, 3)};
    const Tensor batch = vmap(loss)(many)[0];
    for (int i = 0; i < 2; ++i) {
      Tensors one;
      for (const Tensor& each : many)
        one.push_back(reshape(slice(each, 0, i, i + 1), each.shape().erased(0)));
      expect_close(slice(batch, 0, i, i + 1), reshape(two_layers(one)[0], {1}), "batch");
    }
  });
}

TEST_CASE("per_rank: values of two kinds do not mix", "[engine]") {
  using G = const GroupPtr&;
  const Tensor captured = numbers_of({4, 2}, 9);
  const std::string rows = "[x, whole]", columns = "[whole, y]", whole = "[whole, whole]";
  CHECK_THAT(
      refusal({rows, whole}, {rows}, [](const Tensors& in, G, G) -> Tensors { return {in[0] * sum(in[1])}; }),
      HasId("mixed", {"multiply", "own along x", "the same on all ranks"}));
  CHECK_THAT(
      refusal({columns}, {columns}, [&](const Tensors& in, G, G) -> Tensors { return {in[0] + captured}; }),
      HasId("mixed", {"add", "own along y"}));
  CHECK_THAT(refusal({rows, columns}, {rows},
                     [](const Tensors& in, G, G) -> Tensors { return {in[0] + sum(in[1])}; }),
             HasId("mixed", {"own along x", "own along y"}));
  CHECK_THAT(
      refusal({whole}, {whole}, [](const Tensors& in, G x, G) -> Tensors { return {all_reduce(in[0], x)}; }),
      HasId("wrong_holder", {"all_reduce", "own along x"}));
  CHECK_THAT(refusal({rows}, {rows}, [](const Tensors& in, G x, G) -> Tensors { return {as_own(in[0], x)}; }),
             HasId("wrong_holder", {"as_own", "own along x"}));
  CHECK_THAT(refusal({rows}, {whole}, [](const Tensors& in, G, G) -> Tensors { return {in[0]}; }),
             HasId("own_output", {"output 0", "own along x"}));
  CHECK_THAT(refusal({whole}, {rows}, [](const Tensors& in, G, G) -> Tensors { return {in[0]}; }),
             HasId("wrong_holder", {"all_gather", "own along x"}));
  CHECK_THAT(refusal({rows + ", sum over y"}, {whole}, [](const Tensors& in, G, G) -> Tensors { return in; }),
             HasId("input_of_terms"));
  CHECK_THAT(refusal({rows}, {"[], sum over x, max over y"},
                     [](const Tensors& in, G, G y) -> Tensors { return {as_own(sum(in[0]), y)}; }),
             HasId("two_combinations"));
  CHECK_THAT(refusal({rows, rows}, {rows}, [](const Tensors& in, G, G) -> Tensors { return in; }),
             HasId("wrong_count", {"1", "2"}));
  CHECK_THAT(
      refusal({rows}, {rows}, [](const Tensors& in, G, G) -> Tensors { return {slice(in[0], 0, 0, 1)}; }),
      HasId("nothing_thrown"));  // one row of two on each rank is a tensor of two rows
  CHECK_THAT(refusal({"[x*y by 3, whole]"}, {"[x*y by 3, whole]"},
                     [](const Tensors& in, G, G) -> Tensors {
                       return {concatenate(Tensors{in[0], in[0]}, 0)};
                     }),
             HasId("wrong_piece"));
  CHECK_THAT(refusal({rows}, {rows},
                     [](const Tensors& in, G, G) -> Tensors {
                       return {in[0] * 3.0 + ones({2, 4}, DType::f64)};
                     }),
             HasId("nothing_thrown"));  // numbers fit to all
}

TEST_CASE("per_rank: values of two kinds do not mix in branches, loops and calls", "[engine]") {
  using G = const GroupPtr&;
  const std::string rows = "[x, whole]", whole = "[whole, whole]";
  const auto sum_in_branch = [](const Tensor& predicate, const Tensor& x, G group) {
    return cond(
        predicate, [&](const Tensors& a) -> Tensors { return {as_own(all_reduce(a[0], group), group)}; },
        [](const Tensors& a) -> Tensors { return a; }, {x});
  };
  CHECK_THAT(refusal({rows}, {rows},
                     [&](const Tensors& in, G x, G) -> Tensors {
                       return sum_in_branch(less(sum(in[0]), 100.0), in[0], x);
                     }),
             HasId("own_predicate", {"own along x"}));
  CHECK_THAT(refusal({rows}, {rows},
                     [&](const Tensors& in, G x, G) -> Tensors {
                       return sum_in_branch(less(all_reduce(sum(in[0]), x), 100.0), in[0], x);
                     }),
             HasId("nothing_thrown"));
  CHECK_THAT(refusal({rows}, {rows},
                     [&](const Tensors& in, G x, G) -> Tensors {
                       const auto last = scan(
                           [&](const Tensors& carry, const Tensors& t) -> Tensors {
                             return {carry[0] + sum(all_reduce(in[0], x)) * t[0]};
                           },
                           {in[0]}, {ones({3}, DType::f64)});
                       return last.carry;
                     }),
             HasId("mixed", {"own along x"}));
  CHECK_THAT(refusal({rows, whole}, {rows},
                     [](const Tensors& in, G, G) -> Tensors {
                       return checkpoint([](const Tensors& x) -> Tensors { return {x[0] * sum(x[1])}; })(in);
                     }),
             HasId("mixed", {"own along x"}));
}
