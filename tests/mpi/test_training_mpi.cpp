// SPDX-License-Identifier: Apache-2.0
// A training that processes share, and how it ends when one of them fails.
#include "engine/core/mpi/communicator.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/dist/transport/agree.hpp"
#include "engine/dist/transport/local.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/train/shared_training.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::SharedTraining;
using tests::ThrowOn;

TEST_CASE("training: processes have the bytes of one rank", "[engine][mpi]") {
  const auto alone = SharedTraining({}).bytes_after(data_parallel(lone_rank(), 8));
  with_mpi_world(MPI_COMM_WORLD, [&](const World& world) {
    CHECK(SharedTraining({}).bytes_after(data_parallel(world, 8)) == alone);
  });
}

TEST_CASE("training: all ranks get an answer that one has", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    for (int one = 0; one < world->size(); ++one) CHECK(any_rank(*world, world->rank() == one));
    CHECK_FALSE(any_rank(*world, false));
  });
}

TEST_CASE("training: a rank that throws ends it for all, who name the rank", "[engine][mpi]") {
  const int size = core::size_of(MPI_COMM_WORLD), bad = size - 1;
  const bool is_bad = core::rank_of(MPI_COMM_WORLD) == bad;
  const core::Error error = error_of<core::FormatError>([&] {
    with_mpi_world(MPI_COMM_WORLD, [&](const World& world) {
      (void)SharedTraining({.more = [&] {
        return callbacks(ThrowOn(is_bad));
      }}).after(data_parallel(world, 8));
    });
  });
  const std::string of = size > 1 && !is_bad ? fmt::format("rank {} of {}: ", bad, size) : "";
  CHECK_THAT(error, HasId("broken", {of + "[test] a broken callback"}));
}
