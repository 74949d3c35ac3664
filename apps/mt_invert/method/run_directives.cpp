// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/run_directives.hpp"

#include "engine/core/mpi/rank_zero.hpp"

#include <utility>

namespace lodestone::mt_invert::method {

SaveSections::SaveSections(MPI_Comm comm, const std::string& folder, const inversion::Stage& stage,
                           physics::mesh::Frame frame)
    : comm_(comm), stage_(stage), n_iterations_before_(stage.history().n_iterations_before()) {
  core::on_rank_zero(comm_, [&] {
    series_ = std::make_unique<io::vtk::ModelSeries>(folder, "model", stage.problem->earth, std::move(frame));
  });
}

void SaveSections::on_iteration(const inversion::optimize::IterationView& view) {
  core::on_rank_zero(comm_, [&] {
    series_->add(n_iterations_before_ + view.record.iteration, stage_.unknowns.to_cells(view.model));
  });
}

}  // namespace lodestone::mt_invert::method
