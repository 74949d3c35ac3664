// SPDX-License-Identifier: Apache-2.0
#include "io/info/info.hpp"
#include "io/survey/read.hpp"
#include "io/zonge/zonge.hpp"
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

const std::string sample_path = source_path("tests/data/zonge/tf_zonge.avg");
constexpr double c = physics::mt::ohm_per_field_unit;

StationData parsed(const std::string& text, const zonge::Options& options = {}) {
  return zonge::parse(text, "a.avg", options);
}
core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parsed(text); });
}
const StationRow& row_at(const StationData& station, double frequency_hz) {
  for (const StationRow& row : station.rows) {
    if (row.frequency_hz == frequency_hz) return row;
  }
  FAIL("no row at " << frequency_hz << " Hz");
  return station.rows.front();
}

const std::string columns =
    "Skp,Freq,      E.mag,      B.mag,      Z.mag,      Z.phz,   ARes.mag,   "
    "ARes.%err,Z.perr,  Coher,   FC.NUse,FC.NTry\n";

/// A block of one row at 2 Hz.
std::string block(const std::string& name, const std::string& channels, const std::string& azimuths,
                  Complex z, double relative_error) {
  return fmt::format(
      "$Rx.Cmp = {} \n$Rx.Center=311288:4281879:1548.1 m\n$Ch.Cmp={}\n$Ch.Azimuth={}\n{}2,  2,  1, 1, "
      "{:.10E}, "
      "{:.8f}, {:.10E}, {}, {}, *, 8, 16\n",
      name, channels, azimuths, columns, std::abs(z), 1000.0 * std::arg(z), 0.1 * std::norm(z),
      200.0 * relative_error, 500.0 * relative_error);
}
const std::string head =
    " \n$Survey.Type=MT\n$GPS.Lat=38.5\n$GPS.Lon=246.5\n$Unit.B=nT\n$Rx.GdpStn= 22\n"
    "$Stn.Name= \"S 22\"\n$Rx.HPR=11,0,180\n \n";

const Complex zr_xx(1.0, 2.0), zr_xy(30.0, 40.0), zr_yx(-50.0, -60.0), zr_yy(-2.0, 1.0);
const Complex r_xx(0.9, 0.1), r_xy(-0.2, 0.05), r_yx(0.1, 0.0), r_yy(1.1, -0.1);

/// Impedances over the field of a reference, which MTEdit relates to that of the station under two names.
std::string with_reference() {
  return head + block("Zxxr", "Ex,Hxr", "3,0", zr_xx, 0.01) + block("Zxyr", "Ex,Hyr", "3,90", zr_xy, 0.02) +
         block("Zyxr", "Ey,Hxr", "93,0", zr_yx, 0.03) + block("Zyyr", "Ey,Hyr", "93,90", zr_yy, 0.04) +
         block("Rxxr", "Hx,Hxr", "5,0", r_xx, 0.0) + block("Rxxr", "Hx,Hyr", "5,90", r_xy, 0.0) +
         block("Ryxr", "Hy,Hxr", "96,0", r_yx, 0.0) + block("Ryxr", "Hy,Hyr", "96,90", r_yy, 0.0);
}

}  // namespace

TEST_CASE("AVG: the sample has the values of its text in ohm, and ARes.mag follows from them", "[zonge]") {
  // By hand from the text: Z.mag e^{i Z.phz/1000} · 1.2566370614e-3; σ/|Z| from ARes.%err/200, Z.perr/1000.
  const StationData station = zonge::read(sample_path);
  CHECK(station.site.name == "24");
  CHECK(station.site.latitude_deg == 32.83331167);
  CHECK(station.site.longitude_deg == -107.08305667);
  CHECK(std::isnan(station.site.elevation_m));
  CHECK(station.units_in_file == "mV/km/nT");
  CHECK(station.sign_in_file == "+");
  REQUIRE(station.rows.size() == 28);
  const StationRow& row = row_at(station, 64.0);
  CHECK(row.values[Element::zxy].real() == Approx(0.05340927408189259).epsilon(1e-12));
  CHECK(row.values[Element::zxy].imag() == Approx(0.05636306418512277).epsilon(1e-12));
  CHECK(row.values[Element::zyx].imag() == Approx(-0.0646577104605154).epsilon(1e-12));
  CHECK(row.errors[Element::zxy] == Approx(0.0007454290623665928).epsilon(1e-12));
  CHECK(row.errors[Element::zyx] == Approx(0.0006294432208879436).epsilon(1e-12));
  CHECK(row_at(station, 4.0).values[Element::zxx].real() == Approx(-0.004501604645804413).epsilon(1e-12));
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values[Element::zxy], 64.0) ==
        Approx(11.932).epsilon(1e-4));
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values[Element::zyx], 64.0) ==
        Approx(13.939).epsilon(1e-4));
  CHECK(row.azimuths.hx_deg == 0.0);
  CHECK(texts_of(station.remarks) ==
        std::vector<std::string>{sample_path + ":1: 2 values with a skip flag of 0 or 1 are left out"});
}

TEST_CASE("AVG: values with a skip flag of 1 are kept on request, those with 0 never", "[zonge]") {
  const StationData station = zonge::read(sample_path);
  const StationRow& row = row_at(station, 3.125e-2);
  CHECK(row.is_missing(Element::zxy));
  CHECK_FALSE(row.is_missing(Element::zyx));
  const std::string text = text_of_file(sample_path);
  const StationData kept = parsed(text, {.flagged = zonge::Flagged::keep});
  CHECK(std::abs(row_at(kept, 3.125e-2).values[Element::zxy]) == Approx(33.041 * c).epsilon(1e-12));
  CHECK(kept.remarks.empty());
  const StationData none = parsed(replaced(text, "\n1,", "\n0,"), {.flagged = zonge::Flagged::keep});
  CHECK(row_at(none, 3.125e-2).is_missing(Element::zxy));
  CHECK(has_remark(none, "2 values with a skip flag of 0 are left out"));
}

TEST_CASE("AVG: tippers, azimuths of channels, elevation and names with quotes are read", "[zonge]") {
  const std::string text =
      head + block("Zxy", "Ex,Hy", "3,93", {30.0, 40.0}, 0.02) +
      block("Zyx", "Ey,Hx", "95,4", {-50.0, -60.0}, 0.02) + block("Tzx", "Hz,Hx", "0,4", {0.25, -0.5}, 0.1) +
      block("Tzy", "Hz,Hy", "0,93", {0.5, 0.25}, 0.1) + block("Coh", "Hz,Hy", "0,93", {0.5, 0.25}, 0.1);
  const StationData station = parsed(text);
  CHECK(station.site.name == "S 22");
  CHECK(station.site.longitude_deg == -113.5);
  CHECK(station.site.elevation_m == 1548.1);
  REQUIRE(station.rows.size() == 1);
  const StationRow& row = station.rows[0];
  CHECK(row.azimuths.ex_deg == 3.0);
  CHECK(row.azimuths.ey_deg == 95.0);
  CHECK(row.azimuths.hx_deg == 4.0);
  CHECK(row.azimuths.hy_deg == 93.0);
  CHECK(row.azimuths.tipper_hx_deg == 4.0);
  CHECK(row.values[Element::tzx].imag() == Approx(-0.5).epsilon(1e-7));
  CHECK(row.errors[Element::tzy] == Approx(0.1 * std::hypot(0.5, 0.25)).epsilon(1e-7));
  CHECK(has_remark(station, "the component Coh is none of the elements"));
  CHECK(parsed(replaced(text, "$Ch.Azimuth", "$Ch.Other")).rows[0].azimuths.ey_deg == 101.0);
  CHECK(has_remark(parsed(replaced(text, "$Unit.B=nT", "$Unit.B=pT")), "magnetic fields are in pT"));
  CHECK(parsed(replaced(text, "1548.1 m", "1000 ft")).site.elevation_m == Approx(304.8));
  CHECK(has_remark(parsed(replaced(text, "Tzx", "Tzy")), "a second value of Tzy"));
}

TEST_CASE("AVG: impedances over the field of a reference become those of the station", "[zonge]") {
  const StationData station = parsed(with_reference());
  REQUIRE(station.rows.size() == 1);
  const StationRow& row = station.rows[0];
  // Zʳ = Z R: the product of what was read and of R is what stands in the file.
  const auto z = [&](Element element) { return row.values[element] / c; };
  const Complex back_xy = z(Element::zxx) * r_xy + z(Element::zxy) * r_yy;
  const Complex back_yx = z(Element::zyx) * r_xx + z(Element::zyy) * r_yx;
  CHECK(std::abs(back_xy - zr_xy) < 1e-6);
  CHECK(std::abs(back_yx - zr_yx) < 1e-6);
  // Without errors of R: σ²(Zxy) = Σ |A_jy|² σ²(Zʳ_xj) with A = R⁻¹.
  const Complex determinant = r_xx * r_yy - r_xy * r_yx;
  const double expected = std::hypot(std::abs(r_xy / determinant) * 0.01 * std::abs(zr_xx),
                                     std::abs(r_xx / determinant) * 0.02 * std::abs(zr_xy));
  CHECK(std::isnan(row.errors[Element::zxy]));  // R has none here
  const std::string known = replaced(with_reference(), ", 0, 0, *", ", 1e-12, 1e-12, *");
  CHECK(parsed(known).rows[0].errors[Element::zxy] == Approx(expected * c).epsilon(1e-6));
  CHECK(row.azimuths.ex_deg == 3.0);
  CHECK(row.azimuths.hx_deg == 5.0);
  CHECK(row.azimuths.hy_deg == 96.0);
  CHECK(has_remark(station, "they were referred to that of the station"));
  const std::string no_field = with_reference().substr(0, with_reference().find("$Rx.Cmp = Rxxr"));
  CHECK_THAT(refusal(no_field), HasId("no_values", {"Rxxr"}));
  const StationData both = parsed(with_reference() + block("Zxy", "Ex,Hy", "0,90", {7.0, 8.0}, 0.1));
  CHECK(std::abs(both.rows[0].values[Element::zxy] / c - Complex(7.0, 8.0)) < 1e-6);
  CHECK(both.rows[0].is_missing(Element::zyx));
  CHECK(has_remark(both, "components over the field of a reference are left out"));
}

TEST_CASE("AVG: units, polarity and tippers that cannot be are remarked on", "[zonge]") {
  const std::string text = text_of_file(sample_path);
  CHECK(has_remark(parsed(replaced(text, "Z.mag,", "B.mag,").replace(text.find("B.mag,"), 6, "Z.mag,")),
                   "ARes.mag is not Z.mag squared over 5 f"));
  const std::string reversed = replaced(replaced(replaced(text, "Zxy", "Z??"), "Zyx", "Zxy"), "Z??", "Zyx");
  CHECK(has_remark(parsed(reversed), "Zxy and Zyx lie in the quadrants of each other"));
  const std::string tipper = head + block("Tzx", "Hz,Hx", "0,4", {25.0, -0.5}, 0.1);
  CHECK(has_remark(parsed(tipper), "the median modulus of the tipper is 25"));
}

TEST_CASE("AVG: damaged files are refused with file and line", "[zonge]") {
  const std::string text = head + block("Zxy", "Ex,Hy", "3,93", {30.0, 40.0}, 0.02);
  CHECK_THAT(refusal(""), HasId("no_values", {"a.avg"}));
  CHECK_THAT(refusal("hello\n"), HasId("no_table", {"a.avg:1", "hello"}));
  CHECK_THAT(refusal(head + columns + "2, 2, 1\n"), HasId("no_table", {"a.avg:11"}));
  CHECK_THAT(refusal(replaced(text, "Z.mag", "Emag")), HasId("unknown_columns", {"a.avg:14", "Z.mag"}));
  CHECK_THAT(refusal(text.substr(0, text.size() - 9)), HasId("wrong_columns", {"a.avg:15", "12", "10"}));
  CHECK_THAT(refusal(replaced(text, "2,  2,", "2,  two,")), HasId("not_a_number", {"a.avg:15", "two"}));
  CHECK_THAT(refusal(replaced(text, "2,  2,", "2,  0,")), HasId("no_values"));
}

TEST_CASE("AVG: it is told apart by content, described, and read as any survey file", "[zonge][info]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "no_ending", text_of_file(sample_path));
  CHECK(survey::kind_of_file(path) == survey::FileKind::zonge_avg);
  CHECK(survey::read(path)[0].site.name == "24");
  const auto info = info::describe_file(path);
  CHECK(info.format == "Zonge AVG");
  CHECK(info.sites.at(0).n_periods == 28);
  CHECK(info.sites[0].n_masked == 1);
}
