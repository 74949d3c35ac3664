// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/kernel_clock.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/number.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/memory/buffer.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace lodestone::engine {
namespace {

std::span<const Access> operands_of(const Lowered& plan, const Launch& launch) {
  return std::span(plan.accesses).subspan(launch.first_access, launch.n_in + launch.n_out);
}

/// Returns what decides on the time of a launch.
std::string kind_of(const Lowered& plan, const Launch& launch) {
  std::string kind = fmt::format("{} {}", launch.op->name, launch.attrs ? launch.attrs->text() : "");
  for (const Access& each : operands_of(plan, launch))
    kind += fmt::format("; {} {}", each.aval->text(), each.strides->text());
  return kind;
}

Look::Reach reach_of(const Access& access) {
  return access.aval->count() == 0 ? Look::Reach{0, -1} : Look{0, *access.strides}.reach(access.aval->shape);
}

std::size_t bytes_of(const Access& access) {
  const auto [low, high] = reach_of(access);
  return static_cast<std::size_t>(high - low + 1) * core::size_of(access.aval->dtype);
}

/// The memory of one launch, all of it full of a number that functions and places in arrays allow.
class LaunchMemory {
 public:
  LaunchMemory(const Lowered& plan, const Launch& launch) : launch_(launch) {
    for (const Access& each : operands_of(plan, launch)) views_.push_back(filled(each));
    const std::size_t bytes = Scratch::bytes_of(launch.workspace, plan.n_threads);
    const Device device = views_.back().aval->device;
    if (bytes > 0) buffers_.emplace_back(new Buffer(device, bytes));
    scratch_ = Scratch(bytes > 0 ? buffers_.back()->data() : nullptr, launch.workspace, plan.n_threads);
  }
  void run() const {
    const std::span<const View> all(views_);
    launch_.run({*launch_.op, launch_.attrs, all.first(launch_.n_in), all.subspan(launch_.n_in), scratch_,
                 launch_.where});
  }

 private:
  View filled(const Access& access) {
    const DType dtype = access.aval->dtype;
    const std::size_t size = core::size_of(dtype), bytes = bytes_of(access);
    buffers_.emplace_back(new Buffer(access.aval->device, bytes));
    std::byte* data = buffers_.back()->data();
    const auto element = Number(core::is_integer(dtype) ? 0.0 : 0.5).element(dtype);
    for (std::size_t i = 0; i < bytes; i += size) std::copy_n(element.data(), size, data + i);
    return {data - reach_of(access).low * static_cast<std::ptrdiff_t>(size), access.aval, access.strides};
  }

  const Launch& launch_;
  std::vector<BufferPtr> buffers_;
  std::vector<View> views_;
  Scratch scratch_;
};

double seconds_of_call(const LaunchMemory& memory) {
  const auto begin = std::chrono::steady_clock::now();
  memory.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the median of several calls, after one that is not counted.
double timed(const LaunchMemory& memory) {
  constexpr double enough_s = 1e-3;
  constexpr std::size_t fewest = 3, most = 31;
  memory.run();
  std::vector<double> times;
  for (double sum = 0.0; times.size() < most && (times.size() < fewest || sum < enough_s);
       sum += times.back())
    times.push_back(seconds_of_call(memory));
  std::ranges::nth_element(times, times.begin() + std::ssize(times) / 2);
  return times[times.size() / 2];
}

}  // namespace

std::optional<double> KernelClock::seconds(const Lowered& plan, const Launch& launch) {
  const auto [at, is_new] = known_.try_emplace(kind_of(plan, launch));
  if (!is_new) return at->second;
  std::size_t bytes = 0;
  for (const Access& each : operands_of(plan, launch)) bytes += bytes_of(each);
  if (bytes > most_bytes_) return std::nullopt;
  try {
    at->second = timed(LaunchMemory(plan, launch));
  } catch (const core::Error&) {  // a kernel may refuse such numbers; its time stays unknown
  }
  return at->second;
}

}  // namespace lodestone::engine
