// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: functions that read values while they are recorded, as plans between two reads.
#pragma once

#include "engine/compile/plan.hpp"
#include "engine/compile/segment_code.hpp"
#include "engine/dispatch/executor.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <source_location>
#include <unordered_set>

namespace lodestone::engine {

/// The plans of a function's segments: what it computes between two reads. Threads may use them at once.
///
/// A segment whose program comes for the first time runs op by op, for it may never come again; the second
/// time a plan is made. A number in the code, such as 2 in 2 x, belongs to the program until another one
/// stands there; then it is an input of a new plan, which serves both.
class SegmentPlans {
 public:
  /// Makes a plan for inputs with these strides. errors: those of `plan_or_recorded`.
  using Make = std::function<std::shared_ptr<const Plan>(Program program, std::span<const Strides> inputs)>;
  /// `most_plans`: kept at a time; beyond them the one goes that has not been used for the longest time,
  /// unless the call that needs another has used all of them. `where`: for a warning.
  SegmentPlans(Make make, int most_plans, std::source_location where)
      : make_(std::move(make)), most_plans_(static_cast<std::size_t>(most_plans)), where_(where) {}

  struct Counts {
    std::int64_t n_segments = 0, n_op_by_op = 0;  ///< as in `CompileStats`
    std::int64_t n_launches = 0, n_copies = 0;
  };
  [[nodiscard]] Counts counts() const { return {n_segments_, n_op_by_op_, n_launches_, n_copies_}; }

 private:
  friend class SegmentScope;
  struct Entry {
    SegmentCode code;
    std::shared_ptr<const Plan> plan;                  ///< null: a plan would take more than the budget
    mutable std::atomic<std::int64_t> latest_call{0};  ///< that needed it
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  using Entries = std::vector<EntryPtr>;
  [[nodiscard]] std::shared_ptr<const Entries> latest_entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  /// Returns the entry for these nodes, an old one or a new one; null where they have to run op by op.
  [[nodiscard]] EntryPtr entry(const SegmentNodes& nodes, std::int64_t call);
  /// An entry that matches, but for numbers perhaps; null for none.
  struct Known {
    EntryPtr entry;
    bool is_same;
  };
  [[nodiscard]] static Known known(const Entries& entries, const SegmentNodes& nodes);
  /// Returns a new entry; null for nodes that are seen for the first time, or have no room.
  [[nodiscard]] EntryPtr added(const SegmentNodes& nodes, std::int64_t call);
  /// Makes an entry. `like`: one that matches but for numbers, or null.
  [[nodiscard]] EntryPtr made(const SegmentNodes& nodes, const EntryPtr& like) const;
  /// Takes an entry off the list, for another one that this call needs. False: it needs all of them.
  [[nodiscard]] bool make_room(Entries& entries, std::int64_t call);

  const Make make_;
  const std::size_t most_plans_;
  const std::source_location where_;
  mutable std::mutex mutex_;  ///< held while the list is read or replaced
  std::mutex making_;         ///< held while a plan is made
  std::shared_ptr<const Entries> entries_ = std::make_shared<const Entries>();  // replaced as a whole
  std::unordered_set<std::uint64_t> seen_;  ///< hashes of segments without a plan
  std::atomic<std::int64_t> n_calls_{0}, n_segments_{0}, n_op_by_op_{0}, n_launches_{0}, n_copies_{0};
};

/// While one lives, what this thread evaluates runs by those plans.
class SegmentScope final : public TogetherScope {
 public:
  explicit SegmentScope(SegmentPlans& plans);
  ~SegmentScope() override;
  [[nodiscard]] std::span<Node* const> run(std::span<Node* const> nodes, bool all_stay) override;

 private:
  SegmentPlans& plans_;
  std::int64_t call_;
  SegmentNodes nodes_;
};

}  // namespace lodestone::engine
