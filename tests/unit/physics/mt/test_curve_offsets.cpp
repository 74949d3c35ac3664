// SPDX-License-Identifier: Apache-2.0
// Static shifts are told from structure by how curves lie beside those of their neighbours.
#include "engine/core/random.hpp"
#include "physics/mt/curve_offsets.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <functional>

using namespace lodestone;
using physics::mt::curve_offsets;
using physics::mt::CurveOffsets;
using physics::mt::Datum;

namespace {

constexpr int n_stations = 60, n_frequencies = 10;

/// Returns observations of both modes in which log10 ρₐ is that of `curve` (y in km, log10 of the period).
physics::mt::Observations line_of(
    const std::function<double(double y_km, double log_period, int mode)>& curve,
    const std::vector<Datum>& quantities) {
  std::vector<physics::mt::Station> stations;
  for (int k = 0; k < n_stations; ++k)
    stations.push_back({.name = fmt::format("s{}", k), .y_m = 1e3 * (k + 0.3 * (k % 3))});
  std::vector<double> frequencies;
  for (int k = 0; k < n_frequencies; ++k) frequencies.push_back(std::pow(10.0, 1.0 - 0.3 * k));
  physics::mt::Observations data;
  data.survey = physics::mt::full_survey(stations, frequencies, quantities);
  data.value.resize(std::ssize(data.survey.keys));
  data.reason.assign(data.survey.keys.size(), physics::mt::MaskReason::kept);
  for (Eigen::Index i = 0; i < data.value.size(); ++i) {
    const auto& [quantity, frequency, station] = data.survey.keys[static_cast<std::size_t>(i)];
    const auto f = frequencies[static_cast<std::size_t>(frequency)];
    const int mode = physics::mt::mode_of(quantity) == physics::mt::Mode::te ? 0 : 1;
    const double log_rho =
        curve(1e-3 * stations[static_cast<std::size_t>(station)].y_m, -std::log10(f), mode);
    const auto& rule = physics::mt::rule_of(quantity);
    const double part = std::sqrt(0.5 * std::pow(10.0, log_rho) * physics::mt::omega(f) * physics::mt::mu0);
    data.value[i] = rule.floor == physics::mt::FloorKind::log10_rho ? log_rho : (mode == 0 ? part : -part);
  }
  return data;
}

double smooth(double y_km, double log_period, int mode) {
  return 2.0 + 0.4 * std::sin(0.35 * y_km + 0.5 * log_period) + 0.1 * mode * log_period;
}

/// A shift of each station and mode, normally distributed.
double shift(double y_km, int mode, double deviation) {
  return deviation * core::Philox(5).normal(static_cast<std::uint64_t>(100.0 * y_km) * 2 +
                                            static_cast<std::uint64_t>(mode));
}

const std::vector<Datum> log_rho{Datum::log10_rho_xy, Datum::log10_rho_yx},
    impedances{Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im};

}  // namespace

TEST_CASE("curve offsets: a smooth earth demands no shifts, one with shifts of its curves does") {
  for (const auto& quantities : {log_rho, impedances}) {
    const CurveOffsets without = curve_offsets(line_of(smooth, quantities));
    CHECK(without.n_curves == 2 * (n_stations - 2));
    CHECK(without.level < 0.05);
    CHECK_FALSE(without.demand_shifts());
    const CurveOffsets with = curve_offsets(line_of(
        [](double y, double t, int mode) { return smooth(y, t, mode) + shift(y, mode, 0.2); }, quantities));
    CHECK(with.level == Approx(0.2).epsilon(0.3));
    CHECK(with.demand_shifts());
  }
}

TEST_CASE("curve offsets: what changes with the period is no shift") {
  const CurveOffsets found = curve_offsets(
      line_of([](double y, double t,
                 int mode) { return smooth(y, t, mode) + shift(y + 10.0 * std::round(3.0 * t), mode, 0.3); },
              log_rho));
  CHECK(found.change > found.level);
  CHECK_FALSE(found.demand_shifts());
}

TEST_CASE("curve offsets: masked data and too few stations count nothing") {
  auto data =
      line_of([](double y, double t, int mode) { return smooth(y, t, mode) + shift(y, mode, 0.2); }, log_rho);
  for (std::size_t i = 0; i < data.reason.size(); ++i) {
    if (data.survey.keys[i].station > 1) data.reason[i] = physics::mt::MaskReason::listed;
  }
  CHECK(curve_offsets(data).n_curves == 0);
  CHECK_FALSE(curve_offsets(data).demand_shifts());
}
