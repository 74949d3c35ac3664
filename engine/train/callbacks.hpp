// SPDX-License-Identifier: Apache-2.0
// The callbacks that come with the engine, but for the guards (guards.hpp).
#pragma once

#include "engine/train/callback.hpp"

#include <iosfwd>

namespace lodestone::engine {

/// The direction in which a figure improves.
enum class Better : std::uint8_t { lower, higher };
struct Watch {
  std::string figure = "validation_loss";
  Better better = Better::lower;
  double least_change = 0.0;  ///< a change counts if it exceeds this
};
/// The progress of a figure; its state is the best value so far and the number of epochs since.
class BestSoFar : public Stateful {
 public:
  explicit BestSoFar(Watch watch);
  /// Takes the figure of a finished epoch and returns the number of epochs since the best one, 0 for a new
  /// best. A NaN is never better.
  std::int64_t update(const Training& training) const;
  /// Counts from now.
  void forget_waiting() const;
  [[nodiscard]] double best() const;
  [[nodiscard]] const Watch& watch() const { return watch_; }

 private:
  Watch watch_;
  Variable best_, n_waited_;
};

struct EarlyStoppingOptions {
  Watch watch = {};
  std::int64_t patience = 10;  ///< epochs without a better figure, after which training stops
};
/// Stops when a figure no longer gets better. source: Prechelt 1998, doi:10.1007/3-540-49430-8_3
class EarlyStopping final : public Callback {
 public:
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  void after_epoch(Training& training) override;

 private:
  EarlyStoppingOptions options_;
  BestSoFar best_;
};

struct ReduceOnPlateauOptions {
  Watch watch = {};
  std::int64_t patience = 10;  ///< epochs without a better figure, after which the rate is reduced
  double factor = 0.1;
  double lowest_rate = 0.0;  ///< it is not reduced below
};
/// Multiplies the learning rate by a factor when a figure no longer gets better.
class ReduceOnPlateau final : public Callback {
 public:
  /// Takes the options. errors: InvalidArgument for a factor outside (0, 1).
  explicit ReduceOnPlateau(ReduceOnPlateauOptions options = {});
  void after_epoch(Training& training) override;

 private:
  ReduceOnPlateauOptions options_;
  BestSoFar best_;
};

struct CheckpointOptions {
  std::filesystem::path path;  ///< safetensors, replaced each time: a reader sees the old file or the new one
  std::int64_t every_epochs = 1;  ///< 0: never
  std::int64_t every_steps = 0;   ///< 0: never
  std::filesystem::path best =
      {};  ///< if given: the network's state alone ("weight", …), of the epoch with the best figure so far
  Watch watch = {};  ///< ... which is this one
};
/// Writes all that a resume needs.
class Checkpoint final : public Callback {
 public:
  explicit Checkpoint(CheckpointOptions options);
  void save(Training& training, Moment moment) override;

 private:
  CheckpointOptions options_;
  BestSoFar best_;
};

/// Writes a table with a row per epoch: epoch, steps, learning rate of the next step, figures. A resume keeps
/// the rows up to where it starts.
class Csv final : public Callback {
 public:
  explicit Csv(std::filesystem::path path) : path_(std::move(path)) {}
  /// Begins the table; a resume keeps its earlier rows. errors: FileError; FormatError when a resume finds no
  /// such table.
  void begin(Training& training) override;
  void after_epoch(Training& training) override;

 private:
  std::filesystem::path path_;
  std::string text_;
};

struct ProgressBarOptions {
  std::int64_t epochs = 0;      ///< in all, as given to `fit`; 0: not known
  std::ostream* out = nullptr;  ///< null: standard output
};
/// A line per epoch with its figures; on a terminal, a bar that moves with the batches.
class ProgressBar final : public Callback {
 public:
  explicit ProgressBar(const ProgressBarOptions& options = {});
  void after_step(Training& training) override;
  void after_epoch(Training& training) override;

 private:
  ProgressBarOptions options_;
  std::int64_t steps_in_epoch_ = 0;  ///< made since the process started
};

}  // namespace lodestone::engine
