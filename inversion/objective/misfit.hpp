// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/data_set.hpp"

namespace lodestone::inversion::objective {

/// Misfit of real stacked data, least squares or Huber's norm; unused data are not counted, residuals of data
/// with a turn are wrapped.
///
/// Huber's norm counts a residual r beyond the threshold c as 2c|r| − c² instead of r². source: Huber 1964,
/// Ann. Math. Stat. 35, 73; Farquharson & Oldenburg 1998, Geophys. J. Int. 134, 213.
class DataMisfit {
 public:
  /// Takes observed data. `huber_threshold`: in σ; 0: least squares. errors: InvalidArgument when no datum is
  /// used or the threshold is negative or not finite.
  explicit DataMisfit(const core::DataSet& data, double huber_threshold = 0.0);

  [[nodiscard]] Eigen::Index size() const { return observed_.size(); }
  [[nodiscard]] Eigen::Index n_kept() const { return n_kept_; }
  /// Returns (observed − predicted)/σ, wrapped where phase, 0 where masked. shape (n_data).
  [[nodiscard]] Eigen::VectorXd residual(const core::ConstVectorRef& predicted) const;
  /// Returns 1/σ, 0 where masked. shape (n_data).
  [[nodiscard]] const Eigen::VectorXd& weights() const { return weights_; }
  [[nodiscard]] double huber_threshold() const { return huber_threshold_; }
  /// Multiplies all errors by `factor`, so that the norm is divided by factor². errors: InvalidArgument
  /// unless the factor is positive.
  [[nodiscard]] DataMisfit with_errors_times(double factor) const;
  /// Returns √(Σ norm(residual) / n_kept), the figure a run brings down; norm(r) = r², or Huber's.
  [[nodiscard]] double rms(const core::ConstVectorRef& predicted) const;
  /// Returns √w of each datum, w = min(1, c/|residual|): the least-squares problem with these weights has the
  /// gradient of Huber's norm. 1 without a threshold.
  [[nodiscard]] Eigen::VectorXd root_weights(const core::ConstVectorRef& predicted) const;

 private:
  Eigen::VectorXd observed_, weights_, turn_;
  Eigen::Index n_kept_ = 0;
  double huber_threshold_ = 0.0;
};

}  // namespace lodestone::inversion::objective
