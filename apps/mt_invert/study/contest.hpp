// SPDX-License-Identifier: Apache-2.0
#pragma once

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
  physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard;  ///< of the data's meshes
  std::uint64_t noise_seed = 0;
  bool with_pictures = false;
  std::vector<ContestEntry> entries{};
};

/// The same settings with the weight that a variant names changed, or the norm of jumps between subdomains.
/// errors: InvalidArgument for a variant there is not.
[[nodiscard]] ContestSettings with_variant(ContestSettings settings, const std::string& variant);

/// Runs all entries and returns them with their figures. Sections are dealt out to the ranks, each is worked
/// on by one; what comes out does not depend on their number. Into `folder` go models/ (the sections as model
/// files), data/ (impedances, kept for the next time) and sections/ (HDF5; pictures and ParaView files of
/// sections that ask for them). collective. errors: SolverError with the message of whichever section failed.
[[nodiscard]] std::vector<ContestEntry> run_contest(
    MPI_Comm comm, const std::vector<ContestSection>& sections, const SyntheticDomain& domain,
    const SyntheticPrior& prior, const ContestSettings& settings, const std::filesystem::path& folder);

}  // namespace lodestone::mt_invert::study
