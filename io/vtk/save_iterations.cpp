// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/save_iterations.hpp"

#include "engine/core/mpi/rank_zero.hpp"
#include "io/vtk/model_file.hpp"

#include <memory>
#include <utility>

namespace lodestone::io::vtk {
namespace {

class SaveModels final : public inversion::optimize::Directive {
 public:
  SaveModels(MPI_Comm comm, const std::string& folder, const inversion::Stage& stage)
      : comm_(comm), stage_(stage), n_iterations_before_(stage.history().n_iterations_before()) {
    core::on_rank_zero(
        comm_, [&] { series_ = std::make_unique<ModelSeries>(folder, "model", stage.problem->earth); });
  }
  void on_iteration(const inversion::optimize::IterationView& view) override {
    core::on_rank_zero(comm_, [&] {
      series_->add(n_iterations_before_ + view.record.iteration, stage_.unknowns.to_cells(view.model));
    });
  }

 private:
  MPI_Comm comm_;
  const inversion::Stage& stage_;
  int n_iterations_before_;
  std::unique_ptr<ModelSeries> series_;  ///< on rank 0
};

}  // namespace

inversion::Inversion::DirectiveMaker save_models(MPI_Comm comm, std::string folder) {
  return [comm,
          folder = std::move(folder)](const inversion::Stage& stage) -> inversion::Inversion::DirectivePtr {
    return std::make_shared<SaveModels>(comm, folder, stage);
  };
}

}  // namespace lodestone::io::vtk
