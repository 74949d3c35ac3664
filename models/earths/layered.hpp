// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"

#include <vector>

namespace lodestone::models::earths {

/// Layered earths: layers drawn alike, or each from ranges of its own.
struct LayeredOptions {
  struct Layer {
    Range thickness_m;  ///< log-uniform; of no effect for the last layer, which has no bottom
    Range log10_resistivity;
  };
  std::vector<Layer> layers = {};  ///< from the top; empty: layers drawn alike by the next three
  IntegerRange number{2, 6};       ///< number of layers, with the one without bottom
  Range thickness_m{};             ///< log-uniform; has no default
  Range log10_resistivity{0.0, 4.0};
  Range dip_deg{
      0.0, 0.0};  ///< dip of all interfaces of a draw, down to the right, about the middle of the section; in
                  ///< a volume down a direction of any azimuth, along which the relief varies too
  Range relief_m{0.0, 0.0};  ///< amplitude of a sinusoid on each interface
  Range relief_length_m{};   ///< its wavelength, log-uniform; has no default, needed with a relief
};

/// Layers over a half-space. Interfaces never cross: one that would rise above the one over it ends there.
class Layered final : public Generator {
 public:
  /// Checks the options. errors: InvalidArgument (ranges).
  explicit Layered(LayeredOptions options);
  [[nodiscard]] std::string kind() const override { return "layers"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  void check_grid(const TensorGrid&) const override {}

 private:
  LayeredOptions options_;
};

}  // namespace lodestone::models::earths
