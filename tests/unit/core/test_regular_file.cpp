// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/regular_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace lodestone;
using tests::HasId;
using tests::TemporaryFolder;

namespace {

core::Error refusal(const std::string& path) {
  return tests::error_of<core::FileError>([&] { core::require_regular_file(path); });
}

}  // namespace

TEST_CASE("regular file: a file and a link to it pass, with their size") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "12345";
  std::filesystem::create_symlink(folder / "a", folder / "link");
  CHECK(core::require_regular_file(folder / "a") == 5);
  CHECK(core::require_regular_file(folder / "link") == 5);
}

TEST_CASE("regular file: all else is refused by its name, a pipe without waiting for its writer") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_symlink(pipe, folder / "link");
  std::filesystem::create_symlink(folder / "nothing", folder / "dangling");
  CHECK_THAT(refusal(pipe), HasId("no_regular_file", {pipe, "a named pipe"}));
  CHECK_THAT(refusal(folder / "link"), HasId("no_regular_file", {folder / "link", "a named pipe"}));
  CHECK_THAT(refusal("/dev/zero"), HasId("no_regular_file", {"/dev/zero", "a device"}));
  CHECK_THAT(refusal(folder.path().string()), HasId("is_a_folder", {folder.path().string()}));
  CHECK_THAT(refusal(folder / "dangling"), HasId("no_file", {folder / "dangling"}));
  CHECK_THAT(refusal(folder / "none"), HasId("no_file", {folder / "none"}));
}
