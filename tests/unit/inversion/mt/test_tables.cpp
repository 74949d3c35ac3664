// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/mt/distortion.hpp"
#include "inversion/mt/recipe.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/selection.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::inversion;
using tests::error_of;
using tests::HasId;

namespace {

/// Returns two stations, two frequencies; one datum is masked, one interpolated.
physics::mt::Observations small_data() {
  using physics::mt::MaskReason;
  physics::mt::Observations data;
  data.survey = physics::mt::full_survey({{"a", 0.0}, {"b", 500.0}}, {10.0, 0.25},
                                         {physics::mt::Datum::phase_xy, physics::mt::Datum::tzy_re});
  data.survey.stations[1].definition = physics::mt::Definition::slope_parallel;
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value = Eigen::VectorXd::LinSpaced(n, 0.1, 0.8);
  data.sigma = Eigen::VectorXd::Constant(n, 0.05);
  data.reason.assign(data.survey.keys.size(), MaskReason::kept);
  data.reason[3] = MaskReason::listed;
  data.interpolated.assign(data.survey.keys.size(), 0);
  data.interpolated[5] = 1;
  return data;
}

}  // namespace

TEST_CASE("tables: data come back from the rows of an outcome by station and frequency", "[inversion]") {
  const auto written = small_data();
  const auto read = mt::observations(written.data_set(), mt::site_table(written.survey.stations, {}));
  REQUIRE(read);
  CHECK(read->value == written.value);
  CHECK(read->sigma == written.sigma);
  CHECK(read->reason == written.reason);
  CHECK(read->interpolated == written.interpolated);
  CHECK(read->survey.stations[1].definition == physics::mt::Definition::slope_parallel);
  CHECK(read->survey.stations[1].y_m == 500.0);
  CHECK(read->survey.frequencies_hz == written.survey.frequencies_hz);
  for (std::size_t k = 0; k < written.survey.keys.size(); ++k) {
    CHECK(read->survey.keys[k].quantity == written.survey.keys[k].quantity);
    CHECK(read->survey.keys[k].frequency == written.survey.keys[k].frequency);
    CHECK(read->survey.keys[k].station == written.survey.keys[k].station);
  }
}

TEST_CASE("tables: data of another physics are no magnetotelluric ones", "[inversion]") {
  core::Table readings;
  readings.add_numbers("half_ab_m", "m", {1.5, 10.0});
  readings.add_numbers("log10_rho_a", "", {2.0, 2.1});
  readings.add_numbers("sigma", "", {0.02, 0.02});
  CHECK_FALSE(mt::observations(core::DataSet(readings, "log10_rho_a", "sigma"), {}));
}

TEST_CASE("tables: a static shift of 0.3 decades doubles apparent resistivities", "[inversion]") {
  const auto data = small_data();
  const NamedTable table = mt::distortion_table(data.survey.stations, {{.keys = {{1, 0, 0}}}, 0.15},
                                                Eigen::VectorXd::Constant(1, std::log10(2.0)));
  CHECK(table.own_file);
  CHECK(table.table.texts("site") == std::vector<std::string>{"b"});
  CHECK(table.table.texts("mode") == std::vector<std::string>{"TE"});
  CHECK(table.table.numbers("rho_a_factor")[0] == Approx(2.0));
}

TEST_CASE("recipe: data that a section does not predict are masked", "[inversion]") {
  using physics::mt::datum;
  std::vector<physics::mt::StationData> stations(2);
  for (std::size_t s = 0; s < 2; ++s) {
    stations[s].site.name = s == 0 ? "a" : "b";
    auto& row = stations[s].row_at(10.0);
    row.values.numbers.fill({1e-2, 1e-2});
    row.errors.numbers.fill(1e-4);
  }
  const auto observed =
      physics::mt::select(stations, physics::mt::profile_along({0.0, 1000.0}),
                          {.data = {datum("zxx_re"), datum("zxy_re"), datum("tzx_re")}, .strike_deg = 0.0});
  REQUIRE(observed.n_used() == 6);
  const inversion::Problem problem = mt::problem(MPI_COMM_SELF, observed);
  CHECK(problem.data.n_used() == 2);
  CHECK(problem.data.reasons()[static_cast<std::size_t>(problem.data.reason()[0])] == "not_predicted");
  CHECK(problem.forward.result_rows == std::vector<Eigen::Index>{2, 3});
  CHECK(problem.forward.results.design(problem.start)->size_out() == 2);
  CHECK_NOTHROW(problem.check());
}

TEST_CASE("static shifts: those beyond three deviations of their prior are named with their factor",
          "[inversion]") {
  const mt::DistortionPrior prior{{.keys = {{0, 0, 0}, {0, 1, 1}, {1, 1, 1}}}, 0.1};
  const auto warned = [&](const Eigen::Vector3d& shifts) {
    return tests::text_with(tests::warnings_of([&] {
                              mt::warn_of_large_distortion({{"a", 0.0}, {"b", 500.0}}, prior, shifts);
                            }),
                            "inversion::mt::problem#large_shifts");
  };
  CHECK(warned({0.29, -0.29, 0.0}).empty());
  CHECK_THAT(warned({0.5, 0.1, -2.0}), Catch::Contains("b TM (ρₐ times 0.01), a TE (ρₐ times 3.16)") &&
                                           Catch::Contains("2 of 3 ") && Catch::Contains("±0.1 "));
}

TEST_CASE("distortion: a row per matrix with the factors of Groom & Bailey, large entries are named",
          "[inversion]") {
  const mt::DistortionPrior prior{
      {physics::mt::DistortionKind::full, {{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}}}, 0.2};
  const std::vector<physics::mt::Station> stations{{"a", 0.0}, {"b", 500.0}};
  const Eigen::Vector4d turned(std::cos(0.3) - 1.0, -std::sin(0.3), std::sin(0.3), std::cos(0.3) - 1.0);
  const NamedTable table = mt::distortion_table(stations, prior, turned);
  CHECK((table.name == "distortion" && table.own_file));
  CHECK(table.table.texts("site") == std::vector<std::string>{"b"});
  CHECK(table.table.numbers("c_xy")[0] == Approx(-std::sin(0.3)));
  CHECK(table.table.numbers("twist_deg")[0] == Approx(0.3 * 180.0 / std::numbers::pi));
  CHECK(table.table.numbers("gain")[0] == Approx(1.0));
  CHECK(std::abs(table.table.numbers("shear_deg")[0]) < 1e-12);
  CHECK(table.table.numbers("deviation")[0] == Approx(turned.norm() / 0.4));
  const std::string warned =
      tests::text_with(tests::warnings_of([&] {
                         mt::warn_of_large_distortion(stations, prior, Eigen::Vector4d(0.1, -0.7, 0.0, 0.59));
                       }),
                       "inversion::mt::problem#large_distortion");
  CHECK_THAT(warned, Catch::Contains("b Cxy (-0.7 beside") && Catch::Contains("1 of 4 ") &&
                         Catch::Contains("distortion.sigma") && !Catch::Contains("Cyy"));
}
