// SPDX-License-Identifier: Apache-2.0
// Functions of loops as plans: what engine/transform declares in loop_body.hpp.
#include "engine/compile/plan.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/transform/loop_body.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

class PlannedLoop final : public LoopPlan {
 public:
  PlannedLoop(const Trace& body, std::span<const Strides> strides, std::size_t n_carry)
      : plan_(plan_or_recorded(Program::of(body), strides, Level::O1, carries(n_carry),
                               HostJit::of_process())) {}

  [[nodiscard]] Tensors run(const Tensors& inputs) const override {
    std::vector<std::uint8_t> given_up;
    for (const Donation& each : plan_->donations()) {
      const NodePtr& node = inputs[each.input].node_pointer();
      const bool is_alone = node->n_owners() == 1 && node->buffer->has_one_owner();
      given_up.push_back(is_alone && node->look.offset == 0 ? 1 : 0);
    }
    return plan_->run(inputs, given_up);
  }

 private:
  static std::vector<Donor> carries(std::size_t n_carry) {
    std::vector<Donor> result;
    for (std::uint32_t i = 0; i < n_carry; ++i) result.push_back({i, i});
    return result;
  }
  std::shared_ptr<const Plan> plan_;
};

}  // namespace

std::shared_ptr<const LoopPlan> LoopPlans::at(const Trace& body, const Tensors& like, std::size_t n_carry,
                                              std::int64_t n_runs) {
  constexpr std::int64_t least_runs = 32;  // a plan takes some 5 µs per op, a recorded op 0.2 µs
  if (ExecutionObserver::is_watching()) return nullptr;
  std::vector<Strides> strides;
  for (const Tensor& each : like) {
    if (each.aval().kind != Kind::array) return nullptr;
    strides.push_back(each.node().look.strides);
  }
  const std::lock_guard lock(mutex_);
  n_runs_ += n_runs;
  if (n_runs_ < least_runs) return nullptr;
  const int n_threads = Scratch::threads_of_call();
  const auto known = std::ranges::find_if(
      made_, [&](const Made& each) { return each.n_threads == n_threads && each.strides == strides; });
  if (known != made_.end()) return known->plan;
  constexpr std::size_t most_plans = 4;
  if (made_.size() == most_plans) made_.erase(made_.begin());
  auto plan = std::make_shared<const PlannedLoop>(body, strides, n_carry);
  made_.push_back({std::move(strides), n_threads, plan});
  return plan;
}

}  // namespace lodestone::engine
