// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/passes.hpp"

#include "engine/compile/cluster.hpp"
#include "engine/compile/hooks.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timeline.hpp"

#include <array>
#include <atomic>
#include <cstdlib>

namespace lodestone::engine {
namespace {

Program rewriting(const Program& program, std::span<const Strides>) { return rewritten(program).program; }
Program merging(const Program& program, std::span<const Strides> inputs) {
  return clustered(program, inputs);
}
Program hooking(const Program& program, std::span<const Strides> inputs) { return hooked(program, inputs); }

constexpr std::array passes_of_1{Pass{"rewriting", Stage::rewritten, rewriting},
                                 Pass{"merging", Stage::merged, merging},
                                 Pass{"hooking", Stage::running, hooking}};

/// Returns true if faults of the compiler shall not be passed over.
bool must_compile() {
  const char* value = std::getenv("LODESTONE_COMPILE");
  return value != nullptr && std::string_view(value) == "must";
}

/// Passes over a fault, if it may be.
void forgive(std::string_view pass, const core::Error& error) {
  if (must_compile()) throw;
  static std::atomic<bool> has_warned{false};
  if (has_warned.exchange(true)) return;
  core::log::warning(core::log::Id("engine::compile#pass_failed"),
                     "the compiler's {} failed, so that a function runs as it was recorded, with the same "
                     "bits and more time; please report this: {}",
                     pass, error.what());
}

}  // namespace

std::span<const Pass> passes_of(Level level) {
  return level == Level::O0 ? std::span<const Pass>() : passes_of_1;
}

std::optional<Program> after(const Program& program, std::span<const Strides> inputs,
                             std::span<const Pass> passes) {
  std::optional<Program> result;
  for (const Pass& pass : passes) {
    core::TimelineScope event(core::Timeline::Kind::pass, pass.name);
    try {
      const Program& before = result ? *result : program;
      const std::int64_t n_before = std::ssize(before.instructions());
      result = pass.run(before, inputs);
      event.set_numbers(n_before, std::ssize(result->instructions()));
    } catch (const core::Error& error) {
      forgive(pass.name, error);
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Rewritten> with_liberties(const Program& program) {
  try {
    return rewritten(program, RuleTable::fast());
  } catch (const core::Error& error) {
    forgive("fast mode", error);
    return std::nullopt;
  }
}

std::optional<Program> at_stage(const Program& program, std::span<const Strides> inputs, Level level,
                                Stage stage) {
  std::span<const Pass> passes = passes_of(level);
  while (!passes.empty() && passes.back().gives > stage) passes = passes.first(passes.size() - 1);
  return after(program, inputs, passes);
}

}  // namespace lodestone::engine
