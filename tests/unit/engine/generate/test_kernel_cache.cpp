// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/kernel_cache.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings.hpp"

#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace lodestone;
using engine::KernelCache;
using tests::TemporaryFolder;
using tests::text_of_file;
using tests::text_with;
using tests::warnings_of;
namespace fs = std::filesystem;

namespace {

constexpr const char* rebuilt = "engine::KernelCache#rebuilt";

/// Writes a text, and counts how often.
class CountingWriter {
 public:
  explicit CountingWriter(std::string text = "a library") : text_(std::move(text)) {}
  bool operator()(const std::string& path) {
    ++n_;
    std::ofstream(path) << text_;
    return true;
  }
  [[nodiscard]] int n() const { return n_; }

 private:
  std::string text_;
  int n_ = 0;
};

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777;
}

/// Returns how many warnings of rebuilding `damage(path)` causes, after checking that a file that was fine
/// before is made again, once.
std::size_t warnings_after(const std::function<void(const std::string&)>& damage) {
  const TemporaryFolder folder;
  CountingWriter first, second("another library");
  std::string path;
  {
    KernelCache cache(folder.path() / "kernels");
    path = *cache.get("a", std::ref(first));
    REQUIRE(cache.get("a", std::ref(first)) == path);
    REQUIRE(first.n() == 1);
  }
  damage(path);
  const auto warnings = warnings_of([&] {
    KernelCache cache(folder.path() / "kernels");
    for (int i = 0; i < 3; ++i) CHECK(cache.get("a", std::ref(second)) == path);
  });
  CHECK(second.n() == 1);
  CHECK(text_of_file(path).starts_with("another library"));
  return static_cast<std::size_t>(
      std::ranges::count(warnings, rebuilt, &core::log::KeptWarnings::Warning::id));
}

}  // namespace

TEST_CASE("kernel cache: a name depends on every letter of every part, and on where parts end", "[engine]") {
  const auto name = [](std::initializer_list<std::string_view> parts) { return KernelCache::name_of(parts); };
  CHECK(name({"ab", "c"}).size() == 32);
  CHECK(name({"ab", "c"}) == name({"ab", "c"}));
  CHECK(name({"ab", "c"}) != name({"a", "bc"}));
  CHECK(name({"ab", "c"}) != name({"ab", "c", ""}));
  CHECK(name({"ab", "c"}) != name({"ab", "d"}));
  CHECK(name({""}) == KernelCache::name_of({""}));
}

TEST_CASE("kernel cache: a file is made once, for its owner alone", "[engine]") {
  const TemporaryFolder folder;
  CountingWriter writer;
  KernelCache cache(folder.path() / "a" / "kernels");
  const auto path = cache.get("name", std::ref(writer));
  CHECK(path == (folder.path() / "a" / "kernels" / "name.so").string());
  for (const char* each : {"a", "a/kernels"}) CHECK(mode_of(folder / each) == 0700);
  CHECK(mode_of(*path) == 0600);
  CHECK(cache.get("name", std::ref(writer)) == path);
  CHECK(KernelCache(cache.folder()).get("name", std::ref(writer)) == path);
  CHECK(writer.n() == 1);
  CHECK(std::distance(fs::directory_iterator(cache.folder()), {}) == 1);  // no lock, nothing temporary
}

TEST_CASE("kernel cache: what cannot be made leaves nothing", "[engine]") {
  const TemporaryFolder folder;
  KernelCache cache(folder.path() / "kernels");
  CHECK_FALSE(cache.get("name", [](const std::string&) { return false; }));
  CHECK(fs::is_empty(cache.folder()));
}

TEST_CASE("kernel cache: broken and foreign files are made again with one warning", "[engine]") {
  const auto write = [](const std::string& path, const std::string& bytes) { std::ofstream(path) << bytes; };
  const auto flip = [&](const std::string& path) {
    std::string bytes = text_of_file(path);
    bytes[3] ^= 1;
    write(path, bytes);
  };
  const auto cut = [&](const std::string& path) { write(path, text_of_file(path).substr(0, 20)); };
  const auto empty = [&](const std::string& path) { write(path, ""); };
  const auto open_to_all = [](const std::string& path) { ::chmod(path.c_str(), 0666); };
  const auto link = [](const std::string& path) {
    fs::rename(path, path + ".other");
    fs::create_symlink(path + ".other", path);
  };
  const auto folder = [](const std::string& path) {
    fs::remove(path);
    fs::create_directories(path + "/inside");
  };
  const auto open_folder = [](const std::string& path) {
    ::chmod(fs::path(path).parent_path().c_str(), 0777);
  };
  const auto none = [](const std::string& path) { fs::remove(path); };
  for (const auto& [what, damage, n_warnings] :
       {std::tuple<const char*, std::function<void(const std::string&)>, std::size_t>{"a flipped bit", flip,
                                                                                      1},
        {"a cut file", cut, 1},
        {"an empty file", empty, 1},
        {"a file that all may write", open_to_all, 1},
        {"a link", link, 1},
        {"a folder", folder, 1},
        {"a folder that all may write", open_folder, 1},
        {"no file", none, 0}}) {
    INFO(what);
    CHECK(warnings_after(damage) == n_warnings);
  }
  if (::geteuid() == 0) {  // others cannot give files away
    CHECK(warnings_after(
              [](const std::string& path) { REQUIRE(::chown(path.c_str(), 65534, 65534) == 0); }) == 1);
  }
}

TEST_CASE("kernel cache: one warning stands for all files", "[engine]") {
  const TemporaryFolder folder;
  CountingWriter writer;
  const fs::path kernels = folder.path() / "kernels";
  for (const char* name : {"a", "b"}) static_cast<void>(KernelCache(kernels).get(name, std::ref(writer)));
  for (const char* name : {"a", "b"}) std::ofstream(kernels / (std::string(name) + ".so")) << "broken";
  KernelCache cache(kernels);
  const auto warnings = warnings_of([&] {
    for (const char* name : {"a", "b"}) CHECK(cache.get(name, std::ref(writer)));
  });
  CHECK(warnings.size() == 1);
  CHECK(text_with(warnings, rebuilt).find("checksum") != std::string::npos);
  CHECK(writer.n() == 4);
}

TEST_CASE("kernel cache: without a usable folder, files last as long as the process", "[engine]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  const auto used_instead_of = [&](const fs::path& wanted) {
    fs::path used;
    const auto warnings = warnings_of([&] {
      CountingWriter writer;
      KernelCache cache(wanted);
      used = cache.folder();
      CHECK(cache.get("a", std::ref(writer)));
      CHECK(mode_of(used) == 0700);
    });
    CHECK(warnings.size() == 1);
    CHECK_FALSE(text_with(warnings, "engine::KernelCache#unusable").empty());
    CHECK_FALSE(fs::exists(used));
    return used;
  };
  CHECK(used_instead_of(folder.path() / "file") != folder.path() / "file");
  CHECK(used_instead_of(folder.path() / "file" / "kernels") != folder.path() / "file" / "kernels");
  for (const mode_t mode : {0777, 0720, 01777}) {  // who may write there can put another folder in its place
    const fs::path open = folder.path() / fmt::format("open_{:o}", mode);
    fs::create_directory(open);
    REQUIRE(::chmod(open.c_str(), mode) == 0);
    CHECK(used_instead_of(open / "kernels") != open / "kernels");
    CHECK_FALSE(fs::exists(open / "kernels"));
  }
  CHECK(used_instead_of("kernels") != "kernels");
  CHECK(used_instead_of("") != "");
  if (::geteuid() == 0) {
    fs::create_directory(folder / "foreign");
    REQUIRE(::chown((folder / "foreign").c_str(), 65534, 65534) == 0);
    for (const fs::path& each : {folder.path() / "foreign", folder.path() / "foreign" / "kernels"})
      CHECK(used_instead_of(each) != each);
  }
}

TEST_CASE("kernel cache: those that were not used for longest go", "[engine]") {
  const TemporaryFolder folder;
  const std::string library(1000, 'x');
  KernelCache cache(folder.path() / "kernels", 3500);
  const auto exists = [&](const std::string& name) { return fs::exists(cache.folder() / (name + ".so")); };
  const auto age = [&](const std::string& name, int hours) {
    fs::last_write_time(cache.folder() / name, fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  CountingWriter writer(library);
  for (const char* name : {"a", "b", "c"}) static_cast<void>(cache.get(name, std::ref(writer)));
  std::ofstream(cache.folder() / ".d.1.tmp.so") << "of a process that was killed";
  for (const char* name : {"a.so", "b.so", "c.so", ".d.1.tmp.so"}) age(name, 5);
  static_cast<void>(cache.get("a", std::ref(writer)));  // used again
  age("b.so", 6);
  CHECK(writer.n() == 3);
  static_cast<void>(cache.get("e", std::ref(writer)));
  CHECK(exists("a"));
  CHECK_FALSE(exists("b"));
  CHECK(exists("c"));
  CHECK(exists("e"));
  CHECK_FALSE(fs::exists(cache.folder() / ".d.1.tmp.so"));
}

TEST_CASE("kernel cache: of several that need a file at once, one makes it", "[engine]") {
  const TemporaryFolder folder;
  std::atomic<int> n_made{0}, n_got{0};
  const auto slow = [&](const std::string& path) {
    ++n_made;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ofstream(path) << "a library";
    return true;
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        KernelCache cache(folder.path() / "kernels");  // as each process has its own
        n_got += cache.get("a", slow) ? 1 : 0;
      });
  }
  CHECK(n_made == 1);
  CHECK(n_got == 4);
}
