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

/// Returns the program of a launch that a function may compute: a cluster, or what runs behind a kernel; null
/// for others.
const TileProgramPtr* program_of(const OpInfo& op, const Attrs& attrs) {
  if (&op == &fused_op()) return &attrs_as<TileAttrs>(attrs).program;
  if (&op != &hooked_kernel_op()) return nullptr;
  const TileProgramPtr& after = attrs_as<HookedAttrs>(attrs).hooks.after;
  return after == nullptr ? nullptr : &after;
}

AttrsPtr with_program(const OpInfo& op, const Attrs& attrs, TileProgramPtr program) {
  if (&op == &fused_op()) return make_attrs(TileAttrs{std::move(program)});
  HookedAttrs hooked = attrs_as<HookedAttrs>(attrs);
  hooked.hooks.after = std::move(program);
  return make_attrs(std::move(hooked));
}

/// Returns the text of a launch; nothing where it has none.
std::optional<std::string> text_of(const Lowered& lowered, const Launch& launch) {
  if (launch.attrs == nullptr) return {};
  const TileProgramPtr* const program = program_of(*launch.op, *launch.attrs);
  if (program == nullptr || !has_text((*program)->expr())) return {};
  const Expr& expr = (*program)->expr();
  std::vector<bool> is_one;
  if (launch.op == &hooked_kernel_op())
    is_one.push_back(expr.loads[0].shape.count() == 1);         // from the kernel
  const std::uint32_t end = launch.first_access + launch.n_in;  // its operands are the last ones
  for (std::size_t i = is_one.size(); i < expr.loads.size(); ++i) {
    const Access& access = lowered.accesses[end - (expr.loads.size() - i)];
    const View operand{nullptr, access.aval, access.strides};
    const auto& [from, shape] = expr.loads[i];
    is_one.push_back(cpu_backend::StridedWalk(operand, from, shape).is_one());
  }
  return kernel_text(expr, is_one);
}

}  // namespace

std::vector<std::string> kernel_texts(const Lowered& lowered) {
  std::vector<std::string> texts;
  for (const Launch& launch : lowered.launches) {
    auto text = text_of(lowered, launch);
    if (text && std::ranges::find(texts, *text) == texts.end()) texts.push_back(*std::move(text));
  }
  return texts;
}

GeneratedLaunches::GeneratedLaunches(const Lowered& lowered, HostJit& jit) : jit_(jit) {
  if (!jit.is_on()) return;
  for (std::uint32_t i = 0; i < lowered.launches.size(); ++i) {
    const Launch& launch = lowered.launches[i];
    if (const auto text = text_of(lowered, launch))
      each_.push_back({i, jit.kernel(*text), launch.op, launch.attrs});
  }
}

bool GeneratedLaunches::is_ready(Each& each) {
  const ExprFn function = each.kernel->function();
  if (function == nullptr) return false;
  if (!each.attrs) {
    const Expr& expr = (*program_of(*each.op, *each.interpreted))->expr();
    each.attrs = with_program(*each.op, *each.interpreted,
                              std::make_shared<const cpu_backend::TileProgram>(expr, function));
  }
  return true;
}

std::int64_t GeneratedLaunches::n_ready() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::count_if(each_, is_ready);
}

}  // namespace lodestone::engine
