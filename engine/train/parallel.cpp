// SPDX-License-Identifier: Apache-2.0
#include "engine/train/parallel.hpp"

#include "engine/core/error.hpp"

namespace lodestone::engine {

void Parallel::check() const {
  if (!world) throw core::InvalidArgument("engine::Parallel#no_world", "expected a world of ranks, got none");
  static_cast<void>(mesh.axis_named("data"));
  if (mesh.size() != world->size())
    throw core::InvalidArgument("engine::Parallel#other_ranks",
                                "expected a mesh of the {} ranks of the world, got {} in {}", world->size(),
                                mesh.size(), mesh.text());
}

int Parallel::n_shards() const { return mesh.shards_along({mesh.axis_named("data")}); }

Parallel data_parallel(const World& world, int shards) {
  if (shards != 0 && shards < world->size())
    throw core::InvalidArgument("data_parallel#too_many_ranks",
                                "expected at most as many ranks as the {} shards of a batch, got {}; start "
                                "fewer ranks, or give more shards",
                                shards, world->size());
  return {world, DeviceMesh({{"data", world->size(), shards}})};
}

}  // namespace lodestone::engine
