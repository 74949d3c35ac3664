// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/session.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <filesystem>
#include <new>
#include <stdexcept>

using namespace lodestone::core;
using lodestone::tests::Capture;

namespace {

using Diary = std::vector<std::string>;

/// Writes down what happens to it.
class DiaryScope final : public SubsystemScope {
 public:
  DiaryScope(Diary& diary, std::string name) : diary_(diary), name_(std::move(name)) {
    diary_.push_back("up " + name_);
  }
  ~DiaryScope() override { diary_.push_back("down " + name_); }
  void abort(int exit_code) noexcept override {
    diary_.push_back("abort " + name_ + " " + std::to_string(exit_code));
  }

 private:
  Diary& diary_;
  std::string name_;
};

/// A scope on a rank that leaves the printing to another one.
class QuietScope final : public SubsystemScope {
 public:
  std::string agree_on_failure(std::string) noexcept override { return {}; }
};

struct Outcome {
  int code = 0;
  std::string text;
};

Outcome outcome_of(const std::function<int()>& body) {
  Session session;
  Capture err(STDERR_FILENO);
  Outcome outcome;
  outcome.code = session.run(body);
  outcome.text = err.text();
  return outcome;
}

}  // namespace

TEST_CASE("Session: scopes go down in reverse order and are not aborted when all is well", "[core]") {
  Diary diary;
  {
    Session session;
    session.start<DiaryScope>(diary, "mpi");
    session.start<DiaryScope>(diary, "petsc");
    CHECK(session.run([] { return 10; }) == 10);
  }
  CHECK(diary == Diary{"up mpi", "up petsc", "down petsc", "down mpi"});
}

TEST_CASE("Session: a failure aborts the scopes, inner ones first, with its exit code", "[core]") {
  Diary diary;
  {
    Session session;
    session.start<DiaryScope>(diary, "mpi");
    session.start<DiaryScope>(diary, "petsc");
    const Capture err(STDERR_FILENO);
    CHECK(session.run([]() -> int {
      throw FormatError("io::edi", "kim438.edi:3: expected a number, got \"x\"");
    }) == 4);
  }
  CHECK(diary == Diary{"up mpi", "up petsc", "abort petsc 4", "abort mpi 4", "down petsc", "down mpi"});
}

TEST_CASE("Session: each kind of exception has its text and exit code", "[core]") {
  const Outcome known =
      outcome_of([]() -> int { throw ConfigError("configuration", "a.toml:2: unknown key \"x\""); });
  CHECK(known.code == 2);
  CHECK(known.text == "error: [configuration] a.toml:2: unknown key \"x\"\n");

  const Outcome memory = outcome_of([]() -> int { throw std::bad_alloc(); });
  CHECK(memory.code == 1);
  CHECK(memory.text.find("error: [memory] the program needs more memory than there is") == 0);

  const Outcome standard = outcome_of([]() -> int { throw std::out_of_range("index 7"); });
  CHECK(standard.code == 1);
  CHECK(standard.text == "error: [unexpected] index 7; please report this with the command you ran\n");

  const Outcome files =
      outcome_of([] { return static_cast<int>(std::filesystem::file_size("/no/such/file")); });
  CHECK(files.code == 3);
  CHECK(files.text.find("/no/such/file") != std::string::npos);

  const Outcome odd = outcome_of([]() -> int { throw 7; });
  CHECK(odd.code == 1);
  CHECK(odd.text.find("exception of unknown type") != std::string::npos);
}

TEST_CASE("Session: a scope may leave the printing to another rank", "[core]") {
  Session session;
  session.start<QuietScope>();
  Capture err(STDERR_FILENO);
  CHECK(session.run([]() -> int { throw FileError("a", "b"); }) == 3);
  CHECK(err.text().empty());
}

TEST_CASE("Session: the id of an error stands in the JSON log", "[core]") {
  log::configure({.format = log::Format::json_lines});
  const Outcome outcome =
      outcome_of([]() -> int { throw SolverError("mt::d2::simulation#singular", "singular at 0.1 Hz"); });
  log::configure({});
  CHECK(outcome.text.find(R"("id":"singular")") != std::string::npos);
  CHECK(outcome.text.find("#singular") == std::string::npos);
}
