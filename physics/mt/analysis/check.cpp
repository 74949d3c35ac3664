// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/check.hpp"

#include "engine/core/parallel.hpp"
#include "physics/mt/analysis/check_rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::physics::mt {

void StationFindings::add(FindingKind kind, std::string text, FindingDetails details) {
  const FindingRule& rule = rule_of(kind);
  std::string remedy = rule.remedy;
  constexpr std::string_view braces = "{}";
  for (auto at = remedy.find(braces); at != std::string::npos; at = remedy.find(braces, at))
    remedy.replace(at, braces.size(), details.filled_in);
  std::ranges::sort(details.periods_s);
  findings_.push_back({rule.severity, rule.id, name_, path_, std::move(text), std::move(remedy),
                       std::move(details.mend), kind, details.part, std::move(details.periods_s),
                       std::move(details.others)});
}

void StationFindings::add_remark(FindingKind kind, const std::string& remark) {
  add(kind, remark);
  const std::size_t colon = path_.size(), end = remark.find(": ", colon);
  if (end == std::string::npos || !remark.starts_with(path_)) return;
  const std::string_view line = std::string_view(remark).substr(colon, end - colon);
  const bool is_line = line.empty() || (line.size() > 1 && line[0] == ':' &&
                                        line.find_first_not_of("0123456789", 1) == std::string_view::npos);
  if (!is_line) return;
  findings_.back().place = remark.substr(0, end);
  findings_.back().text = remark.substr(end + 2);
}

bool Finding::is_about(const std::string& name) const {
  return station == name || std::ranges::find(others, name) != others.end();
}

std::vector<Finding> StationFindings::sorted() const {
  std::vector<Finding> out = findings_;
  std::ranges::stable_sort(out, std::greater<>(), &Finding::severity);
  return out;
}

namespace {

void check_remarks(const StationData& station, StationFindings& findings) {
  for (const Remark& remark : station.all_remarks()) {
    FindingKind kind = FindingKind::remark;
    if (remark.kind == RemarkKind::damage) kind = FindingKind::damaged_file;
    if (remark.kind == RemarkKind::conjugated) kind = FindingKind::conjugated_by_reader;
    if (remark.kind == RemarkKind::ohm) kind = FindingKind::ohm_by_reader;
    if (remark.kind == RemarkKind::open_units) kind = FindingKind::open_units;
    if (remark.kind == RemarkKind::open_sign) kind = FindingKind::open_sign;
    findings.add_remark(kind, remark.text);
  }
}

std::vector<Finding> all_of(const std::vector<StationFindings>& findings) {
  std::vector<Finding> all;
  for (const StationFindings& each : findings) std::ranges::move(each.sorted(), std::back_inserter(all));
  return all;
}

}  // namespace

std::vector<Finding> check(const std::vector<StationData>& stations) {
  std::vector<StationFindings> findings(stations.begin(), stations.end());
  const double usual_ohm_m = usual_resistivity(stations);
  core::parallel_for(std::ssize(stations), [&](std::ptrdiff_t k) {
    const auto at = static_cast<std::size_t>(k);
    check_remarks(stations[at], findings[at]);
    check_curves(stations[at], usual_ohm_m, findings[at]);
    check_tensors(stations[at], findings[at]);
  });
  check_places(stations, findings);
  check_duplicates(stations, findings);
  check_frames(stations, findings);
  return all_of(findings);
}

std::vector<Finding> check_of_places(const std::vector<StationData>& stations) {
  std::vector<StationFindings> findings(stations.begin(), stations.end());
  check_places(stations, findings);
  return all_of(findings);
}

namespace {

/// Mends the values that were masked as those that are used.
void mend_masked(StationData& station, const Finding& finding) {
  StationData masked{.site = station.site};
  for (const StationRow& row : station.rows) masked.rows.push_back(row.with_masked ? *row.with_masked : row);
  masked.readings = station.masked_readings;
  finding.mend(masked);
  if (masked.rows.size() != station.rows.size()) return;
  for (std::size_t k = 0; k < masked.rows.size(); ++k)
    if (station.rows[k].with_masked) station.rows[k].with_masked = masked.rows[k];
  station.masked_readings = masked.readings;
}

}  // namespace

int mend(std::vector<StationData>& stations, const std::vector<Finding>& findings) {
  int n = 0;
  for (const Finding& finding : findings) {
    if (!finding.mend) continue;
    bool is_mended = false;
    for (StationData& station : stations) {
      if (!finding.is_about(station.site.name)) continue;
      mend_masked(station, finding);
      finding.mend(station);
      station.changes.push_back(
          fmt::format("check found \"{}\" and mended it: {}", finding.id, finding.text));
      is_mended = true;
    }
    n += is_mended;
  }
  return n;
}

}  // namespace lodestone::physics::mt
