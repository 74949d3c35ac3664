// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/monitor.hpp"

#include "engine/core/chrome_trace.hpp"
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/timer.hpp"
#include "engine/core/without_signals.hpp"
#include "engine/memory/arena.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace lodestone::engine {
namespace {

using core::Timeline;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::int64_t most_steps = 100'000;  // of a trace
constexpr auto longest_question = 5s;         // of a client that sends or takes nothing

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw core::FileError("engine::Monitor#no_socket",
                        "cannot open the monitor's socket {}: {}; give LODESTONE_MONITOR another path", path,
                        why);
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path)
    refuse(path, fmt::format("its name has {} characters, of at least 1 and less than {}", path.size(),
                             sizeof address.sun_path));
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Descriptor new_socket(const std::string& path) {
  const int number = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (number < 0) refuse(path, std::strerror(errno));
  return Descriptor(number);
}

/// Removes a socket of this user that nobody answers on.
void remove_leftover(const std::string& path, const sockaddr_un& address) {
  struct stat found {};
  if (lstat(path.c_str(), &found) != 0) return;
  if (!S_ISSOCK(found.st_mode) || found.st_uid != geteuid()) refuse(path, "something else has this name");
  const Descriptor probe = new_socket(path);
  if (connect(probe.number(), generic(address), sizeof address) == 0)
    refuse(path, "another process answers there");
  unlink(path.c_str());
}

/// Returns a socket that listens, which only this user may open from the first moment on.
int listening_at(const std::string& path) {
  const sockaddr_un address = address_of(path);
  remove_leftover(path, address);
  Descriptor made = new_socket(path);
  const bool is_open = fchmod(made.number(), S_IRUSR | S_IWUSR) == 0 &&
                       bind(made.number(), generic(address), sizeof address) == 0 &&
                       chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0 && listen(made.number(), 1) == 0;
  if (!is_open) refuse(path, std::strerror(errno));
  return made.release();
}

/// Returns whether something can be read, or written, within this time.
bool is_ready(int descriptor, short what, std::chrono::milliseconds within) {
  pollfd wanted{descriptor, what, 0};
  return poll(&wanted, 1, static_cast<int>(within.count())) > 0;
}

/// Returns whether a client waits for an answer; it may have closed its own way.
bool waits(int client) {
  pollfd wanted{client, 0, 0};
  return poll(&wanted, 1, 0) >= 0 && (wanted.revents & POLLHUP) == 0;
}

/// Returns the first line that a client sends.
std::string line_from(int client) {
  constexpr std::size_t longest = 256;
  std::string line;
  std::array<char, longest> buffer{};
  while (line.size() < longest && line.find('\n') == std::string::npos &&
         is_ready(client, POLLIN, longest_question)) {
    const ssize_t n = recv(client, buffer.data(), buffer.size(), 0);
    if (n <= 0) break;
    line.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return line.substr(0, line.find_first_of("\r\n"));
}

void send_to(int client, std::string_view text) {
  while (!text.empty() && is_ready(client, POLLOUT, longest_question)) {
    const ssize_t n = send(client, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0 && errno != EAGAIN) return;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
}

/// Records while it lives, unless someone else does so already.
class Recording {
 public:
  Recording() : was_on_(Timeline::is_on()), begin_(Timeline::now()) {
    if (was_on_) return;
    Timeline::clear();
    Timeline::record(true);
  }
  ~Recording() {
    if (!was_on_) Timeline::record(false);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Waits for n whole steps, as long as `goes_on` and until a time. → the events up to the last of them.
  [[nodiscard]] std::vector<Timeline::Thread> steps(std::int64_t n, Clock::time_point until,
                                                    const std::function<bool()>& goes_on) const {
    const std::uint64_t wanted = Timeline::n_steps() + static_cast<std::uint64_t>(n);
    // A step that had begun before is none.
    const std::uint64_t spare = was_on_ ? 1 : 0;
    while (Timeline::n_steps() < wanted + spare && Clock::now() < until && goes_on())
      std::this_thread::sleep_for(1ms);
    return cut(Timeline::events(), n);
  }

 private:
  /// Leaves out what began before, and what ended after n steps.
  [[nodiscard]] std::vector<Timeline::Thread> cut(std::vector<Timeline::Thread> threads,
                                                  std::int64_t n) const {
    std::vector<Timeline::Ticks> ends;
    for (const Timeline::Thread& thread : threads) {
      for (const Timeline::Event& each : thread.events) {
        if (each.kind == Timeline::Kind::step && each.begin >= begin_) ends.push_back(each.end);
      }
    }
    std::ranges::sort(ends);
    const bool has_more = std::ssize(ends) > n && n > 0;
    const Timeline::Ticks end = has_more ? ends[static_cast<std::size_t>(n - 1)] : Timeline::now();
    for (Timeline::Thread& thread : threads)
      std::erase_if(thread.events,
                    [&](const Timeline::Event& each) { return each.begin < begin_ || each.end > end; });
    return threads;
  }

  bool was_on_;
  Timeline::Ticks begin_;
};

/// Returns "training step 12 took 2.1 ms", of the first step in a list of events.
std::string step_text(const std::vector<Timeline::Thread>& threads) {
  const Timeline::Scale scale;
  for (const Timeline::Thread& thread : threads) {
    for (const Timeline::Event& each : thread.events) {
      if (each.kind == Timeline::Kind::step)
        return fmt::format("{} {} took {:.3g} ms", *each.name, each.first,
                           1e-3 * (scale.microseconds(each.end) - scale.microseconds(each.begin)));
    }
  }
  return "none ended within a second";
}

std::string memory_text() {
  const core::ProcessMemory process = core::process_memory();
  std::string text =
      fmt::format("process: {:.0f} bytes, at most {:.0f}\n", process.resident, process.largest);
  for (const std::uint8_t index : {std::uint8_t{0}, std::uint8_t{1}}) {
    const Device device{Device::Kind::cpu, index};
    const ArenaStats stats = Arena::of(device).stats();
    if (stats.requests == 0) continue;
    text += fmt::format("{}: {} bytes in use, {} kept for later, at most {} in use, {} requests\n",
                        device.text(), stats.in_use, stats.cached, stats.peak, stats.requests);
  }
  return text;
}

/// Returns N of "trace N".
std::optional<std::int64_t> steps_asked_for(std::string_view question) {
  constexpr std::string_view command = "trace ";
  if (!question.starts_with(command)) return {};
  question.remove_prefix(command.size());
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(question.data(), question.data() + question.size(), n);
  const bool is_number = error == std::errc() && end == question.data() + question.size();
  return is_number && n >= 1 && n <= most_steps ? std::optional(n) : std::nullopt;
}

}  // namespace

void Monitor::open_if_asked(int rank) {
  static std::mutex mutex;
  static std::unique_ptr<Monitor> of_process;
  const char* const path = std::getenv("LODESTONE_MONITOR");
  const std::lock_guard lock(mutex);
  if (path == nullptr || of_process) return;
  of_process = std::make_unique<Monitor>(rank == 0 ? path : fmt::format("{}.{}", path, rank), rank);
}

Monitor::Monitor(std::string path, int rank) : path_(std::move(path)), rank_(rank) {
  socket_ = listening_at(path_);
  const core::WithoutSignals quiet;  // they belong to the thread that computes
  thread_ = std::thread([this] { serve(); });
}

Monitor::~Monitor() {
  is_over_ = true;
  shutdown(socket_, SHUT_RDWR);  // wakes who waits for a client
  thread_.join();
  close(socket_);
  unlink(path_.c_str());
}

void Monitor::serve() {
  while (!is_over_) {
    const Descriptor client(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
    if (client.number() < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (!is_over_) std::this_thread::sleep_for(100ms);  // too many open files, perhaps for a while
      continue;
    }
    try {
      send_to(client.number(), answer(client.number()));
    } catch (const std::exception& error) {
      send_to(client.number(), fmt::format("{}\n", error.what()));
    }
  }
}

std::string Monitor::answer(int client) const {
  const std::string question = line_from(client);
  const auto goes_on = [&] { return !is_over_ && waits(client); };
  if (question == "memory") return memory_text();
  if (question == "status")
    return fmt::format("process {}, rank {}, {} threads\nstep: {}\n{}", getpid(), rank_, core::threads(),
                       step_text(Recording().steps(1, Clock::now() + 1s, goes_on)),
                       core::TimerTotals::global().table());
  if (const auto n = steps_asked_for(question))
    return core::chrome_trace(Recording().steps(*n, Clock::now() + 10min, goes_on), rank_);
  return fmt::format(
      "expected status, memory or trace N with N from 1 to {}, got \"{}\"; send one of these\n", most_steps,
      core::clean_line(question));
}

}  // namespace lodestone::engine
