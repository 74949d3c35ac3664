// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/femtic/observe.hpp"
#include "io/info/info.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::Reading;
using physics::mt::StationData;

namespace {

/// Impedances under e^{-iωt}: Zxy in the fourth quadrant. The second site states a type of its element.
const std::string impedances =
    "MT 2\n1 1 -13.0 2.5\n2\n"
    "0.1 1e-4 2e-4 6e-3 -7e-3 -5e-3 4e-3 3e-4 -4e-4 -1e-5 1e-5 3e-4 -3e-4 -2e-4 2e-4 9.999e3 9.999e3\n"
    "1 1e-4 2e-4 2e-2 -2e-2 -2e-2 2e-2 3e-4 -4e-4\n  1e-5 1e-5 3e-3 4e-3 2e-4 9.999e3 1e-5 0\n"
    "7 8 1 4 5\n1\n10 0 0 6e-2 -6e-2 -6e-2 6e-2 0 0 1 1 3e-3 3e-3 3e-3 3e-3 1 1\n";
const std::string tippers = "VTF 1\n3 3 -13.0 2.5 1\n0.1 0.1 0.2 -0.3 0.4 0.01 0.01 0.02 -0.02\n";

std::vector<StationData> parse(const std::string& text, const physics::mt::Conventions& chosen = {}) {
  const TemporaryFolder folder;
  return femtic::read_data(write_text(folder, "observe.dat", text), chosen);
}

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

const Reading* reading_of(const StationData& station, std::string_view datum) {
  const auto found = std::ranges::find_if(station.readings,
                                          [&](const Reading& each) { return name_of(each.datum) == datum; });
  return found == station.readings.end() ? nullptr : &*found;
}

bool says(const StationData& station, const std::string& part) {
  return std::ranges::any_of(station.remarks, [&](const physics::mt::Remark& remark) {
    return remark.text.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("FEMTIC: impedances and tippers become e^{+iwt}, stations at one place are joined", "[femtic]") {
  const auto stations = parse(impedances + tippers + "END\n");
  REQUIRE(stations.size() == 2);
  const StationData& first = stations[0];
  CHECK(first.site.name == "1");
  CHECK(first.other_names == std::vector<std::string>{"3"});
  CHECK(first.site.x_m == -13000.0);
  CHECK(first.site.y_m == 2500.0);
  CHECK(stations[1].site.x_m == 4000.0);
  CHECK(first.sign_in_file == "-");
  CHECK(first.units_in_file == "ohm");
  REQUIRE(first.rows.size() == 2);
  const auto& low = first.rows[1];
  CHECK(low.frequency_hz == 0.1);
  CHECK(low.values[Element::zxy] == Complex(6e-3, 7e-3));
  CHECK(low.errors[Element::zxy] == 3e-4);
  CHECK(low.values[Element::tzy] == Complex(-0.3, -0.4));
  CHECK(low.errors[Element::tzy] == 0.02);
  CHECK(low.is_missing(Element::zyy));  // switched off
  const auto& high = first.rows[0];
  CHECK(high.errors[Element::zxy] == Approx(std::sqrt(0.5 * (9e-6 + 16e-6))));
  CHECK(high.is_missing(Element::zyx));  // one part is switched off
  CHECK(high.errors[Element::zyy] == Approx(1e-5 / std::numbers::sqrt2));
  CHECK(says(first, "1 stations stand at the places"));
  CHECK(says(first, "1 values are switched off"));
  CHECK(says(first, "1 elements of which one part"));
  CHECK(says(first, "1 stations refer to the magnetic field"));
  CHECK(parse(impedances, {.sign = physics::mt::TimeFactor::plus})[0].rows[1].values[Element::zxy] ==
        Complex(6e-3, -7e-3));
}

TEST_CASE("FEMTIC: apparent resistivities and phases, those without a positive error excluded", "[femtic]") {
  const auto stations =
      parse("APP_RES_AND_PHS 1\n4 4 1 0 0 0\n1\n10 2 10 100 -50 200 130 3 20 0.1 1 5 2 4 -1 -1 1\nEND\n");
  const StationData& station = stations.at(0);
  const Reading* rho = reading_of(station, "log10_rho_xy");
  REQUIRE(rho != nullptr);
  CHECK(rho->value == Approx(2.0));
  CHECK(rho->sigma == Approx(0.05 / std::numbers::ln10));
  CHECK(rho->azimuth_deg == 0.0);
  CHECK(reading_of(station, "phase_xy")->value == Approx(50.0 / physics::mt::deg_per_rad));
  CHECK(reading_of(station, "log10_rho_yx")->value == Approx(std::log10(200.0)));
  CHECK(reading_of(station, "phase_yx") == nullptr);
  REQUIRE(station.rows.size() == 1);
  const Complex zxx = station.rows[0].values[Element::zxx];
  CHECK(physics::mt::apparent_resistivity_ohm_m(zxx, 10.0) == Approx(2.0));
  CHECK(physics::mt::phase_deg(zxx) == Approx(-10.0));
  CHECK(station.rows[0].is_missing(Element::zyy));
  CHECK(says(station, "2 apparent resistivities and phases are excluded"));
}

TEST_CASE("FEMTIC: inter-station functions refer to stations by number, phase tensors get a positive trace",
          "[femtic]") {
  const auto stations = parse(
      "MT 1\n8 8 0 0\n0\nHTF 2\n1 2 0 0\n1\n1 0.9 0.1 0 0 0 0 1.1 -0.1 .1 .1 .1 .1 .1 .1 .1 .1\n"
      "2 1 0 1\n1\n1 0.9 0.1 0 0 0 0 1.1 -0.1 .1 .1 .1 .1 .1 .1 .1 .1\n"
      "PT 1\n9 9 0 1\n1\n1 -0.9 0.1 0.2 -1.1 0.1 0.1 -0.1 9999\nNMT 1\n 5 5 1 2 3\n1 1\nEND\n");
  REQUIRE(stations.size() == 2);
  CHECK(stations[0].site.reference == "2");
  CHECK(stations[1].site.reference == "8");  // at the place of station 1
  CHECK(stations[0].rows[0].values[Element::mxx] == Complex(0.9, -0.1));
  CHECK(reading_of(stations[1], "phase_tensor_xx")->value == 0.9);
  CHECK(reading_of(stations[1], "phase_tensor_yx")->value == -0.2);
  CHECK(reading_of(stations[1], "phase_tensor_yx")->sigma == 0.1);
  CHECK(reading_of(stations[1], "phase_tensor_yy") == nullptr);
  CHECK(says(stations[0], "NMT is left out"));
  CHECK(says(stations[0], "signs were changed"));
}

TEST_CASE("FEMTIC: errors name the line and what was expected", "[femtic]") {
  CHECK_THAT(refusal("MT 1\n1 1 0 0\n2\n1 1 2 3\n"), HasId("cut_off"));
  CHECK_THAT(refusal("MT x\n"), HasId("not_in_range", {"observe.dat:1"}));
  CHECK_THAT(refusal("MT 1\n1 1 0\n1\n"), HasId("wrong_station", {"observe.dat:2", "3"}));
  CHECK_THAT(refusal("MT 1\n1 1 1 2 3 0 0\n1\n"), HasId("wrong_station", {"7"}));
  CHECK_THAT(refusal("VTF 1\n1 1 0 0\n1\n1 1 2 3 4 1 1 1 1 1\n"),
             HasId("wrong_columns", {"observe.dat:4", "10"}));
  CHECK_THAT(refusal("VTF 1\n1 1 0 0\n1\n-1 1 2 3 4 1 1 1 1\n"), HasId("frequency_not_positive"));
  CHECK_THAT(refusal("VTF 1\n1 1 0 0\n1\n1 1 b 3 4 1 1 1 1\n"), HasId("not_a_number"));
  CHECK_THAT(refusal(tippers + tippers), HasId("second_station", {"3"}));
  CHECK_THAT(refusal("XYZ 1\n"), HasId("unknown_block", {"XYZ"}));
  CHECK_THAT(refusal("END\n"), HasId("no_station"));
  CHECK_THAT(refusal("HTF 1\n1 1 0 0\n0\n"), HasId("own_reference", {"1"}));
  CHECK_THAT(refusal("HTF 1\n1 2 0 0\n0\n"), HasId("unknown_reference", {"2"}));
}

TEST_CASE("FEMTIC: files are told apart by their content and described", "[femtic]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "observe.dat", impedances + tippers + "END\n");
  CHECK(survey::kind_of_file(path) == survey::FileKind::femtic_data);
  CHECK(survey::read(path).size() == 2);
  const auto file = info::describe_file(path);
  CHECK(file.status == "ok");
  REQUIRE(file.sites.size() == 2);
  CHECK(file.sites[0].sign == "-");
}
