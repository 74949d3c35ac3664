// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/survey/edit.hpp"
#include "io/survey/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <fmt/format.h>

#include <algorithm>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using Catch::Matchers::Contains;
using physics::mt::Element;
using physics::mt::FloorKind;
using physics::mt::StationData;
using physics::mt::StationRow;
using survey::edited;

namespace {

std::vector<StationData> two() {
  std::vector<StationData> stations =
      survey::read_files({source_path("tests/data/edi/gv100.edi"), source_path("tests/data/emtf/NMX20.xml")});
  return stations;
}

}  // namespace

TEST_CASE("edits: without any, stations stay as they are", "[survey]") {
  const std::vector<StationData> before = two(), after = edited(before, {});
  REQUIRE(after.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(after[k].changes.empty());
    REQUIRE(after[k].rows.size() == before[k].rows.size());
    for (std::size_t i = 0; i < before[k].rows.size(); ++i)
      CHECK(difference(after[k].rows[i], before[k].rows[i]) == "");
  }
}

TEST_CASE("edits: sites come in the order asked for, and periods within the range", "[survey]") {
  const std::vector<StationData> after =
      edited(two(), {.sites = {"NMX20", "gv100"}, .min_period_s = 10.0, .max_period_s = 1000.0});
  CHECK(after[0].site.name == "NMX20");
  for (const StationData& station : after) {
    CHECK(std::ranges::all_of(station.rows, [](const StationRow& row) {
      return row.frequency_hz >= 1e-3 && row.frequency_hz <= 0.1;
    }));
    REQUIRE(station.changes.size() == 1);
    CHECK_THAT(station.changes[0], Contains("periods beyond 10 to 1000 s"));
  }
  CHECK_THAT(error_of<core::ConfigError>([] { static_cast<void>(edited(two(), {.sites = {"gv10"}})); }),
             HasId("unknown_site", {"gv10", "gv100"}));
  CHECK_THAT(
      error_of<core::ConfigError>([] { static_cast<void>(edited(two(), {.masks = {{.station = "NMX2"}}})); }),
      HasId("unknown_site", {"NMX2", "NMX20"}));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [] { static_cast<void>(edited(two(), {.min_period_s = 1e8, .max_period_s = 1e9})); }),
             HasId("nothing_left"));
}

TEST_CASE("edits: masked values are missing, with their errors and correlations", "[survey]") {
  physics::mt::Where where{.station = "NMX20", .min_frequency_hz = 1e-3, .max_frequency_hz = 1e-1};
  where.data = {physics::mt::Datum::zxy_re};
  const std::vector<StationData> before = two(), after = edited(before, {.masks = {where}});
  CHECK(after[0].changes.empty());
  int n = 0;
  for (std::size_t i = 0; i < before[1].rows.size(); ++i) {
    const StationRow& row = after[1].rows[i];
    if (row.frequency_hz < 1e-3 || row.frequency_hz > 1e-1) {
      CHECK(difference(row, before[1].rows[i]) == "");
      continue;
    }
    ++n;
    CHECK(row.is_missing(Element::zxy));
    CHECK_FALSE(row.is_missing(Element::zyx));
    CHECK(std::isnan(row.errors[Element::zxy]));
    CHECK(std::isnan((*row.covariance)(1, 2).real()));
  }
  CHECK(n > 10);
  const std::vector<StationData> without = edited(before, {.masks = {{.station = "NMX20"}}});
  REQUIRE(without.size() == 2);  // a survey file keeps what is masked
  CHECK_FALSE(without[1].has_value());
  CHECK(after[1].changes == std::vector{fmt::format("{} values were masked", n)});
}

TEST_CASE("edits: masked values are turned, widened and taken back as the others", "[survey]") {
  const physics::mt::Where where{.station = "NMX20", .data = {physics::mt::Datum::zxy_re}};
  const survey::Edits turn{
      .declination_deg = 3.0, .azimuth_deg = 40.0, .floors = {{FloorKind::impedance, 0.05}}};
  survey::Edits masked = turn;
  masked.masks = {where};
  const StationData whole = edited(two(), turn)[1];
  std::vector<StationData> stations = edited(two(), masked);
  CHECK(stations[1].rows[0].is_masked(Element::zyx));  // an impedance turns with all four elements alone
  CHECK_FALSE(stations[1].rows[0].is_missing(Element::tzx));
  stations = edited(stations, {.unmasks = {{.station = "NMX20"}}});
  CHECK(stations[1].n_masked() == 0);
  CHECK_THAT(stations[1].changes.back(), Contains("masked values were taken back"));
  check_same_station(stations[1], whole);
  const auto part = edited(edited(two(), {.masks = {{.station = "NMX20"}}}),
                           {.unmasks = {{.station = "NMX20", .min_frequency_hz = 1e-2}}});
  for (const StationRow& row : part[1].rows) CHECK(row.is_missing(Element::zxy) == (row.frequency_hz < 1e-2));
}

TEST_CASE("edits: a mask that masks nothing is said", "[survey]") {
  const int before = core::log::count(core::log::Level::warning);
  static_cast<void>(edited(two(), {.masks = {{.station = "gv100", .min_frequency_hz = 1e5}}}));
  CHECK(core::log::count(core::log::Level::warning) == before + 1);
  static_cast<void>(edited(two(), {.masks = {{.min_frequency_hz = 1.0}}}));
  CHECK(core::log::count(core::log::Level::warning) == before + 1);
}

TEST_CASE("edits: stations that are merged and contradict each other, and namesakes apart, are said",
          "[survey]") {
  std::vector<StationData> stations =
      survey::read_files({source_path("tests/data/edi/gv100.edi"), source_path("tests/data/edi/gv100.edi")});
  const int before = core::log::count(core::log::Level::warning);
  const auto joined = edited(stations, {.merge_within_m = 50.0});
  REQUIRE(joined.size() == 1);
  CHECK_THAT(joined[0].changes.back(), Contains("merged with gv100_2, which stands 0 m apart"));
  CHECK(core::log::count(core::log::Level::warning) == before);
  for (StationRow& row : stations[1].rows)
    for (auto& value : row.values.numbers) value *= 3.0;
  const StationData mean = edited(stations, {.merge_within_m = 50.0})[0];
  CHECK(core::log::count(core::log::Level::warning) == before + 1);
  CHECK_THAT(mean.remarks.back().text, Contains("gv100 and gv100_2 differ at 46 of 48 shared periods"));
  CHECK_THAT(mean.changes.back(), Contains("48 periods shared, χ² "));
  stations[1].site.latitude_deg += 0.01;
  CHECK(edited(stations, {.merge_within_m = 50.0}).size() == 2);
  CHECK(core::log::count(core::log::Level::warning) == before + 2);
}

TEST_CASE("edits: a merged station keeps its own name in files, and says which masked values gave way",
          "[survey]") {
  std::vector<StationData> stations = two();  // far from each other
  StationData namesake = stations[0];
  stations[1].site.latitude_deg = namesake.site.latitude_deg;
  stations[1].site.longitude_deg = namesake.site.longitude_deg;
  namesake.site.name = "gv100_2";
  namesake.remarks.emplace_back("another station is named gv100", physics::mt::RemarkKind::renamed, "gv100");
  namesake.rows = stations[1].rows;
  stations[0].site.latitude_deg += 1.0;
  stations.push_back(namesake);
  CHECK(stations[2].name_in_file() == "gv100");
  const auto joined =
      edited(stations, {.masks = {{.station = "gv100_2", .min_frequency_hz = 1e-2}}, .merge_within_m = 50.0});
  REQUIRE(joined.size() == 2);
  CHECK(joined[1].name_in_file() == "NMX20");
  CHECK(joined[1].n_masked() == 0);
  CHECK(std::ranges::any_of(joined[1].changes, [](const std::string& change) {
    return change.find("masked values of NMX20 and gv100_2 0 are left") != std::string::npos;
  }));
}

TEST_CASE("edits: an --unmask that takes nothing back is said", "[survey]") {
  const int before = core::log::count(core::log::Level::warning);
  static_cast<void>(edited(two(), {.unmasks = {{.station = "gv100"}}}));
  CHECK(core::log::count(core::log::Level::warning) == before + 1);
}

TEST_CASE("edits: declination counts before the rotation, and floors only raise errors", "[survey]") {
  const std::vector<StationData> before = two();
  const std::vector<StationData> after =
      edited(before, {.declination_deg = 10.0,
                      .azimuth_deg = 40.0,
                      .floors = {{FloorKind::impedance, 0.02}, {FloorKind::tipper, 0.02}}});
  const StationRow turned = rotated(before[0].rows[5], 30.0);
  CHECK(std::abs(after[0].rows[5].values[Element::zxy] - turned.values[Element::zxy]) < 1e-15);
  CHECK(after[0].rows[5].azimuths.hx_deg == 40.0);
  CHECK(after[0].changes.size() == 3);
  int raised = 0;
  for (const StationRow& row : after[1].rows) {
    const double floor = 0.02 * std::abs(row.values[Element::zxy]);
    CHECK(row.errors[Element::zxy] >= floor * (1.0 - 1e-12));
    CHECK((*row.covariance)(1, 1).real() ==
          Approx(2.0 * row.errors[Element::zxy] * row.errors[Element::zxy]));
    raised += row.errors[Element::zxy] <= floor * (1.0 + 1e-12);
  }
  CHECK(raised > 0);
}

TEST_CASE("edits: floors of each kind reach what stations state beside elements", "[survey]") {
  std::vector<StationData> stations = two();
  stations.resize(1);
  constexpr double degree = 3.14159265358979323846 / 180.0;
  for (const auto& [name, sigma] : {std::pair{"phase_tensor_xy", physics::mt::not_given},
                                    {"mxy_re", 0.001},
                                    {"log10_rho_xy", 0.2},
                                    {"phase_xy", 0.001}})
    (void)stations[0].add({physics::mt::datum_from(name), 0.5, 0.25, sigma, 0.0});
  const auto n = stations[0].readings.size();
  const StationData after = edited(stations, {.floors = {{FloorKind::phase_tensor, 0.05},
                                                         {FloorKind::interstation, 0.02},
                                                         {FloorKind::log10_rho, 0.1},
                                                         {FloorKind::phase, 2.0}}})[0];
  REQUIRE(after.readings.size() == n);
  CHECK(after.readings[n - 4].sigma == 0.05);
  CHECK(after.readings[n - 3].sigma == 0.02);
  CHECK(after.readings[n - 2].sigma == 0.2);
  CHECK(after.readings[n - 1].sigma == Approx(2.0 * degree));
  CHECK(after.rows[0].errors[Element::zxy] == stations[0].rows[0].errors[Element::zxy]);
  CHECK_THAT(after.changes.back(), Contains("errors of 3 values") && Contains("phase 2"));
}

TEST_CASE("edits: what a rotation takes from incomplete tensors is noted, and refused where it is all",
          "[survey]") {
  std::vector<StationData> stations = two();
  for (StationRow& row : stations[0].rows)
    for (const Element element : {Element::zxx, Element::zyy, Element::tzx, Element::tzy})
      row.values[element] = {physics::mt::not_given, physics::mt::not_given};
  const double x_deg = stations[0].rows[0].azimuths.hx_deg;
  const auto after = edited(stations, {.azimuth_deg = x_deg + 30.0});
  CHECK_THAT(after[0].changes.back(),
             Contains(fmt::format("without {} elements", 2 * stations[0].rows.size())));
  CHECK_FALSE(Contains("without").match(after[1].changes.back()));
  CHECK_FALSE(Contains("without").match(edited(stations, {.azimuth_deg = x_deg + 90.0})[0].changes.back()));
  stations.resize(1);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)edited(stations, {.azimuth_deg = x_deg + 30.0}); }),
             HasId("incomplete_tensors", {"station gv100", "30 degrees"}));
}

TEST_CASE("edits: stations within a distance become one, before tensors are turned", "[survey]") {
  std::vector<StationData> before = two();
  before[1].site.latitude_deg = before[0].site.latitude_deg + 1e-4;  // 11 m
  before[1].site.longitude_deg = before[0].site.longitude_deg;
  CHECK(edited(before, {.merge_within_m = 5.0}).size() == 2);
  const std::vector<StationData> after = edited(before, {.merge_within_m = 50.0, .azimuth_deg = 40.0});
  REQUIRE(after.size() == 1);
  CHECK(after[0].has_name(before[1].site.name));
  CHECK(after[0].rows.size() > before[0].rows.size());
  CHECK(after[0].rows.front().azimuths.hx_deg == 40.0);
  CHECK(after[0].changes.front().find(before[1].site.name) != std::string::npos);
}
