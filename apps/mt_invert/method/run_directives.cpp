// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/run_directives.hpp"

#include "apps/mt_invert/commands/rank_zero.hpp"

namespace lodestone::mt_invert::method {

void SaveCheckpoint::on_iteration(const inversion::optimize::IterationView& view) {
  commands::on_rank_zero(comm_, [&] { write_checkpoint(path_, inputs_, {view.state, before_}); });
}

SaveSections::SaveSections(MPI_Comm comm, const std::string& folder, const Earth& earth, ModelSpace space,
                           io::vtk::VtkFrame frame, int n_iterations_before)
    : comm_(comm), space_(std::move(space)), n_iterations_before_(n_iterations_before) {
  commands::on_rank_zero(comm_, [&] {
    series_ = std::make_unique<io::vtk::SectionSeries>(folder, "model", earth.grid, earth.surface, earth.sea,
                                                       std::move(frame));
  });
}

void SaveSections::on_iteration(const inversion::optimize::IterationView& view) {
  commands::on_rank_zero(comm_, [&] {
    series_->add(n_iterations_before_ + view.record.iteration, space_.to_log10(view.model));
  });
}

}  // namespace lodestone::mt_invert::method
