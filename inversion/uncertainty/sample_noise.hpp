// SPDX-License-Identifier: Apache-2.0
// Small on purpose: internal, shared by posterior.cpp and ensemble.cpp, whose headers are public.
#pragma once

#include "inversion/optimize/system.hpp"

#include <cstdint>

namespace lodestone::inversion::uncertainty {

/// The draws for sample `number` of a seed, independent of all others; internal to this layer.
class SampleNoise {
 public:
  SampleNoise(const objective::DataMisfit& misfit, const objective::Regularization& regularization,
              std::uint64_t seed, int number);
  [[nodiscard]] const Eigen::VectorXd& data() const { return data_; }       ///< ε, of the kept data
  [[nodiscard]] const Eigen::VectorXd& roughness() const { return rows_; }  ///< ξ, of the rows of R
  /// Returns ε, and z = SᵀRᵀξ, which is standard normal: R S has orthonormal columns.
  [[nodiscard]] optimize::Noise for_system(const objective::Regularization& regularization) const;

 private:
  Eigen::VectorXd data_, rows_;
};

}  // namespace lodestone::inversion::uncertainty
