// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "io/survey/write.hpp"
#include "io/wsinv/data.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::StationData;

namespace {

const std::string head = "2 2 8\nStation_Location: N-S\n-1000.5\n2000\nStation_Location: E-W\n0 10\n";
const std::string data =
    "DATA_Period: 0.1\n1e-3 2e-3 2e-2 -2e-2\n-2e-2 2e-2 3e-4 -4e-4\n1e-3 2e-3 3e-2 -2e-2 -2e-2 2e-2 0 0\n"
    "DATA_Period: 10\n1e-4 2e-4 2e-3 -2e-3\n-2e-3 2e-3 3e-4 -4e-4\n1e-4 2e-4 3e-3 -2e-3 -2e-3 2e-3 1e-5 0\n";
const std::string errors =
    "ERROR_Period: 0.1\n1e-4 1e-4 2e-3 2e-3 2e-3 2e-3 1e-4 1e-4\n1e-4 1e-4 3e-3 4e-3 2e-3 2e-3 1 1\n"
    "ERROR_Period: 10\n1e-5 1e-5 2e-4 2e-4 2e-4 2e-4 1e-4 1e-4\n1e-5 1e-5 2e-4 2e-4 -1 2e-4 1e-5 1e-5\n"
    "ERMAP_Period: 0.1\n1 1 10 10 1 1 1 1\n1 1 1 1 1 1 1 1\n";

std::vector<StationData> parse(const std::string& text, const physics::mt::Conventions& chosen = {}) {
  const TemporaryFolder folder;
  return wsinv::read_data(write_text(folder, "ws.dat", text), chosen);
}

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

bool says(const StationData& station, const std::string& part) {
  return std::ranges::any_of(station.remarks, [&](const physics::mt::Remark& remark) {
    return remark.text.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("WSINV3DMT: places, values in ohm and e^{+iwt}, errors times their map", "[wsinv]") {
  const auto stations = parse(head + data + errors);
  REQUIRE(stations.size() == 2);
  CHECK(stations[1].site.name == "2");
  CHECK(stations[0].site.x_m == -1000.5);
  CHECK(stations[1].site.y_m == 10.0);
  REQUIRE(stations[0].rows.size() == 2);
  const auto& high = stations[0].rows[0];
  CHECK(high.frequency_hz == 10.0);
  CHECK(high.values[Element::zxy] == Complex(2e-2, 2e-2));
  CHECK(high.errors[Element::zxy] == 2e-2);
  CHECK(high.errors[Element::zyx] == 2e-3);
  CHECK(stations[1].rows[0].is_missing(Element::zyy));
  CHECK(stations[1].rows[0].errors[Element::zxy] == Approx(std::sqrt(0.5 * (9e-6 + 16e-6))));
  CHECK(std::isnan(stations[1].rows[1].errors[Element::zyx]));
  CHECK(stations[1].rows[1].values[Element::zyy] == Complex(1e-5, 0));
  CHECK(stations[0].sign_in_file == "-");
  CHECK(says(stations[0], "1 values are exactly 0"));
  CHECK(says(stations[0], "1 values have no error"));
  CHECK(parse(head + data, {.sign = physics::mt::TimeFactor::plus})[0].rows[0].values[Element::zxy] ==
        Complex(2e-2, -2e-2));
}

TEST_CASE("WSINV3DMT: what was read is written and read again with the same bits", "[wsinv]") {
  const auto stations = parse(head + data + errors);
  const auto written = wsinv::text_of(stations);
  CHECK(written.text.starts_with("2 2 8\n"));
  const auto back = parse(written.text);
  REQUIRE(back.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(back[i].site.x_m == stations[i].site.x_m);
    CHECK(back[i].site.y_m == stations[i].site.y_m);
    REQUIRE(back[i].rows.size() == 2);
    for (std::size_t k = 0; k < 2; ++k) CHECK(difference(stations[i].rows[k], back[i].rows[k]) == "");
  }
  auto changed = stations;
  changed[0].rows[0].values[Element::tzy] = {0.1, 0.2};
  CHECK(wsinv::text_of(changed).text.starts_with("2 2 12\n"));
  CHECK(parse(wsinv::text_of(changed).text)[0].rows[0].values[Element::tzy] == Complex(0.1, 0.2));
  for (auto& station : changed)
    for (auto& row : station.rows) row.values = physics::mt::StationRow::missing_values();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)wsinv::text_of(changed); }),
             HasId("nothing_to_write"));
}

TEST_CASE("WSINV3DMT: errors name the line and what was expected", "[wsinv]") {
  CHECK_THAT(refusal("2 2\n"), HasId("no_counts", {"ws.dat:1"}));
  CHECK_THAT(refusal("2 2 7\n"), HasId("unknown_responses", {"7"}));
  CHECK_THAT(refusal("2 2 8\nStation_Location: E-W\n1 2\n"), HasId("no_location", {"ws.dat:2"}));
  CHECK_THAT(refusal(replaced(head, "0 10\n", "0 10 20\n") + data), HasId("too_many", {"2", "3"}));
  CHECK_THAT(refusal(head + "ERROR_Period: 3\n"), HasId("no_data", {"3"}));
  CHECK_THAT(refusal(head + "DATA_Period: 3\n1 2 3\n"), HasId("cut_off"));
  CHECK_THAT(refusal(head + "DATA_Period: -3\n"), HasId("period_not_positive"));
  CHECK_THAT(refusal(head + data + data), HasId("second_list", {"0.1"}));
  CHECK_THAT(refusal(head + data + "1 2 3\n"), HasId("no_period"));
  CHECK_THAT(refusal(head + "DATA_Period: 3\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"), HasId("no_value"));
}

TEST_CASE("WSINV3DMT: convert writes files that info describes", "[wsinv]") {
  const TemporaryFolder folder;
  const auto stations = survey::read_folder(source_path("data/gabbs_valley/edi"));
  const auto result = survey::write(folder / "ws.dat", stations, survey::WriteFormat::wsinv);
  REQUIRE(result.lost.size() == 1);
  CHECK(survey::kind_of_file(folder / "ws.dat") == survey::FileKind::wsinv_data);
  const auto back = survey::read(folder / "ws.dat");
  REQUIRE(back.size() == stations.size());
  const auto file = info::describe_file(folder / "ws.dat");
  CHECK(file.status == "ok");
  REQUIRE(file.sites.size() == stations.size());
  CHECK(file.sites[0].n_periods > 20);
  CHECK(back[3].rows[2].values[Element::zxy] == stations[3].rows[2].values[Element::zxy]);
}
