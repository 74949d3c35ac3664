// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"

#include "engine/core/json_text.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::selftest {
namespace {

namespace benchmarks = physics::mt::benchmarks;
using core::json_quoted;
using physics::mt::d2::Accuracy;

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.10g}", value) : "null"; }

std::string fact(const std::vector<std::pair<std::string, std::string>>& facts, const std::string& name) {
  const auto found = std::ranges::find(facts, name, &std::pair<std::string, std::string>::first);
  return found == facts.end() ? "unknown" : found->second;
}

std::string header_of(const core::Provenance& provenance, Accuracy accuracy) {
  const std::string machine = fmt::format("{}, {} cores, {}", fact(provenance.host, "processor"),
                                          fact(provenance.host, "cores"), fact(provenance.host, "system"));
  return fmt::format(
      "{{\"version\": {}, \"commit\": {}, \"compiler\": {}, \"machine\": {}, \"ranks\": {}, \"accuracy\": "
      "{}, \"started_utc\": {}, "
      "\"command\": {}}}",
      json_quoted(provenance.version), json_quoted(fact(provenance.build, "commit")),
      json_quoted(fact(provenance.build, "compiler")), json_quoted(machine),
      fact(provenance.host, "MPI ranks"), json_quoted(accuracy == Accuracy::fine ? "fine" : "default"),
      json_quoted(provenance.started_utc), json_quoted(provenance.command_line));
}

std::string row_of(const std::string& benchmark, const core::Comparison& row) {
  return fmt::format(
      "{{\"benchmark\": {}, \"what\": {}, \"units\": {}, \"reference\": {}, \"ours\": {}, \"difference\": "
      "{}, "
      "\"difference_units\": {}, \"limit\": {}, \"judged\": {}, \"passed\": {}}}",
      json_quoted(benchmark), json_quoted(row.what), json_quoted(row.units), number(row.reference),
      number(row.ours), number(row.difference), json_quoted(row.difference_units), number(row.limit),
      row.judged, row.passed());
}

std::string run_of(const std::string& benchmark, const core::Table& runs, std::size_t row) {
  std::string text = fmt::format("{{\"benchmark\": {}", json_quoted(benchmark));
  for (const core::Table::Column& column : runs.columns())
    text += fmt::format(", {}: {}", json_quoted(column.name),
                        column.is_numbers() ? number(std::get<core::Table::Numbers>(column.values)[row])
                                            : json_quoted(std::get<core::Table::Texts>(column.values)[row]));
  return text + "}";
}

/// Compares a published section with the table of its responses.
Selftest responses(const std::string& name, std::string description) {
  return {
      name, std::move(description), [name](MPI_Comm comm, Accuracy accuracy) {
        const benchmarks::PublishedModel model = benchmark_model(name, accuracy);
        SelftestReport report{benchmarks::compare_responses(comm, model, benchmark_table(name), accuracy)};
        if (!model.contacts_m.empty())
          report.note =
              "not judged: sites within 2 % of a body's width from a contact or a kink of the surface, "
              "where TM jumps";
        return report;
      }};
}

/// Compares a published volume with the table of its responses.
Selftest volume(const std::string& name, std::string description) {
  return {name, std::move(description) + "; by name only, takes minutes",
          [name](MPI_Comm comm, Accuracy accuracy) {
            SelftestReport report{
                benchmarks::compare_volume(comm, benchmarks::published_volume(name, accuracy),
                                           benchmark_table(name), physics::mt::d3::design_options(accuracy))};
            const bool all_judged = std::ranges::all_of(report.rows, &core::Comparison::judged);
            if (!all_judged)
              report.note = "not judged: values that the reference's own meshes leave uncertain";
            return report;
          },
          true};
}

SelftestReport selftest_sensitivity(MPI_Comm comm, Accuracy accuracy) {
  return {benchmarks::compare_sensitivities(comm, benchmark_model("commemi2d1").section,
                                            benchmark_table("sensitivity2d"), accuracy)};
}

}  // namespace

std::vector<Selftest> selftests() {
  return {{"layered1d", "four layered earths against the closed form",
           [](MPI_Comm, Accuracy) {
             return SelftestReport{benchmarks::compare_layered(benchmark_table("layered1d"))};
           }},
          responses("commemi2d0", "COMMEMI 2D-0: three segments on a perfect conductor"),
          responses("commemi2d1", "COMMEMI 2D-1: a conductive block"),
          responses("commemi2d2", "COMMEMI 2D-2: two deep conductive bodies"),
          responses("commemi2d4", "COMMEMI 2D-4: a basin with a sloping floor, from a polygon model"),
          responses("wannamaker_hill", "a trapezoidal hill, horizontal and slope-parallel fields"),
          {"layered3d", "four layered earths as volumes, 1 ms to 10 000 s",
           [](MPI_Comm comm, Accuracy accuracy) {
             return SelftestReport{
                 benchmarks::compare_layered_volumes(comm, benchmark_table("layered1d"), accuracy)};
           }},
          volume("commemi3d1", "COMMEMI 3D-1A: a conductive block, full impedance and tipper"),
          volume("commemi3d2", "COMMEMI 3D-2A: two blocks in a layer"),
          volume("dtm1", "Dublin Test Model 1 beside the median of ten codes and within their spread"),
          volume("two_mountain_3d", "two truncated cones, within the largest difference of two codes"),
          {"sensitivity2d", "region sums of the Jacobian of COMMEMI 2D-1", selftest_sensitivity},
          {"derivatives2d", "Taylor and adjoint test of the 2-D simulation, hill included",
           [](MPI_Comm comm, Accuracy) { return selftest_derivatives(comm); }},
          {"derivatives3d", "Taylor and adjoint test of the 3-D simulation, hill included",
           [](MPI_Comm comm, Accuracy) { return selftest_derivatives_3d(comm); }}};
}

std::string selftest_table(const Selftest& test, const SelftestReport& report) {
  std::string text = fmt::format("{}: {}\n{}{}", test.name, test.description,
                                 report.tables.empty() ? "" : "\n", report.tables);
  text +=
      fmt::format("  {:<42} {:>14} {:>14} {:>12} {:>10}\n", "", "reference", "ours", "difference", "limit");
  for (const auto& row : report.rows) {
    text += fmt::format("  {:<42} {:>14.7g} {:>14.7g} {:>10.2e}{:>2} {:>8.2g}{:>2}  {}\n", row.what,
                        row.reference, row.ours, row.difference, row.difference_units, row.limit,
                        row.difference_units,
                        !row.judged    ? "not judged"
                        : row.passed() ? "pass"
                                       : "FAIL");
  }
  if (!report.note.empty()) text += fmt::format("  {}\n", report.note);
  const auto judged = std::ranges::count_if(report.rows, &core::Comparison::judged);
  const auto failed =
      std::ranges::count_if(report.rows, [](const auto& row) { return row.judged && !row.passed(); });
  return text + fmt::format("  {}: {} of {} comparisons pass\n\n", report.passed() ? "pass" : "FAIL",
                            judged - failed, judged);
}

std::string selftest_json(const core::Provenance& provenance, Accuracy accuracy,
                          const std::vector<SelftestResult>& results) {
  std::string benchmarks, rows, runs;
  for (const SelftestResult& result : results) {
    benchmarks += fmt::format("{}\n  {{\"benchmark\": {}, \"passed\": {}, \"cpu_s\": {}, \"note\": {}}}",
                              benchmarks.empty() ? "" : ",", json_quoted(result.name), result.report.passed(),
                              number(result.cpu_s), json_quoted(result.report.note));
    for (const core::Comparison& row : result.report.rows)
      rows += fmt::format("{}\n  {}", rows.empty() ? "" : ",", row_of(result.name, row));
    for (std::size_t row = 0; row < result.report.runs.n_rows(); ++row)
      runs += fmt::format("{}\n  {}", runs.empty() ? "" : ",", run_of(result.name, result.report.runs, row));
  }
  return fmt::format(
      "{{\"header\": {},\n \"benchmarks\": [{}\n ],\n \"results\": [{}\n ],\n \"runs\": [{}\n ]}}\n",
      header_of(provenance, accuracy), benchmarks, rows, runs);
}

}  // namespace lodestone::mt_invert::selftest
