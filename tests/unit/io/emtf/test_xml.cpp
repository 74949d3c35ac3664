// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/emtf/xml.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using Catch::Matchers::Contains;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::StationData;
using physics::mt::StationRow;

namespace {

constexpr double field = physics::mt::ohm_per_field_unit;
const std::string sample = "tests/data/emtf/NMX20.xml";

std::string sample_text() { return text_of_file(source_path(sample)); }

StationData parse(const std::string& text, const physics::mt::Conventions& chosen = {}) {
  return emtf::parse(text, "a.xml", chosen);
}

std::string replaced_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// A station with one period; `inner` stands in its element Data.
std::string small(const std::string& inner, const std::string& site = "", const std::string& more = "") {
  return "<EM_TF><Site><Id>A1</Id>" + site + "</Site>" + more + "<Data>" + inner + "</Data></EM_TF>";
}
const std::string one_period =
    "<Period value=\"2\" units=\"secs\"><Z units=\"[mV/km]/[nT]\"><value output=\"Ex\" input=\"Hy\">3 "
    "4</value>"
    "<value output=\"Ey\" input=\"Hx\">-5 -6</value></Z></Period>";

}  // namespace

TEST_CASE("EMTF XML: a file of USMTArray has its place, 33 periods, values, and errors of both kinds",
          "[emtf]") {
  CHECK(survey::kind_of_file(source_path(sample)) == survey::FileKind::emtf_xml);
  const StationData station = survey::read(source_path(sample)).front();
  CHECK(station.site.name == "NMX20");
  CHECK(station.site.latitude_deg == 34.470528);
  CHECK(station.site.longitude_deg == -108.712288);
  CHECK(station.site.elevation_m == 1940.05);
  CHECK(station.format == "EMTF XML");
  CHECK(station.sign_in_file == "+");
  CHECK(station.units_in_file == "mV/km/nT");
  CHECK(station.remote_reference == "Robust Multi-Station Reference");
  CHECK_THAT(station.header, Contains("USMTArray-CONUS South campaign") && !Contains("<Period"));
  REQUIRE(station.rows.size() == 33);
  const StationRow& row = station.rows.front();
  CHECK(row.frequency_hz == Approx(1.0 / 4.65455));
  CHECK(row.values[Element::zxy] == Complex(3.143284, 1.101737) * field);
  CHECK(row.values[Element::zyx] == Complex(-2.470717, -0.7784633) * field);
  CHECK(row.values[Element::tzx] == Complex(-0.09386985, 0.006206708));
  CHECK(row.azimuths.hx_deg == 0.0);  // orthogonal axes, whatever the layout says
  // Half of the variance of the file falls on each part; it is that of signal and residuals.
  CHECK(row.errors[Element::zxy] == Approx(std::sqrt(0.5 * 1.790224e-3) * field).epsilon(1e-6));
  CHECK(row.errors[Element::tzy] == Approx(std::sqrt(0.5 * 1.339127e-4)).epsilon(1e-6));
  REQUIRE(row.covariance);
  CHECK((*row.covariance)(0, 3).real() ==
        Approx((Complex(-5.816711e-5, 3.347e-5) * Complex(-0.4293981, 0.1663)).real() * field * field));
  CHECK((*row.covariance)(1, 4) == Complex(0.0, 0.0));  // between Zxy and Tzx the file has none
  CHECK(station.remarks.empty());
}

TEST_CASE("EMTF XML: what is written reads back with the same bits", "[emtf]") {
  const auto comes_back = [](const StationData& station) {
    const physics::mt::Written written = emtf::text_of(station);
    CHECK(written.lost.empty());
    const StationData back = emtf::parse(written.text, "back.xml");
    CHECK(back.site.name == station.site.name);
    CHECK(same_bits(back.site.latitude_deg, station.site.latitude_deg));
    CHECK(same_bits(back.site.longitude_deg, station.site.longitude_deg));
    CHECK(same_bits(back.site.elevation_m, station.site.elevation_m));
    CHECK(back.remote_reference == station.remote_reference);
    REQUIRE(back.rows.size() == station.rows.size());
    for (std::size_t k = 0; k < back.rows.size(); ++k) CHECK(difference(back.rows[k], station.rows[k]) == "");
  };
  comes_back(parse(sample_text()));
  comes_back(
      parse(replaced_all(sample_text(), "angle_to_geographic_north=\"0.000\">orthogonal", ">sitelayout")));
  comes_back(parse(replaced_all(sample_text(), "RESIDCOV", "OTHER")));
  comes_back(parse(replaced_all(sample_text(), "+ i\\omega", "- i\\omega")));
}

TEST_CASE("EMTF XML: the layout of the site has the azimuths of its channels", "[emtf]") {
  const StationData station =
      parse(replaced_all(replaced_all(sample_text(), ">orthogonal", ">sitelayout"),
                         "\"Ey\" orientation=\"99.1\"", "\"Ey\" orientation=\"97.5\""));
  const physics::mt::ChannelAzimuths& at = station.rows.front().azimuths;
  CHECK(at.hx_deg == 9.1);
  CHECK(at.hy_deg == 99.1);
  CHECK(at.tipper_hy_deg == 99.1);
  CHECK(at.ex_deg == 9.1);
  CHECK(at.ey_deg == 97.5);
  CHECK_THAT(emtf::text_of(station).text, Contains("sitelayout") && Contains("orientation=\"97.5\""));
  const StationData turned = parse(replaced_all(sample_text(), "\"0.000\">orthogonal", "\"-30\">orthogonal"));
  CHECK(turned.rows.front().azimuths.ey_deg == 60.0);
  const StationData lacks = parse(small(one_period, "<Orientation>sitelayout</Orientation>"));
  CHECK(has_remark(lacks, "the file lacks"));
  CHECK(has_remark(parse(small(one_period)), "states no orientation"));
}

TEST_CASE("EMTF XML: signs, units, wrappers and spellings of archives are understood", "[emtf]") {
  const std::string minus =
      "<ProcessingInfo><SignConvention>exp(- i\\omega t)</SignConvention></ProcessingInfo>";
  const StationData conjugated = parse(small(one_period, "", minus));
  CHECK(conjugated.sign_in_file == "-");
  CHECK(conjugated.rows[0].values[Element::zxy] == Complex(3.0, -4.0) * field);
  CHECK(parse(small(one_period, "", minus), {.sign = physics::mt::TimeFactor::plus})
            .rows[0]
            .values[Element::zxy] == Complex(3.0, 4.0) * field);
  const StationData ohm = parse(small(replaced_all(one_period, "[mV/km]/[nT]", "[V/m]/[A/m]")));
  CHECK(ohm.rows[0].values[Element::zxy] == Complex(3.0, 4.0));
  const StationData wrapped = parse("<Archive><Item>" + small(one_period) + "</Item></Archive>");
  CHECK(wrapped.rows[0].frequency_hz == 0.5);
  const StationData by_name =
      parse(small(replaced_all(one_period, "output=\"Ex\" input=\"Hy\"", "name=\"Zxy\"")));
  CHECK(by_name.rows[0].values[Element::zxy] == Complex(3.0, 4.0) * field);
  const StationData hertz = parse(small(replaced_all(one_period, "secs", "Hz")));
  CHECK(hertz.rows[0].frequency_hz == 2.0);
  CHECK(parse(small(one_period, "<Location><Elevation units=\"feet\">100</Elevation></Location>"))
            .site.elevation_m == Approx(30.48));
  CHECK(parse(small(one_period, "<Location><Longitude>251.5</Longitude></Location>")).site.longitude_deg ==
        -108.5);
  CHECK(parse("<EM_TF><Data>" + one_period + "</Data></EM_TF>").site.name == "a");
}

TEST_CASE("EMTF XML: what is missing or senseless is left out and said", "[emtf]") {
  const StationData empty = parse(small(replaced_all(one_period, ">3 4<", ">1e32 1e32<")));
  CHECK(empty.rows[0].is_missing(Element::zxy));
  CHECK_FALSE(empty.rows[0].is_missing(Element::zyx));
  const StationData word = parse(small(replaced_all(one_period, ">3 4<", ">3 x<")));
  CHECK(word.rows[0].is_missing(Element::zxy));
  CHECK(has_remark(word, "a.xml:1: expected a number, got \"x\""));
  const std::string variance =
      "<Z.VAR><value output=\"Ex\" input=\"Hy\">-1</value><value output=\"Ey\" "
      "input=\"Hx\">2</value></Z.VAR>";
  const StationData negative = parse(small(replaced_all(one_period, "</Period>", variance + "</Period>")));
  CHECK(std::isnan(negative.rows[0].errors[Element::zxy]));
  CHECK(negative.rows[0].errors[Element::zyx] == field);
  CHECK(has_remark(negative, "1 variances are negative"));
  CHECK(has_remark(parse(small(one_period + one_period)), "1 periods stand twice"));
  CHECK(has_remark(parse(small(one_period + replaced_all(one_period, "\"2\"", "\"0\""))), "left out"));
  const StationData contradicting = parse(replaced_all(sample_text(), ">1.790224e-3<", ">9e-3<"));
  CHECK(has_remark(contradicting, "1 variances differ"));
  CHECK(contradicting.rows.front().errors[Element::zxy] ==
        Approx(std::sqrt(0.5 * 1.790224e-3) * field).epsilon(1e-6));
}

TEST_CASE("EMTF XML: damaged files are refused with their line", "[emtf]") {
  const auto refusal = [](const std::string& text) {
    return error_of<core::FormatError>([&] { static_cast<void>(parse(text)); });
  };
  CHECK_THAT(refusal(sample_text().substr(0, 20000)), HasId("no_xml", {"a.xml:", "cut off"}));
  CHECK_THAT(refusal("<A/>"), HasId("no_root", {"a.xml:1", "<EM_TF>"}));
  CHECK_THAT(refusal("<EM_TF>\n</EM_TF>"), HasId("no_data", {"a.xml:1", "<Data>"}));
  CHECK_THAT(refusal("<EM_TF>\n<Data>\n</Data></EM_TF>"), HasId("no_values", {"a.xml:2", "0 periods"}));
}

TEST_CASE("EMTF XML: what the format cannot hold is named", "[emtf]") {
  StationData station = parse(sample_text());
  station.rows[3] = rotated(station.rows[3], 20.0);
  station.rows[0].values[Element::mxx] = 1.0;
  station.readings.push_back({physics::mt::Datum::phase_xy, 1.0, 0.5, 0.1, {}});
  const physics::mt::Written written = emtf::text_of(station);
  REQUIRE(written.lost.size() == 3);
  CHECK_THAT(written.lost[0], Contains("inter-station"));
  CHECK_THAT(written.lost[2], Contains("turned to 0 degrees"));
  const StationData back = parse(written.text);
  CHECK(std::abs(back.rows[3].values[Element::zxy] - parse(sample_text()).rows[3].values[Element::zxy]) <
        1e-15);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(emtf::text_of({})); }),
             HasId("nothing"));
}
