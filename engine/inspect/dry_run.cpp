// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/dry_run.hpp"

#include "engine/compile/control_plan.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_text.hpp"
#include "engine/inspect/kernel_clock.hpp"
#include "engine/inspect/launch_work.hpp"
#include "engine/inspect/lone_launch.hpp"
#include "engine/inspect/planned_function.hpp"
#include "engine/inspect/rates_file.hpp"
#include "engine/record/record.hpp"
#include "engine/record/rule_args.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace lodestone::engine {
namespace {

std::size_t taken_by(const Aval& aval) {
  return aval.kind == Kind::array ? Arena::taken_by(aval.bytes()) : 0;
}

// ---- Memory ----------------------------------------------------------------------------------------------

/// The arrays that programs hold, each once.
class HeldArrays {
 public:
  void add(const Program& program) {
    for (const Tensor& each : program.constants()) add(each);
    for (const RecipePtr& each : program.parts().recipes) add(each);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void add(const Tensor& tensor) {
    const BufferPtr& buffer = tensor.node().buffer;
    if (buffer && seen_.insert(buffer.get()).second) bytes_ += Arena::taken_by(buffer->bytes());
  }
  /// Adds what a constant was made of, which is kept for plans of other extents.
  void add(const RecipePtr& recipe) {
    if (!recipe) return;
    if (recipe->given.is_valid()) add(recipe->given);
    for (const RecipePtr& each : recipe->in) add(each);
  }
  std::set<const Buffer*> seen_;
  std::size_t bytes_ = 0;
};

/// Returns the bytes that are in use as long as a run lasts.
DryRun::Memory memory_at_first(const RecordedFunction& f, const Plan& plan) {
  DryRun::Memory memory;
  const auto of_cell = [&](const Variable& cell) -> std::size_t& {
    return cell.role() == Variable::Role::parameter ? memory.parameters : memory.state;
  };
  const std::vector<Value>& values = f.program.values();
  for (std::size_t i = 0; i < f.program.n_inputs(); ++i) {
    const std::size_t cell = i - f.n_arguments();  // beyond the list for arguments and numbers
    (cell < f.read.size() ? of_cell(f.read[cell]) : memory.arguments) += taken_by(values[i].aval);
  }
  for (const Variable& each : f.assigned) {
    if (std::ranges::find(f.read, each) == f.read.end()) of_cell(each) += taken_by(each.value().aval());
  }
  HeldArrays held;
  for (const Program* program : {&plan.program(), &plan.running()}) held.add(*program);
  memory.constants = held.bytes();
  for (const Block& each : plan.all_blocks()) memory.block += Arena::taken_by(each.bytes);
  for (const Launch& each : plan.lowered().launches) {
    if (each.control == nullptr)
      memory.workspace =
          std::max(memory.workspace, Scratch::bytes_of(each.workspace, plan.lowered().n_threads));
  }
  return memory;
}

/// Returns the most bytes of arrays that a run holds at a time beside what is there at first.
std::size_t most_held(const Plan& plan) {
  const Lowered& lowered = plan.lowered();
  const auto bytes_of = [&](std::uint32_t held) {
    const auto has_place = [&](const Donation& each) { return each.held == held; };
    if (std::ranges::any_of(plan.donations(), has_place)) return std::size_t{0};
    return taken_by(plan.running().values()[lowered.held[held].value].aval);
  };
  std::size_t now = 0, most = 0;
  const auto add = [&](const std::vector<std::uint32_t>& list) {
    for (const std::uint32_t held : list) now += bytes_of(held);
    most = std::max(most, now);
  };
  for (const Segment& each : lowered.segments) {
    add(each.made);
    if (each.call) add(each.call->results);
    for (const std::uint32_t held : each.released) now -= bytes_of(held);
  }
  return most;
}

// ---- Work ------------------------------------------------------------------------------------------------

/// Finds the times of launches.
class LaunchTimes {
 public:
  LaunchTimes(const DryRunOptions& options, int n_threads)
      : times_(options.times), given_(options.machine), clock_(options.most_timed_bytes) {
    if (given_ != nullptr) check(given_->machine, n_threads);
  }
  /// Returns the time of a launch, s; nothing where there is none.
  [[nodiscard]] std::optional<double> seconds(const Lowered& plan, const Launch& launch,
                                              const LaunchWork& work) {
    is_by_rates_ = false;
    if (times_ == Times::none) return {};
    if (times_ == Times::kernels) {
      if (const auto measured = clock_.seconds(plan, launch)) return measured;
    }
    const auto seconds = rates().seconds(work);
    is_by_rates_ = seconds.has_value();
    return seconds;
  }
  /// Returns whether the last time was one of rates.
  [[nodiscard]] bool is_by_rates() const { return is_by_rates_; }
  [[nodiscard]] const MachineRates& rates() {
    if (given_ != nullptr) return *given_;
    if (!own_) own_ = rates_of_this_machine();
    return *own_;
  }

 private:
  void check(const MachineKey& machine, int n_threads) const {
    const auto fail = [](const std::string& expected, const std::string& got, const char* remedy) {
      throw core::InvalidArgument("engine::dry_run#wrong_rates", "expected {}, got {}; {}", expected, got,
                                  remedy);
    };
    if (times_ == Times::none)
      fail("no rates of a machine where no times are asked for", machine.text(), "ask for times by rates");
    if (machine.n_threads != n_threads)
      fail(fmt::format("rates for {} thread(s)", n_threads), machine.text(),
           "set the number of threads to that of the rates, or take others");
    const std::string here = MachineKey::of_process().processor;
    if (times_ == Times::kernels && machine.processor != here)
      fail(fmt::format("rates of {}, whose kernels are timed", here), machine.text(),
           "ask for times by rates");
  }

  Times times_;
  std::shared_ptr<const MachineRates> given_;
  KernelClock clock_;
  std::optional<MachineRates> own_;
  bool is_by_rates_ = false;
};

/// Returns the title of a launch with the dtypes of its operands, each once: "select b8, f32".
std::string name_of(const Lowered& plan, const Launch& launch) {
  std::string name = launch.op->title_of(launch.attrs);
  std::vector<DType> known;
  for (const Access& each : plan.operands_of(launch)) {
    if (std::ranges::find(known, each.aval->dtype) != known.end()) continue;
    name += fmt::format("{}{}", known.empty() ? " " : ", ", core::name_of(each.aval->dtype));
    known.push_back(each.aval->dtype);
  }
  return name;
}

/// The work of a plan, that of bodies as often as they run; of a branch that of the longer one.
struct Works {
  LaunchTimes& times;
  std::map<std::string, OpProfile> of_op = {};
  std::int64_t n_untimed = 0, n_by_rates = 0;
  std::vector<std::pair<const Lowered*, std::int64_t>> runs = {};

  void add(const Lowered& plan) {
    count(plan, 1);
    for (const auto& [of, n_runs] : runs) {
      for (const Launch& each : of->launches) {
        if (each.control == nullptr) add(*of, each, n_runs);
      }
    }
  }
  /// Counts runs of a plan and of the bodies in it, which launches share.
  void count(const Lowered& plan, std::int64_t n_runs) {
    auto known = std::ranges::find(runs, &plan, [](const auto& each) { return each.first; });
    if (known == runs.end()) known = runs.insert(known, {&plan, 0});
    known->second += n_runs;
    for (const Launch& each : plan.launches) {
      if (each.control != nullptr)
        count(each.control->counted_body().lowered(), n_runs * each.control->n_runs());
    }
  }
  void add(const Lowered& plan, const Launch& launch, std::int64_t n_runs) {
    const LaunchWork work = work_of(plan, launch);
    const auto seconds = times.seconds(plan, launch, work);
    if (!seconds) n_untimed += n_runs;
    if (times.is_by_rates()) n_by_rates += n_runs;
    const auto n = static_cast<double>(n_runs);
    const std::string name = name_of(plan, launch);
    of_op.try_emplace(name, OpProfile{name})
        .first->second.add({name, n_runs, n * seconds.value_or(0.0), n * work.flops, n * work.bytes});
  }
};

void add_work(DryRun& result, const Lowered& plan, const DryRunOptions& options) {
  LaunchTimes times(options, plan.n_threads);
  Works works{times};
  works.add(plan);
  result.n_untimed = works.n_untimed;
  result.n_by_rates = works.n_by_rates;
  if (works.n_by_rates > 0) result.machine = times.rates().machine.text();
  for (const auto& [name, work] : works.of_op) result.ops.push_back(work);
  std::ranges::stable_sort(result.ops, [](const OpProfile& a, const OpProfile& b) {
    return std::pair(a.seconds, a.bytes) > std::pair(b.seconds, b.bytes);
  });
}

/// Returns "12.3 MB".
std::string megabytes(double bytes) { return fmt::format("{:.3g} MB", 1e-6 * bytes); }
std::string megabytes(std::size_t bytes) { return megabytes(static_cast<double>(bytes)); }

}  // namespace

DryRun dry_run(const Function& f, std::span<const Aval> arguments, const DryRunOptions& options,
               std::source_location where) {
  const PlannedFunction planned = planned_function(f, arguments, options.level, where, options.budget);
  const Plan& plan = *planned.plan;
  DryRun result;
  result.peak = memory_at_first(planned.recorded, plan);
  result.peak.results = most_held(plan);
  result.n_instructions = std::ssize(plan.program().instructions());
  result.n_launches = plan.n_launches();
  result.n_functions = std::ranges::count_if(plan.lowered().segments,
                                             [](const Segment& each) { return each.call.has_value(); });
  result.n_threads = plan.lowered().n_threads;
  add_work(result, plan.lowered(), options);
  return result;
}

std::string DryRun::text() const {
  const OpProfile all = total_of(ops);
  std::string result = fmt::format(
      "peak memory:   {} = arguments {} + cells {} + constants {} + block {} + results {}\n"
      "of which:      parameters {}, state {}, largest workspace {}\n"
      "work:          {} launches of {} recorded instructions, {:.3g} GFLOP, {} moved\n",
      megabytes(peak.total()), megabytes(peak.arguments), megabytes(peak.cells()), megabytes(peak.constants),
      megabytes(peak.block), megabytes(peak.results), megabytes(peak.parameters), megabytes(peak.state),
      megabytes(peak.workspace), n_launches, n_instructions, 1e-9 * all.flops, megabytes(all.bytes));
  if (n_functions > 0)
    result += fmt::format("not counted:   what {} call(s) of functions need inside of them\n", n_functions);
  if (n_untimed < n_launches) {
    result += fmt::format("time:          about {:.3g} ms on {} thread(s)", 1e3 * all.seconds, n_threads);
    if (n_by_rates > 0)
      result += fmt::format(", {} launches by the rates of {}",
                            n_by_rates == n_launches ? "all" : fmt::format("{}", n_by_rates), machine);
    result += n_untimed > 0 ? fmt::format(", without {} launches that were not timed\n", n_untimed) : "\n";
  }
  result += fmt::format("{:<28} {:>8} {:>10} {:>10} {:>10}\n", "op", "launches", "MFLOP", "MB", "ms");
  for (const OpProfile& each : ops)
    result +=
        fmt::format("{:<28} {:>8} {:>10.3f} {:>10.3f} {:>10}\n", each.op, each.calls, 1e-6 * each.flops,
                    1e-6 * each.bytes, each.seconds > 0.0 ? fmt::format("{:.3f}", 1e3 * each.seconds) : "-");
  return result;
}

std::string DryRun::json() const {
  std::string list;
  for (const OpProfile& each : ops)
    list += fmt::format(
        "{}{{\"op\": {}, \"launches\": {}, \"seconds\": {:.6g}, \"flops\": {:.17g}, \"bytes\": {:.17g}}}",
        list.empty() ? "" : ", ", core::json_quoted(each.op), each.calls, each.seconds, each.flops,
        each.bytes);
  const OpProfile all = total_of(ops);
  return fmt::format(
      "{{\"peak_bytes\": {}, \"of\": {{\"arguments\": {}, \"parameters\": {}, \"state\": {}, "
      "\"constants\": {}, \"block\": {}, \"results\": {}}}, \"largest_workspace\": {}, "
      "\"n_instructions\": {}, \"n_launches\": {}, \"n_functions\": {}, \"n_by_rates\": {}, \"n_untimed\": "
      "{}, "
      "\"n_threads\": {}, \"machine\": {}, \"seconds\": {:.6g}, \"flops\": {:.17g}, \"bytes\": {:.17g}, "
      "\"ops\": [{}]}}",
      peak.total(), peak.arguments, peak.parameters, peak.state, peak.constants, peak.block, peak.results,
      peak.workspace, n_instructions, n_launches, n_functions, n_by_rates, n_untimed, n_threads,
      core::json_quoted(machine), all.seconds, all.flops, all.bytes, list);
}

}  // namespace lodestone::engine
