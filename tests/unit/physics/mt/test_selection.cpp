// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/selection_steps.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <array>
#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::Contains;
using lodestone::tests::message_of;

namespace {

/// Returns a station over a half-space of 100 ohm m, with a small tipper. Channels along `azimuth_deg`.
StationData station(const std::string& name, const std::vector<double>& frequencies_hz = {100.0, 10.0, 1.0},
                    double azimuth_deg = 0.0) {
  StationData out;
  out.site.name = name;
  out.path = name + ".edi";
  for (const double f : frequencies_hz) {
    StationRow row;
    row.frequency_hz = f;
    const Complex z = std::polar(std::sqrt(100.0 * omega(f) * mu0), 45.0 / deg_per_rad);
    row.values.numbers = {0.0, z, -z, 0.0, Complex(0.03, 0.01), Complex(0.1, 0.05)};
    row.errors.numbers.fill(1e-9);
    row.azimuths = ChannelAzimuths::along(azimuth_deg);
    out.rows.push_back(row);
  }
  return out;
}

/// Returns stations 1 km apart on a line to the east, so that x of the data points north.
Profile line_of(std::size_t n) {
  Profile profile;
  profile.azimuth_deg = 90.0;
  for (std::size_t i = 0; i < n; ++i) profile.y_m.push_back(1000.0 * static_cast<double>(i));
  profile.offset_m.assign(n, 0.0);
  return profile;
}

const std::vector<Datum> te_rho_and_phase{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx,
                                          Datum::phase_yx};

Selection selection_of(std::vector<Datum> data) {
  Selection selection;
  selection.data = std::move(data);
  return selection;
}

Eigen::Index key_of(const Observations& data, Datum datum, int frequency, int place) {
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const DatumKey& key = data.survey.keys[i];
    if (key.quantity == datum && key.frequency == frequency && key.station == place)
      return static_cast<Eigen::Index>(i);
  }
  FAIL("no such datum");
  return -1;
}

MaskReason reason(const Observations& data, Datum datum, int frequency, int place) {
  return data.reason[static_cast<std::size_t>(key_of(data, datum, frequency, place))];
}

double value(const Observations& data, Datum datum, int frequency, int place) {
  return data.value[key_of(data, datum, frequency, place)];
}

double sigma(const Observations& data, Datum datum, int frequency, int place) {
  return data.sigma[key_of(data, datum, frequency, place)];
}

}  // namespace

TEST_CASE("select: merges the bands of stations at one place", "[physics][mt][selection]") {
  StationData high = station("a", {100.0, 10.0}), low = station("a_long", {10.0, 1.0});
  high.rows[1].values[Element::zyx] = {not_given, not_given};
  low.rows[0].values[Element::zyx] = {-0.5, -0.25};
  low.rows[0].values[Element::zxy] = {9.0, 9.0};
  PlacedStations both = placed({high, low, station("b")}, line_of(3));
  both.stations[1].site.y_m = 0.6;
  both.profile.offset_m[1] = 0.6;
  const PlacedStations joined = merged_bands(both, 1.0);
  const auto& merged = joined.stations;
  REQUIRE(merged.size() == 2);
  CHECK(joined.profile.y_m == std::vector<double>{0.0, 2000.0});
  REQUIRE(merged[0].rows.size() == 3);
  CHECK(merged[0].rows[2].frequency_hz == 1.0);
  CHECK(merged[0].rows[1].values[Element::zyx] == Complex(-0.5, -0.25));
  CHECK(std::abs(merged[0].rows[1].values[Element::zxy] -
                 0.5 * (high.rows[1].values[Element::zxy] + Complex(9.0, 9.0))) < 1e-12);  // errors are alike
  CHECK((merged[0].has_name("a") && merged[0].has_name("a_long") && !merged[0].has_name("b")));
  CHECK_THAT(merged[0].remarks.back().text, Contains("a_long"));
  CHECK(merged_bands(both, 0.5).stations.size() == 3);
  both.stations[0].site.z_m = 0.0;
  both.stations[1].site.z_m = 30.0;
  CHECK(merged_bands(both, 1.0).stations.size() == 3);  // at one place, but not at one depth
}

TEST_CASE("select: bands of different channels are merged in one frame", "[physics][mt][selection]") {
  StationData high = station("a", {10.0}), low = station("a_long", {10.0});
  high.rows[0].values[Element::tzx] = {not_given, not_given};
  low.rows[0] = rotated(low.rows[0], 90.0);
  const auto merged = merged_bands(placed({high, low}, profile_along({0.0, 0.0})), 1.0).stations;
  REQUIRE(merged.size() == 1);
  CHECK(std::abs(merged[0].rows[0].values[Element::tzx] - Complex(0.03, 0.01)) < 1e-15);
}

TEST_CASE("select: parallel channels are refused by file and station", "[physics][mt][selection]") {
  StationData bad = station("b");
  bad.rows[1].azimuths.ey_deg = bad.rows[1].azimuths.ex_deg;
  const Profile line = line_of(2);
  const std::vector<StationData> both{station("a"), bad};
  const Selection selection = selection_of(te_rho_and_phase);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)select(both, line, selection); }),
             tests::HasId("parallel_channels", {"b.edi", "station b", "10 Hz"}));
}

TEST_CASE("select: limits periods with a tolerance for their digits", "[physics][mt][selection]") {
  std::vector<StationData> stations{station("a", {100.0, 10.0, 1.0, 0.1})};
  stations[0].readings = {{Datum::phase_xy, 1000.0, 0.5, 0.1, {}}, {Datum::phase_xy, 5.0, 0.5, 0.1, {}}};
  limit_periods(stations, 0.1 * (1.0 + 1e-9), 1.0 * (1.0 - 1e-9));
  REQUIRE(stations[0].rows.size() == 2);
  CHECK(stations[0].rows[0].frequency_hz == 10.0);
  REQUIRE(stations[0].readings.size() == 1);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { limit_periods(stations, 20.0, 30.0); }),
             tests::HasId("no_period", {"20", "30"}));
}

TEST_CASE("select: rotates once, from channels and declination to the strike", "[physics][mt][selection]") {
  std::vector<StationData> stations{station("a", {1.0}, 20.0)};
  const StationRow before = stations[0].rows[0];
  rotate_once(stations, 50.0, 5.0);
  const StationRow expected = rotated(before, 45.0);
  for (std::size_t k = 0; k < n_elements; ++k)
    CHECK(stations[0].rows[0].values.numbers[k] == expected.values.numbers[k]);
  CHECK(stations[0].rows[0].azimuths.hx_deg == 50.0);
  const auto observed = select({station("a", {1.0}, 20.0)}, line_of(1), selection_of({datum("zxx_re")}));
  CHECK(observed.azimuth_deg == 0.0);
  CHECK(observed.value[0] == rotated(before, 0.0).values[Element::zxx].real());
}

TEST_CASE("select: the strike may differ from the perpendicular of the line", "[physics][mt][selection]") {
  Selection selection = selection_of({Datum::tzy_re});
  selection.strike_deg = 90.0;
  const auto observed = select({station("a", {1.0})}, line_of(1), selection);
  CHECK(observed.value[0] == -0.03);  // y points south
}

TEST_CASE("select: that a turn leaves tensors incomplete is said, and names the strike without a turn",
          "[physics][mt][selection]") {
  StationData off_diagonal = station("a", {1.0}, 5.0);
  for (const Element element : {Element::zxx, Element::zyy})
    off_diagonal.rows[0].values[element] = {not_given, not_given};
  Selection selection = selection_of(te_rho_and_phase);
  const auto at = [&](double strike_deg, const std::vector<StationData>& stations) {
    selection.strike_deg = strike_deg;
    return select(stations, line_of(stations.size()), selection);
  };
  CHECK(at(5.0, {off_diagonal}).n_used() == 4);
  CHECK(at(5.00001, {off_diagonal}).n_used() == 4);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)at(45.0, {off_diagonal}); }),
             tests::HasId("incomplete_tensors", {"station a", "40 degrees", "profile.strike_deg = 5 "}));
  tests::Capture log(STDERR_FILENO);
  CHECK(at(45.0, {off_diagonal, station("b", {1.0}, 5.0)}).n_used() == 4);
  CHECK_THAT(log.text(), Contains("2 elements of 1 stations") && Contains("profile.strike_deg = 5 "));
}

TEST_CASE("select: readings of another frame are left out, invariants are kept", "[physics][mt][selection]") {
  std::vector<StationData> stations{station("a")};
  stations[0].readings = {{Datum::phase_xy, 1.0, 0.5, 0.1, 30.0},
                          {datum("phase_det"), 1.0, 0.6, 0.1, 30.0},
                          {Datum::phase_yx, 1.0, 0.7, 0.1, {}},
                          {Datum::log10_rho_xy, 1.0, 2.1, 0.1, 10.0}};
  rotate_once(stations, 10.0, 0.0);
  REQUIRE(stations[0].readings.size() == 3);
  CHECK(stations[0].readings[0].datum == datum("phase_det"));
  CHECK_THAT(stations[0].remarks.back().text, Contains("1 of 4 ") && Contains("10 degrees"));
}

TEST_CASE("select: of many frequencies each station keeps some in every part of its band",
          "[physics][mt][selection]") {
  std::vector<double> dense, sparse, other;
  for (int k = 0; k < 30; ++k) dense.push_back(900.0 * std::pow(10.0, -k / 10.0));
  for (int k = 0; k < 9; ++k) sparse.push_back(860.0 * std::pow(10.0, -k / 3.0));  // off the dense ones
  other = dense;
  const std::vector<StationData> stations{station("a", dense), station("b", sparse), station("c", other)};
  Selection selection = selection_of(te_rho_and_phase);
  selection.frequencies = FrequencyChoice::all;
  CHECK(chosen_frequencies(stations, selection).size() == 39);
  selection.frequencies_per_decade = 2.0;
  const std::vector<double> kept = chosen_frequencies(stations, selection);
  const auto n_of = [&](const std::vector<double>& list) {
    return std::ranges::count_if(kept, [&](double f) { return std::ranges::find(list, f) != list.end(); });
  };
  CHECK(n_of(dense) == 6);  // two in each of three decades
  CHECK(n_of(sparse) == 6);
  CHECK(std::ranges::is_sorted(kept, std::greater<>()));
}

TEST_CASE("select: frequencies are shared, those of any station, or listed", "[physics][mt][selection]") {
  const std::vector<StationData> stations{station("a", {100.0, 10.0, 1.0}), station("b", {10.1, 1.0, 0.1})};
  Selection selection = selection_of(te_rho_and_phase);
  CHECK(chosen_frequencies(stations, selection) == std::vector<double>{10.0, 1.0});
  selection.frequencies = FrequencyChoice::all;
  CHECK(chosen_frequencies(stations, selection) == std::vector<double>{100.0, 10.0, 1.0, 0.1});
  selection.frequencies = FrequencyChoice::listed;
  CHECK_THROWS_AS(chosen_frequencies(stations, selection), core::InvalidArgument);
  selection.frequencies_hz = {3.0};
  CHECK(chosen_frequencies(stations, selection) == std::vector<double>{3.0});
  selection.frequencies = FrequencyChoice::shared;
  selection.interpolate_stations = {"b"};
  CHECK(chosen_frequencies(stations, selection) == std::vector<double>{100.0, 10.0, 1.0});
  selection.interpolate_stations = {"a", "b"};
  CHECK_THROWS_AS(chosen_frequencies(stations, selection), core::InvalidArgument);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] {
               (void)chosen_frequencies({station("a", {1.0}), station("b", {2.0})}, selection_of({}));
             }),
             tests::HasId("no_shared_frequency", {"2", "2 %"}));
}

TEST_CASE("select: only the stations named are interpolated, and their data are flagged",
          "[physics][mt][selection]") {
  Selection selection = selection_of({Datum::log10_rho_xy, datum("log10_rho_det")});
  selection.frequencies = FrequencyChoice::listed;
  selection.frequencies_hz = {100.0, 30.0};
  selection.interpolate_stations = {"b"};
  const auto data = select({station("a"), station("b")}, line_of(2), selection);
  CHECK(reason(data, Datum::log10_rho_xy, 1, 0) == MaskReason::missing);
  for (const Datum datum : selection.data) {
    CHECK(value(data, datum, 1, 1) == Approx(2.0).epsilon(1e-10));
    CHECK(data.interpolated[static_cast<std::size_t>(key_of(data, datum, 1, 1))] == 1);
    CHECK(data.interpolated[static_cast<std::size_t>(key_of(data, datum, 0, 1))] == 0);
  }
}

TEST_CASE("select: readings take precedence over elements", "[physics][mt][selection]") {
  StationData one = station("a", {1.0});
  one.readings = {{Datum::phase_xy, 1.0, 0.5, 0.2, {}}, {Datum::log10_rho_xy, 1.0, not_given, 0.2, {}}};
  const auto data = select({one}, line_of(1), selection_of(te_rho_and_phase));
  CHECK(value(data, Datum::phase_xy, 0, 0) == 0.5);
  CHECK(sigma(data, Datum::phase_xy, 0, 0) == 0.2);
  CHECK(value(data, Datum::log10_rho_xy, 0, 0) == Approx(2.0));
  one.rows.clear();
  const auto alone = select({one}, line_of(1), selection_of(te_rho_and_phase));
  CHECK(reason(alone, Datum::phase_xy, 0, 0) == MaskReason::kept);
  CHECK(reason(alone, Datum::phase_yx, 0, 0) == MaskReason::missing);
}

TEST_CASE("select: parts of an impedance may have errors of their own", "[physics][mt][selection]") {
  StationData one = station("a", {1.0});
  one.rows.clear();
  one.readings = {{Datum::zxy_re, 1.0, 3.0, 0.01, {}}, {Datum::zxy_im, 1.0, 4.0, 2.0, {}}};
  const auto data = select({one}, line_of(1), selection_of({Datum::zxy_re, Datum::zxy_im}));
  CHECK(sigma(data, Datum::zxy_re, 0, 0) == Approx(0.05 * 5.0));
  CHECK(sigma(data, Datum::zxy_im, 0, 0) == 2.0);
  CHECK(data.sigma_measured[0] == 0.01);
}

TEST_CASE("select: the last floor that contains a datum applies", "[physics][mt][selection]") {
  Selection selection =
      selection_of({Datum::log10_rho_xy, Datum::log10_rho_yx, Datum::tzy_re, datum("zxx_re")});
  selection.floors.push_back({FloorKind::log10_rho, 0.2, {.mode = Mode::tm}});
  selection.floors.push_back({FloorKind::log10_rho, 0.01, {.station = "b", .min_frequency_hz = 50.0}});
  const auto data = select({station("a"), station("b")}, line_of(2), selection);
  CHECK(sigma(data, Datum::log10_rho_xy, 0, 0) == 0.0434);
  CHECK(sigma(data, Datum::log10_rho_yx, 0, 0) == 0.2);
  CHECK(sigma(data, Datum::log10_rho_yx, 0, 1) == 0.01);
  CHECK(sigma(data, Datum::log10_rho_yx, 1, 1) == 0.2);
  CHECK(sigma(data, Datum::tzy_re, 0, 0) == 0.02);
  const double modulus = std::abs(station("a").rows[0].values[Element::zxy]);
  CHECK(sigma(data, datum("zxx_re"), 0, 0) == Approx(0.05 * modulus));
}

TEST_CASE("select: errors of the file count where they exceed the floor, and may be ignored",
          "[physics][mt][selection]") {
  StationData noisy = station("a", {1.0});
  const double modulus = std::abs(noisy.rows[0].values[Element::zxy]);
  noisy.rows[0].errors.numbers.fill(0.2 * modulus);
  noisy.rows[0].errors[Element::zyx] = not_given;
  Selection selection = selection_of({Datum::log10_rho_xy, Datum::phase_xy, Datum::phase_yx});
  const auto data = select({noisy}, line_of(1), selection);
  CHECK(sigma(data, Datum::log10_rho_xy, 0, 0) == Approx(0.4 / ln10));
  CHECK(sigma(data, Datum::phase_xy, 0, 0) == Approx(0.2));
  CHECK(sigma(data, Datum::phase_yx, 0, 0) == Approx(2.86 / deg_per_rad));
  selection.ignore_file_errors = true;
  CHECK(sigma(select({noisy}, line_of(1), selection), Datum::phase_xy, 0, 0) == Approx(2.86 / deg_per_rad));
}

TEST_CASE("select: covariances of the file enter the errors of invariants", "[physics][mt][selection]") {
  StationData one = station("a", {1.0});
  StationRow& row = one.rows[0];
  const double s = 0.5 * std::abs(row.values[Element::zxy]);
  row.errors.numbers.fill(s);
  row.covariance = ElementCovariance::Identity() * (2.0 * s * s);
  (*row.covariance)(1, 2) = (*row.covariance)(2, 1) = 2.0 * s * s;  // Zxy and Zyx err together
  Selection selection = selection_of({datum("log10_rho_det")});
  const double correlated = select({one}, line_of(1), selection).sigma[0];
  row.covariance.reset();
  const double independent = select({one}, line_of(1), selection).sigma[0];
  CHECK(independent == Approx(std::sqrt(2.0) * 0.5 / ln10));
  CHECK(correlated == Approx(0.0434));  // of Zxy·Zyx the two errors cancel, the floor is left
}

TEST_CASE("select: of several reasons the first of missing, listed, quadrant and error counts",
          "[physics][mt][selection]") {
  StationData bad = station("a", {1.0});
  StationRow& row = bad.rows[0];
  row.values[Element::zxy] = -row.values[Element::zxy];  // out of its quadrant
  row.errors.numbers.fill(not_given);
  row.values[Element::tzx] = {not_given, not_given};
  Selection selection = selection_of(
      {Datum::log10_rho_xy, Datum::phase_xy, Datum::zxy_re, Datum::phase_yx, datum("tzx_re"), Datum::tzy_re});
  selection.floors = {{FloorKind::log10_rho, 0.05, {}}};
  const auto data = select({bad}, line_of(1), selection);
  CHECK(reason(data, Datum::log10_rho_xy, 0, 0) == MaskReason::kept);
  CHECK(reason(data, Datum::phase_xy, 0, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Datum::zxy_re, 0, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Datum::phase_yx, 0, 0) == MaskReason::bad_error);
  CHECK(reason(data, Datum::tzy_re, 0, 0) == MaskReason::bad_error);
  CHECK(reason(data, datum("tzx_re"), 0, 0) == MaskReason::missing);
  selection.masks = {{.data = {Datum::phase_xy, datum("tzx_re")}}};
  const auto listed = select({bad}, line_of(1), selection);
  CHECK(reason(listed, Datum::phase_xy, 0, 0) == MaskReason::listed);
  CHECK(reason(listed, datum("tzx_re"), 0, 0) == MaskReason::missing);
  CHECK(reason(listed, Datum::zxy_re, 0, 0) == MaskReason::out_of_quadrant);
}

TEST_CASE("select: modes narrow the data", "[physics][mt][selection]") {
  Selection selection = selection_of(te_rho_and_phase);
  selection.data.push_back(datum("phase_det"));
  selection.modes = {Mode::te};
  const auto data = select({station("a")}, line_of(1), selection);
  CHECK(data.survey.keys.size() == 6);
  selection.data = {Datum::phase_yx};
  CHECK_THROWS_AS(select({station("a")}, line_of(1), selection), core::InvalidArgument);
}

TEST_CASE("select: names of unknown stations and a lack of data are errors", "[physics][mt][selection]") {
  Selection selection = selection_of(te_rho_and_phase);
  selection.masks = {{.station = "aa"}};
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("unknown_station", {"\"aa\""}));
  selection.masks.clear();
  selection.floors.push_back({FloorKind::phase, 1.0, {.station = "c"}});
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("unknown_station", {"\"c\""}));
  selection.floors.back().where.place = "c.toml:5: data.floor[0].station";
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("unknown_station", {"c.toml:5", "data.floor[0].station", "\"c\""}));
  selection.floors.pop_back();
  selection.interpolate_stations = {"d"};
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("unknown_interpolated", {"\"d\""}));
  selection.interpolate_stations.clear();
  selection.masks.emplace_back();
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("no_usable_datum", {"listed", "log10_rho_xy"}));
  CHECK_THROWS_AS(select({station("a")}, line_of(2), selection_of(te_rho_and_phase)), core::ShapeError);
}

TEST_CASE("select: values and errors of the first ten data have closed forms", "[physics][mt][selection]") {
  StationData one = station("a", {7.0});
  StationRow& row = one.rows[0];
  const Complex xy(0.3, 0.2), yx(-0.1, -0.4), tzy(0.1, 0.05);
  row.values.numbers = {0.0, xy, yx, 0.0, 0.0, tzy};
  row.errors.numbers = {0.0, 0.02, 0.03, 0.0, 0.0, 0.04};
  Selection selection = selection_of({});
  for (std::size_t code = 0; code < 10; ++code) selection.data.push_back(static_cast<Datum>(code));
  selection.floors.clear();
  const auto data = select({one}, line_of(1), selection);
  const auto log10_rho = [](Complex z) { return std::log10(apparent_resistivity_ohm_m(z, 7.0)); };
  const std::array<double, 10> values{xy.real(),  xy.imag(),     yx.real(),    yx.imag(),     tzy.real(),
                                      tzy.imag(), log10_rho(xy), std::arg(xy), log10_rho(yx), std::arg(yx)};
  const std::array<double, 10> sigmas{0.02,
                                      0.02,
                                      0.03,
                                      0.03,
                                      0.04,
                                      0.04,
                                      2.0 * 0.02 / (std::abs(xy) * ln10),
                                      0.02 / std::abs(xy),
                                      2.0 * 0.03 / (std::abs(yx) * ln10),
                                      0.03 / std::abs(yx)};
  for (std::size_t k = 0; k < 10; ++k) {
    INFO(datum_names[k]);
    CHECK(data.value[static_cast<Eigen::Index>(k)] == Approx(values[k]).epsilon(1e-14));
    CHECK(data.sigma[static_cast<Eigen::Index>(k)] == Approx(sigmas[k]).epsilon(1e-14));
  }
}

TEST_CASE("select: data that a section does not predict are named", "[physics][mt][selection]") {
  const auto fits = select({station("a", {1.0})}, line_of(1), selection_of(te_rho_and_phase));
  CHECK_NOTHROW(require_predictable(fits.survey, section_elements));
  const auto other = select({station("a", {1.0})}, line_of(1), selection_of({datum("zxx_re")}));
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { require_predictable(other.survey, section_elements); }),
      tests::HasId("not_predicted", {"zxx_re", "made of Zxx;", "Zxy Zyx Tzy"}));
}

TEST_CASE("stated data: everything that stations hold, without floors, limits and merging",
          "[physics][mt][selection]") {
  StationData a = station("a", {10.0}), b = station("b", {10.0, 0.01});
  a.rows[0].values[Element::zxy] *= -1.0;  // out of its quadrant
  a.rows[0].errors[Element::zyx] = not_given;
  a.readings = {{Datum::phase_xy, 9.99, 0.5, 0.1, {}}};
  const Observations data = stated_data({a, b});
  CHECK(data.survey.frequencies_hz == std::vector<double>{10.0, 9.99, 0.01});
  CHECK(data.survey.stations.size() == 2);
  CHECK(data.survey.keys.front().quantity == Datum::zxy_re);
  CHECK(data.reason[0] == MaskReason::kept);
  CHECK(data.sigma[0] == 1e-9);
  CHECK(std::ranges::count(data.reason, MaskReason::bad_error) == 2);
  CHECK(data.n_used() == 2 * 6 * 3 - 2 + 1);
  CHECK(stated_data({}).value.size() == 0);
}

TEST_CASE("selection: the floors of a report are those of all stations and frequencies", "[physics]") {
  auto rules = floor_rules({0.05, 0.04, 3.0, 0.02, 0.01});
  rules.push_back({FloorKind::phase, 5.0, {}});
  rules.push_back({FloorKind::impedance, 0.2, {.station = "a"}});
  const ErrorFloors floors = general_floors(rules);
  CHECK(floors.phase_deg == 5.0);
  CHECK(floors.impedance_relative == 0.05);
  CHECK(floors.tipper_absolute == 0.02);
}

TEST_CASE("selection: listed frequencies that are one within the tolerance are refused", "[physics]") {
  Selection selection = selection_of(te_rho_and_phase);
  selection.frequencies = FrequencyChoice::listed;
  selection.frequencies_hz = {10.0, 100.0, 10.1};
  const std::vector<StationData> stations{station("a"), station("b")};
  const auto error = tests::error_of<core::InvalidArgument>(
      [&] { static_cast<void>(chosen_frequencies(stations, selection)); });
  CHECK_THAT(error, tests::HasId("frequencies_too_close", {"10 and 10.1 Hz", "0.02"}));
  selection.frequency_tolerance = 0.005;
  CHECK(chosen_frequencies(stations, selection).size() == 3);
}
