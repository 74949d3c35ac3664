// SPDX-License-Identifier: Apache-2.0
#include "engine/train/callbacks.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/regular_file.hpp"
#include "engine/record/variable.hpp"
#include "engine/state/state_file.hpp"

#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

namespace lodestone::engine {
namespace {

Tensor number(double value) { return Tensor::from(std::vector<double>{value}, {}); }

std::string text_of(const Figures& figures) {
  std::string text;
  for (const auto& [name, value] : figures)
    text += fmt::format("{}{} {:.5g}", text.empty() ? "" : ", ", name, value);
  return text;
}

std::string header_of(const Training& training) {
  std::string text = "epoch,steps,learning_rate";
  for (const auto& [name, value] : training.figures()) text += "," + name;
  return text + "\n";
}

/// The header and the rows up to this epoch.
std::string rows_until(const std::filesystem::path& path, std::int64_t epoch) {
  core::require_regular_file(path.string());
  std::ifstream file(path);
  if (!file)
    throw core::FileError("engine::Csv#cannot_read_table",
                          "cannot read {}, the table of the training that is resumed", path.string());
  std::string line, text;
  for (std::int64_t row = 0; row <= epoch; ++row) {
    const bool is_row = std::getline(file, line) && (row == 0 ? line.starts_with("epoch,steps,")
                                                              : line.starts_with(fmt::format("{},", row)));
    if (!is_row)
      throw core::FormatError(
          "engine::Csv#wrong_table",
          "{}:{}: expected the table of the training that is resumed, with rows up to epoch {}, got \"{}\"",
          path.string(), row + 1, epoch, line);
    text += line + "\n";
  }
  return text;
}

}  // namespace

BestSoFar::BestSoFar(Watch watch)
    : watch_(std::move(watch)),
      best_(add_state("best", number(std::numeric_limits<double>::quiet_NaN()))),
      n_waited_(add_state("n_waited", whole(0))) {}

std::int64_t BestSoFar::update(const Training& training) const {
  const double figure = training.figure(watch_.figure), before = best();
  const double gain = watch_.better == Better::lower ? before - figure : figure - before;
  const bool is_better = std::isfinite(figure) && (std::isnan(before) || gain > watch_.least_change);
  if (is_better) best_.assign(number(figure));
  n_waited_.assign(whole(is_better ? 0 : count_in(n_waited_) + 1));
  return count_in(n_waited_);
}

void BestSoFar::forget_waiting() const { n_waited_.assign(whole(0)); }

double BestSoFar::best() const { return best_.value().item<double>(); }

EarlyStopping::EarlyStopping(EarlyStoppingOptions options)
    : options_(std::move(options)), best_(add("best", BestSoFar(options_.watch))) {}

void EarlyStopping::after_epoch(Training& training) {
  const std::int64_t n = best_.update(training);
  if (n >= options_.patience && n > 0)
    training.stop(fmt::format("{} has not become better than {:.5g} for {} epochs", options_.watch.figure,
                              best_.best(), n));
}

ReduceOnPlateau::ReduceOnPlateau(ReduceOnPlateauOptions options)
    : options_(std::move(options)), best_(add("best", BestSoFar(options_.watch))) {
  if (!(options_.factor > 0.0 && options_.factor < 1.0))
    throw core::InvalidArgument("engine::ReduceOnPlateau#wrong_factor",
                                "expected a factor between 0 and 1, got {}", options_.factor);
}

void ReduceOnPlateau::after_epoch(Training& training) {
  const std::int64_t n = best_.update(training);
  if (n < options_.patience || n == 0) return;
  best_.forget_waiting();
  const double rate = training.optimizer().learning_rate();
  if (rate > options_.lowest_rate)
    training.optimizer().scale_learning_rate(std::max(options_.factor, options_.lowest_rate / rate));
}

Checkpoint::Checkpoint(CheckpointOptions options)
    : options_(std::move(options)), best_(add("best", BestSoFar(options_.watch))) {}

void Checkpoint::save(Training& training, Moment moment) {
  const auto is_due = [](std::int64_t n, std::int64_t every) { return every > 0 && n % every == 0; };
  if (moment == Moment::epoch && !options_.best.empty() && best_.update(training) == 0 &&
      training.is_writer())
    save_state(options_.best, training.net());
  const bool due = moment == Moment::epoch ? is_due(training.n_epochs(), options_.every_epochs)
                                           : is_due(training.n_steps(), options_.every_steps);
  if (due && training.is_writer()) save_state(options_.path, training);
}

void Csv::begin(Training& training) {
  if (!training.is_writer()) return;
  core::remove_leftovers(path_.string());
  text_.clear();
  if (training.n_epochs() > 0) text_ = rows_until(path_, training.n_epochs());
}

void Csv::after_epoch(Training& training) {
  if (!training.is_writer()) return;
  if (text_.empty()) text_ = header_of(training);
  text_ +=
      fmt::format("{},{},{}", training.n_epochs(), training.n_steps(), training.optimizer().learning_rate());
  for (const auto& [name, value] : training.figures()) text_ += fmt::format(",{}", value);
  text_ += "\n";
  core::write_file(path_.string(), text_);
}

ProgressBar::ProgressBar(const ProgressBarOptions& options) : options_(options) {
  if (options_.out == nullptr) options_.out = &std::cout;
}

void ProgressBar::after_step(Training& training) {
  ++steps_in_epoch_;
  if (!training.is_writer()) return;
  if (options_.out != &std::cout || !core::log::is_interactive()) return;
  constexpr std::int64_t width = 30;
  const auto done = static_cast<std::size_t>(
      std::min(width, steps_in_epoch_ * width / std::max<std::int64_t>(training.data().n_batches(), 1)));
  *options_.out << fmt::format("\repoch {} [{:<{}}] {}\x1b[K", training.n_epochs() + 1,
                               std::string(done, '='), width, text_of(training.figures_so_far()))
                << std::flush;
}

void ProgressBar::after_epoch(Training& training) {
  steps_in_epoch_ = 0;
  if (!training.is_writer()) return;
  const bool over_bar = options_.out == &std::cout && core::log::is_interactive();
  const std::string in_all = options_.epochs > 0 ? fmt::format("/{}", options_.epochs) : "";
  *options_.out << fmt::format("{}epoch {}{}: {}{}\n", over_bar ? "\r" : "", training.n_epochs(), in_all,
                               text_of(training.figures()), over_bar ? "\x1b[K" : "")
                << std::flush;
}

}  // namespace lodestone::engine
