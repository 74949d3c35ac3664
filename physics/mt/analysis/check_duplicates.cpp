// SPDX-License-Identifier: Apache-2.0
// These rules look at stations that may be the same: of one place, or of one name.
#include "engine/core/median.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double same_place_m = 1.0;
constexpr double other_place_m = 100.0;   // places in whole seconds of arc differ by 30 m
constexpr double most_differences = 3.0;  // in errors of both, of at least this share of |Z|
constexpr double least_error = 0.05;

/// The periods that two recordings share.
struct Overlap {
  std::vector<double> periods_s;        ///< at which both have an off-diagonal impedance
  std::vector<double> contradictory_s;  ///< those at which these differ by more than their errors
};

/// Returns the largest difference of the off-diagonal impedances over their errors; NaN without any.
double difference_of(const StationRow& a, const StationRow& b) {
  double largest = not_given;
  for (const Element element : {Element::zxy, Element::zyx}) {
    if (a.is_missing(element) || b.is_missing(element)) continue;
    const double size = 0.5 * (std::abs(a.values[element]) + std::abs(b.values[element]));
    const auto sigma = [&](const StationRow& row) {
      return std::fmax(row.errors[element], least_error * size);
    };
    largest =
        std::fmax(largest, std::abs(a.values[element] - b.values[element]) / std::hypot(sigma(a), sigma(b)));
  }
  return largest;
}

Overlap overlap_of(const StationData& a, const StationData& b) {
  Overlap out;
  for (const StationRow& row : a.rows) {
    const auto same = std::ranges::find_if(b.rows, [&](const StationRow& other) {
      return std::abs(other.frequency_hz / row.frequency_hz - 1.0) <= same_frequency;
    });
    if (same == b.rows.end()) continue;
    const double difference = difference_of(row, rotated(*same, row.azimuths.hx_deg));
    if (!std::isfinite(difference)) continue;
    out.periods_s.push_back(1.0 / row.frequency_hz);
    if (difference > most_differences) out.contradictory_s.push_back(out.periods_s.back());
  }
  return out;
}

/// Says of two stations of one place or name whether they agree.
void check_pair(const StationData& station, const StationData& other, bool is_same_name,
                StationFindings& findings) {
  const double apart_m = distance_m(station, other);
  const bool is_same_place = apart_m < same_place_m;
  if (!is_same_place && !is_same_name) return;
  const std::string what = is_same_name ? fmt::format("is another station with the name {}", other.site.name)
                                        : fmt::format("stands where {} does", other.site.name);
  const Overlap overlap = overlap_of(station, other);
  if (is_same_name && apart_m > other_place_m)
    return findings.add(FindingKind::same_name_elsewhere, fmt::format("{}, {:.0f} m from it", what, apart_m),
                        {.part = FilePart::name});
  if (2 * overlap.contradictory_s.size() > overlap.periods_s.size())
    return findings.add(
        FindingKind::contradictory_duplicate,
        fmt::format("{}, but its impedances differ by more than {:g} errors of at least {:g} % at {} of {} "
                    "periods that both have: {}",
                    what, most_differences, 100.0 * least_error, overlap.contradictory_s.size(),
                    overlap.periods_s.size(), periods_in_words(overlap.contradictory_s)),
        {.part = is_same_name ? FilePart::name : FilePart::latitude, .periods_s = overlap.contradictory_s});
  std::string text = what + ", and both have no period in common";
  if (!overlap.periods_s.empty())
    text = fmt::format("{}, and both agree at {} of {} periods that they share: {}", what,
                       overlap.periods_s.size() - overlap.contradictory_s.size(), overlap.periods_s.size(),
                       periods_in_words(overlap.periods_s));
  if (!overlap.contradictory_s.empty())
    text += fmt::format("; they differ at {}", periods_in_words(overlap.contradictory_s));
  findings.add(FindingKind::same_place, text,
               {.part = is_same_name ? FilePart::name : FilePart::latitude, .periods_s = overlap.periods_s});
}

}  // namespace

std::string periods_in_words(std::vector<double> periods_s) {
  constexpr std::size_t most = 5;
  std::ranges::sort(periods_s);
  std::string text;
  for (std::size_t k = 0; k < std::min(most, periods_s.size()); ++k)
    text += fmt::format("{}{:.3g}", k == 0 ? "" : ", ", periods_s[k]);
  return text + " s" + (periods_s.size() > most ? fmt::format(" and {} more", periods_s.size() - most) : "");
}

void check_duplicates(const std::vector<StationData>& stations, std::vector<StationFindings>& findings) {
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const Station& site = stations[k].site;
    const bool is_nowhere = site.latitude_deg == 0.0 && site.longitude_deg == 0.0;
    const std::string stated = stations[k].name_in_file();
    for (std::size_t other = 0; other < k; ++other) {
      const bool is_same_name = stations[other].site.name == stated;
      if (!is_nowhere || is_same_name) check_pair(stations[k], stations[other], is_same_name, findings[k]);
    }
  }
}

}  // namespace lodestone::physics::mt
