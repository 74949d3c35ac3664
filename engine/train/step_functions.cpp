// SPDX-License-Identifier: Apache-2.0
#include "engine/train/step_functions.hpp"

#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/transform/variables.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::engine {

std::optional<Batch> next_batch(const Loader& loader) {
  const std::int64_t n = loader.n_items_of_next();
  std::optional<NamedTensors> arrays = loader.next();
  if (!arrays) return {};
  return Batch{std::move(*arrays), n};
}

BatchFigures figures_of(const Batch& batch, const Tensors& scalars) {
  BatchFigures result{.n_items = batch.n_items, .values = {}};
  for (const Tensor& each : scalars) result.values.push_back(cast(each, DType::f64).item<double>());
  return result;
}

OnBatches::OnBatches(Plain f, const std::optional<CompileOptions>& plans,
                     const std::optional<Parallel>& parallel, std::source_location where)
    : f_(std::move(f)),
      parallel_(parallel),
      options_(plans.value_or(CompileOptions())),
      where_(where),
      alone_(f_, plans, where) {}

Tensors OnBatches::operator()(const Batch& batch) {
  if (!parallel_ || batch.n_items < parallel_->n_shards()) return alone_(batch.arrays);
  // Who looks on sees the ops of one machine, on every rank.
  if (ExecutionObserver::is_watching()) return alone_(gathered_arrays(batch));
  return on_ranks(batch);
}

Tensors OnBatches::on_ranks(const Batch& batch) {
  std::vector<std::string> names;
  Tensors pieces;
  std::vector<Shape> whole;
  for (const auto& [name, piece] : batch.arrays) {
    names.push_back(name);
    pieces.push_back(piece);
    whole.push_back(piece.shape());
    whole.back()[0] = batch.n_items;
  }
  if (!together_ || names != names_) {
    names_ = names;
    ParallelOptions options{
        .pins = {{"batch.*", "[data]"}}, .level = options_.level, .budget = options_.budget};
    for (const std::string& name : names) options.inputs.push_back("batch." + name);
    const auto f = [plain = f_, names](const Tensors& in) {
      NamedTensors arrays;
      for (std::size_t i = 0; i < names.size(); ++i) arrays.emplace(names[i], in[i]);
      return plain(arrays);
    };
    together_ = parallelize(f, parallel_->world, parallel_->mesh, std::move(options), where_);
  }
  return together_->of_pieces(pieces, whole, where_);
}

NamedTensors OnBatches::gathered_arrays(const Batch& batch) const {
  NamedTensors result;
  for (const auto& [name, piece] : batch.arrays) {
    Shape whole = piece.shape();
    whole[0] = batch.n_items;
    MeshLayout layout = layout_from("[data]", parallel_->mesh);
    layout.cuts.resize(static_cast<std::size_t>(whole.rank()));
    result.emplace(name, gathered(piece, {layout, parallel_->mesh}, whole, parallel_->world));
  }
  return result;
}

CompileStats OnBatches::stats() const { return together_ ? together_->stats() : alone_.stats(); }

StepFunctions::StepFunctions(OnBatches::Plain values, std::shared_ptr<const Optimizer> optimizer,
                             Variables states, Verdicts verdicts, const ModelOptions& options,
                             const std::optional<CompileOptions>& plans, std::source_location where)
    : plain_values_(std::move(values)),
      optimizer_(std::move(optimizer)),
      states_(std::move(states)),
      verdicts_(std::move(verdicts)),
      largest_norm_(options.largest_norm),
      largest_value_(options.largest_value),
      where_(where),
      values_(plain_values_, plans, options.parallel, where),
      gradients_([this](const NamedTensors& batch) { return gradients_then_values(batch); }, plans,
                 options.parallel, where),
      step_(
          [this](const NamedTensors& batch) {
            auto [gradients, figures] = parted(gradients_then_values(batch));
            optimizer_->step(clipped(std::move(gradients)));
            return figures;
          },
          plans, options.parallel, where),
      judged_step_([this](const NamedTensors& batch) { return figures_then_verdict(batch); }, plans,
                   options.parallel, where),
      mean_([this](const Tensors& gradients) { return mean_of(gradients); }, plans, where),
      update_(
          [this](const Tensors& gradients) -> Tensors {
            optimizer_->step(clipped(gradients));
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

Tensors StepFunctions::clipped(Tensors gradients) const {
  if (largest_value_) gradients = clipped_by_value(gradients, *largest_value_);
  if (largest_norm_) gradients = clipped_by_norm(gradients, *largest_norm_);
  return gradients;
}

Tensors StepFunctions::figures_then_verdict(const NamedTensors& batch) const {
  const Tensors before = values_of(states_);
  auto [gradients, result] = parted(gradients_then_values(batch));
  const Tensor takes = verdicts_({result[0], gradients});
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Tensor now = states_[i].value();
    if (now.node_pointer() != before[i].node_pointer())
      states_[i].assign(select(copy_to(takes, now.device()), now, before[i]));
  }
  optimizer_->step_if(takes, clipped(std::move(gradients)));
  result.push_back(takes);
  return result;
}

BatchFigures StepFunctions::figures(const Batch& batch) { return figures_of(batch, values_(batch)); }

StepFunctions::Gradients StepFunctions::gradients(const Batch& batch) {
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

BatchFigures StepFunctions::step(const Batch& batch) { return figures_of(batch, step_(batch)); }

std::optional<BatchFigures> StepFunctions::judged_step(const Batch& batch) {
  Tensors figures = judged_step_(batch);
  const bool is_taken = figures.back().item<bool>();
  figures.pop_back();
  return is_taken ? std::optional(figures_of(batch, figures)) : std::nullopt;
}

CompileStats StepFunctions::stats() const {
  return std::ranges::max({step_.stats(), judged_step_.stats(), gradients_.stats()}, {},
                          &CompileStats::n_calls);
}

}  // namespace lodestone::engine
