// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/host_compiler.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>
#include <spawn.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace lodestone::engine {
namespace {

namespace fs = std::filesystem;
using cpu_backend::Isa;

bool is_program(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

/// Returns the path of a program, which is searched for unless the name has a folder.
std::optional<std::string> path_of(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? std::optional(name) : std::nullopt;
  const char* folders = std::getenv("PATH");
  std::istringstream list(folders == nullptr ? "/usr/local/bin:/usr/bin:/bin" : folders);
  for (std::string folder; std::getline(list, folder, ':');) {
    const fs::path path = fs::path(folder.empty() ? "." : folder) / name;
    if (is_program(path)) return path.string();
  }
  return {};
}

/// A file without a name, which goes with its last descriptor.
class NamelessFile {
 public:
  NamelessFile() : file_(opened(), std::fclose) {
    if (!file_) throw_failed();
  }
  [[nodiscard]] int descriptor() const { return ::fileno(file_.get()); }
  void write(const std::string& text) const {
    const bool is_written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!is_written || std::fflush(file_.get()) != 0) throw_failed();
    std::rewind(file_.get());
  }
  [[nodiscard]] std::string beginning() const {
    std::array<char, 600> bytes{};
    std::rewind(file_.get());
    return {bytes.data(), std::fread(bytes.data(), 1, bytes.size(), file_.get())};
  }

 private:
  /// Returns the folder of temporary files: what TMPDIR says, else that of the system.
  static fs::path folder() {
    const char* named = std::getenv("TMPDIR");
    return named == nullptr || *named == 0 ? fs::path(P_tmpdir) : fs::path(named);
  }
  /// Opens it in the folder of temporary files; null, and `errno`, where that fails.
  static std::FILE* opened() {
    std::string name = folder() / "lodestone_XXXXXX";
    const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) return nullptr;
    ::unlink(name.c_str());
    std::FILE* const file = ::fdopen(descriptor, "w+b");
    if (file == nullptr) ::close(descriptor);
    return file;
  }
  [[noreturn]] static void throw_failed() {
    throw core::FileError("engine::HostCompiler#no_temporary_file",
                          "{}: expected room for a temporary file in this folder, got: {}; set TMPDIR to "
                          "one that has it",
                          folder().string(), std::strerror(errno));
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

/// A started program in a process group of its own, so that its children can be ended with it.
class Process {
 public:
  Process(const std::vector<std::string>& words, const NamelessFile& in, const NamelessFile& out) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in.descriptor(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, out.descriptor(), STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
#endif
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    std::vector<char*> arguments;
    for (const std::string& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    error_ = ::posix_spawn(&id_, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }
  ~Process() {
    if (error_ != 0 || has_ended_) return;
    ::kill(-id_, SIGKILL);
    while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] int error() const { return error_; }
  void be_nice() const { static_cast<void>(::setpriority(PRIO_PROCESS, static_cast<id_t>(id_), 10)); }
  /// Returns how the process has ended; nothing while it runs.
  [[nodiscard]] std::optional<bool> has_succeeded() {
    int status = 0;
    const pid_t ended = ::waitpid(id_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return {};
    has_ended_ = true;
    // A program that ignores its children is not told how they ended; whether the library is there tells.
    return ended < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

 private:
  pid_t id_ = 0;
  int error_ = 0;
  bool has_ended_ = false;
};

}  // namespace

std::optional<HostCompiler> HostCompiler::find(const std::string& name) {
  const std::vector<std::string> usual{"c++", "g++", "clang++"};
  for (const std::string& each : name.empty() ? usual : std::vector{name}) {
    if (const auto path = path_of(each)) return HostCompiler(*path);
  }
  return {};
}

std::string HostCompiler::identity() const {
  std::error_code ignored;
  const fs::path file = fs::canonical(path_, ignored);
  using FileStatus = struct stat;
  FileStatus status{};
  static_cast<void>(::stat(file.c_str(), &status));
  return fmt::format("{} {} {}.{}", file.string(), status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

HostCompiler::Outcome HostCompiler::make_library(const std::string& text,
                                                 const std::vector<std::string>& flags,
                                                 const std::string& path, const std::stop_token& stop,
                                                 bool is_nice, std::chrono::seconds limit) const {
  using namespace std::chrono_literals;
  const NamelessFile source, messages;
  source.write(text);
  std::vector<std::string> words{path_};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"-x", "c++", "-o", path, "-"});
  Process process(words, source, messages);
  if (process.error() != 0) return {false, std::strerror(process.error())};
  if (is_nice) process.be_nice();
  const auto end = std::chrono::steady_clock::now() + limit;
  while (true) {
    if (const auto has_succeeded = process.has_succeeded())
      return {*has_succeeded && fs::exists(path) && fs::file_size(path) > 0, messages.beginning()};
    if (stop.stop_requested()) return {false, "the program ends"};
    if (std::chrono::steady_clock::now() > end)
      return {false, fmt::format("it has not ended within {} s", limit.count())};
    std::this_thread::sleep_for(1ms);
  }
}

std::vector<std::string> compiler_flags(Isa isa) {
  // No contraction and no liberty with numbers: bits are those of the engine's kernels. Integers wrap there,
  // and an output may lie in the place of an operand of another type.
  std::vector<std::string> flags{"-std=c++20",
                                 "-O3",
                                 "-ffp-contract=off",
                                 "-fno-math-errno",
                                 "-fno-trapping-math",
                                 "-fwrapv",
                                 "-fno-strict-aliasing",
                                 "-fno-exceptions",
                                 "-fvisibility=hidden",
                                 "-shared",
                                 "-fPIC",
                                 "-pipe",
                                 "-w"};
  if (isa == Isa::avx2) flags.insert(flags.end(), {"-mavx2", "-mfma"});
  if (isa == Isa::avx512)
    flags.insert(flags.end(), {"-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma",
                               "-mprefer-vector-width=512"});
  return flags;
}

}  // namespace lodestone::engine
