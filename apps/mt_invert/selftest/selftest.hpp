// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/cli/command_line.hpp"
#include "apps/mt_invert/study/options.hpp"
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
  double limit = 0.0;  ///< of the difference, in `difference_units`
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

struct SelftestReport {
  std::vector<SelftestRow> rows;
  std::string note;                 ///< what is left out, and why
  std::string tables{};             ///< of its own, above the comparisons
  std::vector<SelftestRun> runs{};  ///< what the tables are made of
  [[nodiscard]] bool passed() const;
};

struct SelftestOptions {
  physics::mt::d2::Accuracy accuracy =
      physics::mt::d2::Accuracy::standard;  ///< of the forward meshes; `fine` is also judged by tighter
                                            ///< limits
  study::SyntheticOptions synthetic{};
};

/// A bundled benchmark. `run` is collective.
struct Selftest {
  std::string name, description;
  std::function<SelftestReport(MPI_Comm, const SelftestOptions&)> run;
  bool by_name_only = false;  ///< takes minutes
};

[[nodiscard]] const std::vector<Selftest>& selftests();

/// Compares the real and the imaginary part of a tipper with its reference, absolutely. sign: e^{+iωt}, z
/// down.
[[nodiscard]] std::vector<SelftestRow> tipper_rows(const std::string& what, std::complex<double> reference,
                                                   std::complex<double> ours, double limit);

// One per file.
[[nodiscard]] SelftestReport selftest_layered();
[[nodiscard]] SelftestReport selftest_commemi(MPI_Comm comm, const SelftestOptions& options,
                                              const std::string& name);
[[nodiscard]] SelftestReport selftest_sensitivity(MPI_Comm comm, const SelftestOptions& options);
[[nodiscard]] SelftestReport selftest_derivatives(MPI_Comm comm);

/// Runs the subcommand `selftest`; returns an exit code of the contract. collective: all.
[[nodiscard]] int run_selftest(MPI_Comm comm, const cli::SelftestArguments& arguments,
                               const cli::CommandLine& line);

}  // namespace lodestone::mt_invert::selftest
