// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/passes.hpp"

#include "engine/compile/cluster.hpp"
#include "engine/compile/hooks.hpp"
#include "engine/compile/lower.hpp"
#include "engine/compile/random_loads.hpp"
#include "engine/compile/tables.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/timeline.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

namespace lodestone::engine {
namespace {

using InputStrides = std::span<const Strides>;
using Donors = std::span<const Donor>;

Program rewriting(const Program& program, InputStrides, Donors) { return rewritten(program).program; }
Program merging(const Program& program, InputStrides inputs, Donors) { return clustered(program, inputs); }
Program drawing(const Program& program, InputStrides, Donors) { return with_random_loads(program); }
Program hooking(const Program& program, InputStrides inputs, Donors) { return hooked(program, inputs); }
Program joining(const Program& program, InputStrides, Donors donors) { return tabled(program, donors); }

constexpr std::array passes_of_1{
    Pass{"rewriting", Stage::rewritten, rewriting}, Pass{"merging", Stage::merged, merging},
    Pass{"drawing", Stage::merged, drawing}, Pass{"hooking", Stage::running, hooking},
    Pass{"joining", Stage::running, joining, true}};

/// Returns true if faults of the compiler shall not be passed over.
bool must_compile() {
  const char* value = std::getenv("LODESTONE_COMPILE");
  return value != nullptr && std::string_view(value) == "must";
}

/// Checks that a pass has kept all effects in their order. errors: InvalidArgument that names the first
/// other.
void check_effects(const Program& before, const Program& after) {
  const auto effects_of = [](const Program& program) {
    std::vector<const Instruction*> effects;
    for (const Instruction& each : program.instructions()) {
      if (each.is_effect) effects.push_back(&each);
    }
    return effects;
  };
  const auto left = effects_of(before), right = effects_of(after);
  const auto is_same = [](const Instruction* a, const Instruction* b) {
    return a->op == b->op && a->attrs.get() == b->attrs.get();
  };
  const auto [a, b] = std::ranges::mismatch(left, right, is_same);
  if (a == left.end() && b == right.end()) return;
  throw core::InvalidArgument("engine::passes#lost_effect",
                              "expected the {} effects of the recorded program in their order, but {} "
                              "is not in its place",
                              left.size(), a == left.end() ? after.text(**b) : before.text(**a));
}

}  // namespace

void forgive(std::string_view part, const std::exception& error) {
  if (must_compile()) throw;
  static std::atomic<bool> has_warned{false};
  if (has_warned.exchange(true)) return;
  core::log::warning(core::log::Id("engine::compile#pass_failed"),
                     "the compiler's {} failed, so that a function runs as it was recorded, with the same "
                     "bits and more time; please report this: {}",
                     part, error.what());
}

std::span<const Pass> passes_of(Level level) {
  return level == Level::O0 ? std::span<const Pass>() : passes_of_1;
}

std::optional<Program> after(const Program& program, std::span<const Strides> inputs,
                             std::span<const Pass> passes, std::span<const Donor> donors) {
  std::optional<Program> result;
  for (const Pass& pass : passes) {
    core::TimelineScope event(core::Timeline::Kind::pass, pass.name);
    try {
      const Program& before = result ? *result : program;
      const std::int64_t n_before = std::ssize(before.instructions());
      Program made = pass.run(before, inputs, donors);
      check_effects(before, made);
      result = std::move(made);
      event.set_numbers(n_before, std::ssize(result->instructions()));
    } catch (const std::exception& error) {
      static_cast<void>(
          unplaced(program, inputs, Level::O0));  // throws what is wrong with the program itself
      forgive(pass.name, error);
      return std::nullopt;
    }
  }
  return result;
}

std::optional<Rewritten> with_liberties(const Program& program) {
  try {
    return rewritten(program, RuleTable::fast());
  } catch (const std::exception& error) {
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
