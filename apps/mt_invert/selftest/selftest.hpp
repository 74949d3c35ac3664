// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/provenance.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <mpi.h>

#include <complex>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::mt_invert::selftest {

/// One number compared with its reference.
struct SelftestRow {
  std::string what;  ///< "TE 0.1 s y = 250 m ρₐ"
  std::string units;
  double reference = 0.0, ours = 0.0;
  double limit = 0.0;  ///< largest difference, in `difference_units`
  double difference = 0.0;
  std::string difference_units;
  bool judged = true;  ///< false: shown only (a site next to a contact)
  [[nodiscard]] bool passed() const;
};

/// One of several runs that a selftest compares: names and numbers for programs.
struct SelftestRun {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<std::pair<std::string, double>> figures;
};

/// The comparisons of one benchmark.
struct SelftestReport {
  std::vector<SelftestRow> rows;
  std::string note;                 ///< omissions and their reasons
  std::string tables{};             ///< its own tables, above the comparisons
  std::vector<SelftestRun> runs{};  ///< content of the tables
  [[nodiscard]] bool passed() const;
};

/// A bundled benchmark. `run` is collective; the accuracy is that of the forward meshes, and `fine` is also
/// judged by tighter limits.
struct Selftest {
  std::string name, description;
  std::function<SelftestReport(MPI_Comm, physics::mt::d2::Accuracy)> run;
  bool by_name_only = false;  ///< takes minutes
};

/// Returns the benchmarks of responses and derivatives, those below.
[[nodiscard]] std::vector<Selftest> selftests();

/// Compares the real and the imaginary part of a tipper with its reference, absolutely. sign: e^{+iωt}, z
/// down.
[[nodiscard]] std::vector<SelftestRow> tipper_rows(const std::string& what, std::complex<double> reference,
                                                   std::complex<double> ours, double limit);

// One per file.
[[nodiscard]] SelftestReport selftest_layered();
[[nodiscard]] SelftestReport selftest_commemi(MPI_Comm comm, physics::mt::d2::Accuracy accuracy,
                                              const std::string& name);
[[nodiscard]] SelftestReport selftest_sensitivity(MPI_Comm comm, physics::mt::d2::Accuracy accuracy);
[[nodiscard]] SelftestReport selftest_derivatives(MPI_Comm comm);

/// The report of a finished benchmark.
struct SelftestResult {
  std::string name;
  SelftestReport report;
  double cpu_s = 0.0;  ///< processor time of this rank
};

/// Returns the comparisons as a table for people.
[[nodiscard]] std::string selftest_table(const Selftest& test, const SelftestReport& report);

/// Returns the results as JSON: {"header": {version, commit, compiler, machine, ranks, accuracy, started_utc,
/// command}, "benchmarks": [{benchmark, passed, cpu_s, note}], "results": [{benchmark, what, units,
/// reference, ours, difference, difference_units, limit, judged, passed}], "runs": [{benchmark, facts,
/// figures of each run that it compares}]}. Numbers that are not finite become null.
[[nodiscard]] std::string selftest_json(const core::Provenance& provenance,
                                        physics::mt::d2::Accuracy accuracy,
                                        const std::vector<SelftestResult>& results);

}  // namespace lodestone::mt_invert::selftest
