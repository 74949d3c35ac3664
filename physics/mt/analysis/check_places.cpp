// SPDX-License-Identifier: Apache-2.0
// These rules are about where stations stand.
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

// These count usual distances to the third neighbour. A place beyond the first is looked at, one within the
// second is right, and one beyond the third is named whatever the reason.
constexpr double apart_over_usual = 5.0, near_over_usual = 3.0, far_over_usual = 10.0;
constexpr double least_apart_deg = 1.0;
constexpr double metres_per_degree = 111'000.0;
constexpr double highest_m = 9000.0, deepest_m = -11000.0;

// No angle is as large, in whatever unit of files, and hardly any coordinate of a projection is smaller.
constexpr double least_metres = 10'000.0;
constexpr const char* words_of_metres = "; it looks like metres of a projection, such as UTM";

/// Returns what is impossible in the place that a file states: a coordinate beyond its limit, or what the
/// reader says of one that it left out; empty where there is nothing.
std::string impossible_in(const StationData& station) {
  const auto beyond = [](double value_deg, double most_deg, const char* what) {
    return std::abs(value_deg) > most_deg
               ? fmt::format("the {} is {:.10g} degrees, beyond {:g}, which is impossible{}", what, value_deg,
                             most_deg, std::abs(value_deg) >= least_metres ? words_of_metres : "")
               : std::string();
  };
  const Station& site = station.site;
  if (const std::string text = beyond(site.latitude_deg, 90.0, "latitude"); !text.empty()) return text;
  if (const std::string text = beyond(site.longitude_deg, 360.0, "longitude"); !text.empty()) return text;
  const auto remark = std::ranges::find_if(station.remarks, [](const std::string& each) {
    return each.find("which is impossible; taken as unknown") != std::string::npos;
  });
  if (remark == station.remarks.end() || std::isfinite(site.latitude_deg + site.longitude_deg)) return {};
  const std::size_t end_of_place = remark->find(": ");
  std::string text = end_of_place == std::string::npos ? *remark : remark->substr(end_of_place + 2);
  const bool has_metres = std::ranges::any_of(station.remarks, [](const std::string& each) {
    return each.find("looks like metres of a projection") != std::string::npos;
  });
  return has_metres ? text + words_of_metres : text;
}

void check_place(const StationData& station, StationFindings& findings) {
  const Station& site = station.site;
  if (station.local_frame || std::isfinite(site.y_m)) return;
  if (const std::string text = impossible_in(station); !text.empty())
    findings.add(
        text.find("metres of a projection") == std::string::npos ? FindingKind::impossible_place
                                                                 : FindingKind::metres_as_degrees,
        text,
        {.part = text.find("latitude") == std::string::npos ? FilePart::longitude : FilePart::latitude});
  else if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg))
    findings.add(FindingKind::no_place, "latitude or longitude is missing",
                 {.part = std::isfinite(site.latitude_deg) ? FilePart::longitude : FilePart::latitude});
  else if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
    findings.add(FindingKind::no_place, "latitude and longitude are both 0", {.part = FilePart::latitude});
  if (site.elevation_m > highest_m || site.elevation_m < deepest_m)
    findings.add(FindingKind::elevation, fmt::format("the elevation is {:g} m", site.elevation_m),
                 {.part = FilePart::elevation});
}

/// The places of a survey, and how far from a station its third neighbour usually stands.
class Crowd {
 public:
  explicit Crowd(const std::vector<StationData>& stations) {
    for (const StationData& station : stations)
      places_.push_back({station.site.latitude_deg, station.site.longitude_deg});
    std::vector<double> distances;
    for (std::size_t k = 0; k < places_.size(); ++k) distances.push_back(distance_deg(places_[k], k));
    usual_deg_ = median(distances);
  }
  [[nodiscard]] double usual_deg() const { return usual_deg_; }

  struct Place {
    double latitude_deg, longitude_deg;
  };
  /// Returns how far a place is from its third neighbour, of few stations from one in their middle; the
  /// station itself does not count.
  [[nodiscard]] double distance_deg(const Place& place, std::size_t station) const {
    constexpr std::size_t neighbour = 3;
    const double shrink = std::cos(place.latitude_deg / deg_per_rad);
    std::vector<double> distances;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const double north = places_[k].latitude_deg - place.latitude_deg;
      const double east = shrink * std::remainder(places_[k].longitude_deg - place.longitude_deg, 360.0);
      if (k != station && std::isfinite(north + east)) distances.push_back(std::hypot(north, east));
    }
    if (distances.empty()) return not_given;
    const std::size_t n = std::min(neighbour, (distances.size() + 1) / 2) - 1;
    std::ranges::nth_element(distances, distances.begin() + static_cast<std::ptrdiff_t>(n));
    return distances[n];
  }

 private:
  std::vector<Place> places_;
  double usual_deg_ = 0.0;
};

/// A way in which coordinates are written wrongly.
struct Mistake {
  const char *text, *edit;  ///< text of the finding, and the edit of the file that mends it
  double latitude_sign, longitude_sign;
  bool swapped;
  double east_deg = 0.0;  ///< which is added to the longitude
  FilePart part = FilePart::longitude;
};
constexpr double zone_deg = 6.0;  // width of a zone of UTM
constexpr const char* remedy_of_zone = "convert its metres again, in the zone of the others";
constexpr std::array<Mistake, 7> mistakes{{
    {"latitude has the other sign", "change the sign of LAT", -1.0, 1.0, false, 0.0, FilePart::latitude},
    {"longitude has the other sign", "change the sign of LONG", 1.0, -1.0, false},
    {"latitude and longitude have the other signs", "change the signs of LAT and LONG", -1.0, -1.0, false},
    {"latitude and longitude are swapped", "exchange LAT and LONG", 1.0, 1.0, true},
    {"latitude and longitude are swapped, one with the other sign",
     "exchange LAT and LONG, and change the sign of one", -1.0, 1.0, true},
    {"longitude is 6 degrees too small, the width of a UTM zone: metres were converted in another zone",
     remedy_of_zone, 1.0, 1.0, false, zone_deg},
    {"longitude is 6 degrees too large, the width of a UTM zone: metres were converted in another zone",
     remedy_of_zone, 1.0, 1.0, false, -zone_deg},
}};

/// Returns what moves a station to a place.
std::function<void(StationData&)> moved_to(const Crowd::Place& there) {
  return [there](StationData& mended) {
    mended.site.latitude_deg = there.latitude_deg;
    mended.site.longitude_deg = there.longitude_deg;
  };
}

/// A mistake that would bring a station to the others.
struct Explanation {
  const Mistake* mistake;
  Crowd::Place there;
  double distance_deg;  ///< from its third neighbour
};

/// Returns the mistakes that bring a place near the other stations, that which brings it nearest first.
std::vector<Explanation> explanations(const Crowd::Place& here, std::size_t station, const Crowd& crowd,
                                      double near_deg) {
  std::vector<Explanation> found;
  for (const Mistake& mistake : mistakes) {
    const Crowd::Place there{
        mistake.latitude_sign * (mistake.swapped ? here.longitude_deg : here.latitude_deg),
        mistake.longitude_sign * (mistake.swapped ? here.latitude_deg : here.longitude_deg) +
            mistake.east_deg};
    const double distance_deg = crowd.distance_deg(there, station);
    if (distance_deg <= near_deg) found.push_back({&mistake, there, distance_deg});
  }
  std::ranges::stable_sort(found, {}, &Explanation::distance_deg);
  return found;
}

void check_distance(const Station& site, std::size_t station, const Crowd& crowd, StationFindings& findings) {
  const Crowd::Place here{site.latitude_deg, site.longitude_deg};
  const double distance_deg = crowd.distance_deg(here, station);
  if (!(distance_deg > std::max(apart_over_usual * crowd.usual_deg(), least_apart_deg)) ||
      (here.latitude_deg == 0.0 && here.longitude_deg == 0.0))
    return;
  const double near_deg = std::max(near_over_usual * crowd.usual_deg(), 0.1 * least_apart_deg);
  const std::vector<Explanation> found = explanations(here, station, crowd, near_deg);
  if (!found.empty()) {
    std::string text =
        fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the other stations: {}", here.latitude_deg,
                    here.longitude_deg, 1e-3 * metres_per_degree * distance_deg, found[0].mistake->text);
    if (found.size() > 1)
      return findings.add(FindingKind::ambiguous_coordinates,
                          text + fmt::format(", or {}", found[1].mistake->text),
                          {.part = FilePart::latitude});
    return findings.add(FindingKind::coordinates, std::move(text),
                        {.part = found[0].mistake->part,
                         .filled_in = found[0].mistake->edit,
                         .mend = moved_to(found[0].there)});
  }
  if (distance_deg < far_over_usual * crowd.usual_deg()) return;
  findings.add(
      FindingKind::far_away,
      fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the nearest stations, which usually are {:.3g} "
                  "km apart",
                  here.latitude_deg, here.longitude_deg, 1e-3 * metres_per_degree * distance_deg,
                  1e-3 * metres_per_degree * crowd.usual_deg()),
      {.part = FilePart::latitude});
}

}  // namespace

void check_places(const std::vector<StationData>& stations, std::vector<StationFindings>& findings) {
  const Crowd crowd(stations);
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const Station& site = stations[k].site;
    check_place(stations[k], findings[k]);
    if (stations.size() > 2 && !stations[k].local_frame) check_distance(site, k, crowd, findings[k]);
  }
}

}  // namespace lodestone::physics::mt
