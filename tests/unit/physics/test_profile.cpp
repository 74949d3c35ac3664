// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::physics::mt;
using lodestone::tests::message_of;

namespace {

/// A station whose impedance is `scale` times that of a half-space of 100 ohm m, at 100, 10, 1 Hz.
TransferFunctions station(const std::string& name, double scale = 1.0) {
  TransferFunctions out;
  out.name = name;
  for (const double f : {100.0, 10.0, 1.0}) {
    TransferFunctionRow row;
    row.frequency_hz = f;
    const Complex z = scale * std::polar(std::sqrt(100.0 * omega(f) * mu0), 45.0 / deg_per_rad);
    row.impedance = {Estimate{0.0, 1e-9}, Estimate{z, 1e-9}, Estimate{-z, 1e-9}, Estimate{0.0, 1e-9}};
    row.tipper = {Estimate{0.0, 1e-3}, Estimate{Complex(0.1, 0.05), 1e-3}};
    out.rows.push_back(row);
  }
  return out;
}

Profile line_of(std::size_t n) {
  Profile profile;
  for (std::size_t i = 0; i < n; ++i) profile.y_m.push_back(1000.0 * static_cast<double>(i));
  profile.offset_m.assign(n, 0.0);
  return profile;
}

MaskReason reason(const ObservedData& data, Quantity quantity, int frequency, int s) {
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& key = data.survey.keys[i];
    if (key.quantity == quantity && key.frequency == frequency && key.station == s) return data.mask[i];
  }
  return MaskReason::kept;
}

DataSelection select(std::vector<Quantity> quantities) {
  DataSelection selection;
  selection.quantities = std::move(quantities);
  return selection;
}

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("profile: the best line has the azimuth of collinear stations and grows from first to last",
          "[profile]") {
  const double azimuth = 329.5 / deg_per_rad;
  std::vector<PlanePoint> points;
  for (const double d : {0.0, 10e3, 25e3, 40e3})
    points.push_back({5e3 + d * std::cos(azimuth), -2e3 + d * std::sin(azimuth)});
  const auto profile = make_profile({"a", "b", "c", "d"}, points, {});
  CHECK(profile.azimuth_deg == Approx(329.5).margin(1e-9));
  CHECK(profile.y_m[3] == Approx(40e3));
  CHECK(profile.y_m[0] == Approx(0.0).margin(1e-6));
  CHECK(profile.offset_m[2] == Approx(0.0).margin(1e-6));
  CHECK(profile.origin.north_m == Approx(5e3));
  CHECK(profile.origin.east_m == Approx(-2e3));
}

TEST_CASE(
    "profile: x points along azimuth minus 90 degrees, so that a station north of an eastward line has a "
    "positive offset",
    "[profile]") {
  const auto profile = make_profile({"a", "b", "c"}, {{0, 0}, {0, 1000}, {-30, 500}},
                                    {.azimuth_deg = 90.0, .origin_station = {}, .distance = {}});
  CHECK(profile.y_m[1] == Approx(1000));
  CHECK(profile.offset_m[2] == Approx(-20.0));
  const auto north_of = make_profile({"a", "b", "c"}, {{0, 0}, {0, 1000}, {30, 500}},
                                     {.azimuth_deg = 90.0, .origin_station = {}, .distance = {}});
  CHECK(north_of.offset_m[2] == Approx(20.0));  // azimuth 0 is +x: north
}

TEST_CASE("profile: y counts from the origin station and running sums are at least as long as projections",
          "[profile]") {
  const std::vector<PlanePoint> points{{0, 0}, {300, 1000}, {-300, 2000}};
  const auto projected = make_profile(
      {"a", "b", "c"}, points, {.azimuth_deg = 90.0, .origin_station = "b", .distance = Distance::projected});
  CHECK(projected.y_m == std::vector<double>{-1000, 0, 1000});
  const auto summed =
      make_profile({"a", "b", "c"}, points,
                   {.azimuth_deg = 90.0, .origin_station = "a", .distance = Distance::running_sum});
  CHECK(summed.y_m[2] == Approx(std::hypot(300, 1000) + std::hypot(600, 1000)));
}

TEST_CASE(
    "profile: coincident stations, an unknown origin and a line of one station are errors that name them",
    "[profile]") {
  const auto coincident = [] { (void)make_profile({"a", "b"}, {{0, 0}, {0.2, 0}}, {}); };
  CHECK_THAT(message_of<core::InvalidArgument>(coincident), Catch::Contains("a and b are 0.20 m apart"));
  const auto unknown = [] {
    (void)make_profile({"kim438", "kim439"}, {{0, 0}, {9, 9}},
                       {.azimuth_deg = {}, .origin_station = "kim483", .distance = {}});
  };
  CHECK_THAT(message_of<core::InvalidArgument>(unknown),
             Catch::Contains("\"kim483\"") && Catch::Contains("did you mean \"kim438\""));
  CHECK_THROWS_AS(make_profile({"a"}, {{0, 0}}, {}), core::InvalidArgument);
  CHECK_THROWS_AS(make_profile({}, {}, {}), core::InvalidArgument);
}

TEST_CASE("observed data: values are those of the station, sigma is at least the floor", "[profile]") {
  const auto data = make_observed_data(
      {station("a"), station("b", 2.0)}, line_of(2),
      select({Quantity::log10_rho_xy, Quantity::phase_yx, Quantity::zyx_re, Quantity::tzy_im}));
  REQUIRE(data.survey.keys.size() == 4 * 3 * 2);
  CHECK(data.n_kept() == 24);
  CHECK(data.value[0] == Approx(2.0));  // log10 rho at the first station
  CHECK(data.value[1] == Approx(2.0 + 2.0 * std::log10(2.0)));
  CHECK(data.value[6] == Approx(-135.0 / deg_per_rad));  // Zyx phase is not folded
  CHECK(data.sigma[0] == Approx(0.0434));
  CHECK(data.sigma[6] == Approx(2.86 / deg_per_rad));
  CHECK(data.sigma[12] == Approx(0.05 * std::abs(station("a").rows[0].impedance[2].value)));
  CHECK(data.sigma[18] == Approx(0.02));
}

TEST_CASE("observed data: errors of the file count where they exceed the floor", "[profile]") {
  auto noisy = station("a");
  const double modulus = std::abs(noisy.rows[0].impedance[1].value);
  for (auto& row : noisy.rows) row.impedance[1].sigma = 0.2 * std::abs(row.impedance[1].value);
  const DataSelection selection = select({Quantity::zxy_re, Quantity::log10_rho_xy, Quantity::phase_xy});
  const auto data = make_observed_data({noisy}, line_of(1), selection);
  CHECK(data.sigma[0] == Approx(0.2 * modulus));
  CHECK(data.sigma[3] == Approx(2.0 * 0.2 / ln10));
  CHECK(data.sigma[6] == Approx(0.2));
  auto ignoring = selection;
  ignoring.ignore_file_errors = true;
  CHECK(make_observed_data({noisy}, line_of(1), ignoring).sigma[0] == Approx(0.05 * modulus));
}

TEST_CASE(
    "observed data: a phase out of its quadrant masks the phase and both parts, not the apparent resistivity",
    "[profile]") {
  auto bad = station("a");
  bad.rows[1].impedance[2].value *= std::polar(1.0, 80.0 / deg_per_rad);  // folded phase 125
  const auto data = make_observed_data({bad}, line_of(1),
                                       select({Quantity::zyx_re, Quantity::zyx_im, Quantity::log10_rho_yx,
                                               Quantity::phase_yx, Quantity::phase_xy}));
  CHECK(reason(data, Quantity::phase_yx, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Quantity::zyx_re, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Quantity::zyx_im, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Quantity::log10_rho_yx, 1, 0) == MaskReason::kept);
  CHECK(reason(data, Quantity::phase_xy, 1, 0) == MaskReason::kept);
  CHECK(reason(data, Quantity::phase_yx, 0, 0) == MaskReason::kept);
}

TEST_CASE("observed data: missing, listed and bad-error data are masked and counted by reason", "[profile]") {
  auto first = station("a"), second = station("b");
  first.rows[0].impedance[1].value = Complex(missing, missing);
  DataSelection selection = select({Quantity::zxy_re, Quantity::zxy_im});
  selection.floors.impedance_relative = 0.0;
  second.rows[2].impedance[1].sigma = missing;
  selection.masks = {{"b", {Quantity::zxy_im}, 50.0, 1e300}};
  const auto data = make_observed_data({first, second}, line_of(2), selection);
  CHECK(reason(data, Quantity::zxy_re, 0, 0) == MaskReason::missing);
  CHECK(std::isnan(data.value[0]));
  CHECK(reason(data, Quantity::zxy_im, 0, 1) == MaskReason::listed);
  CHECK(reason(data, Quantity::zxy_re, 0, 1) == MaskReason::kept);
  CHECK(reason(data, Quantity::zxy_re, 2, 1) == MaskReason::bad_error);
  const std::string table = mask_table(data);
  CHECK_THAT(table,
             Catch::Contains("zxy_re") && Catch::Contains("out_of_quadrant") && Catch::Contains("all"));
  CHECK(data.kept().survey.keys.size() == static_cast<std::size_t>(data.n_kept()));
  CHECK(data.kept().n_kept() == 12 - 2 - 1 - 2);
}

TEST_CASE(
    "observed data: shared frequencies are used unless listed, another list is missing or interpolated on "
    "request and flagged",
    "[profile]") {
  auto other = station("b");
  for (auto& row : other.rows) row.frequency_hz *= 1.3;
  DataSelection selection = select({Quantity::log10_rho_xy});
  CHECK_THAT(message_of<core::InvalidArgument>([&] {
               (void)make_observed_data({station("a"), other}, line_of(2), selection);
             }),
             Catch::Contains("share no frequency"));
  selection.frequencies_hz = {100.0, 10.0};
  CHECK(make_observed_data({station("a"), other}, line_of(2), selection).n_kept() == 2);
  selection.interpolate_stations = {"b"};
  const auto data = make_observed_data({station("a"), other}, line_of(2), selection);
  CHECK(data.n_kept() == 4);
  CHECK(data.interpolated == std::vector<std::uint8_t>{0, 1, 0, 1});
  selection.interpolate_stations = {"c"};
  CHECK_THROWS_AS(make_observed_data({station("a"), other}, line_of(2), selection), core::InvalidArgument);
}

TEST_CASE(
    "observed data: stations without a usable datum are named with their reasons, and do not hide what is "
    "masked elsewhere",
    "[profile]") {
  auto dead = station("dead");
  for (auto& row : dead.rows) row.impedance[1].value = Complex(missing, missing);
  DataSelection selection = select({Quantity::zxy_re, Quantity::zxy_im});
  CHECK(mask_warnings(make_observed_data({station("a"), station("b")}, line_of(2), selection)).empty());
  const auto one =
      mask_warnings(make_observed_data({station("a"), dead, station("b")}, line_of(3), selection));
  REQUIRE(one.size() == 1);
  CHECK_THAT(one[0], Catch::Contains("1 of 3 stations have no usable datum: dead (6 missing)") &&
                         Catch::Contains("no finite value") && !Catch::Contains("rotation"));
  auto turned = station("turned");
  for (auto& row : turned.rows) row.impedance[1].value = -row.impedance[1].value;
  const auto two = mask_warnings(make_observed_data({station("a"), dead, turned}, line_of(3), selection));
  REQUIRE(two.size() == 1);
  CHECK_THAT(two[0], Catch::Contains("dead (6 missing), turned (6 out_of_quadrant)") &&
                         Catch::Contains("rotation and time factor"));
  selection.masks = {{"b", {Quantity::zxy_im}, 0.0, 1e300}};
  const auto elsewhere =
      mask_warnings(make_observed_data({station("a"), dead, station("b")}, line_of(3), selection));
  selection.masks.push_back({"a", {}, 0.0, 1e300});
  CHECK_THAT(
      mask_warnings(make_observed_data({station("a"), dead, station("b")}, line_of(3), selection)).at(0),
      Catch::Contains(
          "1 of 3 stations have no usable datum: dead (6 missing)"));  // "a" is left out on purpose
  REQUIRE(elsewhere.size() == 2);
  CHECK_THAT(elsewhere[1],
             Catch::Contains("25.0 % of the data of the other stations are masked; listed: the mask rules"));
}

TEST_CASE(
    "observed data: nothing usable is an error that shows the table and says what to look at, so is a rule "
    "for an unknown station",
    "[profile]") {
  DataSelection selection = select({Quantity::zxy_re});
  selection.masks = {{"", {}, 0.0, 1e300}};
  CHECK_THAT(message_of<core::InvalidArgument>(
                 [&] { (void)make_observed_data({station("a")}, line_of(1), selection); }),
             Catch::Contains("no usable datum is left; listed: the mask rules take them:") &&
                 Catch::Contains("out_of_quadrant"));
  selection.masks = {{"z", {}, 0.0, 1e300}};
  CHECK_THROWS_AS(make_observed_data({station("a")}, line_of(1), selection), core::InvalidArgument);
}
