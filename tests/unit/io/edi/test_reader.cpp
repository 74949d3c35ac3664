// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/reader.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::StationData;

namespace {

constexpr double field = physics::mt::ohm_per_field_unit;

/// Two frequencies, Zxy in the first and Zyx in the third quadrant, with everything a good file has.
const std::string good = R"(>HEAD
DATAID="site 1"
LAT=-23:30:36.0
LONG=17:45:00
ELEV=1400
EMPTY=1.0E+32

>INFO
MAXINFO=10

>=DEFINEMEAS
REFLAT=0:0:0
>HMEAS ID=1.001 CHTYPE=HX X=0.0 Y=0.0 AZM=0.0

>=MTSECT
NFREQ=2
>!****FREQUENCIES****!
>FREQ //2
  1.0E+01  1.0E+02
>ZROT //2
  0.0 0.0
>ZXXR ROT=ZROT //2
  0.5 1.0
>ZXXI ROT=ZROT //2
  0.25 0.5
>ZXX.VAR ROT=ZROT //2
  0.02 0.08
>ZXYR ROT=ZROT //2
  10.0 30.0
>ZXYI ROT=ZROT //2
  11.0 31.0
>ZXY.VAR ROT=ZROT //2
  0.02 0.08
>ZYXR ROT=ZROT //2
  -12.0 -32.0
>ZYXI ROT=ZROT //2
  -13.0 -33.0
>ZYX.VAR ROT=ZROT //2
  0.02 0.08
>ZYYR ROT=ZROT //2
  -0.5 -1.0
>ZYYI ROT=ZROT //2
  -0.25 -0.5
>ZYY.VAR ROT=ZROT //2
  0.02 0.08
>TXR.EXP //2
  0.1 0.2
>TXI.EXP //2
  0.01 0.02
>TXVAR.EXP //2
  0.0002 0.0002
>TYR.EXP //2
  0.3 0.4
>TYI.EXP //2
  0.03 0.04
>TYVAR.EXP //2
  0.0002 0.0002
>END
)";

StationData parse(const std::string& text, const edi::EdiOptions& options = {}) {
  return edi::parse(text, "test.edi", options);
}

/// Returns whether one remark contains all these names and numbers.
bool warns(const StationData& station, const std::vector<std::string>& parts) {
  return std::ranges::any_of(station.remarks, [&](const physics::mt::Remark& remark) {
    return std::ranges::all_of(
        parts, [&](const std::string& part) { return remark.text.find(part) != std::string::npos; });
  });
}

/// EDI files hold impedances and tippers, no inter-station functions.
constexpr std::size_t n_in_file = index_of(Element::mxx);

bool equal_values(const StationData& a, const StationData& b) {
  if (a.rows.size() != b.rows.size()) return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t k = 0; k < n_in_file; ++k) {
      if (a.rows[i].values.numbers[k] != b.rows[i].values.numbers[k] ||
          a.rows[i].errors.numbers[k] != b.rows[i].errors.numbers[k])
        return false;
    }
  }
  return true;
}

core::Error message(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

}  // namespace

TEST_CASE(
    "EDI: a good file gives name, place, values in ohm and errors of each part, highest frequency first",
    "[edi]") {
  const auto s = parse(good);
  CHECK(s.site.name == "site 1");
  CHECK(s.site.latitude_deg == Approx(-23.51));
  CHECK(s.site.longitude_deg == Approx(17.75));
  CHECK(s.site.elevation_m == 1400.0);
  CHECK(s.format == "EDI");
  CHECK(s.sign_in_file == "+");
  CHECK(s.units_in_file == "mV/km/nT");
  CHECK(s.remarks.empty());
  REQUIRE(s.rows.size() == 2);
  CHECK(s.rows[0].frequency_hz == 100.0);
  CHECK(std::abs(s.rows[0].values.numbers[1] - field * Complex(30, 31)) < 1e-15);
  CHECK(std::abs(s.rows[1].values.numbers[2] - field * Complex(-12, -13)) < 1e-15);
  CHECK(s.rows[0].errors.numbers[1] == Approx(field * 0.2));  // √(0.08/2)
  CHECK(s.rows[1].values.numbers[5] == Complex(0.3, 0.03));
  CHECK(s.rows[1].errors.numbers[5] == Approx(0.01));
}

TEST_CASE("EDI: a tipper that is zero everywhere is missing, with a remark", "[edi]") {
  const auto with_tipper = [](const std::string& low, const std::string& high) {
    std::string text = good;
    for (const char* numbers : {"0.1 0.2", "0.01 0.02", "0.3 0.4", "0.03 0.04"})
      text = replaced(text, std::string("\n  ") + numbers + "\n", "\n  " + low + " " + high + "\n");
    return parse(text);
  };
  const auto zero = with_tipper("0.0", "-0.0");
  for (const auto& row : zero.rows) {
    CHECK(row.is_missing(physics::mt::Element::tzx));
    CHECK(row.is_missing(physics::mt::Element::tzy));
  }
  CHECK(zero.remarks.empty());
  CHECK_THAT(zero.zero_tippers,
             Catch::Contains("test.edi:46:") && Catch::Contains("site 1") && Catch::Contains(" 8 "));
  CHECK(texts_of(zero.all_remarks()) == std::vector{zero.zero_tippers});
  const auto half = with_tipper("0.0", "0.5");  // a filler at one frequency only
  CHECK_THAT(half.zero_tippers,
             Catch::Contains("test.edi:46:") && Catch::Contains("exactly 0 at 1 of 2 periods"));
  CHECK(half.rows[1].is_missing(physics::mt::Element::tzy));
  CHECK_FALSE(half.rows[0].is_missing(physics::mt::Element::tzy));
}

TEST_CASE("EDI: the meaning of .VAR is an option", "[edi]") {
  edi::EdiOptions options;
  options.variance = edi::EdiVariance::of_each_part;
  CHECK(parse(good, options).rows[0].errors.numbers[1] == Approx(field * std::sqrt(0.08)));
}

TEST_CASE("EDI: line ends, case, blanks before '>', D exponents and counts written in any way change nothing",
          "[edi]") {
  const auto reference = parse(good);
  CHECK(equal_values(reference, parse(replaced(good, "\n", "\r\n"))));
  CHECK(equal_values(reference, parse(replaced(good, "\n", "\r"))));
  CHECK(equal_values(reference, parse(replaced(good, "\n>", "\n  >"))));
  CHECK(equal_values(reference, parse("\xEF\xBB\xBF" + good)));
  CHECK(equal_values(reference, parse(replaced(replaced(good, "1.0E+01", "1.0D+01"), "1.0E+02", "1.0+002"))));
  CHECK(equal_values(reference, parse(replaced(good, "//2", "// 2"))));
  CHECK(equal_values(reference, parse(replaced(good, "ROT=ZROT", "rot = zrot"))));
  CHECK(equal_values(reference, parse(replaced(good, ">ZXYR", ">zxyr"))));
  CHECK(equal_values(reference, parse(replaced(good, "  10.0 30.0", "\t10.0\n\n 30.0   "))));
  const auto stars = parse(replaced(replaced(good, "//2", "//**"), "NFREQ=2", "NFREQ=**"));
  CHECK(equal_values(reference, stars));
  CHECK(warns(stars, {"test.edi:18:", "\"**\""}));
}

TEST_CASE("EDI: EMPTY in any spelling is missing, never 0", "[edi]") {
  for (const char* empty :
       {"1.0E+32", "1.000000e+032", "-1.0E+32", "NaN", "Inf", "******", "1.#IND", "1e31"}) {
    INFO(empty);
    const auto s = parse(replaced(good, "  10.0 30.0", std::string("  ") + empty + " 30.0"));
    CHECK(s.rows[1].is_missing(static_cast<Element>(1)));
    CHECK_FALSE(s.rows[0].is_missing(static_cast<Element>(1)));
  }
  const auto own =
      parse(replaced(replaced(good, "EMPTY=1.0E+32", "EMPTY=-999"), "  10.0 30.0", "  -999. 30.0"));
  CHECK(own.rows[1].is_missing(static_cast<Element>(1)));
  const auto zeros =
      parse(replaced(replaced(good, "  10.0 30.0", "  0.0 30.0"), "  11.0 31.0", "  0.0 31.0"));
  CHECK(zeros.rows[1].is_missing(static_cast<Element>(1)));
}

TEST_CASE(
    "EDI: missing or senseless variances leave the error open, missing blocks leave their elements missing",
    "[edi]") {
  const auto negative =
      parse(replaced(good, ">ZXY.VAR ROT=ZROT //2\n  0.02 0.08", ">ZXY.VAR ROT=ZROT //2\n  -0.02 0.0"));
  CHECK(std::isnan(negative.rows[0].errors.numbers[1]));
  CHECK(std::isnan(negative.rows[1].errors.numbers[1]));
  CHECK(warns(negative, {"test.edi:32:", "site 1", "zxy 2 of 2", "1 negative", "1 zero"}));
  const auto none = parse(replaced(good, ">ZXY.VAR", ">OTHER"));
  CHECK(std::isnan(none.rows[0].errors.numbers[1]));
  CHECK(warns(none, {"zxy 2 of 2"}));
  const auto nan = parse(
      replaced(replaced(good, ">ZXY.VAR ROT=ZROT //2\n  0.02 0.08", ">ZXY.VAR ROT=ZROT //2\n  nan 0.08"),
               "0.0002 0.0002", "-1 1e32"));
  CHECK(warns(nan, {"zxy 1 of 2", "tx 2 of 2", "1 negative"}));
  CHECK_FALSE(warns(parse(good), {" of 2"}));
  const auto zero = parse(replaced(replaced(replaced(good, "0.5 1.0", "0 0"), "0.25 0.5", "0 0"),
                                   ">ZXX.VAR ROT=ZROT //2\n  0.02 0.08", ">ZXX.VAR ROT=ZROT //2\n  0 0"));
  CHECK_FALSE(warns(zero, {" of 2"}));  // the diagonal of a 2-D model
  CHECK_FALSE(warns(parse(replaced(good, ">ZXX.VAR", ">OTHER")), {" of 2"}));
  CHECK(warns(parse(replaced(good, ">ZXX.VAR ROT=ZROT //2\n  0.02 0.08", ">ZXX.VAR ROT=ZROT //2\n  -1 -1")),
              {"zxx 2 of 2"}));
  const auto half = parse(replaced(good, ">ZXXI", ">OTHER"));
  CHECK(half.rows[0].is_missing(static_cast<Element>(0)));
  CHECK(warns(half, {">ZXXR", ">ZXXI"}));
}

TEST_CASE("EDI: an impedance without a single number is named with its station", "[edi]") {
  const auto s = parse(replaced(good, "  10.0 30.0", "  nan 1e32"));
  CHECK(s.rows[0].is_missing(static_cast<Element>(1)));
  CHECK(warns(s, {"test.edi:28:", "site 1", " 2 ", "zxy"}));
  CHECK_FALSE(warns(s, {"zyx"}));
}

TEST_CASE("EDI: a tipper of zeros is none", "[edi]") {
  auto text = good;
  for (const char* values : {"0.1 0.2", "0.01 0.02", "0.3 0.4", "0.03 0.04"})
    text = replaced(text, values, "0.0 0.0");
  for (const auto& row : parse(text).rows)
    CHECK((row.is_missing(static_cast<Element>(4)) && row.is_missing(static_cast<Element>(5))));
}

TEST_CASE("EDI: without impedances the time factor is assumed, with a remark", "[edi]") {
  std::string tipper_alone = good;
  for (const char* z : {">ZXX", ">ZXY", ">ZYX", ">ZYY"}) tipper_alone = replaced(tipper_alone, z, ">OTHER_");
  CHECK(warns(parse(tipper_alone), {"time factor", "exp(+i omega t)"}));
  CHECK_FALSE(warns(parse(good), {"time factor"}));
  CHECK_FALSE(warns(parse(replaced(tipper_alone, "MAXINFO=10", "exp(-i omega t)")), {"time factor"}));
}

TEST_CASE("EDI: rotation angles are the azimuths of the channels, each frequency has its own", "[edi]") {
  const auto turned = parse(replaced(good, ">ZROT //2\n  0.0 0.0", ">ZROT //2\n  90.0 0.0"));
  CHECK(turned.rows[1].azimuths.ex_deg == 90.0);
  CHECK(turned.rows[1].azimuths.hy_deg == 180.0);
  CHECK(turned.rows[0].azimuths.hx_deg == 0.0);
  CHECK(turned.rows[1].azimuths.tipper_hx_deg == 90.0);  // without TROT the tipper follows ZROT
  CHECK(std::abs(turned.rows[1].values.numbers[1] - field * Complex(10, 11)) < 1e-14);  // as in the file
  // A frame at 90 degrees has x east: Zxy' = -Zyx of the north frame.
  const auto north = rotated(turned.rows[1], 0.0);
  CHECK(std::abs(north.values.numbers[2] - field * Complex(-10, -11)) < 1e-14);
  CHECK(north.values.numbers[4].real() == Approx(-0.3));
  CHECK(warns(turned, {"90 degrees"}));
  const auto own = parse(replaced(good, ">TXR.EXP //2", ">TROT //2\n 30.0 0.0\n>TXR.EXP ROT=TROT //2"));
  CHECK(own.rows[1].azimuths.tipper_hx_deg == 30.0);
  CHECK(own.rows[1].azimuths.hx_deg == 0.0);
  const auto constant = parse(replaced(good, ">ZROT //2\n  0.0 0.0", ">ZROT //2\n  -20.0 -20.0"));
  CHECK(warns(constant, {"test.edi:1:", "(-20 degrees)"}));
  const auto half =
      parse(replaced(replaced(good, ">ZROT //2\n  0.0 0.0", ">ZROT //2\n  -20.0 -20.0"), ">ZXXR", ">OTHER"));
  CHECK(warns(half, {"test.edi:1:", "-20 degrees"}));
  const auto none = parse(
      replaced(replaced(good, ">ZROT //2\n  0.0 0.0", ">ZROT //2\n  90.0 0.0"), "ROT=ZROT", "ROT=NONE"));
  CHECK(none.rows[1].azimuths.hx_deg == 0.0);
  const auto geographic = parse(replaced(replaced(good, ">ZROT //2\n  0.0 0.0", ">ZROT //2\n  347.5 347.5"),
                                         "ELEV=1400", "ELEV=1400\nCOORDINATE_SYSTEM=geographic"));
  CHECK(geographic.rows[1].azimuths.hx_deg == 0.0);
  CHECK(warns(geographic, {"COORDINATE_SYSTEM"}));
}

TEST_CASE(
    "EDI: the time factor is voted on by quadrants unless the file states it, the units by the size of the "
    "impedance",
    "[edi]") {
  std::string frequencies, positive, negative;
  for (int i = 1; i <= 6; ++i) {
    frequencies += std::to_string(i) + " ";
    positive += std::to_string(10 + i) + " ";
    negative += std::to_string(-10 - i) + " ";
  }
  const auto file = [&](const std::string& info, const std::string& xy_imaginary,
                        const std::string& yx_imaginary) {
    return ">HEAD\nDATAID=a\n>INFO\n" + info + "\n>FREQ //6\n" + frequencies + "\n>ZXYR //6\n" + positive +
           "\n>ZXYI //6\n" + xy_imaginary + "\n>ZYXR //6\n" + negative + "\n>ZYXI //6\n" + yx_imaginary +
           "\n>END\n";
  };
  const auto voted = parse(file("", negative, positive));
  CHECK(voted.sign_in_file == "-");
  CHECK(voted.rows[0].values.numbers[1].imag() > 0.0);
  CHECK(warns(voted, {"exp(-i omega t)"}));
  CHECK(parse(file("", positive, negative)).sign_in_file == "+");
  const auto without_xy = [&](const std::string& yx_imaginary) {
    return replaced(replaced(file("", negative, yx_imaginary), ">ZXYR", ">NOTR"), ">ZXYI", ">NOTI");
  };
  CHECK(parse(without_xy(positive)).sign_in_file == "-");  // Zyx votes as Zxy does
  CHECK(parse(without_xy(negative)).sign_in_file == "+");
  CHECK(warns(parse(file("SIGNCONVENTION=exp(-i\\omega t)", positive, negative)), {"exp(-i omega t)"}));
  CHECK(parse(file("", negative, negative)).sign_in_file == "+");  // they contradict each other
  CHECK(parse(file("SIGNCONVENTION=exp(- i\\omega t)", positive, negative)).sign_in_file == "-");
  const auto contradicted = parse(file("SIGNCONVENTION=exp(+ i\\omega t)", negative, positive));
  CHECK(contradicted.sign_in_file == "+");
  CHECK(warns(contradicted, {"exp(+i omega t)", "Zxy", "Zyx"}));
  edi::EdiOptions options;
  options.sign = physics::mt::TimeFactor::plus;
  CHECK(parse(file("", negative, positive), options).rows[0].values.numbers[1].imag() < 0.0);
  auto ohm = replaced(replaced(good, " 10.0 30.0", " 0.010 0.030"), " 11.0 31.0", " 0.011 0.031");
  ohm = replaced(replaced(ohm, "-12.0 -32.0", "-0.012 -0.032"), "-13.0 -33.0", "-0.013 -0.033");
  const auto in_ohm = parse(ohm);
  CHECK(in_ohm.units_in_file == "ohm");
  CHECK(in_ohm.rows[0].values.numbers[1] == Complex(0.030, 0.031));
}

TEST_CASE("EDI: apparent resistivity and phase alone become impedances, folded phases of Zyx are unfolded",
          "[edi]") {
  const std::string text =
      ">HEAD\nDATAID=a\n>FREQ //1\n10\n>RHOXY //1\n100\n>RHOXY.ERR //1\n10\n>PHSXY //1\n45\n>RHOYX "
      "//1\n400\n>PHSYX //1\n30\n>END\n";
  const auto s = parse(text);
  const auto& row = s.rows.at(0);
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values.numbers[1], 10.0) == Approx(100.0));
  CHECK(physics::mt::phase_deg(row.values.numbers[1]) == Approx(45.0));
  CHECK(physics::mt::apparent_resistivity_ohm_m(row.values.numbers[2], 10.0) == Approx(400.0));
  CHECK(physics::mt::phase_deg(row.values.numbers[2]) == Approx(-150.0));
  CHECK(row.errors.numbers[1] / std::abs(row.values.numbers[1]) == Approx(0.05));
  CHECK(row.is_missing(static_cast<Element>(0)));
  CHECK(warns(s, {"test.edi:1:"}));
}

TEST_CASE("EDI: coordinates in all spellings", "[edi]") {
  const auto latitude = [](const std::string& text) {
    return parse(replaced(good, "LAT=-23:30:36.0", "LAT=" + text)).site.latitude_deg;
  };
  CHECK(latitude("-0:30:00") == Approx(-0.5));
  CHECK(latitude("+12:30") == Approx(12.5));
  CHECK(latitude("22:49.423 S") == Approx(-22.82371667));
  CHECK(latitude("00:00: 0.00") == 0.0);
  CHECK(latitude("-23.51") == Approx(-23.51));
  for (const char* text : {"2.5E+01", "2.5e1", "+2.5E+01N", "n 2.5E+01", "2.5D+01", "25:00:00 N"})
    CHECK(latitude(text) == Approx(25.0));
  for (const char* text : {"-2.5E+01", "2.5E+01S", "S2.5e+1"}) CHECK(latitude(text) == Approx(-25.0));
  CHECK(parse(replaced(good, "LONG=17:45:00", "LONG=1.775E+01E")).site.longitude_deg == Approx(17.75));
  CHECK(latitude("10:59:60.0") == Approx(11.0));
  CHECK(std::isnan(latitude("N/A")));
  CHECK(latitude("-23:59:59.9") == Approx(-23.99997222));
  CHECK(latitude("") == 0.0);  // falls back to REFLAT
  CHECK(parse(replaced(good, "LONG=17:45:00", "LONG=342:15:00")).site.longitude_deg == Approx(-17.75));
  CHECK(parse(replaced(good, "ELEV=1400", "ELEV=1000\nUNITS=FT")).site.elevation_m == Approx(304.8));
  CHECK(parse(replaced(good, "DATAID=\"site 1\"", "X=1")).site.name == "test");
}

TEST_CASE(
    "EDI: files that are cut off, binary or hold no transfer function are format errors with file and line",
    "[edi]") {
  CHECK_THAT(message(good.substr(0, good.find(">ZYXI") + 19)),
             HasId("too_few_numbers", {"test.edi:36", "2", ">ZYXI", "0"}));
  CHECK_THAT(message(good.substr(0, good.find(">FREQ"))), HasId("no_frequencies", {">FREQ"}));
  CHECK_THAT(message(good.substr(0, good.find(">FREQ") + 18)),
             HasId("too_few_frequencies", {"test.edi:18", "2"}));
  CHECK_THAT(message(std::string("\x7f"
                                 "ELF\0\1\2",
                                 7)),
             HasId("no_blocks", {"test.edi:1"}));
  CHECK_THAT(message(""), HasId("no_blocks", {"test.edi:1"}));
  CHECK_THAT(message(replaced(good, "10.0 30.0", "10.0 what")),
             HasId("not_a_number", {"test.edi:29", ">ZXYR", "\"what\""}));
  CHECK_THAT(message(">HEAD\n>FREQ //1\n1.0\n>END\n"), HasId("no_values", {"1"}));
  CHECK(warns(parse(replaced(good, ">END\n", "")), {">END"}));
}

TEST_CASE("EDI: repeated blocks, filler and repeated frequencies are left out with a warning", "[edi]") {
  const auto twice = parse(replaced(good, ">END", ">ZXYR //2\n 1.0 1.0\n>END"));
  CHECK(equal_values(parse(good), twice));
  CHECK(warns(twice, {">ZXYR"}));
  const auto same = parse(replaced(good, "1.0E+01  1.0E+02", "1.0E+01  1.0E+01"));
  CHECK(same.rows.size() == 1);
  CHECK(warns(same, {"10 Hz", " 2 times"}));
  const auto filler =
      parse(">HEAD\n>FREQ //3\n10 999. 999.\n>RHOXY //3\n100 1E32 1E32\n>PHSXY //3\n45 1E32 1E32\n>END\n");
  CHECK(filler.rows.size() == 1);
  CHECK(warns(filler, {"999 Hz", "2 times"}));
}

TEST_CASE("EDI: a spectra section gives Z of the channels, by the reference pair where there is one",
          "[edi]") {
  // Channels hx hy hz ex ey from independent unit sources and Z = [[0, 2+1i], [-3-2i, 0]], T = (0.1, 0.2i).
  const Complex z[2][2] = {{0.0, Complex(2, 1)}, {Complex(-3, -2), 0.0}}, t[2] = {0.1, Complex(0, 0.2)};
  Complex c[5][2] = {{1, 0}, {0, 1}, {t[0], t[1]}, {z[0][0], z[0][1]}, {z[1][0], z[1][1]}};
  std::string numbers;
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j) {
      const int low = std::max(i, j), high = std::min(i, j);
      const Complex s = c[low][0] * std::conj(c[high][0]) + c[low][1] * std::conj(c[high][1]);
      numbers += std::to_string(i >= j ? s.real() : s.imag()) + (j == 4 ? "\n" : " ");
    }
  }
  std::string text = ">HEAD\nDATAID=a\n>=DEFINEMEAS\n";
  const char* types[5] = {"HX", "HY", "HZ", "EX", "EY"};
  for (int i = 0; i < 5; ++i)
    text += std::string(i < 3 ? ">HMEAS" : ">EMEAS") + " ID=" + std::to_string(i + 1) +
            ".001 CHTYPE=" + types[i] + "\n";
  text +=
      ">=SPECTRASECT\nNFREQ=1\n// 5\n 1.001 2.001 3.001\n 4.001 5.001\n>SPECTRA FREQ=2.0E+00 ROTSPEC=0 "
      "AVGT=100 // 25\n" +
      numbers + ">END\n";
  edi::EdiOptions options;
  options.units = physics::mt::ImpedanceUnits::field;
  const auto s = parse(text, options);
  REQUIRE(s.rows.size() == 1);
  CHECK(s.rows[0].frequency_hz == 2.0);
  CHECK(warns(s, {"zxy 1 of 1"}));  // sources without noise leave no residual power
  CHECK(std::abs(s.rows[0].values.numbers[1] - field * Complex(2, 1)) < 1e-9);
  CHECK(std::abs(s.rows[0].values.numbers[2] - field * Complex(-3, -2)) < 1e-9);
  CHECK(std::abs(s.rows[0].values.numbers[5] - Complex(0, 0.2)) < 1e-6);
  CHECK_THAT(message(text.substr(0, text.size() - 20)), HasId("wrong_spectra", {"25", ">SPECTRA"}));
}

namespace {

using Spectra = Eigen::Matrix<Complex, 7, 7>;  // hx hy hz ex ey rx ry

/// Returns spectra of random fields over an earth of some Z and T, with noise in all outputs.
Spectra noisy_spectra() {
  Eigen::Matrix<Complex, 7, 40> c;
  std::uint64_t state = 12345;
  const auto next = [&state] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state >> 11U) / 9007199254740992.0 - 0.5;
  };
  Eigen::Matrix<Complex, 3, 2> f{
      {0.1, Complex(0, 0.2)}, {Complex(1, 2), Complex(20, 10)}, {Complex(-30, -20), -2.0}};
  for (int t = 0; t < 40; ++t) {
    const Eigen::Vector2cd h(Complex(next(), next()), Complex(next(), next()));
    const Eigen::Vector3cd noise(Complex(next(), next()), Complex(next(), next()), Complex(next(), next()));
    c.col(t).head(2) = h;
    c.col(t).segment(2, 3) =
        f * h + Eigen::Vector3cd(0.05 * noise[0], noise[1] + noise[0], 2.0 * noise[2] - noise[1]);
    c.col(t).tail(2) = h;
  }
  return c * c.adjoint() / 40.0;
}

/// The spectra of channels that are linear combinations of these.
Spectra combined(const Spectra& s, const Eigen::Matrix<Complex, 7, 7>& m) { return m * s * m.adjoint(); }

/// Returns all field channels turned to this azimuth.
Spectra turned(const Spectra& s, double azimuth_deg) {
  const double a = azimuth_deg / physics::mt::deg_per_rad;
  const Eigen::Matrix2cd r{{std::cos(a), std::sin(a)}, {-std::sin(a), std::cos(a)}};
  Eigen::Matrix<Complex, 7, 7> m = Eigen::Matrix<Complex, 7, 7>::Identity();
  for (const int first : {0, 3, 5}) m.block<2, 2>(first, first) = r;
  return combined(s, m);
}

std::string spectra_text(const Spectra& s, double rotation_deg, bool remote) {
  const int n = remote ? 7 : 5;
  const char* types[7] = {"HX", "HY", "HZ", "EX", "EY", "RX", "RY"};
  std::string text = ">HEAD\nDATAID=a\n>=DEFINEMEAS\n", ids, numbers;
  for (int i = 0; i < n; ++i) {
    text += fmt::format("{} ID={}.001 CHTYPE={}\n", i == 3 || i == 4 ? ">EMEAS" : ">HMEAS", i + 1, types[i]);
    ids += fmt::format(" {}.001", i + 1);
    for (int j = 0; j < n; ++j) numbers += fmt::format(" {:.17g}", i >= j ? s(i, j).real() : s(j, i).imag());
    numbers += "\n";
  }
  return text +
         fmt::format(
             ">=SPECTRASECT\nNFREQ=1\n// {}\n{}\n>SPECTRA FREQ=2.0 ROTSPEC={} AVGT=100 // {}\n{}>END\n", n,
             ids, rotation_deg, n * n, numbers);
}

StationData parse_spectra(const Spectra& s, double rotation_deg, bool remote) {
  edi::EdiOptions options;
  options.units = physics::mt::ImpedanceUnits::field;
  options.sign = physics::mt::TimeFactor::plus;
  return parse(spectra_text(s, rotation_deg, remote), options);
}

physics::mt::Observations selected_at(const StationData& station, double strike_deg) {
  physics::mt::Selection selection;
  for (const char* name : {"log10_rho_xy", "phase_xy", "zyx_re", "tzy_re", "tzx_im", "phase_det"})
    selection.data.push_back(physics::mt::datum_from(name));
  selection.strike_deg = strike_deg;
  selection.floors.clear();
  selection.min_phase_deg = -1e3;
  selection.max_phase_deg = 1e3;
  return select({station}, physics::mt::profile_along({0.0}), selection);
}

}  // namespace

TEST_CASE("EDI: errors of spectra rotate with the covariance of all elements", "[edi]") {
  const Spectra s = noisy_spectra();
  for (const bool remote : {false, true}) {
    const StationData north = parse_spectra(s, 0.0, remote),
                      slanted = parse_spectra(turned(s, 33.0), 33.0, remote);
    REQUIRE(north.rows[0].covariance);
    CHECK(slanted.rows[0].azimuths.hx_deg == 33.0);
    for (const double strike_deg : {0.0, 33.0, -20.0}) {
      const auto a = selected_at(north, strike_deg), b = selected_at(slanted, strike_deg);
      for (Eigen::Index k = 0; k < a.value.size(); ++k) {
        INFO(remote << " " << strike_deg << " " << k);
        CHECK(b.value[k] == Approx(a.value[k]).epsilon(1e-10));
        CHECK(b.sigma[k] == Approx(a.sigma[k]).epsilon(1e-10));
      }
    }
    // Independent errors differ by far more than rounding.
    StationData independent = north;
    independent.rows[0].covariance.reset();
    const double ratio = selected_at(independent, 33.0).sigma[2] / selected_at(north, 33.0).sigma[2];
    CHECK(std::abs(ratio - 1.0) > 0.05);
  }
}

TEST_CASE("EDI: a reference that is any mixture of the local field gives the errors of the local field",
          "[edi]") {
  const Spectra s = noisy_spectra();
  Eigen::Matrix<Complex, 7, 7> m = Eigen::Matrix<Complex, 7, 7>::Identity();
  m.block<2, 2>(5, 5) = Eigen::Matrix2cd{{1.0, Complex(0, 2)}, {0.1, 0.5}};
  const StationData local = parse_spectra(s, 0.0, false), mixed = parse_spectra(combined(s, m), 0.0, true);
  CHECK(local.remote_reference.empty());
  CHECK(mixed.remote_reference == "channels 6.001 and 7.001");
  const auto &a = local.rows[0], &b = mixed.rows[0];
  CHECK((*a.covariance - *b.covariance).cwiseAbs().maxCoeff() < 1e-10 * a.covariance->cwiseAbs().maxCoeff());
  for (std::size_t k = 0; k < n_in_file; ++k) {
    CHECK(std::abs(b.values.numbers[k] - a.values.numbers[k]) <
          1e-10 * std::abs(a.values.numbers[2]) + 1e-12);
    CHECK(b.errors.numbers[k] == Approx(a.errors.numbers[k]).epsilon(1e-9));
  }
  // σ² of Zxy by the definition: residual power times inverse signal power, half on each part.
  const Eigen::Matrix2cd hh = s.topLeftCorner<2, 2>();
  const Eigen::RowVector2cd z = s.block<1, 2>(3, 0) * hh.inverse();
  const double residual = (s(3, 3) - (z * s.block<1, 2>(3, 0).adjoint())(0)).real();
  CHECK(a.errors.numbers[1] ==
        Approx(field * std::sqrt(0.5 * residual * hh.inverse()(1, 1).real() / 100.0)).epsilon(1e-9));
}

TEST_CASE("EDI: real files read as an independent reader reads them", "[edi]") {
  const auto kim = edi::read(source_path("data/samtex/edi_kim_eto/SAMTEX.kim438.2004.edi"));
  CHECK(kim.site.name == "kim438");
  CHECK(kim.site.latitude_deg == Approx(-23.236867));
  CHECK(kim.rows.size() == 80);
  CHECK(std::abs(kim.rows[0].values.numbers[1] - field * Complex(566.451, 166.966)) < 1e-9);
  CHECK(kim.rows[0].errors.numbers[1] == Approx(field * std::sqrt(0.00186171 / 2.0)));
  const auto many = edi::read(source_path("tests/data/edi/SAMTEX.ELG002A.2008.edi"));
  CHECK(many.rows.size() > 99);
  CHECK(warns(many, {"\"**\""}));
  const auto gabbs = edi::read(source_path("tests/data/edi/gv100.edi"));
  CHECK(gabbs.site.latitude_deg == Approx(38.611381).epsilon(1e-7));
  CHECK(gabbs.rows.size() == 48);
  const auto row = std::find_if(gabbs.rows.begin(), gabbs.rows.end(),
                                [](const auto& r) { return std::abs(r.frequency_hz - 0.526127) < 1e-6; });
  REQUIRE(row != gabbs.rows.end());
  CHECK(std::abs(row->values.numbers[1] - field * Complex(6.40479, 6.51993)) < 1e-7);
}

TEST_CASE("EDI: minutes and seconds of an angle are below 60", "[edi]") {
  const auto refusal = [](const std::string& before, const std::string& after) {
    return error_of<core::FormatError>([&] { (void)parse(replaced(good, before, after)); });
  };
  CHECK_THAT(refusal("LAT=-23:30:36.0", "LAT=-23:60:36.0"),
             HasId("wrong_angle", {"test.edi:3:", "latitude", "-23:60:36.0"}));
  CHECK_THAT(refusal("LAT=-23:30:36.0", "LAT=-23:30:75.0"), HasId("wrong_angle", {"test.edi:3:"}));
  CHECK_THAT(refusal("LONG=17:45:00", "LONG=17:99"),
             HasId("wrong_angle", {"test.edi:4:", "longitude", "17:99"}));
}

TEST_CASE("EDI: names of any encoding become UTF-8 without control characters, and have a bound", "[edi]") {
  const auto name = [](const std::string& given) {
    return parse(replaced(good, "\"site 1\"", "\"" + given + "\"")).site.name;
  };
  CHECK(name("M\xFCnchen") == "München");
  CHECK(name("München") == "München");
  CHECK(name("a\x1B[31m\tb") == "a [31m b");
  CHECK_THAT(error_of<core::FormatError>([&] { (void)name(std::string(1000, 'n')); }),
             HasId("long_name", {"test.edi:2:", "128", "1000"}));
}

TEST_CASE("EDI: a remark on a place, a length or a frequency names the line that states it", "[edi]") {
  CHECK(warns(parse(replaced(good, "LAT=-23:30:36.0", "LAT=99:00:00")), {"test.edi:3:", "99:00:00"}));
  CHECK(warns(parse(replaced(good, "LONG=17:45:00", "LONG=east")), {"test.edi:4:", "east"}));
  CHECK(warns(parse(replaced(good, "ELEV=1400", "ELEV=1e7")), {"test.edi:5:", "1e7"}));
  CHECK(warns(parse(replaced(good, "ELEV=1400", "UNITS=PARSEC\nELEV=1400")), {"test.edi:5:", "PARSEC"}));
  CHECK(parse(replaced(good, "ELEV=1400", "UNITS=m\nELEV=1400")).remarks.empty());
  CHECK(parse(replaced(good, "ELEV=1400", "UNITS=FEET\nELEV=1000")).site.elevation_m == Approx(304.8));
  const std::string split = replaced(good, "  1.0E+01  1.0E+02", "  1.0E+01\n  1.0E+12");
  CHECK(warns(parse(split), {"test.edi:20:", "1 frequencies"}));
  CHECK(warns(parse(replaced(good, "1.0E+01  1.0E+02", "1.0E+01\n 10")), {"test.edi:19:", "2 times"}));
}
