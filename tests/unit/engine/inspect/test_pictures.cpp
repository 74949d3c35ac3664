// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/inspect/memory_pieces.hpp"
#include "engine/inspect/modules.hpp"
#include "engine/inspect/pictures.hpp"
#include "engine/inspect/planned_function.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/custom.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <algorithm>
#include <set>
#include <string_view>

using namespace lodestone::engine;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

std::vector<std::uint32_t> lines_of(const Program& program) {
  std::vector<std::uint32_t> lines;
  for (const Instruction& each : program.instructions()) {
    CAPTURE(program.text(each), each.where.file_name());
    CHECK(std::string_view(each.where.file_name()).ends_with("test_pictures.cpp"));
    lines.push_back(each.where.line());
  }
  return lines;
}

Program program_of(const Function& f, const Tensors& like) {
  return Program::of(Trace::without_values(f, avals_of(like), std::source_location::current()));
}

/// A network of two layers, and a step of its training.
struct Training {
  InitialValues initial{7};
  Sequential net{Linear(4, 8, initial), [](const Tensor& x) { return tanh(x); }, Linear(8, 2, initial)};
  Adam adam{net, {.learning_rate = 1e-2}};
  Function step = [this](const Tensors& batch) -> Tensors {
    const auto [loss, gradients] =
        value_and_grad([&] { return mean_squared_error(net(batch[0]), batch[1]); }, net.parameters());
    adam.step(gradients);
    return {loss};
  };
  /// The names of all cells.
  [[nodiscard]] std::vector<NamedVariable> cells() const {
    std::vector<NamedVariable> all = net.variables();
    for (const NamedVariable& each : adam.variables()) all.push_back(each);
    return all;
  }
  std::vector<Aval> arguments{{{16, 4}, DType::f32, default_device()},
                              {{16, 2}, DType::f32, default_device()}};
};

}  // namespace

TEST_CASE("places: ops of a backward pass have the lines of the ops whose rules made them") {
  const Tensor x = (ones({3, 2}) * 0.5).eval();
  const std::uint32_t first = std::source_location::current().line();
  const auto f = [](const Tensor& in) {
    const Tensor y = tanh(in);
    const Tensor z = softmax(y * y);
    return sum(sqrt(z));
  };
  const auto lines =
      lines_of(program_of([&](const Tensors& in) -> Tensors { return {grad(f)(in[0])}; }, {x}));
  const auto n_at = [&](std::uint32_t line) { return std::ranges::count(lines, first + line); };
  CHECK(n_at(2) > 1);  // tanh and its derivative
  CHECK(n_at(3) > 2);
  CHECK(n_at(4) > 1);
}

TEST_CASE("places: batches keep lines, and rules of the user have their own") {
  const Tensor x = (ones({3, 2}) * 0.5).eval();
  const std::uint32_t first = std::source_location::current().line();
  const auto f = custom(
      [](const Tensors& in) -> Tensors { return {exp(in[0])}; },
      {.name = "f", .jvp = {}, .vjp = [](const Tensors&, const Tensors& y, const Tensors& w) -> Tensors {
         return {y[0] * w[0]};
       }});
  const auto slope = vmap([&](const Tensors& in) -> Tensors {
    return {grad([&](const Tensor& at) { return sum(f({at})[0]); })(in[0])};
  });
  const auto lines = lines_of(program_of(slope, {x}));
  CHECK(std::ranges::count(lines, first + 4) > 0);  // in the rule
}

TEST_CASE("modules: instructions belong to the cells they read, those behind them to the same") {
  Training training;
  const PlannedFunction function =
      planned_function(training.step, training.arguments, Level::O0, std::source_location::current());
  const auto names = function.input_names(training.cells());
  CHECK(std::ranges::find(names, "2.weight") != names.end());
  const Program& program = function.plan->program();
  const auto modules = modules_of(program, names);
  std::vector<std::string> of_products, of_tanh;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const std::string& op = program.instructions()[i].op->name;
    if (op == "dot_general") of_products.push_back(modules[i]);
    if (op == "tanh") of_tanh.push_back(modules[i]);
  }
  REQUIRE(of_products.size() >= 4);  // forward, and gradients of both
  CHECK(of_products[0] == "0");
  CHECK(of_products[1] == "2");
  CHECK(of_tanh == std::vector<std::string>{"0"});
}

TEST_CASE("pictures: a graph has a node per instruction, an edge per operand and a box per module") {
  Training training;
  const PictureOptions options{.cells = training.cells()};
  const std::string graph = dot(training.step, training.arguments, Stage::recorded, options);
  const PlannedFunction function =
      planned_function(training.step, training.arguments, Level::O0, std::source_location::current());
  const Program& program = function.plan->program();
  const auto count = [](const std::string& text, std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  CHECK(count(graph, "\n    i") == program.instructions().size());
  CHECK(count(graph, " -> ") == program.parts().operands.size() + program.outputs().size());
  CHECK(count(graph, "label=\"2\"") == 1);
  CHECK(count(graph, "label=\"0.weight\"") == 1);
  const std::string running = dot(training.step, training.arguments, Stage::running, options);
  CHECK(running.find("fused") != std::string::npos);
  const PlannedFunction planned =
      planned_function(training.step, training.arguments, options.level, std::source_location::current());
  const std::size_t n_instructions = planned.plan->running().instructions().size();
  CHECK(count(running, "\n    i") == n_instructions);
  for (const Stage stage : {Stage::planned, Stage::generated})
    CHECK(dot(training.step, training.arguments, stage, options) == running);
}

TEST_CASE("pictures: a page has all stages, the memory, and why ops are not merged") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor small = exp(in[0]);
    return {tanh(broadcast_to(reshape(small, {1, 8, 1}), {4, 8, 3}))};
  };
  const std::vector<Aval> arguments{{{8}, DType::f32, default_device()}};
  const std::string text = page(f, arguments, {.title = "A <title>"});
  CHECK_THAT(text, Catch::StartsWith("<!DOCTYPE html>") && Catch::Contains("A &lt;title&gt;"));
  for (const char* const id : {"recorded", "rewritten", "running", "planned", "memory"})
    CHECK(text.find(std::string("<h2 id=\"") + id) != std::string::npos);
  CHECK(text.find("test_pictures.cpp:") != std::string::npos);
  CHECK(text.find("32 bytes until %") != std::string::npos);
  CHECK(text.find("384 bytes to the end") != std::string::npos);
  Training training;
  const std::string of_training = page(training.step, training.arguments, {.cells = training.cells()});
  CHECK(of_training.find("<summary>2: ") != std::string::npos);
  CHECK(of_training.find("apart from %") != std::string::npos);
  CHECK(of_training.find("<svg") != std::string::npos);
  CHECK(of_training.find("http://") == of_training.find("http://www.w3.org/2000/svg"));
  CHECK(page(f, arguments, {.level = Level::O0}).find("<h2 id=\"running") == std::string::npos);
}

TEST_CASE("pictures: pieces of memory lie apart while they live, and fill what is used") {
  for (const lodestone::tests::SampleNetwork& each : lodestone::tests::SampleNetworks(DType::f32).all()) {
    CAPTURE(each.name);
    const auto plan = lodestone::tests::plan_of(each.f, each.inputs, Level::O0);
    const Lowered& lowered = plan->lowered();
    const auto pieces = placed_pieces(lowered);
    const bool is_all_kernels = lowered.segments.size() == 1;
    REQUIRE(lowered.blocks.size() == 1);
    const auto [device, bytes, most_alive] = lowered.blocks[0];
    std::size_t most = 0;
    for (std::uint32_t launch = 0; launch < lowered.launches.size(); ++launch) {
      std::set<std::pair<std::size_t, std::size_t>> living;  // begin and end; one in place of another is one
      for (const PlacedPiece& piece : pieces) {
        if (piece.first <= launch && launch <= piece.last)
          living.emplace(piece.offset, piece.offset + (std::max<std::size_t>(piece.bytes, 1) + 63) / 64 * 64);
      }
      std::size_t now = 0, end = 0;
      for (const auto& [from, to] : living) {
        CHECK(from >= end);
        now += to - from;
        end = to;
      }
      most = std::max(most, now);
      CHECK(end <= bytes);
    }
    // Workspaces without bytes take the least place there is.
    CHECK(most <= most_alive);
    if (is_all_kernels) CHECK(most + 64 >= most_alive);
  }
}

TEST_CASE("pictures: a function that reads values has none") {
  const Function f = [](const Tensors& in) -> Tensors { return {in[0] * in[0].item<float>()}; };
  const std::vector<Aval> arguments{{{}, DType::f32, default_device()}};
  CHECK_THAT(error_of<lodestone::core::InvalidArgument>([&] { static_cast<void>(page(f, arguments)); }),
             HasId("no_values_while_tracing"));
}
