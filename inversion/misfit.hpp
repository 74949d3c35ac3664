// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <cstdint>
#include <vector>

namespace lodestone::inversion {

/// Weighted least-squares data misfit over real stacked data; masked data are not counted, phase residuals are wrapped to (−π, π].
class DataMisfit {
 public:
  /// shapes: all (n_data). errors: ShapeError; InvalidArgument when a kept datum has no finite value or no positive sigma, or none is kept.
  DataMisfit(Eigen::VectorXd observed, Eigen::VectorXd sigma, std::vector<std::uint8_t> kept, std::vector<std::uint8_t> is_phase);

  [[nodiscard]] Eigen::Index size() const { return observed_.size(); }
  [[nodiscard]] Eigen::Index n_kept() const { return n_kept_; }
  /// (observed − predicted)/σ, wrapped where phase, 0 where masked. shape (n_data).
  [[nodiscard]] Eigen::VectorXd residual(const core::ConstVectorRef& predicted) const;
  /// 1/σ, 0 where masked. shape (n_data).
  [[nodiscard]] const Eigen::VectorXd& weights() const { return weights_; }
  /// √(Σ residual² / n_kept).
  [[nodiscard]] double rms(const core::ConstVectorRef& predicted) const;

 private:
  Eigen::VectorXd observed_, weights_;
  std::vector<std::uint8_t> is_phase_;
  Eigen::Index n_kept_ = 0;
};

}  // namespace lodestone::inversion
