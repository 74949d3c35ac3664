// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/check.hpp"

#include "engine/core/parallel.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::physics::mt {

void StationFindings::add(Severity severity, const char* id, std::string text, std::string remedy,
                          std::function<void(StationData&)> mend) {
  findings_.push_back({severity, id, name_, path_, std::move(text), std::move(remedy), std::move(mend)});
}

std::vector<Finding> StationFindings::sorted() const {
  std::vector<Finding> out = findings_;
  std::ranges::stable_sort(out, std::greater<>(), &Finding::severity);
  return out;
}

namespace {

void check_remarks(const StationData& station, StationFindings& findings) {
  for (const std::string& remark : station.all_remarks()) {
    if (remark.ends_with(mark_of_damage))
      findings.add(Severity::warning, "damaged_file", remark,
                   "get the whole file from where it came from, or leave out what is missing: --mask");
    else if (remark.ends_with(mark_of_conjugation))
      findings.add(
          Severity::warning, "time_factor", remark,
          "none is needed if that is right, and `convert` writes exp(+i omega t); else: --sign plus");
    else if (remark.ends_with(mark_of_ohm))
      findings.add(Severity::warning, "units", remark,
                   "none is needed if that is right, and `convert` writes the units of each format; else: "
                   "--units field");
    else if (remark.ends_with(mark_of_open_units))
      findings.add(Severity::warning, "units", remark, "--units field or --units ohm, whichever is right");
    else if (remark.ends_with(mark_of_open_sign))
      findings.add(Severity::warning, "time_factor", remark,
                   "--sign plus or --sign minus, whichever is right");
    else
      findings.add(Severity::note, "remark", remark, "");
  }
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
  std::vector<Finding> all;
  for (const StationFindings& each : findings) std::ranges::move(each.sorted(), std::back_inserter(all));
  return all;
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
    const auto station = std::ranges::find_if(
        stations, [&](const StationData& each) { return each.site.name == finding.station; });
    if (station == stations.end()) continue;
    mend_masked(*station, finding);
    finding.mend(*station);
    station->changes.push_back(fmt::format("check found \"{}\" and mended it: {}", finding.id, finding.text));
    ++n;
  }
  return n;
}

}  // namespace lodestone::physics::mt
