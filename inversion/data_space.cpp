// SPDX-License-Identifier: Apache-2.0
// Symbols as in data_space.hpp.
#include "inversion/data_space.hpp"

#include "engine/core/timer.hpp"
#include "inversion/lapack.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lodestone::inversion {
namespace {

constexpr Eigen::Index block_size = 256;  // data per block

/// Kept data [first, first + size) and the rank that works on them.
struct Block {
  Eigen::Index first, size;
  int owner;
};

std::vector<Block> blocks_of(Eigen::Index n_kept, int n_ranks) {
  std::vector<Block> blocks;
  for (Eigen::Index first = 0; first < n_kept; first += block_size)
    blocks.push_back({first, std::min(block_size, n_kept - first), static_cast<int>(blocks.size()) % n_ranks});
  return blocks;
}

/// Jᵀ W of some data, copied eight data at a time so that whole cache lines of J are used.
Eigen::MatrixXd weighted_transpose(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& weights, const Eigen::Index* data,
                                   Eigen::Index n_data) {
  Eigen::MatrixXd result(jacobian.cols(), n_data);
  constexpr Eigen::Index group = 8;
  for (Eigen::Index begin = 0; begin < n_data; begin += group) {
    const Eigen::Index end = std::min(begin + group, n_data);
    for (Eigen::Index j = 0; j < jacobian.cols(); ++j) {
      for (Eigen::Index i = begin; i < end; ++i) result(j, i) = weights[data[i]] * jacobian(data[i], j);
    }
  }
  return result;
}

}  // namespace

DataSpaceSystem::DataSpaceSystem(const Team& team, const core::Linearization& linearization, const DataMisfit& misfit,
                                 const Regularization& regularization, const Eigen::VectorXd& model)
    : team_(team), regularization_(regularization), model_(model) {
  for (Eigen::Index i = 0; i < misfit.size(); ++i) {
    if (misfit.weights()[i] > 0.0) kept_.push_back(i);
  }
  Eigen::MatrixXd jacobian;
  {
    const core::ScopedTimer timer("inversion/jacobian");
    jacobian = linearization.jacobian();
  }
  build_root(jacobian, misfit);
  const Eigen::VectorXd shift = jacobian * (model - regularization.reference());
  residual_ = misfit.residual(linearization.value())(kept_);
  shifted_ = residual_.array() + misfit.weights()(kept_).array() * shift(kept_).array();
  jacobian.resize(0, 0);
  build_gram();
}

void DataSpaceSystem::build_root(const Eigen::MatrixXd& jacobian, const DataMisfit& misfit) {
  const core::ScopedTimer timer("inversion/root");
  b_.resize(jacobian.cols(), static_cast<Eigen::Index>(kept_.size()));
  const auto blocks = blocks_of(b_.cols(), team_.size());
  for (const Block& block : blocks) {
    if (block.owner != team_.rank()) continue;
    const Eigen::MatrixXd rows = weighted_transpose(jacobian, misfit.weights(), kept_.data() + block.first, block.size);
    b_.middleCols(block.first, block.size) = regularization_.apply_root_transposed(rows);
    const auto width = static_cast<double>(block.size);
    core::Trace::global().add_work("inversion/root", width * regularization_.flops_per_column(),
                                   24.0 * width * static_cast<double>(b_.rows()));
  }
  for (const Block& block : blocks) team_.broadcast(b_.middleCols(block.first, block.size), block.owner);
}

void DataSpaceSystem::build_gram() {
  const core::ScopedTimer timer("inversion/gram");
  const auto blocks = blocks_of(b_.cols(), team_.size());
  if (team_.rank() == 0) gram_ = Eigen::MatrixXd::Zero(b_.cols(), b_.cols());
  std::vector<Eigen::MatrixXd> mine;
  int tile_index = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++tile_index) {
      if (tile_index % team_.size() != team_.rank()) continue;
      const auto rows = b_.middleCols(blocks[i].first, blocks[i].size), columns = b_.middleCols(blocks[j].first, blocks[j].size);
      mine.push_back(i == j ? lapack::lower_gram(rows) : lapack::transposed_product(rows, columns));
      const auto products = static_cast<double>(b_.rows()) * static_cast<double>(mine.back().size());
      core::Trace::global().add_work("inversion/gram", (i == j ? 1.0 : 2.0) * products, 0.0);
    }
  }
  tile_index = 0;
  auto next = mine.begin();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++tile_index) {
      const int owner = tile_index % team_.size();
      Eigen::MatrixXd received;
      if (team_.rank() == 0 && owner != 0) received.resize(blocks[i].size, blocks[j].size);
      Eigen::MatrixXd& tile = owner == team_.rank() ? *next++ : received;
      team_.to_root(tile, owner);
      if (team_.rank() == 0) gram_.block(blocks[i].first, blocks[j].first, blocks[i].size, blocks[j].size) = tile;
    }
  }
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(1, 1);
  if (team_.rank() == 0) mean(0, 0) = gram_.diagonal().mean();
  team_.broadcast(mean);
  mean_diagonal_ = mean(0, 0);
}

std::optional<Eigen::VectorXd> DataSpaceSystem::data_weights(const Eigen::VectorXd& data, double lambda) const {
  const core::ScopedTimer timer("inversion/cholesky");
  Eigen::MatrixXd factor = gram_;
  factor.diagonal().array() += lambda;
  const auto n = static_cast<double>(factor.rows());
  core::Trace::global().add_work("inversion/cholesky", n * n * n / 3.0, 0.0);
  if (!lapack::factorise(factor)) return std::nullopt;
  return lapack::solve(factor, data);
}

std::optional<Eigen::VectorXd> DataSpaceSystem::step(const Eigen::VectorXd& from, const Eigen::VectorXd& data, double lambda) const {
  Eigen::MatrixXd model = Eigen::MatrixXd::Constant(b_.rows(), 1, std::numeric_limits<double>::quiet_NaN());
  if (team_.rank() == 0) {
    if (const auto alpha = data_weights(data, lambda)) model = from + regularization_.apply_root(b_ * *alpha).col(0);
  }
  team_.broadcast(model);
  if (!model.allFinite()) return std::nullopt;
  return model.col(0);
}

std::optional<Eigen::VectorXd> DataSpaceSystem::jump(double lambda) const { return step(regularization_.reference(), shifted_, lambda); }
std::optional<Eigen::VectorXd> DataSpaceSystem::creep(double lambda) const { return step(model_, residual_, lambda); }

double DataSpaceSystem::linear_rms(double lambda) const {
  Eigen::MatrixXd rms = Eigen::MatrixXd::Constant(1, 1, std::numeric_limits<double>::infinity());
  if (team_.rank() == 0) {
    if (const auto alpha = data_weights(shifted_, lambda))  // d̂ − G α = λ α
      rms(0, 0) = lambda * alpha->norm() / std::sqrt(static_cast<double>(alpha->size()));
  }
  team_.broadcast(rms);
  return rms(0, 0);
}

}  // namespace lodestone::inversion
