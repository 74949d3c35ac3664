// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/run/folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lodestone;
using io::run::NewFolder;
using io::run::RunFolder;
using tests::error_of;
using tests::HasId;

TEST_CASE("run folder: what stands for a checkpoint must be a file", "[io]") {
  const tests::TemporaryFolder folder;
  const RunFolder run(folder.path());
  const auto refusal = [&] { return error_of<core::FileError>([&] { run.require_checkpoint(); }); };
  CHECK_THAT(refusal(), HasId("no_checkpoint", {run.checkpoint()}));
  REQUIRE(mkfifo(run.checkpoint().c_str(), 0600) == 0);
  CHECK_THAT(refusal(), HasId("checkpoint_is_no_file", {run.checkpoint()}));
}

TEST_CASE("run folder: files that a killed process left do not stand in the way, and go", "[io]") {
  const tests::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string left = folder / fmt::format(".config.{}.tmp.toml", child);
  core::write_file(left, "");
  const RunFolder run(folder.path());
  core::write_file(run.iterations(), "");  // killed before its first checkpoint
  NewFolder made(run.path(), core::log::Format::human);
  made.open(run.log(), [&] { run.prepare_new(); });
  made.keep();
  CHECK_FALSE(std::filesystem::exists(left));
}

TEST_CASE("run folder: a second process hears that the first is running, whatever stands there", "[io]") {
  const tests::TemporaryFolder folder;
  const RunFolder run(folder.path());
  NewFolder first(run.path(), core::log::Format::human);
  first.open(run.log(), [&] { run.prepare_new(); });
  first.keep();
  core::write_file(folder / "half.txt", "");
  NewFolder second(run.path(), core::log::Format::human);
  CHECK_THAT(error_of<core::ConfigError>([&] { second.open(run.log(), [&] { run.prepare_new(); }); }),
             HasId("running", {folder.path().string()}));
  CHECK_THAT(error_of<core::ConfigError>([&] { static_cast<void>(io::run::lock_finished(run)); }),
             HasId("running", {folder.path().string()}));
}

TEST_CASE("run folder: one that begins while the folder is looked at is told as running", "[io]") {
  const tests::TemporaryFolder folder;
  const RunFolder run(folder.path());
  std::optional<core::FileLock> other;
  NewFolder late(run.path(), core::log::Format::human);
  CHECK_THAT(error_of<core::ConfigError>([&] {
               late.open(run.log(), [&] {
                 if (!other) {
                   other = core::FileLock::take(run.log());
                   core::write_file(run.config(), "");
                   core::write_file(folder / "half.txt", "");
                 }
                 run.prepare_new();
               });
             }),
             HasId("running", {folder.path().string()}));
}
