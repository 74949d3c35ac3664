// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"
#include "io/info/info.hpp"
#include "io/jones/jones.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::StationData;
using physics::mt::StationRow;

namespace {

StationData parsed(const std::string& text, const jones::Options& options = {}) {
  return jones::parse(text, "a.j", options);
}
core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parsed(text); });
}

const std::string head =
    "# written for tests\n>AZIMUTH   =       -30.0\n>LATITUDE  =     41.9782\n>LONGITUDE =    220.5\n"
    ">ELEVATION =        12.5\nkb7  -30\n";

/// Five impedances of a half-space of 100 ohm m in ohm, as Geotools writes them: |Zxy| = √(ωμ₀ρ), 45°.
std::string in_ohm() {
  std::string text = head;
  for (const char* name : {"ZXY", "ZYX"}) {
    text += std::string(name) + " S.I. UNITS\n 5\n";
    for (const double f : {16.0, 8.0, 4.0, 2.0, 0.5}) {
      const double part =
          std::sqrt(0.5 * physics::mt::omega(f) * physics::mt::mu0 * 100.0) * (name[1] == 'X' ? 1.0 : -1.0);
      text += fmt::format("{:.4f} {:.4E} {:.4E} 0.1000E-03    1.00\n", f < 1.0 ? 1.0 / f : -f, part, part);
    }
  }
  return text;
}

/// A file as BIRRP writes it: tags that say S.I., numbers in mV/km/nT of e^{-iωt}, blank entries, six
/// columns, and rows of fillers.
const std::string birrp =
    "#BIRRP Version 5 basic mode output\n#theta1=   0.000000     theta2=   90.00000     phi=   0.000000\n"
    ">LATITUDE  =\n>LONGITUDE =\n>ELEVATION =\n>AZIMUTH   =    0.000000\nBP05   \n"
    "ZXY S.I.\n6\n"
    "    1.000000       24.0       -27.0      2.3      0.5      0.43\n"
    "    2.000000       40.0       -42.0      2.7      0.5      0.43\n"
    "    4.000000       49.0       -68.0      4.8      0.5      0.43\n"
    "    8.000000       64.0      -119.0      5.6      0.5      0.43\n"
    "   16.000000       75.0      -150.0     10.6      0.5      0.43\n"
    "   -999.0000      -999.0000      -999.0000      -999.0000      -999.0000      -999.0000\n"
    "ZYX S.I.\n5\n"
    "    1.000000      -24.0        27.0      2.3      0.5      0.43\n"
    "    2.000000      -40.0        42.0      2.7      0.5      0.43\n"
    "    4.000000      -49.0        68.0      4.8      0.5      0.43\n"
    "    8.000000     -999.0      -999.0   -999.0   -999.0   -999.0\n"
    "   16.000000      -75.0       150.0     10.6      0.5      0.43\n"
    "TZX\n1\n    2.000000       0.2       0.1     0.05      0.5      0.43\n";

/// Apparent resistivity and phase alone, with a rejected row, a phase of Zyx in the first quadrant and a
/// determinant.
const std::string rho_only =
    head +
    "RXY\n 3\n"
    "-256.0      54.37       59.7  55.78      53.01       60.5   59.0    1.00    1.00\n"
    " 2.000     -2.654       42.3  2.971      2.372       45.5   39.1    1.00    1.00\n"
    " 4.000      100.0       45.0  -999.      -999.       -999.  -999.   1.00    1.00\n"
    "RYX\n 2\n"
    "-256.0      20.00       50.0  25.00      16.00       51.0   49.0    1.00    1.00\n"
    " 4.000      20.00       40.0  25.00      16.00       41.0   39.0    1.00    1.00\n"
    "RDET\n 1\n-256.0 1 2 3 4 5 6 7 8\n"
    "TZX\n 1\n-256.0     0.1966     -.4363     0.1091E-01    1.00\n";

}  // namespace

TEST_CASE("J-format: impedances in ohm are recognized by their size, the azimuth is the frame", "[jones]") {
  const StationData station = parsed(in_ohm());
  CHECK(station.site.name == "kb7");
  CHECK(station.site.latitude_deg == 41.9782);
  CHECK(station.site.longitude_deg == 220.5 - 360.0);
  CHECK(station.site.elevation_m == 12.5);
  CHECK(station.units_in_file == "ohm");
  CHECK(station.sign_in_file == "+");
  REQUIRE(station.rows.size() == 5);
  const StationRow& row = station.rows[1];
  CHECK(row.frequency_hz == 8.0);
  CHECK(row.azimuths.hx_deg == -30.0);
  CHECK(row.azimuths.ey_deg == 60.0);
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values[Element::zxy], 8.0) ==
        Approx(100.0).epsilon(1e-3));
  CHECK(row.errors[Element::zxy] == 1e-4);
  CHECK(row.is_missing(Element::zxx));
  CHECK(station.rows.back().frequency_hz == 0.5);
  CHECK(parsed(in_ohm(), {.error = jones::ErrorOf::complex_element}).rows[1].errors[Element::zxy] ==
        Approx(1e-4 / std::numbers::sqrt2));
}

TEST_CASE("J-format: BIRRP's conjugate numbers in mV/km/nT are recognized in spite of their tag", "[jones]") {
  const StationData station = parsed(birrp);
  CHECK(station.site.name == "BP05");
  CHECK(std::isnan(station.site.latitude_deg));
  CHECK(std::isnan(station.site.elevation_m));
  CHECK(station.sign_in_file == "-");
  CHECK(station.units_in_file == "mV/km/nT");
  REQUIRE(station.rows.size() == 5);
  const double c = physics::mt::ohm_per_field_unit;
  CHECK(station.rows[0].values[Element::zxy] == Complex(24.0, 27.0) * c);
  CHECK(station.rows[0].errors[Element::zxy] == 2.3 * c);
  CHECK(station.rows[1].values[Element::tzx] == Complex(0.2, -0.1));
  CHECK(station.rows[3].is_missing(Element::zyx));
  CHECK_FALSE(station.rows[3].is_missing(Element::zxy));
  CHECK(has_remark(station, "a.j:1: quadrants of Zxy and Zyx show that the time factor is exp(-i omega t)"));
  CHECK(has_remark(station, "a.j:8: the tag says SI, but the size of the impedances shows mV/km/nT"));
  const StationData stated = parsed("# exp(+ i w t)\n" + birrp);
  CHECK(stated.sign_in_file == "+");
  CHECK(has_remark(stated, "contradict"));
}

TEST_CASE("J-format: apparent resistivities alone become impedances", "[jones]") {
  const StationData station = parsed(rho_only);
  REQUIRE(station.rows.size() == 3);
  const StationRow& row = station.rows[0];
  CHECK(row.frequency_hz == 256.0);
  const Complex zxy = row.values[Element::zxy];
  CHECK(physics::mt::apparent_resistivity_ohm_m(zxy, 256.0) == Approx(54.37).epsilon(1e-6));
  CHECK(physics::mt::phase_deg(zxy) == Approx(59.7));
  // The larger of ln(55.78/53.01)/4 = 0.01273 and 0.75 degrees = 0.01309.
  CHECK(row.errors[Element::zxy] / std::abs(zxy) == Approx(0.75 / physics::mt::deg_per_rad));
  CHECK(physics::mt::phase_deg(row.values[Element::zyx]) == Approx(-130.0));
  CHECK(row.errors[Element::zyx] / std::abs(row.values[Element::zyx]) ==
        Approx(0.25 * std::log(25.0 / 16.0)));
  CHECK(row.values[Element::tzx] == Complex(0.1966, -0.4363));
  CHECK(station.rows[1].frequency_hz == 0.5);
  CHECK(station.rows[1].is_missing(Element::zxy));
  CHECK_FALSE(station.rows[2].is_missing(Element::zxy));
  CHECK(std::isnan(station.rows[2].errors[Element::zxy]));
  CHECK(has_remark(station, "a.j:12: phases of Zyx stand in the first quadrant"));
  CHECK(has_remark(station, "a.j:7: 1 apparent resistivities are not above 0"));
  CHECK(has_remark(station, "a.j:7: no impedance blocks"));
  CHECK(has_remark(station, "a.j:17: the block RDET is none of the elements"));
}

TEST_CASE("J-format: impedances go before apparent resistivities, whose limits show what errors mean",
          "[jones]") {
  // |Zxy| = 0.1124 ohm at 16 Hz; σ_|Z|/|Z| = ln(ρ_max/ρ_min)/4 = 0.01.
  const std::string limits = fmt::format("RXY\n1\n-16 2 45 {:.8f} {:.8f} 45.1 44.9 1 1\nZXY",
                                         2.0 * std::exp(0.02), 2.0 * std::exp(-0.02));
  const std::string text = replaced(in_ohm(), "ZXY", limits);
  const StationData station = parsed(text);
  const Complex zxy = station.rows[0].values[Element::zxy];
  CHECK(physics::mt::apparent_resistivity_ohm_m(zxy, 16.0) == Approx(100.0).epsilon(1e-3));
  CHECK(has_remark(station, "a.j:7: apparent resistivities are left out beside impedances"));
  CHECK_FALSE(has_remark(station, "complex number"));
  const std::string larger =
      replaced(text, "0.1000E-03", fmt::format("{:.6E}", 0.01 * std::numbers::sqrt2 * std::abs(zxy)));
  CHECK(has_remark(parsed(larger), "those of the complex number (1.41 times as large)"));
  CHECK_FALSE(has_remark(parsed(larger, {.error = jones::ErrorOf::complex_element}), "complex number"));
}

TEST_CASE("J-format: fields of units, angles with colons, names and counts of all kinds are read",
          "[jones]") {
  const std::string field = replaced(in_ohm(), "S.I. UNITS", "FIELD");
  CHECK(parsed(field).units_in_file == "mV/km/nT");
  CHECK(parsed(replaced(in_ohm(), "41.9782", "-24:30:00")).site.latitude_deg == -24.5);
  CHECK(has_remark(parsed(replaced(in_ohm(), "41.9782", "north")),
                   "a.j:3: latitude \"north\" is not an angle"));
  CHECK(parsed(replaced(in_ohm(), "kb7  -30", "kb 7")).site.name == "kb 7");
  const StationData no_azimuth = parsed(replaced(in_ohm(), ">AZIMUTH   =       -30.0", ">AZIMUTH ="));
  CHECK(no_azimuth.rows[0].azimuths.hx_deg == -30.0);
  CHECK(has_remark(no_azimuth, "a.j:6: no >AZIMUTH; the number behind the name of the station, -30"));
  CHECK(has_remark(parsed(replaced(in_ohm(), "UNITS\n 5", "UNITS\n 4")), "ZXY announces 4 rows; 1 more"));
  CHECK(parsed(replaced(in_ohm(), "E-03 ", "D-03\t")).rows.size() == 5);
  CHECK(has_remark(parsed(replaced(in_ohm(), "-16.0000", "-8.0000")), "a second value of Zxy at 8 Hz"));
  CHECK(has_remark(parsed(replaced(in_ohm(), "-16.0000", "0")), "out of range"));
}

TEST_CASE("J-format: damaged files are refused with file and line", "[jones]") {
  CHECK_THAT(refusal(""), HasId("no_values", {"a.j"}));
  CHECK_THAT(refusal(head), HasId("no_values", {"a.j:6"}));
  CHECK_THAT(refusal(replaced(in_ohm(), "kb7", "kb7\nsecond")), HasId("not_a_block", {"a.j:7", "second"}));
  CHECK_THAT(refusal(birrp.substr(0, birrp.find("    4.000000"))),
             HasId("cut_off", {"a.j:11", "row 3 of 6"}));
  CHECK_THAT(refusal(replaced(birrp, "ZYX S.I.\n5", "ZYX S.I.\n7")),
             HasId("not_a_number", {"a.j:23", "TZX", "row 6 of 7"}));
  CHECK_THAT(refusal(replaced(birrp, "0.2       0.1     0.05      0.5      0.43", "0.2")),
             HasId("too_few_columns", {"a.j:25", "2"}));
  CHECK_THAT(refusal(replaced(birrp, "ZXY S.I.\n6", "ZXY S.I.\n999999")), HasId("not_in_range", {"a.j:9"}));
}

TEST_CASE("J-format: what is read, written and read again has the same bits", "[jones]") {
  for (const std::string& text : {in_ohm(), birrp, rho_only}) {
    const StationData first = parsed(text);
    const physics::mt::Written written = jones::text_of(first);
    const StationData second = parsed(written.text);
    CHECK(written.lost.empty());
    CHECK(second.sign_in_file == "+");
    CHECK(same_number(first.site.elevation_m, second.site.elevation_m));
    if (text != in_ohm()) check_same_station(first, second);
    check_same_station(second, parsed(jones::text_of(second).text));
  }
  StationData filler = parsed(birrp);  // a frequency that looks like one
  filler.rows[0].frequency_hz = 999.0;
  filler.rows[0].values = StationRow::missing_values();
  filler.rows[0].errors = StationRow::missing_errors();
  check_same_station(filler, parsed(jones::text_of(filler).text));
  StationData named = parsed(birrp);
  for (const char* name : {"a b 7", "x -30", "12"}) {
    named.site.name = name;
    CHECK(parsed(jones::text_of(named).text).site.name == name);
  }
}

TEST_CASE("J-format: an EDI file comes back bit by bit, but for what the format cannot hold", "[jones]") {
  const StationData edi = edi::read(source_path("data/samtex/edi_kim_eto/SAMTEX.kim438.2004.edi"));
  const physics::mt::Written written = jones::text_of(edi);
  CHECK(written.lost.empty());
  const StationData back = parsed(written.text);
  check_same_station(edi, back);
  CHECK(same_number(edi.site.elevation_m, back.site.elevation_m));
  StationData more = edi;
  more.remote_reference = "far";
  more.rows[1].azimuths = physics::mt::ChannelAzimuths::along(30.0);
  more.rows[2].covariance = more.rows[2].full_covariance();
  more.site.name = "#7";
  const auto [text, lost] = jones::text_of(more);
  const StationData rotated = parsed(text);
  REQUIRE(lost.size() == 4);
  CHECK(lost[0] == "correlations of the errors of elements");
  CHECK(lost[1] == "remote reference");
  CHECK(lost[2] == "name (a letter was put in front)");
  CHECK_THAT(lost[3], Catch::Contains("turned to 0 degrees"));
  CHECK(rotated.site.name == "_#7");
  CHECK(std::abs(rotated.rows[1].values[Element::zxy] -
                 physics::mt::rotated(more.rows[1], 0.0).values[Element::zxy]) < 1e-15);
  StationData none = edi;
  none.rows.clear();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)jones::text_of(none); }),
             HasId("nothing_to_write", {"kim438"}));
}

TEST_CASE("J-format: it is told apart by content, described, and read as any survey file", "[jones][info]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "no_ending", birrp);
  CHECK(survey::kind_of_file(path) == survey::FileKind::j_format);
  CHECK(survey::read(path)[0].site.name == "BP05");
  const auto info = info::describe_file(path);
  CHECK(info.format == "J-format");
  CHECK(info.sites.at(0).sign == "-");
  CHECK(info.sites[0].components == std::vector<std::string>{"zxy", "zyx", "tx"});
}
