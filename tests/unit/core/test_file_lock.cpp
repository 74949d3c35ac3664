// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/file_lock.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

using namespace lodestone;
using core::FileLock;
using tests::TemporaryFolder;

TEST_CASE("file lock: one holds it, the next one takes it after that") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.lock";
  auto first = FileLock::take(path);
  REQUIRE(first);
  CHECK_FALSE(FileLock::take(path));
  FileLock moved = std::move(*first);
  first.reset();
  CHECK_FALSE(FileLock::take(path));
  { const FileLock gone = std::move(moved); }
  CHECK(FileLock::take(path));
}

TEST_CASE("file lock: a killed process leaves none behind") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.lock";
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::take(path);
    const char held = lock ? '1' : '0';
    (void)!::write(ready[1], &held, 1);
    ::pause();
    ::_exit(0);
  }
  char held = '0';
  REQUIRE(::read(ready[0], &held, 1) == 1);
  CHECK(held == '1');
  CHECK_FALSE(FileLock::take(path));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(FileLock::take(path));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("file lock: a folder that is missing is named") {
  const TemporaryFolder folder;
  CHECK_THAT(tests::error_of<core::FileError>([&] { (void)FileLock::take(folder / "none/run.lock"); }),
             tests::HasId("not_opened", {"none/run.lock"}));
}
