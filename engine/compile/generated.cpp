// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/generated.hpp"

#include "engine/compile/fused_op.hpp"
#include "engine/compile/hooked_kernel.hpp"
#include "engine/generate/emit.hpp"
#include "engine/tile/strided_walk.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using cpu_backend::TileProgramPtr;
using cpu_backend::TilePrograms;

/// Returns the programs of a launch that functions may compute: clusters, or what runs behind a kernel; none
/// of others.
std::span<const TileProgramPtr> programs_of(const OpInfo& op, const Attrs& attrs) {
  if (&op == &fused_op()) return attrs_as<TileAttrs>(attrs).programs;
  if (&op != &hooked_kernel_op()) return {};
  const TileProgramPtr& after = attrs_as<HookedAttrs>(attrs).hooks.after;
  return {&after, after == nullptr ? std::size_t{0} : std::size_t{1}};
}

AttrsPtr with_programs(const OpInfo& op, const Attrs& attrs, TilePrograms programs) {
  if (&op == &fused_op()) return make_attrs(TileAttrs{std::move(programs)});
  HookedAttrs hooked = attrs_as<HookedAttrs>(attrs);
  hooked.hooks.after = std::move(programs[0]);
  return make_attrs(std::move(hooked));
}

/// Returns the text of each program of a launch; nothing for one that has none.
std::vector<std::optional<std::string>> texts_of(const Lowered& lowered, const Launch& launch) {
  std::vector<std::optional<std::string>> texts;
  if (launch.attrs == nullptr) return texts;
  const std::span<const TileProgramPtr> programs = programs_of(*launch.op, *launch.attrs);
  const bool follows_kernel = launch.op == &hooked_kernel_op();  // which gives the first operand
  std::size_t next = launch.first_access + launch.n_in + (follows_kernel ? 1 : 0);
  for (const TileProgramPtr& each : programs) next -= each->expr().loads.size();
  for (const TileProgramPtr& each : programs) {
    const Expr& expr = each->expr();
    std::vector<bool> is_one;
    for (const auto& [from, shape] : expr.loads) {
      const bool is_from_kernel = follows_kernel && is_one.empty();
      const Access& access = lowered.accesses[is_from_kernel ? next : next++];
      const View operand{nullptr, access.aval, access.strides};
      is_one.push_back(is_from_kernel ? shape.count() == 1
                                      : cpu_backend::StridedWalk(operand, from, shape).is_one());
    }
    texts.push_back(has_text(expr) ? std::optional(kernel_text(expr, is_one)) : std::nullopt);
  }
  return texts;
}

}  // namespace

std::vector<std::string> kernel_texts(const Lowered& lowered) {
  std::vector<std::string> texts;
  for (const Launch& launch : lowered.launches) {
    for (auto& text : texts_of(lowered, launch)) {
      if (text && std::ranges::find(texts, *text) == texts.end()) texts.push_back(*std::move(text));
    }
  }
  return texts;
}

GeneratedLaunches::GeneratedLaunches(const Lowered& lowered, HostJit& jit) : jit_(jit) {
  if (!jit.is_on()) return;
  for (std::uint32_t i = 0; i < lowered.launches.size(); ++i) {
    const Launch& launch = lowered.launches[i];
    std::vector<GeneratedKernelPtr> kernels;
    for (const auto& text : texts_of(lowered, launch)) kernels.push_back(text ? jit.kernel(*text) : nullptr);
    const bool has_any = std::ranges::any_of(kernels, [](const auto& each) { return each != nullptr; });
    if (has_any) each_.push_back({i, std::move(kernels), launch.op, launch.attrs});
  }
}

/// Returns whether the functions of a launch are there, all at once: runs may be using older attributes.
bool GeneratedLaunches::is_ready(Each& each) {
  if (each.attrs) return true;
  const std::span<const TileProgramPtr> programs = programs_of(*each.op, *each.interpreted);
  TilePrograms made;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const ExprFn function = each.kernels[i] == nullptr ? nullptr : each.kernels[i]->function();
    if (function == nullptr && each.kernels[i] != nullptr) return false;
    made.push_back(std::make_shared<const cpu_backend::TileProgram>(programs[i]->expr(), function));
  }
  each.attrs = with_programs(*each.op, *each.interpreted, std::move(made));
  return true;
}

std::int64_t GeneratedLaunches::n_ready() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::count_if(each_, is_ready);
}

}  // namespace lodestone::engine
