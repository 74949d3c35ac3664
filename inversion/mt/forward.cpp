// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/forward.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/checked_responses.hpp"
#include "physics/mt/transform.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace d2 = physics::mt::d2;
namespace d3 = physics::mt::d3;
using physics::mt::Accuracy;
using physics::mt::Survey;

// The functions below differ between sections and volumes; their tags choose one.

d2::MeshDesignOptions design(Sections, Accuracy accuracy, const ForwardOptions& options) {
  d2::MeshDesignOptions meshes = d2::design_options(accuracy);
  meshes.solver = options.solver;
  return meshes;
}

d3::MeshDesignOptions design(Volumes, Accuracy accuracy, const ForwardOptions&) {
  return d3::design_options(accuracy);
}

void use_cells(d2::MeshDesignOptions&) {}  // refused before
void use_cells(d3::MeshDesignOptions& meshes) { meshes.only_cells = true; }

bool has_meshes_of_cells(Sections) { return false; }
bool has_meshes_of_cells(Volumes) { return true; }

/// Finer meshes than those of the accuracy may have as many more nodes.
void allow_finer(d2::MeshDesignOptions& meshes, double finer) {
  meshes.max_nodes = static_cast<int>(meshes.max_nodes / (finer * finer));
}

void allow_finer(d3::MeshDesignOptions& meshes, double finer) { meshes.max_edges /= finer * finer * finer; }

/// Makes the simulation of a section. Its solver is that of the meshes.
std::shared_ptr<const d2::Simulation> simulation(MPI_Comm comm, const physics::mesh::Earth& earth,
                                                 const Survey& survey, d2::MeshSet meshes, Accuracy,
                                                 const ForwardOptions&) {
  return d2::simulation_of(comm, earth, survey, std::move(meshes));
}

/// Makes the simulation of a volume.
std::shared_ptr<const d3::Simulation> simulation(MPI_Comm comm, const physics::mesh::Earth& earth,
                                                 const Survey& survey, d3::MeshSet meshes, Accuracy accuracy,
                                                 const ForwardOptions& options) {
  d3::SimulationOptions solving = d3::solving_options(accuracy);
  solving.solver = options.edge_solver;
  return d3::simulation_of(comm, earth, survey, std::move(meshes), solving);
}

Redesigning usual_redesign(Sections) { return Redesigning::each_iteration; }
/// A new map costs a volume a run of its own, and its meshes hardly change.
Redesigning usual_redesign(Volumes) { return Redesigning::as_rms_falls; }

/// Returns the products that cost as much as all rows of J; of a section its factors give them for little.
double jacobian_products(Sections, const Survey& /*survey*/) { return 0.0; }
/// Counts, for a volume, a solve for each of five fields at each station and frequency, two for a product.
double jacobian_products(Volumes, const Survey& survey) {
  return 2.5 * static_cast<double>(survey.stations.size());
}

core::MapPtr responses_of(std::shared_ptr<const d2::Simulation> simulation) { return simulation; }
core::MapPtr responses_of(std::shared_ptr<const d3::Simulation> simulation) {
  return d3::response_map(std::move(simulation));
}

/// Returns the maps of a survey. `make`: makes that from a model to the responses its data are made of.
template <class Dimension, class Make>
DataMaps maps_of(Dimension, Survey survey, const physics::mt::DistortionUnknowns& distortion, Make make) {
  const auto layout_of = [](const Survey& data) {
    return physics::mt::needed_responses(data, Dimension::Simulation::predicted_elements);
  };
  if (distortion.empty())
    return {.design = [survey = std::move(survey), make, layout_of](const Eigen::VectorXd& model) {
      return physics::mt::data_map(make(model, survey), layout_of(survey), survey);
    }};
  DataMaps maps;  // responses behind the unknowns, distorted and transformed at last
  const Survey simulated = physics::mt::with_mixed_responses(survey, distortion);
  maps.design = [simulated, make](const Eigen::VectorXd& model) { return make(model, simulated); };
  maps.with_further = [survey = std::move(survey), layout = layout_of(simulated),
                       distortion](core::MapPtr map) {
    return physics::mt::data_map(std::move(map), layout, survey, distortion);
  };
  return maps;
}

}  // namespace

template <class Dimension>
Simulations<Dimension>::Simulations(MPI_Comm comm, physics::mesh::Earth earth, ForwardOptions options)
    : comm_(comm), earth_(std::move(earth)), options_(options) {
  if (has_meshes_of_cells(Dimension{}) && options_.max_nodes.value_or(0) > 0)
    throw core::InvalidArgument("inversion::mt::forward#max_nodes_of_volume",
                                "forward.max_nodes = {} is for sections; leave it out or set it to 0 with "
                                "--dim 3, where final_accuracy = \"fine\" has smaller cells",
                                *options_.max_nodes);
  if (has_meshes_of_cells(Dimension{}) && options_.max_check_runs)
    throw core::InvalidArgument("inversion::mt::forward#check_runs_of_volume",
                                "forward.max_check_runs is for sections; leave it out with --dim 3, where "
                                "final_accuracy = \"fine\" has smaller cells");
  if (options_.iteration_meshes != IterationMeshes::cells) return;
  constexpr std::string_view source = "inversion::mt::forward#meshes_of_cells";
  if (!has_meshes_of_cells(Dimension{}))
    throw core::InvalidArgument(
        source, "forward.iteration_meshes = \"cells\" is for volumes (--dim 3); leave it out");
  if (options_.iteration != Accuracy::iteration || options_.iteration_coarsen != 1.0)
    throw core::InvalidArgument(
        source,
        "forward.iteration_meshes = \"cells\" has the sizes of the model's grid; leave out "
        "iteration_accuracy and iteration_coarsen");
}

template <class Dimension>
physics::mesh::Model Simulations<Dimension>::earth_model(const Eigen::VectorXd& model) const {
  return physics::mesh::resistivity_model(earth_, Eigen::pow(10.0, model.array()));
}

template <class Dimension>
auto Simulations<Dimension>::of_iterations(const Eigen::VectorXd& model, const Survey& survey) const -> Ptr {
  return simulation(comm_, earth_, survey, meshes_of_iterations(model, survey), options_.iteration, options_);
}

template <class Dimension>
auto Simulations<Dimension>::of_results(const Eigen::VectorXd& model, const Survey& survey) const -> Ptr {
  return simulation(comm_, earth_, survey, design_meshes(earth_model(model), survey, design_of_results()),
                    options_.final_accuracy, options_);
}

template <class Dimension>
core::MapPtr Simulations<Dimension>::final_responses(const Eigen::VectorXd& model,
                                                     const Survey& survey) const {
  if constexpr (std::is_same_v<Dimension, Sections>) {
    if (checks_results()) {
      const auto keep = [self = this->shared_from_this(), model](const d2::CheckedResponses& found) {
        core::log::info("{}", found.in_words());
        self->checked_ = {model, found.meshes, found.row(), found.note_in_words()};
      };
      return checked_map(comm_, earth_, survey, design_of_results(),
                         {.tolerance = d2::tolerance_of(options_.final_accuracy),
                          .max_nodes = options_.max_nodes.value_or(usual_max_nodes),
                          .max_runs = options_.max_check_runs.value_or(usual_check_runs)},
                         keep);
    }
  }
  return responses_of(of_results(model, survey));
}

template <class Dimension>
bool Simulations<Dimension>::checks_results() const {
  return std::is_same_v<Dimension, Sections> && options_.max_nodes.value_or(usual_max_nodes) > 0;
}

template <class Dimension>
auto Simulations<Dimension>::checked(const Eigen::VectorXd& model) const -> const Checked* {
  return checked_ && checked_->model == model ? &*checked_ : nullptr;
}

template <class Dimension>
void Simulations<Dimension>::add_check(const Eigen::VectorXd& model,
                                       physics::mt::Certificate& certificate) const {
  const Checked* found = checked(model);
  if (found == nullptr) return;
  certificate.rows.push_back(found->row);
  certificate.note = found->note;
}

template <class Dimension>
typename Dimension::MeshSet Simulations<Dimension>::meshes_of_iterations(const Eigen::VectorXd& model,
                                                                         const Survey& survey) const {
  return design_meshes(earth_model(model), survey, design_of_iterations());
}

template <class Dimension>
typename Dimension::MeshSet Simulations<Dimension>::meshes_of_results(const Eigen::VectorXd& model,
                                                                      const Survey& survey) const {
  if (const Checked* found = checked(model)) return found->meshes;
  return design_meshes(earth_model(model), survey, design_of_results());
}

template <class Dimension>
typename Dimension::MeshDesign Simulations<Dimension>::design_of_iterations() const {
  typename Dimension::MeshDesign meshes = design(Dimension{}, options_.iteration, options_);
  if (options_.iteration_meshes == IterationMeshes::cells) use_cells(meshes);
  meshes.coarsen = options_.iteration_coarsen;
  allow_finer(meshes, std::min(1.0, meshes.coarsen));
  return meshes;
}

template <class Dimension>
typename Dimension::MeshDesign Simulations<Dimension>::design_of_results() const {
  return design(Dimension{}, options_.final_accuracy, options_);
}

template <class Dimension>
Forward forward(std::shared_ptr<const Simulations<Dimension>> simulations,
                const physics::mt::Observations& data, const physics::mt::DistortionUnknowns& distortion) {
  ForwardOptions options = simulations->options();
  options.redesign = options.redesign.value_or(usual_redesign(Dimension{}));
  const auto of_iterations = [simulations](const Eigen::VectorXd& model, const Survey& survey) {
    return responses_of(simulations->of_iterations(model, survey));
  };
  const auto of_results = [simulations](const Eigen::VectorXd& model, const Survey& survey) {
    return responses_of(simulations->of_results(model, survey));
  };
  const auto checked_results = [simulations](const Eigen::VectorXd& model, const Survey& survey) {
    return simulations->final_responses(model, survey);
  };
  std::vector<Eigen::Index> rows =
      physics::mt::predictable_rows(data.survey, Dimension::Simulation::predicted_elements);
  Survey predicted = physics::mt::survey_of(data.survey, rows);
  if (rows.size() == data.survey.keys.size()) rows.clear();
  return {.iterations = maps_of(Dimension{}, data.kept().survey, distortion, of_iterations),
          .results = maps_of(Dimension{}, std::move(predicted), distortion, checked_results),
          .last_steps = maps_of(Dimension{}, data.kept().survey, distortion, of_results),
          .result_rows = std::move(rows),
          .takes = physics::mesh::Scale::linear,
          .used_only = true,
          .jacobian_products = jacobian_products(Dimension{}, data.survey),
          .redesign = *options.redesign,
          .near_target = options.near_target,
          .remedy = way_to_agree(options)};
}

template class Simulations<Sections>;
template class Simulations<Volumes>;
template Forward forward(std::shared_ptr<const Simulations<Sections>>, const physics::mt::Observations&,
                         const physics::mt::DistortionUnknowns&);
template Forward forward(std::shared_ptr<const Simulations<Volumes>>, const physics::mt::Observations&,
                         const physics::mt::DistortionUnknowns&);

std::string way_to_agree(const ForwardOptions& options) {
  if (options.iteration_meshes == IterationMeshes::cells)
    return "with forward.iteration_meshes = \"cells\" the grid of the model is the mesh: give a model with "
           "smaller cells, or set forward.iteration_meshes = \"designed\"";
  if (options.iteration < options.final_accuracy)
    return options.iteration == Accuracy::iteration ? "set forward.iteration_accuracy = \"standard\""
                                                    : "set forward.iteration_accuracy = \"fine\"";
  return options.redesign.value_or(Redesigning::each_iteration) != Redesigning::each_iteration
             ? "what differs is the mesh redesigned for the final model; set forward.redesign = "
               "\"each_iteration\""
             : "forward.iteration_accuracy is no coarser than final_accuracy: what differs is the mesh "
               "redesigned for the final model; set both one step finer";
}

}  // namespace lodestone::inversion::mt
