// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/row.hpp"

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

/// A compiler that forgets what its program gives.
Program broken(const Program& program, std::span<const Strides>) {
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

TEST_CASE("passes: a fault of the compiler costs time and no result, and is told once", "[engine]") {
  const tests::EnvironmentVariable as_users("LODESTONE_COMPILE", "");
  const Program program = sample_program();
  const auto warnings = tests::warnings_of([&] {
    for (int i = 0; i < 3; ++i) CHECK_FALSE(after(program, inputs, with_fault).has_value());
  });
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].id == "engine::compile#pass_failed");
}

TEST_CASE("passes: a fault of the compiler is an error where that is asked for", "[engine]") {
  const tests::EnvironmentVariable as_tests("LODESTONE_COMPILE", "must");
  const Program program = sample_program();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(after(program, inputs, with_fault)); }),
             HasId("wrong_output", {"1000"}));
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

Program one_lost(const Program&, std::span<const Strides>) { return with_effects({"a"}); }
Program one_twice(const Program&, std::span<const Strides>) { return with_effects({"a", "b", "b"}); }
Program exchanged(const Program&, std::span<const Strides>) { return with_effects({"b", "a"}); }
Program all_kept(const Program& program, std::span<const Strides>) { return program; }

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
