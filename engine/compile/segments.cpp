// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/segments.hpp"

#include "engine/compile/recompute.hpp"
#include "engine/core/log.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace lodestone::engine {
namespace {

/// Numbers of kernels from which a plan gains more than the half microsecond that it takes to find and begin
/// it. The second holds where the nearest cache does not hold an array, since merging then saves more.
/// Measured by `bench_engine reads`.
constexpr int least_kernels = 12, least_large_kernels = 3;
constexpr std::size_t large_bytes = std::size_t{1} << 15;

thread_local SegmentNodes spare_nodes;  // with the memory of the call before

bool is_worth_a_plan(std::span<Node* const> nodes) {
  int n_kernels = 0;
  bool is_large = false;
  for (const Node* node : nodes) {
    n_kernels += node->op->view == nullptr ? 1 : 0;
    is_large = is_large || (node->aval.kind == Kind::array && node->aval.bytes() >= large_bytes);
    if (n_kernels >= (is_large ? least_large_kernels : least_kernels)) return true;
  }
  return false;
}

/// Gives nodes the outputs of a plan, tuples several.
void give(const std::vector<Node*>& nodes, Tensors outputs) {
  auto next = outputs.begin();
  for (Node* node : nodes) {
    if (node->aval.kind == Kind::tuple) {
      auto& tuple = static_cast<TupleValue&>(*node->object);
      const auto end = next + std::ssize(tuple.avals);
      tuple.elements.assign(std::make_move_iterator(next), std::make_move_iterator(end));
      next = end;
      continue;
    }
    const Node& value = (next++)->node();
    node->buffer = value.buffer;
    node->look = value.look;
    node->object = value.object;
  }
}

}  // namespace

SegmentPlans::Known SegmentPlans::known(const Entries& entries, const SegmentNodes& nodes) {
  EntryPtr like;
  for (const EntryPtr& each : entries) {
    const SegmentCode::Match match = each->code.match(nodes);
    if (match == SegmentCode::Match::same) return {each, true};
    if (match == SegmentCode::Match::but_for_numbers) like = each;
  }
  return {like, false};
}

SegmentPlans::EntryPtr SegmentPlans::made(const SegmentNodes& nodes, const EntryPtr& like) const {
  const auto entry = std::make_shared<Entry>(like ? like->code : SegmentCode(nodes), nullptr);
  if (like) entry->code.free_numbers(nodes);
  try {
    entry->plan = make_(entry->code.program(nodes), entry->code.strides());
  } catch (const BudgetTooSmall&) {  // the function does not need a plan
  }
  return entry;
}

bool SegmentPlans::make_room(Entries& entries, std::int64_t call) {
  if (entries.size() < most_plans_) return true;
  const auto oldest =
      std::ranges::min_element(entries, {}, [](const EntryPtr& each) { return each->latest_call.load(); });
  if ((*oldest)->latest_call >= call) return false;
  seen_.erase((*oldest)->code.hash());
  entries.erase(oldest);
  core::log::warning(core::log::Id("engine::compile#too_many_segments"),
                     "a compiled function that reads values has more than {} plans, the oldest is dropped; "
                     "what it computes between two reads changes from call to call {}",
                     most_plans_, at_line(where_));
  return true;
}

SegmentPlans::EntryPtr SegmentPlans::added(const SegmentNodes& nodes, std::int64_t call) {
  const std::lock_guard making(making_);
  Entries entries = *latest_entries();
  const Known found = known(entries, nodes);
  if (found.is_same) return found.entry;  // another thread has made it
  constexpr std::size_t most_seen = 1024;
  if (seen_.size() >= most_seen) seen_.clear();
  if (!found.entry && seen_.insert(nodes.hash()).second) return {};
  if (found.entry)
    std::erase(entries, found.entry);
  else if (!make_room(entries, call))
    return {};
  entries.push_back(made(nodes, found.entry));
  const std::lock_guard lock(mutex_);
  entries_ = std::make_shared<const Entries>(std::move(entries));
  return entries_->back();
}

SegmentPlans::EntryPtr SegmentPlans::entry(const SegmentNodes& nodes, std::int64_t call) {
  const Known found = known(*latest_entries(), nodes);
  const EntryPtr entry = found.is_same ? found.entry : added(nodes, call);
  if (!entry) return {};
  entry->latest_call = std::max(entry->latest_call.load(), call);
  return entry->plan ? entry : nullptr;
}

SegmentScope::SegmentScope(SegmentPlans& plans)
    : plans_(plans), call_(++plans.n_calls_), nodes_(std::exchange(spare_nodes, {})) {}
SegmentScope::~SegmentScope() { std::swap(spare_nodes, nodes_); }

std::span<Node* const> SegmentScope::run(std::span<Node* const> nodes, bool all_stay) {
  SegmentPlans::EntryPtr entry;
  if (is_worth_a_plan(nodes)) {
    nodes_.take(nodes, all_stay);
    if (nodes_.are_program()) entry = plans_.entry(nodes_, call_);
  }
  if (!entry) {
    ++plans_.n_op_by_op_;
    return {};
  }
  give(nodes_.leaving(), entry->plan->run(entry->code.inputs(nodes_)));
  ++plans_.n_segments_;
  plans_.n_launches_ += entry->plan->n_launches();
  plans_.n_copies_ += entry->plan->n_copies();
  return nodes_.leaving();
}

}  // namespace lodestone::engine
