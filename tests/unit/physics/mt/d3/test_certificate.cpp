// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/certificate.hpp"
#include "physics/mt/d3/cost.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_volume.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using Catch::Contains;

namespace {

/// A conductor of 10 ohm m in 100 ohm m, 300 m under the station between its sides.
mesh::Model body() {
  const mesh::TensorGrid grid(mesh::Edges{
      .x_m = {-2000, -800, 800, 2000}, .y_m = {-2000, -1000, 1000, 2000}, .z_m = {0, 300, 1000, 3000}});
  Eigen::VectorXd cells = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  cells[grid.index(1, 1, 1)] = 10.0;
  return mesh::resistivity_model({grid}, cells);
}

Survey survey_at_frequencies(std::vector<double> frequencies_hz) {
  Station centre{"centre", 40.0}, side{"side", 1600.0};
  centre.x_m = 30.0;
  return full_survey({centre, side}, std::move(frequencies_hz), {Datum::log10_rho_xy, Datum::phase_xy});
}

d3::MeshDesignOptions rules() {
  auto options = d3::design_options(d3::Accuracy::standard);
  options.contact_share = 0.08;
  options.max_edges = 2.5e5;
  return options;
}

}  // namespace

TEST_CASE("3-D certificate: passes on meshes that suffice, and fails on coarse ones without padding",
          "[physics][mt]") {
  const auto model = body();
  const Survey survey = survey_at_frequencies({3.0});
  const auto good = d3::certify(MPI_COMM_SELF, model, survey, rules(), {4.0, 1.0});
  INFO(good.table());
  REQUIRE(good.rows.size() == 4);
  CHECK(good.passed);
  CHECK_THAT(good.note, Contains("1 of 1 meshes") && Contains("2.5e+05 edges"));  // no period is left out
  for (const auto& row : good.rows) CHECK(row.worst.rho_a_percent > 0.0);
  CHECK_THAT(good.rows[2].where, Contains("Z") && Contains("0.3333 s"));

  auto coarse = rules();
  coarse.coarsen = 2.0;
  coarse.side_padding = 1.0;
  coarse.air_height = 0.2;
  coarse.bottom_depth = 1.0;
  const auto bad = d3::certify(MPI_COMM_SELF, model, survey, coarse, {4.0, 1.0});
  INFO(bad.table());
  CHECK_FALSE(bad.passed);
  CHECK_FALSE(bad.rows[2].passed);
  CHECK_FALSE(bad.rows[3].passed);
  CHECK_THAT(bad.table(), Contains("FAILED"));
}

TEST_CASE("3-D certificate: a third of the difference to the companion counts, and all of it at a contact",
          "[physics][mt]") {
  const auto model = body();
  const auto worst_at = [&](double x_m) {
    Survey survey = survey_at_frequencies({10.0});
    survey.stations.resize(1);
    survey.stations[0].x_m = x_m;
    std::erase_if(survey.keys, [](const DatumKey& key) { return key.station > 0; });
    const Survey pair =
        full_survey(survey.stations, survey.frequencies_hz,
                    {Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
    auto contact = model;
    contact.values[model.earth.grid.index(0, 1, 1)] = 10.0;  // the body comes to the surface
    const auto meshes = d3::design_meshes(contact, survey, rules());
    const auto data = [&](const d3::MeshSet& set) {
      return d3::data_map(MPI_COMM_SELF, contact.earth, pair, set)->value(contact.values);
    };
    const Eigen::VectorXd difference = data(meshes) - data(d3::companions(meshes));
    const double all = 100.0 * std::max(std::abs(std::pow(10.0, difference[0]) - 1.0),
                                        std::abs(std::pow(10.0, difference[2]) - 1.0));
    const auto found = d3::certify(MPI_COMM_SELF, contact, survey, rules(), {4.0, 1.0});
    return found.rows[2].worst.rho_a_percent / all;
  };
  CHECK(worst_at(30.0) == Approx(1.0 / 3.0).epsilon(1e-6));
  CHECK(worst_at(790.0) == Approx(1.0).epsilon(1e-6));
}

TEST_CASE("3-D certificate: within limits of work and memory it measures fewer periods, or none, and says so",
          "[physics][mt]") {
  const auto model = body();
  const Survey survey = survey_at_frequencies({10.0, 3.0, 1.0, 0.3});
  auto options = rules();
  options.max_edges = 8e3;
  const d3::MeshSet meshes = d3::design_meshes(model, survey, options);
  const auto all = d3::cost_of_certificate(meshes, survey, {});
  CHECK(all.frequencies == std::vector<int>{0, 1, 2, 3});
  CHECK(all.work > 1.2 * d3::work_of(meshes, survey));
  CHECK(all.work < 3.0 * d3::work_of(meshes, survey));
  CHECK(all.bytes >= d3::largest_solve_bytes(meshes));
  const d3::CertificateLimits half{.work = 0.6 * all.all_work};
  const auto some = d3::cost_of_certificate(meshes, survey, half);
  CHECK(some.frequencies.size() == 2);
  CHECK(some.work <= half.work);
  const auto fewer = d3::certify(MPI_COMM_SELF, model, survey, options, {4.0, 1.0}, half);
  REQUIRE(fewer.rows.size() == 4);
  CHECK_THAT(fewer.note, Contains("2 of 4 periods") && Contains("8e+03 edges"));
  const auto none = d3::certify(MPI_COMM_SELF, model, survey, options, {4.0, 1.0}, {.bytes = 1.0});
  CHECK(none.rows.empty());
  CHECK_FALSE(none.passed);
  CHECK_THAT(none.note, Contains("4 periods need"));
}

TEST_CASE("3-D certificate: a request to stop ends it between periods", "[physics][mt]") {
  auto options = rules();
  options.max_edges = 8e3;
  int n_asked = 0;
  const d3::CertificateLimits limits{.stop = [&] { return ++n_asked > 1; }};
  const auto stopped =
      d3::certify(MPI_COMM_SELF, body(), survey_at_frequencies({10.0, 1.0}), options, {4.0, 1.0}, limits);
  CHECK(stopped.stopped);
  CHECK(stopped.rows.empty());
  CHECK(n_asked == 2);
}

TEST_CASE("3-D certificate: each accuracy promises its target", "[physics][mt]") {
  CHECK(d3::tolerance_of(Accuracy::standard).rho_a_percent == 1.5);
  CHECK(d3::tolerance_of(Accuracy::standard).phase_deg == 0.7);
  CHECK(d3::tolerance_of(Accuracy::fine).rho_a_percent == 1.0);
  CHECK(d3::tolerance_of(Accuracy::fine).phase_deg == 0.3);
}
