// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/survey/responses.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_fixture.hpp"

#include <fmt/format.h>

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Mode;
using physics::mt::Response;

TEST_CASE(
    "responses CSV: the header is the contract's, values come back to the last bit, no value is an empty "
    "field",
    "[survey]") {
  const TemporaryFolder folder;
  Response te{"a", Mode::te, 0.3, 100.0, -5.0, {0.001, 0.002}, {0.1, -0.2}};
  Response tm{"a", Mode::tm, 0.3, 100.0, -5.0, {-0.001, -0.003}, {}};
  tm.tipper = {physics::mt::not_given, physics::mt::not_given};
  tm.definition = physics::mt::Definition::slope_parallel;
  const std::string text = survey::responses_csv_text({te, tm});
  CHECK(text.substr(0, text.find('\n')) ==
        "site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition");
  CHECK(text.substr(text.size() - 18) == ",,,slope_parallel\n");
  const auto back = survey::read_responses_csv(write_text(folder, "r.csv", text));
  REQUIRE(back.size() == 2);
  CHECK(back[0].impedance_ohm == te.impedance_ohm);
  CHECK(back[0].tipper == te.tipper);
  CHECK(back[1].mode == Mode::tm);
  CHECK(back[0].definition == physics::mt::Definition::horizontal);
  CHECK(back[1].definition == physics::mt::Definition::slope_parallel);
  CHECK(std::isnan(back[1].tipper.real()));
  CHECK(back[1].frequency_hz == Approx(0.3));
  CHECK_THAT(text, Catch::Contains(fmt::format(
                       "{}", physics::mt::phase_deg(tm.impedance_ohm))));  // not folded: third quadrant
}

TEST_CASE("responses of volumes: CSV and HDF5 hold every element, and the header is the contract's",
          "[survey]") {
  std::vector<physics::mt::Station> stations{{"a, b", 20.0}};
  stations[0].x_m = 10.0;
  const auto survey = physics::mt::full_response_survey(stations, {0.5});
  Eigen::VectorXd predicted(12);  // in the order of the codes of data
  for (Eigen::Index k = 0; k < 12; ++k) predicted[k] = 0.001 * static_cast<double>(k + 1);
  const std::string text = survey::full_responses_csv_text(survey, predicted);
  CHECK(text.substr(0, text.find('\n')) ==
        "site,period_s,x_m,y_m,Zxx_re_ohm,Zxx_im_ohm,Zxy_re_ohm,Zxy_im_ohm,Zyx_re_ohm,Zyx_im_ohm,Zyy_re_ohm,"
        "Zyy_im_ohm,rho_xy_ohm_m,phase_xy_deg,rho_yx_ohm_m,phase_yx_deg,Tzx_re,Tzx_im,Tzy_re,Tzy_im");
  const physics::mt::ElementTable table(survey, predicted);
  const auto zxy = table.at(0, 0)[physics::mt::Element::zxy];
  CHECK_THAT(text, Catch::Contains(fmt::format(
                       "\"a, b\",2,10,20,{},{},{},{},", table.at(0, 0)[physics::mt::Element::zxx].real(),
                       table.at(0, 0)[physics::mt::Element::zxx].imag(), zxy.real(), zxy.imag())));
  const TemporaryFolder folder;
  survey::write_full_responses_hdf5(folder / "r.h5", survey, predicted, {0.0});
  const hdf5::Hdf5Source source(folder / "r.h5");
  const auto stored = survey::stored_responses(source);
  CHECK(stored.elements == std::vector<std::string>{"zxx", "zxy", "zyx", "zyy", "tzx", "tzy"});
  CHECK(stored.sites == std::vector<std::string>{"a, b"});
  CHECK(core::read_doubles(source, "x_m") == std::vector<double>{10.0});
  CHECK_THROWS_AS(survey::full_responses_csv_text(survey, predicted.head(3)), core::ShapeError);
}
