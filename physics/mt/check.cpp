// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/check.hpp"

#include "physics/mt/conventions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

namespace lodestone::physics::mt {
namespace {

constexpr int enough = 5;                 // values of a vote
constexpr double most_of_them = 2.0 / 3;  // of the votes
constexpr double least_rho_ohm_m = 1e-2, largest_rho_ohm_m = 1e6;
constexpr double least_relative_error = 1e-4, largest_relative_error = 0.5;
constexpr double largest_tipper = 1.5;
constexpr double scatter_over_error = 3.0;
constexpr double gap_over_usual = 4.0;
constexpr double far_over_usual = 10.0, near_over_usual = 3.0, least_far_deg = 1.0;
constexpr double same_place_m = 1.0, metres_per_degree = 111'000.0;
constexpr double highest_m = 9000.0, deepest_m = -11000.0;
constexpr double other_frame_deg = 1.0;

/// Returns the median; NaN of nothing.
double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return not_given;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Shares of the values of an off-diagonal element in the quadrant that a layered earth gives, and in the
/// opposite one.
struct Quadrants {
  int n = 0;
  double expected = 0.0, opposite = 0.0;
};

Quadrants quadrants_of(const StationData& station, Element element) {
  const double sign = element == Element::zyx ? -1.0 : 1.0;
  int n = 0, expected = 0, opposite = 0;
  for (const StationRow& row : station.rows) {
    if (row.is_missing(element)) continue;
    const Complex z = sign * row.values[element];
    ++n;
    expected += z.real() > 0.0 && z.imag() > 0.0;
    opposite += z.real() < 0.0 && z.imag() < 0.0;
  }
  const double all = std::max(n, 1);
  return {n, expected / all, opposite / all};
}

class StationCheck {
 public:
  StationCheck(const StationData& station, std::vector<Finding>& findings)
      : station_(station), findings_(findings), first_(findings.size()) {}

  void run() {
    for (const std::string& remark : station_.all_remarks()) add(Severity::note, "remark", remark, "");
    check_sign_and_order();
    check_units();
    for (const Element element : {Element::zxy, Element::zyx}) {
      check_errors(element);
      check_scatter(element);
    }
    check_tipper();
    check_periods();
    check_place();
  }

  void add(Severity severity, const char* id, std::string text, std::string remedy) {
    findings_.push_back(
        {severity, id, station_.site.name, station_.path, std::move(text), std::move(remedy)});
  }

  /// Puts the gravest findings of the station first.
  void sort() {
    std::stable_sort(findings_.begin() + static_cast<std::ptrdiff_t>(first_), findings_.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  }

 private:
  void check_sign_and_order() {
    const Quadrants xy = quadrants_of(station_, Element::zxy), yx = quadrants_of(station_, Element::zyx);
    if (std::max(xy.n, yx.n) < enough) return;
    if (voted_time_factor(station_.rows) == TimeFactor::minus)
      return add(
          Severity::error, "time_factor",
          "Zxy and Zyx lie in the quadrants of exp(-i omega t), though the file was read as exp(+i omega t)",
          "--sign minus, or data.edi_sign = \"minus\"");
    const bool xy_opposite = xy.n >= enough && xy.opposite > most_of_them;
    const bool yx_opposite = yx.n >= enough && yx.opposite > most_of_them;
    const std::string shares = fmt::format(
        "{:.0f} % of Zxy and {:.0f} % of Zyx lie opposite to the quadrants of a "
        "layered earth",
        100.0 * xy.opposite, 100.0 * yx.opposite);
    if (xy_opposite && yx_opposite)
      add(Severity::error, "swapped_components",
          shares + ": x and y are swapped, or both fields of one kind reversed",
          "exchange the components, or turn the polarity in the file");
    else if (xy_opposite || yx_opposite)
      add(Severity::error, "reversed_channel",
          shares + fmt::format(": {} or its magnetic channel is reversed", xy_opposite ? "Ex" : "Ey"),
          "turn the polarity of the channel in the file");
    else if ((xy.n >= enough && xy.expected < most_of_them) || (yx.n >= enough && yx.expected < most_of_them))
      add(Severity::note, "out_of_quadrant",
          fmt::format("only {:.0f} % of Zxy and {:.0f} % of Zyx lie in the quadrants of a layered earth",
                      100.0 * xy.expected, 100.0 * yx.expected),
          "look at the phases; data.phase_min_deg and phase_max_deg mask them, volumes take them as they "
          "are");
  }

  void check_units() {
    std::vector<double> rho;
    for (const StationRow& row : station_.rows)
      for (const Element element : {Element::zxy, Element::zyx})
        if (!row.is_missing(element))
          rho.push_back(apparent_resistivity_ohm_m(row.values[element], row.frequency_hz));
    const double middle = median(rho);
    if (middle < least_rho_ohm_m || middle > largest_rho_ohm_m)
      add(Severity::error, "units",
          fmt::format("the median apparent resistivity is {:.3g} ohm m, read as {}", middle,
                      station_.units_in_file),
          "--units field or ohm, or data.edi_units");
  }

  void check_errors(Element element) {
    std::vector<double> relative;
    int n = 0, n_missing = 0;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(element)) continue;
      ++n;
      const double error = row.errors[element] / std::abs(row.values[element]);
      error > 0.0 ? relative.push_back(error) : void(++n_missing);
    }
    if (n < enough) return;
    const std::string_view name = rule_of(element).name;
    if (2 * n_missing > n)
      add(Severity::warning, "no_errors",
          fmt::format("{} of {} values of {} have no error", n_missing, n, name),
          "a floor: --floor impedance=0.05, or [data.floors]");
    const double middle = median(relative);
    if (middle < least_relative_error)
      add(Severity::warning, "errors_too_small",
          fmt::format("the median error of {} is {:.1e} of |Z|, smaller than instruments are", name, middle),
          "a floor: --floor impedance=0.05, or [data.floors]");
    if (middle > largest_relative_error)
      add(Severity::warning, "errors_too_large",
          fmt::format("the median error of {} is {:.0f} % of |Z|", name, 100.0 * middle),
          "--edi-variance of_each_part or of_complex_element, if .VAR was meant otherwise");
  }

  /// Sets what each value differs by from the line through its neighbours beside its error.
  void check_scatter(Element element) {
    std::vector<double> logs, errors, places;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(element) || !(row.errors[element] > 0.0)) continue;
      const double size = std::abs(row.values[element]);
      logs.push_back(std::log(size / std::sqrt(row.frequency_hz)));
      errors.push_back(row.errors[element] / size);
      places.push_back(std::log(row.frequency_hz));
    }
    if (std::ssize(logs) < enough + 2) return;
    std::vector<double> differences, expected;
    for (std::size_t k = 1; k + 1 < logs.size(); ++k) {
      const double w = (places[k] - places[k - 1]) / (places[k + 1] - places[k - 1]);
      differences.push_back(std::abs(logs[k] - (1.0 - w) * logs[k - 1] - w * logs[k + 1]));
      expected.push_back(std::hypot(errors[k], (1.0 - w) * errors[k - 1], w * errors[k + 1]));
    }
    constexpr double median_over_deviation = 0.6745;  // of the size of a normal number
    const double scatter = median(differences) / median_over_deviation, error = median(expected);
    if (scatter > scatter_over_error * error)
      add(Severity::note, "scatter",
          fmt::format("|{}| scatters from period to period by {:.2g} %, its errors say {:.2g} %",
                      rule_of(element).name, 100.0 * scatter, 100.0 * error),
          fmt::format("a floor of that size: --floor impedance={:.2g}", scatter));
  }

  void check_tipper() {
    std::vector<double> sizes;
    for (const StationRow& row : station_.rows)
      if (!row.is_missing(Element::tzx) && !row.is_missing(Element::tzy))
        sizes.push_back(std::sqrt(std::norm(row.values[Element::tzx]) + std::norm(row.values[Element::tzy])));
    if (std::ssize(sizes) >= enough && median(sizes) > largest_tipper)
      add(Severity::warning, "tipper_size",
          fmt::format("the median size of the tipper is {:.2g}", median(sizes)),
          "look at the channel Hz; data.tipper = false leaves it out");
  }

  void check_periods() {
    if (std::ssize(station_.rows) < enough) return;
    std::vector<double> steps;
    for (std::size_t k = 0; k + 1 < station_.rows.size(); ++k)
      steps.push_back(std::log(station_.rows[k].frequency_hz / station_.rows[k + 1].frequency_hz));
    const double usual = median(steps);
    const auto widest = std::ranges::max_element(steps);
    const StationRow& before = station_.rows[static_cast<std::size_t>(widest - steps.begin())];
    if (*widest > gap_over_usual * usual && *widest > std::numbers::ln10)
      add(Severity::note, "gap",
          fmt::format("no periods from {:.3g} to {:.3g} s", 1.0 / before.frequency_hz,
                      std::exp(*widest) / before.frequency_hz),
          "none is needed; AMT and LMT of one place may be two files");
  }

  void check_place() {
    const Station& site = station_.site;
    if (station_.local_frame || std::isfinite(site.y_m)) return;
    if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg))
      add(Severity::warning, "no_place", "latitude or longitude is missing", "write them into the file");
    else if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
      add(Severity::warning, "no_place", "latitude and longitude are both 0", "write them into the file");
    if (site.elevation_m > highest_m || site.elevation_m < deepest_m)
      add(Severity::warning, "elevation", fmt::format("the elevation is {:g} m", site.elevation_m),
          "correct it, or its unit, in the file");
  }

  const StationData& station_;
  std::vector<Finding>& findings_;
  std::size_t first_;
};

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

void check_distance(const Station& site, const Extent& extent, StationCheck& check) {
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
      return check.add(
          Severity::error, "coordinates",
          fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the other stations: {}", site.latitude_deg,
                      site.longitude_deg, 1e-3 * metres_per_degree * distance_deg, mistake.text),
          mistake.remedy);
  }
  check.add(
      Severity::warning, "far_away",
      fmt::format("{:.4f}, {:.4f} lies {:.0f} km from the middle of the stations, most of which are within "
                  "{:.3g} km",
                  site.latitude_deg, site.longitude_deg, 1e-3 * metres_per_degree * distance_deg,
                  1e-3 * metres_per_degree * extent.usual_deg),
      "correct the coordinates, or leave the station out: --sites");
}

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

}  // namespace

std::vector<Finding> check(const std::vector<StationData>& stations) {
  std::vector<Finding> findings;
  const Extent extent = extent_of(stations);
  const double usual_deg = usual_azimuth_deg(stations);
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const StationData& station = stations[k];
    StationCheck each(station, findings);
    each.run();
    if (stations.size() > 2 && !station.local_frame) check_distance(station.site, extent, each);
    for (std::size_t other = 0; other < k; ++other) {
      const Station &a = station.site, &b = stations[other].site;
      const double apart_m = metres_per_degree * std::hypot(a.latitude_deg - b.latitude_deg,
                                                            std::cos(a.latitude_deg / deg_per_rad) *
                                                                (a.longitude_deg - b.longitude_deg));
      if (apart_m < same_place_m && !(a.latitude_deg == 0.0 && a.longitude_deg == 0.0))
        each.add(Severity::note, "same_place", fmt::format("stands where {} does", b.name),
                 "inversions merge bands of one place; else leave one out: --sites");
    }
    const double azimuth_deg = station.rows.empty() ? not_given : station.rows.front().azimuths.hx_deg;
    if (std::abs(azimuth_deg - usual_deg) > other_frame_deg)
      each.add(Severity::note, "other_frame",
               fmt::format("x points to {:g} degrees, that of most stations to {:g}", azimuth_deg, usual_deg),
               "inversions rotate all to one frame; --rotate does it in files");
    each.sort();
  }
  return findings;
}

}  // namespace lodestone::physics::mt
