// SPDX-License-Identifier: Apache-2.0
#include "engine/train/step_functions.hpp"

#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/transform/variables.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::engine {

BatchFigures figures_of(const NamedTensors& batch, const Tensors& scalars) {
  BatchFigures result{.n_items = batch.begin()->second.dim(0), .values = {}};
  for (const Tensor& each : scalars) result.values.push_back(cast(each, DType::f64).item<double>());
  return result;
}

StepFunctions::StepFunctions(Repeated<NamedTensors>::Plain values, std::shared_ptr<const Optimizer> optimizer,
                             const ModelOptions& options, const std::optional<CompileOptions>& plans,
                             std::source_location where)
    : plain_values_(std::move(values)),
      optimizer_(std::move(optimizer)),
      largest_norm_(options.largest_norm),
      largest_value_(options.largest_value),
      where_(where),
      values_(plain_values_, plans, where),
      gradients_([this](const NamedTensors& batch) { return gradients_then_values(batch); }, plans, where),
      step_(
          [this](const NamedTensors& batch) {
            auto [gradients, figures] = parted(gradients_then_values(batch));
            take_step(std::move(gradients));
            return figures;
          },
          plans, where),
      mean_([this](const Tensors& gradients) { return mean_of(gradients); }, plans, where),
      update_(
          [this](const Tensors& gradients) -> Tensors {
            take_step(gradients);
            return {};
          },
          plans, where) {}

Tensors StepFunctions::gradients_then_values(const NamedTensors& batch) const {
  auto [loss, result, figures] =
      value_and_grad_with_more([&] { return plain_values_(batch); }, optimizer_->trained(), where_);
  result.push_back(std::move(loss));
  std::ranges::move(figures, std::back_inserter(result));
  return result;
}

std::pair<Tensors, Tensors> StepFunctions::parted(const Tensors& gradients_then_values) const {
  const auto first_value = gradients_then_values.begin() + std::ssize(optimizer_->trained());
  return {{gradients_then_values.begin(), first_value}, {first_value, gradients_then_values.end()}};
}

Tensors StepFunctions::mean_of(const Tensors& gradients) const {
  GradientMean mean;
  const std::ptrdiff_t n = std::ssize(optimizer_->trained());
  for (auto first = gradients.begin(); first != gradients.end(); first += n) mean.add({first, first + n});
  return mean.take();
}

void StepFunctions::take_step(Tensors gradients) const {
  if (largest_value_) gradients = clipped_by_value(gradients, *largest_value_);
  if (largest_norm_) gradients = clipped_by_norm(gradients, *largest_norm_);
  optimizer_->step(gradients);
}

BatchFigures StepFunctions::figures(const NamedTensors& batch) { return figures_of(batch, values_(batch)); }

StepFunctions::Gradients StepFunctions::gradients(const NamedTensors& batch) {
  auto [gradients, figures] = parted(gradients_(batch));
  return {std::move(gradients), figures_of(batch, figures)};
}

Tensors StepFunctions::mean(const std::vector<Gradients>& of_batches) {
  if (of_batches.size() == 1) return of_batches[0].gradients;
  Tensors all;
  for (const auto& [gradients, _] : of_batches) all.insert(all.end(), gradients.begin(), gradients.end());
  return mean_(all);
}

void StepFunctions::update(const Tensors& gradients) { static_cast<void>(update_(gradients)); }

BatchFigures StepFunctions::step(const NamedTensors& batch) { return figures_of(batch, step_(batch)); }

CompileStats StepFunctions::stats() const {
  CompileStats of_step = step_.stats(), of_gradients = gradients_.stats();
  return of_step.n_calls < of_gradients.n_calls ? of_gradients : of_step;
}

}  // namespace lodestone::engine
