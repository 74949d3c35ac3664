// SPDX-License-Identifier: Apache-2.0
#include "engine/core/file_lock.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/private_folder.hpp"
#include "engine/inspect/rates_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment_variable.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/inspect/made_up_rates.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::made_up_rates;
using tests::TemporaryFolder;
using tests::text_of_file;
using tests::text_with;
using tests::warnings_of;
namespace fs = std::filesystem;

namespace {

constexpr const char* measured_again = "engine::kept_rates#measured_again";

/// Gives rates as measured, and counts how often.
struct CountingMeasure {
  MachineRates rates;
  std::shared_ptr<int> n = std::make_shared<int>(0);
  MachineRates operator()() const {
    ++*n;
    return rates;
  }
};

/// Returns a folder of a test in which rates for one and for two threads are kept.
fs::path filled(const TemporaryFolder& folder) {
  const fs::path path = folder.path() / "cache" / "lodestone";
  for (const int n_threads : {1, 2}) {
    const CountingMeasure measure{made_up_rates(n_threads)};
    CHECK(kept_rates(path, measure.rates.machine, measure) == measure.rates);
    CHECK(*measure.n == 1);
  }
  return path;
}

/// Returns the ids of the warnings of an action.
template <class Action>
std::vector<std::string> ids_of_warnings(Action&& action) {
  std::vector<std::string> ids;
  for (const auto& each : warnings_of(action)) ids.push_back(each.id);
  return ids;
}

/// Returns the ids of the warnings while rates for one thread are asked for three times, and checks how often
/// they are measured.
std::vector<std::string> warnings_after(const std::function<void(const fs::path&)>& damage, int n_measured) {
  const TemporaryFolder folder;
  const fs::path path = filled(folder);
  damage(path);
  const CountingMeasure measure{made_up_rates()};
  const auto ids = ids_of_warnings([&] {
    for (int i = 0; i < 3; ++i) CHECK(kept_rates(path, measure.rates.machine, measure) == measure.rates);
  });
  CHECK(*measure.n == n_measured);
  return ids;
}

/// Lets this process open one more file while it lives.
class OneMoreFile {
 public:
  OneMoreFile() {
    // A sanitizer opens files when it sees a type for the first time: those of an error that is reported.
    try {
      static_cast<void>(read_rates("/"));
    } catch (const core::FileError& error) {
      static_cast<void>(
          warnings_of([&] { core::log::warning(core::log::Id("test#any"), "{}", error.what()); }));
    }
    const int next = ::open("/", O_RDONLY | O_CLOEXEC);
    ::close(next);
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit now{static_cast<rlim_t>(next) + 1, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &now) == 0);
  }
  ~OneMoreFile() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OneMoreFile(const OneMoreFile&) = delete;
  OneMoreFile& operator=(const OneMoreFile&) = delete;

 private:
  rlimit before_{};
};

void change(const fs::path& file, const std::function<void(nlohmann::json&)>& f) {
  auto json = nlohmann::json::parse(text_of_file(file));
  f(json);
  std::ofstream(file) << json.dump();
}

}  // namespace

TEST_CASE("rates file: rates come back as they were written", "[engine]") {
  const TemporaryFolder folder;
  const std::string path = folder / "machine.json";
  for (const int n_threads : {1, 2}) {
    MachineRates rates = made_up_rates(n_threads, "a \"processor\"");
    rates.launch_s = 1.0 / 3.0;
    rates.alone.rates["dot_general f32"] = {{1.0 / 7.0, 1e9 / 3.0}, {0.5, 1e-300}};
    rates.is_complete = n_threads == 2;
    write_rates(path, rates);
    CHECK(read_rates(path) == std::vector{rates});
    CHECK(rates_for_threads(path, n_threads) == rates);
  }
}

TEST_CASE("rates file: a damaged or other file is refused by name", "[engine]") {
  const TemporaryFolder folder;
  const std::string path = folder / "machine.json";
  const auto is_refused = [&] {
    CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(read_rates(path)); }),
               HasId("damaged", {path}));
  };
  CHECK_THAT(error_of<core::FileError>([&] { static_cast<void>(read_rates(path)); }),
             HasId("no_file", {path}));
  for (const char* text : {"", "no JSON", "[]", "{}", R"({"machines": 3})", R"({"machines": {}})",
                           R"({"machines": [7]})", R"({"machines": [{"version": 2}]})"}) {
    INFO(text);
    std::ofstream(path) << text;
    is_refused();
  }
  using Json = nlohmann::json;
  for (const std::function<void(Json&)>& damage : std::vector<std::function<void(Json&)>>{
           [](Json& record) { record.erase("processor"); }, [](Json& record) { record["threads"] = 0; },
           [](Json& record) { record["threads"] = 1e9; }, [](Json& record) { record["threads"] = "two"; },
           [](Json& record) { record["launch_s"] = -1.0; }, [](Json& record) { record.erase("shared"); },
           [](Json& record) { record["alone"]["levels"] = Json::array(); },
           [](Json& record) { record["alone"]["levels"][0][1] = 0.0; },
           [](Json& record) { std::swap(record["alone"]["levels"][0], record["alone"]["levels"][1]); },
           [](Json& record) { record["alone"]["levels"][0] = {1.0}; },
           [](Json& record) { record["alone"]["rates"]["a / b f64"][0][1] = -1.0; },
           [](Json& record) { record["alone"]["rates"]["a / b f64"] = Json::array(); },
           [](Json& record) { record["alone"]["kinds"]["product f64"] = 0.0; },
           [](Json& record) { record["complete"] = "no"; }}) {
    write_rates(path, made_up_rates(2));
    change(path, [&](Json& json) { damage(json["machines"][0]); });
    CAPTURE(text_of_file(path));
    is_refused();
  }
}

TEST_CASE("rates file: rates are those of one machine for the number of threads", "[engine]") {
  const TemporaryFolder folder;
  const std::string path = filled(folder) / "machine.json";
  const auto refused = [&](int n_threads) {
    return error_of<core::InvalidArgument>([&] { static_cast<void>(rates_for_threads(path, n_threads)); });
  };
  for (const int n_threads : {1, 2}) CHECK(rates_for_threads(path, n_threads) == made_up_rates(n_threads));
  CHECK_THAT(refused(3), HasId("not_one_machine", {path, "3", "none", "a processor, 2 thread(s), avx2"}));

  const CountingMeasure other{made_up_rates(2, "another one")};
  static_cast<void>(kept_rates(fs::path(path).parent_path(), other.rates.machine, other));
  CHECK_THAT(refused(2), HasId("not_one_machine", {path, "2", "several", "another one, 2 thread(s), avx2"}));
  CHECK(rates_for_threads(path, 1) == made_up_rates());

  CountingMeasure own{made_up_rates(2)};
  own.rates.machine.build = MachineKey::of_process().build;
  static_cast<void>(kept_rates(fs::path(path).parent_path(), own.rates.machine, own));
  CHECK(rates_for_threads(path, 2) == own.rates);
}

TEST_CASE("kept rates: each machine is measured once, for its owner alone", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder);
  struct stat status {};
  REQUIRE(::stat((path / "machine.json").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  CHECK(read_rates(path / "machine.json").size() == 2);

  const CountingMeasure first{made_up_rates()};
  CHECK(kept_rates(path, first.rates.machine, first) == first.rates);
  CHECK(*first.n == 0);
  for (const auto& differ : std::vector<std::function<void(MachineKey&)>>{
           [](MachineKey& key) { key.processor = "another"; }, [](MachineKey& key) { key.n_threads = 3; },
           [](MachineKey& key) { key.instructions = "base"; },
           [](MachineKey& key) { key.build = "other"; }}) {
    CountingMeasure other{made_up_rates(2)};
    differ(other.rates.machine);
    static_cast<void>(kept_rates(path, other.rates.machine, other));
    CHECK(*other.n == 1);
  }
  CHECK(read_rates(path / "machine.json").size() == 6);
}

TEST_CASE("kept rates: they can be replaced, and others stay", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder);
  CountingMeasure again{made_up_rates()};
  again.rates.launch_s = 5e-6;
  CHECK(kept_rates(path, again.rates.machine, again, Kept::replaced) == again.rates);
  CHECK(*again.n == 1);
  CHECK(rates_for_threads(path / "machine.json", 1) == again.rates);
  CHECK(rates_for_threads(path / "machine.json", 2) == made_up_rates(2));
}

TEST_CASE("kept rates: records of other versions are neither read nor lost", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder);
  change(path / "machine.json", [](nlohmann::json& json) {
    json["machines"][0]["version"] = 999;
    json["machines"][0].erase("alone");
  });
  CHECK(read_rates(path / "machine.json").size() == 1);
  const CountingMeasure measure{made_up_rates()};
  CHECK(
      warnings_of([&] { CHECK(kept_rates(path, measure.rates.machine, measure) == measure.rates); }).empty());
  CHECK(*measure.n == 1);
  CHECK(read_rates(path / "machine.json").size() == 2);
  CHECK(text_of_file(path / "machine.json").find("999") != std::string::npos);
}

TEST_CASE("kept rates: a file that is damaged or may be another's is replaced with one warning", "[engine]") {
  const auto write = [](const fs::path& path, const std::string& text) {
    std::ofstream(path / "machine.json") << text;
  };
  const std::vector<std::string> once{measured_again}, never;
  CHECK(warnings_after([&](const fs::path& path) { write(path, "no JSON"); }, 1) == once);
  CHECK(warnings_after([&](const fs::path& path) { write(path, ""); }, 1) == once);
  CHECK(warnings_after([&](const fs::path& path) { write(path, R"({"machines": [{"version": 2}]})"); }, 1) ==
        once);
  CHECK(warnings_after([](const fs::path& path) { ::chmod((path / "machine.json").c_str(), 0666); }, 1) ==
        once);
  CHECK(warnings_after([](const fs::path& path) { ::chmod(path.c_str(), 0777); }, 3) ==
        std::vector<std::string>{"engine::kept_rates#not_kept"});  // what is in there may change any time
  CHECK(warnings_after(
            [](const fs::path& path) {
              fs::rename(path / "machine.json", path / "other");
              fs::create_symlink(path / "other", path / "machine.json");
            },
            1) == once);
  CHECK(warnings_after(
            [](const fs::path& path) {
              fs::remove(path / "machine.json");
              fs::create_directories(path / "machine.json" / "inside");
            },
            1) == once);
  CHECK(warnings_after([](const fs::path& path) { fs::remove(path / "machine.json"); }, 1) == never);
  CHECK(warnings_after([](const fs::path&) {}, 0) == never);
}

TEST_CASE("kept rates: a damaged record is dropped, and those of other machines stay", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder), file = path / "machine.json";
  change(file, [](nlohmann::json& json) { json["machines"][0]["launch_s"] = -1.0; });
  const std::string damaged = text_of_file(file);
  const CountingMeasure of_two{made_up_rates(2)}, of_one{made_up_rates()};
  CHECK(ids_of_warnings([&] {
          CHECK(kept_rates(path, of_two.rates.machine, of_two) == of_two.rates);
        }).empty());
  CHECK(*of_two.n == 0);
  CHECK(text_of_file(file) == damaged);
  CHECK(ids_of_warnings([&] { CHECK(kept_rates(path, of_one.rates.machine, of_one) == of_one.rates); }) ==
        std::vector<std::string>{measured_again});
  CHECK(*of_one.n == 1);
  CHECK(read_rates(file) == std::vector{of_two.rates, of_one.rates});
}

TEST_CASE("kept rates: a file that cannot be read now is not replaced", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder), file = path / "machine.json";
  const std::string before = text_of_file(file);
  const CountingMeasure measure{made_up_rates()};
  std::vector<std::string> ids;
  {
    const OneMoreFile for_the_lock;
    ids = ids_of_warnings([&] { CHECK(kept_rates(path, measure.rates.machine, measure) == measure.rates); });
  }
  CHECK(ids == std::vector<std::string>{"engine::kept_rates#not_kept"});
  CHECK(*measure.n == 1);
  CHECK(text_of_file(file) == before);
}

TEST_CASE("kept rates: a process that keeps the lock is not waited for without end", "[engine]") {
  using namespace std::chrono_literals;
  const TemporaryFolder folder;
  const fs::path path = filled(folder), file = path / "machine.json";
  const std::string before = text_of_file(file);
  const auto lock = core::FileLock::take(path / "machine.lock");
  REQUIRE(lock);
  const CountingMeasure kept{made_up_rates()}, missing{made_up_rates(3)};
  CHECK(ids_of_warnings([&] { CHECK(kept_rates(path, kept.rates.machine, kept) == kept.rates); }).empty());
  CHECK(*kept.n == 0);
  const auto begin = std::chrono::steady_clock::now();
  const auto warnings = warnings_of(
      [&] { CHECK(kept_rates(path, missing.rates.machine, missing, Kept::used, 30ms) == missing.rates); });
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  CHECK(warnings.size() == 1);
  CHECK_THAT(text_with(warnings, "engine::kept_rates#not_kept"),
             Catch::Contains((path / "machine.lock").string()));
  CHECK(*missing.n == 1);
  CHECK(text_of_file(file) == before);
}

TEST_CASE("kept rates: those that are not complete are not kept", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder), file = path / "machine.json";
  const std::string before = text_of_file(file);
  for (const int n_threads : {1, 3}) {
    CountingMeasure measure{made_up_rates(n_threads)};
    measure.rates.is_complete = false;
    const auto ids = ids_of_warnings([&] {
      for (int i = 0; i < 2; ++i)
        CHECK(kept_rates(path, measure.rates.machine, measure, Kept::replaced) == measure.rates);
    });
    CHECK(ids == std::vector<std::string>{"engine::kept_rates#incomplete"});  // equal ones are kept once
    CHECK(*measure.n == 2);
    CHECK(text_of_file(file) == before);
  }
}

TEST_CASE("kept rates: an error of the measurement passes, and the next one may measure", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = filled(folder), file = path / "machine.json";
  std::ofstream(file) << "no JSON";
  const MachineRates rates = made_up_rates();
  int n = 0;
  const auto failing = [&]() -> MachineRates {
    ++n;
    throw core::FileError("tests#of_measurement", "no measurement");
  };
  const auto ids = ids_of_warnings([&] {
    CHECK_THAT(
        error_of<core::FileError>([&] { static_cast<void>(kept_rates(path, rates.machine, failing)); }),
        HasId("of_measurement", {}));
  });
  CHECK(ids == std::vector<std::string>{measured_again});
  CHECK(n == 1);
  CHECK(text_of_file(file) == "no JSON");
  const CountingMeasure measure{rates};
  static_cast<void>(warnings_of([&] { CHECK(kept_rates(path, rates.machine, measure) == rates); }));
  CHECK(read_rates(file) == std::vector{rates});
}

TEST_CASE("kept rates: without a usable folder they are measured, and a warning says so", "[engine]") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "no folder";
  for (const fs::path& path : {folder.path() / "file", fs::path("relative"), fs::path()}) {
    const CountingMeasure measure{made_up_rates()};
    const auto warnings =
        warnings_of([&] { CHECK(kept_rates(path, measure.rates.machine, measure) == measure.rates); });
    CHECK(*measure.n == 1);
    CHECK(warnings.size() == 1);
    CHECK_FALSE(text_with(warnings, "engine::kept_rates#not_kept").empty());
  }
}

TEST_CASE("kept rates: of several that need them at once, one measures", "[engine]") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cache" / "lodestone";
  const MachineRates rates = made_up_rates();
  std::atomic<int> n_measured{0}, n_got{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {  // each with a lock of its own, as processes have
        const auto slow = [&] {
          ++n_measured;
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          return rates;
        };
        n_got += kept_rates(path, rates.machine, slow) == rates ? 1 : 0;
      });
  }
  CHECK(n_measured == 1);
  CHECK(n_got == 4);
}

TEST_CASE("kept rates: those of this machine lie in the folder of caches", "[engine]") {
  const TemporaryFolder folder;
  const tests::EnvironmentVariable caches("XDG_CACHE_HOME", folder.path());
  MachineRates rates = made_up_rates(core::threads());
  rates.machine = MachineKey::of_process();
  const CountingMeasure measure{rates};
  REQUIRE(core::cache_folder() == folder.path() / "lodestone");
  static_cast<void>(kept_rates(core::cache_folder(), rates.machine, measure));
  CHECK(rates_of_this_machine() == rates);
}
