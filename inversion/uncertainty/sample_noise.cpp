// SPDX-License-Identifier: Apache-2.0
#include "inversion/uncertainty/sample_noise.hpp"

#include "engine/core/random.hpp"

namespace lodestone::inversion::uncertainty {
namespace {

/// Streams of one seed: two for each sample.
core::Philox stream(std::uint64_t seed, int number, std::uint64_t which) {
  return core::Philox(seed, 2 * static_cast<std::uint64_t>(number) + which);
}

}  // namespace

SampleNoise::SampleNoise(const objective::DataMisfit& misfit, const objective::Regularization& regularization,
                         std::uint64_t seed, int number) {
  const core::Philox of_data = stream(seed, number, 0), of_rows = stream(seed, number, 1);
  const std::vector<Eigen::Index> kept = optimize::kept_data(misfit);
  data_ = Eigen::VectorXd::NullaryExpr(std::ssize(kept), [&](Eigen::Index i) {
    return of_data.normal(static_cast<std::uint64_t>(kept[static_cast<std::size_t>(i)]));
  });
  rows_ = Eigen::VectorXd::NullaryExpr(regularization.roughness().rows(), [&](Eigen::Index i) {
    return of_rows.normal(static_cast<std::uint64_t>(i));
  });
}

optimize::Noise SampleNoise::for_system(const objective::Regularization& regularization) const {
  return {data_, regularization.apply_root_transposed(regularization.roughness().transpose() * rows_).col(0)};
}

}  // namespace lodestone::inversion::uncertainty
