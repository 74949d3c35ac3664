// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/edi/reader.hpp"
#include "io/geodesy/projection.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <map>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Quantity;

namespace {

const std::string demo_folder = source_path("data/samtex/edi_kim_eto");

std::string station_text(const std::string& name) {
  return ">HEAD\nDATAID=" + name + "\n>FREQ //1\n1.0\n>ZXYR //1\n1.0\n>ZXYI //1\n1.0\n>END\n";
}

/// Rows of a CSV file by column name.
std::vector<std::map<std::string, std::string>> csv_rows(const std::string& path) {
  const std::string bytes = text::read_bytes(path);
  std::vector<std::string> header;
  std::vector<std::map<std::string, std::string>> rows;
  for (const auto line : text::split_lines(bytes)) {
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ',')
        fields.emplace_back();
      else
        fields.back() += c;
    }
    if (header.empty()) {
      header = fields;
      continue;
    }
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = fields[i];
  }
  return rows;
}

std::vector<double> demo_frequencies() {
  std::vector<double> list;
  for (const auto& row : csv_rows(source_path("data/samtex/te_tm_20freq_kim_eto.csv"))) {
    if (row.at("station") == "kim438") list.push_back(*text::number(row.at("freq_hz")));
  }
  return list;
}

/// kim438 … kim447, then ETO001A … ETO026A.
std::vector<std::string> demo_order(const edi::EdiFolder& folder) {
  std::vector<std::string> kim, eto;
  for (const auto& s : folder.stations) (s.name.substr(0, 3) == "kim" ? kim : eto).push_back(s.name);
  kim.insert(kim.end(), eto.begin(), eto.end());
  return kim;
}

edi::EdiFolder demo() {
  edi::EdiFolderOptions options;
  options.station_order = demo_order(edi::read_edi_folder(demo_folder));
  return edi::read_edi_folder(demo_folder, options);
}

std::vector<std::string> names_of(const edi::EdiFolder& folder) {
  std::vector<std::string> names;
  for (const auto& s : folder.stations) names.push_back(s.name);
  return names;
}

}  // namespace

TEST_CASE("EDI folder: all 36 stations of the KIM-ETO line are read, in the order asked for", "[edi][demo]") {
  const auto folder = demo();
  CHECK(folder.skipped.empty());
  REQUIRE(folder.stations.size() == 36);
  CHECK(folder.stations[0].name == "kim438");
  CHECK(folder.stations[9].name == "kim447");
  CHECK(folder.stations[10].name == "ETO001A");
  CHECK(folder.stations[35].name == "ETO026A");
}

TEST_CASE("EDI folder: one bad file among good ones is reported and skipped, never silent", "[edi]") {
  const TemporaryFolder folder;
  write_text(folder, "b.edi", station_text("b"));
  write_text(folder, "a.EDI", station_text("a"));
  write_text(folder, "bad.edi", ">HEAD\nDATAID=x\n");
  write_text(folder, "readme.txt", "no data");
  const int warnings = core::log::count(core::log::Level::warning);
  const auto set = edi::read_edi_folder(folder.path().string());
  CHECK(names_of(set) == std::vector<std::string>{"a", "b"});
  REQUIRE(set.skipped.size() == 1);
  CHECK(set.skipped[0].path == folder / "bad.edi");
  CHECK(set.skipped[0].code == core::ExitCode::format);
  CHECK_THAT(set.skipped[0].reason, Catch::Contains("bad.edi:1: expected a block >FREQ"));
  CHECK(core::log::count(core::log::Level::warning) == warnings + 1);
}

TEST_CASE("EDI folder: stations of one name get a suffix, an unknown name in the order is an error",
          "[edi]") {
  const TemporaryFolder folder;
  for (const char* file : {"1.edi", "2.edi", "3.edi"}) write_text(folder, file, station_text("same"));
  const auto set = edi::read_edi_folder(folder.path().string());
  CHECK(names_of(set) == std::vector<std::string>{"same", "same_2", "same_3"});
  edi::EdiFolderOptions options;
  options.station_order = {"same_3", "sane"};
  CHECK_THAT(
      message_of<core::ConfigError>([&] { (void)edi::read_edi_folder(folder.path().string(), options); }),
      Catch::Contains("did you mean \"same"));
  options.station_order = {"same_3", "same"};
  CHECK(names_of(edi::read_edi_folder(folder.path().string(), options)) == options.station_order);
}

TEST_CASE("EDI folder: a missing or empty folder and one without a readable file are refused", "[edi]") {
  const TemporaryFolder folder;
  CHECK_THAT(message_of<core::FileError>([&] { (void)edi::read_edi_folder(folder / "none"); }),
             Catch::Contains("expected a folder of EDI files, got nothing"));
  CHECK_THAT(message_of<core::FileError>([&] { (void)edi::read_edi_folder(folder.path().string()); }),
             Catch::Contains("expected files named *.edi"));
  write_text(folder, "bad.edi", "\x01\x02");
  CHECK_THAT(message_of<core::FormatError>([&] { (void)edi::read_edi_folder(folder.path().string()); }),
             Catch::Contains("none of 1 EDI files") && Catch::Contains("bad.edi:1"));
}

TEST_CASE(
    "KIM-ETO: rotated to N60E the 20 frequencies agree with independently computed apparent resistivities "
    "and phases",
    "[edi][demo]") {
  const auto folder = demo();
  const auto frequencies = demo_frequencies();
  REQUIRE(frequencies.size() == 20);
  std::map<std::pair<int, int>, std::map<std::string, std::string>> reference;
  int row_number = 0;
  for (const auto& row : csv_rows(source_path("data/samtex/te_tm_20freq_kim_eto.csv"))) {
    reference[{*text::integer(row.at("index")), row_number++ % 20}] = row;
  }
  double worst_rho = 0.0, worst_phase = 0.0;
  for (int s = 0; s < 36; ++s) {
    const auto& station = folder.stations[static_cast<std::size_t>(s)];
    auto rotated = rotated_to(station, 60.0);
    if (station.name == "kim443") rotated = interpolated_to(rotated, frequencies);
    for (int f = 0; f < 20; ++f) {
      const auto& row = reference.at({s, f});
      const double frequency = *text::number(row.at("freq_hz"));
      const auto found = std::find_if(rotated.rows.begin(), rotated.rows.end(), [&](const auto& r) {
        return std::abs(r.frequency_hz / frequency - 1.0) < 1e-5;
      });
      if (row.at("rho_te_ohmm").empty()) continue;
      REQUIRE(found != rotated.rows.end());
      const auto zxy = found->impedance[1].value, zyx = found->impedance[2].value;
      worst_rho = std::max(worst_rho, std::abs(physics::mt::apparent_resistivity_ohm_m(zxy, frequency) /
                                                   *text::number(row.at("rho_te_ohmm")) -
                                               1.0));
      worst_rho = std::max(worst_rho, std::abs(physics::mt::apparent_resistivity_ohm_m(-zyx, frequency) /
                                                   *text::number(row.at("rho_tm_ohmm")) -
                                               1.0));
      worst_phase = std::max(
          worst_phase, std::abs(std::remainder(
                           physics::mt::phase_deg(zxy) - *text::number(row.at("phase_te_deg")), 360.0)));
      worst_phase = std::max(
          worst_phase, std::abs(std::remainder(
                           physics::mt::phase_deg(-zyx) - *text::number(row.at("phase_tm_deg")), 360.0)));
    }
  }
  CHECK(worst_rho < 1e-4);
  CHECK(worst_phase < 1e-3);
}

TEST_CASE("KIM-ETO: the profile has the published azimuth, projected length and running sum", "[edi][demo]") {
  const auto folder = demo();
  std::vector<geodesy::GeoPoint> points;
  for (const auto& s : folder.stations) points.push_back({s.latitude_deg, s.longitude_deg});
  const auto plane = geodesy::Projection(points).to_plane(points);
  const auto best = physics::mt::make_profile(names_of(folder), plane, {});
  CHECK(best.azimuth_deg == Approx(329.5).margin(0.3));
  const auto given = physics::mt::make_profile(
      names_of(folder), plane, {.azimuth_deg = 329.5, .origin_station = "kim438", .distance = {}});
  CHECK(given.y_m.front() == 0.0);
  CHECK(given.y_m.back() ==
        Approx(717.14e3).epsilon(1e-4));  // on the ellipsoid; 719 km on a sphere of 6371 km
  const auto summed = physics::mt::make_profile(
      names_of(folder), plane,
      {.azimuth_deg = 329.5, .origin_station = "kim438", .distance = physics::mt::Distance::running_sum});
  CHECK(summed.y_m.back() == Approx(757.02e3).epsilon(4e-3));
  double great_circle = 0.0;
  for (std::size_t i = 1; i < points.size(); ++i)
    great_circle += geodesy::great_circle_distance_m(points[i - 1], points[i]);
  CHECK(great_circle == Approx(757.02e3).epsilon(1e-5));
}

TEST_CASE("KIM-ETO: observed data of the demo mask less than 12 per cent, kim443 is interpolated and flagged",
          "[edi][demo]") {
  const auto folder = demo();
  std::vector<geodesy::GeoPoint> points;
  std::vector<physics::mt::TransferFunctions> rotated;
  for (const auto& s : folder.stations) {
    points.push_back({s.latitude_deg, s.longitude_deg});
    rotated.push_back(rotated_to(s, 239.5));
  }
  const auto profile =
      physics::mt::make_profile(names_of(folder), geodesy::Projection(points).to_plane(points),
                                {.azimuth_deg = 329.5, .origin_station = "kim438", .distance = {}});
  physics::mt::DataSelection selection;
  selection.quantities = {Quantity::log10_rho_xy, Quantity::phase_xy, Quantity::log10_rho_yx,
                          Quantity::phase_yx};
  selection.frequencies_hz = demo_frequencies();
  selection.interpolate_stations = {"kim443"};
  const auto data = make_observed_data(rotated, profile, selection);
  const double masked =
      1.0 - static_cast<double>(data.n_kept()) / static_cast<double>(data.survey.keys.size());
  INFO(mask_table(data));
  CHECK(masked < 0.12);
  CHECK(std::count(data.interpolated.begin(), data.interpolated.end(), 1) == 80);
}
