// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/machine_rates.hpp"

#include "engine/backend/cpu/isa.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/provenance.hpp"
#include "engine/inspect/launch_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::engine {
namespace {

using Rate = KernelRates::Rate;

/// Returns the dtype among those with rates that computes most like this one.
DType nearest_measured(DType dtype) {
  if (core::is_complex(dtype)) return core::real_of(dtype);
  return core::size_of(dtype) > core::size_of(DType::f32) ? DType::f64 : DType::f32;
}

/// Returns the rate between two measured ones, on logarithmic scales; outside of them the nearest.
double rate_at(const std::vector<Rate>& rates, double per_byte) {
  const auto above = std::ranges::lower_bound(rates, per_byte, {}, &Rate::per_byte);
  if (above == rates.begin()) return rates.front().per_s;
  if (above == rates.end()) return rates.back().per_s;
  const auto below = above - 1;
  const double part = std::log(per_byte / below->per_byte) / std::log(above->per_byte / below->per_byte);
  return below->per_s * std::pow(above->per_s / below->per_s, part);
}

/// Returns the facts of the build that decide on what kernels do, and with which libraries.
std::string build_text() {
  constexpr std::array<std::string_view, 6> deciding{"version", "compiler", "build type",
                                                     "flags",   "BLAS",     "oneDNN"};
  std::string text;
  for (const auto& [name, fact] : core::build_info()) {
    if (std::ranges::find(deciding, name) != deciding.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, fact);
  }
  return text;
}

/// Returns "64 KiB", "256 MiB".
std::string size_text(double bytes) {
  constexpr double kib = 1024.0, mib = 1024.0 * kib;
  return bytes < mib ? fmt::format("{:.4g} KiB", bytes / kib) : fmt::format("{:.4g} MiB", bytes / mib);
}

std::string rates_text(const KernelRates& rates, std::string_view title) {
  std::string text = fmt::format("{}:\n", title);
  for (const auto& [bytes, bytes_per_s] : rates.levels)
    text += fmt::format("  {:<28} {:>10.3g} GB/s\n", fmt::format("pass over {}", size_text(bytes)),
                        1e-9 * bytes_per_s);
  for (const auto& [kind, per_s] : rates.kinds)
    text += fmt::format("  {:<28} {:>10.3g} G/s\n", kind, 1e-9 * per_s);
  return text;
}

}  // namespace

MachineKey MachineKey::of_process() {
  return {core::processor_name(), core::threads(), std::string(cpu_backend::name_of(cpu_backend::isa())),
          build_text()};
}

std::string MachineKey::text() const {
  return fmt::format("{}, {} thread(s), {}", processor, n_threads, instructions);
}

std::optional<double> KernelRates::per_s(const WorkPart& part) const {
  if (const auto own = rates.find(part.of); own != rates.end()) return rate_at(own->second, part.per_byte());
  for (const DType dtype : {part.dtype, nearest_measured(part.dtype)}) {
    if (const auto kind = kinds.find(with_dtype(part.kind, dtype)); kind != kinds.end()) return kind->second;
  }
  return {};
}

std::optional<double> KernelRates::seconds(const LaunchWork& work) const {
  double of_operations = 0.0;
  for (const WorkPart& each : work.parts()) {
    const auto rate = per_s(each);
    if (!rate) return {};
    of_operations += each.n / *rate;
  }
  if (levels.empty()) return {};
  auto level = std::ranges::find_if(levels, [&](const Level& each) { return work.bytes <= each.bytes; });
  if (level == levels.end()) --level;
  return std::max(of_operations, work.bytes / level->bytes_per_s);
}

std::optional<double> MachineRates::seconds(const LaunchWork& work) const {
  auto seconds = alone.seconds(work);
  if (const auto together = shared.seconds(work); seconds && together)
    seconds = std::min(*seconds, *together + wake_s);
  if (seconds) *seconds += launch_s;
  return seconds;
}

std::string MachineRates::text() const {
  std::string text = fmt::format("{} ({})\n", machine.text(), machine.build);
  if (!is_complete) text += "  the time ended before all was measured once\n";
  text += fmt::format("  {:<28} {:>10.3g} ns\n", "launch", 1e9 * launch_s);
  if (machine.n_threads == 1) return text + rates_text(alone, "on one thread");
  return text + fmt::format("  {:<28} {:>10.3g} ns\n", "loop on all threads", 1e9 * wake_s) +
         rates_text(alone, "on one thread") + rates_text(shared, "on all threads");
}

}  // namespace lodestone::engine
