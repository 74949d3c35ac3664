// SPDX-License-Identifier: Apache-2.0
// Layouts that are searched: what they cost beside pins by hand, and that ranks compute with them as one.
#include "engine/core/error.hpp"
#include "engine/dist/searched_layouts.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/testing/difference.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"
#include "tests/unit/engine/dist/parallel_training.hpp"

#include <cstdlib>
#include <mutex>

using namespace lodestone;
using namespace lodestone::engine;
using tests::bytes_of;
using tests::error_of;
using tests::HasId;
using tests::Training;
using tests::waves_of;

namespace {

/// A step of gradient descent on two layers: an input x and two weights, which are cells.
class Layers {
 public:
  Layers(Dim n, Dim width, Dim hidden, DeviceMesh mesh)
      : program_(
            tests::program_of(step, {zeros({n, width}), zeros({width, hidden}), zeros({hidden, width})})),
        mesh_(std::move(mesh)) {
    task_.layouts.held_in_pieces = {1, 2};
    task_.layouts.cells = {{1, program_.outputs()[1]}, {2, program_.outputs()[2]}};
    task_.n_results = 1;
  }

  [[nodiscard]] const DeviceMesh& mesh() const { return mesh_; }
  [[nodiscard]] SearchTask& task() { return task_; }
  [[nodiscard]] SearchedTable searched() const { return engine::searched(program_, mesh_, task_); }
  /// Returns the program as a table cuts it: x comes whole, the loss leaves whole, weights stay.
  [[nodiscard]] CutProgram cut(const LayoutTable& table) const {
    return {program_,
            table,
            {whole_layout(2, mesh_), table.values[1], table.values[2]},
            {whole_layout(0, mesh_), table.values[1], table.values[2]},
            mesh_};
  }
  /// Returns the price where these layouts are pinned: of x and both weights, no text leaves one free.
  [[nodiscard]] double price_with(const std::vector<std::string>& pins) const {
    LayoutTask task = task_.layouts;
    for (ValueId id = 0; id < pins.size(); ++id) {
      if (!pins[id].empty()) task.pins.push_back({id, layout_from(pins[id], mesh_), "input"});
    }
    return price_of(cut(propagate(program_, mesh_, task)));
  }
  [[nodiscard]] std::string layout(const LayoutTable& table, ValueId id) const {
    return text_of(table.values[id], mesh_);
  }

 private:
  static Tensors step(const Tensors& in) {
    const auto loss = [&](const Tensors& weights) -> Tensors {
      return {mean(square(matmul(tanh(matmul(in[0], weights[0])), weights[1])))};
    };
    const auto [values, gradients] = value_and_grad(loss, {in[1], in[2]});
    return {values, in[1] - gradients[0] * 0.1, in[2] - gradients[1] * 0.1};
  }

  Program program_;
  DeviceMesh mesh_;
  SearchTask task_;
};

const std::vector<std::string> by_data{"[data, whole]", "[whole, whole]", "[whole, whole]"},
    by_operator{"[whole, whole]", "[whole, data]", "[data, whole]"},
    zero_by_rows{"[data, whole]", "[data, whole]", "[data, whole]"};

/// Returns the price of the last line of `explain`, on a mesh with a shard per rank.
double price_in(const std::string& text) {
  const auto number_behind = [&](const std::string& words) {
    return std::strtod(text.c_str() + text.rfind(words) + words.size(), nullptr);
  };
  return number_behind("all ranks receive ") + number_behind(" B and repeat ") / 16.0;
}

/// Returns what a training leaves on rank 0. errors: InvalidArgument if another rank has other bytes.
Tensors trained(Training (*make)(), const DeviceMesh& mesh, int n_steps) {
  std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(mesh.size()));
  Tensors results;
  run_ranks(mesh.size(), [&](const World& world) {
    const Training training = make();
    const auto step = training.parallel_step(world, mesh, {.search = Search::automatic});
    const Tensors all = training.trained(step, n_steps);
    bytes[static_cast<std::size_t>(world->rank())] = bytes_of(all);
    if (world->rank() == 0) results = all;
  });
  for (const auto& each : bytes) {
    if (each != bytes[0]) throw core::InvalidArgument("test#other_rank", "ranks have other results");
  }
  return results;
}

/// Calls a step on each rank, and returns what a function makes of it on rank 0.
template <class T>
T on_ranks(Training (*make)(), const DeviceMesh& mesh, const ParallelOptions& options,
           const std::function<T(const Parallelized&)>& get) {
  T result;
  run_ranks(mesh.size(), [&](const World& world) {
    const Training training = make();
    const auto step = training.parallel_step(world, mesh, options);
    (void)step(training.batch());
    if (world->rank() == 0) result = get(step);
  });
  return result;
}
std::string explain(const Parallelized& step) { return step.explain(); }
std::vector<Pin> pins(const Parallelized& step) { return step.pins(); }

/// Returns pins as lines.
std::string text_of_pins(const std::vector<Pin>& all) {
  std::string text;
  for (const Pin& each : all) text += fmt::format("{} {}\n", each.name, each.layout);
  return text;
}

core::Error refusal(const ParallelOptions& options) {
  return error_of<core::Error>([&] {
    (void)on_ranks<std::string>(Training::layers, DeviceMesh({{"data", 2}}), options, explain);
  });
}

}  // namespace

TEST_CASE("searched layouts: a large batch is cut, large weights are cut, each where it is best",
          "[engine]") {
  const Layers batch(4096, 16, 32, DeviceMesh({{"data", 4}}));
  const LayoutTable data = batch.searched().table;
  CHECK(batch.layout(data, 0) == "[data, whole]");
  const Layers weights(8, 256, 1024, DeviceMesh({{"data", 4}}));
  const LayoutTable model = weights.searched().table;
  CHECK(weights.layout(model, 1) == "[whole, data]");
  CHECK(weights.layout(model, 2) == "[data, whole]");
  const Layers both(512, 64, 512, DeviceMesh({{"data", 2}, {"model", 2}}));
  const LayoutTable two = both.searched().table;
  CHECK(price_of(both.cut(two)) <= both.price_with({"[data, whole]", "[whole, model]", "[model, whole]"}));
}

TEST_CASE("searched layouts: no pins by hand are cheaper, and the price is what is counted", "[engine]") {
  for (const auto& [n, width, hidden] :
       {std::tuple{4096, 16, 32}, std::tuple{8, 256, 1024}, std::tuple{64, 64, 64}, std::tuple{7, 5, 9}}) {
    for (const DeviceMesh& mesh : {DeviceMesh({{"data", 4}}), DeviceMesh({{"data", 2, 3}, {"model", 2}})}) {
      CAPTURE(n, width, hidden, mesh.text());
      const Layers layers(n, width, hidden, mesh);
      const SearchedTable result = layers.searched();
      const double price = price_of(layers.cut(result.table));
      CHECK(result.found.choice.is_exact());
      CHECK(price <= result.found.choice.cost + 1e-6);
      CHECK(result.found.choice.cost <= price * 1.05 + 1e-6);
      for (const auto& pins : {by_data, by_operator, zero_by_rows, {}})
        CHECK(price <= layers.price_with(pins) + 1e-6);
    }
  }
}

TEST_CASE("searched layouts: they do not depend on the number of ranks", "[engine]") {
  const Layers eight(64, 32, 96, DeviceMesh({{"data", 8}}));
  const LayoutTable expected = eight.searched().table;
  for (const int n : {1, 2, 4}) {
    const Layers other(64, 32, 96, DeviceMesh({{"data", n, 8}}));
    const LayoutTable table = other.searched().table;
    CHECK(table.values == expected.values);
    CHECK(table.labels == expected.labels);
  }
}

TEST_CASE("searched layouts: weights are cut as far as memory asks, or the least is told", "[engine]") {
  Layers layers(4096, 16, 32, DeviceMesh({{"data", 4}}));
  const SearchedTable free = layers.searched();
  CHECK(free.found.memory <= 2 * 16 * 32 * 4);
  layers.task().memory_bytes = 16 * 32 * 4;
  const SearchedTable half = layers.searched();
  CHECK(half.found.memory <= 16 * 32 * 4);
  CHECK(half.found.choice.cost >= free.found.choice.cost);
  CHECK(half.found.bound <= half.found.choice.cost);
  layers.task().memory_bytes = 2 * 16 * 32 * 4 / 4 - 1;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)layers.searched(); }),
             HasId("memory", {"at least 1024 B", "1023"}));
}

TEST_CASE("searched layouts: a small limit of entries leaves candidates out", "[engine]") {
  Layers layers(64, 64, 64, DeviceMesh({{"data", 2}, {"model", 2}}));
  layers.task().most_entries = 4;
  const SearchedTable result = layers.searched();
  CHECK_FALSE(result.found.choice.is_exact());
  CHECK(result.table.search.find("candidates left out") != std::string::npos);
  CHECK(price_of(layers.cut(result.table)) <= result.found.choice.cost + 1e-6);
}

TEST_CASE("searched layouts: axes of a mesh in turn lose little", "[engine]") {
  for (const auto& [n, width, hidden] :
       {std::tuple{4096, 16, 32}, std::tuple{8, 256, 1024}, std::tuple{64, 64, 64}, std::tuple{7, 5, 9}}) {
    CAPTURE(n, width, hidden);
    Layers layers(n, width, hidden, DeviceMesh({{"data", 2, 3}, {"model", 2}}));
    const double exact = layers.searched().found.choice.cost;
    layers.task().most_work = 0.0;
    const SearchedTable result = layers.searched();
    CHECK_FALSE(result.found.choice.is_exact());
    CHECK(result.table.search.find("axes of the mesh in turn") != std::string::npos);
    CHECK(result.found.choice.cost >= exact);
    CHECK(result.found.choice.cost <= 1.1 * exact);
    layers.task().memory_bytes = 2.0 * width * hidden * 4 / 2;
    CHECK(layers.searched().found.memory <= layers.task().memory_bytes);
  }
}

TEST_CASE("searched layouts: three axes of a mesh are no dearer than two", "[engine]") {
  const Layers two(48, 32, 64, DeviceMesh({{"a", 2}, {"b", 2}})),
      three(48, 32, 64, DeviceMesh({{"a", 2}, {"b", 2}, {"c", 1}}));
  CHECK(three.searched().found.choice.cost == two.searched().found.choice.cost);
  const Layers all(48, 32, 64, DeviceMesh({{"a", 2}, {"b", 2}, {"c", 2}}));
  const SearchedTable result = all.searched();
  CHECK(price_of(all.cut(result.table)) <= all.price_with({"[a*b*c, whole]", "", ""}));
  CHECK(price_of(all.cut(result.table)) <= all.price_with({"[a*b, whole]", "[whole, c]", "[c, whole]"}));
}

TEST_CASE("searched layouts: trainings have the same bytes on any number of ranks", "[engine]") {
  for (const auto make : {Training::layers, Training::wide_layers, Training::transformer}) {
    const Tensors expected = trained(make, DeviceMesh({{"data", 1, 4}}), 3), alone = make().trained(3);
    for (const int n : {2, 3, 4}) {
      CAPTURE(n);
      CHECK(bytes_of(trained(make, DeviceMesh({{"data", n, 4}}), 3)) == bytes_of(expected));
    }
    REQUIRE(alone.size() == expected.size());
    for (std::size_t i = 0; i < alone.size(); ++i) CHECK(difference(expected[i], alone[i]) < 1e-3);
  }
}

TEST_CASE("searched layouts: a transformer on two axes is that of one rank", "[engine]") {
  const auto on = [](int a, int b) {
    return bytes_of(trained(Training::transformer, DeviceMesh({{"data", a, 2}, {"model", b, 2}}), 3));
  };
  const auto expected = on(1, 1);
  CHECK(on(2, 1) == expected);
  CHECK(on(2, 2) == expected);
}

TEST_CASE("searched layouts: trainings cost no more than by pins of data, moments or weights", "[engine]") {
  const auto price = [](Training (*make)(), const DeviceMesh& mesh, const ParallelOptions& options) {
    return price_in(on_ranks<std::string>(make, mesh, options, explain));
  };
  for (const auto make : {Training::layers, Training::wide_layers, Training::transformer}) {
    const DeviceMesh mesh({{"data", 4}});
    const double searched = price(make, mesh, {.search = Search::automatic});
    std::vector<Pin> pins{{"batch.*", "[data]"}};
    for (const char* zero : {"", "optimizer.*moment*", "net.*"}) {
      if (*zero != '\0') pins.push_back({zero, zero_over("data")});
      CAPTURE(zero);
      CHECK(searched <= price(make, mesh, {.pins = pins}));
    }
  }
  const DeviceMesh mesh({{"data", 2}, {"model", 2}});
  const std::vector<Pin> pins{
      {"batch.*", "[data]"}, {"net.*.up.weight", "[whole, model]"}, {"net.*.down.weight", "[model, whole]"}};
  CHECK(price(Training::transformer, mesh, {.search = Search::automatic}) <=
        price(Training::transformer, mesh, {.pins = pins}));
}

TEST_CASE("searched layouts: ranks send the bytes that were predicted", "[engine]") {
  std::int64_t bytes = 0, messages = 0;
  double predicted = 0.0;
  std::mutex mutex;
  run_ranks(2, [&](const World& world) {
    const Training training = Training::wide_layers();
    const auto step = training.parallel_step(world, DeviceMesh({{"data", 2}}), {.search = Search::automatic});
    (void)step(training.batch());
    const TransportCounts before = world->counts();
    (void)step(training.batch());
    const std::scoped_lock lock(mutex);
    bytes += world->counts().bytes - before.bytes;
    messages += world->counts().messages - before.messages;
    const std::string text = step.explain(), words = "all ranks receive ";
    predicted = std::strtod(text.c_str() + text.rfind(words) + words.size(), nullptr);
  });
  CAPTURE(bytes, messages, predicted);
  CHECK(predicted > 1e5);
  // Before each collective ranks agree on it.
  constexpr double most_of_agreement = 256.0;
  CHECK(static_cast<double>(bytes) >= predicted);
  CHECK(static_cast<double>(bytes) <= predicted + most_of_agreement * static_cast<double>(messages));
}

TEST_CASE("searched layouts: their pins lead to them again, on another number of ranks", "[engine]") {
  const DeviceMesh two({{"data", 2, 4}}), four({{"data", 4}});
  const ParallelOptions tight{.search = Search::automatic, .memory_bytes = 1800};
  const auto found = on_ranks<std::vector<Pin>>(Training::layers, two, tight, pins);
  const std::string text = text_of_pins(found);
  CHECK(text.find("net.0.weight [") != std::string::npos);
  CHECK(text.find("optimizer.") != std::string::npos);
  const ParallelOptions again{.pins = found, .search = Search::automatic};
  for (const DeviceMesh& mesh : {two, four}) {
    const auto others = on_ranks<std::vector<Pin>>(Training::layers, mesh, again, pins);
    CHECK(text_of_pins(others) == text);
  }
  // They are pins as any others.
  const auto followed = on_ranks<std::vector<Pin>>(Training::layers, two, {.pins = found}, pins);
  CHECK(text_of_pins(followed) == text);
}

TEST_CASE("searched layouts: what is pinned stays, and explain tells of the search", "[engine]") {
  const DeviceMesh mesh({{"data", 2}});
  const auto step = [](const Tensors& in) -> Tensors {
    return {sum(checkpoint_name(in[0] * 2.0, "doubled") * 3.0)};
  };
  run_ranks(2, [&](const World& world) {
    const auto f =
        parallelize(step, world, mesh, {.pins = {{"doubled", "[whole, data]"}}, .search = Search::automatic});
    (void)f({waves_of({64, 6}, 0.5)});
    const std::string text = f.explain(), named = text_of_pins(f.pins());
    for (const char* part : {"searched ", " variables of up to ", "no candidate left out", "[whole, data]"}) {
      if (text.find(part) == std::string::npos)
        throw core::InvalidArgument("test#explain", "\"{}\" is not in \"{}\"", part, text);
    }
    if (named != "0 [whole, data]\ndoubled [whole, data]\n")
      throw core::InvalidArgument("test#pins", "pins are \"{}\"", named);
  });
}

TEST_CASE("searched layouts: cells stay as they are cut when inputs of another shape come", "[engine]") {
  run_ranks(4, [](const World& world) {
    const Variable up("up", waves_of({32, 64}, 0.5)), down("down", waves_of({64, 32}, 0.3));
    const auto step = [&](const Tensors& in) -> Tensors {
      const auto loss = [&] { return mean(square(matmul(tanh(matmul(in[0], up.value())), down.value()))); };
      const auto [value, gradients] = value_and_grad(loss, Variables{up, down});
      up.assign(up.value() - gradients[0] * 0.1);
      down.assign(down.value() - gradients[1] * 0.1);
      return {value};
    };
    const DeviceMesh mesh({{"data", 4}});
    const auto pins_after = [&](const std::vector<Dim>& sizes) {
      const auto f = parallelize(step, world, mesh, {.inputs = {"x"}, .search = Search::automatic});
      for (const Dim n : sizes) (void)f({waves_of({n, 32}, 0.7)});
      const std::string all = text_of_pins(f.pins());
      return all.substr(all.find("up "));
    };
    const std::string small = pins_after({8}), large = pins_after({4096}), then_large = pins_after({8, 4096});
    if (small == large || then_large != small)
      throw core::InvalidArgument("test#cells", "cells are {} and {}, then {}", small, large, then_large);
  });
}

TEST_CASE("searched layouts: moves that cost more than their bytes are fewer", "[engine]") {
  Layers layers(64, 64, 64, DeviceMesh({{"data", 4}}));
  const auto moves = [&] {
    const Movement movement = movement_of(layers.cut(layers.searched().table));
    return std::ranges::count_if(movement.instructions, [](std::int64_t bytes) { return bytes > 0; }) +
           (movement.outputs > 0 ? 1 : 0);
  };
  const auto many = moves();
  CHECK(many > 2);
  layers.task().move_bytes = 1e9;
  CHECK(moves() == 0);
}

TEST_CASE("searched layouts: pins, meshes, memory and options that do not suit are refused", "[engine]") {
  CHECK_THAT(refusal({.pins = {{"batch.*", "[model]"}}, .search = Search::automatic}),
             HasId("wrong_pin", {"model", "data=2"}));
  CHECK_THAT(refusal({.pins = {{"nothing", "[data]"}}, .search = Search::automatic}),
             HasId("pin_of_nothing", {"nothing", "batch.x"}));
  CHECK_THAT(refusal({.search = Search::automatic, .memory_bytes = 100}),
             HasId("memory", {"at least", " is 100;"}));
  CHECK_THAT(refusal({.pins = {{"net.*", "[]"}}, .search = Search::automatic, .memory_bytes = 1200}),
             HasId("memory", {"at least", "unpin"}));
  CHECK_THAT(refusal({.memory_bytes = 1e9}), HasId("search_options", {"Search::automatic"}));
  CHECK_THAT(refusal({.search = Search::automatic, .memory_bytes = -1}), HasId("search_options", {"-1"}));
}
