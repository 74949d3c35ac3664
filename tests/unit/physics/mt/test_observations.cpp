// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

/// Returns a station whose impedance is `scale` times that of a half-space of 100 ohm m, at 100, 10, 1 Hz.
StationData station(const std::string& name, double scale = 1.0) {
  StationData out;
  out.site.name = name;
  for (const double f : {100.0, 10.0, 1.0}) {
    StationRow& row = out.row_at(f);
    const Complex z = scale * std::polar(std::sqrt(100.0 * omega(f) * mu0), 45.0 / deg_per_rad);
    row.values.numbers = {0.0, z, -z, 0.0, 0.0, Complex(0.1, 0.05)};
    row.errors.numbers = {1e-9, 1e-9, 1e-9, 1e-9, 1e-3, 1e-3};
  }
  return out;
}

Profile line_of(std::size_t n) {
  std::vector<double> y_m;
  for (std::size_t i = 0; i < n; ++i) y_m.push_back(1000.0 * static_cast<double>(i));
  return profile_along(std::move(y_m));
}

MaskReason reason(const Observations& data, Datum quantity, int frequency, int s) {
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& key = data.survey.keys[i];
    if (key.quantity == quantity && key.frequency == frequency && key.station == s) return data.reason[i];
  }
  return MaskReason::kept;
}

Selection selection_of(std::vector<Datum> data) {
  Selection selection;
  selection.data = std::move(data);
  return selection;
}

constexpr double missing = not_given;

}  // namespace

TEST_CASE("observed data: values are those of the station, sigma is at least the floor", "[selection]") {
  const auto data =
      select({station("a"), station("b", 2.0)}, line_of(2),
             selection_of({Datum::log10_rho_xy, Datum::phase_yx, Datum::zyx_re, Datum::tzy_im}));
  REQUIRE(data.survey.keys.size() == 4 * 3 * 2);
  CHECK(data.n_used() == 24);
  CHECK(data.value[0] == Approx(2.0));  // log10 rho at the first station
  CHECK(data.value[1] == Approx(2.0 + 2.0 * std::log10(2.0)));
  CHECK(data.value[6] == Approx(-135.0 / deg_per_rad));  // Zyx phase is not folded
  CHECK(data.sigma[0] == Approx(0.0434));
  CHECK(data.sigma[6] == Approx(2.86 / deg_per_rad));
  CHECK(data.sigma[12] == Approx(0.05 * std::abs(station("a").rows[0].values[Element::zyx])));
  CHECK(data.sigma[18] == Approx(0.02));
}

TEST_CASE("observed data: errors of the file count where they exceed the floor", "[selection]") {
  auto noisy = station("a");
  const double modulus = std::abs(noisy.rows[0].values[Element::zxy]);
  for (auto& row : noisy.rows) row.errors[Element::zxy] = 0.2 * std::abs(row.values[Element::zxy]);
  const Selection selection = selection_of({Datum::zxy_re, Datum::log10_rho_xy, Datum::phase_xy});
  const auto data = select({noisy}, line_of(1), selection);
  CHECK(data.sigma[0] == Approx(0.2 * modulus));
  CHECK(data.sigma[3] == Approx(2.0 * 0.2 / ln10));
  CHECK(data.sigma[6] == Approx(0.2));
  auto ignoring = selection;
  ignoring.ignore_file_errors = true;
  CHECK(select({noisy}, line_of(1), ignoring).sigma[0] == Approx(0.05 * modulus));
}

TEST_CASE(
    "observed data: a phase out of its quadrant masks the phase and both parts, not the apparent resistivity",
    "[selection]") {
  auto bad = station("a");
  bad.rows[1].values[Element::zyx] *= std::polar(1.0, 80.0 / deg_per_rad);  // folded phase 125
  const auto data = select(
      {bad}, line_of(1),
      selection_of({Datum::zyx_re, Datum::zyx_im, Datum::log10_rho_yx, Datum::phase_yx, Datum::phase_xy}));
  CHECK(reason(data, Datum::phase_yx, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Datum::zyx_re, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Datum::zyx_im, 1, 0) == MaskReason::out_of_quadrant);
  CHECK(reason(data, Datum::log10_rho_yx, 1, 0) == MaskReason::kept);
  CHECK(reason(data, Datum::phase_xy, 1, 0) == MaskReason::kept);
  CHECK(reason(data, Datum::phase_yx, 0, 0) == MaskReason::kept);
}

TEST_CASE("observed data: missing, listed and bad-error data are masked and counted by reason",
          "[selection]") {
  auto first = station("a"), second = station("b");
  first.rows[0].values[Element::zxy] = Complex(missing, missing);
  Selection selection = selection_of({Datum::zxy_re, Datum::zxy_im});
  selection.floors.clear();
  second.rows[2].errors[Element::zxy] = missing;
  selection.masks = {{.station = "b", .data = {Datum::zxy_im}, .min_frequency_hz = 50.0}};
  const auto data = select({first, second}, line_of(2), selection);
  CHECK(reason(data, Datum::zxy_re, 0, 0) == MaskReason::missing);
  CHECK(std::isnan(data.value[0]));
  CHECK(reason(data, Datum::zxy_im, 0, 1) == MaskReason::listed);
  CHECK(reason(data, Datum::zxy_re, 0, 1) == MaskReason::kept);
  CHECK(reason(data, Datum::zxy_re, 2, 1) == MaskReason::bad_error);
  const std::string table = mask_table(data);
  CHECK_THAT(table,
             Catch::Contains("zxy_re") && Catch::Contains("out_of_quadrant") && Catch::Contains("all"));
  CHECK(data.kept().survey.keys.size() == static_cast<std::size_t>(data.n_used()));
  CHECK(data.n_used() == 12 - 2 - 1 - 2);
}

TEST_CASE("observed data: what the simulation does not predict is masked and counted", "[selection]") {
  Selection selection = selection_of(
      {datum("zxy_re"), datum("zxx_re"), datum("tzx_im"), datum("phase_det"), datum("phase_tensor_xx")});
  selection.masks = {{.data = {datum("tzx_im")}}};
  const Observations all = select({station("a")}, line_of(1), selection);
  CHECK(reason(all, datum("zxx_re"), 0, 0) == MaskReason::kept);
  const Observations data = without_unpredicted(all, section_elements);
  CHECK(reason(data, datum("zxy_re"), 0, 0) == MaskReason::kept);
  CHECK(reason(data, datum("zxx_re"), 0, 0) == MaskReason::not_predicted);
  CHECK(reason(data, datum("phase_det"), 2, 0) == MaskReason::kept);
  CHECK(reason(data, datum("phase_tensor_xx"), 2, 0) == MaskReason::not_predicted);
  CHECK(reason(data, datum("tzx_im"), 0, 0) == MaskReason::listed);
  CHECK(data.n_used() == 6);
  CHECK_THAT(mask_table(data), Catch::Contains("not_predicted"));
  CHECK(data.data_set().reasons().back() == "not_predicted");
  CHECK(all.data_set().reasons().back() == "bad_error");
  const Observations none = select({station("a")}, line_of(1), selection_of({datum("zxx_re")}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(without_unpredicted(none, section_elements)); }),
             tests::HasId("no_usable_datum", {"not_predicted", "zxx_re"}));
}

TEST_CASE(
    "observed data: shared frequencies are used unless listed, another list is missing or interpolated on "
    "request and flagged",
    "[selection]") {
  auto other = station("b");
  for (auto& row : other.rows) row.frequency_hz *= 1.3;
  Selection selection = selection_of({Datum::log10_rho_xy});
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               (void)select({station("a"), other}, line_of(2), selection);
             }),
             tests::HasId("no_shared_frequency"));
  selection.frequencies = FrequencyChoice::listed;
  selection.frequencies_hz = {100.0, 10.0};
  CHECK(select({station("a"), other}, line_of(2), selection).n_used() == 2);
  selection.interpolate_stations = {"b"};
  const auto data = select({station("a"), other}, line_of(2), selection);
  CHECK(data.n_used() == 4);
  CHECK(data.interpolated == std::vector<std::uint8_t>{0, 1, 0, 1});
  selection.interpolate_stations = {"c"};
  CHECK_THROWS_AS(select({station("a"), other}, line_of(2), selection), core::InvalidArgument);
}

TEST_CASE(
    "observed data: stations without a usable datum are named with their reasons, and do not hide what is "
    "masked elsewhere",
    "[selection]") {
  auto dead = station("dead");
  for (auto& row : dead.rows) row.values[Element::zxy] = Complex(missing, missing);
  Selection selection = selection_of({Datum::zxy_re, Datum::zxy_im});
  CHECK(mask_warnings(select({station("a"), station("b")}, line_of(2), selection)).empty());
  const auto one = mask_warnings(select({station("a"), dead, station("b")}, line_of(3), selection));
  REQUIRE(one.size() == 1);
  CHECK_THAT(one[0], Catch::Contains("1 of 3 ") && Catch::Contains(": dead (6 missing);") &&
                         Catch::Contains("missing:") && !Catch::Contains("out_of_quadrant"));
  auto turned = station("turned");
  for (auto& row : turned.rows) row.values[Element::zxy] = -row.values[Element::zxy];
  const auto two = mask_warnings(select({station("a"), dead, turned}, line_of(3), selection));
  REQUIRE(two.size() == 1);
  CHECK_THAT(two[0], Catch::Contains(": dead (6 missing), turned (6 out_of_quadrant);") &&
                         Catch::Contains("missing:") && Catch::Contains("out_of_quadrant:"));
  selection.masks = {{.station = "b", .data = {Datum::zxy_im}}};
  const auto elsewhere = mask_warnings(select({station("a"), dead, station("b")}, line_of(3), selection));
  selection.masks.push_back({.station = "a"});
  CHECK_THAT(
      mask_warnings(select({station("a"), dead, station("b")}, line_of(3), selection)).at(0),
      Catch::Contains("1 of 3 ") && Catch::Contains(": dead (6 missing);"));  // "a" is left out on purpose
  REQUIRE(elsewhere.size() == 2);
  CHECK_THAT(elsewhere[1], Catch::Contains("25.0 %") && Catch::Contains("listed:"));
}

TEST_CASE(
    "observed data: nothing usable is an error that shows the table and says what to look at, so is a rule "
    "for an unknown station",
    "[selection]") {
  Selection selection = selection_of({Datum::zxy_re});
  selection.masks = {{}};
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { (void)select({station("a")}, line_of(1), selection); }),
      tests::HasId("no_usable_datum", {"listed", "out_of_quadrant"}));
  selection.masks = {{.station = "z"}};
  CHECK_THROWS_AS(select({station("a")}, line_of(1), selection), core::InvalidArgument);
}

TEST_CASE("observed data: what no station had to hold is missing without a warning", "[selection]") {
  StationData sparse = station("sparse"), full = station("full");
  sparse.rows.resize(1);
  sparse.rows[0].values[Element::zyx] = {missing, missing};
  Selection selection = selection_of({Datum::zxy_re, Datum::zyx_re});
  selection.frequencies = FrequencyChoice::all;
  const auto data = select({full, sparse}, line_of(2), selection);
  CHECK(data.n_used() == 7);
  CHECK(reason(data, Datum::zxy_re, 1, 1) == MaskReason::missing);
  CHECK(mask_warnings(data).empty());
  sparse.readings = {{Datum::zyx_re, 100.0, missing, 0.1, {}},
                     {Datum::zyx_re, 10.0, missing, 0.1, {}},
                     {Datum::zyx_re, 1.0, missing, 0.1, {}}};
  CHECK_THAT(mask_warnings(select({full, sparse}, line_of(2), selection)).at(0),
             Catch::Contains("30.0 %") && Catch::Contains("missing:"));  // stated, but no numbers
  selection.frequencies = FrequencyChoice::shared;
  CHECK_FALSE(mask_warnings(select({full, sparse}, line_of(2), selection)).empty());
}
