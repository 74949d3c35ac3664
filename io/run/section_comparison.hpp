// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a command line needs the options without files and pictures.
#pragma once

#include "physics/mesh/shapes.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::run {

/// Sections side by side; those after the runs are references. Each is the folder of a run, a model file or a
/// CSV file of points.
struct ComparedSections {
  std::vector<std::string> sections, references;
  std::vector<physics::mesh::Box> blocks;                   ///< areas whose means are printed
  std::optional<double> max_depth_m, min_log10, max_log10;  ///< limits of the picture
};

/// Returns the table of the sections: misfit and cost of runs, correlation with each reference, means of the
/// blocks; below it what the columns mean. `picture`: draws the sections one above the other, .png or .svg;
/// empty: the table alone. errors: FileError, FormatError of the files; FileError of the picture.
[[nodiscard]] std::string compare_sections(const ComparedSections& what, const std::string& picture = {});

}  // namespace lodestone::io::run
