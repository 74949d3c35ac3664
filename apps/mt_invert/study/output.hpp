// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/study/contest.hpp"

namespace lodestone::mt_invert::study {

/// `<name>.h5`: grid, truth and the model of every entry. Where the section asks for pictures, for each noise
/// `<name>_<percent>pct.png` (truth and the methods one above the other) and `.vtu` (the same as cell
/// arrays). On one rank. shapes: truth (n_cells), models one per entry. errors: FileError.
void write_section_output(const std::filesystem::path& folder, const std::string& name,
                          const ContestSection& section, const SyntheticDomain& domain,
                          const Eigen::VectorXd& truth, const std::vector<ContestEntry>& entries,
                          const std::vector<Eigen::VectorXd>& models);

}  // namespace lodestone::mt_invert::study
