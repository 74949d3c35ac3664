// SPDX-License-Identifier: Apache-2.0
// A training that is killed again and again ends in the same bytes as one that is left alone.
#include "engine/core/random.hpp"
#include "engine/state/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace lodestone;
using tests::TemporaryFolder;
using tests::text_of_file;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int n_kills = 20;
constexpr std::uint64_t seed = 20;

/// The training program, running: it says what it is about to do and waits for `go`. Killed at the end of the
/// scope if it still runs.
class Process {
 public:
  Process(const TemporaryFolder& folder, int threads) {
    int in[2], out[2];
    REQUIRE((pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0));
    id_ = fork();
    if (id_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      execl(RESUME_TRAINING, RESUME_TRAINING, folder.path().c_str(), std::to_string(threads).c_str(),
            nullptr);
      _exit(127);
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = fdopen(out[0], "r");
  }
  ~Process() {
    if (id_ > 0) static_cast<void>(kill());
    std::fclose(from_);
    close(to_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Returns the next thing it will do; "" when it has ended.
  [[nodiscard]] std::string next() {
    char text[200];
    return std::fgets(text, sizeof text, from_) == nullptr ? std::string() : std::string(text);
  }
  void go() const { REQUIRE(write(to_, "\n", 1) == 1); }
  /// Returns true when it was still running.
  [[nodiscard]] bool kill() {
    ::kill(id_, SIGKILL);
    return WIFSIGNALED(wait());
  }
  /// Returns its status after its end.
  [[nodiscard]] int wait() {
    int status = 0;
    waitpid(std::exchange(id_, 0), &status, 0);
    return status;
  }

 private:
  pid_t id_ = 0;
  int to_ = -1;
  std::FILE* from_ = nullptr;
};

/// To the end in one piece. Returns the seconds that a save takes, the median.
double train_undisturbed(const TemporaryFolder& folder, int threads) {
  Process process(folder, threads);
  Clock::time_point begin;
  std::vector<double> saves_s;
  for (std::string doing = process.next(); !doing.empty(); doing = process.next()) {
    if (doing.starts_with("saved"))
      saves_s.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
    begin = Clock::now();
    process.go();
  }
  REQUIRE(process.wait() == 0);
  const auto median = saves_s.begin() + std::ssize(saves_s) / 2;
  std::nth_element(saves_s.begin(), median, saves_s.end());
  return *median;
}

/// Counts files that have not got their names.
std::ptrdiff_t n_temporary(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return std::count_if(begin(files), std::filesystem::directory_iterator(),
                       [](const auto& entry) { return entry.path().filename().string().starts_with('.'); });
}

/// Compares the files of two trainings byte by byte.
bool same_results(const TemporaryFolder& a, const TemporaryFolder& b) {
  const auto same = [&](const char* name) { return text_of_file(a / name) == text_of_file(b / name); };
  return same("state.safetensors") && same("history.csv");
}

/// Waits, but not for long, until half a file of this size is there beside the others.
void wait_for_half(const TemporaryFolder& folder, std::size_t n_bytes) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(1);
  const auto is_half = [&](const std::filesystem::directory_entry& entry) {
    std::error_code gone;
    const std::uintmax_t size = std::filesystem::file_size(entry, gone);
    return !gone && entry.path().filename().string().starts_with('.') && size > 0 && size >= n_bytes / 2;
  };
  while (Clock::now() < end) {
    const std::filesystem::directory_iterator files(folder.path());
    if (std::any_of(begin(files), std::filesystem::directory_iterator(), is_half)) return;
  }
}

}  // namespace

TEST_CASE(
    "resume: a training killed at 20 seeded moments, some while it writes, ends in the bytes of one that was "
    "left alone") {
  const TemporaryFolder alone, disturbed;
  const double save_s = train_undisturbed(alone, 1);
  const std::size_t n_bytes = std::filesystem::file_size(alone / "state.safetensors");
  REQUIRE(n_bytes > 200000);

  const core::Philox random(seed);
  const std::string state = disturbed / "state.safetensors";
  int n_while_writing = 0;
  for (std::uint64_t i = 0; i < n_kills; ++i) {
    // The even ones in one of the next steps, the odd ones in one of the next saves, at a time that is drawn
    // too, or when half a file is there.
    const bool in_save = i % 2 == 1;
    int n_left = 1 + static_cast<int>(random.uniform(2 * i) * (in_save ? 2.0 : 6.0));
    Process process(disturbed, 1 + static_cast<int>(i % 3));
    while (n_left > 0) {
      const std::string doing = process.next();
      REQUIRE_FALSE(doing.empty());
      if (doing.starts_with(in_save ? "saving" : "step")) --n_left;
      process.go();
    }
    if (i % 4 == 3)
      wait_for_half(disturbed, n_bytes);
    else
      std::this_thread::sleep_for(
          std::chrono::duration<double>(random.uniform(2 * i + 1) * (in_save ? save_s : 1e-3)));
    REQUIRE(process.kill());
    if (std::filesystem::exists(state)) CHECK_NOTHROW(engine::SafetensorsSource(state).verify());
    if (n_temporary(disturbed) > 0) ++n_while_writing;
  }
  INFO("median time of a save: " << save_s << " s");
  CHECK(n_while_writing >= 3);
  train_undisturbed(disturbed, 1);
  CHECK(same_results(alone, disturbed));
  CHECK(n_temporary(disturbed) == 0);
}

TEST_CASE("resume: what a training leaves is the same in every byte at 1 and 3 threads") {
  const TemporaryFolder one, three;
  train_undisturbed(one, 1);
  train_undisturbed(three, 3);
  CHECK(same_results(one, three));
}
