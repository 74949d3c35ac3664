// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/prior/decoder.hpp"

#include <Eigen/SparseCore>

#include <string>
#include <vector>

namespace lodestone::inversion::prior {

/// Part of a model for which there is prior knowledge, cut into subdomains of one kind.
struct Region {
  std::string name;  ///< for messages
  DecoderPtr decoder;
  std::vector<std::vector<Eigen::Index>> subdomains;  ///< the model's cells of each, in the decoder's order
  /// Weight of each cell of the decoder where subdomains overlap, positive; empty: all alike. shape:
  /// (n_cells).
  Eigen::VectorXd taper{};
};

/// The search for the codes of a given model.
struct EncodeOptions {
  double sigma_decades = 0.1;  ///< deviation from the model that counts like a code of one standard deviation
  int max_iterations = 20;     ///< iterations of least squares from the encoder's guess; 0: the guess itself
};

/// u = [codes of every subdomain; cells outside all regions] → m: decoded inside, as they are outside.
///
/// A cell of several subdomains is their mean, weighted by the tapers. Serial. source: Zhou et al. 2024,
/// Geophysics 89, WA67.
class SubdomainMap final : public core::DifferentiableMap {
 public:
  /// Checks the regions. errors: InvalidArgument (no decoder, a cell outside the model or twice in a
  /// subdomain, a taper that is not positive), ShapeError.
  SubdomainMap(Eigen::Index n_model, std::vector<Region> regions);

  [[nodiscard]] Eigen::Index size_in() const override { return n_codes_ + std::ssize(outside_); }
  [[nodiscard]] Eigen::Index size_out() const override { return n_model_; }
  [[nodiscard]] std::string name() const override { return "inversion::SubdomainMap"; }

  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }
  /// Codes come first among the unknowns, region by region, subdomain by subdomain.
  [[nodiscard]] Eigen::Index n_codes() const { return n_codes_; }
  /// Returns the codes of a region, one column for each subdomain. shapes: u (n_in) → (n_codes,
  /// n_subdomains).
  [[nodiscard]] Eigen::MatrixXd codes_of(std::size_t region, const core::ConstVectorRef& unknowns) const;
  /// Returns the model's cells outside all regions, in order; the unknowns behind the codes.
  [[nodiscard]] const std::vector<Eigen::Index>& outside() const { return outside_; }
  /// Returns the number of the subdomain of each cell, counted over all regions, −1 outside; the first of
  /// several. shape: (n_model).
  [[nodiscard]] const std::vector<int>& subdomain_of() const { return subdomain_of_; }

  /// Returns dm/du. shape: (n_model, n_in).
  [[nodiscard]] Eigen::SparseMatrix<double> derivative(const core::ConstVectorRef& unknowns) const;
  /// Returns the unknowns whose model is near this one: outside exactly, inside by the encoder and least
  /// squares from there. shapes: (n_model) → (n_in). errors: ShapeError.
  [[nodiscard]] Eigen::VectorXd encode(const core::ConstVectorRef& model,
                                       const EncodeOptions& options = {}) const;

 private:
  [[nodiscard]] Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  [[nodiscard]] std::unique_ptr<core::Linearization> do_linearize(
      const core::ConstVectorRef& x) const override;

  Eigen::Index n_model_, n_codes_ = 0;
  std::vector<Region> regions_;
  std::vector<Eigen::Index> first_code_;  ///< one per region
  std::vector<Eigen::MatrixXd> shares_;   ///< shares of each region's cells in the model's cells, (n_cells,
                                          ///< n_subdomains); sum to 1 over all that overlap
  std::vector<Eigen::Index> outside_;
  std::vector<int> subdomain_of_;
};

/// Returns the codes of single subdomains near the given cells: argmin ‖(cells − decode(v))/σ‖² + ‖v‖² by
/// Levenberg–Marquardt from the encoder's guess. shapes: (n_cells, n) → (n_codes, n). errors: ShapeError.
[[nodiscard]] Eigen::MatrixXd encode_by_least_squares(const Decoder& decoder,
                                                      const core::ConstMatrixRef& cells,
                                                      const EncodeOptions& options);

}  // namespace lodestone::inversion::prior
