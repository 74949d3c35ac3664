// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "inversion/prior/coverage.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <Eigen/Core>

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion::prior {

/// A part of the earth that is set by codes of subdomains.
struct RegionFindings {
  std::string name;
  std::string network;  ///< its file, as in the configuration
  std::string decoder;  ///< "network", or "gaussian": the normal distribution of the network's training draws
  std::string origin;   ///< size, seeds and epoch of the training
  double y_from_m = 0.0, y_to_m = 0.0, z_from_m = 0.0, z_to_m = 0.0;  ///< edges of its cells
  double reconstruction_rms_decades = 0.0;       ///< rms of the network over its validation draws
  Eigen::MatrixXd codes;                         ///< one column per subdomain
  std::vector<SubdomainCoverage> coverage{};     ///< one per subdomain; none in older files
  std::optional<physics::mesh::Interval> x_m{};  ///< edges of its cells along x, of a volume
  /// Returns the mean square of the codes; 1 for draws of the prior.
  [[nodiscard]] double mean_square_code() const {
    return codes.size() > 0 ? codes.squaredNorm() / static_cast<double>(codes.size()) : 0.0;
  }
};

/// The final model of a run beside the learned prior: codes, nearest model of the prior, coverage.
struct PriorFindings {
  std::vector<RegionFindings> regions;
  Eigen::VectorXd subdomain;                  ///< number of the subdomain of each cell, -1 outside (n_cells)
  Eigen::VectorXd decoded_log10_resistivity;  ///< the model of the prior nearest the final one; outside the
                                              ///< final one itself (n_cells)
  Eigen::VectorXd deviation_decades;          ///< final minus decoded (n_cells)
  bool polished = false;                      ///< a stage in cells followed the one in codes
  std::string coverage_in_words{};            ///< as `in_words` of the coverage
  double features_rms = 0.0,
         final_rms =
             0.0;  ///< at the end of the stage in codes and of the last one, on the iterations' meshes

  /// Root mean square and largest absolute deviation over the cells of one region, or of all (-1).
  struct Deviation {
    double rms = 0.0, largest = 0.0;
  };
  [[nodiscard]] Deviation deviation(int region = -1) const;
  /// Returns a number of every subdomain in its cells, NaN outside all of them and without coverage. shape
  /// (n_cells).
  [[nodiscard]] Eigen::VectorXd in_cells(const std::function<double(const SubdomainCoverage&)>& number) const;
};

/// Checks sizes. errors: ShapeError unless the arrays have a number for each of the cells.
void check(const PriorFindings& prior, Eigen::Index n_cells);

/// Returns sentences on whether the prior fits the data to the target, and where the model is one of its
/// kind.
[[nodiscard]] std::string in_words(const PriorFindings& findings, double target_rms);

/// Writes the findings to the group "learned_prior". `grid`: the cells they belong to. errors: ShapeError.
void write(core::ArraySink& sink, const PriorFindings& prior, const physics::mesh::TensorGrid& grid);
/// Reads the findings; nothing where the source has none. errors: FormatError when parts do not fit the grid
/// or each other.
[[nodiscard]] std::optional<PriorFindings> read_findings(const core::ArraySource& source,
                                                         const physics::mesh::TensorGrid& grid);

}  // namespace lodestone::inversion::prior
