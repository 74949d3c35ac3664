// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/method/earth.hpp"
#include "inversion/prior/subdomain_map.hpp"
#include "models/vae/trained_vae.hpp"

#include <memory>
#include <vector>

namespace lodestone::mt_invert::method {

/// A region of the configuration on the grid of the run.
struct LearnedRegion {
  config::LearnedRegionConfig config;
  std::shared_ptr<const models::vae::TrainedVae> vae;
  std::string digest;  ///< of the network's file
  inversion::prior::DecoderPtr decoder;
  int first_column = 0, n_columns = 0, first_row = 0, n_rows = 0;
  std::vector<std::vector<Eigen::Index>> subdomains;  ///< cells of the grid, in the decoder's order
  Eigen::VectorXd taper{};                            ///< empty: subdomains do not overlap
};

/// The regions of a run for which there is prior knowledge, cut into subdomains.
class Subdomains {
 public:
  /// Reads the networks and cuts the grid. errors: those of the files; ConfigError with the place of a region
  /// that the grid or the network does not fit, that holds fixed cells, or that overlaps one of another
  /// network.
  Subdomains(const config::LearnedPriorConfig& config, const Earth& earth);

  [[nodiscard]] const std::vector<LearnedRegion>& regions() const { return regions_; }
  [[nodiscard]] const config::LearnedPriorConfig& config() const { return config_; }
  [[nodiscard]] inversion::prior::EncodeOptions encoding() const {
    return {.sigma_decades = config_.encode_sigma_decades};
  }
  /// [codes; free cells outside; further] → [free cells; further].
  [[nodiscard]] std::shared_ptr<const inversion::prior::SubdomainMap> map(Eigen::Index n_further = 0) const;
  /// Number of the subdomain of each cell of the grid, −1 outside. shape: (n_cells).
  [[nodiscard]] Eigen::VectorXd numbers() const;
  /// What a resumed run must find again: a line per region with the sizes and the digest of its network.
  [[nodiscard]] std::string identity() const;

 private:
  config::LearnedPriorConfig config_;
  std::vector<LearnedRegion> regions_;
  std::vector<Eigen::Index> free_cells_;
  Eigen::Index n_cells_;
};

/// The network of a file, HDF5 or safetensors. errors: FileError, FormatError.
[[nodiscard]] models::vae::TrainedVae read_network(const std::string& path);

/// Nothing where there is no learned prior; logs the regions.
[[nodiscard]] std::shared_ptr<const Subdomains> cut_subdomains(
    const std::optional<config::LearnedPriorConfig>& config, const Earth& earth);

}  // namespace lodestone::mt_invert::method
