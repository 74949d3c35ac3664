// SPDX-License-Identifier: Apache-2.0
// These rules are about where stations stand.
#include "engine/core/median.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace lodestone::physics::mt {
namespace {

using core::median;

// These count usual distances to the third neighbour. A place beyond the first is looked at, one within the
// second is right, and one beyond the third is named whatever the reason.
constexpr double apart_over_usual = 5.0, near_over_usual = 3.0, far_over_usual = 10.0;
constexpr double least_apart_deg = 1.0;
constexpr std::size_t least_area = 4;  // stations that may be an area of their own
constexpr double metres_per_degree = 111'000.0;
constexpr double highest_m = 9000.0, deepest_m = -11000.0;

// No angle is as large, in whatever unit of files, and hardly any coordinate of a projection is smaller.
constexpr double least_metres = 10'000.0;
constexpr const char* words_of_metres = "; it looks like metres of a projection, such as UTM";

struct Place {
  double latitude_deg, longitude_deg;
  [[nodiscard]] bool is_possible() const {
    return std::abs(latitude_deg) <= 90.0 && std::abs(longitude_deg) <= 360.0;
  }
  [[nodiscard]] bool is_zero() const { return latitude_deg == 0.0 && longitude_deg == 0.0; }
};

/// Returns the place of a station; NaN in a frame of its own.
Place place_of(const StationData& station) {
  if (station.local_frame) return {not_given, not_given};
  return {station.site.latitude_deg, station.site.longitude_deg};
}

/// Returns the distance of two places, in degrees of latitude.
double apart_deg(const Place& a, const Place& b) {
  const double east_deg = std::remainder(b.longitude_deg - a.longitude_deg, 360.0);
  return std::hypot(b.latitude_deg - a.latitude_deg, std::cos(a.latitude_deg / deg_per_rad) * east_deg);
}

/// Returns the place that a file states, also where the reader took part of it as unknown.
Place stated_place(const StationData& station) {
  Place place{station.site.latitude_deg, station.site.longitude_deg};
  for (const Remark& each : station.remarks) {
    double& stated = each.kind == RemarkKind::impossible_latitude ? place.latitude_deg : place.longitude_deg;
    const bool is_of_place =
        each.kind == RemarkKind::impossible_latitude || each.kind == RemarkKind::impossible_longitude;
    if (is_of_place && !std::isfinite(stated)) stated = std::strtod(each.stated.c_str(), nullptr);
  }
  return place;
}

/// Returns what is impossible in a place; empty where there is nothing.
std::string impossible_in(const Place& place) {
  const auto beyond = [](double value_deg, double most_deg, const char* what) {
    return std::abs(value_deg) > most_deg
               ? fmt::format("the {} is {:.10g} degrees, beyond {:g}, which is impossible{}", what, value_deg,
                             most_deg, std::abs(value_deg) >= least_metres ? words_of_metres : "")
               : std::string();
  };
  const std::string text = beyond(place.latitude_deg, 90.0, "latitude");
  return text.empty() ? beyond(place.longitude_deg, 360.0, "longitude") : text;
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
  /// Returns the distance within which a corrected place is near the others.
  [[nodiscard]] double near_deg() const {
    return std::max(near_over_usual * usual_deg_, 0.1 * least_apart_deg);
  }

  /// Returns how far a place is from its third neighbour, of few stations from one in their middle; the
  /// station itself does not count.
  [[nodiscard]] double distance_deg(const Place& place, std::size_t station) const {
    constexpr std::size_t neighbour = 3;
    std::vector<double> distances;
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (const double apart = apart_deg(place, places_[k]); k != station && std::isfinite(apart))
        distances.push_back(apart);
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
std::function<void(StationData&)> moved_to(const Place& there) {
  return [there](StationData& mended) {
    mended.site.latitude_deg = there.latitude_deg;
    mended.site.longitude_deg = there.longitude_deg;
  };
}

/// A mistake that would bring a station to the others.
struct Explanation {
  const Mistake* mistake;
  Place there;
  double distance_deg;  ///< from its third neighbour
};

/// Returns the place without a mistake.
Place mended(const Place& here, const Mistake& mistake) {
  return {
      mistake.latitude_sign * (mistake.swapped ? here.longitude_deg : here.latitude_deg),
      mistake.longitude_sign * (mistake.swapped ? here.latitude_deg : here.longitude_deg) + mistake.east_deg};
}

/// Returns the mistakes that bring a place near the other stations, that which brings it nearest first.
std::vector<Explanation> explanations(const Place& here, std::size_t station, const Crowd& crowd,
                                      double near_deg) {
  std::vector<Explanation> found;
  for (const Mistake& mistake : mistakes) {
    const Place there = mended(here, mistake);
    const double distance_deg = crowd.distance_deg(there, station);
    if (distance_deg <= near_deg) found.push_back({&mistake, there, distance_deg});
  }
  std::ranges::stable_sort(found, {}, &Explanation::distance_deg);
  return found;
}

/// Names an impossible place, and the exchange of its two numbers where that makes one of it.
void check_impossible(const Place& stated, std::string text, std::size_t station, const Crowd& crowd,
                      StationFindings& findings) {
  const FilePart part = std::abs(stated.latitude_deg) > 90.0 ? FilePart::latitude : FilePart::longitude;
  if (text.ends_with(words_of_metres))
    return findings.add(FindingKind::metres_as_degrees, std::move(text), {.part = part});
  const Place exchanged{stated.longitude_deg, stated.latitude_deg};
  const std::vector<Explanation> found = explanations(stated, station, crowd, crowd.near_deg());
  if (found.size() == 1 && found[0].there.is_possible())
    return findings.add(
        FindingKind::coordinates, fmt::format("{}: {}", text, found[0].mistake->text),
        {.part = part, .filled_in = found[0].mistake->edit, .mend = moved_to(found[0].there)});
  if (exchanged.is_possible())
    return findings.add(FindingKind::exchanged_place,
                        fmt::format("{}: latitude and longitude are swapped, as {:.4f}, {:.4f} is a place",
                                    text, exchanged.latitude_deg, exchanged.longitude_deg),
                        {.part = part});
  findings.add(FindingKind::impossible_place, std::move(text), {.part = part});
}

void check_place(const StationData& station, std::size_t k, const Crowd& crowd, StationFindings& findings) {
  const Station& site = station.site;
  if (station.local_frame || std::isfinite(site.y_m)) return;
  const Place stated = stated_place(station);
  if (std::string text = impossible_in(stated); !text.empty())
    check_impossible(stated, std::move(text), k, crowd, findings);
  else if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg))
    findings.add(FindingKind::no_place, "latitude or longitude is missing",
                 {.part = std::isfinite(site.latitude_deg) ? FilePart::longitude : FilePart::latitude});
  else if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
    findings.add(FindingKind::no_place, "latitude and longitude are both 0", {.part = FilePart::latitude});
  if (site.elevation_m > highest_m || site.elevation_m < deepest_m)
    findings.add(FindingKind::elevation, fmt::format("the elevation is {:g} m", site.elevation_m),
                 {.part = FilePart::elevation});
}

void check_distance(const Station& site, std::size_t station, const Crowd& crowd, StationFindings& findings) {
  const Place here{site.latitude_deg, site.longitude_deg};
  if (!here.is_possible()) return;
  const double distance_deg = crowd.distance_deg(here, station);
  if (!(distance_deg > std::max(apart_over_usual * crowd.usual_deg(), least_apart_deg)) ||
      (here.latitude_deg == 0.0 && here.longitude_deg == 0.0))
    return;
  const std::vector<Explanation> found = explanations(here, station, crowd, crowd.near_deg());
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

/// Stations that stand together and apart from all others, in their order.
using Group = std::vector<std::size_t>;

/// Returns the groups into which gaps of this size divide the stations, the largest first. Stations without a
/// possible place, or in a frame of their own, are in none.
std::vector<Group> groups_of(const std::vector<StationData>& stations, double gap_deg) {
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < stations.size(); ++k)
    if (const Place place = place_of(stations[k]); place.is_possible() && !place.is_zero()) left.push_back(k);
  std::vector<Group> groups;
  while (!left.empty()) {
    Group group{left.front()};
    left.erase(left.begin());
    for (std::size_t next = 0; next < group.size(); ++next) {
      const Place here = place_of(stations[group[next]]);
      const auto is_near = [&](std::size_t k) { return apart_deg(here, place_of(stations[k])) <= gap_deg; };
      std::ranges::copy_if(left, std::back_inserter(group), is_near);
      std::erase_if(left, is_near);
    }
    std::ranges::sort(group);
    groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(groups, std::greater<>(), &Group::size);
  return groups;
}

/// Returns the least distance between a group, without a mistake, and another one.
double apart_deg(const std::vector<StationData>& stations, const Group& group, const Mistake& mistake,
                 const Group& other) {
  double least = INFINITY;
  for (const std::size_t k : group) {
    const Place there = mended(place_of(stations[k]), mistake);
    for (const std::size_t l : other) least = std::fmin(least, apart_deg(there, place_of(stations[l])));
  }
  return least;
}

/// Names a group that stands apart from the largest one, in one finding on all of its stations.
void check_group(const std::vector<StationData>& stations, const Group& group, const Group& largest,
                 const Crowd& crowd, StationFindings& findings) {
  constexpr Mistake none{"", "", 1.0, 1.0, false};
  std::vector<const Mistake*> found;
  for (const Mistake& mistake : mistakes)
    if (apart_deg(stations, group, mistake, largest) <= crowd.near_deg()) found.push_back(&mistake);
  FindingDetails details{.part = FilePart::latitude};
  for (std::size_t k = 1; k < group.size(); ++k) details.others.push_back(stations[group[k]].site.name);
  std::string text =
      fmt::format("{} stations lie {:.0f} km from the other {}", group.size(),
                  1e-3 * metres_per_degree * apart_deg(stations, group, none, largest), largest.size());
  if (found.size() > 1)
    return findings.add(FindingKind::ambiguous_coordinates,
                        fmt::format("{}: {}, or {}", text, found[0]->text, found[1]->text),
                        std::move(details));
  if (found.empty())
    return findings.add(group.size() < least_area ? FindingKind::far_away : FindingKind::far_group,
                        text + ", farther than from each other", std::move(details));
  details.part = found[0]->part;
  details.filled_in = found[0]->edit;
  details.mend = [mistake = *found[0]](StationData& station) {
    moved_to(mended(place_of(station), mistake))(station);
  };
  findings.add(FindingKind::coordinates, fmt::format("{}: {}", text, found[0]->text), std::move(details));
}

}  // namespace

void check_places(const std::vector<StationData>& stations, std::vector<StationFindings>& findings) {
  const Crowd crowd(stations);
  std::vector<bool> is_grouped(stations.size());
  const double gap_deg = std::fmax(far_over_usual * crowd.usual_deg(), least_apart_deg);
  if (const std::vector<Group> groups = groups_of(stations, gap_deg); groups.size() > 1) {
    for (std::size_t k = 1; k < groups.size(); ++k) {
      if (groups[k].size() < 2 || groups[0].size() < least_area) continue;
      check_group(stations, groups[k], groups[0], crowd, findings[groups[k].front()]);
      for (const std::size_t each : groups[k]) is_grouped[each] = true;
    }
  }
  for (std::size_t k = 0; k < stations.size(); ++k) {
    check_place(stations[k], k, crowd, findings[k]);
    if (stations.size() > 2 && !stations[k].local_frame && !is_grouped[k])
      check_distance(stations[k].site, k, crowd, findings[k]);
  }
}

}  // namespace lodestone::physics::mt
