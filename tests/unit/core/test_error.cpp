// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone::core;
using lodestone::tests::message_of;

TEST_CASE("error: the text starts with the component and each class owns its exit code", "[core]") {
  const auto fail = [] {
    throw ShapeError("mt::Simulation2D", "expected {} resistivities, got {}", 6400, 6300);
  };
  CHECK(message_of<Error>(fail) == "[mt::Simulation2D] expected 6400 resistivities, got 6300");
  CHECK(ShapeError("a", "b").exit_code() == ExitCode::argument);
  CHECK(InvalidArgument("a", "b").exit_code() == ExitCode::argument);
  CHECK(FileError("a", "b").exit_code() == ExitCode::file);
  CHECK(FormatError("a", "b").exit_code() == ExitCode::format);
  CHECK(ConfigError("a", "b").exit_code() == ExitCode::configuration);
  CHECK(SolverError("a", "b").exit_code() == ExitCode::solver);
  CHECK(DeviceError("a", "b").exit_code() == ExitCode::device);
}

TEST_CASE("error: exit codes are those of the command-line contract", "[core]") {
  CHECK(static_cast<int>(ExitCode::unexpected) == 1);
  CHECK(static_cast<int>(ExitCode::configuration) == 2);
  CHECK(static_cast<int>(ExitCode::file) == 3);
  CHECK(static_cast<int>(ExitCode::format) == 4);
  CHECK(static_cast<int>(ExitCode::argument) == 5);
  CHECK(static_cast<int>(ExitCode::solver) == 6);
  CHECK(static_cast<int>(ExitCode::device) == 7);
  CHECK(static_cast<int>(ExitCode::not_converged) == 10);
  CHECK(static_cast<int>(ExitCode::interrupted) == 11);
  CHECK(static_cast<int>(ExitCode::selftest_failed) == 12);
}
