// SPDX-License-Identifier: Apache-2.0
#include "engine/train/fitting.hpp"

#include "engine/core/timeline.hpp"
#include "engine/ops/ops.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

std::vector<std::shared_ptr<Judge>> judges_among(const Callbacks& callbacks) {
  std::vector<std::shared_ptr<Judge>> result;
  for (const auto& each : callbacks) {
    if (auto judge = std::dynamic_pointer_cast<Judge>(each)) result.push_back(std::move(judge));
  }
  return result;
}

}  // namespace

StepFunctions::Verdicts verdicts_in_graph(const Callbacks& callbacks, const Optimizer& optimizer) {
  const auto judges = judges_among(callbacks);
  const Tensors like = values_of(optimizer.trained());
  const Tensor zero = scalar(0.0, like[0].dtype(), like[0].device());
  const auto can = [&](const auto& each) { return each->in_graph({zero, like}).has_value(); };
  if (judges.empty() || !std::ranges::all_of(judges, can)) return {};
  return [judges](const StepTensors& step) {
    Tensor all = *judges[0]->in_graph(step);
    for (std::size_t i = 1; i < judges.size(); ++i) all = logical_and(all, *judges[i]->in_graph(step));
    return all;
  };
}

Fitting::Fitting(Training& training, const Callbacks& callbacks, StepFunctions& functions,
                 int batches_per_step, bool has_verdicts)
    : training_(training),
      callbacks_(callbacks),
      functions_(functions),
      batches_per_step_(batches_per_step),
      judges_(judges_among(callbacks)),
      one_plan_(has_verdicts || judges_.empty()),
      cells_(training.net().cells()) {}

Fitting::Epoch Fitting::take_step() {
  core::TimelineScope event(core::Timeline::Kind::step, "training step");
  if (core::Timeline::is_on()) event.set_numbers(training_.n_steps() + 1, 0);
  Batches batches;
  const Epoch epoch = take_batches(batches);
  if (batches.empty()) return epoch;
  // Judges look at a step that the plan refuses; no cell has changed.
  const bool is_made = batches.size() == 1 && one_plan_ && step_at_once(batches[0]) == Made::yes;
  if (!is_made && step_in_parts(batches) == Made::no) return epoch;
  for (const auto& each : callbacks_) each->after_step(training_);
  if (epoch == Epoch::goes_on) {  // else the cursor has left the epoch, which is not finished
    for (const auto& each : callbacks_) each->save(training_, Moment::step);
  }
  return epoch;
}

Fitting::Epoch Fitting::take_batches(Batches& batches) const {
  while (std::ssize(batches) < batches_per_step_) {
    std::optional<Batch> batch = next_batch(training_.data());
    if (!batch) return Epoch::is_over;
    batches.push_back(std::move(*batch));
  }
  return Epoch::goes_on;
}

Fitting::Made Fitting::step_at_once(const Batch& batch) {
  const std::optional<BatchFigures> figures =
      judges_.empty() ? functions_.step(batch) : functions_.judged_step(batch);
  if (figures) training_.add_batch(*figures);
  return figures ? Made::yes : Made::no;
}

Fitting::Made Fitting::step_in_parts(const Batches& batches) {
  // Cells whose old values are held get new memory.
  Tensors before = judges_.empty() ? Tensors() : values_of(cells_);
  AllGradients found;
  for (const Batch& batch : batches) found.push_back(functions_.gradients(batch));
  const Tensors mean = functions_.mean(found);
  if (verdict_on(batches, found, mean, before) == Verdict::skip) {
    restore(before);
    return Made::no;
  }
  before.clear();
  for (const auto& [_, figures] : found) training_.add_batch(figures);
  functions_.update(mean);
  return Made::yes;
}

Verdict Fitting::verdict_on(const Batches& batches, const AllGradients& found, const Tensors& mean,
                            const Tensors& before) {
  Step step{.number = training_.n_steps() + 1, .loss = 0.0, .gradients = mean, .again = {}};
  for (const auto& [_, figures] : found) step.loss += figures.values[0] / static_cast<double>(batches.size());
  step.again = [&] {
    const Tensors now = values_of(cells_);
    restore(before);
    for (const Batch& batch : batches) static_cast<void>(functions_.gradients(batch));
    restore(now);
  };
  Verdict verdict = Verdict::take;
  for (const auto& each : judges_) {
    if (each->judge(training_, step) == Verdict::skip) verdict = Verdict::skip;
  }
  return verdict;
}

void Fitting::restore(const Tensors& values) const {
  for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i].assign(values[i]);
}

}  // namespace lodestone::engine
