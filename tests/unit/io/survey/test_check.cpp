// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"
#include "io/survey/lines.hpp"
#include "io/survey/read.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/analysis/check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/planted_mistakes.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <numbers>

using namespace lodestone;
using namespace lodestone::physics::mt;
using namespace lodestone::tests;

namespace {

bool finds(const std::vector<Finding>& findings, const std::string& station, const std::string& id) {
  return std::ranges::any_of(findings, [&](const Finding& f) {
    return f.is_about(station) && f.id == id && f.severity >= Severity::warning;
  });
}

}  // namespace

TEST_CASE("check: mistakes that are planted into field data are found, and hardly any are where none were",
          "[survey]") {
  int n_planted = 0, n_found = 0, n_stations = 0, n_false = 0;
  for (const char* folder : {"data/samtex/edi_kim_eto", "data/gabbs_valley/edi", "data/kap03/edi"}) {
    const std::vector<StationData> stations = io::survey::read_folder(source_path(folder));
    const std::vector<Finding> before = check(stations);
    n_stations += static_cast<int>(stations.size());
    for (std::size_t k = 0; k < stations.size(); ++k) {
      const std::string& name = stations[k].site.name;
      const bool is_wrong = std::ranges::any_of(
          before, [&](const Finding& f) { return f.station == name && f.severity == Severity::error; });
      n_false += is_wrong;
      if (is_wrong) continue;  // a second mistake may undo it
      for (const Planted& mistake : planted_mistakes()) {
        std::vector<StationData> with = stations;
        mistake.plant(with[k]);
        ++n_planted;
        n_found += finds(check(with), name, mistake.id);
      }
    }
  }
  CAPTURE(n_planted, n_found, n_stations, n_false);
  CHECK(n_stations == 121);
  CHECK(n_found >= 0.95 * n_planted);
  CHECK(n_false <= 0.02 * n_stations);
}

TEST_CASE("check: units are mended only where the station then resembles its survey", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto units_of = [&](const std::string& station) {
    const std::vector<Finding> findings = check(stations);
    const auto found = std::ranges::find_if(
        findings, [&](const Finding& f) { return f.station == station && f.id == "units"; });
    REQUIRE(found != findings.end());
    return *found;
  };
  const Finding strange = units_of("gv149");  // some 500 times too large, for a reason of its own
  CHECK_FALSE(strange.mend);
  CHECK_THAT(strange.text, Catch::Contains("of its survey do not confirm"));
  const std::string name = stations.front().site.name;
  const double factor = 4e-4 * std::numbers::pi;  // of numbers in mV/km/nT that were taken for ohm
  for_each(stations.front(), [&](StationRow& r) {
    for (Complex& z : r.values.numbers) z /= factor;
  });
  const Finding wrong = units_of(name);
  CHECK(wrong.mend);
  CHECK_THAT(wrong.text, Catch::Contains("impedances times 0.001257"));
}

TEST_CASE("check: errors, scatter, gaps, tippers and places have findings of their own", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/samtex/edi_kim_eto"));
  const auto has = [&](std::size_t k, const std::string& id) {
    const std::vector<Finding> findings = check(stations);
    return std::ranges::any_of(
        findings, [&](const Finding& f) { return f.station == stations[k].site.name && f.id == id; });
  };
  CHECK_FALSE(has(3, "errors_too_large"));
  for_each(stations[3], [](StationRow& r) { r.errors[Element::zxy] = std::abs(r.values[Element::zxy]); });
  CHECK(has(3, "errors_too_large"));
  for_each(stations[3],
           [](StationRow& r) { r.errors[Element::zxy] = 1e-6 * std::abs(r.values[Element::zxy]); });
  CHECK(has(3, "errors_too_small"));
  CHECK(has(3, "scatter"));
  for_each(stations[3], [](StationRow& r) { r.errors[Element::zxy] = not_given; });
  CHECK(has(3, "no_errors"));
  CHECK_FALSE(has(4, "gap"));
  std::erase_if(stations[4].rows,
                [](const StationRow& r) { return r.frequency_hz < 1.0 && r.frequency_hz > 0.05; });
  CHECK(has(4, "gap"));
  CHECK_FALSE(has(12, "gap"));
  for_each(stations[12], [](StationRow& r) {
    if (r.frequency_hz < 1.0 && r.frequency_hz > 0.05) r.values = StationRow::missing_values();
  });
  CHECK(has(12, "gap"));
  stations[5].site.latitude_deg = not_given;
  CHECK(has(5, "no_place"));
  stations[6].site.latitude_deg += 20.0;
  CHECK(has(6, "far_away"));
  stations[7].site.elevation_m = 1e5;
  CHECK(has(7, "elevation"));
  stations[8].site.latitude_deg = stations[9].site.latitude_deg;
  stations[8].site.longitude_deg = stations[9].site.longitude_deg;
  CHECK(has(9, "contradictory_duplicate"));
  for_each(stations[10], [](StationRow& r) { r.azimuths = ChannelAzimuths::along(33.0); });
  CHECK(has(10, "other_frame"));
  for_each(stations[11], [](StationRow& r) { r.values[Element::tzx] = r.values[Element::tzy] = 2.0; });
  CHECK(has(11, "tipper_size"));
  const std::vector<Finding> findings = check(stations);
  for (std::size_t k = 0; k + 1 < findings.size(); ++k)
    if (findings[k].station == findings[k + 1].station)
      CHECK(findings[k].severity >= findings[k + 1].severity);
}

TEST_CASE("check: findings on errors, gaps and outliers name their periods", "[survey]") {
  std::vector<StationData> stations{io::survey::read_folder(source_path("data/samtex/edi_kim_eto")).at(3)};
  const auto text_of_finding = [&](const std::string& id) -> std::string {
    for (const Finding& each : check(stations))
      if (each.id == id) return each.text;
    return "";
  };
  std::vector<StationRow>& rows = stations[0].rows;
  for (StationRow& row : rows) row.errors[Element::zxy] = not_given;
  const double shortest_s = 1.0 / rows.front().frequency_hz;
  CHECK_THAT(text_of_finding("no_errors"),
             Catch::Contains(
                 fmt::format("have no error, at {:.3g}, {:.3g}", shortest_s, 1.0 / rows[1].frequency_hz)) &&
                 Catch::Contains(fmt::format("s and {} more", rows.size() - 5)));
  for (StationRow& row : rows) row.errors[Element::zxy] = 1e-3 * std::abs(row.values[Element::zxy]);
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (k != 1) rows[k].errors[Element::zxy] *= 1000.0;
  CHECK_THAT(text_of_finding("errors_too_large"),
             Catch::Contains(
                 fmt::format("more than 50 % at {:.3g}, {:.3g}", shortest_s, 1.0 / rows[2].frequency_hz)));
  std::erase_if(rows, [](const StationRow& r) { return r.frequency_hz < 1.0 && r.frequency_hz > 0.05; });
  const auto after = std::ranges::find_if(rows, [](const StationRow& r) { return r.frequency_hz <= 0.05; });
  CHECK_THAT(text_of_finding("gap"),
             Catch::Contains(fmt::format("no periods from {:.3g} to {:.3g} s",
                                         1.0 / std::prev(after)->frequency_hz, 1.0 / after->frequency_hz)));
}

TEST_CASE("check: metres in place of degrees, and a station of another UTM zone, are named", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto found = [&](const std::string& id) {
    const std::vector<Finding> findings = check(stations);
    const auto at = std::ranges::find(findings, id, &Finding::id);
    return at == findings.end() ? Finding{} : *at;
  };
  CHECK(found("coordinates").id.empty());
  const double longitude_deg = stations[7].site.longitude_deg;
  for (const double off_deg : {6.0, -6.0}) {
    stations[7].site.longitude_deg = longitude_deg + off_deg;
    const Finding zone = found("coordinates");
    CHECK((zone.severity == Severity::error && zone.station == stations[7].site.name));
    CHECK_THAT(zone.text, Catch::Contains(off_deg > 0.0 ? "6 degrees too large" : "6 degrees too small"));
    CHECK_THAT(zone.remedy, Catch::Contains("in the zone of the others"));
    std::vector<StationData> mended = stations;
    CHECK(mend(mended, {zone}) == 1);
    CHECK(std::abs(mended[7].site.longitude_deg - longitude_deg) < 1e-9);
  }
  stations[7].site.longitude_deg = 421521.0;
  CHECK_THAT(found("impossible_place").text,
             Catch::Contains("421521") && Catch::Contains("metres of a projection"));
  CHECK_THAT(found("impossible_place").remedy, Catch::Contains("in degrees"));
  stations[7].site.longitude_deg = longitude_deg;
  const std::string file = io::text::read_bytes(source_path("data/gabbs_valley/edi/gv101.edi"));
  const std::size_t at = file.find("LAT=");
  stations.push_back(
      io::edi::parse(file.substr(0, at) + "LAT=4272000.0" + file.substr(file.find('\n', at)), "a.edi"));
  CHECK_THAT(found("impossible_place").text,
             Catch::Contains("4272000") && Catch::Contains("metres of a projection"));
}

TEST_CASE("check: a remark on a damaged file is a warning, any other a note", "[survey]") {
  std::vector<StationData> stations{io::survey::read_folder(source_path("data/samtex/edi_kim_eto")).at(3)};
  stations[0].remarks = {{"a.edi:7: no >END after this block", RemarkKind::damage}, "a.edi:1: else"};
  const std::vector<Finding> findings = check(stations);
  const auto severity_of = [&](const std::string& id) {
    const auto found = std::ranges::find(findings, id, &Finding::id);
    REQUIRE(found != findings.end());
    return found->severity;
  };
  CHECK(severity_of("damaged_file") == Severity::warning);
  CHECK(severity_of("remark") == Severity::note);
}

TEST_CASE("check: an impossible latitude is an error with its value", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/samtex/edi_kim_eto"));
  const auto found = [&](std::size_t k) {
    for (const Finding& each : check(stations))
      if (each.station == stations[k].site.name && (each.id == "impossible_place" || each.id == "no_place"))
        return each;
    return Finding{};
  };
  stations[2].site.latitude_deg = 95.0;
  CHECK((found(2).id == "impossible_place" && found(2).severity == Severity::error));
  CHECK_THAT(found(2).text, Catch::Contains("the latitude is 95 degrees"));
  const TemporaryFolder folder;
  std::string edi = text_of_file(source_path("data/gabbs_valley/edi/gv100.edi"));
  const std::size_t at = edi.find("LAT="), end = edi.find_first_of("\r\n", at);
  edi.replace(at, end - at, "LAT=95:30:00");
  stations = io::survey::read(write_text(folder, "far.edi", edi));
  CHECK((found(0).id == "impossible_place" && found(0).severity == Severity::error));
  CHECK_THAT(found(0).text, Catch::Contains("the latitude is 95.5 degrees, beyond 90, which is impossible"));
  stations[0].remarks.clear();
  CHECK((found(0).id == "no_place" && found(0).severity == Severity::warning));
}

TEST_CASE("check: duplicates that agree are notes, those that contradict each other warnings", "[survey]") {
  const StationData gv100 = io::survey::read(source_path("data/gabbs_valley/edi/gv100.edi")).front();
  const auto found = [&](const std::vector<StationData>& stations) {
    std::vector<Finding> all;
    for (const Finding& each : check(stations))
      if (each.id == "same_place" || each.id == "contradictory_duplicate") all.push_back(each);
    REQUIRE(all.size() == 1);
    return all.front();
  };
  StationData other = gv100;
  other.site.name = "other";
  const Finding same = found({gv100, other});
  CHECK((same.severity == Severity::note && same.station == "other"));
  CHECK_THAT(same.text, Catch::Contains("stands where gv100 does, and both agree at"));
  for (std::size_t k = 0; k < other.rows.size(); ++k)
    if (k % 4 != 0) other.rows[k].values[Element::zxy] *= 4.0;
  const Finding unlike = found({gv100, other});
  CHECK(unlike.severity == Severity::warning);
  CHECK_THAT(unlike.text,
             Catch::Contains("stands where gv100 does, but its impedances differ by more than 3 errors") &&
                 Catch::Contains(" more"));
  // Files of one survey may state one name twice.
  const TemporaryFolder folder;
  std::string edi = text_of_file(source_path("data/gabbs_valley/edi/gv100.edi"));
  const std::string first = write_text(folder, "a.edi", edi);
  const std::size_t at = edi.find("LAT="), end = edi.find_first_of("\r\n", at);
  edi.replace(at, end - at, "LAT=38.9");
  const Finding moved = found(io::survey::read_files({first, write_text(folder, "b.edi", edi)}));
  CHECK((moved.severity == Severity::warning && moved.station == "gv100_2"));
  CHECK_THAT(moved.text,
             Catch::Contains("is another station with the name gv100, ") && Catch::Contains(" m from it"));
}

TEST_CASE("check: a tipper is named where a third of it is smaller than a tilted sensor gives", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto finding = [&]() -> std::string {
    for (const Finding& each : check({stations[3]}))
      if (each.id == "tipper_size" && each.severity == Severity::warning) return each.text;
    return "";
  };
  std::vector<StationRow>& rows = stations[3].rows;
  constexpr std::size_t n = 36;
  rows.resize(n);
  CHECK(finding().empty());
  const auto fill = [&](std::size_t n_rows, Complex value) {
    for (std::size_t k = 0; k < n_rows; ++k)
      rows[k].values[Element::tzx] = rows[k].values[Element::tzy] = value;
  };
  fill(n, {0.0, 0.8e-3});  // 1.1e-3 together
  CHECK(finding().empty());
  fill(n / 3 - 1, {3e-5, 0.0});
  CHECK(finding().empty());
  fill(n / 3, {3e-5, 0.0});
  CHECK_THAT(finding(), Catch::Contains("12 of 36"));
  rows.resize(4);
  CHECK(finding().empty());
}

TEST_CASE("check: an exchange is named where a latitude is impossible, and mended where others confirm it",
          "[survey]") {
  const TemporaryFolder folder;
  std::string edi = text_of_file(source_path("data/gabbs_valley/edi/gv100.edi"));
  for (const auto& [key, value] :
       {std::pair{"LAT=38:36:40.97", "LAT=-118:32:06.94"}, std::pair{"LON=-118:32:06.94", "LON=38:36:40.97"}})
    edi.replace(edi.find(key), std::string(key).size(), value);
  const StationData swapped = io::survey::read(write_text(folder, "swapped.edi", edi)).front();
  CHECK_FALSE(std::isfinite(swapped.site.latitude_deg));
  const std::vector<Finding> alone = check({swapped});
  const auto named = std::ranges::find(alone, FindingKind::exchanged_place, &Finding::kind);
  REQUIRE(named != alone.end());
  CHECK_THAT(named->text, Catch::Contains("the latitude is -118.5") && Catch::Contains("swapped") &&
                              Catch::Contains("38.6114, -118.5353 is a place"));
  CHECK_FALSE(named->mend);
  CHECK_THAT(named->remedy, Catch::Contains("exchange latitude and longitude"));
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const double latitude_deg = stations[0].site.latitude_deg, longitude_deg = stations[0].site.longitude_deg;
  stations[0] = swapped;
  const std::vector<Finding> findings = check(stations);
  const auto found = std::ranges::find(findings, FindingKind::coordinates, &Finding::kind);
  REQUIRE(found != findings.end());
  CHECK_THAT(found->remedy, Catch::Contains("exchange LAT and LONG"));
  CHECK(mend(stations, {*found}) == 1);
  CHECK(std::abs(stations[0].site.latitude_deg - latitude_deg) < 1e-9);
  CHECK(std::abs(stations[0].site.longitude_deg - longitude_deg) < 1e-9);
}

TEST_CASE("check: stations that stand apart together have one finding, with what brings all of them back",
          "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto of_places = [&] {
    std::vector<Finding> all;
    for (const Finding& each : check(stations))
      for (const char* id : {"coordinates", "far_away", "far_group"})
        if (each.id == id) all.push_back(each);
    return all;
  };
  const auto move = [&](std::size_t n, double east_deg, double north_deg) {
    for (std::size_t k = 0; k < n; ++k) {
      stations[k].site.longitude_deg += east_deg;
      stations[k].site.latitude_deg += north_deg;
    }
  };
  CHECK(of_places().empty());
  const double longitude_deg = stations[11].site.longitude_deg;
  move(12, 6.0, 0.0);
  const std::vector<Finding> zone = of_places();
  REQUIRE(zone.size() == 1);
  CHECK((zone[0].severity == Severity::error && zone[0].others.size() == 11));
  CHECK_THAT(zone[0].text, Catch::Contains("12 stations lie") && Catch::Contains("6 degrees too large"));
  CHECK(mend(stations, zone) == 1);
  CHECK(std::abs(stations[11].site.longitude_deg - longitude_deg) < 1e-9);
  CHECK_FALSE(stations[11].changes.empty());
  move(12, 0.0, 11.0);
  const std::vector<Finding> area = of_places();
  REQUIRE(area.size() == 1);
  CHECK((area[0].id == "far_group" && area[0].severity == Severity::note && area[0].others.size() == 11));
  move(12, 0.0, -11.0);
  move(2, 0.0, 11.0);
  const std::vector<Finding> pair = of_places();
  REQUIRE(pair.size() == 1);
  CHECK((pair[0].id == "far_away" && pair[0].severity == Severity::warning && pair[0].others.size() == 1));
}

TEST_CASE("check: findings name the line of the file where one shows it, else the file", "[survey]") {
  CHECK(io::survey::line_of("a\n LAT = 3\nZ\n", "EDI", FilePart::latitude) == 2);
  CHECK_FALSE(io::survey::line_of("LAT=3\nLAT=4\n", "EDI", FilePart::latitude));
  CHECK_FALSE(io::survey::line_of("REFLAT=3\n", "EDI", FilePart::latitude));
  const TemporaryFolder folder;
  std::string edi = text_of_file(source_path("data/gabbs_valley/edi/gv100.edi"));
  edi.replace(edi.find("ELEV=1437"), 9, "ELEV=91437");
  const std::string path = write_text(folder, "high.edi", edi);
  std::vector<StationData> stations = io::survey::read(path);
  for_each(stations[0], [](StationRow& r) { r.errors[Element::zyx] = not_given; });
  std::vector<Finding> findings = check(stations);
  const auto place_of = [&](const std::string& id) {
    const auto found = std::ranges::find(findings, id, &Finding::id);
    return found == findings.end() ? "" : found->place;
  };
  CHECK(place_of("elevation") == path);
  io::survey::add_lines(findings, stations);
  CHECK(place_of("elevation") == path + ":9");
  CHECK(place_of("no_errors") == path + ":201");
  stations[0].changes.emplace_back("moved");
  findings = check(stations);
  io::survey::add_lines(findings, stations);
  CHECK(place_of("elevation") == path);
}

TEST_CASE("check: a remark of a reader gives its line to the finding, and findings list their periods",
          "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  StationData& station = stations[0];
  station.remarks = {station.path + ":7: a remark", station.path + ": another: of all"};
  std::vector<double> masked_s;
  for (StationRow& row : station.rows) {
    if (row.frequency_hz > 1.0) continue;
    row.values[Element::tzx] = row.values[Element::tzy] = 1e-5;
    masked_s.push_back(1.0 / row.frequency_hz);
  }
  const std::vector<Finding> findings = check(stations);
  const auto of_text = [&](const std::string& text) {
    const auto found = std::ranges::find(findings, text, &Finding::text);
    REQUIRE(found != findings.end());
    return *found;
  };
  CHECK(of_text("a remark").place == station.path + ":7");
  CHECK(of_text("another: of all").place == station.path);
  const auto dead = std::ranges::find(findings, FindingKind::dead_tipper, &Finding::kind);
  REQUIRE(dead != findings.end());
  CHECK(std::ranges::is_sorted(dead->periods_s));
  CHECK(dead->periods_s == masked_s);
}

TEST_CASE("check: what a reader remarks is said once", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  stations[0].remarks = {"a remark"};
  const std::vector<Finding> findings = check(stations);
  CHECK(std::ranges::count_if(findings, [](const Finding& f) { return f.text == "a remark"; }) == 1);
}

TEST_CASE("check: what is mended is as it was, and says so", "[survey]") {
  const std::vector<StationData> stations = io::survey::read_folder(source_path("data/samtex/edi_kim_eto"));
  for (const Planted& mistake : planted_mistakes()) {
    INFO(mistake.what);
    std::vector<StationData> with = stations;
    mistake.plant(with[7]);
    const std::vector<Finding> findings = check(with);
    const std::size_t n_changes = with[7].changes.size();
    const int n = mend(with, findings);
    if (mistake.id == "swapped_components") {
      CHECK(n == 0);  // reversed electrodes look the same
      continue;
    }
    CHECK(n == 1);
    CHECK(with[7].changes.size() == n_changes + 1);
    CHECK(with[7].changes.back().find(mistake.id) != std::string::npos);
    CHECK(with[7].site.latitude_deg == stations[7].site.latitude_deg);
    CHECK(with[7].site.longitude_deg == stations[7].site.longitude_deg);
    CHECK_FALSE(finds(check(with), with[7].site.name, mistake.id));
    for (std::size_t k = 0; k < with[7].rows.size(); ++k) {
      const Complex mended = with[7].rows[k].values[Element::zxy],
                    was = stations[7].rows[k].values[Element::zxy];
      if (!stations[7].rows[k].is_missing(Element::zxy))
        CHECK(std::abs(mended - was) <= 1e-12 * std::abs(was));
    }
  }
}

TEST_CASE("check: of two ways to mend a place both are named, and none is chosen", "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/kap03/edi"));
  const auto station = std::ranges::find(stations, "kap112", [](const auto& each) { return each.site.name; });
  REQUIRE(station != stations.end());
  // The line runs across latitude = -longitude: its stations lie near their own mirror images.
  std::swap(station->site.latitude_deg, station->site.longitude_deg);
  const Station planted = station->site;
  const std::vector<Finding> findings = check(stations);
  const auto found = std::ranges::find(findings, "coordinates", &Finding::id);
  REQUIRE(found != findings.end());
  CHECK_THAT(found->text, Catch::Contains("swapped, or latitude and longitude have the other signs"));
  CHECK(mend(stations, findings) == 0);
  CHECK(station->site.latitude_deg == planted.latitude_deg);
}

TEST_CASE("check: a wrong azimuth is named where neighbours agree, and where none is, nothing is",
          "[survey]") {
  std::vector<StationData> stations = io::survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto n_named = [&] {
    return std::ranges::count_if(check(stations), [](const Finding& f) { return f.id == "wrong_frame"; });
  };
  CHECK(n_named() == 0);
  const std::string name = stations[3].site.name;
  turned(75.0).plant(stations[3]);
  CHECK(finds(check(stations), name, "wrong_frame"));
  CHECK(n_named() == 1);
}
