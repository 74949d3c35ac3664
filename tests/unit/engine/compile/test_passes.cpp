// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/passes.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/row.hpp"

#include <array>

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
