// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_statistics.hpp"

#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"

namespace lodestone::models::vae {
namespace {

using namespace engine;
using Eigen::ArrayXd;

constexpr std::int64_t at_once = 512;

/// Returns the sum over items, in f64.
ArrayXd summed(const Tensor& items) {
  const Tensor sums = sum(cast(items, DType::f64), Axes{0}).eval();
  return Eigen::Map<const ArrayXd>(sums.data<double>().data(), sums.count());
}

}  // namespace

VaeStatistics statistics_of(const Vae& net, const VaeDraws& draws) {
  const InMode mode(net, Mode::evaluation);
  const VaeOptions& options = net.options();
  ArrayXd squares = ArrayXd::Zero(options.n_cells());
  ArrayXd means = ArrayXd::Zero(options.n_codes), mean_squares = means, variances = means,
          divergences = means;
  const std::int64_t n = draws.validation.size();
  for (std::int64_t first = 0; first < n; first += at_once) {
    const Tensor cells = draws.validation.items(first, std::min(n, first + at_once)).at("cells");
    const Vae::Codes codes = net.encode(cells);
    squares += summed(square(net.decode(codes.mean) - cells));
    means += summed(codes.mean);
    mean_squares += summed(square(codes.mean));
    variances += summed(exp(codes.log_variance));
    divergences += summed(normal_divergence(codes.mean, codes.log_variance, Reduction::none));
  }
  const auto count = static_cast<double>(n);
  VaeStatistics result;
  result.mean = draws.mean;
  result.covariance = draws.covariance;
  result.cell_rms = (squares / count).sqrt();
  result.rms = std::sqrt(squares.mean() / count);
  result.reduced_chi_square = mean_squares.mean() / count;
  result.code_mean = means / count;
  result.code_deviation = (mean_squares / count - (means / count).square()).max(0.0).sqrt();
  result.code_variance = variances / count;
  result.code_divergence = divergences / count;
  return result;
}

}  // namespace lodestone::models::vae
