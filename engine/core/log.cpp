// SPDX-License-Identifier: Apache-2.0
#include "engine/core/log.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_text.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace lodestone::core::log {
namespace {

constexpr int n_levels = 4;

std::string_view name_of(Level level) {
  static constexpr std::array<std::string_view, n_levels> names{"debug", "info", "warning", "error"};
  return names[static_cast<std::size_t>(level)];
}

std::string utc_now() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, milliseconds);
}

std::string human_line(Level level, std::string_view message) {
  const std::string text = clean_text(message);  // of files and arguments, which may hold anything
  return level == Level::info ? text : fmt::format("{}: {}", name_of(level), text);
}

std::string json_line(Level level, std::string_view message, const Place& place) {
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":{})", utc_now(), name_of(level),
                                 json_quoted(message));
  if (!place.component.empty()) line += fmt::format(R"(,"component":{})", json_quoted(place.component));
  if (!place.id.empty()) line += fmt::format(R"(,"id":{})", json_quoted(place.id));
  return line + "}";
}

std::shared_ptr<spdlog::logger> logger_of(const std::string& name, spdlog::sink_ptr sink) {
  auto logger = std::make_shared<spdlog::logger>(name, std::move(sink));
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  return logger;
}

/// The one log of the process. spdlog takes whole lines and makes them atomic; lines are laid out above.
struct Log {
  std::mutex mutex;  // guards options and file against `configure` in another thread
  LogOptions options;
  std::shared_ptr<spdlog::logger> out = logger_of("out", std::make_shared<spdlog::sinks::stdout_sink_mt>());
  std::shared_ptr<spdlog::logger> err = logger_of("err", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  std::shared_ptr<spdlog::logger> file;
  std::atomic<bool> silent{false};
  std::array<std::atomic<int>, n_levels> counts{};
  std::vector<KeptWarnings*> keepers;
};

/// mpirun hands its ranks a pseudo-terminal whatever its own output is: then the launcher's stdout decides.
bool stdout_is_terminal() {
  if (isatty(STDOUT_FILENO) != 1) return false;
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMI_SIZE") == nullptr) return true;
  std::error_code failed;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/1", getppid()), failed).string();
  return !failed && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

Log& the_log() {
  static Log log;
  return log;
}

}  // namespace

void configure(const LogOptions& options) {
  std::shared_ptr<spdlog::logger> file;
  if (!options.file.empty()) {
    try {
      file = logger_of("file", std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
    } catch (const spdlog::spdlog_ex& failure) {
      throw FileError("core::log#unwritable",
                      "cannot open the log file {} for appending ({}); check the folder and its permissions",
                      options.file, failure.what());
    }
  }
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.options = options;
  log.file = std::move(file);
}

void set_silent(bool silent) { the_log().silent = silent; }

bool is_interactive() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  return log.options.format == Format::human && !log.silent && stdout_is_terminal();
}

void write(Level level, std::string_view message, const Place& place) {
  Log& log = the_log();
  ++log.counts[static_cast<std::size_t>(level)];
  const std::lock_guard lock(log.mutex);
  if (log.silent && level != Level::error) return;
  if (level == Level::warning) {
    const std::string id = place.id.empty() ? std::string() : fmt::format("{}#{}", place.component, place.id);
    for (KeptWarnings* keeper : log.keepers) {
      KeptWarnings::Warning warning{id, std::string(message)};
      auto& kept = keeper->warnings_;
      if (kept.size() < KeptWarnings::most && std::ranges::find(kept, warning) == kept.end())
        kept.push_back(std::move(warning));
    }
  }
  if (level < log.options.level) return;
  auto& console = level >= Level::warning ? *log.err : *log.out;
  console.info(log.options.format == Format::human ? human_line(level, message)
                                                   : json_line(level, message, place));
  if (log.file) log.file->info(json_line(level, message, place));
}

KeptWarnings::KeptWarnings() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.keepers.push_back(this);
}

KeptWarnings::~KeptWarnings() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  std::erase(log.keepers, this);
}

std::vector<KeptWarnings::Warning> KeptWarnings::all() const {
  const std::lock_guard lock(the_log().mutex);
  return warnings_;
}

int count(Level level) { return the_log().counts[static_cast<std::size_t>(level)]; }

namespace {

/// Ends the process as a write to a pipe without a reader does where SIGPIPE is not ignored. A shell reports
/// 141.
[[noreturn]] void end_by_closed_pipe() {
  constexpr int of_shells = 128;
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t pipe{};
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_UNBLOCK, &pipe, nullptr);
  std::raise(SIGPIPE);
  std::_Exit(of_shells + SIGPIPE);
}

}  // namespace

void print_out(std::string_view given) {
  const std::string text = clean_text(given);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno == EPIPE) end_by_closed_pipe();
  if (!written)
    throw FileError("core::print_out#not_written",
                    "cannot write to standard output: {}; free space or name a file with -o",
                    std::strerror(errno));
}

}  // namespace lodestone::core::log
