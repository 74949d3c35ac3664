// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the entry to this folder, without its parts.
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/volume.hpp"

#include <filesystem>

namespace lodestone::io::report {

/// The choices of the report of a run.
struct ReportOptions {
  WantedSlices slices{};     ///< those of a volume
  PictureChoices choices{};  ///< those of sections and of slices of volumes
  double depth_m = 0.0;      ///< depth of the pictures of a section below its top; 0: as `shown_part`
};

/// Writes `report.html` (one self-contained page) and `pictures/*.png` into a run's folder; needs no window
/// system. returns: the path of the page. errors: FileError, ShapeError, and InvalidArgument for wanted
/// slices of a model that is no volume or ends before them. A depth of a model that is no section, and
/// choices of one of layers, are InvalidArgument, too.
std::filesystem::path write_report(const std::filesystem::path& run_directory,
                                   const inversion::Outcome& outcome, const ReportOptions& options = {});

}  // namespace lodestone::io::report
