// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/series.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/markup.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/vtk/pieces.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

void write_pvd(const std::filesystem::path& path, const std::vector<SeriesEntry>& entries) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n";
  for (const SeriesEntry& entry : entries) {
    text += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", entry.time,
                        core::escaped(entry.file));
  }
  text += "  </Collection>\n</VTKFile>\n";
  core::write_file(path.string(), text);
}

ModelSeries::ModelSeries(MPI_Comm comm, std::filesystem::path folder, std::string stem, mesh::Earth earth,
                         mesh::Frame frame)
    : comm_(comm),
      folder_(std::move(folder)),
      stem_(std::move(stem)),
      earth_(std::move(earth)),
      frame_(std::move(frame)) {
  core::on_rank_zero(comm_, [&] { core::make_folder(folder_); });
}

void ModelSeries::add(int iteration, const Eigen::Ref<const Eigen::VectorXd>& log10_resistivity) {
  const auto name = [&](int k) { return fmt::format("{}_{:04}", stem_, k); };
  write_model(comm_, folder_, name(iteration),
              mesh::resistivity_model(earth_, Eigen::pow(10.0, log10_resistivity.array())), frame_);
  // Files of earlier iterations belong to the series also when an earlier process wrote them; later ones are
  // leftovers of another run.
  core::on_rank_zero(comm_, [&] {
    std::vector<SeriesEntry> entries;
    for (int k = 0; k <= iteration; ++k) {
      for (const char* ending : {".vtu", ".pvtu"}) {
        if (std::filesystem::exists(folder_ / (name(k) + ending)))
          entries.push_back({static_cast<double>(k), name(k) + ending});
      }
    }
    write_pvd(folder_ / (stem_ + ".pvd"), entries);
  });
}

namespace {

class SaveModels final : public inversion::optimize::Directive {
 public:
  SaveModels(MPI_Comm comm, const std::string& folder, const inversion::Stage& stage)
      : stage_(stage),
        n_iterations_before_(stage.history().n_iterations_before()),
        series_(comm, folder, "model", stage.problem->earth) {}
  void on_iteration(const inversion::optimize::IterationView& view) override {
    series_.add(n_iterations_before_ + view.record.iteration, stage_.unknowns.to_cells(view.model));
  }

 private:
  const inversion::Stage& stage_;
  int n_iterations_before_;
  ModelSeries series_;
};

}  // namespace

inversion::Inversion::DirectiveMaker save_models(MPI_Comm comm, std::string folder) {
  return [comm,
          folder = std::move(folder)](const inversion::Stage& stage) -> inversion::Inversion::DirectivePtr {
    return std::make_shared<SaveModels>(comm, folder, stage);
  };
}

}  // namespace lodestone::io::vtk
