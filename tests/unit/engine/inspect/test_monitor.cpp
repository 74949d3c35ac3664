// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/timeline.hpp"
#include "engine/inspect/monitor.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/train/callback.hpp"
#include "engine/train/model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/train/waves.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstring>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace lodestone::engine;
using lodestone::core::FileError;
using lodestone::core::Timeline;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::TemporaryFolder;

namespace {

/// Connects to a monitor; → −1: nobody answers.
int connected_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return client;
  close(client);
  return -1;
}

/// Sends a line and returns all that comes back.
std::string asked(const std::string& path, const std::string& line) {
  const int client = connected_to(path);
  REQUIRE(client >= 0);
  REQUIRE(send(client, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()));
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 1; n > 0;) {
    n = recv(client, buffer.data(), buffer.size(), 0);
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  close(client);
  return text;
}

/// Stops a training when it is told to.
class StopWhen final : public Callback {
 public:
  explicit StopWhen(const std::atomic<bool>& flag) : flag_(&flag) {}
  void after_step(Training& training) override {
    if (*flag_) training.stop("told to");
  }

 private:
  const std::atomic<bool>* flag_;
};

/// A training that goes on for as long as this object lives.
class Running {
 public:
  Running()
      : thread_([this] {
          InitialValues initial(7);
          const Linear net(3, 1, initial);
          const Model model(net, lodestone::tests::squared, Sgd(net, {.learning_rate = 1e-3}));
          const Dataset data = lodestone::tests::waves(64, 1, DType::f32);
          model.fit(Loader(data, {.batch_size = 8}), {},
                    {.epochs = 100'000'000, .callbacks = callbacks(StopWhen(is_over_))});
        }) {}
  ~Running() {
    is_over_ = true;
    thread_.join();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

std::size_t n_steps_in(const std::string& trace) {
  const auto events = nlohmann::json::parse(trace)["traceEvents"];
  return static_cast<std::size_t>(std::ranges::count_if(
      events, [](const nlohmann::json& each) { return each.value("cat", "") == "step"; }));
}

}  // namespace

TEST_CASE("monitor: a training that runs gives five steps with their launches, and goes on unrecorded") {
  const TemporaryFolder folder;
  const Monitor monitor(folder / "socket", 0);
  const Running training;
  for (int i = 0; i < 2; ++i) {
    const std::string trace = asked(folder / "socket", "trace 5\n");
    CHECK(n_steps_in(trace) == 5);
    CHECK(trace.find("\"cat\":\"launch\"") != std::string::npos);
    CHECK_FALSE(Timeline::is_on());
  }
  CHECK_THAT(asked(folder / "socket", "status\n"), Catch::Contains("step: training step "));
}

TEST_CASE("monitor: beside a trace that is written it leaves all events in place") {
  const TemporaryFolder folder;
  const Monitor monitor(folder / "socket", 0);
  Timeline::clear();
  Timeline::record(true);
  { const lodestone::core::TimelineScope scope(Timeline::Kind::region, "before"); }
  {
    const Running training;
    const std::string trace = asked(folder / "socket", "trace 2\n");
    CHECK(n_steps_in(trace) == 2);
    CHECK(trace.find("\"before\"") == std::string::npos);
  }
  CHECK(Timeline::is_on());
  Timeline::record(false);
  bool has_first = false;
  for (const Timeline::Thread& thread : Timeline::events()) {
    for (const Timeline::Event& each : thread.events) has_first = has_first || *each.name == "before";
  }
  CHECK(has_first);
  Timeline::clear();
}

TEST_CASE(
    "monitor: memory is that of process and arenas, and other questions are answered with those there are") {
  const TemporaryFolder folder;
  const Monitor monitor(folder / "socket", 3);
  const Tensor held = (ones({1000}) * 2.0).eval();
  CHECK_THAT(asked(folder / "socket", "memory\n"),
             Catch::Contains("process: ") && Catch::Contains("bytes in use"));
  for (const char* const wrong :
       {"stop\n", "trace\n", "trace -1\n", "trace 1x\n", "trace 99999999999999999999\n", "\n"})
    CHECK_THAT(asked(folder / "socket", wrong), Catch::StartsWith("expected status, memory or trace N"));
  CHECK_THAT(asked(folder / "socket", std::string(1000, 'x')), Catch::StartsWith("expected status"));
  CHECK_THAT(asked(folder / "socket", "status\n"),
             Catch::Contains("rank 3") && Catch::Contains("none ended"));
}

TEST_CASE("monitor: a client that leaves does not keep the next one waiting") {
  const TemporaryFolder folder;
  const Monitor monitor(folder / "socket", 0);
  const int client = connected_to(folder / "socket");
  REQUIRE(send(client, "trace 5\n", 8, 0) == 8);  // no step ever ends
  close(client);
  CHECK_THAT(asked(folder / "socket", "memory\n"), Catch::StartsWith("process"));
}

TEST_CASE("monitor: the socket is its user's alone, replaces what was left, and goes at the end") {
  const TemporaryFolder folder;
  const std::string path = folder / "socket";
  {
    const Monitor monitor(path, 0);
    struct stat found {};
    REQUIRE(stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
    CHECK_THAT(error_of<FileError>([&] { const Monitor second(path, 0); }),
               HasId("no_socket", {"another process"}));
    CHECK_THAT(asked(path, "memory\n"), Catch::StartsWith("process"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
  {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.data(), path.size());
    const int left = socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(bind(left, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    close(left);
  }
  {
    const Monitor monitor(path, 0);
    CHECK_THAT(asked(path, "memory\n"), Catch::StartsWith("process"));
  }
  std::ofstream(path) << "a file";
  CHECK_THAT(error_of<FileError>([&] { const Monitor monitor(path, 0); }),
             HasId("no_socket", {"something else"}));
  CHECK(std::filesystem::exists(path));
  CHECK_THAT(error_of<FileError>([&] { const Monitor monitor(folder / std::string(200, 'x'), 0); }),
             HasId("no_socket", {"characters"}));
  CHECK_THAT(error_of<FileError>([&] { const Monitor monitor("/proc/no/socket", 0); }), HasId("no_socket"));
}
