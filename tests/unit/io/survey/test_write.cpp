// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/geodesy/profile.hpp"
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
  CHECK(result.lost == std::vector<std::string>{"elevations, in whose place Z is 0 (59 stations)"});
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
  REQUIRE(first->local_frame);
  CHECK(first->local_frame->latitude_deg == geodesy::map(stations, {}).origin_latitude_deg);
}

namespace {

/// A station with a phase tensor at 2 s and nothing else, at the x that its latitude has on a map.
StationData phase_tensor_at(const std::string& name, double latitude_deg) {
  StationData station;
  station.site = {.name = name, .y_m = 0.0, .latitude_deg = latitude_deg, .longitude_deg = 20.0};
  station.site.x_m = 111e3 * (latitude_deg - 10.0);
  station.local_frame = physics::mt::LocalFrame{10.0, 20.0, 0.0};
  for (const char* each : {"phase_tensor_xx", "phase_tensor_xy", "phase_tensor_yx", "phase_tensor_yy"})
    (void)station.add({physics::mt::datum_from(each), 0.5, 0.125 + latitude_deg, 0.02, 0.0});
  return station;
}

}  // namespace

TEST_CASE("writing: phase tensors alone go to a survey file and to ModEM, other formats say that they cannot",
          "[survey]") {
  const TemporaryFolder folder;
  const std::vector<StationData> stations{phase_tensor_at("a", 10.0), phase_tensor_at("b", 10.1)};
  for (const auto& [format, name] :
       {std::pair{WriteFormat::survey, "all.h5"}, std::pair{WriteFormat::modem, "all.dat"}}) {
    INFO(name);
    // ModEM has no elevations.
    CHECK(std::ssize(survey::write(folder / name, stations, format).lost) ==
          (format == WriteFormat::modem ? 1 : 0));
    const std::vector<StationData> back = survey::read(folder / name);
    REQUIRE(back.size() == 2);
    CHECK(back[1].rows.empty());
    REQUIRE(back[1].readings.size() == 4);
    for (std::size_t k = 0; k < 4; ++k) {
      CHECK(back[1].readings[k].datum == stations[1].readings[k].datum);
      CHECK(back[1].readings[k].value == stations[1].readings[k].value);
      CHECK(back[1].readings[k].sigma == stations[1].readings[k].sigma);
    }
  }
  for (const WriteFormat format :
       {WriteFormat::edi, WriteFormat::emtf, WriteFormat::zfile, WriteFormat::jones, WriteFormat::csv,
        WriteFormat::wsinv, WriteFormat::modem2d, WriteFormat::occam2d, WriteFormat::mare2dem}) {
    INFO(core::word(format));
    CHECK_THAT(error_of<core::InvalidArgument>(
                   [&] { static_cast<void>(survey::write(folder / "no", stations, format)); }),
               HasId("nothing_held", {"phase_tensor_xx", std::string(core::word(format)), ".h5"}));
    CHECK_FALSE(std::filesystem::exists(folder / "no"));
  }
}

TEST_CASE("writing: ModEM keeps each period of each station", "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations = gabbs();
  stations.resize(2);
  for (StationRow& row : stations[1].rows) row.frequency_hz *= 1.01;
  static_cast<void>(survey::write(folder / "two.dat", stations, WriteFormat::modem));
  const std::vector<StationData> back = survey::read(folder / "two.dat");
  REQUIRE(back.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    REQUIRE(back[i].rows.size() == stations[i].rows.size());
    for (std::size_t k = 0; k < back[i].rows.size(); ++k)
      CHECK(back[i].rows[k].frequency_hz == Approx(stations[i].rows[k].frequency_hz).epsilon(1e-12));
  }
}

TEST_CASE("writing: ModEM keeps data whose errors are its mark of none", "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations =
      survey::read_files({source_path("data/modem_block2_3d/d0.dat")});  // all errors are 2e15
  for (StationData& station : stations)
    (void)station.add({physics::mt::datum_from("phase_tensor_xy"), 0.5, 0.25, physics::mt::not_given, 0.0});
  static_cast<void>(survey::write(folder / "again.dat", stations, WriteFormat::modem));
  const std::vector<StationData> back = survey::read(folder / "again.dat");
  REQUIRE(back.size() == stations.size());
  std::size_t n = 0;
  for (std::size_t i = 0; i < back.size(); ++i) {
    REQUIRE(back[i].rows.size() == stations[i].rows.size());
    for (std::size_t k = 0; k < back[i].rows.size(); ++k, ++n)
      CHECK(difference(back[i].rows[k], stations[i].rows[k]) == "");
    REQUIRE(back[i].readings.size() == 1);
    CHECK(std::isnan(back[i].readings[0].sigma));
  }
  CHECK(n > 100);
}

TEST_CASE("writing: ModEM gets the phase tensors that stations state, of the axes of its map alone",
          "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations{phase_tensor_at("a", 10.0), phase_tensor_at("b", 10.1),
                                    phase_tensor_at("c", 10.2)};
  stations[2].readings.clear();
  StationRow& row = stations[2].row_at(0.5);
  for (const physics::mt::Element element : physics::mt::all_elements) {
    if (!physics::mt::is_impedance(element)) continue;
    row.values[element] = {1.0 + static_cast<double>(physics::mt::index_of(element)), 2.0};
    row.errors[element] = 0.1;
  }
  stations[0].readings[0].azimuth_deg = 30.0;
  const survey::WriteResult mixed = survey::write(folder / "mixed.dat", stations, WriteFormat::modem);
  CHECK(mixed.lost == std::vector<std::string>{"elevations, in whose place Z is 0 (3 stations)",
                                               "phase_tensor_xx along 30 degrees on a map with x along 0"});
  const std::vector<StationData> back = survey::read(folder / "mixed.dat");
  REQUIRE(back.size() == 3);
  std::size_t n_readings = 0, n_rows = 0;
  for (const StationData& station : back) {
    n_readings += station.readings.size();
    n_rows += station.rows.size();
  }
  CHECK((n_readings == 7 && n_rows == 1));
  const survey::WriteResult edi = survey::write(folder / "edi", stations, WriteFormat::edi);
  CHECK(edi.paths == std::vector{folder / "edi/c.edi"});
  CHECK(edi.lost == std::vector<std::string>{"coordinates x and y",
                                             "stations without impedances and tippers (2 stations)"});
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
  const std::string head = "site,period_s,Zxy_re_ohm,Zxy_im_ohm\n";
  CHECK_THAT(refusal(head + "a,-1,1,1\n"), HasId("wrong_row", {"row 1", "-1"}));
  CHECK_THAT(refusal(head + "a,1,1,1\na,1,1,1\n"), HasId("repeated_frequency", {"row 2"}));
  CHECK_THAT(refusal(head + "a,1,x,1\n"), HasId("not_numbers", {"Zxy_re_ohm"}));
}

TEST_CASE("table of transfer functions: columns that are missing are named with those that are there",
          "[survey]") {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& header) {
    std::ofstream(folder / "t.csv") << "# a remark\n" << header << "\n";
    CHECK(survey::kind_of_file(folder / "t.csv") == survey::FileKind::csv_rows);
    return error_of<core::FormatError>([&] { static_cast<void>(survey::read(folder / "t.csv")); });
  };
  CHECK_THAT(refusal("site,longitude_deg,frequency_hz,Zxy_re_ohm,Zxy_im_ohm"),
             HasId("no_column", {"t.csv:2", "expected column latitude_deg in",
                                 "found site, longitude_deg, frequency_hz, Zxy_re_ohm, Zxy_im_ohm;"}));
  CHECK_THAT(refusal("site,latitude_deg,longitude_deg,frequency_hz,Zxy_im_ohm,Tzy_error"),
             HasId("no_column", {"t.csv:2", "expected columns Zxy_re_ohm, Tzy_re, Tzy_im in"}));
  CHECK_THAT(refusal("station,period,Zxy_re_ohm,Zxy_im_ohm"),
             HasId("no_column", {"t.csv:2", "expected columns site, frequency_hz (or period_s) in"}));
  CHECK_THAT(refusal("site,latitude_deg,longitude_deg,Zxy_re_ohm,Zxy_im_ohm"),
             HasId("no_column", {"t.csv:2", "expected column frequency_hz (or period_s) in"}));
  CHECK_THAT(refusal("site,period_s,zxy_re,zxy_im"),
             HasId("no_column", {"expected column Zxy_re_ohm (or another element) in", "zxy_re"}));
  std::ofstream(folder / "map.csv") << "site,period_s,x_m,y_m,Zxx_re_ohm,Zxx_im_ohm\n";
  CHECK(survey::kind_of_file(folder / "map.csv") == survey::FileKind::csv_table);
}
