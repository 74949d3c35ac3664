// SPDX-License-Identifier: Apache-2.0
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
