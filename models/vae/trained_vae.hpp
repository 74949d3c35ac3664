// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "models/earths/prior.hpp"
#include "models/vae/vae.hpp"

namespace lodestone::models::vae {

/// Statistics of the draws of a training, and of the network's reconstruction of them.
struct VaeStatistics {
  Eigen::VectorXd mean;             ///< mean of the training draws [n_cells], log10 of ohm m
  Eigen::MatrixXd covariance;       ///< covariance of them [n_cells, n_cells]
  Eigen::VectorXd cell_rms;         ///< rms of x − Dec(Enc(x)) over the validation draws [n_cells], decades
  double rms = 0.0;                 ///< over all cells
  double reduced_chi_square = 0.0;  ///< mean of |Enc(x)|² / n_codes over the validation draws
  Eigen::VectorXd code_mean,
      code_deviation;  ///< mean and deviation of the encoded means of the validation draws [n_codes]
  Eigen::VectorXd code_variance;    ///< mean of σ² of the codes [n_codes]
  Eigen::VectorXd code_divergence;  ///< mean divergence from the standard normal distribution [n_codes]; near
                                    ///< 0: the code is not used

  /// Returns the number of codes in use: those whose encoded means vary by more than 0.01. source: Burda et
  /// al. 2016, arXiv:1509.00519, section 2
  [[nodiscard]] Eigen::Index n_active() const { return (code_deviation.array().square() > 0.01).count(); }
};

/// A trained network with all that is needed to use it: the cells it stands for, statistics and where it came
/// from.
///
/// Files hold the weights in f32, so that a network is the same after it was saved and loaded.
class TrainedVae {
 public:
  /// `net`: f32, its options fit the grid. errors: InvalidArgument, ShapeError where parts do not fit each
  /// other.
  TrainedVae(Vae net, physics::mesh::TensorGrid grid, VaeStatistics statistics, std::string card);

  [[nodiscard]] const Vae& net() const { return net_; }
  [[nodiscard]] const VaeOptions& options() const { return net_.options(); }
  [[nodiscard]] const physics::mesh::TensorGrid& grid() const { return grid_; }
  [[nodiscard]] const VaeStatistics& statistics() const { return statistics_; }
  /// Returns JSON: data, seed, recipe, scores, version.
  [[nodiscard]] const std::string& card() const { return card_; }
  /// Returns a copy of the network in another dtype, in evaluation mode; it shares nothing with this one.
  [[nodiscard]] Vae net_in(engine::DType dtype) const;

  /// Writes everything; the same network gives the same bytes.
  void save(core::ArraySink& sink) const;
  /// Reads a network. errors: FormatError that names the file: another kind of file, arrays missing or
  /// unexpected or of the wrong shape; numbers that are not finite, scores that are not positive; those of
  /// the source (a file that is cut off).
  [[nodiscard]] static TrainedVae load(const core::ArraySource& source);
  /// Describes a saved network without reading its weights: cells, depths, codes. errors: FormatError.
  [[nodiscard]] static std::string describe(const core::ArraySource& source);

  /// Checks that these are the edges of the training to 1e-6 of a cell. errors: InvalidArgument that names
  /// the first difference. `where`: for messages.
  void check_grid(const std::vector<double>& depth_m, const std::string& where) const;
  void check_grid(const physics::mesh::TensorGrid& grid, const std::string& where) const;
  /// Checks the number of codes. errors: InvalidArgument for another one.
  void check_codes(engine::Dim n_codes, const std::string& where) const;

 private:
  Vae net_;
  physics::mesh::TensorGrid grid_;
  VaeStatistics statistics_;
  std::string card_;
};

}  // namespace lodestone::models::vae
