// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/certificate_steps.hpp"

#include "engine/core/log.hpp"
#include "engine/core/parallel.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

/// Takes as many as the work allows, evenly over the list; of a single one the least expensive.
std::vector<FrequencyCost> within(const std::vector<FrequencyCost>& all, double work) {
  for (std::size_t n = all.size(); n > 0; --n) {
    std::vector<FrequencyCost> some;
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      some.push_back(all[(2 * k + 1) * all.size() / (2 * n)]);
      sum += some.back().work;
    }
    if (sum <= work) return some;
  }
  const auto least = std::ranges::min_element(all, {}, &FrequencyCost::work);
  if (least != all.end() && least->work <= work) return {*least};
  return {};
}

/// States which periods were left out and why; "" when none was.
std::string note_of(const CertificateCost& cost, const CertificateLimits& limits, std::size_t n_all) {
  const std::size_t n = cost.frequencies.size();
  if (n == n_all) return {};
  std::string note =
      n == 0 ? "No period was measured." : fmt::format("Measured at {} of {} periods.", n, n_all);
  if (cost.n_too_large > 0)
    note += fmt::format(
        " The checks of {} periods need up to {:.3g} GB at a time, more than the {:.3g} GB of the run.",
        cost.n_too_large, cost.largest_bytes / 1e9, limits.bytes / 1e9);
  if (n + static_cast<std::size_t>(cost.n_too_large) < n_all)
    note += fmt::format(" All periods would take {:.1f} times the time that a certificate may take.",
                        cost.all_work / limits.work);
  return note;
}

}  // namespace

CertificateCost cost_within(std::vector<FrequencyCost> all, const CertificateLimits& limits) {
  std::ranges::sort(all, {}, &FrequencyCost::frequency);
  std::vector<FrequencyCost> fitting;
  CertificateCost cost;
  for (const FrequencyCost& each : all) {
    cost.all_work += each.work;
    cost.largest_bytes = std::max(cost.largest_bytes, each.bytes);
    if (each.bytes <= limits.bytes) fitting.push_back(each);
  }
  cost.n_too_large = static_cast<int>(all.size() - fitting.size());
  for (const FrequencyCost& each : within(fitting, limits.work)) {
    cost.frequencies.push_back(each.frequency);
    cost.work += each.work;
    cost.bytes = std::max(cost.bytes, std::min(limits.bytes, core::threads() * each.bytes));
  }
  return cost;
}

Survey survey_at(const Survey& all, const std::vector<int>& frequencies) {
  Survey part{all.stations, {}, {}};
  for (const int frequency : frequencies)
    part.frequencies_hz.push_back(all.frequencies_hz[static_cast<std::size_t>(frequency)]);
  for (const DatumKey& key : all.keys) {
    const auto place = std::ranges::find(frequencies, key.frequency);
    if (place != frequencies.end())
      part.keys.push_back({key.quantity, static_cast<int>(place - frequencies.begin()), key.station});
  }
  return part;
}

ThreadsWithin::ThreadsWithin(double bytes, double bytes_of_one) : before_(core::threads()) {
  core::set_threads(static_cast<int>(std::clamp(bytes / bytes_of_one, 1.0, 1.0 * before_)));
}
ThreadsWithin::~ThreadsWithin() { core::set_threads(before_); }

CertificateRows::CertificateRows(const std::vector<std::string>& checks, const ResponseError& tolerance,
                                 std::function<std::string(Datum)> component)
    : component_(std::move(component)) {
  for (const std::string& check : checks) rows_.push_back({check, {}, "", true, tolerance});
}

void CertificateRows::compare(std::size_t row_index, const Survey& part, const Eigen::VectorXd& ours,
                              const Eigen::VectorXd& reference, const std::vector<double>& shares) {
  CertificateRow& row = rows_.at(row_index);
  for (Eigen::Index i = 0; i < ours.size(); ++i) {
    const DatumKey& key = part.keys[i];
    const double share = shares.empty() ? 1.0 : shares[i];
    const double change =
        share * (is_phase(key.quantity)
                     ? deg_per_rad * std::abs(difference(rule_of(key.quantity), ours[i], reference[i]))
                     : 100.0 * std::abs(std::pow(10.0, ours[i] - reference[i]) - 1.0));
    double& worst = is_phase(key.quantity) ? row.worst.phase_deg : row.worst.rho_a_percent;
    if (!(change > worst)) continue;
    worst = change;
    if (is_phase(key.quantity)) continue;
    const double period_s = 1.0 / part.frequencies_hz[key.frequency];
    row.where =
        fmt::format("{} {} {} s", component_(key.quantity), part.stations[key.station].name,
                    period_s >= 1000.0 ? fmt::format("{:.0f}", period_s) : fmt::format("{:.4g}", period_s));
  }
  row.passed = row.passed && ours.allFinite() && reference.allFinite();
}

std::vector<CertificateRow> CertificateRows::take() {
  for (CertificateRow& row : rows_)
    row.passed = row.passed && row.worst.rho_a_percent <= row.tolerance.rho_a_percent &&
                 row.worst.phase_deg <= row.tolerance.phase_deg;
  return std::move(rows_);
}

Certificate measured(const CertificateCost& cost, const CertificateLimits& limits, std::size_t n_frequencies,
                     std::size_t batch, CertificateRows rows, const Measure& measure) {
  Certificate out{.rows = {}, .note = note_of(cost, limits, n_frequencies)};
  const std::size_t n = cost.frequencies.size();
  if (n == 0) return out;
  for (std::size_t done = 0; done < n;) {
    out.stopped = limits.stop && limits.stop();
    if (out.stopped) return out;
    const std::size_t next = std::min(n, done + batch);
    measure({cost.frequencies.begin() + static_cast<std::ptrdiff_t>(done),
             cost.frequencies.begin() + static_cast<std::ptrdiff_t>(next)},
            rows);
    done = next;
    if (limits.stop) core::log::info("certificate: {} of {} periods measured", done, n);
  }
  out.rows = rows.take();
  out.passed = std::ranges::all_of(out.rows, &CertificateRow::passed);
  return out;
}

std::string Certificate::table() const {
  std::string text = fmt::format("{:<48} {:>9} {:>10}  {:>12} {:<6} {}\n", "check", "rho_a %", "phase deg",
                                 "tolerance", "passed", "worst at");
  for (const CertificateRow& row : rows)
    text += fmt::format("{:<48} {:>9.3f} {:>10.3f}  {:>12} {:<6} {}\n", row.check, row.worst.rho_a_percent,
                        row.worst.phase_deg,
                        fmt::format("{:g}, {:g}", row.tolerance.rho_a_percent, row.tolerance.phase_deg),
                        row.passed ? "yes" : "NO", row.where);
  if (!rows.empty()) text += fmt::format("{:<48} {}\n", "all", passed ? "passed" : "FAILED");
  return note.empty() ? text : text + note + "\n";
}

}  // namespace lodestone::physics::mt
