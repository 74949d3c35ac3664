// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/lone_launch.hpp"

#include "engine/compile/parts.hpp"
#include "engine/core/random.hpp"
#include "engine/graph/number.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace lodestone::engine {
namespace {

Look::Reach reach_of(const Access& access) {
  return access.aval->count() == 0 ? Look::Reach{0, -1} : Look{0, *access.strides}.reach(access.aval->shape);
}

std::size_t bytes_of(const Access& access) {
  const auto [low, high] = reach_of(access);
  return static_cast<std::size_t>(high - low + 1) * core::size_of(access.aval->dtype);
}

/// Returns elements of a dtype: zeros, which are places in every array, or else numbers between 1/4 and 3/4.
/// These differ, and are too many to be foreseen by a processor: branches on numbers, as in pooling and
/// softmax, take their time only then.
std::span<const std::byte> elements(DType dtype) {
  constexpr std::size_t n = 65537;  // a prime: rows differ
  static std::mutex mutex;
  static std::array<std::vector<std::byte>, core::n_dtypes> all;
  const std::lock_guard lock(mutex);
  std::vector<std::byte>& made = all[static_cast<std::size_t>(dtype)];
  if (!made.empty()) return made;
  const std::size_t size = core::size_of(dtype);
  made.resize(n * size);
  const core::Philox random(1);
  for (std::size_t i = 0; i < n; ++i) {
    const double number = core::is_integer(dtype) ? 0.0 : 0.25 + 0.5 * random.uniform(i);
    std::copy_n(Number(number).element(dtype).data(), size, made.data() + i * size);
  }
  return made;
}

}  // namespace

std::string kind_of(const Lowered& plan, const Launch& launch) {
  std::string kind = fmt::format("{} {}", launch.op->name, launch.attrs ? launch.attrs->text() : "");
  for (const Access& each : plan.operands_of(launch))
    kind += fmt::format("; {} {}", each.aval->text(), each.strides->text());
  for (std::size_t i = 0; i < launch.n_in; ++i) {
    if (stands_in_place(plan, launch, i)) kind += fmt::format("; {} in place", i);
  }
  return kind;
}

std::size_t bytes_of_operands(const Lowered& plan, const Launch& launch) {
  std::size_t bytes = 0;
  for (const Access& each : plan.operands_of(launch)) bytes += bytes_of(each);
  return bytes;
}

LoneLaunch::LoneLaunch(const Lowered& plan, const Launch& launch) : launch_(launch) {
  const std::span<const Access> operands = plan.operands_of(launch);
  for (const Access& each : operands) views_.push_back(filled(each));
  for (std::size_t i = 0; i < launch.n_in; ++i) {
    if (stands_in_place(plan, launch, i))
      views_[i].data =
          views_[launch.n_in].data + (operands[i].source.bytes - operands[launch.n_in].source.bytes);
  }
  const std::size_t bytes = Scratch::bytes_of(launch.workspace, plan.n_threads);
  const Device device = views_.back().aval->device;
  if (bytes > 0) buffers_.emplace_back(new Buffer(device, bytes));
  scratch_ = Scratch(bytes > 0 ? buffers_.back()->data() : nullptr, launch.workspace, plan.n_threads);
}

void LoneLaunch::run() const {
  const std::span<const View> all(views_);
  launch_.run({*launch_.op, launch_.attrs, all.first(launch_.n_in), all.subspan(launch_.n_in), scratch_,
               launch_.where});
}

View LoneLaunch::filled(const Access& access) {
  const DType dtype = access.aval->dtype;
  const std::size_t size = core::size_of(dtype), bytes = bytes_of(access);
  buffers_.emplace_back(new Buffer(access.aval->device, bytes));
  std::byte* data = buffers_.back()->data();
  const std::span<const std::byte> from = elements(dtype);
  for (std::size_t at = 0; at < bytes; at += from.size())
    std::copy_n(from.data(), std::min(from.size(), bytes - at), data + at);
  return {data - reach_of(access).low * static_cast<std::ptrdiff_t>(size), access.aval, access.strides};
}

}  // namespace lodestone::engine
