// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/edi/writer.hpp"
#include "io/geodesy/profile.hpp"
#include "io/geodesy/projection.hpp"
#include "io/survey/observe.hpp"
#include "io/survey/read.hpp"
#include "io/survey/store.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"
#include "tests/support/warnings.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::StationData;
using Stations = std::vector<StationData>;

namespace {

const std::string demo_folder = source_path("data/samtex/edi_kim_eto");

std::string station_text(const std::string& name) {
  return ">HEAD\nDATAID=" + name + "\n>FREQ //1\n1.0\n>ZXYR //1\n1.0\n>ZXYI //1\n1.0\n>END\n";
}

/// Returns the rows of a CSV file by column name.
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

/// Writes stations as EDI files whose numbers are ohm, which EDI files do not state.
void write_in_ohm(const std::string& folder, const Stations& stations) {
  std::filesystem::create_directories(folder);
  for (StationData station : stations) {
    for (physics::mt::StationRow& row : station.rows) {
      row.estimates.reset();
      row.covariance.reset();
      for (const Element element : {Element::zxx, Element::zxy, Element::zyx, Element::zyy}) {
        row.values[element] *= physics::mt::ohm_per_field_unit;
        row.errors[element] *= physics::mt::ohm_per_field_unit;
      }
    }
    text::write_bytes_atomically(folder + "/" + station.site.name + ".edi", edi::text_of(station).text);
  }
}

std::vector<std::string> names_of(const Stations& stations) {
  std::vector<std::string> names;
  for (const auto& station : stations) names.push_back(station.site.name);
  return names;
}

/// Returns kim438 … kim447, then ETO001A … ETO026A.
Stations demo() {
  std::vector<std::string> kim, eto;
  for (const auto& name : names_of(survey::read(demo_folder)))
    (name.substr(0, 3) == "kim" ? kim : eto).push_back(name);
  kim.insert(kim.end(), eto.begin(), eto.end());
  return survey::read(demo_folder, {.station_order = kim});
}

}  // namespace

TEST_CASE("EDI folder: all 36 stations of the KIM-ETO line are read, in the order asked for", "[edi][demo]") {
  const auto names = names_of(demo());
  REQUIRE(names.size() == 36);
  CHECK(names[0] == "kim438");
  CHECK(names[9] == "kim447");
  CHECK(names[10] == "ETO001A");
  CHECK(names[35] == "ETO026A");
}

TEST_CASE("EDI folder: one bad file among good ones is reported and skipped, never silent", "[edi]") {
  const TemporaryFolder folder;
  write_text(folder, "b.edi", station_text("b"));
  write_text(folder, "a.EDI", station_text("a"));
  write_text(folder, "bad.edi", ">HEAD\nDATAID=x\n");
  write_text(folder, "readme.txt", "no data");
  const int warnings = core::log::count(core::log::Level::warning);
  const auto set = survey::read(folder.path().string());
  CHECK(names_of(set) == std::vector<std::string>{"a", "b"});
  CHECK(core::log::count(core::log::Level::warning) == warnings + 1);
  std::string skipped;
  static_cast<void>(survey::read_files(
      {folder / "b.edi", folder / "bad.edi"}, {},
      [&](const std::string& path, const core::Error& error) { skipped += path + ": " + error.what(); }));
  CHECK_THAT(skipped, Catch::StartsWith(folder / "bad.edi") && Catch::Contains("FREQ"));
}

TEST_CASE("EDI folder: stations of one name get a suffix, an unknown name in the order is an error",
          "[edi]") {
  const TemporaryFolder folder;
  for (const char* file : {"1.edi", "2.edi", "3.edi"}) write_text(folder, file, station_text("same"));
  const auto set = survey::read_folder(folder.path().string());
  CHECK(names_of(set) == std::vector<std::string>{"same", "same_2", "same_3"});
  survey::ReadOptions options;
  options.station_order = {"same_3", "sane"};
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)survey::read_folder(folder.path().string(), options); }),
             HasId("unknown_station", {"\"sane\"", "\"same"}));
  options.station_order = {"same_3", "same"};
  CHECK(names_of(survey::read_folder(folder.path().string(), options)) == options.station_order);
}

TEST_CASE("EDI folder: stations in doubt follow the units of their survey", "[edi][demo]") {
  const TemporaryFolder folder;
  const Stations stations = demo();
  write_in_ohm(folder / "ohm", stations);
  const auto is_ohm = [](const StationData& station) { return station.units_in_file == "ohm"; };
  Stations alone;
  for (const std::string& file : survey::station_files(folder / "ohm"))
    alone.push_back(survey::read(file, {.kind = survey::FileKind::edi}).front());
  const auto n_sure = std::ranges::count_if(alone, is_ohm);
  CHECK(n_sure == 18);
  const int warnings = core::log::count(core::log::Level::warning);
  const Stations together = survey::read(folder / "ohm");
  CHECK(core::log::count(core::log::Level::warning) == warnings + 1);
  CHECK(std::ranges::all_of(together, is_ohm));
  survey::ReadOptions options;
  survey::choose(options, {.units = physics::mt::ImpedanceUnits::ohm});
  const Stations chosen = survey::read(folder / "ohm", options);
  for (std::size_t k = 0; k < together.size(); ++k) {
    check_same_station(together[k], chosen[k]);
    CHECK(has_remark(together[k], "but the survey, in which") == !is_ohm(alone[k]));
  }
  // Findings of `check` say which stations follow
  const auto found = physics::mt::check(together);
  CHECK(std::ranges::count_if(found, [](const auto& each) {
          return each.id == "units" && each.text.find("but the survey") != std::string::npos;
        }) == 36 - n_sure);
  // The demo as it is follows nothing, and neither do files whose units are given
  for (const StationData& station : stations) CHECK_FALSE(has_remark(station, "the survey"));
  for (const StationData& station : chosen) CHECK_FALSE(has_remark(station, "the survey"));
}

TEST_CASE("EDI folder: a survey without a majority leaves units open and says so", "[edi][demo]") {
  const TemporaryFolder folder;
  Stations stations = demo();
  write_in_ohm(folder / "mixed", stations);
  for (const auto& station : std::vector<StationData>(stations.begin(), stations.begin() + 18))
    text::write_bytes_atomically(folder / ("mixed/" + station.site.name + ".edi"),
                                 edi::text_of(station).text);  // in mV/km/nT
  const Stations together = survey::read(folder / "mixed");
  int n_open = 0;
  for (const StationData& station : together) {
    if (!has_remark(station, "; --units decides")) continue;
    ++n_open;
    CHECK(station.units_in_file == "mV/km/nT");
  }
  CHECK(n_open > 0);
  const auto found = physics::mt::check(together);
  CHECK(std::ranges::any_of(found, [](const auto& each) {
    return each.id == "units" && each.severity == physics::mt::Severity::warning &&
           each.text.find("--units decides") != std::string::npos;
  }));
  survey::write_survey(folder / "mixed.h5", together);
  const Stations kept = survey::read_survey(folder / "mixed.h5");
  CHECK(std::ranges::count_if(kept, [](const StationData& station) {
          return std::ranges::find(station.remarks, physics::mt::RemarkKind::open_units,
                                   &physics::mt::Remark::kind) != station.remarks.end();
        }) == n_open);
}

TEST_CASE("EDI folder: a station whose quadrants do not decide follows the time factor of its survey",
          "[edi]") {
  const TemporaryFolder folder;
  const auto text_with = [](const std::string& name, double im_yx) {
    std::string rows;
    const auto block = [&](const char* key, double value) {
      rows += fmt::format(">{} //6\n{}\n", key, fmt::join(std::vector<double>(6, value), " "));
    };
    rows = ">FREQ //6\n32 16 8 4 2 1\n";
    block("ZXYR", 1.0);
    block("ZXYI", -1.0);
    block("ZYXR", -1.0);
    block("ZYXI", im_yx);
    return ">HEAD\nDATAID=" + name + "\n" + rows + ">END\n";
  };
  for (const char* name : {"a", "b", "c"})
    write_text(folder, fmt::format("{}.edi", name), text_with(name, 1.0));
  write_text(folder, "odd.edi", text_with("odd", -1.0));
  const Stations four = survey::read(folder.path().string());
  REQUIRE(four.size() == 4);
  CHECK(four[3].site.name == "odd");
  CHECK(four[3].sign_in_file == "-");
  CHECK(has_remark(four[3], "3 of 3 other stations"));
  std::filesystem::remove(folder / "c.edi");
  const Stations three = survey::read(folder.path().string());
  CHECK(three[2].sign_in_file == "+");
  CHECK(has_remark(three[2], "; --sign decides"));
}

TEST_CASE("EDI folder: a missing or empty folder and one without a readable file are refused", "[edi]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of<core::FileError>([&] { (void)survey::read_folder(folder / "none"); }),
             HasId("not_a_folder", {folder / "none"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)survey::read_folder(folder.path().string()); }),
             HasId("no_edi_files", {"*.edi"}));
  write_text(folder, "bad.edi", "\x01\x02");
  CHECK_THAT(error_of<core::FormatError>([&] { (void)survey::read_folder(folder.path().string()); }),
             HasId("nothing_readable", {"1", "bad.edi:1"}));
}

TEST_CASE(
    "KIM-ETO: rotated to N60E the 20 frequencies agree with independently computed apparent resistivities "
    "and phases",
    "[edi][demo]") {
  const auto stations = demo();
  const auto frequencies = demo_frequencies();
  REQUIRE(frequencies.size() == 20);
  std::map<std::pair<int, int>, std::map<std::string, std::string>> reference;
  int row_number = 0;
  for (const auto& row : csv_rows(source_path("data/samtex/te_tm_20freq_kim_eto.csv"))) {
    reference[{*text::integer(row.at("index")), row_number++ % 20}] = row;
  }
  double worst_rho = 0.0, worst_phase = 0.0;
  for (int s = 0; s < 36; ++s) {
    const auto& station = stations[static_cast<std::size_t>(s)];
    std::vector<physics::mt::StationRow> rows;
    for (const auto& row : station.rows) rows.push_back(rotated(row, 60.0));
    if (station.site.name == "kim443") rows = interpolated(rows, frequencies);
    for (int f = 0; f < 20; ++f) {
      const auto& row = reference.at({s, f});
      const double frequency = *text::number(row.at("freq_hz"));
      const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& r) {
        return std::abs(r.frequency_hz / frequency - 1.0) < 1e-5;
      });
      if (row.at("rho_te_ohmm").empty()) continue;
      REQUIRE(found != rows.end());
      const auto zxy = found->values[Element::zxy], zyx = found->values[Element::zyx];
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
  const auto stations = demo();
  CHECK(geodesy::profile(stations).azimuth_deg == Approx(149.5).margin(0.3));
  const auto given = geodesy::profile(stations, {.azimuth_deg = 329.5, .origin = "kim438"});
  CHECK(given.y_m.front() == 0.0);
  CHECK(given.y_m.back() ==
        Approx(717.14e3).epsilon(1e-4));  // on the ellipsoid; 719 km on a sphere of 6371 km
  CHECK(given.origin_latitude_deg ==
        Approx(stations[0].site.latitude_deg).margin(0.3));  // where kim438 falls on the line
  CHECK(given.points.size() == 36);
  CHECK_FALSE(given.projection.empty());
  const auto summed = geodesy::profile(
      stations, {.azimuth_deg = 329.5, .origin = "kim438", .distance = physics::mt::Distance::running_sum});
  CHECK(summed.y_m.back() == Approx(757.02e3).epsilon(4e-3));
  double great_circle = 0.0;
  for (std::size_t i = 1; i < stations.size(); ++i) {
    const auto &a = stations[i - 1].site, &b = stations[i].site;
    great_circle += geodesy::great_circle_distance_m({a.latitude_deg, a.longitude_deg},
                                                     {b.latitude_deg, b.longitude_deg});
  }
  CHECK(great_circle == Approx(757.02e3).epsilon(1e-5));
}

TEST_CASE("KIM-ETO: observed data of the demo mask less than 12 per cent, kim443 is interpolated and flagged",
          "[edi][demo]") {
  const auto stations = demo();
  const auto profile = geodesy::profile(stations, {.azimuth_deg = 329.5, .origin = "kim438"});
  physics::mt::Selection selection;
  selection.data = {Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx};
  selection.frequencies = physics::mt::FrequencyChoice::listed;
  selection.frequencies_hz = demo_frequencies();
  selection.interpolate_stations = {"kim443"};
  const auto data = select(stations, profile, selection);
  const double masked =
      1.0 - static_cast<double>(data.n_used()) / static_cast<double>(data.survey.keys.size());
  INFO(mask_table(data));
  CHECK(masked < 0.12);
  CHECK(std::count(data.interpolated.begin(), data.interpolated.end(), 1) == 80);
}

TEST_CASE("KIM-ETO: a profile across the line warns of the stations that it projects", "[edi][demo]") {
  const auto stations = demo();
  physics::mt::Selection selection{.data = physics::mt::rho_and_phase};
  selection.frequencies = physics::mt::FrequencyChoice::listed;
  selection.frequencies_hz = demo_frequencies();
  const auto warned = [&](double azimuth_deg) {
    return text_with(
        warnings_of([&] { (void)survey::observe(stations, {.azimuth_deg = azimuth_deg}, selection); }),
        "mt::sites#sites_off_line");
  };
  CHECK(warned(329.5).empty());
  CHECK_THAT(warned(59.5), Catch::Contains("kim438 (") && Catch::Contains(" km off)"));
}

TEST_CASE("KIM-ETO: a tipper of zeros is remarked where tippers are selected", "[edi][demo]") {
  const auto stations = demo();
  const auto warned = [&](std::vector<Datum> data) {
    const physics::mt::Selection selection{.data = std::move(data)};
    return text_with(warnings_of([&] { (void)survey::observe(stations, {.azimuth_deg = 329.5}, selection); }),
                     "io::survey::observe#remark");
  };
  CHECK(warned(physics::mt::rho_and_phase).empty());
  CHECK_THAT(warned({Datum::phase_xy, Datum::tzy_re}), Catch::Contains("kim438"));
}

TEST_CASE("survey: what many files have in common is remarked once, so that a single file is seen",
          "[survey]") {
  const auto stations = survey::read_folder(source_path("data/gabbs_valley/edi"));
  physics::mt::Selection selection{.data = {Datum::zxy_re}};
  std::vector<std::string> remarks;
  for (const auto& each : warnings_of([&] { (void)survey::observe_on_map(stations, {}, selection); })) {
    if (each.id == "io::survey::observe#remark") remarks.push_back(each.text);
  }
  const auto n_with = [&](const std::string& part) {
    return std::ranges::count_if(
        remarks, [&](const std::string& text) { return text.find(part) != std::string::npos; });
  };
  CHECK(remarks.size() == 4);
  CHECK(n_with("gv100.edi:22: expected UNITS of M or FT") == 1);
  CHECK(n_with("(likewise 58 more)") == 2);
  CHECK(n_with("gv149.edi:1: median apparent resistivity is 1.55e+06 ohm m") == 1);
  CHECK_THAT(remarks.front(),
             Catch::Contains("are the units"));  // what calls all numbers in doubt comes first
}

TEST_CASE("survey files: a file of any kind gives its stations, others are refused by what they are",
          "[survey]") {
  CHECK(survey::read(source_path("data/modem_block2_2d/d0_JT.dat")).size() == 40);
  CHECK(survey::read(source_path("data/mare2dem_demo/DemoSynthMT.emdata")).size() == 25);
  CHECK(
      survey::read(source_path("data/coprod2/coprod2data.dat"), {.station_order = {"3", "1"}})[0].site.name ==
      "3");
  CHECK(survey::read(source_path("tests/data/edi/gv100.edi"))[0].format == "EDI");
  CHECK_THAT(
      error_of<core::FormatError>([] { (void)survey::read(source_path("data/modem_block2_2d/m0.rho")); }),
      HasId("not_stations", {"m0.rho:1", "ModEM 2-D model"}));
  survey::ReadOptions as_edi;
  as_edi.kind = survey::FileKind::edi;
  CHECK_THROWS_AS(survey::read(source_path("data/coprod2/coprod2data.dat"), as_edi), core::FormatError);
}

TEST_CASE("profile: stations that a file places along a line keep their places", "[survey]") {
  auto stations = survey::read(source_path("data/coprod2/coprod2data.dat"));
  const auto line = geodesy::profile(stations, {.azimuth_deg = 10.0});
  CHECK(line.azimuth_deg == 90.0);
  CHECK(line.y_m.back() == 230800.0);
  CHECK(line.projection.empty());
  stations[1].site.y_m = physics::mt::not_given;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)geodesy::profile(stations); }),
             HasId("not_on_line", {"2"}));
  stations[0].site.y_m = physics::mt::not_given;
  CHECK_THAT(error_of<core::FormatError>([&] { (void)geodesy::profile(stations); }),
             HasId("no_coordinates", {"1"}));
}
