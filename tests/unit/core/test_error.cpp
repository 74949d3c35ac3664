// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::message_of;

TEST_CASE("error: the text starts with the component and each class owns its exit code", "[core]") {
  const auto fail = [] {
    throw ShapeError("mt::d2::Simulation", "expected {} resistivities, got {}", 6400, 6300);
  };
  CHECK(message_of<ShapeError>(fail) == "[mt::d2::Simulation] expected 6400 resistivities, got 6300");
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

TEST_CASE("error: the id behind the component is kept, and people read the component alone", "[core]") {
  const ShapeError error("mt::select#no_usable_datum", "expected {} data, got {}", 1, 0);
  CHECK(std::string(error.what()) == "[mt::select] expected 1 data, got 0");
  CHECK(error.component() == "mt::select");
  CHECK(error.id() == "no_usable_datum");
  const Error copy = error;
  CHECK(copy.place() == "mt::select#no_usable_datum");
  const ShapeError without("mt::select", "text");
  CHECK(without.component() == "mt::select");
  CHECK(without.id().empty());
  const SolverError handed_on(Worded{"[mt::select] text", copy.place()});
  CHECK(std::string(handed_on.what()) == "[mt::select] text");
  CHECK(handed_on.id() == "no_usable_datum");
}

TEST_CASE("error: a '#' that no id follows belongs to the component", "[core]") {
  for (const char* text : {"file #3", "a#", "a#B", "a#1b", "a#b-c"}) {
    INFO(text);
    CHECK(Place(text).component == text);
    CHECK(Place(text).id.empty());
  }
  CHECK(Place("a#b#c_1").component == "a#b");
  CHECK(Place("a#b#c_1").id == "c_1");
}

TEST_CASE("error: the matcher compares id, names and whole numbers", "[core]") {
  const auto error =
      error_of<ShapeError>([] { throw ShapeError("a#wrong_size", "12 of \"x\" at y.toml:3"); });
  CHECK_THAT(error, HasId("wrong_size", {"12", "\"x\"", "y.toml:3"}));
  CHECK_THAT(error, !HasId("wrong_size", {"2"}));
  CHECK_THAT(error, !HasId("other"));
  CHECK_THAT(error_of<ShapeError>([] {}), HasId("nothing_thrown"));
}
