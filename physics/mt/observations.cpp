// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/observations.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace lodestone::physics::mt {
namespace {

constexpr int n_reasons = static_cast<int>(MaskReason::not_predicted) + 1;
using ReasonCounts = std::array<int, n_reasons>;

int& of(ReasonCounts& counts, MaskReason reason) { return counts[static_cast<std::size_t>(reason)]; }

/// Counts the data of each station, without those that no file had to hold.
std::vector<ReasonCounts> counts_by_station(const Observations& data) {
  std::vector<ReasonCounts> counts(data.survey.stations.size());
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    if (data.absent[i] == 0)
      ++of(counts[static_cast<std::size_t>(data.survey.keys[i].station)], data.reason[i]);
  }
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
          fmt::format("{}{} {}", text.empty() ? "" : ", ", masked[r], core::word(static_cast<MaskReason>(r)));
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
      return "out_of_quadrant: look at rotation and time factor, or widen data.phase_min_deg to "
             "data.phase_max_deg";
    case MaskReason::listed:
      return "listed: the mask rules take them";
    case MaskReason::bad_error:
      return "bad_error: their errors are not positive numbers, so correct the files or set error floors";
    case MaskReason::not_predicted:
      return "not_predicted: the simulation does not predict the elements that these data are made of, so "
             "select other data";
    case MaskReason::kept:
      break;
  }
  return {};
}

/// Returns advice for each reason that masks at least a tenth of what is masked.
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

/// Keeps these rows of a member; one that is not known stays empty.
template <class T>
void keep_rows(std::vector<T>& values, const std::vector<Eigen::Index>& rows) {
  if (values.empty()) return;
  std::vector<T> out;
  out.reserve(rows.size());
  for (const Eigen::Index row : rows) out.push_back(values[static_cast<std::size_t>(row)]);
  values = std::move(out);
}

void keep_rows(Eigen::VectorXd& values, const std::vector<Eigen::Index>& rows) {
  if (values.size() > 0) values = Eigen::VectorXd(values(rows));
}

}  // namespace

Eigen::Index Observations::n_used() const {
  return std::count(reason.begin(), reason.end(), MaskReason::kept);
}

Observations Observations::kept() const {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < reason.size(); ++i) {
    if (reason[i] == MaskReason::kept) rows.push_back(static_cast<Eigen::Index>(i));
  }
  Observations out = *this;
  keep_rows(out.survey.keys, rows);
  keep_rows(out.value, rows);
  keep_rows(out.sigma_measured, rows);
  keep_rows(out.sigma, rows);
  keep_rows(out.reason, rows);
  keep_rows(out.interpolated, rows);
  keep_rows(out.absent, rows);
  return out;
}

core::DataSet Observations::data_set() const {
  const std::size_t n = survey.keys.size();
  core::DataSetParts parts{.observed = value,
                           .sigma = sigma,
                           .turn = Eigen::VectorXd(value.size()),
                           .reasons = {"used", "missing", "out_of_quadrant", "listed", "bad_error"}};
  core::Table::Texts quantity(n), site(n);
  core::Table::Numbers y_m(n), period_s(n), was_interpolated(n);
  for (std::size_t k = 0; k < n; ++k) {
    const DatumKey& key = survey.keys[k];
    const Station& station = survey.stations[static_cast<std::size_t>(key.station)];
    parts.turn[static_cast<Eigen::Index>(k)] = rule_of(key.quantity).turn;
    parts.reason.push_back(static_cast<int>(reason[k]));
    quantity[k] = name_of(key.quantity);
    site[k] = station.name;
    y_m[k] = station.y_m;
    was_interpolated[k] = k < interpolated.size() ? interpolated[k] : 0.0;
    period_s[k] = 1.0 / survey.frequencies_hz[static_cast<std::size_t>(key.frequency)];
  }
  parts.key.add_texts("quantity", std::move(quantity));
  parts.key.add_texts("site", std::move(site));
  parts.key.add_numbers("y_m", "m", std::move(y_m));
  parts.key.add_numbers("period_s", "s", std::move(period_s));
  parts.key.add_numbers("interpolated", "", std::move(was_interpolated));
  // named only where it occurs: files and checkpoints of data without it stay as they were
  if (std::ranges::count(reason, MaskReason::not_predicted) > 0)
    parts.reasons.emplace_back(core::word(MaskReason::not_predicted));
  return core::DataSet(std::move(parts));
}

void require_usable(const Observations& data) {
  if (data.n_used() > 0) return;
  throw core::InvalidArgument("mt::select#no_usable_datum", "no usable datum is left; {}:\n{}",
                              mask_advice(data), mask_table(data));
}

Observations without_unpredicted(Observations data, Elements predicted) {
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k) {
    if (data.reason[k] == MaskReason::kept && !determines(predicted, rule_of(data.survey.keys[k].quantity)))
      data.reason[k] = MaskReason::not_predicted;
  }
  require_usable(data);
  return data;
}

std::string mask_advice(const Observations& data) {
  ReasonCounts sum{};
  for (const MaskReason reason : data.reason) ++of(sum, reason);
  return advice(sum);
}

std::string mask_table(const Observations& data) {
  std::array<std::array<int, n_reasons + 1>, n_datum_rows + 1>
      counts{};  // last row: all quantities; last column: interpolated
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    for (const auto row :
         {static_cast<std::size_t>(data.survey.keys[i].quantity), static_cast<std::size_t>(n_datum_rows)}) {
      ++counts[row][static_cast<std::size_t>(data.reason[i])];
      counts[row][n_reasons] += i < data.interpolated.size() ? data.interpolated[i] : 0;
    }
  }
  std::string text =
      fmt::format("{:<15}{:>8}{:>10}{:>17}{:>9}{:>11}{:>15}{:>9}{:>14}\n", "quantity", "kept", "missing",
                  "out_of_quadrant", "listed", "bad_error", "not_predicted", "masked", "interpolated");
  for (std::size_t q = 0; q <= n_datum_rows; ++q) {
    const auto& c = counts[q];
    const int total = std::accumulate(c.begin(), c.end() - 1, 0);
    if (total == 0) continue;
    const double masked = 100.0 * (total - c[0]) / total;
    text += fmt::format("{:<15}{:>8}{:>10}{:>17}{:>9}{:>11}{:>15}{:>7.1f} %{:>14}\n",
                        q == n_datum_rows ? "all" : name_of(static_cast<Datum>(q)), c[0], c[1], c[2], c[3],
                        c[4], c[5], masked, c[6]);
  }
  return text;
}

std::vector<std::string> mask_warnings(const Observations& data) {
  constexpr double suspicious_share = 0.12;  // a fault of data or configuration rather than of single points
  ReasonCounts without{}, others{};
  std::vector<std::string> names;
  const auto counts = counts_by_station(data);
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const int n_kept = counts[s][static_cast<std::size_t>(MaskReason::kept)];
    const int n_listed = counts[s][static_cast<std::size_t>(MaskReason::listed)],
              n_all = std::accumulate(counts[s].begin(), counts[s].end(), 0);
    if (n_listed == n_all) continue;  // as the user said
    add(n_kept > 0 ? others : without, counts[s]);
    if (n_kept == 0)
      names.push_back(fmt::format("{} ({})", data.survey.stations[s].name, in_words(counts[s])));
  }
  std::vector<std::string> out;
  if (!names.empty())
    out.push_back(fmt::format("{} of {} stations have no usable datum: {}; {}", names.size(), counts.size(),
                              fmt::join(names, ", "), advice(without)));
  const int n = std::accumulate(others.begin(), others.end(), 0), n_kept = of(others, MaskReason::kept);
  if (n - n_kept > suspicious_share * n)
    out.push_back(fmt::format("{:.1f} % of the data{} are masked; {}", 100.0 * (n - n_kept) / n,
                              names.empty() ? "" : " of the other stations", advice(others)));
  return out;
}

}  // namespace lodestone::physics::mt
