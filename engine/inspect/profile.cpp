// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/profile.hpp"

#include "engine/dispatch/executor.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace lodestone::engine {
namespace {

double flops_of(const Node& node) {
  const auto n = static_cast<double>(node.aval.count());
  if (!node.op->flops) return n;
  Tensors in;
  for (const NodePtr& input : node.inputs) in.emplace_back(input);
  return node.op->flops({*node.op, in, node.attrs.get(), node.where}, node.aval);
}

}  // namespace

double bytes_moved(const Node& node) {
  if (is_view(node)) return 0.0;
  double bytes = 0.0;
  if (node.aval.kind == Kind::tuple) {
    for (const Tensor& each : evaluated_elements(node))
      bytes += bytes_of_elements(each.aval(), each.node().look.strides);
  } else {
    bytes = bytes_of_elements(node.aval, node.look.strides);
  }
  for (const NodePtr& input : node.inputs) {
    if (input->aval.kind == Kind::array) bytes += bytes_of_elements(input->aval, input->look.strides);
  }
  return bytes;
}

namespace {

/// Returns true for what is counted: arrays, and tuples that a kernel computes.
bool is_counted(const Node& node) {
  return node.aval.kind == Kind::array || (node.aval.kind == Kind::tuple && !node.op->run);
}

/// Returns "exp f32"; without a dtype where several dtypes may meet.
std::string name_of(const Node& node) {
  if (!is_counted(node)) return node.op->name;
  const DType dtype = node.aval.kind == Kind::array ? node.aval.dtype : node.inputs[0]->aval.dtype;
  return fmt::format("{} {}", node.op->title_of(node.attrs.get()), core::name_of(dtype));
}

/// Gives every moment to the innermost op that runs then.
class Stopwatch {
 public:
  void begin() {
    end_all_from(graph_level());  // those that threw
    running_.push_back({graph_level(), 0.0});
  }
  /// Returns the seconds of the op that ends.
  double end() {
    lap();
    const double seconds = running_.back().seconds;
    running_.pop_back();
    return seconds;
  }
  /// Returns the seconds in which no op ran.
  double between() {
    end_all_from(0);
    return between_;
  }
  void skip() { last_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    int level;
    double seconds;
  };
  void end_all_from(int level) {
    while (!running_.empty() && running_.back().level >= level) running_.pop_back();
    lap();
  }
  void lap() {
    const auto now = Clock::now();
    (running_.empty() ? between_ : running_.back().seconds) +=
        std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  std::vector<Running> running_;
  double between_ = 0.0;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

Profile Profile::of(const std::function<void()>& f) {
  std::map<std::string, OpProfile> of_op;
  Stopwatch watch;
  const auto seen = [&](const Node& node) {
    const double seconds = watch.end();
    const std::string name = name_of(node);
    OpProfile& profile = of_op.try_emplace(name, OpProfile{name}).first->second;
    const bool moves = is_counted(node) && !is_view(node);
    profile.add({name, 1, seconds, moves ? flops_of(node) : 0.0, moves ? bytes_moved(node) : 0.0});
    watch.skip();
  };
  const ExecutionObserver observer(seen, [&](const Node&) { watch.begin(); });
  watch.skip();
  f();
  Profile result;
  result.seconds_between_ = watch.between();
  for (const auto& [name, profile] : of_op) result.ops_.push_back(profile);
  std::stable_sort(result.ops_.begin(), result.ops_.end(),
                   [](const OpProfile& a, const OpProfile& b) { return a.seconds > b.seconds; });
  return result;
}

void OpProfile::add(const OpProfile& other) {
  calls += other.calls;
  seconds += other.seconds;
  flops += other.flops;
  bytes += other.bytes;
}

OpProfile total_of(const std::vector<OpProfile>& ops) {
  OpProfile total{"all"};
  for (const OpProfile& each : ops) total.add(each);
  return total;
}

std::string Profile::text() const {
  const OpProfile all = total();
  const double seconds = std::max(all.seconds, 1e-30);
  std::string text =
      fmt::format("{:<28} {:>8} {:>10} {:>6} {:>9} {:>8}\n", "op", "calls", "ms", "%", "GFLOP/s", "GB/s");
  const auto line = [&](const OpProfile& each) {
    const double own = std::max(each.seconds, 1e-30);
    text += fmt::format("{:<28} {:>8} {:>10.3f} {:>6.1f} {:>9.2f} {:>8.2f}\n", each.op, each.calls,
                        1e3 * each.seconds, 100.0 * each.seconds / seconds, 1e-9 * each.flops / own,
                        1e-9 * each.bytes / own);
  };
  for (const OpProfile& each : ops_) line(each);
  line(all);
  return text + fmt::format("{:<28} {:>8} {:>10.3f}\n", "between ops", "", 1e3 * seconds_between_);
}

}  // namespace lodestone::engine
