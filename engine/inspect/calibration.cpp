// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/calibration.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/parallel.hpp"
#include "engine/graph/number.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/inspect/calibration_ops.hpp"
#include "engine/inspect/launch_work.hpp"
#include "engine/inspect/lone_launch.hpp"
#include "engine/inspect/planned_function.hpp"
#include "engine/ops/ops.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <set>

namespace lodestone::engine {
namespace {

/// The threads that a measurement runs on.
enum class Way : std::uint8_t { alone, shared };
constexpr std::size_t n_ways = 2;

/// Something whose time is measured in every round.
struct Probe {
  enum class Of : std::uint8_t { launch, wake, level, work };
  Of of = Of::work;
  std::function<void(int n_calls, Way way)> run;
  WorkPart work = {};                                    ///< that of a call; of a level the bytes, as `n`
  bool on_each_thread = false;                           ///< shared, every thread does the work of a call
  bool is_refused = false;                               ///< by the kernel, which threw an error
  std::array<std::vector<double>, n_ways> seconds = {};  ///< those of a call, by way

  /// Returns the median, 0 where nothing was measured.
  [[nodiscard]] double median(Way way) const {
    std::vector<double> sorted = seconds[static_cast<std::size_t>(way)];
    if (sorted.empty()) return 0.0;
    std::ranges::nth_element(sorted, sorted.begin() + std::ssize(sorted) / 2);
    return sorted[sorted.size() / 2];
  }
};

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs something on one thread, whatever its kernels share otherwise.
void on_one_thread(const std::function<void()>& run) {
  core::parallel_for(2, [&](std::ptrdiff_t i) {
    if (i == 0) run();
  });
}

/// A function of an element, on arrays of the length of a long tile that lie in the nearest cache.
class FunctionOnArrays {
 public:
  explicit FunctionOnArrays(const FunctionUse& use) : use_(use) {
    std::size_t size = 1;
    for (const DType each : use.in) size = std::max(size, core::size_of(each));
    n_ = std::min(static_cast<std::int64_t>(n_bytes / size), most_elements);
    for (std::size_t i = 0; i < in_.size(); ++i) {
      const auto element = Number(1).element(use.in[i]);
      std::byte* to = in_[i].data();
      for (std::int64_t at = 0; at < n_; ++at) to = std::copy_n(element.data(), core::size_of(use.in[i]), to);
    }
  }
  [[nodiscard]] double n() const { return static_cast<double>(n_); }

  void run(int n_calls) const {
    alignas(64) std::array<std::byte, most_elements * sizeof(std::complex<double>)> out;  // any dtype fits
    if (use_.row_body != nullptr) {
      const std::int64_t row = std::min<std::int64_t>(use_.row_body->longest, n_ / 16);
      for (int i = 0; i < n_calls; ++i) use_.row_body->fn(in_[0].data(), n_ / row, row, out.data());
      return;
    }
    const PlaneFn fn = use_.body->fn();
    const Plane plane{1, n_, {1, 1, 1}, {}};
    for (int i = 0; i < n_calls; ++i) fn(plane, out.data(), {in_[0].data(), in_[1].data(), in_[2].data()});
  }

 private:
  static constexpr std::size_t n_bytes = 8192;
  static constexpr std::int64_t most_elements = 2048;
  struct alignas(64) Array : std::array<std::byte, n_bytes> {};
  FunctionUse use_;
  std::int64_t n_ = 0;
  std::array<Array, Plane::most_inputs> in_{};
};

class Calibration {
 public:
  explicit Calibration(const CalibrationOptions& options)
      : now_(options.now ? options.now : steady_seconds), end_(now_() + options.most_s) {
    add_costs();
    add_levels();
    add_functions();
    for (const DType dtype : {DType::f32, DType::f64}) add_uses(options.uses(dtype));
    while (n_rounds_ < options.most_rounds && measure_all(n_rounds_)) ++n_rounds_;
  }

  [[nodiscard]] MachineRates rates() const;

 private:
  static constexpr int n_of_chain = 256;

  void add_costs();
  void add_levels();
  void add_functions();
  void add_function(const FunctionUse& use);
  void add_uses(const std::vector<SampleUse>& uses);
  void add_launch(Probe::Of of, const Lowered& plan, const Launch& launch, WorkPart work);
  const Plan& planned(const Function& f, std::span<const Aval> arguments);
  bool measure_all(int round);
  void measure(Probe& probe, Way way) const;
  void time(Probe& probe, Way way) const;
  [[nodiscard]] KernelRates rates_of(Way way) const;
  [[nodiscard]] double median_of(Probe::Of of, Way way) const;

  std::function<double()> now_;
  double end_;
  int n_rounds_ = 0;  ///< those in which all was measured
  MachineKey machine_ = MachineKey::of_process();
  std::deque<PlannedFunction> plans_;  ///< probes run their launches
  std::deque<Probe> probes_;
  std::set<std::string> known_;
};

const Plan& Calibration::planned(const Function& f, std::span<const Aval> arguments) {
  plans_.push_back(planned_function(f, arguments, Level::O0, std::source_location::current()));
  return *plans_.back().plan;
}

void Calibration::add_costs() {
  const auto chain = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (int i = 0; i < n_of_chain; ++i) y = y + x[0];
    return {y};
  };
  const Tensors one{full({1}, 1.0).eval()};
  const Plan& plan = planned(chain, std::array{one[0].aval()});
  probes_.push_back({.of = Probe::Of::launch, .run = [&plan, one](int n_calls, Way) {
                       for (int i = 0; i < n_calls; ++i) static_cast<void>(plan.run(one));
                     }});
  probes_.push_back({.of = Probe::Of::wake, .run = [n = machine_.n_threads](int n_calls, Way) {
                       for (int i = 0; i < n_calls; ++i) core::parallel_for(n, [](std::ptrdiff_t) {});
                     }});
}

void Calibration::add_levels() {
  constexpr std::size_t first = std::size_t{64} << 10, last = std::size_t{256} << 20, step = 4;
  for (std::size_t bytes = first; bytes <= last; bytes *= step) {
    const auto n = static_cast<Dim>(bytes / (2 * sizeof(float)));  // half is read, half is written
    const std::array arguments{Aval{{n}, DType::f32, default_device()}};
    const Lowered& plan = planned([](const Tensors& x) -> Tensors { return {-x[0]}; }, arguments).lowered();
    WorkPart work;
    work.n = static_cast<double>(bytes);
    add_launch(Probe::Of::level, plan, plan.launches[0], std::move(work));
  }
}

void Calibration::add_functions() {
  for (const OpInfo& op : OpTable::global().rows()) {
    for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
      const Kernel& kernel = op.kernel_of(Backend::processor, dtype);
      if (kernel.body != nullptr) add_function({.body = kernel.body, .in = {dtype, dtype, dtype}});
      if (kernel.row_body != nullptr) add_function({.row_body = kernel.row_body, .in = {dtype}});
    }
  }
}

void Calibration::add_function(const FunctionUse& use) {
  WorkPart work = part_of(use);
  if (!known_.insert(work.of).second) return;
  const auto arrays = std::make_shared<const FunctionOnArrays>(use);
  work.n = arrays->n();
  probes_.push_back({.run =
                         [arrays, n = machine_.n_threads](int n_calls, Way way) {
                           if (way == Way::alone) return arrays->run(n_calls);
                           core::parallel_for(n, [&](std::ptrdiff_t) { arrays->run(n_calls); });
                         },
                     .work = std::move(work),
                     .on_each_thread = true});
}

void Calibration::add_uses(const std::vector<SampleUse>& uses) {
  for (const auto& [f, arguments] : uses) {
    const Lowered& plan = planned(f, arguments).lowered();
    for (const Launch& each : plan.launches) {
      LaunchWork work = work_of(plan, each);
      for (const FunctionUse& function : work.functions) add_function(function);
      if (!work.kernels.empty() && known_.insert(kind_of(plan, each)).second)
        add_launch(Probe::Of::work, plan, each, std::move(work.kernels[0]));
    }
  }
}

void Calibration::add_launch(Probe::Of of, const Lowered& plan, const Launch& launch, WorkPart work) {
  const auto lone = std::make_shared<const LoneLaunch>(plan, launch);
  probes_.push_back({.of = of,
                     .run =
                         [lone](int n_calls, Way) {
                           for (int i = 0; i < n_calls; ++i) lone->run();
                         },
                     .work = std::move(work)});
}

/// Measures everything once; returns false where the time is up.
bool Calibration::measure_all(int round) {
  for (Probe& each : probes_) {
    const bool is_needed = round == 0 && each.of != Probe::Of::work;
    if (!is_needed && now_() >= end_) return false;
    on_one_thread([&] { measure(each, Way::alone); });
    if (machine_.n_threads == 1) continue;
    const core::CloseLoops close;
    measure(each, Way::shared);
  }
  return true;
}

/// Times a probe, but for kernels that refuse the numbers.
void Calibration::measure(Probe& probe, Way way) const {
  if (probe.is_refused) return;
  try {
    time(probe, way);
  } catch (const core::Error& error) {
    if (probe.of != Probe::Of::work) throw;
    probe.is_refused = true;
    core::log::warning(core::log::Id("engine::calibrated_rates#refused"),
                       "{} refuses the numbers on which it is measured, and has no rate: {}", probe.work.of,
                       error.what());
  }
}

/// Times several calls at once, after one that brings their operands near.
void Calibration::time(Probe& probe, Way way) const {
  constexpr double enough_s = 3e-5, most_calls = 1000.0;
  double begin = now_();
  probe.run(1, way);
  const double first = now_() - begin;
  const int n = first > 0.0 ? static_cast<int>(std::clamp(enough_s / first, 1.0, most_calls)) : 1;
  begin = now_();
  probe.run(n, way);
  probe.seconds[static_cast<std::size_t>(way)].push_back((now_() - begin) / n);
}

KernelRates Calibration::rates_of(Way way) const {
  struct Sum {
    double n = 0.0, seconds = 0.0;
    void add(double more_n, double more_seconds) {
      n += more_n;
      seconds += more_seconds;
    }
  };
  std::map<std::string, std::map<double, Sum>> by_name;  // and operations per byte, in steps of √2
  std::map<std::string, Sum> by_kind;
  KernelRates rates;
  for (const Probe& each : probes_) {
    const WorkPart& work = each.work;
    double seconds = each.median(way);
    if (seconds <= 0.0) continue;
    if (way == Way::shared && !each.on_each_thread)  // without what threads need to begin
      seconds =
          std::max(seconds - median_of(Probe::Of::wake, way), each.median(Way::alone) / machine_.n_threads);
    if (each.of == Probe::Of::level) rates.levels.push_back({work.n, work.n / seconds});
    if (each.of != Probe::Of::work) continue;
    const double step =
        work.bytes > 0.0 ? std::exp2(0.5 * std::round(2.0 * std::log2(work.per_byte()))) : 0.0;
    const double n = work.n * (way == Way::shared && each.on_each_thread ? machine_.n_threads : 1);
    by_name[work.of][step].add(n, seconds);
    by_kind[with_dtype(work.kind, work.dtype)].add(n, seconds);
  }
  for (const auto& [name, sums] : by_name) {
    for (const auto& [per_byte, sum] : sums) rates.rates[name].push_back({per_byte, sum.n / sum.seconds});
  }
  for (const auto& [kind, sum] : by_kind) rates.kinds[kind] = sum.n / sum.seconds;
  return rates;
}

double Calibration::median_of(Probe::Of of, Way way) const {
  return std::ranges::find(probes_, of, &Probe::of)->median(way);
}

MachineRates Calibration::rates() const {
  MachineRates rates;
  rates.machine = machine_;
  rates.launch_s = median_of(Probe::Of::launch, Way::alone) / n_of_chain;
  rates.alone = rates_of(Way::alone);
  rates.is_complete = n_rounds_ > 0;
  if (machine_.n_threads == 1) return rates;
  rates.wake_s = median_of(Probe::Of::wake, Way::shared);
  rates.shared = rates_of(Way::shared);
  return rates;
}

}  // namespace

MachineRates calibrated_rates(const CalibrationOptions& options) {
  const DefaultDevice first(cpu);  // others may have fewer libraries
  MachineRates rates = Calibration(options).rates();
  Arena::of(cpu).trim();
  return rates;
}

}  // namespace lodestone::engine
