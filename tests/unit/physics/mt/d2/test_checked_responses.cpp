// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/checked_responses.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_section.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <ranges>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using Catch::Matchers::Contains;

namespace {

const std::vector<Datum> responses{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx,
                                   Datum::phase_yx};

/// Returns the largest error of ρₐ in per cent of responses of impedances.
double largest_error(const Eigen::VectorXd& ours, const Eigen::VectorXd& reference) {
  double worst = 0.0;
  for (Eigen::Index k = 0; k < ours.size(); k += 2) {
    const std::complex<double> a(ours[k], ours[k + 1]), b(reference[k], reference[k + 1]);
    worst = std::max(worst, 200.0 * std::abs(std::log(a / b).real()));
  }
  return worst;
}

/// Returns the rules of the standard accuracy with larger cells, which miss its tolerance.
d2::MeshDesignOptions loose_rules() {
  d2::MeshDesignOptions options = d2::design_options(d2::Accuracy::standard);
  options.coarsen = 4.0;
  return options;
}

/// Three stations beside and far from the contacts of `small_section`.
Survey stations_beside() {
  return full_survey({{"a", -1500.0}, {"b", 120.0}, {"c", 1400.0}}, {10.0, 1.0, 0.1}, responses);
}

}  // namespace

TEST_CASE("check: meshes are refined until the estimate passes, and it bounds what is left of the error",
          "[physics][mt]") {
  const mesh::Model section = tests::small_section(false);
  const Survey survey = stations_beside();
  const ResponseError tolerance = d2::tolerance_of(Accuracy::standard);
  const auto simulation = [&](const d2::MeshDesignOptions& options) {
    return d2::simulation_of(MPI_COMM_SELF, section.earth, survey,
                             d2::design_meshes(section, survey, options));
  };
  const Eigen::VectorXd reference = simulation(d2::design_options(Accuracy::fine))->value(section.values);
  const double before = largest_error(simulation(loose_rules())->value(section.values), reference);
  REQUIRE(before > tolerance.rho_a_percent);

  const auto checked = d2::checked_responses(MPI_COMM_SELF, section, survey, loose_rules(), {tolerance});
  const double after = largest_error(checked.values, reference);
  CAPTURE(before, after, checked.in_words());
  CHECK(after < tolerance.rho_a_percent);
  CHECK(checked.row().passed);
  CHECK(checked.row().worst.rho_a_percent > 0.3 * after);
  CHECK(std::ranges::any_of(checked.bands, [](const d2::CheckedBand& band) { return band.refinements > 0; }));
  CHECK(checked.note_in_words().empty());
  const double by_rules = d2::work_of(d2::design_meshes(section, survey, loose_rules()), survey);
  CHECK(checked.runs * by_rules < 3.0 * d2::work_of(checked.meshes, survey));

  // The map does the same, and a simulation on the meshes gives the same
  int n_checks = 0;
  const core::MapPtr map =
      d2::checked_map(MPI_COMM_SELF, section.earth, survey, loose_rules(), {tolerance},
                      [&](const d2::CheckedResponses& found) { n_checks += found.row().passed ? 1 : 0; });
  CHECK(map->size_out() == checked.values.size());
  CHECK(map->value(section.values) == checked.values);
  CHECK(n_checks == 1);
  CHECK(map->linearize(section.values)->size_in() == section.values.size());
  const auto again = d2::simulation_of(MPI_COMM_SELF, section.earth, survey, checked.meshes);
  CHECK(largest_error(again->value(section.values), checked.values) < 1e-9);
}

TEST_CASE("check: the limit of nodes that stopped it is named", "[physics][mt]") {
  const mesh::Model section = tests::small_section(false);
  const Survey survey = stations_beside();
  d2::MeshDesignOptions options = loose_rules();
  const d2::MeshSet meshes = d2::design_meshes(section, survey, options);
  const auto nodes = [](const d2::BandMesh& band) {
    return (2 * band.mesh.n_y() + 1) * (2 * band.mesh.n_z() + 1);
  };
  const int most = 20 + std::ranges::max(meshes.bands | std::views::transform(nodes));
  const auto checked = d2::checked_responses(MPI_COMM_SELF, section, survey, options,
                                             {.tolerance = {0.01, 0.01}, .max_nodes = most});
  CHECK_FALSE(checked.row().passed);
  CHECK_THAT(checked.note_in_words(), Contains(std::to_string(most) + " nodes"));
  for (const d2::BandMesh& band : checked.meshes.bands) CHECK(nodes(band) <= most);
}

TEST_CASE("check: the work that stopped it is named, and the meshes with the largest errors come first",
          "[physics][mt]") {
  const mesh::Model section = tests::small_section(false);
  const Survey survey = stations_beside();
  const d2::MeshDesignOptions options = loose_rules();
  const auto run = [&](double max_runs) {
    return d2::checked_responses(MPI_COMM_SELF, section, survey, options,
                                 {.tolerance = {0.1, 0.1}, .max_runs = max_runs});
  };
  const auto estimate_alone = run(1.5);
  CHECK_THAT(estimate_alone.note_in_words(), Contains("more work than the 1.5 runs"));
  for (const d2::CheckedBand& band : estimate_alone.bands) CHECK(band.refinements == 0);

  const auto some = run(5.0);
  CAPTURE(some.in_words());
  CHECK(some.runs <= 5.0);
  const auto& worst = *std::ranges::max_element(
      some.bands, {}, [](const d2::CheckedBand& band) { return band.of_rules.rho_a_percent; });
  CHECK(worst.refinements > 0);
  CHECK(std::ranges::any_of(some.bands, [](const d2::CheckedBand& band) { return band.stopped_by_runs; }));
  CHECK_FALSE(some.row().passed);
}

TEST_CASE("check: a station on the edge of two columns is named, and calls for no refinement",
          "[physics][mt]") {
  const mesh::Model section = tests::small_section(false);
  const Survey survey = full_survey({{"edge", 300.0}, {"far", -3000.0}}, {1.0}, responses);
  const auto checked =
      d2::checked_responses(MPI_COMM_SELF, section, survey, d2::design_options(Accuracy::standard),
                            {d2::tolerance_of(Accuracy::standard)});
  CHECK(checked.left_out == std::vector<std::string>{"edge"});
  CHECK_THAT(checked.note_in_words(), Contains("Not judged") && Contains("edge"));
  CHECK_THAT(checked.row().where, Contains("far"));
  CHECK(checked.bands.front().refinements == 0);
}

TEST_CASE("rules: a contact is resolved as far away as current in a conductor leaks through a resistor",
          "[physics][mt]") {
  // Basins over 1000 ohm m, which end 200 km beside the station: of 1400 S under it, over 2·10⁷ ohm m²,
  // current leaks over 170 km, seven times the penetration depth.
  mesh::TensorGrid grid = mesh::TensorGrid::section({-600e3, -200e3, -6e3, 5e3, 200e3, 600e3},
                                                    {0.0, 500.0, 1000.0, 2000.0, 4000.0, 25e3, 50e3});
  Eigen::VectorXd resistivity(grid.n_cells());
  resistivity << 25.0, 25.0, 25.0, 25.0, 25.0,  //
      1000.0, 10.0, 2.5, 2.5, 1000.0,           //
      1000.0, 10.0, 2.5, 1000.0, 1000.0,        //
      1000.0, 1000.0, 2.5, 1000.0, 1000.0,      //
      1000.0, 1000.0, 1000.0, 1000.0, 1000.0,   //
      5.0, 5.0, 5.0, 5.0, 5.0;
  const mesh::Model section =
      mesh::resistivity_model({std::move(grid), mesh::Surface()}, std::move(resistivity));
  const Survey survey =
      full_survey({{"west", -14e3}, {"basin", 0.0}}, {1.0 / 15.8, 1.0 / 40.0}, {Datum::log10_rho_yx});
  const auto at = [&](Accuracy accuracy) {
    const d2::MeshDesignOptions options = d2::design_options(accuracy);
    return d2::simulation_of(MPI_COMM_SELF, section.earth, survey,
                             d2::design_meshes(section, survey, options))
        ->value(section.values);
  };
  CHECK(largest_error(at(Accuracy::standard), at(Accuracy::fine)) < 0.5);
}
