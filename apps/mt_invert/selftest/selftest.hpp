// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/comparison.hpp"
#include "engine/core/provenance.hpp"
#include "engine/core/table.hpp"
#include "physics/mt/benchmarks/published_model.hpp"

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::selftest {

/// Returns the path of a file that comes with the program: in $LODESTONE_DATA, beside the installed program
/// (share/lodestone), or in the source tree. errors: FileError that lists the places looked at.
[[nodiscard]] std::string data_file(const std::string& name);

/// Reads the table of a benchmark: data/benchmarks/<name>.csv. errors: FileError, FormatError with file:line.
[[nodiscard]] core::Table benchmark_table(const std::string& name);

/// Returns a published model, with its polygons from data/benchmarks/<name>.toml. errors: InvalidArgument for
/// an unknown name, those of the file.
[[nodiscard]] physics::mt::benchmarks::PublishedModel benchmark_model(
    const std::string& name, physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard);

/// The comparisons of one benchmark.
struct SelftestReport {
  std::vector<core::Comparison> rows;
  std::string note{};    ///< omissions and their reasons
  std::string tables{};  ///< its own tables, above the comparisons
  core::Table runs{};    ///< the runs that it compares, for programs
  [[nodiscard]] bool passed() const { return core::all_pass(rows); }
};

/// A bundled benchmark. `run` is collective; the accuracy is that of the forward meshes, and `fine` is also
/// judged by tighter limits.
struct Selftest {
  std::string name, description;
  std::function<SelftestReport(MPI_Comm, physics::mt::d2::Accuracy)> run;
  bool by_name_only = false;  ///< takes minutes
};

/// Returns the benchmarks of responses and derivatives.
[[nodiscard]] std::vector<Selftest> selftests();

/// Runs the Taylor and the adjoint test of a small section, or volume, with a hill. collective.
[[nodiscard]] SelftestReport selftest_derivatives(MPI_Comm comm);
[[nodiscard]] SelftestReport selftest_derivatives_3d(MPI_Comm comm);

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
