// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Element;
using physics::mt::StationData;

namespace {

const std::string head =
    ">HEAD\nDATAID=\"site 1\"\nLAT=-23:30:36.0\nLONG=17:45:00\n>=DEFINEMEAS\nREFLAT=0:0:0\n"
    ">HMEAS ID=1.001 CHTYPE=HX X=0.0 Y=0.0 AZM=0.0\n";

/// Returns a section of one frequency whose Zxy has this real part.
std::string section(const std::string& name, const std::string& real) {
  return ">=MTSECT\nSECTID=" + name + "\nNFREQ=1\n>FREQ //1\n 10\n>ZXYR //1\n " + real +
         "\n>ZXYI //1\n 11\n" +
         ">ZXY.VAR //1\n 0.02\n>ZYXR //1\n -12\n>ZYXI //1\n -13\n>ZYX.VAR //1\n 0.02\n";
}

bool warns(const StationData& station, const std::string& part) {
  return std::ranges::any_of(station.remarks, [&](const physics::mt::Remark& remark) {
    return remark.text.find(part) != std::string::npos;
  });
}

double real_part(const StationData& station) {
  return station.rows.at(0).values[Element::zxy].real() / physics::mt::ohm_per_field_unit;
}

}  // namespace

TEST_CASE("EDI: each of several data sections is a station, named by its SECTID", "[edi]") {
  // A section without values, another with a definition of measurements in between, and an equal name.
  const std::string text = head + section("a", "10") +
                           ">=SPECTRASECT\nSECTID=empty\n>=DEFINEMEAS\nREFLAT=0:0:0\n" + section("b", "20") +
                           section("a", "30") + ">END\n";
  const auto stations = edi::parse_all(text, "many.edi");
  REQUIRE(stations.size() == 3);
  CHECK(stations[0].site.name == "a");
  CHECK(stations[1].site.name == "b");
  CHECK(stations[2].site.name == "a_2");
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(real_part(stations[i]) == Approx(10.0 * static_cast<double>(i + 1)));
    CHECK(stations[i].site.latitude_deg == Approx(-23.51));
    CHECK(warns(stations[i], "many.edi:1: the file holds 3 data sections"));
    CHECK_FALSE(warns(stations[i], "stands twice"));
    CHECK_FALSE(warns(stations[i], "no >END"));
  }
  CHECK(warns(stations[2], "renamed a_2"));
  CHECK(edi::parse(text, "many.edi").site.name == "a");
  CHECK(warns(edi::parse_all(replaced(text, ">END\n", ""), "cut.edi")[0], "no >END"));
}

TEST_CASE("EDI: impedances and spectra of one file are two stations", "[edi]") {
  const std::string channels =
      ">HMEAS ID=1 CHTYPE=HX\n>HMEAS ID=2 CHTYPE=HY\n>EMEAS ID=3 CHTYPE=EX\n>EMEAS ID=4 CHTYPE=EY\n";
  // Powers of fields of unit sources over Zxy = 2 and Zyx = -3.
  const std::string spectra =
      ">=SPECTRASECT\nSECTID=b\nNFREQ=1\n// 4\n 1 2 3 4\n>SPECTRA FREQ=2.0 ROTSPEC=0 AVGT=100 // 16\n"
      " 1 0 0 0\n 0 1 0 0\n 0 2 4 0\n -3 0 0 9\n>END\n";
  const auto stations =
      edi::parse_all(replaced(head, ">HMEAS ID=1.001 CHTYPE=HX X=0.0 Y=0.0 AZM=0.0\n", channels) +
                         section("a", "10") + spectra,
                     "two.edi", {.units = physics::mt::ImpedanceUnits::field});
  REQUIRE(stations.size() == 2);
  CHECK(real_part(stations[0]) == Approx(10.0));
  CHECK(stations[1].site.name == "b");
  CHECK(real_part(stations[1]) == Approx(2.0));
}

TEST_CASE("EDI: a file with one section of values keeps the name of its head", "[edi]") {
  CHECK(edi::parse_all(head + section("a", "10") + ">END\n", "one.edi").front().site.name == "site 1");
  const auto other = edi::parse_all(head + section("a", "10") + ">=OTHERSECT\nSECTID=b\n>END\n", "one.edi");
  REQUIRE(other.size() == 1);
  CHECK(other.front().site.name == "site 1");
}
