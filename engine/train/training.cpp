// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/transport/agree.hpp"
#include "engine/record/variable.hpp"
#include "engine/state/state_file.hpp"
#include "engine/train/callback.hpp"

namespace lodestone::engine {
namespace {

struct Progress : Stateful {
  using Stateful::add_state;
};

Tensor numbers_of(const std::vector<double>& values) {
  return Tensor::from(values, {static_cast<Dim>(values.size())});
}

}  // namespace

Training::Training(const Module& net, const Optimizer& optimizer, const Loader& training,
                   const std::optional<Loader>& validation, const Callbacks& callbacks,
                   std::vector<std::string> figures, World world)
    : net_(net),
      optimizer_(optimizer),
      data_(training),
      world_(std::move(world)),
      names_(std::move(figures)) {
  const Progress progress;
  n_epochs_ = progress.add_state("n_epochs", whole(0));
  is_stopped_ = progress.add_state("is_stopped", whole(0));
  n_items_ = progress.add_state("n_items", whole(0));
  sums_ = progress.add_state("sums", numbers_of(std::vector<double>(names_.size())));
  add_part("net", net);
  add_part("optimizer", optimizer);
  add_part("training_data", training);
  if (validation) add_part("validation_data", *validation);
  add_part("progress", progress);
  for (std::size_t i = 0; i < callbacks.size(); ++i) add_part(fmt::format("callback_{}", i), *callbacks[i]);
}

void Training::resume(const std::filesystem::path& path) {
  engine::load_state(path, *this);
  if (is_stopped()) why_stopped_ = fmt::format("{} was written when training had stopped", path.string());
}

bool Training::any_rank(bool here) const { return world_ ? engine::any_rank(*world_, here) : here; }

std::int64_t Training::n_epochs() const { return count_in(*n_epochs_); }

double Training::figure(std::string_view name) const {
  const auto found = figures_.find(name);
  if (found != figures_.end()) return found->second;
  std::string known;
  for (const auto& [each, value] : figures_) known += (known.empty() ? "" : ", ") + each;
  throw core::InvalidArgument("engine::Training#unknown_figure",
                              "expected a figure that is measured ({}), got \"{}\"", known, name);
}

Figures Training::figures_so_far() const {
  const auto n = static_cast<double>(std::max<std::int64_t>(count_in(*n_items_), 1));
  const Tensor sums = sums_->value();
  Figures result;
  for (std::size_t i = 0; i < names_.size(); ++i) result.emplace(names_[i], sums.data<double>()[i] / n);
  return result;
}

void Training::stop(std::string why) {
  why_stopped_ = std::move(why);
  is_stopped_->assign(whole(1));
}

bool Training::is_stopped() const { return count_in(*is_stopped_) != 0; }

void Training::add_batch(const BatchFigures& batch) {
  std::vector<double> sums = sums_->value().to_vector<double>();
  for (std::size_t i = 0; i < sums.size(); ++i)
    sums[i] += static_cast<double>(batch.n_items) * batch.values.at(i);
  sums_->assign(numbers_of(sums));
  n_items_->assign(whole(count_in(*n_items_) + batch.n_items));
}

void Training::finish_epoch(const Figures& validation) {
  figures_ = figures_so_far();
  for (const auto& [name, value] : validation) figures_.emplace("validation_" + name, value);
  sums_->assign(numbers_of(std::vector<double>(names_.size())));
  n_items_->assign(whole(0));
  n_epochs_->assign(whole(n_epochs() + 1));
}

}  // namespace lodestone::engine
