// SPDX-License-Identifier: Apache-2.0
#include "engine/train/guards.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/record/variable.hpp"

#include <cmath>

namespace lodestone::engine {

Verdict NanGuard::judge(Training& training, const Step& step) {
  const bool loss_is_finite = std::isfinite(step.loss);
  if (loss_is_finite && all_finite(step.gradients)) return Verdict::take;
  const auto origin = first_not_finite(step.again);
  throw core::SolverError(
      "engine::NanGuard#not_finite",
      "step {} in epoch {}: the {}; the first number that is not finite came from {}", step.number,
      training.n_epochs() + 1,
      loss_is_finite ? "gradient is not finite" : fmt::format("loss is {}", step.loss),
      origin.value_or("no op of a second try: is the network the same function each time?"));
}

std::optional<Tensor> NanGuard::in_graph(const StepTensors& step) const {
  // 0 · x is 0 for all numbers but those that are not finite.
  Tensor zero = step.loss * 0.0;
  for (const Tensor& each : step.gradients) {
    const Tensor real_part = core::is_complex(each.dtype()) ? real(each) + imag(each) : each;
    zero = zero + cast(sum(real_part * 0.0), zero.dtype());
  }
  return is_finite(zero);
}

GradientNormGuard::GradientNormGuard(GradientNormGuardOptions options)
    : options_(options),
      n_skipped_(add_state("n_skipped", whole(0))),
      n_in_a_row_(add_state("n_in_a_row", whole(0))) {}

Verdict GradientNormGuard::judge(Training&, const Step& step) {
  const double norm = cast(norm_of(step.gradients), DType::f64).item<double>();
  if (std::isfinite(norm) && (options_.largest <= 0.0 || norm <= options_.largest)) {
    n_in_a_row_.assign(whole(0));
    return Verdict::take;
  }
  n_skipped_.assign(whole(n_skipped() + 1));
  n_in_a_row_.assign(whole(count_in(n_in_a_row_) + 1));
  const std::string length = std::isfinite(norm)
                                 ? fmt::format("{:.4g}, more than {:.4g}", norm, options_.largest)
                                 : fmt::format("{}, not a finite number", norm);
  core::log::warning(core::log::Id("engine::GradientNormGuard#step_skipped"),
                     "step {} skipped: the gradients' length is {}", step.number, length);
  if (count_in(n_in_a_row_) > options_.most_in_a_row)
    throw core::SolverError("engine::GradientNormGuard#gradients_too_long",
                            "step {}: {} steps in a row had gradients that are too long or not finite, the "
                            "length of the last is {}; lower the learning rate",
                            step.number, count_in(n_in_a_row_), length);
  return Verdict::skip;
}

std::optional<Tensor> GradientNormGuard::in_graph(const StepTensors& step) const {
  const Tensor norm = cast(norm_of(step.gradients), DType::f64);
  if (options_.largest <= 0.0) return is_finite(norm);
  return logical_and(is_finite(norm), less_equal(norm, options_.largest));
}

void GradientNormGuard::after_step(Training&) {
  if (count_in(n_in_a_row_) != 0) n_in_a_row_.assign(whole(0));
}

std::int64_t GradientNormGuard::n_skipped() const { return count_in(n_skipped_); }

}  // namespace lodestone::engine
