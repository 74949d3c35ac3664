// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/random.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "physics/mt/station_data.hpp"

#include <cmath>
#include <string>

namespace lodestone::tests {

inline constexpr double strike_deg = 62.0;

/// Returns C = T S.
inline Eigen::Matrix2d twisted_and_sheared(double twist_deg, double shear_deg) {
  const double t = std::tan(twist_deg / physics::mt::deg_per_rad),
               e = std::tan(shear_deg / physics::mt::deg_per_rad);
  return Eigen::Matrix2d{{1.0, -t}, {t, 1.0}} * Eigen::Matrix2d{{1.0, e}, {e, 1.0}};
}

/// Returns a station over a section with this strike, with x of its channels to `frame_deg`; `contrast` is
/// that of both modes, 1 over layers.
inline physics::mt::StationData section_station(const std::string& name, double contrast,
                                                const Eigen::Matrix2d& distortion, double noise,
                                                double frame_deg = 0.0) {
  physics::mt::StationData out;
  out.site.name = name;
  const core::Philox random(7, name.back());
  std::uint64_t index = 0;
  for (int k = 0; k < 12; ++k) {
    const double period_s = 0.1 * std::pow(10.0, 0.25 * k);
    const double te_phase = 0.6 + 0.04 * k * (contrast - 1.0), tm_phase = 0.6 - 0.02 * k * (contrast - 1.0);
    const Eigen::Matrix2cd in_strike{{0.0, std::polar(std::pow(contrast, 0.1 * k), te_phase)},
                                     {-std::polar(std::pow(contrast, -0.1 * k), tm_phase), 0.0}};
    const Eigen::Matrix2d to_frame = physics::mt::axes_turned_by(frame_deg - strike_deg);
    const Eigen::Matrix2cd z = to_frame * distortion * in_strike * to_frame.transpose();
    physics::mt::StationRow& row = out.row_at(1.0 / period_s);
    row.azimuths = physics::mt::ChannelAzimuths::along(frame_deg);
    for (std::size_t i = 0; i < 4; ++i) {
      const double s = noise * z.norm(), re = random.normal(index++), im = random.normal(index++);
      row.values.numbers[i] = z(static_cast<Eigen::Index>(i) / 2, static_cast<Eigen::Index>(i) % 2) +
                              s * physics::mt::Complex(re, im);
      row.errors.numbers[i] = s;
    }
    const Eigen::Vector2d across =
        physics::mt::axes_turned_by(frame_deg - strike_deg) * Eigen::Vector2d(0.0, 1.0);
    row.values[physics::mt::Element::tzx] = physics::mt::Complex(0.3, -0.1) * across[0];
    row.values[physics::mt::Element::tzy] = physics::mt::Complex(0.3, -0.1) * across[1];
    row.errors[physics::mt::Element::tzx] = row.errors[physics::mt::Element::tzy] = 0.01;
  }
  out.sort();
  return out;
}

}  // namespace lodestone::tests
