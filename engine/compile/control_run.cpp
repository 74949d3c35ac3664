// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/control_run.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine {

ControlRun::ControlRun(const ControlPlan& plan, std::byte* memory) : plan_(plan), memory_(memory) {
  for (const ControlPlan::BodyPtr& each : plan.bodies())
    bodies_.emplace_back(each->lowered(), std::span(&memory, 1));
}

void ControlRun::run(std::span<const View> in, std::span<const View> out) {
  switch (plan_.way()) {
    case ControlPlan::Way::call:
      return run_body(0, in, out);
    case ControlPlan::Way::branch:
      return run_body(*in[0].as<bool>() ? 0 : 1, in.subspan(1), out);
    case ControlPlan::Way::loop:
      return run_loop(in, out);
  }
}

void ControlRun::hold_output(std::size_t number, std::size_t body, std::byte* data) {
  bodies_[body].hold(plan_.bodies()[body]->lowered().outputs[number].held, data);
}

void ControlRun::run_launches(std::size_t body) {
  const auto n = static_cast<std::uint32_t>(plan_.bodies()[body]->lowered().launches.size());
  for (std::uint32_t i = 0; i < n; ++i) bodies_[body].run(i);
}

void ControlRun::run_body(std::size_t number, std::span<const View> in, std::span<const View> out) {
  for (std::uint32_t i = 0; i < in.size(); ++i) bodies_[number].hold(i, in[i].data);
  for (std::size_t i = 0; i < out.size(); ++i) hold_output(i, number, out[i].data);
  run_launches(number);
}

/// Returns where a step writes a carry: the last one where it stays, and those before by turns where a step
/// must not write over what it reads.
std::byte* ControlRun::written_at(std::size_t carry, std::int64_t step, std::span<const View> out) const {
  const ControlPlan::Loop& loop = plan_.loop();
  const std::size_t second = loop.carries[carry].second;
  const bool takes_second = second != ControlPlan::Carry::none && (loop.n_steps - 1 - step) % 2 == 1;
  return takes_second ? memory_ + second : out[carry].data;
}

void ControlRun::step(std::int64_t step, std::span<const View> in, std::span<const View> out) {
  const ControlPlan::Loop& loop = plan_.loop();
  const std::size_t n_carry = loop.carries.size();
  const std::int64_t t = loop.direction == Direction::forward ? step : loop.n_steps - 1 - step;
  for (std::uint32_t i = 0; i < n_carry; ++i) {
    bodies_[0].hold(i, step == 0 ? in[i].data : written_at(i, step - 1, out));
    hold_output(i, 0, written_at(i, step, out));
  }
  for (std::size_t i = 0; i < loop.x_steps.size(); ++i)
    bodies_[0].hold(static_cast<std::uint32_t>(n_carry + i), in[n_carry + i].data + t * loop.x_steps[i]);
  for (std::size_t i = 0; i < loop.y_steps.size(); ++i)
    hold_output(n_carry + i, 0, out[n_carry + i].data + t * loop.y_steps[i]);
  run_launches(0);
}

void ControlRun::run_loop(std::span<const View> in, std::span<const View> out) {
  const ControlPlan::Loop& loop = plan_.loop();
  const std::size_t n_changing = loop.carries.size() + loop.x_steps.size();
  for (std::size_t i = n_changing; i < in.size(); ++i)
    bodies_[0].hold(static_cast<std::uint32_t>(i), in[i].data);
  for (std::int64_t i = 0; i < loop.n_steps; ++i) step(i, in, out);
  for (std::size_t i = 0; loop.n_steps == 0 && i < loop.carries.size(); ++i) {
    if (loop.carries[i].bytes > 0) std::memcpy(out[i].data, in[i].data, loop.carries[i].bytes);
  }
}

}  // namespace lodestone::engine
