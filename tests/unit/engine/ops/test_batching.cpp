// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/nn/initial_values.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

Tensor random(const Shape& shape, std::uint64_t seed) {
  return InitialValues(seed, DType::f64).draw(shape, normal_around(0.0, 1.0)).eval();
}

/// The ops that run, in their order, without views.
std::string ops_of(const std::function<Tensor()>& f) {
  std::string names;
  const ExecutionObserver observer([&](const Node& node) {
    if (!is_view(node)) names += (names.empty() ? "" : " ") + node.op->name + " " + node.aval.shape.text();
  });
  f().eval();
  return names;
}

}  // namespace

TEST_CASE("batching: what all items share is not repeated where an axis of the others takes the batch",
          "[engine]") {
  const Tensor x = random({2, 9, 4}, 1), w = random({3, 4, 6}, 2);
  const auto convolved = [](const Tensors& in) -> Tensors { return {conv(in[0], in[1], {})}; };
  const Tensor many_x = random({5, 2, 9, 4}, 3), many_w = random({5, 3, 4, 6}, 4);
  CHECK(ops_of([&] { return vmap(convolved, {true, false})({many_x, w})[0]; }) == "conv [10, 7, 6]");
  CHECK(ops_of([&] {
          return vmap(convolved, {false, true})({x, many_w})[0];
        }) == "reshape [3, 4, 30] conv [2, 7, 30]");

  const Tensor matrix = (random({4, 4}, 5) + 9.0 * eye(4, DType::f64)).eval(), columns = random({5, 4, 2}, 6);
  const auto solved = [](const Tensors& in) -> Tensors { return {triangular_solve(in[0], in[1])}; };
  CHECK(ops_of([&] {
          return vmap(solved, {false, true})({matrix, columns})[0];
        }) == "reshape [4, 10] triangular_solve [4, 10]");

  const auto scaled = [](const Tensors& in) -> Tensors { return {scale_shift(in[0], in[1], in[2])}; };
  const Tensor scale = random({4}, 7);
  CHECK(ops_of([&] {
          return vmap(scaled, {true, false, false})({many_x, scale, scale})[0];
        }) == "scale_shift [10, 9, 4]");
}

TEST_CASE("batching: no items give no results, of the right shape", "[engine]") {
  const auto both = [](const Tensors& in) -> Tensors { return {conv(in[0], in[1], {})}; };
  CHECK(vmap(both)({zeros({0, 2, 9, 4}), zeros({0, 3, 4, 6})})[0].shape() == Shape{0, 2, 7, 6});
  const auto pooled = [](const Tensors& in) -> Tensors { return {max_pool(in[0], {.window = {3}})}; };
  CHECK(vmap(pooled)({zeros({0, 2, 9, 4})})[0].eval().shape() == Shape{0, 2, 3, 4});
}

TEST_CASE("batching: a row that says nothing of its axes refuses, with its name and the line", "[engine]") {
  static OpInfo row;  // nodes point at it
  row.name = "silent";
  row.dtypes = real_floats;
  row.infer = infer_alike;
  row.derivative.why_none = "it gives nothing";
  const auto f = [](const Tensors& in) -> Tensors {
    return {record(row, in, {}, std::source_location::current())};
  };
  CHECK_FALSE(can_batch(row));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(vmap(f)({zeros({3})})); }),
             HasId("no_batching_rule", {"[silent]", "vmap", "(test_batching.cpp:"}));
}

TEST_CASE("batching: one handle does not serve items of which each needs its own", "[engine]") {
  const OpInfo& value = op_named("implicit_value");
  Sampler sampler(DType::f64, 1);
  const Sample sample = value.sample(sampler);
  Tensors inputs = sample.prepare(sample.inputs);  // the handle, parameters
  std::vector<bool> batched(inputs.size(), true);
  batched[0] = false;
  for (std::size_t i = 1; i < inputs.size(); ++i)
    inputs[i] = broadcast_to(inputs[i], inputs[i].shape().inserted(0, 2));
  const auto f = [&](const Tensors& in) -> Tensors {
    return {record(value, in, sample.attrs, std::source_location::current())};
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(vmap(f, batched)(inputs)); }),
             HasId("one_handle_for_all", {"[implicit_value]", "2 items", "(test_batching.cpp:"}));
}
