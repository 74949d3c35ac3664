// SPDX-License-Identifier: Apache-2.0
// Where stations stand.
#include "engine/core/median.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

using core::median;

constexpr double far_over_usual = 10.0, near_over_usual = 3.0, least_far_deg = 1.0;
constexpr double same_place_m = 1.0, metres_per_degree = 111'000.0;
constexpr double highest_m = 9000.0, deepest_m = -11000.0;

void check_place(const StationData& station, StationFindings& findings) {
  const Station& site = station.site;
  if (station.local_frame || std::isfinite(site.y_m)) return;
  if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg))
    findings.add(Severity::warning, "no_place", "latitude or longitude is missing",
                 "write them into the file");
  else if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
    findings.add(Severity::warning, "no_place", "latitude and longitude are both 0",
                 "write them into the file");
  if (site.elevation_m > highest_m || site.elevation_m < deepest_m)
    findings.add(Severity::warning, "elevation", fmt::format("the elevation is {:g} m", site.elevation_m),
                 "correct it, or its unit, in the file");
}

/// The places of a survey: its middle, and how far from there a station usually is.
struct Extent {
  double latitude_deg = not_given, longitude_deg = not_given, usual_deg = 0.0;
  [[nodiscard]] double distance_deg(double latitude, double longitude) const {
    const double shrink = std::cos(latitude_deg / deg_per_rad);
    return std::hypot(latitude - latitude_deg, shrink * std::remainder(longitude - longitude_deg, 360.0));
  }
};

Extent extent_of(const std::vector<StationData>& stations) {
  std::vector<double> latitudes, longitudes, distances;
  for (const StationData& station : stations) {
    latitudes.push_back(station.site.latitude_deg);
    longitudes.push_back(station.site.longitude_deg);
  }
  Extent extent{median(latitudes), median(longitudes)};
  for (const StationData& station : stations)
    distances.push_back(extent.distance_deg(station.site.latitude_deg, station.site.longitude_deg));
  extent.usual_deg = median(distances);
  return extent;
}

/// A way in which coordinates are written wrongly.
struct Mistake {
  const char *text, *remedy;
  double latitude_sign, longitude_sign;
  bool swapped;
};
constexpr std::array<Mistake, 5> mistakes{{
    {"latitude has the other sign", "change the sign of LAT in the file", -1.0, 1.0, false},
    {"longitude has the other sign", "change the sign of LONG in the file", 1.0, -1.0, false},
    {"latitude and longitude have the other signs", "change the signs of LAT and LONG in the file", -1.0,
     -1.0, false},
    {"latitude and longitude are swapped", "exchange LAT and LONG in the file", 1.0, 1.0, true},
    {"latitude and longitude are swapped, one with the other sign", "exchange LAT and LONG in the file", -1.0,
     1.0, true},
}};

void check_distance(const Station& site, const Extent& extent, StationFindings& findings) {
  const double far_deg = std::max(far_over_usual * extent.usual_deg, least_far_deg);
  const double distance_deg = extent.distance_deg(site.latitude_deg, site.longitude_deg);
  if (!(distance_deg > far_deg) || (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)) return;
  const double near_deg = std::max(near_over_usual * extent.usual_deg, 0.1 * least_far_deg);
  for (const Mistake& mistake : mistakes) {
    const double latitude =
        mistake.latitude_sign * (mistake.swapped ? site.longitude_deg : site.latitude_deg);
    const double longitude =
        mistake.longitude_sign * (mistake.swapped ? site.latitude_deg : site.longitude_deg);
    if (extent.distance_deg(latitude, longitude) <= near_deg)
      return findings.add(
          Severity::error, "coordinates",
          fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the other stations: {}", site.latitude_deg,
                      site.longitude_deg, 1e-3 * metres_per_degree * distance_deg, mistake.text),
          mistake.remedy, [latitude, longitude](StationData& station) {
            station.site.latitude_deg = latitude;
            station.site.longitude_deg = longitude;
          });
  }
  findings.add(
      Severity::warning, "far_away",
      fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the middle of the stations, most of which are within "
                  "{:.3g} km",
                  site.latitude_deg, site.longitude_deg, 1e-3 * metres_per_degree * distance_deg,
                  1e-3 * metres_per_degree * extent.usual_deg),
      "correct the coordinates, or leave the station out: --sites");
}

double apart_m(const Station& a, const Station& b) {
  return metres_per_degree *
         std::hypot(a.latitude_deg - b.latitude_deg,
                    std::cos(a.latitude_deg / deg_per_rad) * (a.longitude_deg - b.longitude_deg));
}

}  // namespace

void check_places(const std::vector<StationData>& stations, std::vector<StationFindings>& findings) {
  const Extent extent = extent_of(stations);
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const Station& site = stations[k].site;
    check_place(stations[k], findings[k]);
    if (stations.size() > 2 && !stations[k].local_frame) check_distance(site, extent, findings[k]);
    if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0) continue;
    for (std::size_t other = 0; other < k; ++other)
      if (apart_m(site, stations[other].site) < same_place_m)
        findings[k].add(Severity::note, "same_place",
                        fmt::format("stands where {} does", stations[other].site.name),
                        "inversions merge bands of one place; else leave one out: --sites");
  }
}

}  // namespace lodestone::physics::mt
