// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/occam2d/data.hpp"
#include "io/survey/kinds.hpp"
#include "physics/mt/selection.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <numbers>
#include <random>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;
using physics::mt::Reading;
using physics::mt::StationData;

namespace {

const std::string head =
    "FORMAT:           OCCAM2MTDATA_1.0\n! a comment\nTITLE:            made by hand: nothing\nSITES:  3\n"
    "  kim 01\n  kim02\n  kim02\nOFFSETS (M):\n  -120.5 0.0\n  310\nFREQUENCIES:  2\n  1.0E+02\n 0.3\n";
const std::string rows =
    "DATA BLOCKS:      8\nSITE  FREQ  TYPE   DATUM    ERROR\n 1 1 1 2.125 0.0434\n 1 1 2 47.25 2.86\n"
    " 1 2 9 100 10\n 2 1 5 1.75 0.05\n 2 1 6 33.125 1.5\n 3 2 3 -0.12 0.02\n 3 2 4 0.03 0.02\n"
    " 3 2 10 1000 50\n";

std::vector<StationData> parse(const std::string& text, const occam2d::Options& options = {}) {
  const TemporaryFolder folder;
  return occam2d::read_data(write_text(folder, "d.dat", text), options);
}

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

Reading reading_of(const StationData& station, Datum datum) {
  const auto found = std::ranges::find(station.readings, datum, &Reading::datum);
  REQUIRE(found != station.readings.end());
  return *found;
}

/// Checks that two files state the same numbers.
void check_same(const std::vector<StationData>& a, const std::vector<StationData>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].site.name == b[i].site.name);
    CHECK(a[i].site.y_m == b[i].site.y_m);
    REQUIRE(a[i].readings.size() == b[i].readings.size());
    for (const Reading& reading : a[i].readings) {
      const auto other = std::ranges::find_if(b[i].readings, [&](const Reading& each) {
        return each.datum == reading.datum && each.frequency_hz == reading.frequency_hz;
      });
      REQUIRE(other != b[i].readings.end());
      CHECK(reading.value == other->value);
      CHECK(reading.sigma == other->sigma);
    }
  }
}

}  // namespace

TEST_CASE("Occam2D: sites, offsets and all types of data", "[occam2d]") {
  const auto stations = parse(head + rows);
  REQUIRE(stations.size() == 3);
  CHECK(stations[0].site.name == "kim 01");
  CHECK(stations[2].site.name == "kim02_2");
  CHECK(stations[0].site.y_m == -120.5);
  CHECK(stations[2].site.y_m == 310.0);
  CHECK(std::isnan(stations[0].site.latitude_deg));
  const Reading te = stations[0].readings.front();
  CHECK(te.datum == Datum::log10_rho_xy);
  CHECK(te.frequency_hz == 100.0);
  CHECK(te.value == 2.125);
  CHECK(te.sigma == 0.0434);
  CHECK(reading_of(stations[0], Datum::phase_xy).value == Approx(47.25 * std::numbers::pi / 180.0));
  const Reading linear = stations[0].readings.back();
  CHECK(linear.frequency_hz == 0.3);
  CHECK(linear.value == Approx(2.0));
  CHECK(linear.sigma == Approx(0.1 / std::numbers::ln10));
  CHECK(reading_of(stations[1], Datum::log10_rho_yx).value == 1.75);
  CHECK(reading_of(stations[1], Datum::phase_yx).value ==
        Approx((33.125 - 180.0) * std::numbers::pi / 180.0));
  CHECK(reading_of(stations[2], Datum::tzy_im).value == 0.03);
  CHECK(reading_of(stations[2], Datum::log10_rho_yx).value == Approx(3.0));
  REQUIRE(stations[0].remarks.size() == 1);  // the time factor of tippers
  const auto minus = parse(head + rows, {physics::mt::TimeFactor::minus});
  CHECK(reading_of(minus[2], Datum::tzy_im).value == -0.03);
  CHECK(reading_of(minus[2], Datum::tzy_re).value == -0.12);
  CHECK(minus[0].remarks.empty());
}

TEST_CASE("Occam2D: writing what was read and reading it again gives the same bits and the same text",
          "[occam2d]") {
  const auto stations = parse(head + rows);
  const std::string text = occam2d::text_of(stated_data(stations), "a title");
  CHECK(text.find("33.125 ") != std::string::npos);  // as it stood, without digits of rounding
  check_same(stations, parse(text));
  CHECK(occam2d::text_of(stated_data(parse(text)), "a title") == text);

  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> phase(-20.0, 110.0);
  std::string many = "DATA BLOCKS: 600\n";
  std::string sites = "SITES: 300\n", offsets = "OFFSETS (M):\n";
  for (int i = 1; i <= 300; ++i) {
    sites += fmt::format("s{}\n", i);
    offsets += fmt::format("{}\n", i * 0.1);
    many += fmt::format("{} 1 2 {} {}\n{} 1 6 {} {}\n", i, phase(random), std::abs(phase(random)), i,
                        phase(random), std::abs(phase(random)));
  }
  const auto long_line =
      parse("FORMAT: OCCAM2MTDATA_2.0\n" + sites + offsets + "FREQUENCIES: 1 0.7\n" + many);
  check_same(long_line, parse(occam2d::text_of(stated_data(long_line), "")));
}

TEST_CASE("Occam2D: wrong counts, missing and negative errors, other types are remarks", "[occam2d]") {
  const auto stations = parse(head + "DATA BLOCKS: 99\n 1 1 1 2.125 -1\n 1 1 2 40\n 1 1 7 1 1\n 1 2 7 1 1\n");
  CHECK(stations[0].readings.size() == 2);
  CHECK(std::isnan(reading_of(stations[0], Datum::log10_rho_xy).sigma));
  CHECK(std::isnan(reading_of(stations[0], Datum::phase_xy).sigma));
  const std::vector<std::string> remarks = texts_of(stations[0].remarks);
  REQUIRE(remarks.size() == 4);
  CHECK(remarks[0].find("99 rows, but 4") != std::string::npos);
  CHECK(remarks[3].find("2 rows of type 7") != std::string::npos);
}

TEST_CASE("Occam2D: errors name the line and what was expected", "[occam2d]") {
  CHECK_THAT(refusal("FORMAT: OCCAM2MTDATA_9.0\n"), HasId("unknown_version", {"d.dat:1"}));
  CHECK_THAT(refusal(head + "SITES: 1\n d\n"), HasId("second_sites", {"d.dat"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 1\n 4 1 1 2 0.1\n"), HasId("not_in_range", {"d.dat:15", "3"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 1\n 1 3 1 2 0.1\n"), HasId("not_in_range", {"d.dat:15", "2"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 1\n 1 1 1 x 0.1\n"), HasId("not_a_number", {"d.dat:15"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 1\n 1 1 1\n"), HasId("wrong_columns", {"3"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 2\n 1 1 1 2 0.1\n 1 1 9 100 1\n"),
             HasId("second_value", {"log10_rho_xy", "kim 01"}));
  CHECK_THAT(refusal(head + "DATA BLOCKS: 1\n 1 1 7 2 0.1\n"), HasId("no_datum"));
  CHECK_THAT(refusal(head + "STATICS: 1\n"), HasId("unknown_entry", {"d.dat:14"}));
  CHECK_THAT(refusal(replaced(head, "OFFSETS (M):\n  -120.5 0.0\n  310\n", "") + rows), HasId("early_table"));
  CHECK_THAT(refusal(replaced(head, " 0.3", " -0.3") + rows), HasId("frequency_not_positive"));
  CHECK_THAT(refusal(replaced(head, "SITES:  3", "SITES:  4") + rows), HasId("unknown_entry"));
  CHECK_THAT(refusal(replaced(head, "  310\n", "  310 320\n") + rows), HasId("too_many", {"3", "4"}));
  CHECK_THAT(refusal(head), HasId("no_datum"));
}

TEST_CASE("Occam2D: data that have no type or no error are refused by the writer", "[occam2d]") {
  auto data = stated_data(parse(head + rows));
  const auto kept = std::ranges::find(data.reason, physics::mt::MaskReason::kept);
  data.sigma[kept - data.reason.begin()] = 0.0;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)occam2d::text_of(data, ""); }), HasId("no_error"));
  data = stated_data(parse(head + rows));
  for (auto& key : data.survey.keys) key.quantity = Datum::zxy_re;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)occam2d::text_of(data, ""); }),
             HasId("no_type", {"zxy_re"}));
  std::ranges::fill(data.reason, physics::mt::MaskReason::listed);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)occam2d::text_of(data, ""); }), HasId("no_datum"));
}

TEST_CASE("Occam2D: files are told apart by their content and described", "[occam2d]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "d.dat", head + rows);
  CHECK(survey::kind_of_file(path) == survey::FileKind::occam2d_data);
  const auto file = info::describe_file(path);
  CHECK(file.status == "ok");
  CHECK(file.format == "Occam2D data");
  REQUIRE(file.sites.size() == 3);
  CHECK(file.sites[0].period_max_s == Approx(1.0 / 0.3));
}
