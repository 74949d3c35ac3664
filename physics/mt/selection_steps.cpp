// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/selection_steps.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/merge.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace lodestone::physics::mt {
namespace {

bool is_same_frequency(double a_hz, double b_hz) { return std::abs(a_hz / b_hz - 1.0) <= same_frequency; }

/// Replaces names of references by those that their stations have after merging.
void rename_references(std::vector<StationData>& stations) {
  for (StationData& station : stations) {
    std::string& reference = station.site.reference;
    const auto found = std::ranges::find_if(
        stations, [&](const StationData& other) { return !reference.empty() && other.has_name(reference); });
    if (found != stations.end()) reference = found->site.name;
  }
}

/// Determinant and sum of squares of the impedance do not depend on the frame.
bool depends_on_frame(Datum datum) {
  const DatumRule& rule = rule_of(datum);
  return rule.needs != all_impedances || rule.floor == FloorKind::phase_tensor;
}

bool is_rotation(double from_deg, double to_deg) {
  return std::abs(std::remainder(from_deg - to_deg, 360.0)) > same_azimuth_deg;
}

/// Returns measured frequencies of rows and readings, each once, highest first.
std::vector<double> frequencies_of(const StationData& station) {
  std::vector<double> all;
  for (const StationRow& row : station.rows) all.push_back(row.frequency_hz);
  for (const Reading& reading : station.readings) all.push_back(reading.frequency_hz);
  std::stable_sort(all.begin(), all.end(), std::greater<>());
  all.erase(std::unique(all.begin(), all.end(), is_same_frequency), all.end());
  return all;
}

bool has_frequency(const std::vector<double>& list, double frequency_hz, double tolerance) {
  return std::any_of(list.begin(), list.end(),
                     [&](double f) { return std::abs(f / frequency_hz - 1.0) <= tolerance; });
}

bool is_interpolated(const StationData& station, const Selection& selection) {
  return std::any_of(selection.interpolate_stations.begin(), selection.interpolate_stations.end(),
                     [&](const std::string& name) { return station.has_name(name); });
}

std::vector<double> shared_by(const std::vector<std::vector<double>>& lists, double tolerance) {
  std::vector<double> shared;
  for (const double f : lists.front()) {
    if (std::all_of(lists.begin(), lists.end(),
                    [&](const auto& list) { return has_frequency(list, f, tolerance); }))
      shared.push_back(f);
  }
  if (shared.empty()) {
    throw core::InvalidArgument("mt::select#no_shared_frequency",
                                "the {} stations share no frequency within {} %; list the frequencies, take "
                                "all of them, or name the stations to interpolate",
                                lists.size(), 100.0 * tolerance);
  }
  return shared;
}

std::vector<double> joined(const std::vector<std::vector<double>>& lists, double tolerance) {
  std::vector<double> all;
  for (const auto& list : lists) {
    for (const double f : list) {
      if (!has_frequency(all, f, tolerance)) all.push_back(f);
    }
  }
  std::sort(all.begin(), all.end(), std::greater<>());
  return all;
}

/// A station and an interval of log f in which it measured.
using Interval = std::pair<std::size_t, int>;

/// Returns the intervals that a frequency serves: those of stations that measured it.
std::vector<Interval> served_by(double frequency_hz, const std::vector<std::vector<double>>& lists,
                                double per_decade, double tolerance) {
  std::vector<Interval> out;
  const int interval = static_cast<int>(std::floor(per_decade * std::log10(frequency_hz)));
  for (std::size_t station = 0; station < lists.size(); ++station)
    if (has_frequency(lists[station], frequency_hz, tolerance)) out.emplace_back(station, interval);
  return out;
}

/// Returns some of the frequencies that serve every interval which any of them serves: again and again the
/// one that serves most of what is left, of several the highest.
std::vector<double> thinned(const std::vector<double>& all, const std::vector<std::vector<double>>& lists,
                            double per_decade, double tolerance) {
  std::set<Interval> left;
  std::vector<std::vector<Interval>> served;
  for (const double f : all) {
    served.push_back(served_by(f, lists, per_decade, tolerance));
    left.insert(served.back().begin(), served.back().end());
  }
  std::vector<double> kept;
  while (!left.empty()) {
    const auto n_left = [&](const std::vector<Interval>& intervals) {
      return std::ranges::count_if(intervals, [&](const Interval& each) { return left.contains(each); });
    };
    const auto best = std::ranges::max_element(served, {}, n_left);
    for (const Interval& each : *best) left.erase(each);
    kept.push_back(all[static_cast<std::size_t>(best - served.begin())]);
  }
  std::ranges::sort(kept, std::greater<>());
  return kept;
}

/// Returns the closest entry within the tolerance, of several equally close ones the last; null: none.
template <class Entry, class Take>
const Entry* nearest(const std::vector<Entry>& entries, double frequency_hz, double tolerance, Take take) {
  const Entry* best = nullptr;
  double best_gap = tolerance;
  for (const Entry& entry : entries) {
    const double gap = std::abs(entry.frequency_hz / frequency_hz - 1.0);
    if (!take(entry) || !(gap <= best_gap)) continue;
    best = &entry;
    best_gap = gap;
  }
  return best;
}

const StationRow* nearest_row(const std::vector<StationRow>& rows, double frequency_hz, double tolerance) {
  return nearest(rows, frequency_hz, tolerance, [](const StationRow&) { return true; });
}

double folded_deg(double phase_rad, double branch_rad) {
  const double phase = phase_rad * deg_per_rad;
  return branch_rad > 0.0 ? phase + (phase > 0.0 ? -180.0 : 180.0) : phase;
}

/// Returns the phase that decides on the quadrant: of an impedance's parts and of phases, not of ρₐ.
double quadrant_deg(const DatumRule& rule, const StationRow& row, double value) {
  const auto branch = branch_of(rule);
  if (!branch || (rule.floor != FloorKind::phase && rule.floor != FloorKind::impedance)) return not_given;
  const auto element = rule.needs.single();
  return folded_deg(element ? std::arg(row.values[*element]) : value, *branch);
}

/// Checks that no measured frequency counts as two of the listed ones. errors: InvalidArgument.
void require_apart(const Selection& selection) {
  std::vector<double> sorted = selection.frequencies_hz;
  std::ranges::sort(sorted);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i] / sorted[i - 1] - 1.0 > selection.frequency_tolerance) continue;
    throw core::InvalidArgument("mt::select#frequencies_too_close",
                                "{} and {} Hz are the same within the frequency tolerance {}, so that a "
                                "measured value would count twice; list one of them, or lower the tolerance",
                                sorted[i - 1], sorted[i], selection.frequency_tolerance);
  }
}

}  // namespace

PlacedStations placed(const std::vector<StationData>& stations, const Profile& profile) {
  if (stations.empty())
    throw core::InvalidArgument("mt::select#no_station", "the list of stations is empty; read at least one");
  if (profile.y_m.size() != stations.size() || profile.offset_m.size() != stations.size())
    throw core::ShapeError("mt::select#wrong_size",
                           "expected {} positions along the profile, got {} and {} offsets", stations.size(),
                           profile.y_m.size(), profile.offset_m.size());
  PlacedStations out{stations, profile};
  for (std::size_t i = 0; i < stations.size(); ++i) {
    Station& site = out.stations[i].site;
    site.y_m = profile.y_m[i];
    if (profile.is_map) site.x_m = profile.offset_m[i];
  }
  return out;
}

PlacedStations merged_bands(const PlacedStations& placed, double same_place_m) {
  std::vector<StationData> merged;
  std::vector<std::size_t> origin;  // index of each merged station
  const std::vector<double>& offset_m = placed.profile.offset_m;
  for (std::size_t i = 0; i < placed.stations.size(); ++i) {
    const StationData& station = placed.stations[i];
    const auto is_here = [&](std::size_t first) {
      const Station& other = placed.stations[first].site;
      return std::hypot(other.y_m - station.site.y_m, offset_m[first] - offset_m[i]) < same_place_m &&
             !(std::abs(other.z_m - station.site.z_m) >= same_place_m);
    };
    const auto found = std::find_if(origin.begin(), origin.end(), is_here);
    if (found == origin.end()) {
      merged.push_back(station);
      origin.push_back(i);
      continue;
    }
    merge_into(merged[static_cast<std::size_t>(found - origin.begin())], station);
  }
  rename_references(merged);
  return {std::move(merged), placed.profile.of(origin)};
}

void limit_periods(std::vector<StationData>& stations, double min_period_s, double max_period_s) {
  const auto is_outside = [&](const auto& entry) {
    const double period_s = 1.0 / entry.frequency_hz;
    return period_s < min_period_s * (1.0 - same_frequency) ||
           period_s > max_period_s * (1.0 + same_frequency);
  };
  bool any = false;
  for (StationData& station : stations) {
    std::erase_if(station.rows, is_outside);
    std::erase_if(station.readings, is_outside);
    any = any || !station.rows.empty() || !station.readings.empty();
  }
  if (!any) {
    throw core::InvalidArgument("mt::select#no_period",
                                "no station has a period from {:g} to {:g} s; widen the limits of periods",
                                min_period_s, max_period_s);
  }
}

TurnLoss rotate_once(std::vector<StationData>& stations, double azimuth_deg, double declination_deg) {
  TurnLoss loss;
  for (StationData& station : stations) {
    rotate_rows(station, azimuth_deg - declination_deg, loss);
    for (StationRow& row : station.rows) row.azimuths = ChannelAzimuths::along(azimuth_deg);
    const std::size_t n_before = station.readings.size();
    std::erase_if(station.readings, [&](const Reading& reading) {
      return reading.azimuth_deg && depends_on_frame(reading.datum) &&
             is_rotation(*reading.azimuth_deg + declination_deg, azimuth_deg);
    });
    if (const std::size_t n = n_before - station.readings.size(); n > 0) {
      station.remarks.push_back(
          fmt::format("{}: left out {} of {} readings: they refer to another frame than x along {:g} "
                      "degrees, and only impedances and tippers can be rotated",
                      station.path, n, n_before, azimuth_deg));
    }
  }
  return loss;
}

std::vector<double> chosen_frequencies(const std::vector<StationData>& stations, const Selection& selection) {
  if (selection.frequencies == FrequencyChoice::listed) {
    if (selection.frequencies_hz.empty())
      throw core::InvalidArgument("mt::select#no_frequency", "expected at least one listed frequency");
    require_apart(selection);
    return selection.frequencies_hz;
  }
  std::vector<std::vector<double>> lists;
  for (const StationData& station : stations) {
    if (station.rows.empty() && station.readings.empty()) continue;  // a place of reference without data
    if (!is_interpolated(station, selection)) lists.push_back(frequencies_of(station));
  }
  if (lists.empty())
    throw core::InvalidArgument(
        "mt::select#all_interpolated",
        "every station is to be interpolated; list the frequencies to interpolate to");
  const double tolerance = selection.frequency_tolerance;
  const std::vector<double> found = selection.frequencies == FrequencyChoice::shared
                                        ? shared_by(lists, tolerance)
                                        : joined(lists, tolerance);
  return selection.frequencies_per_decade > 0.0
             ? thinned(found, lists, selection.frequencies_per_decade, tolerance)
             : found;
}

StationEvaluator::StationEvaluator(const StationData& station, const std::vector<double>& frequencies_hz,
                                   const Selection& selection)
    : station_(station),
      interpolates_(is_interpolated(station, selection)),
      tolerance_(interpolates_ ? same_frequency : selection.frequency_tolerance) {
  if (interpolates_) interpolated_ = interpolated(station.rows, frequencies_hz);
}

Evaluated StationEvaluator::at(Datum datum, double frequency_hz) const {
  const DatumRule& rule = rule_of(datum);
  Evaluated out;
  if (const StationRow* row =
          nearest_row(interpolates_ ? interpolated_ : station_.rows, frequency_hz, tolerance_)) {
    const StationRow* measured = nearest_row(station_.rows, frequency_hz, tolerance_);
    bool missing = false;
    for (const Element element : all_elements) {
      if (!rule.needs.contains(element)) continue;
      missing = missing || row->is_missing(element);
      out.stated = out.stated || !row->is_missing(element);
      out.interpolated = out.interpolated || measured == nullptr || measured->is_missing(element);
    }
    out.interpolated = out.interpolated && interpolates_ && !missing;
    out.modulus = modulus_of(rule, row->values);
    if (!missing) {
      out.value = rule.value(row->values, omega(frequency_hz));
      out.sigma = row->covariance ? sigma(rule, row->values, *row->covariance)
                                  : sigma(rule, row->values, row->errors);
      out.phase_deg = quadrant_deg(rule, *row, out.value);
    }
  }
  take_reading(datum, frequency_hz, out);
  return out;
}

void StationEvaluator::take_reading(Datum datum, double frequency_hz, Evaluated& out) const {
  const auto with = [&](Datum wanted, bool with_value) {
    return nearest(station_.readings, frequency_hz, tolerance_, [&](const Reading& reading) {
      return reading.datum == wanted && (!with_value || std::isfinite(reading.value));
    });
  };
  const auto of = [&](Datum wanted) { return with(wanted, true); };
  out.stated = out.stated || with(datum, false) != nullptr;
  const Reading* reading = of(datum);
  if (reading == nullptr) return;
  const DatumRule& rule = rule_of(datum);
  out.value = reading->value;
  out.sigma = reading->sigma;
  out.interpolated = false;
  const double branch_rad = branch_of(rule).value_or(0.0);
  if (rule.floor == FloorKind::phase) out.phase_deg = folded_deg(reading->value, branch_rad);
  const Reading* partner = rule.floor == FloorKind::impedance ? of(partner_of(datum)) : nullptr;
  if (partner == nullptr) return;
  const bool second = is_second_of_pair(datum);
  const Complex z(second ? partner->value : reading->value, second ? reading->value : partner->value);
  if (const auto e = element_of(rule); e != Element::zxx && e != Element::zyy) out.modulus = std::abs(z);
  if (branch_of(rule)) out.phase_deg = folded_deg(std::arg(z), branch_rad);
}

double with_floor(const Evaluated& datum, Datum which, const StationData& station, double frequency_hz,
                  const Selection& selection) {
  if (!std::isfinite(datum.value)) return not_given;
  const DatumRule& rule = rule_of(which);
  const double from_file = selection.ignore_file_errors || std::isnan(datum.sigma) ? 0.0 : datum.sigma;
  double floor = 0.0;
  for (const FloorRule& each : selection.floors) {
    if (each.kind == rule.floor && each.where.contains(station, which, frequency_hz))
      floor = floor_of(each.kind, each.floor, datum.modulus);
  }
  return std::max(from_file, floor);
}

bool is_out_of_quadrant(const Evaluated& datum, const Selection& selection) {
  return datum.phase_deg < selection.min_phase_deg || datum.phase_deg > selection.max_phase_deg;
}

MaskReason reason_of(const Evaluated& datum, double sigma, Datum which, const StationData& station,
                     double frequency_hz, const Selection& selection) {
  if (!std::isfinite(datum.value)) return MaskReason::missing;
  if (std::any_of(selection.masks.begin(), selection.masks.end(),
                  [&](const Where& where) { return where.contains(station, which, frequency_hz); }))
    return MaskReason::listed;
  const bool is_limited = selection.limits_te_phases || mode_of(rule_of(which)) != Mode::te;
  if (is_limited && is_out_of_quadrant(datum, selection)) return MaskReason::out_of_quadrant;
  const bool has_error = sigma > 0.0 && std::isfinite(sigma);
  return has_error || selection.keeps_without_error ? MaskReason::kept : MaskReason::bad_error;
}

}  // namespace lodestone::physics::mt
