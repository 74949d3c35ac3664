// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/generated.hpp"

#include "engine/compile/fused_op.hpp"
#include "engine/generate/emit.hpp"
#include "engine/tile/strided_walk.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns the text of a launch; nothing where it is no cluster or has none.
std::optional<std::string> text_of(const Lowered& lowered, const Launch& launch) {
  if (launch.op != &fused_op()) return {};
  const Expr& expr = attrs_as<TileAttrs>(*launch.attrs).program->expr();
  if (!has_text(expr)) return {};
  std::vector<bool> is_one;
  for (std::size_t i = 0; i < launch.n_in; ++i) {
    const Access& access = lowered.accesses[launch.first_access + i];
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
    if (const auto text = text_of(lowered, launch)) each_.push_back({i, jit.kernel(*text), launch.attrs});
  }
}

bool GeneratedLaunches::is_ready(Each& each) {
  const ExprFn function = each.kernel->function();
  if (function == nullptr) return false;
  if (!each.attrs) {
    const Expr& expr = attrs_as<TileAttrs>(*each.interpreted).program->expr();
    each.attrs = make_attrs(TileAttrs{std::make_shared<const cpu_backend::TileProgram>(expr, function)});
  }
  return true;
}

std::int64_t GeneratedLaunches::n_ready() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::count_if(each_, is_ready);
}

}  // namespace lodestone::engine
