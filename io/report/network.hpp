// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/network_picture.hpp"

#include <filesystem>

namespace lodestone::io::report {

/// A trained network as its report shows it; subdomains are columns of matrices, log10 of ohm m.
struct VaeReport {
  std::string title;
  physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0});  ///< the cells of a subdomain
  std::vector<report::TrainingEpoch> history;
  int best_epoch = 0;
  Eigen::MatrixXd draws, reconstructions,
      decodings;  ///< of validation draws, and of random codes (n_cells, n)
  report::CodeFigures codes;
  std::vector<std::vector<std::string>> facts;  ///< rows of the table on top
  std::string card, configuration_toml, lead;   ///< as text; the line below the title
};

/// Writes `report.html` (one self-contained page) and `pictures/*.png` into a folder. returns: the path of
/// the page. errors: FileError, ShapeError.
std::filesystem::path write_vae_report(const std::filesystem::path& folder, const VaeReport& report);

}  // namespace lodestone::io::report
