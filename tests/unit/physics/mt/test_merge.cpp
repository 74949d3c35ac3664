// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/merge.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::WithinAbs;

namespace {

StationRow row(double frequency_hz, Complex zxy, double error) {
  StationRow out;
  out.frequency_hz = frequency_hz;
  out.values[Element::zxy] = zxy;
  out.errors[Element::zxy] = error;
  return out;
}

StationData station(const std::string& name, std::vector<StationRow> rows) {
  StationData out;
  out.site.name = name;
  out.site.y_m = not_given;
  out.rows = std::move(rows);
  return out;
}

}  // namespace

TEST_CASE("merge: what both have is weighted by errors, what one has is kept", "[physics][mt]") {
  StationData first = station("amt", {row(100.0, {1.0, 1.0}, 0.1), row(10.0, {2.0, 2.0}, 0.2)});
  StationData second = station("lmt", {row(10.0, {3.0, 3.0}, 0.1), row(1.0, {4.0, 4.0}, 0.4)});
  second.rows[0].values[Element::zyx] = {-1.0, -1.0};
  second.rows[0].errors[Element::zyx] = 0.3;
  merge_into(first, second);
  REQUIRE(first.rows.size() == 3);
  const StationRow& both = first.rows[1];
  CHECK_THAT(both.values[Element::zxy].real(), WithinAbs((2.0 / 0.04 + 3.0 / 0.01) / 125.0, 1e-12));
  CHECK_THAT(both.errors[Element::zxy], WithinAbs(1.0 / std::sqrt(125.0), 1e-12));
  CHECK(both.values[Element::zyx] == Complex(-1.0, -1.0));
  CHECK(both.errors[Element::zyx] == 0.3);
  CHECK(first.rows[0].values[Element::zxy] == Complex(1.0, 1.0));
  CHECK(first.rows[2].frequency_hz == 1.0);
  CHECK(first.has_name("lmt"));
}

TEST_CASE("merge: what is masked in one recording counts only where the other has nothing", "[physics][mt]") {
  StationData first = station("a", {row(1.0, {1.0, 0.0}, 0.1), row(0.1, {1.0, 0.0}, 0.1)});
  StationData second = station("b", {row(1.0, {2.0, 0.0}, 0.1), row(0.1, {2.0, 0.0}, 0.1)});
  for (StationRow& each : first.rows) each.mask(Element::zxy);
  second.rows[1].mask(Element::zxy);
  merge_into(first, second);
  CHECK(first.rows[0].values[Element::zxy] == Complex(2.0, 0.0));
  CHECK_FALSE(first.rows[0].is_masked(Element::zxy));
  CHECK(first.rows[1].is_masked(Element::zxy));
  first.rows[1].unmask(Element::zxy);
  CHECK(first.rows[1].values[Element::zxy] == Complex(1.5, 0.0));
}

TEST_CASE("merge: agreement is chi squared per part, and periods beyond its limit are named",
          "[physics][mt]") {
  const StationData first = station("a", {row(100.0, {1.0, 1.0}, 0.3), row(10.0, {1.0, 1.0}, 0.3)});
  const StationData second = station("b", {row(10.0, {1.3, 1.4}, 0.4), row(100.0, {5.0, 1.0}, 0.4)});
  const Agreement found = agreement_of(first, second);
  CHECK(found.n_shared == 2);
  CHECK_THAT(found.chi2, WithinAbs(0.5 * (0.25 / 0.5 + 16.0 / 0.5), 1e-12));
  CHECK(found.contradicting_s == std::vector{0.01});
  CHECK(agreement_of(first, station("c", {row(1.0, {1.0, 1.0}, 0.1)})).n_shared == 0);
}

TEST_CASE("merge: a covariance is that of the weighted mean, and without errors the first counts",
          "[physics][mt]") {
  StationData first = station("a", {row(1.0, {1.0, 0.0}, 0.1)});
  StationData second = station("b", {row(1.0, {2.0, 0.0}, 0.1)});
  first.rows[0].covariance = first.rows[0].full_covariance();
  merge_into(first, second);
  CHECK_THAT((*first.rows[0].covariance)(1, 1).real(), WithinAbs(2.0 * 0.01 / 2.0, 1e-15));
  CHECK_THAT(first.rows[0].errors[Element::zxy], WithinAbs(0.1 / std::sqrt(2.0), 1e-15));
  StationData silent = station("c", {row(1.0, {5.0, 0.0}, not_given)});
  const Complex before = first.rows[0].values[Element::zxy];
  merge_into(first, silent);
  CHECK(first.rows[0].values[Element::zxy] == before);
}

TEST_CASE("merge: places are compared in metres, across the date line and on maps of files",
          "[physics][mt]") {
  StationData a = station("a", {row(1.0, {1.0, 1.0}, 0.1)}), b = a;
  b.site.name = "b";
  a.site.latitude_deg = b.site.latitude_deg = 60.0;
  a.site.longitude_deg = 179.9999;
  b.site.longitude_deg = -179.9999;
  CHECK_THAT(distance_m(a, b), WithinAbs(0.5 * 0.0002 * 111195.0, 0.01));
  CHECK(merged({a, b}, 20.0).size() == 1);
  CHECK(merged({a, b}, 5.0).size() == 2);
  a.site.x_m = 0.0;
  a.site.y_m = 0.0;
  b.site.x_m = 30.0;
  b.site.y_m = 40.0;
  a.local_frame = b.local_frame = LocalFrame{};
  CHECK_THAT(distance_m(a, b), WithinAbs(50.0, 1e-12));
  a.site.reference = "r";
  b.site.reference = "s";
  CHECK_THROWS_AS(merged({a, b}, 60.0), core::InvalidArgument);
}
