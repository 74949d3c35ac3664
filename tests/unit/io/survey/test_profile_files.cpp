// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/geodesy/profile.hpp"
#include "io/mare2dem/data.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/profile_files.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::Reading;
using physics::mt::StationData;
using survey::WriteFormat;

namespace {

const std::vector<WriteFormat> formats{WriteFormat::modem2d, WriteFormat::mare2dem, WriteFormat::occam2d};

std::vector<StationData> gabbs() { return survey::read_folder(source_path("data/gabbs_valley/edi")); }

std::vector<StationData> written(const std::vector<StationData>& stations, WriteFormat format,
                                 const survey::Placing& placing = {}) {
  const TemporaryFolder folder;
  static_cast<void>(survey::write(folder / "d.dat", stations, format, placing));
  return survey::read(folder / "d.dat");
}

const StationData& named(const std::vector<StationData>& stations, const std::string& name) {
  const auto found = std::ranges::find(stations, name, [](const StationData& s) { return s.site.name; });
  REQUIRE(found != stations.end());
  return *found;
}

/// Checks that two files state the same numbers, bit for bit.
void check_same(const std::vector<StationData>& a, const std::vector<StationData>& b) {
  const auto one = stated_data(a), other = stated_data(b);
  REQUIRE(one.value.size() == other.value.size());
  CHECK(one.survey.frequencies_hz == other.survey.frequencies_hz);
  std::ptrdiff_t n_different = 0;
  for (Eigen::Index i = 0; i < one.value.size(); ++i) {
    n_different += same_number(one.value[i], other.value[i]) ? 0 : 1;
    n_different += same_number(one.sigma[i], other.sigma[i]) ? 0 : 1;
  }
  CHECK(n_different == 0);
  for (std::size_t i = 0; i < one.survey.stations.size(); ++i) {
    CHECK(one.survey.stations[i].name == other.survey.stations[i].name);
    CHECK(one.survey.stations[i].y_m == other.survey.stations[i].y_m);
  }
}

bool loses(const std::vector<std::string>& lost, const std::string& part) {
  return std::ranges::any_of(lost,
                             [&](const std::string& each) { return each.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("files of a profile: what was read is written and read again with the same bits", "[survey]") {
  for (const auto& [format, path] : {std::pair{WriteFormat::modem2d, "data/modem_block2_2d/d0_JT.dat"},
                                     {WriteFormat::mare2dem, "data/mare2dem_demo/DemoSynthMT.emdata"}}) {
    INFO(path);
    const auto stations = survey::read(source_path(path));
    check_same(stations, written(stations, format));
  }
  // Depths and tilts are those of the receivers, and 103 and 135/136 come back as what they are read as.
  const TemporaryFolder folder;
  const auto mixed =
      mare2dem::read_data(write_text(folder, "m.emdata",
                                     "Format: EMData_2.2\n# MT Frequencies: 1\n0.3\n# MT Receivers: 2\n0 "
                                     "10.5 7 0 0 -0.5 0 0 a\n0 20 8 0 0 0 0 0 "
                                     "b\n# Data: 8\n103 1 1 1 17 2\n104 1 1 1 33.3 1.7\n105 1 1 1 23 3\n106 "
                                     "1 1 1 57.1 2.3\n135 1 2 2 0.3 0.02\n"
                                     "136 1 2 2 -70 3\n113 1 2 2 1e-3 1e-5\n114 1 2 2 2e-3 3e-5\n"));
  const auto back = written(mixed.stations, WriteFormat::mare2dem);
  check_same(mixed.stations, back);
  CHECK(back[0].site.z_m == 7.0);
  CHECK(back[0].site.tilt_deg == -0.5);
}

TEST_CASE("files of a profile: stations are projected and turned to strike", "[survey]") {
  const auto stations = gabbs();
  const survey::Placing placing{.line = {.azimuth_deg = 60.0, .origin = "gv110"}, .strike_deg = -20.0};
  const auto profile = geodesy::profile(stations, placing.line);
  StationData turned = named(stations, "gv101");
  rotate_rows(turned, -20.0);
  const physics::mt::StationRow& row = turned.rows[5];
  const double omega = physics::mt::omega(row.frequency_hz);
  for (const WriteFormat format : formats) {
    INFO(core::word(format));
    const auto back = written(stations, format, placing);
    REQUIRE(back.size() == stations.size());
    for (std::size_t i = 0; i < back.size(); ++i) CHECK(back[i].site.y_m == profile.y_m[i]);
    CHECK(named(back, "gv110").site.y_m == 0.0);
    const auto data = physics::mt::stated_data({named(back, "gv101")});
    const auto value_of = [&](Datum datum) {
      for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
        const double f = data.survey.frequencies_hz[static_cast<std::size_t>(data.survey.keys[i].frequency)];
        if (data.survey.keys[i].quantity == datum && std::abs(f / row.frequency_hz - 1.0) < 1e-9)
          return data.value[static_cast<Eigen::Index>(i)];
      }
      return physics::mt::not_given;
    };
    for (const Datum datum : format == WriteFormat::occam2d
                                 ? physics::mt::rho_and_phase
                                 : std::vector{Datum::zxy_re, Datum::zyx_im, Datum::tzy_re})
      CHECK(value_of(datum) == Approx(rule_of(datum).value(row.values, omega)).epsilon(1e-12));
  }
  const double depth = named(written(stations, WriteFormat::mare2dem, placing), "gv101").site.z_m;
  CHECK(depth == -named(stations, "gv101").site.elevation_m);
}

TEST_CASE("files of a profile: what a format cannot hold is named", "[survey]") {
  auto stations = gabbs();
  stations.resize(4);
  stations[0].rows[2].errors[Element::zxy] = physics::mt::not_given;
  stations[0].rows[2].covariance.reset();
  stations[1].readings.push_back({Datum::log10_rho_xy, 1.0, 2.0, 0.1, 7.0});
  for (const WriteFormat format : formats) {
    INFO(core::word(format));
    const auto profile = survey::profile_data(stations, format, {});
    CHECK(loses(profile.lost, "zxx, zyy"));
    CHECK(loses(profile.lost, "1 data in a frame other than"));
    CHECK(loses(profile.lost, "data without an error") == (format != WriteFormat::modem2d));
    CHECK(loses(profile.lost, "latitudes") == (format != WriteFormat::modem2d));
    CHECK(loses(profile.lost, "elevations") == (format != WriteFormat::mare2dem));
    CHECK(profile.title.find("strike") != std::string::npos);
  }
}

TEST_CASE(
    "files of a profile: impedances that a turn leaves incomplete are named, with the strike that keeps them",
    "[survey]") {
  auto stations = gabbs();
  stations.resize(4);
  const auto remove = [&](std::initializer_list<Element> elements) {
    for (StationData& station : stations)
      for (auto& row : station.rows)
        for (const Element element : elements)
          row.values[element] = {physics::mt::not_given, physics::mt::not_given};
  };
  remove({Element::zxx, Element::zyy});
  const double x_deg = stations[0].rows[0].azimuths.hx_deg;
  const auto at = [&](double strike_deg) {
    return survey::profile_data(stations, WriteFormat::mare2dem, {.strike_deg = strike_deg});
  };
  CHECK(loses(at(x_deg + 30.0).lost, fmt::format("--rotate {:g} keeps", x_deg)));
  CHECK_FALSE(loses(at(x_deg + 1e-5).lost, "--rotate"));
  remove({Element::tzx, Element::tzy});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)at(x_deg + 30.0); }),
             HasId("incomplete_tensors", {stations[0].site.name, "30 degrees"}));
}

TEST_CASE("files of a profile: ModEM gets impedances of TE, and pairs of parts", "[survey]") {
  const TemporaryFolder folder;
  const auto stations = survey::read(write_text(
      folder, "o.dat",
      "FORMAT: OCCAM2MTDATA_1.0\nSITES: 1\n a\nOFFSETS (M): 100\nFREQUENCIES: 1 0.5\nDATA BLOCKS: 6\n"
      "1 1 1 2 0.0434\n1 1 2 45 1\n1 1 5 1.5 0.05\n1 1 6 40 2\n1 1 3 0.1 0.02\n1 1 4 0.2 0.03\n"));
  const auto profile = survey::profile_data(stations, WriteFormat::modem2d, {});
  CHECK(loses(profile.lost, "errors of 1 imaginary parts"));
  const auto back = written(stations, WriteFormat::modem2d);
  const auto z = back[0].rows[0].values[Element::zxy];
  CHECK(physics::mt::apparent_resistivity_ohm_m(z, 0.5) == Approx(100.0));
  CHECK(physics::mt::phase_deg(z) == Approx(45.0));
  CHECK(back[0].rows[0].errors[Element::zxy] ==
        Approx(std::abs(z) * std::max(0.5 * 0.0434 * physics::mt::ln10, 1.0 / physics::mt::deg_per_rad)));
  REQUIRE(back[0].readings.size() == 2);
  CHECK(back[0].readings[0].value == 1.5);
  auto half = stations;
  std::erase_if(half[0].readings, [](const Reading& reading) { return reading.datum == Datum::tzy_im; });
  CHECK(loses(survey::profile_data(half, WriteFormat::modem2d, {}).lost, "1 parts of elements"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)survey::profile_data(stations, WriteFormat::modem2d, {.line = {.azimuth_deg = 10.0}});
             }),
             HasId("on_line_already", {"o.dat"}));
}

TEST_CASE("files of a profile: stations on a map of another file are projected from their x and y",
          "[survey]") {
  auto stations = survey::read(source_path("data/modem_block2_3d/de.dat"));
  for (StationData& station : stations) station.local_frame->azimuth_deg = 30.0;
  const auto profile =
      survey::profile_data(stations, WriteFormat::mare2dem, {.line = {.azimuth_deg = 120.0}}).data;
  for (std::size_t i = 0; i < stations.size(); ++i)
    CHECK(profile.survey.stations[i].y_m - profile.survey.stations[0].y_m ==
          Approx(stations[i].site.y_m - stations[0].site.y_m).margin(1e-6));
}
