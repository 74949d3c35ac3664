// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::run {

struct InversionResult;

/// How a subdomain of the final model stands to the draws its network knows.
struct SubdomainRow {
  double distance_decades = 0.0;   ///< root mean square distance from the nearest model of the decoder
  double relative_distance = 0.0;  ///< of that to the network's own over its draws
  double chi_square = 0.0;         ///< mean square of the nearest code, relative to that of draws
  double tail = 1.0;               ///< probability that a draw's code is longer
  double data_share = std::numeric_limits<double>::quiet_NaN();  ///< of the prior's variance, that the data
                                                                 ///< took away; NaN: not computed
  static constexpr int outside = 2;
  int verdict = 0;  ///< 0 inside the prior, 1 at its edge, 2 outside
};

/// A part of the section that is set by codes of subdomains.
struct LearnedRegion {
  std::string name;
  std::string network;  ///< its file, as in the configuration
  std::string decoder;  ///< "network", or "gaussian": the normal distribution of the network's training draws
  std::string origin;   ///< size, seeds and epoch of the training
  double y_from_m = 0.0, y_to_m = 0.0, z_from_m = 0.0, z_to_m = 0.0;  ///< edges of its cells
  double reconstruction_rms_decades = 0.0;  ///< of the network over its validation draws
  Eigen::MatrixXd codes;                    ///< one column per subdomain
  std::vector<SubdomainRow> coverage{};     ///< one per subdomain; none in older files
  /// Of the codes; 1 for draws of the prior.
  [[nodiscard]] double mean_square_code() const {
    return codes.size() > 0 ? codes.squaredNorm() / static_cast<double>(codes.size()) : 0.0;
  }
};

/// How a final model stands to the learned prior of its run.
struct LearnedPrior {
  std::vector<LearnedRegion> regions;
  Eigen::VectorXd subdomain;                  ///< number of the subdomain of each cell, -1 outside (n_cells)
  Eigen::VectorXd decoded_log10_resistivity;  ///< the model of the prior nearest the final one; outside the
                                              ///< final one itself (n_cells)
  Eigen::VectorXd deviation_decades;          ///< final minus decoded (n_cells)
  bool polished = false;                      ///< a stage in cells followed the one in codes
  std::string coverage_in_words{};            ///< which subdomains are such as the prior knows
  double features_rms = 0.0,
         final_rms =
             0.0;  ///< at the end of the stage in codes and of the last one, on the iterations' meshes

  /// Root mean square and largest absolute deviation over the cells of one region, or of all (-1).
  struct Deviation {
    double rms = 0.0, largest = 0.0;
  };
  [[nodiscard]] Deviation deviation(int region = -1) const;
  /// A number of every subdomain in its cells, NaN outside all of them and without coverage. shape (n_cells).
  [[nodiscard]] Eigen::VectorXd in_cells(const std::function<double(const SubdomainRow&)>& number) const;
};

/// errors: ShapeError unless the arrays have a number for each of the cells.
void check(const LearnedPrior& prior, Eigen::Index n_cells);

/// Whether the prior fits the data, and where the model is one of its kind, in words; "" without a prior.
[[nodiscard]] std::string verdict_on_prior(const InversionResult& result);

}  // namespace lodestone::io::run
