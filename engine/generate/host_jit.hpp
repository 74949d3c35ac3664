// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: functions that the compiler of this machine makes of text while the program runs.
#pragma once

#include "engine/core/words.hpp"
#include "engine/generate/host_compiler.hpp"
#include "engine/generate/kernel_cache.hpp"
#include "engine/graph/loop_body.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace lodestone::engine {

enum class JitMode : std::uint8_t {
  off,        ///< nothing is compiled
  wait,       ///< whoever asks for a function waits for it
  background  ///< a thread compiles while the interpreter works
};
constexpr auto words(JitMode) {
  return core::Words<JitMode>{
      {JitMode::off, "off"}, {JitMode::wait, "wait"}, {JitMode::background, "background"}};
}

struct JitOptions {
  JitMode mode = JitMode::off;
  std::string compiler = {};          ///< name or path; empty: c++, g++ or clang++
  std::filesystem::path folder = {};  ///< holds the cache; empty: one of this process
  cpu_backend::Isa isa = cpu_backend::isa();

  /// Returns what LODESTONE_JIT, LODESTONE_CC and XDG_CACHE_HOME (else HOME) say. errors: InvalidArgument for
  /// an unknown word.
  [[nodiscard]] static JitOptions of_environment();
};

/// A function that is made once.
class GeneratedKernel {
 public:
  GeneratedKernel() = default;
  ~GeneratedKernel();
  GeneratedKernel(const GeneratedKernel&) = delete;
  GeneratedKernel& operator=(const GeneratedKernel&) = delete;

  /// Returns the function; null until it is made, or where that failed.
  [[nodiscard]] ExprFn function() const { return function_.load(std::memory_order_acquire); }

 private:
  friend class HostJit;
  std::atomic<ExprFn> function_{nullptr};
  void* library_ = nullptr;
};
using GeneratedKernelPtr = std::shared_ptr<const GeneratedKernel>;

struct JitStats {
  std::int64_t n_made = 0;      ///< functions that are ready
  std::int64_t n_compiled = 0;  ///< those of them that were not in the cache
  double seconds = 0.0;         ///< in the compiler
};

/// Makes functions of kernels' texts. Where that fails, one warning says why, and nothing is made any more:
/// the interpreter gives the same bits. Threads may use it at once.
class HostJit {
 public:
  explicit HostJit(JitOptions options) : options_(std::move(options)) {}
  /// Ends a compiler that is at work.
  ~HostJit();
  HostJit(const HostJit&) = delete;
  HostJit& operator=(const HostJit&) = delete;

  /// Returns the one of the process, with the options of the environment. errors: those of
  /// `JitOptions::of_environment`.
  [[nodiscard]] static HostJit& of_process();
  /// Returns one that makes nothing.
  [[nodiscard]] static HostJit& none();

  [[nodiscard]] bool is_on() const { return options_.mode != JitMode::off && !has_failed_; }
  /// Returns the function of a kernel's text (`kernel_text`), one for equal texts. It may be made later.
  [[nodiscard]] GeneratedKernelPtr kernel(const std::string& text);
  /// Returns how many functions have been made, and one more where no other will be; a plan that looks again
  /// has something to find when it grew.
  [[nodiscard]] std::int64_t n_made() const { return n_made_.load(std::memory_order_acquire); }
  [[nodiscard]] JitStats stats() const;
  /// Waits until nothing is left to be made.
  void finish();

 private:
  using KernelPtr = std::shared_ptr<GeneratedKernel>;
  struct Job {
    KernelPtr kernel;
    std::string text;
  };
  void make_jobs(const std::stop_token& stop);
  void make(const Job& job, const std::stop_token& stop);
  [[nodiscard]] std::optional<std::string> library(const std::string& name, const std::string& text,
                                                   const std::stop_token& stop);
  [[nodiscard]] bool load(GeneratedKernel& kernel, const std::string& path);
  void start_tools();
  void fail(const std::string& why);

  const JitOptions options_;
  std::mutex tools_mutex_;  // one function is made at a time
  std::optional<HostCompiler> compiler_;
  std::optional<KernelCache> cache_;
  std::vector<std::string> flags_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, KernelPtr> kernels_;
  std::deque<Job> jobs_;
  bool is_compiling_ = false;
  JitStats stats_;
  std::atomic<std::int64_t> n_made_{0};
  std::atomic<bool> has_failed_{false};
  std::jthread thread_;  // ends first
};

}  // namespace lodestone::engine
