// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"

#include <memory>
#include <string>

namespace lodestone::inversion::prior {

/// A family of subdomains, each set by a few codes; the prior of a code vector is the standard normal
/// distribution. Immutable; serial.
///
/// Cells of a subdomain are counted as the model's are: row by row from the top, each row along the profile.
class Decoder {
 public:
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;  ///< for messages
  [[nodiscard]] virtual Eigen::Index n_codes() const = 0;
  [[nodiscard]] virtual Eigen::Index n_cells() const = 0;
  /// Values of the cells, log10 of ohm m. shapes: (n_codes, n) → (n_cells, n), one column for each of n
  /// subdomains.
  [[nodiscard]] virtual Eigen::MatrixXd decode(const core::ConstMatrixRef& codes) const = 0;
  /// Derivatives of each subdomain's cells by its own codes, side by side. shapes: (n_codes, n) → (n_cells,
  /// n_codes·n).
  [[nodiscard]] virtual Eigen::MatrixXd jacobians(const core::ConstMatrixRef& codes) const = 0;
  /// Codes whose subdomains are near these, as a first guess. shapes: (n_cells, n) → (n_codes, n).
  [[nodiscard]] virtual Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const = 0;

 protected:
  Decoder() = default;
};

using DecoderPtr = std::shared_ptr<const Decoder>;

}  // namespace lodestone::inversion::prior
