// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/forward.hpp"

#include "physics/mt/transform.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace d2 = physics::mt::d2;
using physics::mt::Survey;

d2::MeshDesignOptions meshes_at(d2::Accuracy accuracy, const ForwardOptions& options) {
  d2::MeshDesignOptions meshes = d2::design_options(accuracy);
  meshes.solver = options.solver;
  return meshes;
}

/// Finer meshes than those of the accuracy may have as many more nodes.
d2::MeshDesignOptions iteration_meshes(const ForwardOptions& options) {
  d2::MeshDesignOptions meshes = meshes_at(options.iteration, options);
  meshes.coarsen = options.iteration_coarsen;
  const double finer = std::min(1.0, meshes.coarsen);
  meshes.max_nodes = static_cast<int>(meshes.max_nodes / (finer * finer));
  return meshes;
}

/// Returns the maps of a survey, made by one of the members of `Simulations`.
template <class Make>
DataMaps maps_of(Survey survey, const std::vector<physics::mt::StaticShiftKey>& shifts, Make make) {
  if (shifts.empty())
    return {.design = [survey = std::move(survey), make](const Eigen::VectorXd& model) {
      return d2::data_map(make(model, survey), survey);
    }};
  DataMaps maps;  // responses behind the unknowns, distorted and transformed at last
  maps.design = [survey, make](const Eigen::VectorXd& model) { return core::MapPtr(make(model, survey)); };
  maps.with_further = [survey = std::move(survey), shifts](core::MapPtr map) {
    return physics::mt::data_map(std::move(map), physics::mt::needed_responses(survey), survey, shifts);
  };
  return maps;
}

}  // namespace

Simulations::Simulations(MPI_Comm comm, physics::mesh::Earth earth, ForwardOptions options)
    : comm_(comm), earth_(std::move(earth)), options_(options) {}

physics::mesh::Model Simulations::section(const Eigen::VectorXd& model) const {
  return physics::mesh::resistivity_model(earth_, Eigen::pow(10.0, model.array()));
}

Simulations::Ptr Simulations::make(const Eigen::VectorXd& model, const Survey& survey,
                                   const d2::MeshDesignOptions& meshes) const {
  return d2::simulation_of(comm_, earth_, survey, d2::design_meshes(section(model), survey, meshes));
}

Simulations::Ptr Simulations::of_iterations(const Eigen::VectorXd& model, const Survey& survey) const {
  return make(model, survey, design_of_iterations());
}

Simulations::Ptr Simulations::of_results(const Eigen::VectorXd& model, const Survey& survey) const {
  return make(model, survey, design_of_results());
}

d2::MeshSet Simulations::meshes_of_results(const Eigen::VectorXd& model, const Survey& survey) const {
  return d2::design_meshes(section(model), survey, design_of_results());
}

d2::MeshDesignOptions Simulations::design_of_iterations() const { return iteration_meshes(options_); }

d2::MeshDesignOptions Simulations::design_of_results() const {
  return meshes_at(options_.final_accuracy, options_);
}

Forward forward(std::shared_ptr<const Simulations> simulations, const physics::mt::Observations& data,
                const std::vector<physics::mt::StaticShiftKey>& shifts) {
  const ForwardOptions& options = simulations->options();
  const auto of_iterations = [simulations](const Eigen::VectorXd& model, const Survey& survey) {
    return simulations->of_iterations(model, survey);
  };
  const auto of_results = [simulations](const Eigen::VectorXd& model, const Survey& survey) {
    return simulations->of_results(model, survey);
  };
  std::vector<Eigen::Index> rows =
      physics::mt::predictable_rows(data.survey, d2::Simulation::predicted_elements);
  Survey predicted = physics::mt::survey_of(data.survey, rows);
  if (rows.size() == data.survey.keys.size()) rows.clear();
  return {.iterations = maps_of(data.kept().survey, shifts, of_iterations),
          .results = maps_of(std::move(predicted), shifts, of_results),
          .last_steps = maps_of(data.kept().survey, shifts, of_results),
          .result_rows = std::move(rows),
          .takes = physics::mesh::Scale::linear,
          .used_only = true,
          .redesign = options.redesign,
          .near_target = options.near_target,
          .remedy = way_to_agree(options)};
}

std::string way_to_agree(const ForwardOptions& options) {
  if (options.iteration < options.final_accuracy)
    return options.iteration == d2::Accuracy::iteration ? "set forward.iteration_accuracy = \"standard\""
                                                        : "set forward.iteration_accuracy = \"fine\"";
  return options.redesign != Redesigning::each_iteration
             ? "what differs is the mesh redesigned for the final model; set forward.redesign = "
               "\"each_iteration\""
             : "forward.iteration_accuracy is no coarser than final_accuracy: what differs is the mesh "
               "redesigned for the final model; set both one step finer";
}

}  // namespace lodestone::inversion::mt
