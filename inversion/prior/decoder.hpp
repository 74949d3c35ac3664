// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <memory>
#include <string>
#include <vector>

namespace lodestone::inversion::prior {

/// The distance of a decoder from the draws that it was trained on.
struct DecoderScores {
  double rms = 0.0;                 ///< rms of x − Dec(Enc(x)) over draws, decades
  double reduced_chi_square = 1.0;  ///< mean of |v|²/n_codes over encoded draws
  Eigen::Index n_active = 0;        ///< codes that vary over the draws; 0: all of them
};

/// The facts of a decoder that come from its training.
struct DecoderCard {
  physics::mesh::TensorGrid patch;  ///< cells of a subdomain, z from the surface; the columns begin at 0
  DecoderScores scores{};
  std::string kind{};    ///< "network", or "gaussian": the normal distribution of the training draws
  std::string file{};    ///< as the user gave it
  std::string digest{};  ///< digest of the file
  std::string origin{};  ///< size, seeds and epoch of the training
};

/// A family of subdomains, each set by a few codes; the prior of a code vector is the standard normal
/// distribution. Immutable; serial.
///
/// Cells of a subdomain are counted as the model's are: row by row from the top, in a row along y, and along
/// x first where there is x.
class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages
  [[nodiscard]] virtual Eigen::Index n_codes() const = 0;
  [[nodiscard]] virtual Eigen::Index n_cells() const = 0;
  /// Returns the values of the cells, log10 of ohm m. shapes: (n_codes, n) → (n_cells, n), one column for
  /// each of n subdomains.
  [[nodiscard]] virtual Eigen::MatrixXd decode(const core::ConstMatrixRef& codes) const = 0;
  /// Returns the derivatives of each subdomain's cells by its own codes, side by side. shapes: (n_codes, n) →
  /// (n_cells, n_codes·n).
  [[nodiscard]] virtual Eigen::MatrixXd jacobians(const core::ConstMatrixRef& codes) const = 0;
  /// Returns codes whose subdomains are near these, as a first guess. shapes: (n_cells, n) → (n_codes, n).
  [[nodiscard]] virtual Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const = 0;
  /// Returns the facts of its training; null where there are none.
  [[nodiscard]] virtual const DecoderCard* card() const { return nullptr; }

 protected:
  Decoder() = default;
};

using DecoderPtr = std::shared_ptr<const Decoder>;

/// Returns the same decoder with the facts of its training. errors: ShapeError when the patch has another
/// number of cells.
[[nodiscard]] DecoderPtr with_card(DecoderPtr decoder, DecoderCard card);

/// Returns a decoder of columns as one of n columns side by side that are alike. Its card stays that of a
/// column; it encodes the mean of the columns. errors: InvalidArgument for n below 1.
[[nodiscard]] DecoderPtr repeated(DecoderPtr column, int n);

/// Checks that two lists of edges agree to 1e-6 of a cell. `what` names them, `where` opens the message.
/// errors: InvalidArgument with the first edge that differs.
void check_edges(const char* what, const std::vector<double>& expected, const std::vector<double>& given,
                 const std::string& where);

/// Checks that a subdomain has the cells a decoder was trained on; a single column may be of any width.
/// errors: as those of `check_edges`.
void check_patch(const DecoderCard& card, const std::vector<double>& depth_m,
                 const std::vector<double>& y_edges_m, const std::string& where);

/// Returns the scores of a normal distribution, which reaches any model: its codes tell everything, and `rms`
/// counts as near. Least squares then shrink the code of a draw along an axis of variance l by l/(l + rms²).
[[nodiscard]] DecoderScores scores_of_gaussian(const Decoder& gaussian, double rms);

}  // namespace lodestone::inversion::prior
