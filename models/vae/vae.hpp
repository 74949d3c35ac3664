// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/module.hpp"

#include <string>
#include <vector>

namespace lodestone::models::vae {

enum class VaeKind : std::uint8_t {
  column,  ///< convolutions along depth
  patch,   ///< convolutions along depth and along the profile
  volume,  ///< convolutions along all axes
};
constexpr auto words(VaeKind) {
  using enum VaeKind;
  return core::Words<VaeKind>{{column, "column"}, {patch, "patch"}, {volume, "volume"}};
}

/// The structure of the network. The defaults are the published network of 1-D profiles: 52 483 parameters.
struct VaeOptions {
  VaeKind kind = VaeKind::column;
  engine::Dim cells_z = 32, cells_y = 1, cells_x = 1;
  engine::Dim n_codes = 16;
  std::vector<engine::Dim> channels{
      16, 32, 64};      ///< channels of each level; every level halves the number of cells (along each axis)
  bool centre = false;  ///< the mean of the training draws is subtracted before the encoder and added behind
                        ///< the decoder

  [[nodiscard]] engine::Dim n_cells() const { return cells_z * cells_y * cells_x; }
  /// Checks all values. errors: InvalidArgument that names the wrong one.
  void check() const;
  friend bool operator==(const VaeOptions&, const VaeOptions&) = default;
};

/// Cells of a subdomain from its codes: dense, swish, then per level a transposed convolution that doubles
/// the cells and two convolutions with batch norm and swish; a last convolution; linear output. Where a
/// length is no multiple of 2^levels the cells beyond it are dropped. shapes: codes [n, n_codes] → cells [n,
/// n_cells], row by row from the top, along x first.
class VaeDecoderNet : public engine::Module {
 public:
  VaeDecoderNet(const VaeOptions& options, engine::InitialValues& initial);
  [[nodiscard]] engine::Tensor operator()(const engine::Tensor& codes) const;

 private:
  VaeOptions options_;
  engine::Linear dense_;
  engine::Sequential up_;
};

/// A variational autoencoder of subdomains: a normal distribution of codes for given cells, and the cells of
/// given codes. source: Kingma & Welling 2013, arXiv:1312.6114; the 1-D network: Zhou et al. 2024, Geophysics
/// 89(1), WA67
class Vae : public engine::Module {
 public:
  /// Makes a network with initial weights. errors: InvalidArgument for impossible options.
  Vae(const VaeOptions& options, engine::InitialValues& initial);

  struct Codes {
    engine::Tensor mean, log_variance;  ///< [n, n_codes]
  };
  /// Encodes cells. Where a length is no multiple of 2^levels, the last cells are repeated. shapes: cells [n,
  /// n_cells], log10 of ohm m.
  [[nodiscard]] Codes encode(const engine::Tensor& cells) const;
  /// Decodes codes. shapes: codes [n, n_codes] → cells [n, n_cells], log10 of ohm m.
  [[nodiscard]] engine::Tensor decode(const engine::Tensor& codes) const;
  /// Sets the cell values that are subtracted with `centre`. errors: InvalidArgument without it; ShapeError.
  void set_centre(const engine::Tensor& cells) const;

  [[nodiscard]] const VaeOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t n_parameters() const;

 private:
  VaeOptions options_;
  engine::Sequential encoder_;
  engine::Linear mean_, log_variance_;
  VaeDecoderNet decoder_;
  std::optional<engine::Variable> centre_;
};

}  // namespace lodestone::models::vae
