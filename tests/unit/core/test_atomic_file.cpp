// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>

#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::TemporaryFolder;
using lodestone::tests::text_of_file;

namespace {

std::ptrdiff_t n_files(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()),
                       std::filesystem::directory_iterator());
}

/// The kernel refuses to let files grow past a size, much as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("AtomicFile: the file appears whole and nothing else stays", "[core]") {
  const TemporaryFolder folder;
  write_file(folder / "result.csv", "a,b\n1,2\n");
  CHECK(text_of_file(folder / "result.csv") == "a,b\n1,2\n");
  CHECK(n_files(folder) == 1);
}

TEST_CASE("AtomicFile: without commit the old file stays and the temporary one goes", "[core]") {
  const TemporaryFolder folder;
  write_file(folder / "result.csv", "old");
  try {
    const AtomicFile file(folder / "result.csv");
    CHECK(n_files(folder) == 2);
    throw std::runtime_error("something went wrong while writing");
  } catch (const std::runtime_error&) {
  }
  CHECK(text_of_file(folder / "result.csv") == "old");
  CHECK(n_files(folder) == 1);
}

TEST_CASE("AtomicFile: the temporary name keeps the ending that libraries look at", "[core]") {
  const TemporaryFolder folder;
  const AtomicFile file(folder / "section.vtr");
  CHECK(std::filesystem::path(file.temporary_path()).extension() == ".vtr");
  CHECK(std::filesystem::path(file.temporary_path()).parent_path() == folder.path());
}

TEST_CASE("AtomicFile: a missing folder is a file error that names the path and the cause", "[core]") {
  const TemporaryFolder folder;
  const std::string path = folder / "missing/result.csv";
  CHECK_THAT(error_of<FileError>([&] { write_file(path, "x"); }),
             HasId("unwritable", {"[core::AtomicFile]", path, "No such file or directory"}));
}

TEST_CASE("AtomicFile: a disk that takes no more bytes is a file error, and the old file stays", "[core]") {
  const TemporaryFolder folder;
  write_file(folder / "result.csv", "old");
  Error error(ExitCode::ok, "");
  {
    const FileSizeLimit limit(1000);
    error = error_of<FileError>([&] { write_file(folder / "result.csv", std::string(100000, 'x')); });
  }
  CHECK_THAT(error, HasId("unwritable", {"[core::AtomicFile]", folder / "result.csv"}));
  CHECK(text_of_file(folder / "result.csv") == "old");
  CHECK(n_files(folder) == 1);
}

TEST_CASE("AtomicFile: what a killed process left of the same file is removed, what is another's stays",
          "[core]") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const AtomicFile file(folder / "state.safetensors");
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  CHECK(n_files(folder) == 1);
  write_file(folder / fmt::format(".state.{}.tmp.txt", child), "another ending");
  write_file(folder / fmt::format(".other.{}.tmp.safetensors", child), "another name");
  write_file(folder / ".state.x.tmp.safetensors", "no process");
  const AtomicFile own(folder / "state.safetensors");
  remove_leftovers(folder / "state.safetensors");
  CHECK(n_files(folder) == 4);
  CHECK(std::filesystem::exists(own.temporary_path()));
}

TEST_CASE("AtomicFile: a link is followed, what is no regular file is not replaced", "[core]") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "results");
  write_file(folder / "results/old.csv", "old");
  std::filesystem::create_symlink("results/old.csv", folder / "latest.csv");
  write_file(folder / "latest.csv", "new");
  CHECK(std::filesystem::is_symlink(folder / "latest.csv"));
  CHECK(text_of_file(folder / "results/old.csv") == "new");

  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  for (const char* const name : {"pipe", "results"})
    CHECK_THAT(error_of<FileError>([&] { write_file(folder / name, "new"); }),
               HasId("not_a_regular_file", {folder / name}));
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
}

TEST_CASE("make_folder: a file of that name, or of a folder on the way, is named", "[core]") {
  const TemporaryFolder folder;
  write_file(folder / "taken", "a file");
  make_folder(folder.path() / "new" / "below");
  make_folder(folder.path() / "new" / "below");
  CHECK(std::filesystem::is_directory(folder.path() / "new" / "below"));
  const auto refused = [](const std::filesystem::path& path) {
    return error_of<FileError>([&] { make_folder(path); });
  };
  CHECK_THAT(refused(folder / "taken"), HasId("taken_by_file", {folder / "taken", "this is a file"}));
  CHECK_THAT(
      refused(folder.path() / "taken" / "run"),
      HasId("taken_by_file", {"taken/run: expected a folder", "but " + (folder / "taken") + " is a file"}));
}

TEST_CASE("AtomicFile: all that killed processes left in a folder is removed, nothing else", "[core]") {
  const TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string left = fmt::format(".config.{}.tmp.toml", child),
                    own = fmt::format(".other.{}.tmp.toml", getpid());
  for (const std::string& name : {left, own, std::string(".notes.tmp"), std::string("config.toml")})
    write_file(folder / name, "");
  CHECK(is_temporary_name(left));
  CHECK_FALSE(is_temporary_name(".notes.tmp"));
  CHECK_FALSE(is_temporary_name("config.toml"));
  remove_all_leftovers(folder.path());
  CHECK_FALSE(std::filesystem::exists(folder / left));
  CHECK(n_files(folder) == 3);
}
