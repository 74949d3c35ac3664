// SPDX-License-Identifier: Apache-2.0
// Pipelines over processes: the bits of the step in one piece.
#include "engine/dist/mpi/world.hpp"
#include "engine/dist/pipeline/timeline.hpp"
#include "engine/dist/transport/sim.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/all_schedules.hpp"
#include "tests/unit/engine/dist/pipeline_network.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::PipelineNetwork;
using tests::StepValues;

TEST_CASE("pipeline on mpi: gradients have the bits of the step in one piece", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    const int ranks = world->size();
    for (const int leaves : {2 * ranks, 3 * ranks + 1}) {
      for (const auto& [name, schedule] : tests::all_schedules(ranks, leaves)) {
        for (const Dim width : {4, 200}) {  // short and long messages
          INFO(name << " on " << ranks << " ranks, " << leaves << " leaves, width " << width);
          const PipelineNetwork network(schedule.n_chunks(), leaves, width);
          const StepValues own = network.step(world, schedule), whole = network.whole_step();
          const std::vector<int>& chunks = schedule.ranks[static_cast<std::size_t>(world->rank())].chunks;
          CHECK(own.gradients.size() == chunks.size());
          for (const int chunk : chunks) CHECK(own.gradients.at(chunk) == whole.gradients.at(chunk));
          const bool has_last = schedule.rank_of(schedule.n_chunks() - 1) == world->rank();
          CHECK(own.loss == (has_last ? whole.loss : std::vector<double>()));
        }
      }
    }
  });
}

TEST_CASE("pipeline on mpi: clocks around processes are those of the timeline", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    const int ranks = world->size();
    for (const auto& [name, schedule] : tests::all_schedules(ranks, 2 * ranks)) {
      INFO(name << " on " << ranks << " ranks");
      const PipelineCosts costs = equal_costs(schedule, 1.0, 1.25, 0.5);
      const auto sim = std::make_shared<SimTransport>(world, costs.links);
      const PipelineNetwork network(schedule.n_chunks(), 2 * ranks);
      (void)network.step(sim, schedule, {.computed = [&](const PipelineItem& item) {
                           sim->advance(costs.compute_s(item));
                         }});
      const PipelineTimeline timeline = timeline_of(schedule, costs);
      CHECK(sim->now_s() == timeline.items[static_cast<std::size_t>(world->rank())].back().end_s);
    }
  });
}

TEST_CASE("pipeline on mpi: the failure of a stage ends all ranks", "[engine][mpi]") {
  const core::Error error = error_of<core::SolverError>([] {
    with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
      const int ranks = world->size();
      const PipelineNetwork network(ranks, 4);
      int n_computed = 0;
      (void)network.step(world, one_f_one_b(ranks, 4), {.computed = [&](const PipelineItem&) {
                           if (++n_computed == 3 && world->rank() == ranks - 1)
                             throw core::SolverError("solver#diverged", "in item {}", n_computed);
                         }});
    });
  });
  CHECK_THAT(error, HasId("diverged", {"3"}));
}
