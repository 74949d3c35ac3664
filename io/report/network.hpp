// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the page of a network, apart from its pictures.
#pragma once

#include "io/report/network_picture.hpp"

#include <filesystem>

namespace lodestone::io::report {

/// The contents of the report on a trained network; subdomains are columns of matrices, log10 of ohm m.
struct VaeReport {
  std::string title;
  physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0});  ///< the cells of a subdomain
  std::vector<report::TrainingEpoch> history;
  int best_epoch = 0;
  Eigen::MatrixXd draws, reconstructions,
      decodings;  ///< reconstructed validation draws, and decoded random codes (n_cells, n)
  report::CodeFigures codes;
  std::vector<std::vector<std::string>> facts;  ///< rows of the table on top
  std::string card, configuration_toml, lead;   ///< as text; the line below the title
};

/// Writes `report.html` (one self-contained page) and `pictures/*.png` into a folder. returns: the path of
/// the page. errors: FileError, ShapeError.
std::filesystem::path write_vae_report(const std::filesystem::path& folder, const VaeReport& report);

}  // namespace lodestone::io::report
