// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/recorded_function.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Replaces the numbers of which a program needs none: they are the last inputs.
void leave_out_unused(std::vector<Feed>& feeds, const Program& program) {
  const ProgramParts& parts = program.parts();
  const std::size_t first = program.n_inputs() - feeds.size();
  for (std::size_t i = 0; i < feeds.size(); ++i) {
    const auto is_it = [&](ValueId id) { return id == first + i; };
    if (std::ranges::none_of(parts.operands, is_it) && std::ranges::none_of(parts.outputs, is_it))
      feeds[i].number = [] { return Number(0); };
  }
}

}  // namespace

std::vector<Donor> RecordedFunction::donors() const {
  const std::size_t n_results = program.outputs().size() - assigned.size();
  std::vector<Donor> result;
  for (std::size_t i = 0; i < assigned.size(); ++i) {
    const auto at = std::ranges::find(read, assigned[i]);
    if (at == read.end()) continue;
    const auto cell = static_cast<std::size_t>(at - read.begin());
    result.push_back(
        {static_cast<std::uint32_t>(n_arguments() + cell), static_cast<std::uint32_t>(n_results + i)});
  }
  return result;
}

std::optional<RecordedFunction> recorded_function(const Function& f, std::span<const Aval> arguments,
                                                  std::source_location where) {
  const Differentiating no(false);
  const FeedScope scope;
  Trace::WithCells traced = Trace::with_cells(f, arguments, where, &scope);
  if (!traced.trace.lift_captured().empty()) return std::nullopt;
  RecordedFunction result{Program::of(traced.trace), std::move(traced.read), std::move(traced.assigned),
                          scope.feeds()};
  leave_out_unused(result.feeds, result.program);
  return result;
}

}  // namespace lodestone::engine
