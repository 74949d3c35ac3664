// SPDX-License-Identifier: Apache-2.0
#include "models/earths/prior.hpp"

#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "models/earths/randomness.hpp"

#include <cmath>
#include <utility>

namespace lodestone::models::earths {
namespace {

void check_number(std::int64_t number) {
  if (number < 0)
    throw core::InvalidArgument("models::Prior#negative_number",
                                "expected the number of a draw, 0 or more, got {}", number);
}

}  // namespace

Prior::Prior(TensorGrid grid, std::vector<Part> parts, std::uint64_t seed)
    : grid_(std::move(grid)), parts_(std::move(parts)), seed_(seed) {
  check(grid_);
  if (parts_.empty())
    throw core::InvalidArgument("models::Prior#no_generator", "expected at least one generator, found none");
  double sum = 0.0;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].generator)
      throw core::InvalidArgument("models::Prior#part_without_generator",
                                  "part {}: expected a generator, found none", i + 1);
    if (!(parts_[i].weight >= 0.0) || !std::isfinite(parts_[i].weight)) {
      throw core::InvalidArgument("models::Prior#negative_weight",
                                  "part {} ({}): expected a weight of 0 or more, got {}", i + 1,
                                  parts_[i].generator->kind(), parts_[i].weight);
    }
    parts_[i].generator->check_grid(grid_);
    sum += parts_[i].weight;
  }
  if (!(sum > 0.0))
    throw core::InvalidArgument("models::Prior#no_positive_weight",
                                "expected a positive weight among {}, all are 0", parts_.size());
}

std::size_t Prior::part_of(std::int64_t number) const {
  check_number(number);
  std::vector<double> weights;
  for (const Part& part : parts_) weights.push_back(part.weight);
  Draws draws(core::Philox(seed_, static_cast<std::uint64_t>(number)));
  return draws.one_of(weights);
}

Eigen::MatrixXd Prior::draw(std::int64_t number) const {
  const Generator& generator = *parts_[part_of(number)].generator;
  return generator.draw(branch(core::Philox(seed_, static_cast<std::uint64_t>(number)), 0), grid_);
}

Eigen::MatrixXd Prior::draws(std::int64_t first, std::int64_t n) const {
  check_number(first);
  if (n < 0)
    throw core::InvalidArgument("models::Prior#negative_count", "expected 0 or more draws, got {}", n);
  Eigen::MatrixXd cells(grid_.n_cells(), n);
  core::parallel_for(n, [&](std::ptrdiff_t i) {
    const Eigen::MatrixXd drawn =
        draw(first + i).transpose();  // columns first in memory is rows first in the section
    cells.col(i) = drawn.reshaped();
  });
  return cells;
}

}  // namespace lodestone::models::earths
