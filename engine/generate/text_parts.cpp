// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/text_parts.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using From = Expr::Value::From;
using Over = TextPart::Over;

/// Returns the part that a value would be by itself.
TextPart part_alone(const Expr& expr, ExprId id) {
  const Expr::Value& value = expr.values[id];
  if (value.from == From::reduce) return {Over::elements_of_rows, false, {id}};
  return {value.per_row ? Over::rows : Over::places, !expr.codes[value.of].body->usual.text.empty(), {id}};
}

/// Returns whether two parts may be one loop.
bool fit_together(const TextPart& a, const TextPart& b) {
  return a.over == b.over && !a.is_alone && !b.is_alone;
}

}  // namespace

/// Returns the first part that may compute a value: with those that it is made of, where that is one loop, or
/// behind them.
std::size_t TextParts::first_part(ExprId id, const TextPart& alone) const {
  std::size_t first = 0;
  for (const ExprId in : expr_.inputs_of(id)) {
    if (expr_.inputs_of(in).empty()) continue;
    const bool is_one_loop =
        alone.over != Over::elements_of_rows && fit_together(parts_[part_of_[in]], alone);
    first = std::max(first, part_of_[in] + (is_one_loop ? 0 : 1));
  }
  return first;
}

TextParts::TextParts(const Expr& expr)
    : expr_(expr), part_of_(expr.values.size(), 0), is_kept_(expr.values.size(), false) {
  std::size_t last_read = 0;  // the last part that reads an operand
  for (std::size_t number = 0; number < expr.values.size(); ++number) {
    const auto id = static_cast<ExprId>(number);
    const std::span<const ExprId> inputs = expr.inputs_of(id);
    if (inputs.empty()) continue;
    TextPart alone = part_alone(expr, id);
    std::size_t part = first_part(id, alone);
    if (std::ranges::find(expr.stores, id, &Expr::Store::value) != expr.stores.end())
      part = std::max(part, last_read);
    while (part < parts_.size() && !fit_together(parts_[part], alone)) ++part;
    if (part == parts_.size()) {
      parts_.push_back(std::move(alone));
    } else {
      parts_[part].values.push_back(id);
    }
    part_of_[id] = part;
    for (const ExprId in : inputs) {
      if (expr.values[in].from == From::load) last_read = std::max(last_read, part);
      if (!expr.inputs_of(in).empty() && part_of_[in] < part) is_kept_[in] = true;
    }
  }
}

}  // namespace lodestone::engine
