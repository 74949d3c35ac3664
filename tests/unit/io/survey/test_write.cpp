// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "io/survey/rows_csv.hpp"
#include "io/survey/write.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using Catch::Matchers::Contains;
using physics::mt::StationData;
using physics::mt::StationRow;
using survey::WriteFormat;

namespace {

std::vector<StationData> gabbs() { return survey::read_folder(source_path("data/gabbs_valley/edi")); }

/// Checks values, errors and frames of rows, and the places of stations.
void same_rows(const std::vector<StationData>& a, const std::vector<StationData>& b, bool by_period) {
  REQUIRE(a.size() == b.size());
  for (const StationData& station : a) {
    const auto other =
        std::ranges::find(b, station.site.name, [](const StationData& s) { return s.site.name; });
    REQUIRE(other != b.end());
    INFO(station.site.name);
    CHECK(same_number(station.site.latitude_deg, other->site.latitude_deg));
    CHECK(same_number(station.site.elevation_m, other->site.elevation_m));
    REQUIRE(station.rows.size() == other->rows.size());
    for (std::size_t k = 0; k < station.rows.size(); ++k) {
      // Formats of periods hold a frequency, or the one beside it in the last bit.
      CHECK(std::abs(station.rows[k].frequency_hz / other->rows[k].frequency_hz - 1.0) < 3e-16);
      StationRow same_frequency = other->rows[k];
      if (by_period) same_frequency.frequency_hz = station.rows[k].frequency_hz;
      CHECK(difference(station.rows[k], same_frequency) == "");
    }
  }
}

}  // namespace

TEST_CASE("writing: a survey goes through every format of rows and comes back with the same bits",
          "[survey]") {
  const TemporaryFolder folder;
  const std::vector<StationData> stations = gabbs();
  REQUIRE(stations.size() == 59);
  for (const auto& [format, name] : {std::pair{WriteFormat::survey, "all.h5"},
                                     {WriteFormat::csv, "all.csv"},
                                     {WriteFormat::edi, "edi"},
                                     {WriteFormat::emtf, "xml"},
                                     {WriteFormat::jones, "j"}}) {
    INFO(core::word(format));
    const survey::WriteResult result = survey::write(folder / name, stations, format);
    CHECK(result.lost.empty());
    CHECK(result.paths.size() == (survey::is_of_one_station(format) ? 59U : 1U));
    same_rows(stations, survey::read_files(survey::station_files(folder / name)),
              format == WriteFormat::emtf);
  }
  CHECK(survey::kind_of_file(folder / "all.csv") == survey::FileKind::csv_rows);
}

TEST_CASE("writing: a file of ModEM has the values of all stations, in one frame", "[survey]") {
  const TemporaryFolder folder;
  const std::vector<StationData> stations = gabbs();
  const survey::WriteResult result = survey::write(folder / "all.dat", stations, WriteFormat::modem);
  CHECK(result.lost.empty());
  const std::vector<StationData> back = survey::read(folder / "all.dat");
  REQUIRE(back.size() == 59);
  std::size_t n_values = 0, n_back = 0;
  for (const StationData& station : stations)
    for (const StationRow& row : station.rows) n_values += row.is_missing(physics::mt::Element::zxy) ? 0 : 1;
  for (const StationData& station : back)
    for (const StationRow& row : station.rows) n_back += row.is_missing(physics::mt::Element::zxy) ? 0 : 1;
  CHECK(n_back == n_values);
  const auto first =
      std::ranges::find(back, stations[7].site.name, [](const StationData& s) { return s.site.name; });
  REQUIRE(first != back.end());
  CHECK(first->rows[4].values.numbers[1] == stations[7].rows[4].values.numbers[1]);
  CHECK(std::abs(first->site.x_m) > 1000.0);
}

TEST_CASE("writing: several stations want a folder, and names of sites become names of files", "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations = gabbs();
  stations.resize(3);
  stations[0].site.name = "../a b";
  stations[1].site.name = ".._a_b";
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(survey::write(folder / "all.edi", stations, WriteFormat::edi)); }),
             HasId("one_file", {"3 stations"}));
  const survey::WriteResult result = survey::write(folder / "edi", stations, WriteFormat::edi);
  CHECK(std::ranges::all_of(result.paths,
                            [](const std::string& path) { return std::filesystem::exists(path); }));
  CHECK(survey::station_files(folder / "edi").size() == 3);
  CHECK(survey::read_files(survey::station_files(folder / "edi"))[0].site.name == "../a b");
  stations.resize(1);
  CHECK(survey::write(folder / "one.edi", stations, WriteFormat::edi).paths ==
        std::vector{folder / "one.edi"});
}

TEST_CASE("table of transfer functions: columns may lack, and senseless rows are refused", "[survey]") {
  const TemporaryFolder folder;
  const auto file = [&](const std::string& text) {
    std::ofstream(folder / "t.csv") << text;
    return folder / "t.csv";
  };
  const auto some =
      survey::read_rows_csv(file("period_s,site,Zxy_re_ohm,Zxy_im_ohm\n2,a,1,3\n4,a,2,\n2,7,1,1\n"));
  REQUIRE(some.size() == 2);
  CHECK(some[0].rows[0].frequency_hz == 0.5);
  CHECK(some[0].rows[0].values.numbers[1] == physics::mt::Complex(1, 3));
  CHECK(some[0].rows[1].is_missing(physics::mt::Element::zxy));
  CHECK(std::isnan(some[0].site.latitude_deg));
  CHECK(some[1].site.name == "7");
  // Written for stations without that element: a column of empty fields.
  const auto without = survey::read_rows_csv(file("site,period_s,Zxx_re_ohm,Zxx_im_ohm\na,1,,\na,2,,\n"));
  REQUIRE(without.size() == 1);
  CHECK(without[0].rows[0].is_missing(physics::mt::Element::zxx));
  const auto refusal = [&](const std::string& text) {
    return error_of<core::FormatError>([&] { static_cast<void>(survey::read_rows_csv(file(text))); });
  };
  CHECK_THAT(refusal("site,Zxy_re_ohm\na,1\n"), HasId("no_column", {"period_s"}));
  CHECK_THAT(refusal("site,period_s\na,-1\n"), HasId("wrong_row", {"row 1", "-1"}));
  CHECK_THAT(refusal("site,period_s\na,1\na,1\n"), HasId("repeated_frequency", {"row 2"}));
  CHECK_THAT(refusal("site,period_s,Zxy_re_ohm\na,1,x\n"), HasId("not_numbers", {"Zxy_re_ohm"}));
}
