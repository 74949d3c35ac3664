// SPDX-License-Identifier: Apache-2.0
// Functions of one machine on the ranks of a mesh.
#include "engine/core/error.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/random.hpp"
#include "engine/record/op_by_op.hpp"
#include "engine/testing/difference.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"
#include "tests/unit/engine/dist/parallel_training.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::bytes_of;
using tests::error_of;
using tests::HasId;
using tests::Training;
using tests::waves_of;

namespace {

const std::vector<Pin> data_parallel{{"batch.*", "[data]"}};

/// Returns what a training leaves on rank 0. errors: InvalidArgument if another rank has other bytes.
Tensors trained(Training (*make)(), const DeviceMesh& mesh, const std::vector<Pin>& pins, int n_steps) {
  std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(mesh.size()));
  Tensors results;
  run_ranks(mesh.size(), [&](const World& world) {
    const Tensors all = make().trained(world, mesh, pins, n_steps);
    bytes[static_cast<std::size_t>(world->rank())] = bytes_of(all);
    if (world->rank() == 0) results = all;
  });
  for (const auto& each : bytes) {
    if (each != bytes[0]) throw core::InvalidArgument("test#other_rank", "ranks have other results");
  }
  return results;
}

/// Trains on 1 to 8 ranks with as many shards and compares with one machine.
void check_any_ranks(Training (*make)(), const std::vector<Pin>& pins) {
  const auto on = [&](int n) { return trained(make, DeviceMesh({{"data", n, 8}}), pins, 4); };
  const Tensors expected = on(1), alone = make().trained(4);
  for (const int n : {2, 3, 4, 8}) {
    CAPTURE(n);
    CHECK(bytes_of(on(n)) == bytes_of(expected));
  }
  REQUIRE(alone.size() == expected.size());
  for (std::size_t i = 0; i < alone.size(); ++i) CHECK(difference(expected[i], alone[i]) < 1e-3);
}

/// Runs a function on two ranks of a mesh "data" and returns its error.
core::Error refusal(const ParallelOptions& options, const std::function<Tensors(const Tensors&, int)>& f) {
  return error_of<core::Error>([&] {
    run_ranks(2, [&](const World& world) {
      const auto parallel = parallelize([&](const Tensors& in) { return f(in, world->rank()); }, world,
                                        DeviceMesh({{"data", 2}}), options);
      (void)parallel({waves_of({4, 6}, 0.5)});
    });
  });
}
Tensors twice(const Tensors& in, int) { return {in[0] * 2.0}; }

}  // namespace

TEST_CASE("parallelize: a training has the same bytes on 1 to 8 ranks", "[engine]") {
  check_any_ranks(Training::layers, data_parallel);
  check_any_ranks(Training::wide_layers, data_parallel);
}

TEST_CASE("parallelize: a transformer has the same bytes on 1 to 8 ranks", "[engine]") {
  check_any_ranks(Training::transformer, data_parallel);
}

TEST_CASE("parallelize: cut moments and weights have the same bytes on 1 to 8 ranks", "[engine]") {
  std::vector<Pin> pins = data_parallel;
  pins.push_back({"optimizer.*moment*", zero_over("data")});
  check_any_ranks(Training::layers, pins);
  pins.push_back({"net.*", zero_over("data")});
  check_any_ranks(Training::transformer, pins);
}

TEST_CASE("parallelize: parameters without a pin stay whole, whatever their moments are", "[engine]") {
  run_ranks(2, [](const World& world) {
    const Training training = Training::layers();
    std::vector<Pin> pins = data_parallel;
    pins.push_back({"optimizer.*moment*", zero_over("data")});
    (void)training.trained(world, DeviceMesh({{"data", 2}}), pins, 1);
    for (const auto& [name, cell] : training.cells()) {
      const auto error = error_of<core::InvalidArgument>([&] { (void)cell.value().eval(); });
      const bool is_moment = name.find("moment") != std::string::npos;
      if (is_moment != (error.id() == "cut_cell"))
        throw core::InvalidArgument("test#whole", "\"{}\" is {} whole", name, is_moment ? "" : "not");
    }
  });
}

TEST_CASE("parallelize: cells take their new pieces in the memory of the old ones", "[engine]") {
  run_ranks(2, [](const World& world) {
    const Training training = Training::layers();
    const auto step = parallelize(training.step(), world, DeviceMesh({{"data", 2}}),
                                  {.pins = {{"batch.*", "[data]"}, {"*.weight", zero_over("data")}},
                                   .inputs = {"batch.x", "batch.y"},
                                   .cells = training.cells()});
    for (int i = 0; i < 2; ++i) (void)step(training.batch());
    const CompileStats before = step.stats();
    for (int i = 0; i < 3; ++i) (void)step(training.batch());
    const CompileStats after = step.stats();
    // Four of the thirteen cells get new memory: they are ready before the last sum, which may fail.
    if (after.n_undonated - before.n_undonated > 3 * 4 || after.n_traces != 1 || after.n_hits != 4)
      throw core::InvalidArgument("test#memory", "{} arrays in new memory, {} recordings, {} hits",
                                  after.n_undonated - before.n_undonated, after.n_traces, after.n_hits);
  });
}

TEST_CASE("parallelize: a batch norm of a cut batch is cut into its sums", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor y = batch_norm(in[0], in[1], in[2], 1e-3).y;
    return {sum(square(y * in[0]))};
  };
  const Tensors in{waves_of({12, 5, 4}, 0.7), waves_of({4}, 0.3), waves_of({4}, 0.9)};
  const auto on = [&](int n, int shards, std::string& text) {
    std::vector<std::byte> bytes;
    run_ranks(n, [&](const World& world) {
      const auto gradient = [&](const Tensors& x) {
        const auto found = value_and_grad(f, x);
        Tensors all = found.gradients;
        all.push_back(found.value);
        return all;
      };
      const auto step =
          parallelize(gradient, world, DeviceMesh({{"data", n, shards}}), {.pins = {{"0", "[data]"}}});
      const Tensors got = step(in);
      if (world->rank() != 0) return;
      bytes = bytes_of(got);
      text = step.explain();
      const Tensors expected = run_op_by_op(gradient, in);
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(difference(got[i], expected[i]) < 1e-5);
    });
    return bytes;
  };
  std::string cut, whole;
  CHECK(on(3, 4, cut) == on(1, 4, whole));
  CHECK(cut.find("= batch_norm") == std::string::npos);
  CHECK(cut.find("all_gather") == std::string::npos);
  (void)on(1, 1, whole);  // with one shard there is no reason for another op
  CHECK(whole.find("= batch_norm") != std::string::npos);
}

TEST_CASE("parallelize: a small sum is one message to each rank, and steps compare nothing", "[engine]") {
  run_ranks(3, [](const World& world) {
    const auto step = parallelize([](const Tensors& in) -> Tensors { return {sum(square(in[0]))}; }, world,
                                  DeviceMesh({{"data", 3, 6}}), {.pins = {{"0", "[data]"}}});
    (void)step({waves_of({12, 6}, 0.7)});
    const auto before = world->counts();
    (void)step({waves_of({12, 6}, 0.7)})[0].item<float>();
    const auto n = world->counts().messages - before.messages, bytes = world->counts().bytes - before.bytes;
    // A rank has two of the six shards, and sends one number or two, as they are one subtree or not.
    if (n > 2 * 2 || bytes != n * 4) throw core::InvalidArgument("test#messages", "{} of {} bytes", n, bytes);
  });
}

TEST_CASE("parallelize: inputs may come in pieces, with the bytes of whole ones", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors { return {mean(square(in[0])) + sum(in[1]), in[0] * 2.0}; };
  const Tensors in{waves_of({11, 3}, 0.7), waves_of({4}, 0.3)};
  run_ranks(3, [&](const World& world) {
    const DeviceMesh mesh({{"data", 3, 5}});
    const auto step = parallelize(f, world, mesh, {.pins = {{"0", "[data]"}}});
    const Box box = box_of(layout_from("[data, whole]", mesh), {11, 3}, mesh, world->rank());
    const Tensor piece = slice(in[0], 0, box.first[0], box.end(0)).eval();
    const auto bytes_before = world->counts().bytes;
    const Tensors got = step.of_pieces({piece, in[1]}, {{11, 3}, {4}});
    if (bytes_of(got) != bytes_of(step(in)) || world->counts().bytes == bytes_before)
      throw core::InvalidArgument("test#pieces", "pieces give other bytes");
    const auto wrong = error_of<core::ShapeError>([&] { (void)step.of_pieces(in, {{11, 3}, {4}}); });
    const auto few = error_of<core::InvalidArgument>([&] { (void)step.of_pieces(in, {{11, 3}}); });
    const auto followed = error_of<core::InvalidArgument>([&] {
      const Function of = [&](const Tensors& x) -> Tensors {
        return {step.of_pieces({x[0], in[1]}, {{11, 3}, {4}})[0]};
      };
      (void)value_and_grad(of, {piece});
    });
    if (wrong.id() != "wrong_piece" || few.id() != "wrong_pieces" || followed.id() != "followed_pieces")
      throw core::InvalidArgument("test#errors", "got {}, {}, {}", wrong.id(), few.id(), followed.id());
  });
}

TEST_CASE("parallelize: weights cut over a model train as on one machine", "[engine]") {
  const std::vector<Pin> pins{
      {"batch.*", "[data]"}, {"net.*.up.weight", "[whole, model]"}, {"net.*.down.weight", "[model, whole]"}};
  const Tensors expected = Training::transformer().trained(3);
  const Tensors got = trained(Training::transformer, DeviceMesh({{"data", 2}, {"model", 2}}), pins, 3);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(difference(got[i], expected[i]) < 1e-3);
}

TEST_CASE("parallelize: with one shard per rank, sums of gradients are all that is added", "[engine]") {
  const auto program_on = [](int n) {
    std::string text;
    run_ranks(n, [&](const World& world) {
      const Training training = Training::layers();
      const auto step = parallelize(training.step(), world, DeviceMesh({{"data", n}}),
                                    {.pins = data_parallel, .inputs = {"batch.x", "batch.y"}});
      (void)step(training.batch());
      if (world->rank() == 0) text = step.explain();
    });
    return text;
  };
  const auto n_lines_with = [](const std::string& text, const std::string& part) {
    int n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  // The sums of four parameters and of a loss send bytes between two ranks.
  const std::string alone = program_on(1), of_two = program_on(2);
  CHECK(n_lines_with(alone, " | 0 B (") ==
        n_lines_with(alone, " | follows") + n_lines_with(alone, "no operand"));
  CHECK(n_lines_with(alone, " | 0 B (") - n_lines_with(of_two, " | 0 B (") == 5);
  CHECK(alone.find("and repeat 0 operations") != std::string::npos);
  CHECK(of_two.find("and repeat 0 operations") == std::string::npos);
}

TEST_CASE("parallelize: explain tells pins, whom others follow, bytes and lines", "[engine]") {
  run_ranks(2, [](const World& world) {
    const auto f = parallelize(
        [](const Tensors& in) -> Tensors { return {sum(checkpoint_name(in[0] * 2.0, "doubled"), Axes{0})}; },
        world, DeviceMesh({{"data", 2}}), {.pins = {{"doubled", "[data]"}}});
    if (!f.explain().empty()) throw core::InvalidArgument("test#early", "nothing has run yet");
    (void)f({waves_of({4, 6}, 0.5)});
    const std::string text = f.explain();
    for (const char* part : {"\"doubled\" by pin \"doubled\", [data, whole]", "follows %", "| 48 B (",
                             "test_parallelize.cpp", "all ranks receive 48 B"}) {
      if (text.find(part) == std::string::npos)
        throw core::InvalidArgument("test#explain", "\"{}\" is not in \"{}\"", part, text);
    }
  });
}

TEST_CASE("parallelize: pins that do not suit are refused with tensor and mesh", "[engine]") {
  CHECK_THAT(refusal({.pins = {{"x", "[data]"}}}, twice), HasId("pin_of_nothing", {"x", "0"}));
  CHECK_THAT(refusal({.pins = {{"ba*", "[data, whole, whole]"}}, .inputs = {"batch"}}, twice),
             HasId("wrong_pin", {"ba", "batch", "f32[4, 6]", "data=2", "data, whole, whole"}));
  CHECK_THAT(refusal({.pins = {{"0", "[model]"}}}, twice), HasId("wrong_pin", {"model", "data=2"}));
  CHECK_THAT(refusal({.pins = {{"0", "[whole], sum over data"}}}, twice), HasId("wrong_pin", {"0"}));
  CHECK_THAT(refusal({.pins = {{"0", "[data] on host"}}}, twice), HasId("wrong_pin", {"0"}));
}

TEST_CASE("parallelize: the first pin that fits counts, and zero cuts an axis with enough", "[engine]") {
  run_ranks(3, [](const World& world) {
    const auto f = parallelize(
        [](const Tensors& in) -> Tensors {
          return {in[0] * 2.0, in[1] * 2.0, in[2] * 2.0};
        },
        world, DeviceMesh({{"data", 3}}),
        {.pins = {{"a", "[whole, data]"}, {"*", zero_over("data")}}, .inputs = {"a", "b", "c"}});
    (void)f({waves_of({3, 3}, 0.5), waves_of({2, 4}, 0.5), waves_of({1, 2}, 0.5)});
    const std::string text = f.explain();
    for (const char* part : {"\"a\" by pin \"a\", [whole, data]", "\"b\" by pin \"*\", [whole, data]",
                             "\"c\" by pin \"*\", [whole, data]"}) {
      if (text.find(part) == std::string::npos)
        throw core::InvalidArgument("test#explain", "\"{}\" is not in \"{}\"", part, text);
    }
  });
}

TEST_CASE("parallelize: ranks that record other programs learn where", "[engine]") {
  const auto error = refusal({}, [](const Tensors& in, int rank) -> Tensors {
    const Tensor same = tanh(in[0]);
    return {rank == 0 ? same + 1.0 : exp(same)};
  });
  CHECK_THAT(error, HasId("other_program", {"rank", "1", "exp"}));
  const auto constant = refusal({}, [](const Tensors& in, int rank) -> Tensors {
    return {in[0] + waves_of({4, 6}, 0.5 + rank)};
  });
  CHECK_THAT(constant, HasId("other_program", {"constant"}));
}

TEST_CASE("parallelize: a cell in pieces is read by gathered, and by other functions", "[engine]") {
  run_ranks(3, [](const World& world) {
    const DeviceMesh mesh({{"data", 3}});
    const Variable cell("weight", waves_of({7, 5}, 0.5));
    const auto double_it = [&](const Tensors& in) -> Tensors {
      cell.assign(cell.value() * in[0]);
      return {sum(cell.value())};
    };
    const auto rows = parallelize(double_it, world, mesh, {.pins = {{"weight", "[data]"}}});
    const auto columns = parallelize(double_it, world, mesh, {.pins = {{"weight", "[whole, data]"}}});
    const Tensor two = full({}, 2.0), expected = (waves_of({7, 5}, 0.5) * 8.0).eval();
    (void)rows({two});
    const auto error = error_of<core::InvalidArgument>([&] { (void)cell.value().eval(); });
    if (error.id() != "cut_cell") throw core::InvalidArgument("test#read", "{}", error.what());
    (void)rows({two});
    (void)columns({two});
    if (bytes_of({gathered(cell)}) != bytes_of({expected}))
      throw core::InvalidArgument("test#gathered", "the cell has other elements");
    // A cell that is assigned from outside is whole again.
    cell.assign(expected);
    if (bytes_of({gathered(cell)}) != bytes_of({cell.value()}))
      throw core::InvalidArgument("test#assigned", "the cell has other elements");
    (void)rows({two});
    if (bytes_of({gathered(cell)}) != bytes_of({expected * 2.0}))
      throw core::InvalidArgument("test#assigned", "the cell has other elements");
  });
}

TEST_CASE("parallelize: loops, branches and random numbers are those of one machine", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const auto decay = [](const Tensors& carry, const Tensors& x) -> Tensors {
      return {tanh(carry[0] + x[0]), carry[0] * x[0]};
    };
    const Scanned each = scan(decay, {in[1]}, {in[0]});
    const auto twice_it = [](const Tensors& x) -> Tensors { return {x[0] * 2.0}; };
    const auto as_it_is = [](const Tensors& x) -> Tensors { return {x[0] * 1.0}; };
    const Tensor chosen = cond(greater(sum(in[0]), 0.0), twice_it, as_it_is, {each.ys[0]})[0];
    return {each.carry[0], chosen * random_uniform(in[2], {5, 3}, DType::f64), sum(chosen)};
  };
  run_ranks(3, [&](const World& world) {
    const Tensors in{waves_of({5, 3}, 0.5, DType::f64), waves_of({3}, 0.7, DType::f64), random_key(7)};
    const Tensors expected = f(in);
    const auto cut = parallelize(f, world, DeviceMesh({{"data", 3}}), {.pins = {{"0", "[data]"}}});
    const Tensors got = cut(in);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (!(difference(got[i], expected[i]) < 1e-12))
        throw core::InvalidArgument("test#gap", "result {} differs", i);
    }
  });
}

TEST_CASE("parallelize: layouts pass through checkpoints, and each form of inputs is recorded", "[engine]") {
  run_ranks(2, [](const World& world) {
    const auto loss =
        checkpoint([](const Tensors& in) -> Tensors { return {sum(tanh(matmul(in[0], in[1])))}; });
    const auto gradients = [&](const Tensors& in) -> Tensors { return value_and_grad(loss, in).gradients; };
    const auto f = parallelize(gradients, world, DeviceMesh({{"data", 2}}), {.pins = {{"0", "[data]"}}});
    for (const Dim n : {4, 5, 4}) {
      const Tensors in{waves_of({n, 6}, 0.5, DType::f64), waves_of({6, 3}, 0.7, DType::f64)};
      const Tensors got = f(in), expected = gradients(in);
      if (f.explain().find("call(") != std::string::npos)
        throw core::InvalidArgument("test#call", "a call is left");
      for (std::size_t i = 0; i < 2; ++i) {
        if (!(difference(got[i], expected[i]) < 1e-12))
          throw core::InvalidArgument("test#gap", "gradient {} differs", i);
      }
    }
  });
}
