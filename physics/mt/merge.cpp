// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/merge.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::physics::mt {
namespace {

bool is_same_frequency(double a_hz, double b_hz) { return std::abs(a_hz / b_hz - 1.0) <= same_frequency; }

/// Checks that two recordings at a place have no two references. errors: InvalidArgument.
void require_one_reference(const Station& first, const Station& other) {
  if (first.reference.empty() || other.reference.empty() || first.reference == other.reference) return;
  throw core::InvalidArgument("mt::select#two_references",
                              "stations {} and {} stand at the same place, and their inter-station functions "
                              "refer to {} and {}; leave one of them out",
                              first.name, other.name, first.reference, other.reference);
}

bool same_channels(const StationData& a, const StationData& b) {
  const auto frame = [](const StationRow& row) {
    const ChannelAzimuths& at = row.azimuths;
    return std::array{at.ex_deg,           at.ey_deg,          at.hx_deg,       at.hy_deg,
                      at.tipper_hx_deg,    at.tipper_hy_deg,   at.local_hx_deg, at.local_hy_deg,
                      at.reference_hx_deg, at.reference_hy_deg};
  };
  const auto all_as = [&](const StationData& station, const auto& first) {
    return std::ranges::all_of(station.rows, [&](const StationRow& row) { return frame(row) == first; });
  };
  return a.rows.empty() || (all_as(a, frame(a.rows.front())) && all_as(b, frame(a.rows.front())));
}

/// Returns the weight of an element of the first of two rows; that of the second is 1 less it.
double weight_of_first(const StationRow& first, const StationRow& second, Element element) {
  if (first.is_missing(element)) return 0.0;
  const double a = first.errors[element], b = second.errors[element];
  if (second.is_missing(element) || !(a > 0.0) || !(b > 0.0)) return 1.0;
  return b * b / (a * a + b * b);
}

/// Returns the weighted part of a covariance; elements without weight have none, whatever they are.
ElementCovariance weighted(const StationRow& row, const Eigen::Vector<double, n_elements>& weights) {
  ElementCovariance out = row.full_covariance();
  for (Eigen::Index k = 0; k < out.rows(); ++k)
    for (Eigen::Index l = 0; l < out.cols(); ++l)
      out(k, l) = weights[k] == 0.0 || weights[l] == 0.0 ? Complex(0.0) : weights[k] * weights[l] * out(k, l);
  return out;
}

/// Joins what was measured twice at one frequency, whatever was masked.
void join_values(StationRow& row, const StationRow& other) {
  const StationRow first = row;
  Eigen::Vector<double, n_elements> weights;
  for (const Element element : all_elements) {
    const double w = weights[static_cast<Eigen::Index>(index_of(element))] =
        weight_of_first(first, other, element);
    if (w == 1.0) continue;
    const double v = 1.0 - w;
    row.values[element] =
        w == 0.0 ? other.values[element] : w * first.values[element] + v * other.values[element];
    row.errors[element] =
        w == 0.0 ? other.errors[element] : std::hypot(w * first.errors[element], v * other.errors[element]);
  }
  if (weights.isOnes(0.0)) return;
  row.estimates.reset();
  if (!first.covariance && !other.covariance) return;
  row.covariance = weighted(first, weights) + weighted(other, (1.0 - weights.array()).matrix());
}

/// Returns the row with what was masked, except where the other row has a value that counts.
StationRow with_masked_unless(const StationRow& row, const StationRow& other) {
  StationRow out = row.with_masked ? *row.with_masked : row;
  for (const Element element : all_elements)
    if (row.is_masked(element) && !other.is_missing(element)) out.mask(element);
  out.with_masked.reset();
  return out;
}

/// Joins what was measured twice at one frequency. A value that was masked in one of them does not count
/// beside one that was not.
void join(StationRow& row, const StationRow& other) {
  std::optional<StationRow> with_masked;
  if (row.with_masked || other.with_masked) {
    with_masked = with_masked_unless(row, other);
    join_values(*with_masked, with_masked_unless(other, row));
  }
  join_values(row, other);
  row.with_masked = with_masked;
}

/// Returns the rows of two stations in the axes of the first.
std::pair<std::vector<StationRow>, std::vector<StationRow>> in_one_frame(const StationData& first,
                                                                         const StationData& other) {
  std::pair<std::vector<StationRow>, std::vector<StationRow>> rows{first.rows, other.rows};
  if (same_channels(first, other)) return rows;
  const double azimuth_deg = first.rows.front().azimuths.hx_deg;
  for (auto* each : {&rows.first, &rows.second})
    for (StationRow& row : *each) row = rotated(row, azimuth_deg);
  return rows;
}

/// Returns χ² per part of what two rows share, and how many elements these are; NaN for none.
std::pair<double, int> misfit_of(const StationRow& a, const StationRow& b) {
  double sum = 0.0;
  int n = 0;
  for (const Element element : all_elements) {
    const double variance = a.errors[element] * a.errors[element] + b.errors[element] * b.errors[element];
    if (a.is_missing(element) || b.is_missing(element) || !(variance > 0.0)) continue;
    sum += std::norm(a.values[element] - b.values[element]) / (2.0 * variance);
    ++n;
  }
  return {n > 0 ? sum / n : not_given, n};
}

}  // namespace

Agreement agreement_of(const StationData& first, const StationData& other) {
  Agreement out{.distance_m = distance_m(first, other)};
  double sum = 0.0;
  int n_elements_shared = 0;
  const auto [here, there] = in_one_frame(first, other);
  for (const StationRow& row : there) {
    const auto same = std::ranges::find_if(
        here, [&](const StationRow& has) { return is_same_frequency(has.frequency_hz, row.frequency_hz); });
    if (same == here.end()) continue;
    ++out.n_shared;
    const auto [chi2, n] = misfit_of(*same, row);
    if (n == 0) continue;
    sum += n * chi2;
    n_elements_shared += n;
    if (chi2 > Agreement::largest_chi2) out.contradicting_s.push_back(1.0 / row.frequency_hz);
  }
  if (n_elements_shared > 0) out.chi2 = sum / n_elements_shared;
  std::ranges::sort(out.contradicting_s);
  return out;
}

void merge_into(StationData& first, StationData other) {
  require_one_reference(first.site, other.site);
  if (!same_channels(first, other)) {
    const double azimuth_deg = first.rows.front().azimuths.hx_deg;
    rotate_rows(first, azimuth_deg);
    rotate_rows(other, azimuth_deg);
  }
  if (first.site.reference.empty()) first.site.reference = other.site.reference;
  const int n_masked = first.n_masked() + other.n_masked();
  for (const StationRow& row : other.rows) {
    const auto same = std::ranges::find_if(first.rows, [&](const StationRow& has) {
      return is_same_frequency(has.frequency_hz, row.frequency_hz);
    });
    if (same == first.rows.end())
      first.rows.push_back(row);
    else
      join(*same, row);
  }
  first.readings.insert(first.readings.end(), other.readings.begin(), other.readings.end());
  first.masked_readings.insert(first.masked_readings.end(), other.masked_readings.begin(),
                               other.masked_readings.end());
  first.sort();
  if (const int n_left = first.n_masked(); n_left < n_masked)
    first.changes.push_back(
        fmt::format("of {} masked values of {} and {} {} are left: others at the same "
                    "frequencies count, or both were masked",
                    n_masked, first.site.name, other.site.name, n_left));
  for (Remark& remark : other.remarks) {
    if (remark.kind == RemarkKind::renamed) remark.kind = RemarkKind::other;  // `first` has its own name
    first.remarks.push_back(std::move(remark));
  }
  first.remarks.push_back(
      fmt::format("{}: station {} stands at the same place as {}; their recordings were merged", other.path,
                  other.site.name, first.site.name));
  first.other_names.push_back(other.site.name);
}

double distance_m(const StationData& a, const StationData& b) {
  const Station &here = a.site, &there = b.site;
  if (std::isfinite(here.y_m) && std::isfinite(there.y_m) &&
      a.local_frame.has_value() == b.local_frame.has_value())
    return std::hypot(here.x_m - there.x_m, here.y_m - there.y_m);
  constexpr double earth_radius_m = 6.371e6;
  const double latitude = here.latitude_deg / deg_per_rad;
  const double north = (there.latitude_deg - here.latitude_deg) / deg_per_rad;
  const double east = std::remainder(there.longitude_deg - here.longitude_deg, 360.0) / deg_per_rad;
  return earth_radius_m * std::hypot(north, std::cos(latitude) * east);
}

std::vector<StationData> merged(std::vector<StationData> stations, double within_m,
                                const OnMerged& on_merged) {
  std::vector<StationData> out;
  for (StationData& station : stations) {
    const auto here = std::ranges::find_if(
        out, [&](const StationData& first) { return distance_m(first, station) < within_m; });
    if (here == out.end()) {
      out.push_back(std::move(station));
      continue;
    }
    if (on_merged) on_merged(*here, station);
    merge_into(*here, std::move(station));
  }
  return out;
}

}  // namespace lodestone::physics::mt
