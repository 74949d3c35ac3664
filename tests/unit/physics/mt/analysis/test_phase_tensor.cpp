// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/dimensionality.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone::physics::mt;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;

namespace {

constexpr double strike_deg = 35.0;

/// Returns the impedance of a section with this strike, x to the north, distorted by C.
Eigen::Matrix2cd section(const Eigen::Matrix2d& distortion = Eigen::Matrix2d::Identity()) {
  const Eigen::Matrix2cd in_strike{{0.0, std::polar(2.0, 0.6)}, {-std::polar(1.0, 1.1), 0.0}};
  const Eigen::Matrix2d r = axes_turned_by(strike_deg);
  return distortion * r.transpose() * in_strike * r;
}

StationRow row_of(const Eigen::Matrix2cd& z, double relative_error) {
  StationRow row;
  row.frequency_hz = 1.0;
  for (std::size_t k = 0; k < 4; ++k) {
    row.values.numbers[k] = z(static_cast<Eigen::Index>(k) / 2, static_cast<Eigen::Index>(k) % 2);
    row.errors.numbers[k] = relative_error * z.norm();
  }
  return row;
}

}  // namespace

TEST_CASE("phase tensor: its axes are the strike and its normal, whatever the distortion", "[physics][mt]") {
  const Eigen::Matrix2d distortion{{1.3, 0.4}, {-0.3, 0.7}};
  for (const Eigen::Matrix2cd& z : {section(), section(distortion)}) {
    const auto tensor = phase_tensor(z);
    REQUIRE(tensor.has_value());
    // Φ of the section is diag(tan 1.1, tan 0.6): rows of Zyx and Zxy change places in X⁻¹ Y.
    CHECK_THAT(tensor->max, WithinRel(std::tan(1.1), 1e-12));
    CHECK_THAT(tensor->min, WithinRel(std::tan(0.6), 1e-12));
    CHECK_THAT(std::remainder(tensor->azimuth_deg - strike_deg, 180.0), WithinAbs(0.0, 1e-9));
    CHECK_THAT(tensor->skew_deg, WithinAbs(0.0, 1e-9));
    CHECK_THAT(tensor->max_deg(), WithinRel(1.1 * deg_per_rad, 1e-12));
  }
  CHECK_FALSE(phase_tensor(Eigen::Matrix2cd(Eigen::Matrix2cd::Zero())).has_value());
}

TEST_CASE("phase tensor: its errors grow with those of the impedance, and match first order",
          "[physics][mt]") {
  const double small = 1e-3;
  const auto tensor = phase_tensor(row_of(section(), small));
  REQUIRE(tensor.has_value());
  const StationRow row = row_of(section(), small);
  for (const auto& [k, name] : {std::pair(0, "phase_tensor_xx"), std::pair(2, "phase_tensor_xy")}) {
    const double first_order = sigma(rule_of(datum_from(name)), row.values, row.errors);
    CHECK_THAT(tensor->error.phi(k), WithinRel(first_order, 0.25));  // of 51 draws
  }
  const auto noisier = phase_tensor(row_of(section(), 10.0 * small));
  CHECK_THAT(noisier->error.skew_deg, WithinRel(10.0 * tensor->error.skew_deg, 0.1));
  const auto unknown = phase_tensor(row_of(section(), not_given));
  CHECK(std::isnan(unknown->error.azimuth_deg));
  CHECK(dimensionality(*unknown) == Dimensionality::undetermined);
}

TEST_CASE("dimensionality: layers, sections and volumes are told apart, and noise hides them",
          "[physics][mt]") {
  const Eigen::Matrix2cd layers{{0.0, {1.0, 0.8}}, {{-1.0, -0.8}, 0.0}};
  CHECK(dimensionality(*phase_tensor(row_of(layers, 1e-3))) == Dimensionality::layered);
  CHECK(dimensionality(*phase_tensor(row_of(section(), 1e-3))) == Dimensionality::section);
  Eigen::Matrix2cd volume = section();
  volume(0, 0) += Eigen::dcomplex(0.1, -0.3);
  volume(1, 1) += Eigen::dcomplex(-0.2, 0.3);
  CHECK(dimensionality(*phase_tensor(row_of(volume, 1e-3))) == Dimensionality::volume);
  CHECK(dimensionality(*phase_tensor(row_of(volume, 0.5))) == Dimensionality::layered);
}

TEST_CASE("invariants: no rotation changes them, and they vanish where they should", "[physics][mt]") {
  const Eigen::Matrix2cd any{{{0.2, 0.1}, {1.0, 0.7}}, {{-0.8, -0.9}, {-0.1, 0.3}}};
  const Eigen::Matrix2d r = axes_turned_by(23.0);
  const Invariants as_it_is = invariants(any), turned = invariants(r * any * r.transpose());
  CHECK_THAT(turned.swift_skew, WithinRel(as_it_is.swift_skew, 1e-12));
  CHECK_THAT(turned.bahr_skew, WithinRel(as_it_is.bahr_skew, 1e-12));
  CHECK_THAT(turned.q, WithinRel(as_it_is.q, 1e-12));
  for (std::size_t k = 0; k < 7; ++k) CHECK_THAT(turned.i[k], WithinRel(as_it_is.i[k], 1e-11));
  const Invariants of_section = invariants(section());
  CHECK_THAT(of_section.swift_skew, WithinAbs(0.0, 1e-12));
  CHECK(of_section.i[2] > 0.1);
  for (std::size_t k = 4; k < 7; ++k) CHECK_THAT(of_section.i[k], WithinAbs(0.0, 1e-12));
  const Invariants distorted = invariants(section(Eigen::Matrix2d{{1.2, 0.5}, {-0.3, 0.8}}));
  CHECK(distorted.swift_skew > 0.1);
  CHECK(std::abs(distorted.i[4]) > 0.1);
  CHECK_THAT(distorted.bahr_skew, WithinAbs(0.0, 1e-7));
  CHECK_THAT(distorted.i[6], WithinAbs(0.0, 1e-11));
}

TEST_CASE("Niblett and Bostick: a half-space has its resistivity at every depth", "[physics][mt]") {
  const DepthEstimate at = niblett_bostick(100.0, 45.0, 10.0);
  CHECK_THAT(at.resistivity_ohm_m, WithinRel(100.0, 1e-12));
  CHECK_THAT(at.depth_m, WithinRel(skin_depth_m(100.0, 0.1) / std::numbers::sqrt2, 1e-12));
  CHECK(niblett_bostick(100.0, 30.0, 10.0).resistivity_ohm_m > 100.0);
  CHECK(std::isnan(niblett_bostick(100.0, 95.0, 10.0).resistivity_ohm_m));
}
