// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

Program sample_program() {
  const auto f = [](const Tensors& x) -> Tensors { return {-(-exp(x[0]))}; };
  const std::vector<Aval> avals{{{3}, DType::f64, default_device()}};
  return Program::of(Trace::without_values(f, avals, std::source_location::current()));
}

using Given = std::span<const Strides>;
using Donors = std::span<const Donor>;

/// A compiler that forgets what its program gives.
Program broken(const Program& program, Given, Donors) {
  ProgramParts parts = program.parts();
  parts.outputs = {1000};
  return Program(parts);
}

// The example of docs/engine/compile.md, whose lines count from here.
constexpr std::uint32_t line_before_example = __LINE__;
const Function network = [](const Tensors& in) -> Tensors {
  const Tensor hidden = tanh(matmul(in[0], in[1]) + in[2]) * 1.0;
  return {matmul(hidden, in[3])};
};

Tensor counted(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.01F * static_cast<float>(i % 89);
  return Tensor::from(values, shape);
}

/// Returns a text as a block of code of a page, with lines of the example counted from 1.
std::string in_page(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    for (std::uint32_t i = 1; i < 4; ++i) {
      const std::string here = fmt::format("(test_passes.cpp:{})", line_before_example + i);
      if (const std::size_t at = line.find(here); at != std::string::npos)
        line.replace(at, here.size(), fmt::format("(network.cpp:{})", i));
    }
    result += line.empty() ? "\n" : "    " + line + "\n";
  }
  return result;
}

const std::vector inputs{contiguous_strides({3})};
const std::array with_fault{passes_of(Level::O1)[0], Pass{"test", Stage::running, broken}};

}  // namespace

TEST_CASE("passes: programs get shorter from one to the next", "[engine]") {
  const Program program = sample_program();
  const std::span<const Pass> passes = passes_of(Level::O1);
  CHECK(passes_of(Level::O0).empty());
  CHECK_FALSE(after(program, inputs, {}).has_value());
  CHECK(program.instructions().size() == 3);
  CHECK(after(program, inputs, passes)->instructions().size() == 1);
}

TEST_CASE("passes: the page on compiled functions shows the program after each of them", "[engine]") {
  std::ifstream file(std::filesystem::path(LODESTONE_SOURCE_DIR) / "docs/engine/compile.md");
  std::stringstream page;
  page << file.rdbuf();
  const Tensors arguments{counted({64, 16}), counted({16, 32}), counted({32}), counted({32, 8})};
  const Compiled compiled = compile(network);
  static_cast<void>(compiled(arguments));
  std::vector<std::string> shown;
  for (const Stage stage :
       {Stage::recorded, Stage::rewritten, Stage::merged, Stage::running, Stage::planned, Stage::generated}) {
    shown.push_back(in_page(compiled.text(stage)));
    CHECK_THAT(page.str(), Catch::Contains("\n\n" + shown.back()));
  }
  CHECK(std::set(shown.begin(), shown.end()).size() == 6);
  CHECK(compiled.stats().n_launches == 2);
}

namespace {

/// Leaves by no error of the engine's own, as a look-up does that finds nothing.
Program without_entry(const Program&, Given, Donors) {
  static_cast<void>(std::map<int, Program>().at(1));
  return sample_program();
}

/// A fault while a plan is made. The hooking of level O1 asks a row first how much memory it needs to work
/// in, then lowering asks, then the verifier.
struct Fault {
  int n_growing = 0;  ///< so many answers grow: more than what the launch has by then
  int throws_at = 0;  ///< the number of the question at which the row throws
};
Fault next_fault;
int n_asked = 0;

Workspace faulty_workspace(const KernelCall&) {
  ++n_asked;
  if (n_asked == next_fault.throws_at) throw std::out_of_range("map::at");
  return {64 * static_cast<std::size_t>(n_asked <= next_fault.n_growing ? n_asked : 1), 0};
}

/// Gives its input, of f64.
OpInfo row_with_faults() {
  OpInfo op;
  op.name = "faulty";
  op.dtypes = DTypes{DType::f64, DType::f32};
  op.infer = [](const InferArgs& args) { return args.aval(0); };
  op.derivative.why_none = "it is not needed";
  const auto run = [](const KernelCall& call) {
    std::copy_n(call.in[0].as<double>(), call.in[0].count(), call.out[0].as<double>());
  };
  op.with_kernel(Backend::reference, DType::f64,
                 {.name = "reference", .run = run, .contiguous_inputs = true, .workspace = faulty_workspace});
  return op;
}

Tensors with_faulty(const Tensors& x) {
  static const OpInfo op = row_with_faults();
  return {record(op, {exp(x[0]) * 2.0}, {}, std::source_location::current()) + 1.0};
}

/// Returns whether a compiled call has the result of an eager one although its plan meets a fault.
bool outlives(Fault fault, const Compiled& compiled, const Tensors& x) {
  const Tensors right = with_faulty(x);
  eval(right);
  n_asked = 0;
  next_fault = fault;
  const bool is_same = tests::same_bits(compiled(x), right);
  next_fault = {};
  return is_same && n_asked > std::max(fault.n_growing, fault.throws_at);
}

}  // namespace

TEST_CASE("passes: a fault of the compiler costs time and no result, and is told once", "[engine]") {
  const tests::EnvironmentVariable as_users("LODESTONE_COMPILE", "");
  const Program program = sample_program();
  const std::array by_look_up{passes_of(Level::O1)[0], Pass{"test", Stage::running, without_entry}};
  const Compiled compiled = compile(with_faulty),
                 symbolic = compile(with_faulty, {.symbolic = {{.bound = 64}}});
  const auto of_size = [](std::size_t n) { return Tensors{tests::row(std::vector<double>(n, 1.5))}; };
  const auto warnings = tests::warnings_of([&] {
    CHECK(outlives({.throws_at = 1}, compile(with_faulty), of_size(3)));  // in a pass
    CHECK(outlives({.throws_at = 2}, compile(with_faulty), of_size(3)));  // in lowering
    CHECK(outlives({.throws_at = 1}, compile(with_faulty, {.level = Level::O0}), of_size(3)));
    CHECK(outlives({.n_growing = 3}, compiled, of_size(3)));  // the verifier finds it
    for (const std::size_t n : {4U, 5U}) static_cast<void>(symbolic(of_size(n)));
    CHECK(outlives({.n_growing = 2}, symbolic, of_size(6)));  // its passes have run
    CHECK(outlives({.throws_at = 1}, symbolic, of_size(7)));
    CHECK_FALSE(after(program, inputs, with_fault).has_value());
    CHECK_FALSE(after(program, inputs, by_look_up).has_value());
  });
  CHECK(compiled.text(Stage::running) == compiled.text(Stage::recorded));
  CHECK(symbolic.stats().n_traces == 4);  // without faults two recordings serve all extents
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].id == "engine::compile#pass_failed");
}

TEST_CASE("passes: errors of the caller are no faults of the compiler", "[engine]") {
  const tests::EnvironmentVariable as_users("LODESTONE_COMPILE", "");
  const auto warnings = tests::warnings_of([&] {
    const Tensors x{tests::row({1, 2, 3})};
    const Compiled tight =
        compile([](const Tensors& in) -> Tensors { return {sum(exp(in[0]) * in[0] + exp(in[0]))}; },
                {.level = Level::O0, .budget = 1});
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(tight(x)); }),
               HasId("budget_too_small"));
    const Tensors of_f32{cast(x[0], DType::f32)};
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(compile(with_faulty)(of_f32)); }),
               HasId("no_kernel_for_dtype", {"f32"}));
  });
  CHECK(warnings.empty());
}

TEST_CASE("passes: a fault of the compiler is an error where that is asked for", "[engine]") {
  const tests::EnvironmentVariable as_tests("LODESTONE_COMPILE", "must");
  const Program program = sample_program();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(after(program, inputs, with_fault)); }),
             HasId("wrong_output", {"1000"}));
  const Tensors x{tests::row({1, 2, 3})};
  const auto call_with = [&](Fault fault) {
    n_asked = 0;
    next_fault = fault;
    static_cast<void>(compile(with_faulty)(x));
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { call_with({.n_growing = 3}); }),
             HasId("small_workspace", {"128", "192"}));
  CHECK_THROWS_AS(call_with({.throws_at = 1}), std::out_of_range);
  CHECK_THROWS_AS(call_with({.throws_at = 2}), std::out_of_range);
  next_fault = {};
}

namespace {

Program with_effects(const std::vector<std::string>& names) {
  const auto f = [&](const Tensors& x) -> Tensors {
    for (const std::string& name : names) {
      static std::map<std::string, core::MapPtr> maps;
      core::MapPtr& map = maps[name];
      if (!map)
        map = core::pointwise(
            name, 3, [](double t) { return t; }, [](double) { return 1.0; });
      static_cast<void>(external(map, x[0]));
    }
    return {x[0] * 2.0};
  };
  const std::vector<Aval> avals{{{3}, DType::f64, default_device()}};
  return Program::of(Trace::without_values(f, avals, std::source_location::current()));
}

Program one_lost(const Program&, Given, Donors) { return with_effects({"a"}); }
Program one_twice(const Program&, Given, Donors) { return with_effects({"a", "b", "b"}); }
Program exchanged(const Program&, Given, Donors) { return with_effects({"b", "a"}); }
Program all_kept(const Program& program, Given, Donors) { return program; }

}  // namespace

TEST_CASE("passes: one that drops, repeats or exchanges effects is found", "[engine]") {
  const tests::EnvironmentVariable as_tests("LODESTONE_COMPILE", "must");
  const Program program = with_effects({"a", "b"});
  const auto error_with = [&](const auto& run) {
    const std::array passes{Pass{"test", Stage::running, run}};
    return error_of<core::InvalidArgument>([&] { static_cast<void>(after(program, inputs, passes)); });
  };
  CHECK(error_with(all_kept).id() == "nothing_thrown");
  for (const auto& fault : {one_lost, one_twice, exchanged})
    CHECK_THAT(error_with(fault), HasId("lost_effect", {"external_call"}));
}
