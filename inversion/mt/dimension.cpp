// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/dimension.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/mt/certificate.hpp"
#include "inversion/mt/forward_estimate.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/transform.hpp"

#include <memory>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mesh = physics::mesh;
using physics::mt::Observations;

[[noreturn]] void refuse(int dimension) {
  throw core::InvalidArgument(
      "inversion::mt::problem#no_simulation",
      "expected 2 dimensions, which have a simulation for inversions, got {}; layered "
      "earths come from inversion::mt::stitch_soundings",
      dimension);
}

/// Makes the table of the final meshes.
std::vector<NamedTable> tables_of_sections(const Simulations& simulations, const Observations& data,
                                           const Eigen::VectorXd& model) {
  const auto rows =
      physics::mt::predictable_rows(data.survey, physics::mt::d2::Simulation::predicted_elements);
  return {mesh_table(simulations.meshes_of_results(model, physics::mt::survey_of(data.survey, rows)))};
}

Forward forward_of_sections(MPI_Comm comm, const mesh::Earth& earth, const Observations& data,
                            const std::vector<physics::mt::StaticShiftKey>& shifts,
                            const ProblemOptions& options) {
  auto simulations = std::make_shared<const Simulations>(comm, earth, options.forward);
  Forward out = forward(simulations, data, shifts);
  out.cost = cost_of(simulations, data.kept().survey, [soundings = options.soundings, data, earth] {
    return likely_section(soundings, data, earth);
  });
  out.tables = [simulations, data](const Eigen::VectorXd& model, const Eigen::VectorXd&) {
    return tables_of_sections(*simulations, data, model);
  };
  if (options.forward.certificate != CertificateOf::none)
    out.certificate = [simulations, survey = data.kept().survey](const Eigen::VectorXd& model,
                                                                 const CertificateTerms& terms) {
      return certify(*simulations, model, survey, terms);
    };
  return out;
}

}  // namespace

physics::mt::Elements predicted_elements(const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return physics::mt::d2::Simulation::predicted_elements;
    default:
      refuse(options.dimension);
  }
}

Place place_on_profile(const physics::mt::Observations& observed, const ProblemOptions& options) {
  physics::mt::Ground ground = ground_under(observed, options.ground);
  mesh::Frame frame = frame_of(observed.profile, ground.elevation_m);
  return {std::move(ground), std::move(frame)};
}

Place place_of(const physics::mt::Observations& observed, const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return place_on_profile(observed, options);
    default:
      refuse(options.dimension);
  }
}

mesh::TensorGrid section_grid(const Observations& data, const ProblemOptions& options) {
  mesh::TensorGrid grid = options.cells ? *options.cells : design_grid(data, options.grid);
  if (grid.dimension() != 2)
    throw core::InvalidArgument("inversion::mt::problem#other_dimension",
                                "expected cells of a section, with the axes y and z, got {} axes",
                                grid.dimension());
  core::log::info("grid: {} × {} cells, columns from {:.2f} km ({:.3f} km wide), layers to {:.2f} km",
                  grid.n_y(), grid.n_z(), grid.y_edges_m().front() / 1e3,
                  (grid.y_edges_m()[1] - grid.y_edges_m()[0]) / 1e3, grid.z_edges_m().back() / 1e3);
  return grid;
}

mesh::TensorGrid grid_of(const Observations& data, const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return section_grid(data, options);
    default:
      refuse(options.dimension);
  }
}

Forward forward_of(MPI_Comm comm, const mesh::Earth& earth, const Observations& data,
                   const std::vector<physics::mt::StaticShiftKey>& shifts, const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return forward_of_sections(comm, earth, data, shifts, options);
    default:
      refuse(options.dimension);
  }
}

}  // namespace lodestone::inversion::mt
