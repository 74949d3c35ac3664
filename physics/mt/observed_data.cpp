// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/station_names.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

namespace lodestone::physics::mt {
namespace {

constexpr const char* data_name = "mt::make_observed_data";
constexpr int n_reasons = static_cast<int>(MaskReason::bad_error) + 1;
using ReasonCounts = std::array<int, n_reasons>;

/// What the transfer functions of one station say at one frequency: Zxy, Zyx, Tzy.
struct Sounding {
  std::array<Estimate, 3> estimates;
  std::array<bool, 3> interpolated{};
};

std::array<Estimate, 3> estimates_of(const TransferFunctionRow* row) {
  if (row == nullptr) return {};
  return {row->impedance[1], row->impedance[2], row->tipper[1]};
}

const TransferFunctionRow* nearest_row(const TransferFunctions& station, double frequency_hz,
                                       double tolerance) {
  const TransferFunctionRow* best = nullptr;
  double best_gap = tolerance;
  for (const auto& row : station.rows) {
    const double gap = std::abs(row.frequency_hz / frequency_hz - 1.0);
    if (gap <= best_gap) {
      best = &row;
      best_gap = gap;
    }
  }
  return best;
}

std::vector<double> shared_frequencies(const std::vector<const TransferFunctions*>& stations,
                                       double tolerance) {
  std::vector<double> shared;
  for (const auto& row : stations.front()->rows) {
    const auto has = [&](const TransferFunctions* s) {
      return nearest_row(*s, row.frequency_hz, tolerance) != nullptr;
    };
    if (std::all_of(stations.begin(), stations.end(), has)) shared.push_back(row.frequency_hz);
  }
  return shared;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<double> selected_frequencies(const std::vector<TransferFunctions>& stations,
                                         const DataSelection& selection) {
  if (!selection.frequencies_hz.empty()) return selection.frequencies_hz;
  std::vector<const TransferFunctions*> own_list;
  for (const auto& s : stations) {
    if (!contains(selection.interpolate_stations, s.name)) own_list.push_back(&s);
  }
  if (own_list.empty())
    throw core::InvalidArgument(
        data_name, "every station is to be interpolated; give the frequencies to interpolate to");
  auto shared = shared_frequencies(own_list, selection.frequency_tolerance);
  if (shared.empty()) {
    throw core::InvalidArgument(data_name,
                                "the {} stations share no frequency within {} %; list the frequencies, or "
                                "name the stations to interpolate",
                                own_list.size(), 100.0 * selection.frequency_tolerance);
  }
  return shared;
}

/// shapes: [station][frequency].
std::vector<std::vector<Sounding>> soundings_of(const std::vector<TransferFunctions>& stations,
                                                const std::vector<double>& frequencies_hz,
                                                const DataSelection& selection) {
  std::vector<std::vector<Sounding>> soundings;
  for (const auto& station : stations) {
    const bool interpolate = contains(selection.interpolate_stations, station.name);
    const TransferFunctions source = interpolate ? interpolated_to(station, frequencies_hz) : station;
    const double tolerance = interpolate ? same_frequency : selection.frequency_tolerance;
    auto& list = soundings.emplace_back();
    for (const double f : frequencies_hz) {
      Sounding sounding;
      sounding.estimates = estimates_of(nearest_row(source, f, tolerance));
      const auto measured = estimates_of(nearest_row(station, f, tolerance));
      for (std::size_t k = 0; k < measured.size(); ++k)
        sounding.interpolated[k] = measured[k].is_missing() && !sounding.estimates[k].is_missing();
      list.push_back(sounding);
    }
  }
  return soundings;
}

/// Place in Sounding.
std::size_t estimate_index(Quantity quantity) {
  const Element element = element_of(rule_of(quantity));
  return is_tipper(element) ? 2 : rule_of(element).mode == Mode::te ? 0 : 1;
}

struct Measured {
  double value = not_given, sigma = not_given;
};

Measured datum_of(const Estimate& estimate, Quantity quantity, double frequency_hz,
                  const DataSelection& selection) {
  const DatumRule& rule = rule_of(quantity);
  const double modulus = std::abs(estimate.value);
  const double from_file = selection.ignore_file_errors || std::isnan(estimate.sigma) ? 0.0 : estimate.sigma;
  // The closed forms of |slope|·σ, which keep the last bit of earlier results.
  const double propagated = rule.floor == FloorKind::log10_rho ? 2.0 * from_file / (modulus * ln10)
                            : rule.floor == FloorKind::phase   ? from_file / modulus
                                                               : from_file;
  return {value_of(rule, estimate.value, omega(frequency_hz)),
          std::max(propagated, floor_of(rule, selection.floors, modulus))};
}

bool rule_applies(const MaskRule& rule, const std::string& station, Quantity quantity, double frequency_hz) {
  const bool of_station = rule.station.empty() || rule.station == station;
  const bool of_quantity =
      rule.quantities.empty() ||
      std::find(rule.quantities.begin(), rule.quantities.end(), quantity) != rule.quantities.end();
  return of_station && of_quantity && frequency_hz >= rule.min_frequency_hz &&
         frequency_hz <= rule.max_frequency_hz;
}

/// Only what a phase decides: phases and the parts of an impedance.
bool is_out_of_quadrant(const Estimate& estimate, Quantity quantity, const DataSelection& selection) {
  const DatumRule& rule = rule_of(quantity);
  const auto branch = branch_of(rule);
  if (!branch || rule.floor == FloorKind::log10_rho) return false;
  double phase = phase_deg(estimate.value);
  if (*branch > 0.0) phase += phase > 0.0 ? -180.0 : 180.0;
  return phase < selection.min_phase_deg || phase > selection.max_phase_deg;
}

MaskReason reason_of(const Estimate& estimate, const Measured& datum, Quantity quantity, double frequency_hz,
                     const std::string& station, const DataSelection& selection) {
  if (estimate.is_missing() || !std::isfinite(datum.value)) return MaskReason::missing;
  const auto listed = [&](const MaskRule& rule) {
    return rule_applies(rule, station, quantity, frequency_hz);
  };
  if (std::any_of(selection.masks.begin(), selection.masks.end(), listed)) return MaskReason::listed;
  if (is_out_of_quadrant(estimate, quantity, selection)) return MaskReason::out_of_quadrant;
  if (!(datum.sigma > 0.0) || !std::isfinite(datum.sigma)) return MaskReason::bad_error;
  return MaskReason::kept;
}

void check_selection(const std::vector<TransferFunctions>& stations, const Profile& profile,
                     const DataSelection& selection) {
  if (stations.empty()) throw core::InvalidArgument(data_name, "expected at least one station, got none");
  if (profile.y_m.size() != stations.size())
    throw core::ShapeError(data_name, "expected {} positions along the profile, got {}", stations.size(),
                           profile.y_m.size());
  if (selection.quantities.empty())
    throw core::InvalidArgument(data_name,
                                "no quantity is selected; name at least one, such as log10_rho_xy");
  std::vector<std::string> names;
  for (const auto& s : stations) names.push_back(s.name);
  for (const auto& name : selection.interpolate_stations)
    (void)index_of_station(names, name, data_name, "the interpolation list");
  for (const auto& rule : selection.masks) {
    if (!rule.station.empty()) (void)index_of_station(names, rule.station, data_name, "a mask rule");
  }
}

std::vector<Station> profile_stations(const std::vector<TransferFunctions>& stations,
                                      const Profile& profile) {
  std::vector<Station> out;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    out.push_back({stations[i].name, profile.y_m[i], stations[i].latitude_deg, stations[i].longitude_deg,
                   stations[i].elevation_m});
  }
  return out;
}

int& of(ReasonCounts& counts, MaskReason reason) { return counts[static_cast<std::size_t>(reason)]; }

/// Of each station.
std::vector<ReasonCounts> counts_by_station(const ObservedData& data) {
  std::vector<ReasonCounts> counts(data.survey.stations.size());
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i)
    ++of(counts[static_cast<std::size_t>(data.survey.keys[i].station)], data.mask[i]);
  return counts;
}

void add(ReasonCounts& sum, const ReasonCounts& counts) {
  for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += counts[r];
}

std::string in_words(const ReasonCounts& masked) {
  std::string text;
  for (std::size_t r = 1; r < masked.size(); ++r) {
    if (masked[r] > 0)
      text +=
          fmt::format("{}{} {}", text.empty() ? "" : ", ", masked[r], name_of(static_cast<MaskReason>(r)));
  }
  return text;
}

std::string_view what_to_look_at(MaskReason reason) {
  switch (reason) {
    case MaskReason::missing:
      return "missing: the files hold no finite value of these quantities at these frequencies, so look at "
             "the components and periods they "
             "list, and at "
             "EMPTY, NaN and zeros in them";
    case MaskReason::out_of_quadrant:
      return "out_of_quadrant: look at rotation and time factor, or widen the range of phases";
    case MaskReason::listed:
      return "listed: the mask rules take them";
    case MaskReason::bad_error:
      return "bad_error: their errors are not positive numbers, so correct the files or set error floors";
    case MaskReason::kept:
      break;
  }
  return {};
}

/// For each reason that masks at least a tenth of what is masked.
std::string advice(ReasonCounts counts) {
  of(counts, MaskReason::kept) = 0;
  const int n_masked = std::accumulate(counts.begin(), counts.end(), 0);
  std::string text;
  for (std::size_t r = 1; r < counts.size(); ++r) {
    if (counts[r] > 0 && 10 * counts[r] >= n_masked)
      text += fmt::format("{}{}", text.empty() ? "" : "; ", what_to_look_at(static_cast<MaskReason>(r)));
  }
  return text;
}

ReasonCounts counts_of(const ObservedData& data) {
  ReasonCounts sum{};
  for (const ReasonCounts& counts : counts_by_station(data)) add(sum, counts);
  return sum;
}

}  // namespace

ObservedData make_observed_data(const std::vector<TransferFunctions>& stations, const Profile& profile,
                                const DataSelection& selection) {
  check_selection(stations, profile, selection);
  const std::vector<double> frequencies = selected_frequencies(stations, selection);
  const auto soundings = soundings_of(stations, frequencies, selection);
  ObservedData data;
  data.survey = full_survey(profile_stations(stations, profile), frequencies, selection.quantities);
  data.survey.validate();
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value.resize(n);
  data.sigma.resize(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const DatumKey& key = data.survey.keys[static_cast<std::size_t>(i)];
    const auto station = static_cast<std::size_t>(key.station),
               frequency = static_cast<std::size_t>(key.frequency);
    const Sounding& sounding = soundings[station][frequency];
    const std::size_t element = estimate_index(key.quantity);
    const Estimate& estimate = sounding.estimates[element];
    const Measured datum = datum_of(estimate, key.quantity, frequencies[frequency], selection);
    data.value[i] = datum.value;
    data.sigma[i] = datum.sigma;
    data.mask.push_back(
        reason_of(estimate, datum, key.quantity, frequencies[frequency], stations[station].name, selection));
    data.interpolated.push_back(sounding.interpolated[element] ? 1 : 0);
  }
  if (data.n_kept() == 0)
    throw core::InvalidArgument(data_name, "no usable datum is left; {}:\n{}", advice(counts_of(data)),
                                mask_table(data));
  return data;
}

std::string mask_table(const ObservedData& data) {
  std::array<std::array<int, n_reasons + 1>, n_datum_rows + 1>
      counts{};  // last row: all quantities; last column: interpolated
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    for (const auto row :
         {static_cast<std::size_t>(data.survey.keys[i].quantity), static_cast<std::size_t>(n_datum_rows)}) {
      ++counts[row][static_cast<std::size_t>(data.mask[i])];
      counts[row][n_reasons] += data.interpolated[i];
    }
  }
  std::string text =
      fmt::format("{:<13}{:>8}{:>10}{:>17}{:>9}{:>11}{:>9}{:>14}\n", "quantity", "kept", "missing",
                  "out_of_quadrant", "listed", "bad_error", "masked", "interpolated");
  for (std::size_t q = 0; q <= n_datum_rows; ++q) {
    const auto& c = counts[q];
    const int total = c[0] + c[1] + c[2] + c[3] + c[4];
    if (total == 0) continue;
    const double masked = 100.0 * (total - c[0]) / total;
    text += fmt::format("{:<13}{:>8}{:>10}{:>17}{:>9}{:>11}{:>7.1f} %{:>14}\n",
                        q == n_datum_rows ? "all" : name_of(static_cast<Quantity>(q)), c[0], c[1], c[2], c[3],
                        c[4], masked, c[5]);
  }
  return text;
}

std::vector<std::string> mask_warnings(const ObservedData& data) {
  constexpr double suspicious_share = 0.12;  // a fault of data or configuration rather than of single points
  ReasonCounts silent{}, others{};
  std::vector<std::string> names;
  const auto counts = counts_by_station(data);
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const int n_kept = counts[s][static_cast<std::size_t>(MaskReason::kept)];
    const int n_listed = counts[s][static_cast<std::size_t>(MaskReason::listed)],
              n_all = std::accumulate(counts[s].begin(), counts[s].end(), 0);
    if (n_listed == n_all) continue;  // as the user said
    add(n_kept > 0 ? others : silent, counts[s]);
    if (n_kept == 0)
      names.push_back(fmt::format("{} ({})", data.survey.stations[s].name, in_words(counts[s])));
  }
  std::vector<std::string> out;
  if (!names.empty())
    out.push_back(fmt::format("{} of {} stations have no usable datum: {}; {}", names.size(), counts.size(),
                              fmt::join(names, ", "), advice(silent)));
  const int n = std::accumulate(others.begin(), others.end(), 0), n_kept = of(others, MaskReason::kept);
  if (n - n_kept > suspicious_share * n)
    out.push_back(fmt::format("{:.1f} % of the data{} are masked; {}", 100.0 * (n - n_kept) / n,
                              names.empty() ? "" : " of the other stations", advice(others)));
  return out;
}

}  // namespace lodestone::physics::mt
