// SPDX-License-Identifier: Apache-2.0
#include "engine/train/model.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/inspect/monitor.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/train/fitting.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

const Tensor& part_of(const NamedTensors& batch, const std::string& name) {
  const auto found = batch.find(name);
  if (found != batch.end()) return found->second;
  std::string known;
  for (const auto& [each, tensor] : batch) known += (known.empty() ? "" : ", ") + each;
  throw core::InvalidArgument("engine::Model#no_array_in_batch",
                              "expected \"{}\" in the batch, got {}; ModelOptions names input and target",
                              name, known);
}

/// Returns the cells of a network beside those that are trained: statistics, random keys.
Variables states_of(const Module& net, const Optimizer& optimizer) {
  Variables result;
  for (const Variable& each : net.cells()) {
    if (std::ranges::find(optimizer.trained(), each) == optimizer.trained().end()) result.push_back(each);
  }
  return result;
}

/// Returns a loader of the items of a batch that this rank has.
Loader share_of(const Loader& loader, const std::optional<Parallel>& parallel) {
  if (!parallel) return loader;
  const IntList axis{parallel->mesh.axis_named("data")};
  const int n = parallel->n_shards(), size = parallel->mesh.size_along(axis),
            index = parallel->mesh.index_along(parallel->world->rank(), axis);
  const auto begin = [&](int i) { return static_cast<int>(static_cast<std::int64_t>(i) * n / size); };
  return loader.of_shards({begin(index), begin(index + 1), n});
}

/// Says where a loss reads values, which keeps its steps from being one plan.
void note_breaks(const CompileStats& stats) {
  for (const Break& each : stats.breaks)
    core::log::info("{} of {} training steps were recorded anew, since they read the {} {}", each.n,
                    stats.n_calls, each.what, at_line(each.where));
}

}  // namespace

Model::Model(const Module& net, std::function<Tensor(const Tensor&)> call, BatchLoss loss,
             std::shared_ptr<const Optimizer> optimizer, ModelOptions options, std::source_location where)
    : net_(net),
      call_(std::move(call)),
      loss_(std::move(loss)),
      optimizer_(std::move(optimizer)),
      options_(std::move(options)),
      where_(where),
      figures_{"loss"} {
  figures_.insert(figures_.end(), loss_.figures.begin(), loss_.figures.end());
  if (options_.batches_per_step < 1)
    throw core::InvalidArgument("engine::Model#no_batches", "expected at least one batch per step, got {} {}",
                                options_.batches_per_step, at_line(where));
  if (options_.parallel) options_.parallel->check();
}

BatchLoss Model::supervised(const Layer& net, const Loss& loss, const ModelOptions& options) {
  BatchLoss result;
  for (const auto& [name, metric] : options.metrics) result.figures.push_back(name);
  result.values = [net, loss, options](const NamedTensors& batch) {
    const Tensor predicted = net(part_of(batch, options.input)), target = part_of(batch, options.target);
    Tensors values{loss(predicted, target)};
    for (const auto& [name, metric] : options.metrics) values.push_back(metric(predicted, target));
    return values;
  };
  return result;
}

Tensors Model::values_of_batch(const NamedTensors& batch) const {
  Tensors values = loss_.values(batch);
  if (values.size() != figures_.size())
    throw core::InvalidArgument("engine::Model#wrong_figures",
                                "expected the loss and {} figures of a batch, got {} tensors {}",
                                loss_.figures.size(), values.size(), at_line(where_));
  return values;
}

FitSummary Model::fit(const Loader& data, const std::optional<Loader>& validation,
                      const FitOptions& options) const {
  const std::optional<Parallel>& parallel = options_.parallel;
  if (parallel && data.batch_size() < parallel->n_shards())
    throw core::InvalidArgument("engine::Model#more_shards_than_items",
                                "expected batches of at least as many items as shards, {}, got {} {}; take "
                                "larger batches or fewer shards",
                                parallel->n_shards(), data.batch_size(), at_line(where_));
  Training training(net_, *optimizer_, share_of(data, parallel), validation, options.callbacks, figures_,
                    parallel ? parallel->world : World());
  std::optional<Loader> checked_on;
  if (validation) checked_on = share_of(*validation, parallel);
  Monitor::open_if_asked(parallel ? parallel->world->rank() : 0);
  if (!options.resume_from.empty()) training.resume(options.resume_from);
  std::optional<CompileOptions> plans;
  if (options.level)  // the first axis of every array in a batch counts items, and the last batch has fewer
    plans = CompileOptions{.level = *options.level, .budget = options.budget, .symbolic = {BatchAxis()}};
  // Op by op, judges get between gradients and update, which costs nothing there.
  const StepFunctions::Verdicts verdicts =
      plans ? verdicts_in_graph(options.callbacks, *optimizer_) : StepFunctions::Verdicts();
  StepFunctions functions([this](const NamedTensors& batch) { return values_of_batch(batch); }, optimizer_,
                          states_of(net_, *optimizer_), verdicts, options_, plans, where_);
  const auto figures = [&](const Batch& batch) { return functions.figures(batch); };
  FitSummary summary;
  const InMode mode(net_, Mode::training);
  for (const auto& each : options.callbacks) each->begin(training);
  Fitting fitting(training, options.callbacks, functions, options_.batches_per_step,
                  static_cast<bool>(verdicts));
  while (training.n_epochs() < options.epochs && !training.is_stopped()) {
    while (fitting.take_step() == Fitting::Epoch::goes_on && !training.is_stopped()) {
    }
    if (training.is_stopped()) break;
    training.finish_epoch(checked_on ? means_over(*checked_on, figures) : Figures{});
    summary.figures.push_back(training.figures());
    for (const auto& each : options.callbacks) each->after_epoch(training);
    for (const auto& each : options.callbacks) each->save(training, Moment::epoch);
  }
  if (!training.is_stopped()) training.stop(fmt::format("all {} epochs done", options.epochs));
  for (const auto& each : options.callbacks) each->end(training);
  summary.n_epochs = training.n_epochs();
  summary.n_steps = training.n_steps();
  summary.why_stopped = training.why_stopped();
  summary.compiled = functions.stats();
  note_breaks(summary.compiled);
  return summary;
}

Figures Model::means_over(const Loader& data,
                          const std::function<BatchFigures(const Batch&)>& figures) const {
  const InMode mode(net_, Mode::evaluation);
  std::vector<double> sums(figures_.size());
  std::int64_t n = 0;
  while (const std::optional<Batch> batch = next_batch(data)) {
    const auto [n_items, values] = figures(*batch);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(n_items) * values[i];
    n += n_items;
  }
  Figures result;
  for (std::size_t i = 0; i < sums.size(); ++i)
    result.emplace(figures_[i], sums[i] / static_cast<double>(std::max<std::int64_t>(n, 1)));
  return result;
}

Figures Model::evaluate(const Loader& data) const {
  return means_over(data,
                    [&](const Batch& batch) { return figures_of(batch, values_of_batch(batch.arrays)); });
}

Tensor Model::predict(const Tensor& input) const {
  if (!call_)
    throw core::InvalidArgument("engine::Model#no_predict",
                                "a model of a batch loss has no predict; call its network");
  const InMode mode(net_, Mode::evaluation);
  return call_(input).eval();
}

}  // namespace lodestone::engine
