// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/mt2d/data.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;

namespace {

const std::string coprod2 = source_path("data/coprod2/coprod2data.dat");
const std::string head =
    "Format: MT2DData_1.0\n# comment\nReceiver Location (m): 2\n# Y Z\n0 0\n10 -5\nFrequencies (Hz): "
    "1\n0.1\n";

std::vector<physics::mt::StationData> parse(const std::string& text) {
  const TemporaryFolder folder;
  return mt2d::read_data(write_text(folder, "d.dat", text));
}

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

}  // namespace

TEST_CASE("MT2DData: COPROD2 has 20 stations, 12 frequencies and 470 impedances of a plausible earth",
          "[mt2d]") {
  const auto stations = mt2d::read_data(coprod2);
  const auto data = stated_data(stations);
  CHECK(data.survey.stations.size() == 20);
  CHECK(data.survey.stations[19].y_m == 230800.0);
  CHECK(data.survey.frequencies_hz.size() == 12);
  CHECK(data.n_used() == 940);
  CHECK(stations[0].readings.empty());
  const physics::mt::StationRow& row = stations[0].rows.back();  // the lowest frequency
  CHECK(row.values[physics::mt::Element::zxy].real() == 4.301004e-04);
  CHECK(row.errors[physics::mt::Element::zxy] == 6.692749e-05);
  const physics::mt::Complex zxy(4.301004e-04, 3.124862e-04);
  CHECK(physics::mt::apparent_resistivity_ohm_m(zxy, 1.09866e-3) == Approx(32.6).epsilon(0.01));
}

TEST_CASE("MT2DData: resistivities and phases become log10 and radian", "[mt2d]") {
  const auto file = parse(head +
                          "DataType: Rho_Pha\nDataComp: 2\nRhoXY\nPhsYX\nData Block: 3\n1 1 1 100 10\n1 1 2 "
                          "-135 2\n1 2 1 -3 1\n");
  const auto& readings = file[0].readings;
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].datum == Datum::log10_rho_xy);
  CHECK(readings[0].value == Approx(2.0));
  CHECK(readings[0].sigma == Approx(0.1 / std::numbers::ln10));
  CHECK(readings[1].value == Approx(-0.75 * std::numbers::pi));
  CHECK(stated_data(file).n_used() == 2);
  CHECK(file[1].site.z_m == -5.0);
}

TEST_CASE("MT2DData: data with a negative error are masked with one warning that counts them", "[mt2d]") {
  const std::string block =
      head + "DataType: Impedance\nDataComp: 1\nZXY\nData Block: 2\n1 2 1 1 1 1\n1 1 1 1 1 ";
  CHECK(parse(block + "1\n")[0].remarks.empty());
  const auto file = parse(block + "-1\n");
  CHECK(stated_data(file).n_used() == 2);
  REQUIRE(file[0].remarks.size() == 1);
  CHECK_THAT(file[0].remarks[0].text, Catch::Contains("d.dat: 2 "));
}

TEST_CASE("MT2DData: bad rows are format errors with file and line", "[mt2d]") {
  const std::string impedance = head + "DataType: Impedance\nDataComp: 1\nZXY\n";
  CHECK_THAT(refusal("Format: MT3DData_1.0\n"), HasId("no_format_line", {"d.dat:1"}));
  CHECK_THAT(refusal(head + "DataType: Tipper\n"), HasId("unknown_data_type", {"d.dat:9", "\"Tipper\""}));
  CHECK_THAT(refusal(head + "DataType: Impedance\nDataComp: 1\nZXX\n"),
             HasId("unknown_component", {"ZXY", "ZYX", "\"ZXX\""}));
  CHECK_THAT(refusal(head + "DataComp: 1\nZXY\n"), HasId("no_data_type", {"\"DataType:\"", "\"DataComp:\""}));
  CHECK_THAT(refusal(impedance + "Data Block: 1\n1 3 1 1 1 1\n"), HasId("not_in_range", {"1", "2", "\"3\""}));
  CHECK_THAT(refusal("Format: MT2DData_1.0\nReceiver Location (m): 1\n1e300 0\n"),
             HasId("out_of_range", {":3", "Y in m", "1e+300"}));
  CHECK_THAT(refusal(impedance + "Data Block: 1\n1 1 1 1 1\n"), HasId("wrong_columns", {"6", "5"}));
  CHECK_THAT(refusal(impedance + "Data Block: 2\n1 1 1 1 1 1\n"), HasId("cut_off", {"1"}));
  CHECK_THAT(refusal(impedance + "Data Block: 2\n1 1 1 1 1 1\n1 1 1 1 1 1\n"),
             HasId("second_value", {"zxy_re", "1"}));
  CHECK_THAT(refusal(impedance), HasId("no_block", {"\"Data Block:\""}));
}

TEST_CASE("info: an MT2DData file shows its stations", "[info]") {
  const auto info = info::describe_file(coprod2);
  CHECK(info.format == "MT2DData");
  CHECK(info.sites.size() == 20);
  CHECK(info.sites[0].components == std::vector<std::string>{"zxy", "zyx"});
}
