// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/reader.hpp"
#include "io/info/info.hpp"
#include "io/survey/read.hpp"
#include "io/zfile/zfile.hpp"
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

const std::string sample_path = source_path("tests/data/zfile/tf_zmm.zmm");
const std::string tipper_path = source_path("tests/data/zfile/tf_zss_tipper.zss");

StationData parsed(const std::string& text, const zfile::Options& options = {}) {
  return zfile::parse(text, "a.zmm", options);
}
core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parsed(text); });
}

/// Two periods with seven channels of two stations, whose azimuths are those of no frame.
const std::string many =
    " TRANSFER FUNCTIONS IN MEASUREMENT COORDINATES\n ********** WITH FULL ERROR COVARIANCE*********\n"
    "Robust Remote Reference\nstation    :abc remote xyz\n"
    "coordinate    44.5   249.5 declination    11.00\n"
    "number of channels   7   number of frequencies   2\n orientations and tilts of each channel \n"
    "    1     3.00     0.00 abc  Hx\n    2    92.00     2.50 abc  Hy\n    3     0.00    90.00 abc  Hz\n"
    "    4     5.00     0.00 abc  Ex\n    5    85.00     0.00 abc  Ey\n    6     0.00     0.00 xyz  Hx\n"
    "    7    90.00     0.00 xyz  Hy\n\n"
    "period :      0.25000    decimation level   1    freq. band from   25 to   30\n"
    "number of data point   2489 sampling freq.   1.000 Hz\n Transfer Functions\n"
    "  0.1000E+00-0.2000E+00-0.3000E+00-0.4000E+00\n"
    "  0.1000E+01  0.2000E+01  0.3000E+01  0.4000E+01\n"
    " -0.5000E+01 -0.6000E+01 -0.7000E+01  0.1000E+33\n"
    "  0.1000E+01  0.0000E+00  0.0000E+00  0.0000E+00\n"
    "  0.0000E+00  0.0000E+00  0.1000E+01  0.0000E+00\n"
    " Inverse Coherent Signal Power Matrix\n  0.2000E+01  0.0000E+00\n  0.1000E+00 -0.3000E+00  0.8000E+01  "
    "0.0000E+00\n"
    " Residual Covariance\n  0.1000E-01  0.0000E+00\n  0.2000E-01  0.3000E-01  0.9000E+01  0.0000E+00\n"
    "  0.4000E-01  0.5000E-01  0.6000E+00  0.7000E+00  0.1600E+02  0.0000E+00\n"
    "  0.1000E+00  0.0000E+00  0.1000E+00  0.0000E+00  0.1000E+00  0.0000E+00  0.1000E+01  0.0000E+00\n"
    "  0.1000E+00  0.0000E+00  0.1000E+00  0.0000E+00  0.1000E+00  0.0000E+00\n"
    "  0.1000E+00  0.0000E+00  0.1000E+01  0.0000E+00\n"
    "period :      0.50000    decimation level   1    freq. band from   25 to   30\n"
    "number of data point   2489 sampling freq.   1.000 Hz\n Transfer Functions\n"
    "  1 2 3 4\n 5 6 7 8\n -9 -10 -11 -12\n 1 0 0 0\n 0 0 1 0\n"
    " Inverse Coherent Signal Power Matrix\n 1 0\n 0 0 1 0\n Residual Covariance\n"
    " 1 0\n 0 0 0 0\n 0 0 0 0 1 0\n 0 0 0 0 0 0 1 0\n 0 0 0 0 0 0 0 0 1 0\n";

}  // namespace

TEST_CASE("Z-file: the sample has the values of its text in ohm", "[zfile]") {
  // By hand from the text of the file: 1.2566370614e-3 ohm per mV/km/nT, σ² = N_ii S_jj / 2.
  const StationData station = zfile::read(sample_path);
  CHECK(station.site.name == "300");
  CHECK(station.site.latitude_deg == 34.727);
  CHECK(station.site.longitude_deg == -115.735);
  CHECK(station.format == "Z-file");
  REQUIRE(station.rows.size() == 38);
  const StationRow& row = station.rows.front();
  CHECK(row.frequency_hz == 1.0 / 1.16364);
  CHECK(row.values[Element::zxy].real() == Approx(0.02170212205099829).epsilon(1e-14));
  CHECK(row.values[Element::zxy].imag() == Approx(0.015984423421464868).epsilon(1e-14));
  CHECK(row.values[Element::zyx].real() == Approx(-51.59 * 4e-4 * std::numbers::pi).epsilon(1e-14));
  CHECK(row.values[Element::tzx] == Complex(0.2587, -0.1862));
  CHECK(row.errors[Element::zxy] == Approx(0.0012850968050380927).epsilon(1e-12));
  CHECK(row.errors[Element::zyx] == Approx(0.0017122425857907712).epsilon(1e-12));
  CHECK(row.errors[Element::tzx] == Approx(0.02711498847501138).epsilon(1e-12));
  const Complex covariance = (*row.covariance)(2, 1);  // of Zyx and Zxy
  CHECK(covariance.real() == Approx(-1.042782043022353e-06).epsilon(1e-12));
  CHECK(covariance.imag() == Approx(-1.4200734222362302e-08).epsilon(1e-9));
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values[Element::zxy], row.frequency_hz) ==
        Approx(107.06681894640003).epsilon(1e-6));
  CHECK(station.rows[17].errors[Element::zxy] == Approx(7.96353026065067e-06).epsilon(1e-12));
  CHECK(row.azimuths.ey_deg == 90.0);
  CHECK(has_remark(station,
                   "tf_zmm.zmm:7: azimuths are taken from geographic north; the declination of 13.1 "
                   "degrees is not added"));
}

TEST_CASE("Z-file: azimuths count from the declination where the file says so or an option does", "[zfile]") {
  using zfile::ZDeclination;
  const std::string text = text_of_file(tipper_path);
  const StationData stated = parsed(text);
  CHECK(stated.site.name == "YSW212abcdefghijkl");
  CHECK(stated.site.longitude_deg == 249.560 - 360.0);
  CHECK(stated.rows.size() == 44);
  CHECK(stated.rows.front().azimuths.tipper_hx_deg == 11.18);
  CHECK(stated.rows.front().azimuths.tipper_hy_deg == 90.0 + 11.18);
  CHECK(stated.rows.front().is_missing(Element::zxy));
  CHECK(stated.rows.front().values[Element::tzy] == Complex(0.05996, 0.03177));
  CHECK(has_remark(stated, "azimuths are stated from magnetic north; the declination of 11.18"));
  const StationData ignored = parsed(text, {.declination = ZDeclination::ignore});
  CHECK(ignored.rows.front().azimuths.tipper_hx_deg == 0.0);
  CHECK(has_remark(ignored, "although the file says"));
  CHECK(zfile::read(sample_path, {.declination = ZDeclination::add}).rows[0].azimuths.ex_deg == 13.1);
  CHECK(parsed(replaced(text, "declination    11.18", "declination    0.00")).remarks.empty());
}

TEST_CASE("Z-file: of many channels those of the station of the inputs are read, each with its azimuth",
          "[zfile]") {
  const StationData station = parsed(many);
  CHECK(station.site.name == "abc");
  CHECK(station.remote_reference == "xyz");
  REQUIRE(station.rows.size() == 2);
  const StationRow& row = station.rows[0];
  CHECK(row.frequency_hz == 4.0);
  CHECK(row.azimuths.hx_deg == 3.0);
  CHECK(row.azimuths.tipper_hy_deg == 92.0);
  CHECK(row.azimuths.ex_deg == 5.0);
  CHECK(row.azimuths.ey_deg == 85.0);
  CHECK(row.values[Element::tzx] == Complex(0.1, -0.2));  // numbers that touch
  CHECK(row.values[Element::tzy] == Complex(-0.3, -0.4));
  CHECK(row.values[Element::zxy] == Complex(3.0, 4.0) * physics::mt::ohm_per_field_unit);
  CHECK(row.values[Element::zyx] == Complex(-5.0, -6.0) * physics::mt::ohm_per_field_unit);
  CHECK(row.is_missing(Element::zyy));
  const auto& s = row.estimates->inverse_signal;
  CHECK(s(1, 0) == Complex(0.1, -0.3));
  CHECK(s(0, 1) == Complex(0.1, 0.3));
  const auto& n = row.estimates->noise;  // Ex, Ey, Hz
  const double c = physics::mt::ohm_per_field_unit;
  CHECK(n(2, 2) == Complex(0.01, 0.0));
  CHECK(n(0, 2) == Complex(0.02, 0.03) * c);
  CHECK(n(2, 0) == Complex(0.02, -0.03) * c);
  CHECK(n(1, 0).real() == Approx(0.6 * c * c));
  CHECK(row.errors[Element::zyx] == Approx(std::sqrt(0.5 * 16.0 * 2.0) * c));
  CHECK(has_remark(station, "other channels are left out: xyz Hx, xyz Hy"));
  CHECK(has_remark(station, "channel Hy is tilted by 2.5 degrees"));
  // A noise of 0 is none: the error of Ex is not known.
  CHECK(std::isnan(station.rows[1].errors[Element::zxy]));
  CHECK(station.rows[1].errors[Element::zyx] > 0.0);
}

TEST_CASE("Z-file: outputs of another station, swapped inputs, wrong places and wrong counts are seen",
          "[zfile]") {
  const StationData other = parsed(replaced(replaced(many, "abc  Hx", "zzz  Hx"), "abc  Hy", "zzz  Hy"));
  CHECK(has_remark(other, "the outputs of station abc are referred to Hx and Hy of station zzz"));
  CHECK(other.rows[0].values[Element::tzy] == Complex(-0.3, -0.4));
  const StationData swapped = parsed(
      replaced(replaced(replaced(many, "abc  Hx", "abc  H?"), "abc  Hy", "abc  Hx"), "abc  H?", "abc  Hy"));
  CHECK(swapped.rows[0].values[Element::tzx] == Complex(-0.3, -0.4));
  CHECK(swapped.rows[0].estimates->inverse_signal(0, 0) == Complex(8.0, 0.0));
  CHECK(swapped.rows[0].estimates->inverse_signal(1, 0) == Complex(0.1, 0.3));
  CHECK(swapped.rows[0].azimuths.hx_deg == 92.0);
  const StationData nowhere = parsed(replaced(many, "44.5   249.5", "1007.996 0.0"));
  CHECK(std::isnan(nowhere.site.latitude_deg));
  CHECK(has_remark(nowhere, "a.zmm:5: \"1007.996\" and \"0.0\" are no latitude and longitude"));
  CHECK(has_remark(parsed(replaced(many, "frequencies   2", "frequencies   1")), "announces 1 periods"));
  CHECK(has_remark(parsed(replaced(many, "0.50000", "0.25000")), "stands twice"));
  CHECK(has_remark(parsed(replaced(many, "MEASUREMENT", "ROTATED")), "in the directions of the channels"));
  CHECK(parsed(replaced(many, "\n", "\r\n")).rows.size() == 2);
}

TEST_CASE("Z-file: of two coordinates of which one is impossible the other stays", "[zfile]") {
  const StationData exchanged = parsed(replaced(many, "44.5   249.5", "-110.5   44.5"));
  CHECK(std::isnan(exchanged.site.latitude_deg));
  CHECK(exchanged.site.longitude_deg == 44.5);
  CHECK(exchanged.remarks.front().kind == physics::mt::RemarkKind::impossible_latitude);
}

TEST_CASE("Z-file: damaged files are refused with file and line", "[zfile]") {
  CHECK_THAT(refusal(""), HasId("cut_off", {"a.zmm", "coordinate"}));
  CHECK_THAT(refusal("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), HasId("not_a_z_file", {"a.zmm:9"}));
  CHECK_THAT(refusal(replaced(many, "44.5   249.5", "44.5")), HasId("wrong_coordinate", {"a.zmm:5"}));
  CHECK_THAT(refusal(replaced(many, "channels   7", "channels")), HasId("wrong_counts", {"a.zmm:6"}));
  CHECK_THAT(refusal(replaced(many, "orientations", "directions")), HasId("no_orientations", {"a.zmm:7"}));
  CHECK_THAT(refusal(replaced(many, "0.00 abc  Hx", "0.00")), HasId("wrong_channel", {"a.zmm:8"}));
  CHECK_THAT(refusal(replaced(many, "abc  Hx", "abc  Q1")), HasId("wrong_inputs", {"Q1", "Hy"}));
  CHECK_THAT(refusal(replaced(many, "frequencies   2", "frequencies   3")),
             HasId("cut_off", {"a.zmm", "period 3 of 3"}));
  CHECK_THAT(refusal(replaced(many, " Inverse", " Reverse")), HasId("no_heading", {"a.zmm:24", "Reverse"}));
  CHECK_THAT(refusal(replaced(many, "0.6000E+00  0.7000E+00", "0.6000E+00")),
             HasId("not_a_number", {"a.zmm:34", "period"}));
  CHECK_THAT(refusal(replaced(many, "1 2 3 4\n", "1 2 3 4 5\n")), HasId("too_many_numbers", {"a.zmm:41"}));
  CHECK_THAT(refusal(many.substr(0, many.find(" Residual"))), HasId("cut_off", {"Residual Covariance"}));
  CHECK_THAT(refusal(many.substr(0, many.rfind(" 0 0 0 0 0 0 1 0"))), HasId("cut_off", {"residual"}));
}

TEST_CASE("Z-file: what is read, written and read again has the same bits", "[zfile]") {
  for (const std::string& text : {text_of_file(sample_path), text_of_file(tipper_path), many}) {
    const StationData first = parsed(text);
    const physics::mt::Written written = zfile::text_of(first);
    const StationData second = parsed(written.text);
    CHECK(written.lost.empty());
    check_same_station(first, second);
    check_same_station(second, parsed(zfile::text_of(second).text));
  }
}

TEST_CASE("Z-file: errors of an EDI file come back where one number of each output can hold them",
          "[zfile]") {
  const StationData edi = edi::read(source_path("data/samtex/edi_kim_eto/SAMTEX.kim438.2004.edi"));
  const physics::mt::Written written = zfile::text_of(edi);
  CHECK(written.lost == std::vector<std::string>{
                            "elevation", "errors of single elements (signal and noise were fitted to them)",
                            "last bit of some frequencies"});
  const StationData back = parsed(written.text);
  REQUIRE(back.rows.size() == edi.rows.size());
  for (std::size_t i = 0; i < back.rows.size(); ++i) {
    const auto &now = back.rows[i], &was = edi.rows[i];
    for (const Element element : {Element::zxx, Element::zxy, Element::zyx, Element::zyy})
      CHECK(same_number(now.values[element], was.values[element]));
    CHECK(now.errors[Element::zxy] == Approx(was.errors[Element::zxy]).epsilon(1e-12));
    CHECK(now.errors[Element::zyx] == Approx(was.errors[Element::zyx]).epsilon(1e-12));
    // One ratio for both outputs: the geometric mean of theirs.
    CHECK(now.errors[Element::zxx] / now.errors[Element::zxy] ==
          Approx(std::sqrt(was.errors[Element::zxx] / was.errors[Element::zxy] * was.errors[Element::zyx] /
                           was.errors[Element::zyy])));
  }
  StationData even = edi;
  double period_s = 0.0;
  for (StationRow& row : even.rows) {
    row.frequency_hz = 1.0 / ++period_s;
    row.errors[Element::zxx] = row.errors[Element::zxy];
    row.errors[Element::zyy] = row.errors[Element::zyx];
  }
  const physics::mt::Written of_even = zfile::text_of(even);
  const StationData again = parsed(of_even.text);
  CHECK(of_even.lost == std::vector<std::string>{"elevation"});
  REQUIRE(again.rows.size() == even.rows.size());
  for (std::size_t i = 0; i < even.rows.size(); ++i) {
    for (const Element element : {Element::zxx, Element::zxy, Element::zyx, Element::zyy})
      CHECK(again.rows[i].errors[element] == Approx(even.rows[i].errors[element]).epsilon(1e-14));
  }
}

TEST_CASE("Z-file: what a Z-file cannot hold is said, and rows of other frames are rotated", "[zfile]") {
  StationData station = parsed(many);
  station.rows[1].azimuths = physics::mt::ChannelAzimuths::along(30.0);
  station.rows[0].values[Element::mxx] = 1.0;
  station.site.elevation_m = 12.0;
  station.readings.push_back({physics::mt::Datum::phase_xy, 1.0, 0.5, 0.1, {}});
  const auto [text, lost] = zfile::text_of(station);
  const StationData back = parsed(text);
  REQUIRE(lost.size() == 4);
  CHECK(lost[0] == "inter-station transfer functions");
  CHECK(lost[1] == "data other than impedances and tippers");
  CHECK(lost[2] == "elevation");
  CHECK_THAT(lost[3], Catch::Contains("turned to 3 degrees"));
  const StationRow expected = rotated(station.rows[1], 3.0);
  CHECK(std::abs(back.rows[1].values[Element::zxy] - expected.values[Element::zxy]) < 1e-15);
  CHECK(back.rows[1].azimuths.ex_deg == 3.0);
  StationData empty = station;
  for (StationRow& row : empty.rows) row.values = StationRow::missing_values();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)zfile::text_of(empty); }),
             HasId("nothing_to_write", {"abc"}));
}

TEST_CASE("Z-file: it is told apart by content, described, and read as any survey file", "[zfile][info]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "no_ending", many);
  CHECK(survey::kind_of_file(path) == survey::FileKind::z_file);
  CHECK(survey::read(path)[0].site.name == "abc");
  const auto info = info::describe_file(sample_path);
  CHECK(info.format == "Z-file");
  CHECK(info.sites.at(0).n_periods == 38);
  CHECK(info.sites[0].components == std::vector<std::string>{"zxx", "zxy", "zyx", "zyy", "tx", "ty"});
  CHECK(info.sites[0].units == "mV/km/nT");
}
