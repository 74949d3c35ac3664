// SPDX-License-Identifier: Apache-2.0
#include "engine/train/model.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/gradients.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/variables.hpp"

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

std::int64_t n_items(const NamedTensors& batch) { return batch.begin()->second.dim(0); }

std::vector<double> numbers_in(std::span<const Tensor> scalars) {
  std::vector<double> result;
  for (const Tensor& each : scalars) result.push_back(cast(each, DType::f64).item<double>());
  return result;
}

/// All cells of a network and what they held; a step that is not made puts it back.
struct Snapshot {
  explicit Snapshot(const Module& net) : cells(net.cells()), values(values_of(cells)) {}
  void restore() const {
    for (std::size_t i = 0; i < cells.size(); ++i) cells[i].assign(values[i]);
  }
  Variables cells;
  Tensors values;
};

void eval_all(const Stateful& stateful, Tensors more) {
  for (const Variable& each : stateful.cells()) more.push_back(each.value());
  eval(more);
}

}  // namespace

struct Model::Gradients {
  Tensors mean;                             ///< over the batches
  std::vector<std::vector<double>> values;  ///< loss and figures of each batch
};

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

Model::Gradients Model::gradients_of(const std::vector<NamedTensors>& batches) const {
  Gradients result;
  GradientMean mean;
  for (const NamedTensors& batch : batches) {
    auto [loss, gradients, figures] =
        value_and_grad_with_more([&] { return values_of_batch(batch); }, optimizer_->trained(), where_);
    Tensors all = gradients;
    all.push_back(loss);
    all.insert(all.end(), figures.begin(), figures.end());
    eval_all(net_, all);
    figures.insert(figures.begin(), loss);
    result.values.push_back(numbers_in(figures));
    mean.add(gradients);
  }
  result.mean = mean.take();
  return result;
}

Tensors Model::clipped(Tensors gradients) const {
  if (options_.largest_value) gradients = clipped_by_value(gradients, *options_.largest_value);
  if (options_.largest_norm) gradients = clipped_by_norm(gradients, *options_.largest_norm);
  return gradients;
}

Model::Epoch Model::take_step(Training& training, const Callbacks& callbacks) const {
  std::vector<NamedTensors> batches;
  Epoch epoch = Epoch::goes_on;
  while (epoch == Epoch::goes_on && std::ssize(batches) < options_.batches_per_step) {
    std::optional<NamedTensors> batch = training.data().next();
    if (batch) batches.push_back(std::move(*batch));
    if (!batch) epoch = Epoch::is_over;
  }
  if (batches.empty()) return epoch;

  const Snapshot before(net_);
  const Gradients gradients = gradients_of(batches);
  Step step{.number = training.n_steps() + 1, .loss = 0.0, .gradients = gradients.mean, .again = {}};
  for (const auto& values : gradients.values) step.loss += values[0] / static_cast<double>(batches.size());
  step.again = [&] {
    const Snapshot now(net_);
    before.restore();
    static_cast<void>(gradients_of(batches));
    now.restore();
  };
  Verdict verdict = Verdict::take;
  for (const auto& each : callbacks) {
    if (each->judge(training, step) == Verdict::skip) verdict = Verdict::skip;
  }
  if (verdict == Verdict::skip) {
    before.restore();
    return epoch;
  }
  for (std::size_t i = 0; i < batches.size(); ++i)
    training.add_batch(n_items(batches[i]), gradients.values[i]);
  optimizer_->step(clipped(gradients.mean));
  eval_all(*optimizer_, values_of(optimizer_->trained()));
  for (const auto& each : callbacks) each->after_step(training);
  if (epoch == Epoch::goes_on) {  // else the cursor has left the epoch, which is not finished
    for (const auto& each : callbacks) each->save(training, Moment::step);
  }
  return epoch;
}

FitSummary Model::fit(const Loader& data, const std::optional<Loader>& validation,
                      const FitOptions& options) const {
  Training training(net_, *optimizer_, data, validation, options.callbacks, figures_);
  if (!options.resume_from.empty()) training.resume(options.resume_from);
  FitSummary summary;
  const InMode mode(net_, Mode::training);
  for (const auto& each : options.callbacks) each->begin(training);
  while (training.n_epochs() < options.epochs && !training.is_stopped()) {
    while (take_step(training, options.callbacks) == Epoch::goes_on && !training.is_stopped()) {
    }
    if (training.is_stopped()) break;
    training.finish_epoch(validation ? evaluate(*validation) : Figures{});
    summary.figures.push_back(training.figures());
    for (const auto& each : options.callbacks) each->after_epoch(training);
    for (const auto& each : options.callbacks) each->save(training, Moment::epoch);
  }
  if (!training.is_stopped()) training.stop(fmt::format("all {} epochs done", options.epochs));
  for (const auto& each : options.callbacks) each->end(training);
  summary.n_epochs = training.n_epochs();
  summary.n_steps = training.n_steps();
  summary.why_stopped = training.why_stopped();
  return summary;
}

Figures Model::evaluate(const Loader& data) const {
  const InMode mode(net_, Mode::evaluation);
  std::vector<double> sums(figures_.size());
  std::int64_t n = 0;
  while (const std::optional<NamedTensors> batch = data.next()) {
    const std::vector<double> values = numbers_in(values_of_batch(*batch));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(n_items(*batch)) * values[i];
    n += n_items(*batch);
  }
  Figures result;
  for (std::size_t i = 0; i < sums.size(); ++i)
    result.emplace(figures_[i], sums[i] / static_cast<double>(std::max<std::int64_t>(n, 1)));
  return result;
}

Tensor Model::predict(const Tensor& input) const {
  if (!call_)
    throw core::InvalidArgument("engine::Model#no_predict",
                                "a model of a batch loss has no predict; call its network");
  const InMode mode(net_, Mode::evaluation);
  return call_(input).eval();
}

}  // namespace lodestone::engine
