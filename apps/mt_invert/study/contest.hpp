// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/selftest/selftest.hpp"
#include "apps/mt_invert/study/methods.hpp"

#include <mpi.h>

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::mt_invert::study {

/// One run of the contest and what it came to.
struct ContestEntry {
  std::string section;  ///< "A", "wedge 3"
  std::string family;   ///< empty: a case
  double noise = 0.01;  ///< relative
  SyntheticMethod method = SyntheticMethod::pixel;
  SyntheticStart start = SyntheticStart::half_space;
  std::string variant{};  ///< which weight was changed, "horizontal x10"; empty: none
  SyntheticFigures figures{};
};

/// A section, how it is sounded, and the runs on its data.
struct ContestSection {
  std::string name, family;
  std::string model;  ///< text of a model file
  SyntheticSurvey survey;
  physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard;  ///< for the meshes of the data
  std::uint64_t noise_seed = 0;
  bool with_pictures = false;
  std::vector<ContestEntry> entries{};
};

/// Changes the weight that a variant names, or the norm of jumps between subdomains.
/// errors: InvalidArgument for a variant there is not.
[[nodiscard]] ContestSettings with_variant(ContestSettings settings, const std::string& variant);

/// Runs all entries and returns them with their figures. Sections are dealt out to the ranks, each is worked
/// on by one; what comes out does not depend on their number. Into `folder` go models/ (the sections as model
/// files), data/ (impedances, kept for the next time) and sections/ (HDF5; pictures and ParaView files of
/// sections that ask for them). collective. errors: SolverError with the message of whichever section failed.
[[nodiscard]] std::vector<ContestEntry> run_contest(
    MPI_Comm comm, const std::vector<ContestSection>& sections, const SyntheticDomain& domain,
    const SyntheticPrior& prior, const ContestSettings& settings, const std::filesystem::path& folder);

/// Writes `<name>.h5`: grid, truth and the model of every entry. Where the section asks for pictures, for
/// each noise
/// `<name>_<percent>pct.png` (truth and the methods one above the other) and `.vtu` (the same as cell
/// arrays). On one rank. shapes: truth (n_cells), models one per entry. errors: FileError.
void write_section_output(const std::filesystem::path& folder, const std::string& name,
                          const ContestSection& section, const SyntheticDomain& domain,
                          const Eigen::VectorXd& truth, const std::vector<ContestEntry>& entries,
                          const std::vector<Eigen::VectorXd>& models);

/// Returns a quantile of numbers in any order, linear between the sorted ones (Hyndman & Fan 1996, definition
/// 7); NaN without any.
[[nodiscard]] double quantile(std::vector<double> values, double share);

/// Returns the cases, a table for each noise; then, where there are any, variants of the weights and medians
/// with quartiles of the families.
[[nodiscard]] std::string contest_tables(const std::vector<ContestEntry>& entries);

/// Returns the targets as comparisons. `judge_all` false: only that data are fitted, and not beyond their
/// noise; a network of a few epochs can do no more.
[[nodiscard]] std::vector<selftest::SelftestRow> contest_rows(const std::vector<ContestEntry>& entries,
                                                              bool judge_all);

/// Returns every entry with all its figures, for programs.
[[nodiscard]] std::vector<selftest::SelftestRun> contest_runs(const std::vector<ContestEntry>& entries);

}  // namespace lodestone::mt_invert::study
