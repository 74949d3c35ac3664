// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/sampler.hpp"

namespace lodestone::engine {
namespace {

/// Returns a group of a lone rank, which has all shards.
GroupPtr lone_group(int n_shards) { return group_of(lone_rank(), DeviceMesh({{"x", 1, n_shards}}), {"x"}); }

}  // namespace

Sample sample_all_reduce(Sampler& sampler) {
  const auto n = static_cast<int>(sampler.integer(1, 5));
  const bool is_real = !core::is_complex(sampler.dtype());
  const Terms how =
      is_real && sampler.chance(0.5) ? (sampler.chance(0.5) ? Terms::max : Terms::min) : Terms::sum;
  const Shape sum = sampler.shape(0, 2);
  const auto shards = static_cast<int>(sampler.integer(0, sum.rank()));
  const Shape shape = sum.inserted(shards, n);
  return {{how == Terms::sum ? sampler.tensor(shape, -2, 2) : sampler.apart(shape)},
          make_attrs(CombineAttrs{lone_group(n), shards, how})};
}

Sample sample_as_own(Sampler& sampler) {
  const auto n = static_cast<int>(sampler.integer(1, 3));
  return {{sampler.tensor(sampler.shape(0, 3), -2, 2)}, make_attrs(OwnAttrs{lone_group(n)})};
}

Sample sample_pieces(Sampler& sampler) {
  const Shape shape = sampler.shape(1, 3);
  const auto axis = static_cast<int>(sampler.integer(0, shape.rank() - 1));
  return {{sampler.tensor(shape, -2, 2)},
          make_attrs(PiecesAttrs{lone_group(1), axis, shape[axis], sampler.integer(1, 2), true})};
}

Sample sample_reduce_scatter(Sampler& sampler) {
  const auto n = static_cast<int>(sampler.integer(1, 5));
  const Shape shape = sampler.shape(1, 3);
  const auto axis = static_cast<int>(sampler.integer(0, shape.rank() - 1));
  const auto shards = static_cast<int>(sampler.integer(0, shape.rank()));
  return {{sampler.tensor(shape.inserted(shards, n), -2, 2)},
          make_attrs(ScatterAttrs{lone_group(n), shards, axis, shape[axis], 1})};
}

Sample sample_exchange(Sampler& sampler) {
  Box from = Box::whole(sampler.shape(0, 3)), to = from;
  for (int axis = 0; axis < from.rank(); ++axis) {
    to.shape[axis] = sampler.integer(0, from.shape[axis]);
    to.first[axis] = sampler.integer(0, from.shape[axis] - to.shape[axis]);
  }
  const auto step = std::make_shared<const RouteStep>(step_between({{0, from}}, {{0, to}}));
  const bool is_back = numbers.contains(sampler.dtype()) && sampler.chance(0.5);
  return {{sampler.tensor(is_back ? to.shape : from.shape, -2, 2)},
          make_attrs(ExchangeAttrs{lone_group(1), step, is_back})};
}

}  // namespace lodestone::engine
