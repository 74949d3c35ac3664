// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/map_periods.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double rounding = 1e-6;  // of logarithms
constexpr int fine_per_decade = 8;

/// The shortest and the longest period of something, as log10 of seconds.
struct Band {
  double from = INFINITY, to = -INFINITY;
  void add(const StationData& station) {
    for (const StationRow& row : station.rows) {
      const double at = -std::log10(row.frequency_hz);
      from = std::min(from, at);
      to = std::max(to, at);
    }
  }
  [[nodiscard]] bool contains(double at) const { return at >= from - rounding && at <= to + rounding; }
};

Band band_of(const std::vector<StationData>& stations) {
  Band all;
  for (const StationData& station : stations) all.add(station);
  return all;
}

/// Returns the part of the band that at least half as many stations cover as its best period has.
Band covered_by_most(const std::vector<StationData>& stations) {
  const Band all = band_of(stations);
  std::vector<Band> bands(stations.size());
  for (std::size_t k = 0; k < stations.size(); ++k) bands[k].add(stations[k]);
  const int n = static_cast<int>(std::ceil((all.to - all.from) * fine_per_decade)) + 1;
  std::vector<std::ptrdiff_t> counts;
  const auto at = [&](int k) { return n > 1 ? all.from + (all.to - all.from) * k / (n - 1) : all.from; };
  for (int k = 0; k < n; ++k)
    counts.push_back(std::ranges::count_if(bands, [&](const Band& each) { return each.contains(at(k)); }));
  const std::ptrdiff_t most = std::ranges::max(counts);
  Band covered;
  for (int k = 0; k < n; ++k) {
    if (2 * counts[static_cast<std::size_t>(k)] < most) continue;
    covered.from = std::min(covered.from, at(k));
    covered.to = std::max(covered.to, at(k));
  }
  return covered;
}

/// Returns these multiples of powers of ten within a band.
std::vector<double> round_periods(const Band& band, const std::vector<double>& multiples) {
  std::vector<double> out;
  for (int decade = static_cast<int>(std::floor(band.from)); decade <= band.to + rounding; ++decade) {
    for (const double multiple : multiples)
      if (band.contains(decade + std::log10(multiple))) out.push_back(multiple * std::pow(10.0, decade));
  }
  return out;
}

}  // namespace

std::vector<double> even_periods(const std::vector<StationData>& stations, int per_decade) {
  const Band band = band_of(stations);
  std::vector<double> out;
  if (!(band.from <= band.to)) return out;
  for (int k = static_cast<int>(std::ceil(band.from * per_decade - rounding));
       k <= band.to * per_decade + rounding; ++k)
    out.push_back(std::pow(10.0, static_cast<double>(k) / per_decade));
  return out.empty() ? std::vector{std::pow(10.0, band.from)} : out;
}

std::vector<double> map_periods(const std::vector<StationData>& stations, std::size_t most) {
  if (!(band_of(stations).from < INFINITY) || most == 0) return {};
  constexpr std::size_t enough = 3;
  const Band band = covered_by_most(stations);
  std::vector<double> found = round_periods(band, {1.0});
  if (found.size() < enough) found = round_periods(band, {1.0, 3.0});
  if (found.empty()) return {std::pow(10.0, 0.5 * (band.from + band.to))};
  const std::size_t n = std::min(most, found.size());
  std::vector<double> chosen;
  for (std::size_t k = 0; k < n; ++k)
    chosen.push_back(found[n > 1 ? (k * (found.size() - 1) + (n - 1) / 2) / (n - 1) : found.size() / 2]);
  return chosen;
}

}  // namespace lodestone::physics::mt
