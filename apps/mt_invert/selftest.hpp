// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert {

/// One number compared with its reference.
struct SelftestRow {
  std::string what;  ///< "TE 0.1 s y = 250 m ρₐ"
  std::string units;
  double reference = 0.0, ours = 0.0;
  double limit = 0.0;  ///< of the difference, in `difference_units`
  double difference = 0.0;
  std::string difference_units;
  bool judged = true;  ///< false: shown only (a site next to a contact)
  [[nodiscard]] bool passed() const;
};

struct SelftestReport {
  std::vector<SelftestRow> rows;
  std::string note;  ///< what is left out, and why
  [[nodiscard]] bool passed() const;
};

/// A bundled benchmark. `run` is collective.
struct Selftest {
  std::string name, description;
  std::function<SelftestReport(MPI_Comm)> run;
};

[[nodiscard]] const std::vector<Selftest>& selftests();

// One per file.
[[nodiscard]] SelftestReport selftest_layered(MPI_Comm comm);
[[nodiscard]] SelftestReport selftest_commemi(MPI_Comm comm, const std::string& name);
[[nodiscard]] SelftestReport selftest_sensitivity(MPI_Comm comm);
[[nodiscard]] SelftestReport selftest_derivatives(MPI_Comm comm);

}  // namespace lodestone::mt_invert
