// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/live_bytes.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <numeric>

namespace lodestone::engine {
namespace {

std::vector<ValueId> roots_of(const Program& program) {
  std::vector<ValueId> roots(program.values().size());
  std::iota(roots.begin(), roots.end(), ValueId{0});
  for (const Instruction& each : program.instructions()) {
    if (each.op->view != nullptr) roots[each.first_result] = roots[program.operands(each)[0]];
  }
  return roots;
}

std::vector<bool> outputs_of(const Program& program, const std::vector<ValueId>& roots) {
  std::vector<bool> is_output(roots.size(), false);
  for (const ValueId id : program.outputs()) is_output[roots[id]] = true;
  return is_output;
}

}  // namespace

LiveBytes::LiveBytes(const Program& program)
    : LiveBytes(program, roots_of(program), outputs_of(program, roots_of(program))) {}

LiveBytes::LiveBytes(const Program& program, std::vector<ValueId> roots, const std::vector<bool>& is_held)
    : roots_(std::move(roots)),
      first_(roots_.size(), never),
      uses_(roots_.size()),
      bytes_(program.instructions().size(), 0) {
  for (Number number = 0; number < bytes_.size(); ++number) {
    const Instruction& each = program.instructions()[number];
    for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id) {
      if (roots_[id] == id && !is_held[id]) first_[id] = number;
    }
    const bool is_look = each.n_results == 1 && roots_[each.first_result] != each.first_result;
    if (is_look) continue;
    for (const ValueId id : program.operands(each)) uses_[roots_[id]].push_back(number);
  }
  std::vector<std::ptrdiff_t> change(bytes_.size() + 1, 0);
  for (ValueId id = 0; id < roots_.size(); ++id) {
    if (first_[id] == never) continue;
    const auto bytes = static_cast<std::ptrdiff_t>(program.values()[id].aval.bytes());
    change[first_[id]] += bytes;
    change[last(id) + 1] -= bytes;
  }
  std::partial_sum(change.begin(), change.end() - 1, bytes_.begin());
  recount();
}

void LiveBytes::recount(std::ptrdiff_t least) {
  most_ = bytes_.empty() ? least : std::max(least, *std::ranges::max_element(bytes_));
}

LiveBytes::Number LiveBytes::fullest() const {
  return static_cast<Number>(std::ranges::max_element(bytes_) - bytes_.begin());
}

bool LiveBytes::is_most(Number from, Number end, std::ptrdiff_t bytes) const {
  return std::any_of(bytes_.begin() + from, bytes_.begin() + end,
                     [&](std::ptrdiff_t now) { return now + bytes > most_; });
}

void LiveBytes::add(Number from, Number end, std::ptrdiff_t bytes) {
  for (Number number = from; number < end; ++number) most_ = std::max(most_, bytes_[number] += bytes);
}

bool LiveBytes::is_most(std::span<const Change> changes) const {
  const auto now = [&](Number number) {
    std::ptrdiff_t bytes = bytes_[number];
    for (const Change& each : changes) bytes += each.from <= number && number < each.end ? each.bytes : 0;
    return bytes;
  };
  return std::ranges::any_of(changes, [&](const Change& each) {
    for (Number number = each.from; number < each.end; ++number) {
      if (now(number) > most_) return true;
    }
    return false;
  });
}

void LiveBytes::add(std::span<const Change> changes) {
  for (const Change& each : changes) {
    for (Number number = each.from; number < each.end; ++number) bytes_[number] += each.bytes;
  }
}

}  // namespace lodestone::engine
