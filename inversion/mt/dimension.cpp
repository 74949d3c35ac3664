// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/dimension.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "inversion/mt/certificate.hpp"
#include "inversion/mt/forward_estimate.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/transform.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mesh = physics::mesh;
using physics::mt::Observations;

[[noreturn]] void refuse(int dimension) {
  throw core::InvalidArgument(
      "inversion::mt::problem#no_simulation",
      "expected 2 or 3 dimensions, which have a simulation for inversions, got {}; layered "
      "earths come from inversion::mt::stitch_soundings",
      dimension);
}

/// Makes the table of the final meshes.
template <class Dimension>
std::vector<NamedTable> tables_of(const Simulations<Dimension>& simulations, const Observations& data,
                                  const Eigen::VectorXd& model) {
  const auto rows = physics::mt::predictable_rows(data.survey, Dimension::Simulation::predicted_elements);
  return {mesh_table(simulations.meshes_of_results(model, physics::mt::survey_of(data.survey, rows)))};
}

/// `expected`: guesses the final model for estimates of cost; may be empty.
template <class Dimension>
Forward forward_by(MPI_Comm comm, const mesh::Earth& earth, const Observations& data,
                   const physics::mt::DistortionUnknowns& distortion, const ProblemOptions& options,
                   std::function<std::optional<Eigen::VectorXd>()> expected) {
  auto simulations = std::make_shared<const Simulations<Dimension>>(comm, earth, options.forward);
  Forward out = forward(simulations, data, distortion);
  out.cost = cost_of(simulations, data.kept().survey, std::move(expected));
  out.tables = [simulations, data](const Eigen::VectorXd& model, const Eigen::VectorXd&) {
    return tables_of(*simulations, data, model);
  };
  if (options.forward.certificate != CertificateOf::none)
    out.certificate = [simulations, survey = data.kept().survey](const Eigen::VectorXd& model,
                                                                 const CertificateTerms& terms) {
      return certify(*simulations, model, survey, terms);
    };
  return out;
}

/// Checks that stations lie on a map and data in its axes. errors: InvalidArgument.
void require_map(const Observations& observed) {
  const physics::mt::Profile& map = observed.profile;
  if (!map.is_map)
    throw core::InvalidArgument("inversion::mt::problem#no_map",
                                "expected stations on a map, as a volume is inverted for, got a profile");
  constexpr double same_azimuth_deg = 1e-6;
  const double x_deg = map.azimuth_deg - 90.0;
  if (std::abs(std::remainder(observed.azimuth_deg - x_deg, 360.0)) > same_azimuth_deg)
    throw core::InvalidArgument("inversion::mt::problem#other_axes",
                                "expected data in the axes of the map, whose x axis has the azimuth {:.2f}°, "
                                "got {:.2f}°; remove the strike, or turn the map by profile.azimuth_deg",
                                x_deg, observed.azimuth_deg);
}

/// Returns the ground under a map.
Place place_on_map(const Observations& observed, const ProblemOptions& options) {
  require_map(observed);
  physics::mt::Ground ground = ground_under(observed, options.ground);
  mesh::Frame frame = frame_of(observed.profile, ground.elevation_m);
  return {std::move(ground), std::move(frame)};
}

/// Designs the cells of a volume, or takes those of the options, and logs them.
mesh::TensorGrid volume_grid(const Observations& data, const ProblemOptions& options) {
  mesh::TensorGrid grid = options.cells ? *options.cells : design_volume(data, options.grid);
  if (grid.dimension() != 3)
    throw core::InvalidArgument("inversion::mt::problem#other_dimension",
                                "expected cells of a volume, with the axes x, y and z, got {} axes",
                                grid.dimension());
  const mesh::Box extent = grid.extent();
  core::log::info("grid: {} × {} × {} cells, x {:.1f} … {:.1f} km, y {:.1f} … {:.1f} km, layers to {:.2f} km",
                  grid.n_x(), grid.n_y(), grid.n_z(), extent.x_m.from / 1e3, extent.x_m.to / 1e3,
                  extent.y_m.from / 1e3, extent.y_m.to / 1e3, extent.z_m.to / 1e3);
  return grid;
}

}  // namespace

physics::mt::Elements predicted_elements(const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return Sections::Simulation::predicted_elements;
    case 3:
      return Volumes::Simulation::predicted_elements;
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
    case 3:
      return place_on_map(observed, options);
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
    case 3:
      return volume_grid(data, options);
    default:
      refuse(options.dimension);
  }
}

Forward forward_of(MPI_Comm comm, const mesh::Earth& earth, const Observations& data,
                   const physics::mt::DistortionUnknowns& distortion, const ProblemOptions& options) {
  switch (options.dimension) {
    case 2:
      return forward_by<Sections>(
          comm, earth, data, distortion, options,
          [soundings = options.soundings, data, earth] { return likely_section(soundings, data, earth); });
    case 3:
      return forward_by<Volumes>(comm, earth, data, distortion, options, {});
    default:
      refuse(options.dimension);
  }
}

}  // namespace lodestone::inversion::mt
