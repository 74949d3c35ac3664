// SPDX-License-Identifier: Apache-2.0
#include "engine/core/private_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <sys/stat.h>

using namespace lodestone;
using core::close_folder;
using core::FolderWas;
using tests::EnvironmentVariable;
using tests::TemporaryFolder;
namespace fs = std::filesystem;

namespace {

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

void set_mode(const fs::path& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

}  // namespace

TEST_CASE("private folder: caches lie where XDG_CACHE_HOME says, else in the home folder", "[core]") {
  const EnvironmentVariable home("HOME", "/home/of/somebody"), caches("XDG_CACHE_HOME", "");
  CHECK(core::cache_folder() == "/home/of/somebody/.cache/lodestone");
  {
    const EnvironmentVariable relative("XDG_CACHE_HOME", "caches");
    CHECK(core::cache_folder() == "/home/of/somebody/.cache/lodestone");
  }
  {
    const EnvironmentVariable absolute("XDG_CACHE_HOME", "/caches");
    CHECK(core::cache_folder() == "/caches/lodestone");
  }
  const EnvironmentVariable homeless("HOME", "");
  CHECK(core::cache_folder().empty());
}

TEST_CASE("private folder: it is made for its owner alone, and closed where it was open", "[core]") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "above" / "own";
  CHECK(close_folder(path) == FolderWas::closed);
  CHECK(mode_of(path) == 0700);
  CHECK(mode_of(path.parent_path()) == 0700);
  for (const mode_t open : {0777, 0720, 0702}) {
    set_mode(path, open);
    CHECK(close_folder(path) == FolderWas::open);
    CHECK(mode_of(path) == 0700);
  }
  set_mode(path, 0755);  // others may look, not write
  CHECK(close_folder(path) == FolderWas::closed);
  core::make_private_folder(path);
  CHECK(mode_of(path) == 0755);
}

TEST_CASE("private folder: one that others can put another in the place of is refused", "[core]") {
  const TemporaryFolder folder;
  const auto refused = [](const fs::path& path) {
    return tests::error_of<core::FileError>([&] { static_cast<void>(close_folder(path)); });
  };
  const fs::path path = folder.path() / "above" / "own";
  REQUIRE(close_folder(path) == FolderWas::closed);
  set_mode(path.parent_path(), 0777);
  CHECK_THAT(refused(path), tests::HasId("unusable_folder", {path.parent_path(), "chmod go-w"}));
  set_mode(path.parent_path(), 0700);
  set_mode(path, 0777);
  CHECK_THAT(tests::error_of<core::FileError>([&] { core::make_private_folder(path); }),
             tests::HasId("unusable_folder", {path, "chmod go-w"}));
  CHECK(mode_of(path) == 0777);
  CHECK_THAT(refused("relative/folder"), tests::HasId("unusable_folder", {"XDG_CACHE_HOME"}));
  CHECK_THAT(refused(""), tests::HasId("unusable_folder", {"XDG_CACHE_HOME"}));
  std::ofstream(folder / "file") << "no folder";
  CHECK_THAT(refused(folder.path() / "file"), tests::HasId("unusable_folder", {folder / "file"}));
}

TEST_CASE("private folder: a file that others may have written is objected to", "[core]") {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "file";
  CHECK_FALSE(core::objection_to(file).empty());  // there is none
  std::ofstream(file) << "text";
  CHECK(core::objection_to(file).empty());
  fs::create_symlink(file, folder / "link");
  CHECK_FALSE(core::objection_to(folder / "link").empty());
  CHECK_FALSE(core::objection_to(folder.path()).empty());
  for (const mode_t open : {0620, 0602}) {
    set_mode(file, open);
    CHECK_FALSE(core::objection_to(file).empty());
  }
  if (::geteuid() != 0) return;  // others cannot give files away
  set_mode(file, 0600);
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(core::objection_to(file).empty());
}
