// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/host_jit.hpp"

#include "engine/core/log.hpp"
#include "engine/core/private_folder.hpp"
#include "engine/core/without_signals.hpp"
#include "engine/generate/emit.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace lodestone::engine {
namespace {

/// Counts changes of `ExprFn` and `TilePlace`: a library with another one must not be loaded.
constexpr std::string_view interface_of_kernels = "lodestone kernel 2";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

JitOptions JitOptions::of_environment() {
  JitOptions options;
  if (const std::string mode = variable("LODESTONE_JIT"); !mode.empty())
    options.mode = core::parse<JitMode, core::InvalidArgument>(mode, "LODESTONE_JIT");
  options.compiler = variable("LODESTONE_CC");
  if (const std::filesystem::path folder = core::cache_folder(); !folder.empty())
    options.folder = folder / "kernels";
  return options;
}

GeneratedKernel::~GeneratedKernel() {
  if (library_ != nullptr) ::dlclose(library_);
}

HostJit& HostJit::of_process() {
  static HostJit jit(JitOptions::of_environment());
  return jit;
}

HostJit& HostJit::none() {
  static HostJit jit(JitOptions{});
  return jit;
}

HostJit::~HostJit() {
  thread_.request_stop();
  changed_.notify_all();
}

GeneratedKernelPtr HostJit::kernel(const std::string& text) {
  std::unique_lock lock(mutex_);
  const auto [at, is_new] = kernels_.try_emplace(text);
  if (is_new) at->second = std::make_shared<GeneratedKernel>();
  const KernelPtr kernel = at->second;
  if (!is_new || !is_on()) return kernel;
  if (options_.mode == JitMode::wait) {
    lock.unlock();
    make({kernel, text}, {});
    return kernel;
  }
  jobs_.push_back({kernel, text});
  if (!thread_.joinable()) {
    const core::WithoutSignals scope;
    thread_ = std::jthread([this](const std::stop_token& stop) { make_jobs(stop); });
  }
  changed_.notify_all();
  return kernel;
}

JitStats HostJit::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void HostJit::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !is_compiling_; });
}

void HostJit::make_jobs(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !jobs_.empty(); }) && !stop.stop_requested()) {
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    is_compiling_ = true;
    lock.unlock();
    make(job, stop);
    lock.lock();
    is_compiling_ = false;
    changed_.notify_all();
  }
}

/// Finds compiler and folder. errors: FileError without one of them.
void HostJit::start_tools() {
  if (cache_) return;
  compiler_ = HostCompiler::find(options_.compiler);
  if (!compiler_)
    throw core::FileError(
        "engine::HostJit#no_compiler",
        "expected a C++ compiler {}, found none; install one, or set LODESTONE_CC to its path",
        options_.compiler.empty() ? "(c++, g++ or clang++) on the search path"
                                  : fmt::format("\"{}\"", options_.compiler));
  flags_ = compiler_flags(options_.isa);
  cache_.emplace(options_.folder);
}

void HostJit::make(const Job& job, const std::stop_token& stop) {
  const std::lock_guard tools(tools_mutex_);
  if (has_failed_) return;
  try {
    start_tools();
    const std::string text = whole_text(job.text);
    const std::string name = KernelCache::name_of(
        {interface_of_kernels, text, fmt::format("{}", fmt::join(flags_, " ")), compiler_->identity()});
    auto path = library(name, text, stop);
    if (path && !load(*job.kernel, *path)) {
      cache_->discard(name);
      path = library(name, text, stop);
      if (path && !load(*job.kernel, *path)) fail(fmt::format("{} cannot be loaded", *path));
    }
  } catch (const std::exception& error) {  // nobody else hears of it
    if (!stop.stop_requested()) fail(error.what());
  }
}

/// Returns the path of a library, or nothing after a failure or a request to stop.
std::optional<std::string> HostJit::library(const std::string& name, const std::string& text,
                                            const std::stop_token& stop) {
  const auto compile = [&](const std::string& path) {
    const auto begin = std::chrono::steady_clock::now();
    const bool is_nice = options_.mode == JitMode::background;
    const auto [is_made, message] = compiler_->make_library(text, flags_, path, stop, is_nice);
    if (!is_made && !stop.stop_requested()) fail("the compiler failed: " + message);
    const std::lock_guard lock(mutex_);
    stats_.n_compiled += is_made ? 1 : 0;
    stats_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return is_made;
  };
  return cache_->get(name, compile, stop);
}

bool HostJit::load(GeneratedKernel& kernel, const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto function = reinterpret_cast<ExprFn>(::dlsym(library, kernel_name));
  if (function == nullptr) {
    ::dlclose(library);
    return false;
  }
  kernel.library_ = library;
  kernel.function_.store(function, std::memory_order_release);
  n_made_.fetch_add(1, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  ++stats_.n_made;
  return true;
}

void HostJit::fail(const std::string& why) {
  if (has_failed_.exchange(true)) return;
  n_made_.fetch_add(1, std::memory_order_release);
  core::log::warning(core::log::Id("engine::HostJit#interpreter_only"),
                     "{}; compiled functions run by the interpreter, with the same bits. LODESTONE_CC names "
                     "another compiler, LODESTONE_JIT=off needs none",
                     why);
}

}  // namespace lodestone::engine
