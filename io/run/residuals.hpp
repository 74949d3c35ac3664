// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/survey.hpp"

#include <Eigen/Core>

namespace lodestone::io::run {

/// (observed − predicted)/σ, phase differences wrapped to (−180°, 180°]; NaN where masked or where a part is
/// not finite. shapes: all (n_keys). errors: ShapeError.
[[nodiscard]] Eigen::VectorXd normalized_residuals(const physics::mt::ObservedData& data,
                                                   const Eigen::VectorXd& predicted);

/// √ of the mean square of the finite values; NaN when there is none.
class RmsSum {
 public:
  void add(double residual);
  [[nodiscard]] double rms() const;
  [[nodiscard]] long count() const { return count_; }

 private:
  double sum_ = 0.0;
  long count_ = 0;
};

}  // namespace lodestone::io::run
