// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

/// A function with its table.
struct Case {
  Program program;
  DeviceMesh mesh;
  LayoutTable table;

  [[nodiscard]] std::string output(std::size_t i = 0) const {
    return text_of(table.values[program.outputs()[i]], mesh);
  }
  [[nodiscard]] std::string value(ValueId id) const { return text_of(table.values[id], mesh); }
  /// Returns why the first use of a row is cut as it is.
  [[nodiscard]] std::string reason(std::string_view row) const {
    for (std::size_t i = 0; i < program.instructions().size(); ++i) {
      if (program.instructions()[i].op->name == row) return table.reasons[i];
    }
    return "no such instruction";
  }
};

/// Pins inputs: no text leaves one free.
Case propagated(const Function& f, const std::vector<Shape>& shapes, const std::vector<std::string>& pins,
                const DeviceMesh& mesh = DeviceMesh({{"data", 2}, {"model", 2}})) {
  Tensors inputs;
  for (const Shape& shape : shapes) inputs.push_back(zeros(shape, DType::f64));
  Program program = tests::program_of(f, inputs);
  LayoutTask task;
  for (ValueId id = 0; id < pins.size(); ++id) {
    task.held_in_pieces.push_back(id);
    if (!pins[id].empty()) task.pins.push_back({id, layout_from(pins[id], mesh), "input"});
  }
  LayoutTable table = propagate(program, mesh, task);
  return {std::move(program), mesh, std::move(table)};
}

}  // namespace

TEST_CASE("propagate: rows of a batch stay cut through layers, and sums over it are the same", "[engine]") {
  const Case layers = propagated(
      [](const Tensors& in) -> Tensors {
        const Tensor hidden = tanh(matmul(in[0], in[1]));
        return {hidden, sum(hidden), sum(hidden, Axes{0}), matmul(transpose(in[0]), hidden)};
      },
      {{8, 4}, {4, 6}}, {"[data, whole]", ""});
  CHECK(layers.output(0) == "[data, whole]");
  CHECK(layers.output(1) == "[]");
  CHECK(layers.output(2) == "[whole]");
  CHECK(layers.output(3) == "[whole, whole]");
  CHECK(layers.value(1) == "[whole, whole]");
  CHECK(layers.reason("dot_general") == "follows %0");
}

TEST_CASE("propagate: two weights cut over the model need one sum", "[engine]") {
  const Case layers = propagated(
      [](const Tensors& in) -> Tensors {
        const Tensor hidden = tanh(matmul(in[0], in[1]) + in[2]);
        return {hidden, matmul(hidden, in[3])};
      },
      {{8, 4}, {4, 6}, {6}, {6, 4}}, {"[data, whole]", "[whole, model]", "", "[model, whole]"});
  CHECK(layers.output(0) == "[data, model]");
  CHECK(layers.output(1) == "[data, whole]");
  CHECK(layers.value(2) == "[model]");  // the bias follows what it is added to
}

TEST_CASE("propagate: layouts go backwards through elementwise ops and cells", "[engine]") {
  const DeviceMesh mesh({{"data", 4}});
  const auto step = [](const Tensors& in) -> Tensors {
    const Tensor moment = in[1] * 0.9 + matmul(transpose(in[2]), in[2]);
    return {in[0] - moment, moment};
  };
  const Program program = tests::program_of(step, {zeros({8, 8}), zeros({8, 8}), zeros({16, 8})});
  const LayoutTable table = propagate(program, mesh,
                                      {.pins = {{0, layout_from("[data, whole]", mesh), "weight"}},
                                       .cells = {{0, program.outputs()[0]}, {1, program.outputs()[1]}},
                                       .held_in_pieces = {0, 1}});
  CHECK(text_of(table.values[1], mesh) == "[data, whole]");
  CHECK(text_of(table.values[program.outputs()[0]], mesh) == "[data, whole]");
  CHECK(text_of(table.values[program.outputs()[1]], mesh) == "[data, whole]");
}

TEST_CASE("propagate: a reshape keeps pieces of whole rows, both ways", "[engine]") {
  const auto flat = [](const Tensors& in) -> Tensors { return {reshape(in[0], {24})}; };
  CHECK(propagated(flat, {{6, 4}}, {"[data, whole]"}).output() == "[data by 4]");
  CHECK(propagated(flat, {{6, 4}}, {"[whole, data]"}).output() == "[whole]");
  const auto rows = [](const Tensors& in) -> Tensors { return {reshape(in[0], {6, 4})}; };
  CHECK(propagated(rows, {{24}}, {"[data]"}).output() == "[data, whole]");
}

TEST_CASE("propagate: whole labels and indexed axes are gathered", "[engine]") {
  const Case whole = propagated(
      [](const Tensors& in) -> Tensors {
        return {softmax(in[0], 1), cumulative_sum(in[0], 0)};
      },
      {{8, 6}}, {"[data, model]"});
  CHECK(whole.output(0) == "[data, whole]");
  CHECK(whole.output(1) == "[whole, model]");
}

TEST_CASE("propagate: the cheapest of two proposals wins, with its price", "[engine]") {
  const auto sum_of = [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; };
  // Rows of a large array stay, and the small weight comes whole.
  const Case large = propagated(sum_of, {{4096, 4}, {4, 8}}, {"[data, whole]", "[whole, data]"});
  CHECK(large.output() == "[data, whole]");
  CHECK(large.reason("dot_general").starts_with("follows %0, conflict: %0 "));
  const Case wide = propagated(sum_of, {{8, 4}, {4, 4096}}, {"[data, whole]", "[whole, data]"});
  CHECK(wide.output() == "[whole, data]");
  CHECK(wide.reason("dot_general").starts_with("follows %1, conflict: %0 "));
  // Equal prices: the first operand counts.
  const Case equal = propagated([](const Tensors& in) -> Tensors { return {in[0] + in[1]}; },
                                {{8, 8}, {8, 8}}, {"[data, whole]", "[whole, data]"});
  CHECK(equal.output() == "[data, whole]");
}

TEST_CASE("propagate: prices count shards, whatever the number of ranks", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors { return {matmul(in[0], in[1])}; };
  for (const int size : {1, 2, 8}) {
    const Case each = propagated(f, {{64, 64}, {64, 64}}, {"[data, whole]", "[data, whole]"},
                                 DeviceMesh({{"data", size, 8}}));
    CHECK(each.reason("dot_general") ==
          propagated(f, {{64, 64}, {64, 64}}, {"[data, whole]", "[data, whole]"}, DeviceMesh({{"data", 8}}))
              .reason("dot_general"));
  }
}

TEST_CASE("propagate: an extremum over too few elements stays whole", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors { return {max(in[0], Axes{0}), sum(in[0], Axes{0})}; };
  const Case few = propagated(f, {{3, 4}}, {"[data, whole]"}, DeviceMesh({{"data", 4}}));
  CHECK(few.reason("max") == "no operand is cut");
  CHECK(few.reason("sum") == "follows %0");
}

TEST_CASE("propagate: collectives belong into functions per rank", "[engine]") {
  const DeviceMesh mesh({{"data", 1}});
  const GroupPtr data = group_of(lone_rank(), mesh, {"data"});
  const auto f = [&](const Tensors& in) -> Tensors { return {all_reduce(in[0], data)}; };
  const auto error = error_of<core::InvalidArgument>([&] { propagated(f, {{4}}, {""}, mesh); });
  CHECK_THAT(error, HasId("collective"));
}
