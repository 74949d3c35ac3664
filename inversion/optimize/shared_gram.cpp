// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/shared_gram.hpp"

#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/lapack.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace lodestone::inversion::optimize {
namespace {

/// Calls work(tile index, row block, column block) for the tiles of the lower triangle.
template <class Work>
void for_each_tile(const std::vector<ColumnBlock>& blocks, Work&& work) {
  int tile = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) work(tile++, blocks[i], blocks[j]);
  }
}

}  // namespace

std::vector<ColumnBlock> column_blocks(Eigen::Index n_columns, int n_ranks) {
  constexpr Eigen::Index block_size = 256;
  std::vector<ColumnBlock> blocks;
  for (Eigen::Index first = 0; first < n_columns; first += block_size)
    blocks.push_back(
        {first, std::min(block_size, n_columns - first), static_cast<int>(blocks.size()) % n_ranks});
  return blocks;
}

Eigen::MatrixXd shared_blocks(
    const core::Team& team, Eigen::Index n_rows, Eigen::Index n_columns,
    const std::function<Eigen::MatrixXd(Eigen::Index first, Eigen::Index size)>& work) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(n_rows, n_columns);
  std::vector<int> owner;
  std::vector<ColumnBlock> mine;
  for (const ColumnBlock& block : column_blocks(n_columns, team.size())) {
    owner.insert(owner.end(), static_cast<std::size_t>(block.size), block.owner);
    if (block.owner == team.rank()) mine.push_back(block);
  }
  core::Worded failure;
  try {
    core::parallel_for(std::ssize(mine), [&](std::ptrdiff_t i) {
      const ColumnBlock& block = mine[static_cast<std::size_t>(i)];
      result.middleCols(block.first, block.size) = work(block.first, block.size);
    });
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  team.throw_together(failure);
  team.share_columns(owner, result);
  return result;
}

Eigen::MatrixXd shared_gram(const core::Team& team, const Eigen::MatrixXd& a) {
  const core::ScopedTimer timer("inversion/gram");
  const auto blocks = column_blocks(a.cols(), team.size());
  std::vector<std::pair<ColumnBlock, ColumnBlock>> tiles;  // of this rank
  for_each_tile(blocks, [&](int tile, const ColumnBlock& i, const ColumnBlock& j) {
    if (tile % team.size() == team.rank()) tiles.emplace_back(i, j);
  });
  std::vector<Eigen::MatrixXd> mine(tiles.size());
  core::parallel_for(std::ssize(tiles), [&](std::ptrdiff_t tile) {
    const auto& [i, j] = tiles[static_cast<std::size_t>(tile)];
    Eigen::MatrixXd& product = mine[static_cast<std::size_t>(tile)];
    const auto rows = a.middleCols(i.first, i.size), columns = a.middleCols(j.first, j.size);
    product = i.first == j.first ? lapack::lower_gram(rows) : lapack::transposed_product(rows, columns);
    const auto products = static_cast<double>(a.rows()) * static_cast<double>(product.size());
    core::TimerTotals::global().add_work("inversion/gram", (i.first == j.first ? 1.0 : 2.0) * products, 0.0);
  });
  Eigen::MatrixXd gram;
  if (team.rank() == 0) gram = Eigen::MatrixXd::Zero(a.cols(), a.cols());
  auto next = mine.begin();
  for_each_tile(blocks, [&](int tile, const ColumnBlock& i, const ColumnBlock& j) {
    const int owner = tile % team.size();
    Eigen::MatrixXd received;
    if (team.rank() == 0 && owner != 0) received.resize(i.size, j.size);
    Eigen::MatrixXd& values = owner == team.rank() ? *next++ : received;
    team.to_root(values, owner);
    if (team.rank() == 0) gram.block(i.first, j.first, i.size, j.size) = values;
  });
  return gram;
}

}  // namespace lodestone::inversion::optimize
