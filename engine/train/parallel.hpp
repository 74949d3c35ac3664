// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the one line that shares a training out among ranks.
#pragma once

#include "engine/dist/layout/device_mesh.hpp"
#include "engine/dist/transport/transport.hpp"

namespace lodestone::engine {

/// The ranks that share the items of each batch, along the axis "data" of a mesh; they repeat all else.
struct Parallel {
  World world;
  DeviceMesh mesh;

  /// Checks that the mesh has an axis "data" and all ranks of the world. errors: InvalidArgument.
  void check() const;
  [[nodiscard]] int n_shards() const;  ///< parts of a batch, which fix the bits
};

/// Returns all ranks of a world with this many shards of a batch, 0 for one per rank. With the same shards a
/// training has the same bytes on any number of ranks. errors: InvalidArgument for fewer shards than ranks.
[[nodiscard]] Parallel data_parallel(const World& world, int shards = 0);

}  // namespace lodestone::engine
