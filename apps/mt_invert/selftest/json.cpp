// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/json.hpp"

#include "engine/core/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::selftest {
namespace {

using core::json_quoted;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.10g}", value) : "null"; }

std::string fact(const std::vector<std::pair<std::string, std::string>>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &std::pair<std::string, std::string>::first);
  return found == facts.end() ? "unknown" : found->second;
}

std::string header_of(const io::run::Provenance& provenance, physics::mt::d2::Accuracy accuracy) {
  const std::string machine = fmt::format("{}, {} cores, {}", fact(provenance.host, "processor"),
                                          fact(provenance.host, "cores"), fact(provenance.host, "system"));
  return fmt::format(
      "{{\"version\": {}, \"commit\": {}, \"compiler\": {}, \"machine\": {}, \"ranks\": {}, \"accuracy\": "
      "{}, \"started_utc\": {}, "
      "\"command\": {}}}",
      json_quoted(provenance.version), json_quoted(fact(provenance.build, "commit")),
      json_quoted(fact(provenance.build, "compiler")), json_quoted(machine),
      fact(provenance.host, "MPI ranks"),
      json_quoted(accuracy == physics::mt::d2::Accuracy::fine ? "fine" : "default"),
      json_quoted(provenance.started_utc), json_quoted(provenance.command_line));
}

std::string row_of(const std::string& benchmark, const SelftestRow& row) {
  return fmt::format(
      "{{\"benchmark\": {}, \"what\": {}, \"units\": {}, \"reference\": {}, \"ours\": {}, \"difference\": "
      "{}, "
      "\"difference_units\": {}, \"limit\": {}, \"judged\": {}, \"passed\": {}}}",
      json_quoted(benchmark), json_quoted(row.what), json_quoted(row.units), number(row.reference),
      number(row.ours), number(row.difference), json_quoted(row.difference_units), number(row.limit),
      row.judged, row.passed());
}

std::string run_of(const std::string& benchmark, const SelftestRun& run) {
  std::string text = fmt::format("{{\"benchmark\": {}", json_quoted(benchmark));
  for (const auto& [name, fact] : run.facts)
    text += fmt::format(", {}: {}", json_quoted(name), json_quoted(fact));
  for (const auto& [name, figure] : run.figures)
    text += fmt::format(", {}: {}", json_quoted(name), number(figure));
  return text + "}";
}

}  // namespace

std::string selftest_json(const io::run::Provenance& provenance, physics::mt::d2::Accuracy accuracy,
                          const std::vector<SelftestResult>& results) {
  std::string benchmarks, rows, runs;
  for (const SelftestResult& result : results) {
    benchmarks += fmt::format("{}\n  {{\"benchmark\": {}, \"passed\": {}, \"cpu_s\": {}, \"note\": {}}}",
                              benchmarks.empty() ? "" : ",", json_quoted(result.name), result.report.passed(),
                              number(result.cpu_s), json_quoted(result.report.note));
    for (const SelftestRow& row : result.report.rows)
      rows += fmt::format("{}\n  {}", rows.empty() ? "" : ",", row_of(result.name, row));
    for (const SelftestRun& run : result.report.runs)
      runs += fmt::format("{}\n  {}", runs.empty() ? "" : ",", run_of(result.name, run));
  }
  return fmt::format(
      "{{\"header\": {},\n \"benchmarks\": [{}\n ],\n \"results\": [{}\n ],\n \"runs\": [{}\n ]}}\n",
      header_of(provenance, accuracy), benchmarks, rows, runs);
}

}  // namespace lodestone::mt_invert::selftest
