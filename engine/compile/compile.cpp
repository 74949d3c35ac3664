// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"

#include "engine/compile/inputs.hpp"
#include "engine/compile/key.hpp"
#include "engine/compile/passes.hpp"
#include "engine/compile/plan.hpp"
#include "engine/compile/recorded_function.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/record/feed.hpp"
#include "engine/record/op_by_op.hpp"
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
  std::vector<Feed> feeds;
  std::uint64_t hash = 0;                        ///< that of the program
  std::shared_ptr<const Plan> plan;              ///< null: the function reads values, and runs op by op
  std::size_t break_number = 0;                  ///< the number of that break in the statistics
  std::shared_ptr<const void> result = {};       ///< as in `TreeCall`
  std::shared_ptr<const Program> recorded = {};  ///< before liberties; null where none was taken
  std::vector<Liberty> liberties = {};
};
/// A call: the function of the tensors, what its key says of other arguments, and where the result's form
/// stands.
struct Call {
  const Function& f;
  const std::string& form;
  std::shared_ptr<const void>& result;
  const std::source_location& where;
};
using EntryPtr = std::shared_ptr<const Entry>;
using Entries = std::vector<EntryPtr>;  // the latest last

/// Takes the liberties of fast mode with the program of an entry, which keeps the recorded one.
void take_liberties(Program& program, Entry& entry) {
  std::optional<Rewritten> changed = with_liberties(program);
  if (!changed) return;
  for (const RewriteRule& each : fast_rules()) {
    if (const int n = changed->applied[each.name]) entry.liberties.push_back({std::string(each.name), n});
  }
  if (entry.liberties.empty()) return;
  entry.recorded = std::make_shared<const Program>(std::exchange(program, std::move(changed->program)));
}

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

  [[nodiscard]] const Function& f() const { return f_; }
  [[nodiscard]] Tensors call(const Tensors& arguments, const Call& call);
  [[nodiscard]] CompileStats stats() const {
    const std::lock_guard lock(mutex_);
    CompileStats stats = stats_;
    stats.n_calls = n_calls_;
    stats.n_hits = n_hits_;
    stats.n_traces = n_traces_;
    stats.n_launches = n_launches_;
    stats.n_copies = n_copies_;
    stats.n_undonated = n_undonated_;
    if (!entries_->empty() && entries_->back()->plan) stats.n_by_text = entries_->back()->plan->n_by_text();
    return stats;
  }
  [[nodiscard]] std::string text(Stage stage) const {
    const std::shared_ptr<const Entries> entries = latest_entries();
    if (entries->empty() || !entries->back()->plan) return "";
    const Plan& plan = *entries->back()->plan;
    if (stage == Stage::recorded && entries->back()->recorded) return entries->back()->recorded->text();
    if (stage == Stage::generated) return plan.generated_text();
    if (stage == Stage::running) return plan.running().text();
    if (stage == Stage::planned) return engine::text(plan.lowered());
    const std::optional<Program> program = at_stage(plan.program(), {}, options_.level, stage);
    return (program ? *program : plan.program()).text();
  }

 private:
  /// Returns the list as it is now. No lock is held while it is used: cells may have to be evaluated by
  /// functions that call this one.
  [[nodiscard]] std::shared_ptr<const Entries> latest_entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  enum class Found : std::uint8_t { plan, nothing, followed_cells, break_in_it };
  [[nodiscard]] Found find(Inputs& inputs, const Call& call, EntryPtr& entry);
  [[nodiscard]] EntryPtr made(Inputs& inputs, const Call& call, const HostStateScope& host);
  [[nodiscard]] Found make(Inputs& inputs, const Call& call, EntryPtr& entry);
  [[nodiscard]] EntryPtr broken(const NoValues& error, Key key);
  [[nodiscard]] Tensors run_op_by_op(const Entry& entry, const Call& call, const Tensors& arguments);
  [[nodiscard]] EntryPtr added(const Inputs& inputs, const Call& call, RecordedFunction recorded,
                               const HostStateScope& host);
  [[nodiscard]] Tensors run(const Entry& entry, Inputs& inputs, const std::source_location& where);
  void note_recompile(const Key& now, const std::source_location& where);
  void keep(Entries entries);

  const Function f_;
  const CompileOptions options_;
  const std::source_location where_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_ = std::make_shared<const Entries>();  // replaced as a whole
  CompileStats stats_;  // but for these, which calls that find a plan count without a lock
  std::atomic<std::int64_t> n_calls_{0}, n_hits_{0}, n_traces_{0}, n_launches_{0}, n_copies_{0},
      n_undonated_{0};
};

Tensors Compiled::State::call(const Tensors& arguments, const Call& call) {
  ++n_calls_;
  if (StateScope::is_open() || ExecutionObserver::is_watching() || is_inside_transform(arguments))
    return call.f(arguments);
  Inputs inputs(arguments);
  EntryPtr entry;
  Found found = find(inputs, call, entry);
  if (found == Found::nothing) found = make(inputs, call, entry);
  if (found == Found::break_in_it) return run_op_by_op(*entry, call, arguments);
  if (found == Found::followed_cells) return call.f(arguments);
  inputs.feed(entry->feeds);
  call.result = entry->result;
  return run(*entry, inputs, call.where);
}

Compiled::State::Found Compiled::State::find(Inputs& inputs, const Call& call, EntryPtr& entry) {
  const std::shared_ptr<const Entries> entries = latest_entries();
  for (auto at = entries->rbegin(); at != entries->rend(); ++at) {
    const Key& key = (*at)->key;
    const bool fits = key.n_arguments == inputs.arguments().size() && key.form == call.form &&
                      key.fits_process() && key.fits(inputs.arguments(), 0);
    if (!fits) continue;
    if (!(*at)->plan) {
      entry = *at;
      return Found::break_in_it;
    }
    if (!inputs.take((*at)->read)) return Found::followed_cells;
    if (!key.fits(inputs.cells(), key.n_arguments)) continue;
    entry = *at;
    ++n_hits_;
    return Found::plan;
  }
  return Found::nothing;
}

/// Makes an entry for such inputs.
Compiled::State::Found Compiled::State::make(Inputs& inputs, const Call& call, EntryPtr& entry) {
  const HostStateScope host;
  try {
    entry = made(inputs, call, host);
    return entry && inputs.take(entry->read) ? Found::plan : Found::followed_cells;
  } catch (const NoValues& error) {
    if (options_.breaks == Breaks::refused) throw;
    entry = broken(error, Key::of(inputs.arguments(), inputs.arguments().size(), call.form, host.choices()));
    return Found::break_in_it;
  }
}

/// Returns an entry without a plan, for a function that reads values.
EntryPtr Compiled::State::broken(const NoValues& error, Key key) {
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const Break& each) {
    return each.what == error.what_is_read && each.where.line() == error.where.line() &&
           std::string_view(each.where.file_name()) == error.where.file_name();
  };
  const auto known = std::ranges::find_if(stats_.breaks, is_same);
  const auto number = static_cast<std::size_t>(known - stats_.breaks.begin());
  if (known == stats_.breaks.end()) stats_.breaks.push_back({error.what_is_read, error.where});
  Entries entries = *entries_;
  entries.push_back(std::make_shared<const Entry>(Entry{std::move(key), {}, {}, {}, 0, nullptr, number}));
  keep(std::move(entries));
  return entries_->back();
}

Tensors Compiled::State::run_op_by_op(const Entry& entry, const Call& call, const Tensors& arguments) {
  {
    const std::lock_guard lock(mutex_);
    ++stats_.breaks[entry.break_number].n;
  }
  return engine::run_op_by_op(call.f, arguments);
}

/// Records the function. Null: it captured what a transform may follow.
EntryPtr Compiled::State::made(Inputs& inputs, const Call& call, const HostStateScope& host) {
  std::optional<RecordedFunction> recorded =
      recorded_function(call.f, avals_of(inputs.arguments()), call.where);
  ++n_traces_;
  if (!recorded || !inputs.take(recorded->read)) return {};
  return added(inputs, call, *std::move(recorded), host);
}

EntryPtr Compiled::State::added(const Inputs& inputs, const Call& call, RecordedFunction recorded,
                                const HostStateScope& host) {
  auto& [program, read, assigned, feeds] = recorded;
  const Key key = Key::of(inputs.all(), inputs.arguments().size(), call.form, host.choices());
  Entry entry{key, read, assigned, {}, 0, nullptr, 0, call.result};
  if (options_.exactness == Exactness::fast) take_liberties(program, entry);
  const std::uint64_t hash = entry.hash = program.hash();
  const std::lock_guard lock(mutex_);
  note_recompile(key, call.where);
  std::vector<Donor> donors = recorded.donors();
  const auto is_same = [&](const EntryPtr& each) {
    return each->plan && each->hash == hash && each->key.n_threads == key.n_threads &&
           each->key.strides() == key.strides() && each->plan->donors() == donors &&
           each->plan->program().same(program);
  };
  Entries entries = *entries_;
  std::shared_ptr<const Plan> plan;
  if (const auto known = std::ranges::find_if(entries, is_same); known != entries.end()) {
    plan = (*known)->plan;
  } else {
    std::vector<Strides> strides = key.strides();
    strides.resize(program.n_inputs());  // those of scalars behind them
    HostJit& jit = options_.by_text ? HostJit::of_process() : HostJit::none();
    plan = std::make_shared<const Plan>(std::move(program), strides, options_.level, std::move(donors), jit,
                                        options_.budget);
    ++stats_.n_plans;
  }
  stats_.block_bytes = plan->block_bytes();
  stats_.most_alive_bytes = plan->most_alive_bytes();
  stats_.liberties = entry.liberties;
  entry.feeds = std::move(feeds);
  entry.plan = std::move(plan);
  entries.push_back(std::make_shared<const Entry>(std::move(entry)));
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

Tensors Compiled::State::run(const Entry& entry, Inputs& inputs, const std::source_location& where) {
  const auto given_up = inputs.given_up(entry.plan->donations(), entry.read);
  Tensors outputs = entry.plan->run(inputs.all(), given_up);
  n_undonated_ += std::ssize(entry.assigned) - std::ranges::count(given_up, 1);
  const std::size_t n = outputs.size() - entry.assigned.size();
  for (std::size_t i = 0; i < entry.assigned.size(); ++i) entry.assigned[i].assign({outputs[n + i], where});
  outputs.resize(n);
  n_launches_ += entry.plan->n_launches();
  n_copies_ += entry.plan->n_copies();
  return outputs;
}

Tensors Compiled::operator()(const Tensors& inputs, std::source_location where) const {
  static const std::string no_form;
  std::shared_ptr<const void> no_result;
  return state_->call(inputs, {state_->f(), no_form, no_result, where});
}
Tensors Compiled::call(const Tensors& inputs, TreeCall& call, std::source_location where) const {
  return state_->call(inputs, {call.f, call.form, call.result, where});
}
CompileStats Compiled::stats() const { return state_->stats(); }
std::string Compiled::text(Stage stage) const { return state_->text(stage); }

Compiled Compiled::of(Function f, CompileOptions options, std::source_location where) {
  if (options.most_plans < 1)
    throw core::InvalidArgument("engine::compile#no_plans",
                                "expected 1 plan or more, got {}; raise most_plans {}", options.most_plans,
                                at_line(where));
  return Compiled(std::make_shared<State>(std::move(f), options, where));
}

Compiled compile(Function f, CompileOptions options, std::source_location where) {
  if (!f)
    throw core::InvalidArgument("engine::compile#no_function",
                                "expected a function, got an empty one; give it one to call {}",
                                at_line(where));
  return Compiled::of(std::move(f), options, where);
}

}  // namespace lodestone::engine
