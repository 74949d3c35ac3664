// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/symbolic.hpp"

#include "engine/compile/passes.hpp"
#include "engine/core/error.hpp"
#include "engine/program/on_line.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::engine {
namespace {

/// Returns the program for another extent. errors: InvalidArgument that says why there is none.
Program needed(ProgramOnLine made) {
  if (!made.program) throw core::InvalidArgument("engine::compile#not_symbolic", "{}", made.why_not);
  return *std::move(made.program);
}

void check_third(const Program& said, const Program& recorded, Dim extent) {
  const std::string difference = first_difference(said, recorded);
  if (!difference.empty())
    throw core::InvalidArgument("engine::compile#not_symbolic", "at {} of what two other extents say, {}",
                                extent, difference);
}

}  // namespace

// ---- Axes ------------------------------------------------------------------------------------------------

template <class Visit>
void SymbolicAxes::for_each(const Key& key, Visit&& visit) const {
  for (const BatchAxis& each : axes_) {
    const bool is_every = each.input == BatchAxis::every_input;
    const std::size_t first = is_every ? 0 : each.input, last = is_every ? key.n_arguments : each.input + 1;
    for (std::size_t i = first; i < last; ++i) visit(i, each.axis);
  }
}

/// Returns the least bound, or the largest number where none is given.
Dim SymbolicAxes::given_bound() const {
  Dim result = std::numeric_limits<Dim>::max();
  for (const BatchAxis& each : axes_) result = std::min(result, each.bound == 0 ? result : each.bound);
  return result;
}

Dim SymbolicAxes::bound(Dim first, Dim second) const {
  return given_bound() == std::numeric_limits<Dim>::max() ? std::max(first, second) : given_bound();
}

std::optional<Dim> SymbolicAxes::extent(const Key& key) const {
  std::optional<Dim> n;
  bool fits = true;
  for_each(key, [&](std::size_t i, int axis) {
    fits = fits && i < key.n_arguments && key.inputs[i].aval.kind == Kind::array &&
           axis < key.inputs[i].aval.shape.rank();
    if (!fits) return;
    const auto& [aval, strides] = key.inputs[i];
    fits = n.value_or(aval.shape[axis]) == aval.shape[axis] && is_contiguous(aval.shape, strides);
    n = aval.shape[axis];
  });
  return fits && n && *n >= 2 && *n <= given_bound() ? n : std::nullopt;
}

std::vector<Key::Input> SymbolicAxes::with_extent(const Key& key, Dim n) const {
  std::vector<Key::Input> result(key.inputs.begin(),
                                 key.inputs.begin() + static_cast<std::ptrdiff_t>(key.n_arguments));
  for_each(key, [&](std::size_t i, int axis) {
    result[i].aval.shape[axis] = n;
    result[i].strides = contiguous_strides(result[i].aval.shape);
  });
  return result;
}

bool SymbolicAxes::differ_in_extent(const Key& a, const Key& b) const {
  const std::optional<Dim> of_a = extent(a), of_b = extent(b);
  const auto is_same_choice = [](const HostChoice& x, const HostChoice& y) {
    return x.id == y.id && x.then == y.then;
  };
  if (!of_a || !of_b || a.form != b.form || a.inputs.size() != b.inputs.size() ||
      a.n_arguments != b.n_arguments || a.n_threads != b.n_threads ||
      !std::ranges::equal(a.choices, b.choices, is_same_choice))
    return false;
  std::vector<Key::Input> like_b = with_extent(a, *of_b);
  like_b.insert(like_b.end(), a.inputs.begin() + static_cast<std::ptrdiff_t>(a.n_arguments), a.inputs.end());
  return std::ranges::equal(like_b, b.inputs, [](const Key::Input& x, const Key::Input& y) {
    return x.aval == y.aval && same_steps(x.aval.shape, x.strides, y.strides);
  });
}

namespace {
bool is_extent(const Key& key, Dim n) {
  return std::ranges::any_of(key.inputs, [&](const Key::Input& each) { return each.aval.shape.contains(n); });
}
}  // namespace

Dim SymbolicAxes::third(const Key& key, Dim first, Dim second) const {
  const Dim most = bound(first, second);
  if (first != most && second != most) return most;
  Dim n = most - 1;
  while (n >= 2 && (n == first || n == second || is_extent(key, n))) --n;
  if (n >= 2) return n;
  for (n = most + 1; is_extent(key, n);) ++n;
  return n;
}

std::vector<Dim> SymbolicAxes::unlike_others(const Key& key, Dim bound) const {
  constexpr std::size_t n_extents = 9;
  std::vector<Dim> result;
  for (Dim n = bound / 2 * 2 + 1; result.size() < n_extents; n += 2) {
    if (!is_extent(key, n)) result.push_back(n);
  }
  return result;
}

// ---- Plans -----------------------------------------------------------------------------------------------

SymbolicPlan::SymbolicPlan(At first, At second, const At& third, std::span<const Dim> for_passes,
                           const Passes& passes)
    : first_(std::move(first)), second_(std::move(second)) {
  check_third(recorded(third.extent), third.program, third.extent);
  constexpr std::size_t n_needed = 3;
  bool is_done = false;
  for (std::size_t i = 0; !is_done && i < for_passes.size(); i += n_needed) {
    try {
      optimize(for_passes.subspan(i, n_needed), passes);
      is_done = true;
    } catch (const core::InvalidArgument&) {
      if (i + n_needed >= for_passes.size()) throw;
    }
  }
}

Program SymbolicPlan::recorded(Dim n) const {
  return needed(on_line(first_.program, second_.program, {first_.extent, second_.extent, n}));
}

void SymbolicPlan::optimize(std::span<const Dim> extents, const Passes& passes) {
  std::vector<At> made;
  for (const Dim n : extents) {
    if (auto program = passes(recorded(n), n)) made.push_back({n, *std::move(program)});
  }
  if (made.empty()) return;
  if (made.size() < extents.size())
    throw core::InvalidArgument("engine::compile#not_symbolic",
                                "a pass of the compiler failed for one of the extents");
  const Line line{made[0].extent, made[1].extent, made[2].extent};
  check_third(needed(on_line(made[0].program, made[1].program, line, recorded(line.extent))), made[2].program,
              line.extent);
  made.pop_back();
  optimized_ = std::move(made);
}

std::shared_ptr<const Plan> SymbolicPlan::at(Dim n, std::span<const Strides> inputs, Level level,
                                             std::vector<Donor> donors, HostJit& jit, const Plan* like,
                                             bool packs) const {
  ProgramOnLine recorded = on_line(first_.program, second_.program, {first_.extent, second_.extent, n});
  if (!recorded.program) return nullptr;
  ProgramOnLine optimized;
  if (!optimized_.empty()) {
    optimized = on_line(optimized_[0].program, optimized_[1].program,
                        {optimized_[0].extent, optimized_[1].extent, n}, *recorded.program);
    if (!optimized.program) return nullptr;
  }
  try {
    return std::make_shared<const Plan>(*std::move(recorded.program), std::move(optimized.program), inputs,
                                        level, std::move(donors), jit, like, packs);
  } catch (const std::exception& error) {
    forgive("plan for another extent", error);
    return nullptr;
  }
}

}  // namespace lodestone::engine
