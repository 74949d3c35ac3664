// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"

#include "engine/compile/key.hpp"
#include "engine/compile/plan.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/record/state_scope.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace lodestone::engine {
namespace {

/// A plan, and the calls that it is for.
struct Entry {
  Key key;
  Variables read, assigned;
  std::uint64_t hash;  ///< that of the program
  std::shared_ptr<const Plan> plan;
};
using EntryPtr = std::shared_ptr<const Entry>;
using Entries = std::vector<EntryPtr>;  // the latest last

/// Arguments and values of cells, one after the other; the list is used again by the next call.
class Inputs {
 public:
  explicit Inputs(const Tensors& arguments)
      : n_arguments_(arguments.size()), all_(std::exchange(spare(), {})) {
    all_.assign(arguments.begin(), arguments.end());
    for (const Tensor& each : all_) each.eval();
  }
  ~Inputs() {
    all_.clear();
    spare().swap(all_);
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  /// Takes what these cells hold instead of what other ones hold. False: a transform may follow one of them.
  [[nodiscard]] bool take(const Variables& cells) {
    all_.resize(n_arguments_);
    for (const Variable& each : cells) {
      all_.push_back(each.value());
      if (!all_.back().node().is_abstract) all_.back().eval();
      if (may_be_followed(all_.back())) return false;
    }
    return true;
  }
  [[nodiscard]] std::span<const Tensor> all() const { return all_; }
  [[nodiscard]] std::span<const Tensor> arguments() const { return all().first(n_arguments_); }
  [[nodiscard]] std::span<const Tensor> cells() const { return all().subspan(n_arguments_); }

 private:
  static Tensors& spare() {
    thread_local Tensors list;
    return list;
  }
  std::size_t n_arguments_;
  Tensors all_;
};

/// Returns whether tensors belong to a transform that is under way, so that ops must be recorded.
bool is_inside_transform(const Tensors& tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& each) {
    if (!each.is_valid()) return true;  // the function says what is wrong
    if (!each.node().is_abstract) each.eval();
    return may_be_followed(each);
  });
}

}  // namespace

class Compiled::State {
 public:
  State(Function f, CompileOptions options, std::source_location where)
      : f_(std::move(f)), options_(options), where_(where) {}

  [[nodiscard]] Tensors call(const Tensors& arguments, const std::source_location& where);
  [[nodiscard]] CompileStats stats() const {
    const std::lock_guard lock(mutex_);
    CompileStats stats = stats_;
    stats.n_calls = n_calls_;
    stats.n_hits = n_hits_;
    stats.n_traces = n_traces_;
    stats.n_launches = n_launches_;
    stats.n_copies = n_copies_;
    return stats;
  }
  [[nodiscard]] std::string text(Stage stage) const {
    const std::shared_ptr<const Entries> entries = latest_entries();
    if (entries->empty()) return "";
    const Plan& plan = *entries->back()->plan;
    return (stage == Stage::recorded ? plan.program() : plan.running()).text();
  }

 private:
  /// Returns the list as it is now. No lock is held while it is used: cells may have to be evaluated by
  /// functions that call this one.
  [[nodiscard]] std::shared_ptr<const Entries> latest_entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  enum class Found : std::uint8_t { plan, nothing, followed_cells };
  [[nodiscard]] Found find(Inputs& inputs, EntryPtr& entry);
  [[nodiscard]] EntryPtr made(Inputs& inputs, const std::source_location& where);
  [[nodiscard]] EntryPtr added(const Inputs& inputs, Program program, const Trace::WithCells& traced,
                               const std::source_location& where);
  [[nodiscard]] Tensors run(const Entry& entry, const Inputs& inputs, const std::source_location& where);
  void note_recompile(const Key& now, const std::source_location& where);
  void keep(Entries entries);

  const Function f_;
  const CompileOptions options_;
  const std::source_location where_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_ = std::make_shared<const Entries>();  // replaced as a whole
  CompileStats stats_;  // but for these, which calls that find a plan count without a lock
  std::atomic<std::int64_t> n_calls_{0}, n_hits_{0}, n_traces_{0}, n_launches_{0}, n_copies_{0};
};

Tensors Compiled::State::call(const Tensors& arguments, const std::source_location& where) {
  ++n_calls_;
  if (StateScope::is_open() || ExecutionObserver::is_watching() || is_inside_transform(arguments))
    return f_(arguments);
  Inputs inputs(arguments);
  EntryPtr entry;
  Found found = find(inputs, entry);
  if (found == Found::nothing) {
    entry = made(inputs, where);
    found = entry && inputs.take(entry->read) ? Found::plan : Found::followed_cells;
  }
  return found == Found::plan ? run(*entry, inputs, where) : f_(arguments);
}

Compiled::State::Found Compiled::State::find(Inputs& inputs, EntryPtr& entry) {
  const std::shared_ptr<const Entries> entries = latest_entries();
  for (auto at = entries->rbegin(); at != entries->rend(); ++at) {
    const Key& key = (*at)->key;
    const bool fits =
        key.n_arguments == inputs.arguments().size() && key.fits_process() && key.fits(inputs.arguments(), 0);
    if (!fits) continue;
    if (!inputs.take((*at)->read)) return Found::followed_cells;
    if (!key.fits(inputs.cells(), key.n_arguments)) continue;
    entry = *at;
    ++n_hits_;
    return Found::plan;
  }
  return Found::nothing;
}

/// Records the function. Null: it captured what a transform may follow.
EntryPtr Compiled::State::made(Inputs& inputs, const std::source_location& where) {
  const Differentiating no(false);
  Trace::WithCells traced = Trace::with_cells(f_, avals_of(inputs.arguments()), where);
  ++n_traces_;
  if (!traced.trace.lift_captured().empty() || !inputs.take(traced.read)) return {};
  return added(inputs, Program::of(traced.trace), traced, where);
}

EntryPtr Compiled::State::added(const Inputs& inputs, Program program, const Trace::WithCells& traced,
                                const std::source_location& where) {
  const Key key = Key::of(inputs.all(), inputs.arguments().size());
  const std::uint64_t hash = program.hash();
  const std::lock_guard lock(mutex_);
  note_recompile(key, where);
  const auto is_same = [&](const EntryPtr& each) {
    return each->hash == hash && each->key.n_threads == key.n_threads &&
           each->key.strides() == key.strides() && each->plan->program().same(program);
  };
  Entries entries = *entries_;
  std::shared_ptr<const Plan> plan;
  if (const auto known = std::ranges::find_if(entries, is_same); known != entries.end()) {
    plan = (*known)->plan;
    if ((*known)->read == traced.read && (*known)->assigned == traced.assigned) entries.erase(known);
  } else {
    plan = std::make_shared<const Plan>(std::move(program), key.strides(), options_.level);
    ++stats_.n_plans;
  }
  stats_.block_bytes = plan->block_bytes();
  stats_.most_alive_bytes = plan->most_alive_bytes();
  entries.push_back(std::make_shared<const Entry>(Entry{key, traced.read, traced.assigned, hash, plan}));
  keep(std::move(entries));
  return entries_->back();
}

void Compiled::State::note_recompile(const Key& now, const std::source_location& where) {
  if (entries_->empty()) return;
  const auto recompile = entries_->back()->key.difference(now, where);
  if (!recompile) return;
  constexpr std::size_t most_recompiles = 100;
  if (stats_.recompiles.size() == most_recompiles) stats_.recompiles.erase(stats_.recompiles.begin());
  stats_.recompiles.push_back(*recompile);
}

void Compiled::State::keep(Entries entries) {
  if (std::ssize(entries) > options_.most_plans) {
    entries.erase(entries.begin());
    core::log::warning(core::log::Id("engine::compile#too_many_plans"),
                       "a compiled function has more than {} plans, the oldest is dropped; its inputs change "
                       "from call to call {}",
                       options_.most_plans, at_line(where_));
  }
  entries_ = std::make_shared<const Entries>(std::move(entries));
}

Tensors Compiled::State::run(const Entry& entry, const Inputs& inputs, const std::source_location& where) {
  Tensors outputs = entry.plan->run(inputs.all());
  const std::size_t n = outputs.size() - entry.assigned.size();
  for (std::size_t i = 0; i < entry.assigned.size(); ++i) entry.assigned[i].assign({outputs[n + i], where});
  outputs.resize(n);
  n_launches_ += entry.plan->n_launches();
  n_copies_ += entry.plan->n_copies();
  return outputs;
}

Tensors Compiled::operator()(const Tensors& inputs, std::source_location where) const {
  return state_->call(inputs, where);
}
CompileStats Compiled::stats() const { return state_->stats(); }
std::string Compiled::text(Stage stage) const { return state_->text(stage); }

Compiled compile(Function f, CompileOptions options, std::source_location where) {
  if (!f)
    throw core::InvalidArgument("engine::compile#no_function",
                                "expected a function, got an empty one; give it one to call {}",
                                at_line(where));
  if (options.most_plans < 1)
    throw core::InvalidArgument("engine::compile#no_plans",
                                "expected 1 plan or more, got {}; raise most_plans {}", options.most_plans,
                                at_line(where));
  return Compiled(std::make_shared<Compiled::State>(std::move(f), options, where));
}

}  // namespace lodestone::engine
