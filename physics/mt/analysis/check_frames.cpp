// SPDX-License-Identifier: Apache-2.0
// These rules look at the axes of stations and at what distorts their tensors.
#include "engine/core/parallel.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/analysis/neighbours.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/analysis/strike.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lodestone::physics::mt {
namespace {

constexpr double other_frame_deg = 1.0;
constexpr double strong_distortion_deg = 30.0;  // of twist or shear

/// Returns the azimuth of x that most stations have; NaN where there is no such.
double usual_azimuth_deg(const std::vector<StationData>& stations) {
  std::map<long, std::size_t> counts;
  std::size_t n = 0;
  for (const StationData& station : stations) {
    if (station.rows.empty()) continue;
    ++counts[std::lround(station.rows.front().azimuths.hx_deg)];
    ++n;
  }
  for (const auto& [azimuth_deg, count] : counts)
    if (n > 2 && 2 * count > n) return static_cast<double>(azimuth_deg);
  return not_given;
}

void check_turn(const FrameComparison& comparison, std::size_t k, StationFindings& findings) {
  const std::optional<FrameTurn> turn = comparison.turn_of(k);
  if (!turn || !turn->is_wrong()) return;
  findings.add(FindingKind::wrong_frame,
               fmt::format("phase tensors and tippers are unlike those of the {} nearest stations, and like "
                           "them where x points {:.0f} degrees further {} than stated",
                           turn->n_neighbours, std::abs(turn->turn_deg),
                           turn->turn_deg > 0.0 ? "clockwise" : "anticlockwise"),
               {.part = FilePart::axes, .filled_in = fmt::format("{:.0f}", turn->turn_deg)});
}

}  // namespace

void check_stated_tensors(const StationData& station, StationFindings& findings) {
  std::vector<double> missing_s;
  const std::vector<StatedPhaseTensor> tensors = stated_phase_tensors(station);
  for (const StatedPhaseTensor& each : tensors)
    if (!each.tensor.error.phi.allFinite()) missing_s.push_back(1.0 / each.frequency_hz);
  if (2 * missing_s.size() > tensors.size())
    findings.add(FindingKind::no_errors_of_tensors,
                 fmt::format("{} of {} phase tensors have no error, at {}", missing_s.size(), tensors.size(),
                             periods_in_words(missing_s)),
                 {.periods_s = missing_s});
}

void check_tensors(const StationData& station, StationFindings& findings) {
  check_stated_tensors(station, findings);
  const std::optional<Strike> own = strike(station);
  if (!own || !own->is_determined()) return;
  const SiteDistortion& distortion = own->distortion.front();
  if (std::max(std::abs(distortion.twist_deg), std::abs(distortion.shear_deg)) < strong_distortion_deg)
    return;
  findings.add(
      FindingKind::distorted,
      fmt::format("a section of strike {:.0f} or {:.0f} degrees explains its impedances with a twist "
                  "of {:.0f} and a shear of {:.0f} degrees, rms {:.2g}",
                  own->azimuth_deg, own->azimuth_deg + 90.0, distortion.twist_deg, distortion.shear_deg,
                  own->rms));
}

void check_frames(const std::vector<StationData>& stations, std::vector<StationFindings>& findings) {
  const double usual_deg = usual_azimuth_deg(stations);
  const FrameComparison comparison(stations);
  core::parallel_for(std::ssize(stations), [&](std::ptrdiff_t each) {
    const auto k = static_cast<std::size_t>(each);
    const StationData& station = stations[k];
    const double azimuth_deg = station.rows.empty() ? not_given : station.rows.front().azimuths.hx_deg;
    if (std::abs(azimuth_deg - usual_deg) > other_frame_deg)
      findings[k].add(
          FindingKind::other_frame,
          fmt::format("x points to {:g} degrees, that of most stations to {:g}", azimuth_deg, usual_deg),
          {.part = FilePart::axes});
    check_turn(comparison, k, findings[k]);
  });
}

}  // namespace lodestone::physics::mt
