// SPDX-License-Identifier: Apache-2.0
// Inside of models/vae: what a training keeps while it runs.
#pragma once

#include "engine/train/callback.hpp"
#include "models/vae/vae.hpp"

#include <filesystem>

namespace lodestone::models::vae {

/// Keeps the network of the best epoch, writes checkpoints that hold it and the text of the setup, and stops
/// on request.
class VaeKeeper final : public engine::Callback {
 public:
  struct Options {
    std::string setup;  ///< lines "key = value"
    std::filesystem::path checkpoint;
    std::function<bool()> stop;
    std::int64_t epochs = 0;
  };
  VaeKeeper(const VaeOptions& network, Options options);
  void after_epoch(engine::Training& training) override;
  void save(engine::Training& training, engine::Moment moment) override;

  [[nodiscard]] const Vae& best() const { return best_; }
  [[nodiscard]] std::int64_t best_epoch() const;
  [[nodiscard]] double best_loss() const;
  [[nodiscard]] bool was_stopped() const { return was_stopped_; }

 private:
  Options options_;
  Vae best_;
  engine::Variable epoch_, loss_;
  bool was_stopped_ = false;
};

/// Compares the setup with that of the checkpoint. errors: ConfigError that lists the different lines;
/// FileError, FormatError.
void check_same_setup(const std::filesystem::path& checkpoint, const std::string& setup);

}  // namespace lodestone::models::vae
