// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"

#include "engine/compile/inputs.hpp"
#include "engine/compile/key.hpp"
#include "engine/compile/passes.hpp"
#include "engine/compile/plan.hpp"
#include "engine/compile/recorded_function.hpp"
#include "engine/compile/segments.hpp"
#include "engine/compile/symbolic.hpp"
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
#include <functional>
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
  std::shared_ptr<const Plan> plan;              ///< null: the function reads values, and runs in segments
  std::size_t break_number = 0;                  ///< the number of that break in the statistics
  std::shared_ptr<const void> result = {};       ///< as in `TreeCall`
  std::shared_ptr<const Program> recorded = {};  ///< before liberties; null where none was taken
  std::vector<Liberty> liberties = {};
  bool is_resized = false;  ///< its plan was made of those for other extents
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

/// The liberties that fast mode took with a program.
struct Taken {
  std::shared_ptr<const Program> recorded = {};  ///< before liberties; null where none was taken
  std::vector<Liberty> liberties = {};
};

/// Takes the liberties of fast mode with a program.
Taken take_liberties(Program& program) {
  std::optional<Rewritten> changed = with_liberties(program);
  Taken taken;
  if (!changed) return taken;
  for (const RewriteRule& each : fast_rules()) {
    if (const int n = changed->applied[each.name]) taken.liberties.push_back({std::string(each.name), n});
  }
  if (!taken.liberties.empty())
    taken.recorded = std::make_shared<const Program>(std::exchange(program, std::move(changed->program)));
  return taken;
}

/// A function for all extents of its symbolic axes up to a bound, as far as two recordings have told.
struct Family {
  Entry like;  ///< the entry for the first extent, without its plan
  Dim bound;
  std::vector<Donor> donors;
  std::shared_ptr<const SymbolicPlan> symbolic = {};  ///< null: the shape is static
  std::shared_ptr<const Plan> at_bound = {};
  std::string why_static = {};
};

bool same_numbers(const std::vector<Feed>& a, const std::vector<Feed>& b) {
  return std::ranges::equal(a, b, [](const Feed& x, const Feed& y) {
    return x.aval == y.aval && x.number().element(x.aval.dtype) == y.number().element(y.aval.dtype);
  });
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
      : f_(std::move(f)),
        axes_(options.symbolic),
        options_(std::move(options)),
        where_(where),
        segments_(
            [this](Program program, std::span<const Strides> inputs) {
              return segment_plan(std::move(program), inputs);
            },
            options_.most_plans, where) {}

  [[nodiscard]] const Function& f() const { return f_; }
  [[nodiscard]] Tensors call(const Tensors& arguments, const Call& call);
  [[nodiscard]] CompileStats stats() const {
    const std::lock_guard lock(mutex_);
    CompileStats stats = stats_;
    stats.n_calls = n_calls_;
    stats.n_hits = n_hits_;
    stats.n_traces = n_traces_;
    const SegmentPlans::Counts of_segments = segments_.counts();
    stats.n_segments = of_segments.n_segments;
    stats.n_op_by_op = of_segments.n_op_by_op;
    stats.n_launches = n_launches_ + of_segments.n_launches;
    stats.n_copies = n_copies_ + of_segments.n_copies;
    stats.n_undonated = n_undonated_;
    if (latest_.plan) {
      stats.n_by_text = latest_.plan->n_by_text();
      stats.n_packed = latest_.plan->n_packed();
    }
    return stats;
  }
  [[nodiscard]] std::string text(Stage stage) const {
    const Latest latest = this->latest();
    if (!latest.plan) return "";
    const Plan& plan = *latest.plan;
    if (stage == Stage::recorded && latest.recorded) return latest.recorded->text();
    if (stage == Stage::generated) return plan.generated_text();
    if (stage == Stage::running) return plan.running().text();
    if (stage == Stage::planned) return engine::text(plan.lowered()) + engine::text(plan.packed());
    const std::optional<Program> program =
        at_stage(plan.program(), plan.input_strides(), options_.level, stage);
    return (program ? *program : plan.program()).text();
  }

 private:
  /// Returns the list as it is now. No lock is held while it is used: cells may have to be evaluated by
  /// functions that call this one.
  [[nodiscard]] std::shared_ptr<const Entries> latest_entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  /// The plan that was made last, and the program of it before liberties, if any were taken.
  struct Latest {
    std::shared_ptr<const Plan> plan;
    std::shared_ptr<const Program> recorded;
  };
  [[nodiscard]] Latest latest() const {
    const std::lock_guard lock(mutex_);
    return latest_;
  }
  enum class Found : std::uint8_t { plan, nothing, followed_cells, break_in_it };
  [[nodiscard]] Found find(Inputs& inputs, const Call& call, EntryPtr& entry);
  [[nodiscard]] EntryPtr made(Inputs& inputs, const Call& call, const HostStateScope& host);
  [[nodiscard]] Found make(Inputs& inputs, const Call& call, EntryPtr& entry);
  [[nodiscard]] EntryPtr broken(const NoValues& error, Key key);
  [[nodiscard]] Tensors run_in_segments(const Entry& entry, const Call& call, const Tensors& arguments);
  [[nodiscard]] std::shared_ptr<const Plan> segment_plan(Program program, std::span<const Strides> inputs);
  [[nodiscard]] EntryPtr added(const Key& key, const Call& call, RecordedFunction recorded, Taken taken);
  // Symbolic axes.
  [[nodiscard]] EntryPtr resized(Inputs& inputs, const Call& call);
  void learn(const Key& key, const RecordedFunction& recorded, const Call& call);
  void make_symbolic(Family& family, const Entry& base, const Key& key, const RecordedFunction& recorded,
                     const Call& call) const;
  [[nodiscard]] std::vector<Strides> strides_at(const Key& key, Dim n, std::size_t n_inputs) const;
  [[nodiscard]] std::vector<Family> families() const {
    const std::lock_guard lock(mutex_);
    return families_;
  }
  [[nodiscard]] HostJit& jit() const { return options_.by_text ? HostJit::of_process() : HostJit::none(); }
  [[nodiscard]] Tensors run(const Entry& entry, Inputs& inputs, const std::source_location& where);
  /// Notes the plan that was made last. Call it with the lock.
  void note_latest(const std::shared_ptr<const Plan>& plan, std::shared_ptr<const Program> recorded,
                   std::vector<Liberty> liberties);
  void note_recompile(const Key& now, const std::source_location& where);
  void keep(Entries entries);

  const Function f_;
  const SymbolicAxes axes_;
  const CompileOptions options_;
  const std::source_location where_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Entries> entries_ = std::make_shared<const Entries>();  // replaced as a whole
  std::vector<Family> families_;
  Latest latest_;
  SegmentPlans segments_;
  CompileStats stats_;  // but for these, which calls that find a plan count without a lock
  std::atomic<std::int64_t> n_calls_{0}, n_hits_{0}, n_traces_{0}, n_launches_{0}, n_copies_{0},
      n_undonated_{0};
};

Tensors Compiled::State::call(const Tensors& arguments, const Call& call) {
  ++n_calls_;
  if (StateScope::is_open() || SegmentScope::is_open() || ExecutionObserver::is_watching() ||
      is_inside_transform(arguments))
    return call.f(arguments);
  Inputs inputs(arguments);
  EntryPtr entry;
  Found found = find(inputs, call, entry);
  if (found == Found::nothing) found = make(inputs, call, entry);
  if (found == Found::break_in_it) return run_in_segments(*entry, call, arguments);
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

/// Runs f on the arguments themselves, so that it finds what it reads.
Tensors Compiled::State::run_in_segments(const Entry& entry, const Call& call, const Tensors& arguments) {
  {
    const std::lock_guard lock(mutex_);
    ++stats_.breaks[entry.break_number].n;
  }
  const SegmentScope scope(segments_);
  return run_op_by_op(call.f, arguments);
}

std::shared_ptr<const Plan> Compiled::State::segment_plan(Program program, std::span<const Strides> inputs) {
  Taken taken;
  if (options_.exactness == Exactness::fast) taken = take_liberties(program);
  auto plan = plan_or_recorded(program, inputs, options_.level, {}, jit(), options_.budget);
  const std::lock_guard lock(mutex_);
  ++stats_.n_plans;
  note_latest(plan, std::move(taken.recorded), std::move(taken.liberties));
  return plan;
}

void Compiled::State::note_latest(const std::shared_ptr<const Plan>& plan,
                                  std::shared_ptr<const Program> recorded, std::vector<Liberty> liberties) {
  stats_.block_bytes = plan->block_bytes();
  stats_.most_alive_bytes = plan->most_alive_bytes();
  stats_.liberties = std::move(liberties);
  latest_ = {plan, std::move(recorded)};
}

/// Records the function. Null: it captured what a transform may follow.
EntryPtr Compiled::State::made(Inputs& inputs, const Call& call, const HostStateScope& host) {
  if (EntryPtr entry = resized(inputs, call)) return entry;
  std::optional<RecordedFunction> recorded =
      recorded_function(call.f, avals_of(inputs.arguments()), call.where);
  ++n_traces_;
  if (!recorded || !inputs.take(recorded->read)) return {};
  Taken taken;
  if (options_.exactness == Exactness::fast) taken = take_liberties(recorded->program);
  const Key key = Key::of(inputs.all(), inputs.arguments().size(), call.form, host.choices());
  learn(key, *recorded, call);
  note_recompile(key, call.where);
  if (EntryPtr entry = resized(inputs, call)) return entry;
  return added(key, call, *std::move(recorded), std::move(taken));
}

EntryPtr Compiled::State::added(const Key& key, const Call& call, RecordedFunction recorded, Taken taken) {
  auto& [program, read, assigned, feeds] = recorded;
  Entry entry{key, read, assigned, {}, program.hash(), nullptr, 0, call.result};
  entry.recorded = std::move(taken.recorded);
  entry.liberties = std::move(taken.liberties);
  const std::uint64_t hash = entry.hash;
  const std::lock_guard lock(mutex_);
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
    plan = plan_or_recorded(program, strides, options_.level, std::move(donors), jit(), options_.budget);
    ++stats_.n_plans;
  }
  note_latest(plan, entry.recorded, entry.liberties);
  entry.feeds = std::move(feeds);
  entry.plan = std::move(plan);
  entries.push_back(std::make_shared<const Entry>(std::move(entry)));
  keep(std::move(entries));
  return entries_->back();
}

// ---- Symbolic axes ---------------------------------------------------------------------------------------

/// Returns an entry for such inputs that is made of recordings for other extents, or null.
EntryPtr Compiled::State::resized(Inputs& inputs, const Call& call) {
  if (options_.symbolic.empty()) return {};
  for (const Family& each : families()) {
    const Entry& like = each.like;
    if (!each.symbolic || !like.key.fits_process() || !inputs.take(like.read)) continue;
    Key key = Key::of(inputs.all(), inputs.arguments().size(), call.form, like.key.choices);
    if (!axes_.differ_in_extent(like.key, key) || *axes_.extent(key) > each.bound) continue;
    const std::vector<Strides> strides =
        strides_at(key, *axes_.extent(key), each.at_bound->program().n_inputs());
    std::shared_ptr<const Plan> plan =
        each.symbolic->at(*axes_.extent(key), strides, options_.level, each.donors, jit(),
                          each.at_bound.get(), options_.budget == 0);
    if (!plan) return {};
    const std::lock_guard lock(mutex_);
    ++stats_.n_resized;
    note_latest(plan, like.recorded, like.liberties);
    Entries entries = *entries_;
    std::erase_if(entries, [&](const EntryPtr& other) {  // it will share memory with this one
      return other->plan && !other->is_resized && axes_.differ_in_extent(other->key, key) &&
             *axes_.extent(other->key) <= each.bound;
    });
    Entry entry = like;
    entry.key = std::move(key);
    entry.plan = std::move(plan);
    entry.is_resized = true;
    entries.push_back(std::make_shared<const Entry>(std::move(entry)));
    keep(std::move(entries));
    return entries_->back();
  }
  return {};
}

/// Looks whether a recording agrees with one for another extent of the symbolic axes, and with a third.
void Compiled::State::learn(const Key& key, const RecordedFunction& recorded, const Call& call) {
  const std::optional<Dim> n = axes_.extent(key);
  const auto knows = [&](const Family& each) {
    return axes_.differ_in_extent(each.like.key, key) && *n <= each.bound;
  };
  if (!n || std::ranges::any_of(families(), knows)) return;
  const std::shared_ptr<const Entries> before = latest_entries();
  const auto base = std::ranges::find_if(
      *before, [&](const EntryPtr& each) { return each->plan && axes_.differ_in_extent(each->key, key); });
  if (base == before->end()) return;
  Family family{**base, axes_.bound(*axes_.extent((*base)->key), *n), (*base)->plan->donors()};
  family.like.plan = nullptr;
  const std::shared_ptr<const void> result = call.result;
  try {
    make_symbolic(family, **base, key, recorded, call);
  } catch (const std::exception& error) {  // also of the function: nobody has asked for that extent
    family.symbolic = nullptr;
    family.why_static = error.what();
  }
  call.result = result;
  const std::lock_guard lock(mutex_);
  if (family.symbolic) ++stats_.n_plans;
  if (families_.size() == static_cast<std::size_t>(options_.most_plans)) families_.erase(families_.begin());
  families_.push_back(std::move(family));
}

/// Returns the strides of inputs with another extent, those of scalars behind them.
std::vector<Strides> Compiled::State::strides_at(const Key& key, Dim n, std::size_t n_inputs) const {
  std::vector<Strides> result = key.strides();
  const std::vector<Key::Input> arguments = axes_.with_extent(key, n);
  for (std::size_t i = 0; i < arguments.size(); ++i) result[i] = arguments[i].strides;
  result.resize(n_inputs);
  return result;
}

/// Records a third time, and makes plans for all extents. errors: InvalidArgument where the recordings do not
/// agree; those of the function.
void Compiled::State::make_symbolic(Family& family, const Entry& base, const Key& key,
                                    const RecordedFunction& recorded, const Call& call) const {
  const Dim first = *axes_.extent(base.key), second = *axes_.extent(key),
            third = axes_.third(key, first, second);
  std::vector<Aval> avals;
  for (const Key::Input& each : axes_.with_extent(key, third)) avals.push_back(each.aval);
  std::optional<RecordedFunction> again = recorded_function(call.f, avals, call.where);
  if (again && options_.exactness == Exactness::fast) take_liberties(again->program);
  const RecordedFunction* const third_one = again ? &*again : nullptr;
  for (const RecordedFunction* each : {&recorded, third_one}) {
    if (each == nullptr || each->read != base.read || each->assigned != base.assigned ||
        !same_numbers(each->feeds, base.feeds))
      throw core::InvalidArgument("engine::compile#not_symbolic",
                                  "cells or fed numbers depend on the extent");
  }
  const auto strides = [&](Dim n) { return strides_at(key, n, recorded.program.n_inputs()); };
  const auto passes = [&](const Program& program, Dim n) {
    return optimized(program, strides(n), options_.level, family.donors, options_.budget);
  };
  family.symbolic = std::make_shared<const SymbolicPlan>(
      SymbolicPlan::At{first, base.plan->program()}, SymbolicPlan::At{second, recorded.program},
      SymbolicPlan::At{third, again->program}, axes_.unlike_others(key, family.bound), passes);
  family.at_bound = family.symbolic->at(family.bound, strides(family.bound), options_.level, family.donors,
                                        jit(), nullptr, options_.budget == 0);
  if (!family.at_bound)
    throw core::InvalidArgument("engine::compile#not_symbolic", "there is no program for the bound {}",
                                family.bound);
  if (options_.budget > 0 && family.at_bound->block_bytes() > options_.budget)
    throw core::InvalidArgument("engine::compile#not_symbolic", "a plan for the bound {} takes {} bytes",
                                family.bound, family.at_bound->block_bytes());
}

void Compiled::State::note_recompile(const Key& now, const std::source_location& where) {
  const std::lock_guard lock(mutex_);
  if (entries_->empty()) return;
  auto recompile = entries_->back()->key.difference(now, where);
  if (!recompile) return;
  for (const Family& each : families_) {
    if (!each.symbolic && axes_.differ_in_extent(each.like.key, now))
      recompile->what += "; it stays static, since " + each.why_static;
  }
  constexpr std::size_t most_recompiles = 100;
  if (stats_.recompiles.size() == most_recompiles) stats_.recompiles.erase(stats_.recompiles.begin());
  stats_.recompiles.push_back(*recompile);
}

void Compiled::State::keep(Entries entries) {
  const auto is_resized = [](const EntryPtr& each) { return each->is_resized; };
  constexpr std::ptrdiff_t most_resized = 64;
  if (std::ranges::count_if(entries, is_resized) > most_resized)
    entries.erase(std::ranges::find_if(entries, is_resized));
  if (std::ranges::count_if(entries, std::not_fn(is_resized)) > options_.most_plans) {
    entries.erase(std::ranges::find_if_not(entries, is_resized));
    core::log::warning(core::log::Id("engine::compile#too_many_plans"),
                       "a compiled function has more than {} plans, the oldest is dropped; its inputs change "
                       "from call to call {}",
                       options_.most_plans, at_line(where_));
  }
  entries_ = std::make_shared<const Entries>(std::move(entries));
}

Tensors Compiled::State::run(const Entry& entry, Inputs& inputs, const std::source_location& where) {
  // Who holds values to give them back must find them as they were.
  const auto given_up = HeldValues::is_open() ? std::span<const std::uint8_t>()
                                              : inputs.given_up(entry.plan->donations(), entry.read);
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
