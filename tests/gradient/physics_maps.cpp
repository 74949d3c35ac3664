// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/transform.hpp"
#include "tests/gradient/map_case.hpp"
#include "tests/support/small_section.hpp"
#include "tests/support/small_volume.hpp"

namespace lodestone::tests {

namespace {

using namespace physics::mt;

/// Resistivity enters as its logarithm: the step of the check is then the same for every cell.
core::MapPtr in_log_resistivity(core::MapPtr simulation) {
  const auto exponential = [](double x) { return std::exp(x); };
  const Eigen::Index size = simulation->size_in();
  return core::compose(std::move(simulation), core::pointwise("exp", size, exponential, exponential));
}

MapCase section_case(const std::string& name, bool with_hill) {
  return {name, [with_hill] { return in_log_resistivity(small_data_map(MPI_COMM_WORLD, with_hill)); },
          [with_hill] { return Eigen::VectorXd(small_section(with_hill).values.array().log()); }};
}

/// Returns a coast: one station on land, two on a sloping sea floor, one of them with axes along the slope.
MapCase sea_case() {
  const auto section = [] {
    auto result = small_section(false);
    result.earth.surface = physics::mesh::SurfaceLine({-1000, 2000}, {-50, 350});
    result.earth.sea = physics::mesh::Sea{0.0, 0.3};
    return result;
  };
  const auto make = [section]() -> core::MapPtr {
    const auto model = section();
    auto survey = small_survey();
    survey.stations[2].definition = Definition::slope_parallel;
    auto meshes = d2::design_meshes(model, survey, d2::design_options(d2::Accuracy::iteration));
    return in_log_resistivity(d2::data_map(MPI_COMM_WORLD, model.earth, survey, std::move(meshes)));
  };
  return {"mt::Simulation with a sea", make,
          [section] { return Eigen::VectorXd(section().values.array().log()); }};
}

/// Iterative solvers: the remainder falls to their tolerance.
MapCase volume_case() {
  const auto make = []() -> core::MapPtr {
    return in_log_resistivity(
        small_volume_simulation(MPI_COMM_WORLD, {.tolerance = 1e-11, .divergence_tolerance = 1e-11}));
  };
  return {"mt::d3::Simulation",
          make,
          [] { return Eigen::VectorXd(small_volume().values.array().log()); },
          {.max_adjoint_gap = 1e-8}};
}

/// Data extrapolated from meshes and their companions.
MapCase extrapolated_volume_case() {
  const auto make = []() -> core::MapPtr {
    const auto model = small_volume();
    const Survey survey = full_survey(volume_stations(), volume_frequencies_hz(),
                                      {Datum::log10_rho_xy, Datum::phase_yx, Datum::zxy_re, Datum::tzy_im});
    auto rules = coarse_design();
    rules.extrapolate = true;
    return in_log_resistivity(d3::data_map(MPI_COMM_WORLD, model.earth, survey,
                                           d3::design_meshes(model, survey, rules),
                                           {.tolerance = 1e-11, .divergence_tolerance = 1e-11}));
  };
  return {"mt::d3::data_map, extrapolated",
          make,
          [] { return Eigen::VectorXd(small_volume().values.array().log()); },
          {.max_adjoint_gap = 1e-8}};
}

/// Returns a perfect conductor at 2 km, below every free cell.
MapCase perfect_conductor_case() {
  const auto section = [] {
    auto result = small_section(false);
    result.values.tail(result.earth.grid.n_y()).setConstant(1e-6);
    return result;
  };
  const auto make = [section]() -> core::MapPtr {
    const auto model = section();
    auto meshes = d2::design_meshes(model, small_survey(), d2::design_options(d2::Accuracy::iteration));
    return in_log_resistivity(d2::data_map(MPI_COMM_WORLD, model.earth, small_survey(), std::move(meshes)));
  };
  return {"mt::Simulation over a perfect conductor", make,
          [section] { return Eigen::VectorXd(section().values.array().log()); }};
}

MapCase sounding_case() {
  const auto make = []() -> core::MapPtr {
    const std::vector quantities{Datum::zxy_re, Datum::zyx_im, Datum::log10_rho_xy, Datum::phase_yx};
    return d1::data_map({300.0, 1500.0}, full_survey({{"a"}}, {0.01, 1.0, 100.0}, quantities),
                        d1::Simulation::Thickness::free);
  };
  return {"mt::Simulation with free thickness", make, [] {
            return Eigen::VectorXd{{2.0, 0.7, 3.0, 310.0, 1400.0}};
          }};
}

/// Returns every quantity of both modes, each station and mode shifted by its own amount.
MapCase shifted_case() {
  const auto make = []() -> core::MapPtr {
    const Survey survey = small_survey();
    return data_map(in_log_resistivity(small_simulation(MPI_COMM_WORLD, false)), needed_responses(survey),
                    survey, static_shifts(survey, {Mode::te, Mode::tm}));
  };
  const auto point = [] {
    const Eigen::VectorXd log_resistivity = small_section(false).values.array().log();
    Eigen::VectorXd x(log_resistivity.size() + 6);
    x << log_resistivity, some_numbers(6, -0.3, 0.3);
    return x;
  };
  return {"mt::data_map of mt::d2::Simulation", make, point};
}

Eigen::VectorXd with_parameters(const Eigen::VectorXd& above, Eigen::Index n_parameters) {
  Eigen::VectorXd x(above.size() + n_parameters);
  x << above, some_numbers(n_parameters, -0.3, 0.3);
  return x;
}

/// Returns impedances of one row, a phase tensor and a tipper of a volume, a matrix for each of two stations:
/// responses that no datum is made of are mixed in.
MapCase distorted_volume_case() {
  const auto make = []() -> core::MapPtr {
    const auto model = small_volume();
    const Survey survey = full_survey(
        volume_stations(), volume_frequencies_hz(),
        {datum("zxx_re"), Datum::zxy_im, Datum::phase_xy, Datum::tzy_re, datum("phase_tensor_xy")});
    const DistortionUnknowns matrices = full_distortion(survey);
    const Survey simulated = with_mixed_responses(survey, matrices);
    auto simulation = d3::simulation_of(MPI_COMM_WORLD, model.earth, simulated,
                                        d3::design_meshes(model, simulated, coarse_design()),
                                        {.tolerance = 1e-11, .divergence_tolerance = 1e-11});
    return data_map(in_log_resistivity(d3::response_map(std::move(simulation))), needed_responses(simulated),
                    survey, matrices);
  };
  return {"mt::data_map of mt::d3::Simulation with matrices",
          make,
          [] { return with_parameters(small_volume().values.array().log(), 8); },
          {.max_adjoint_gap = 1e-8}};
}

/// Returns every datum there is, at two stations and frequencies.
Survey survey_of_all_data() {
  std::vector<Datum> data;
  for (std::size_t row = 0; row < n_datum_rows; ++row) data.push_back(static_cast<Datum>(row));
  return full_survey({{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0}, data);
}

/// Returns responses of the size of those in the field at 1 Hz, far from tensors without inverse.
Eigen::VectorXd responses_of_field(const ResponseLayout& layout) {
  Eigen::VectorXd responses = some_numbers(layout.size(), 0.5, 1.5);
  for (std::size_t k = 0; k < layout.keys().size(); ++k) {
    const Element element = layout.keys()[k].element;
    const bool is_diagonal = element == Element::zxx || element == Element::zyy;
    responses.segment<2>(2 * static_cast<Eigen::Index>(k)) *= is_diagonal               ? 2e-4
                                                              : element == Element::zyx ? -1e-3
                                                              : is_tipper(element)      ? 0.2
                                                                                        : 1e-3;
  }
  return responses;
}

MapCase transform_case() {
  return {"mt::Transform of every datum",
          []() -> core::MapPtr {
            const Survey survey = survey_of_all_data();
            return std::make_shared<Transform>(survey, needed_responses(survey));
          },
          [] { return responses_of_field(needed_responses(survey_of_all_data())); }};
}

MapCase static_distortion_case() {
  const auto make = []() -> core::MapPtr {
    const Survey survey = survey_of_all_data();
    return std::make_shared<Distortion>(
        needed_responses(survey),
        DistortionUnknowns{DistortionKind::static_shift, {{0, 0, 0}, {0, 1, 1}, {1, 1, 1}}});
  };
  return {"mt::Distortion by static shifts", make,
          [] { return with_parameters(responses_of_field(needed_responses(survey_of_all_data())), 3); }};
}

/// Returns a whole matrix of one station, one entry of another.
MapCase matrix_distortion_case() {
  const auto make = []() -> core::MapPtr {
    return std::make_shared<Distortion>(
        needed_responses(survey_of_all_data()),
        DistortionUnknowns{DistortionKind::full, {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, 1, 1}, {1, 1, 0}}});
  };
  return {"mt::Distortion by matrices", make,
          [] { return with_parameters(responses_of_field(needed_responses(survey_of_all_data())), 5); }};
}

}  // namespace

std::vector<MapCase> physics_maps() {
  return {section_case("mt::Simulation flat", false),
          section_case("mt::Simulation under a hill", true),
          perfect_conductor_case(),
          sea_case(),
          volume_case(),
          extrapolated_volume_case(),
          sounding_case(),
          shifted_case(),
          transform_case(),
          static_distortion_case(),
          matrix_distortion_case(),
          distorted_volume_case()};
}

}  // namespace lodestone::tests
