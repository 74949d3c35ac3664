// SPDX-License-Identifier: Apache-2.0
// Small on purpose: keeps the decoders of inversions out of the other headers of models/vae.
#pragma once

#include "inversion/prior/decoder.hpp"
#include "models/vae/trained_vae.hpp"

namespace lodestone::models::vae {

/// Returns a trained network as a decoder for inversions: f64, batch norm by its running statistics. `encode`
/// gives the mean of the codes' distribution.
///
/// errors of its functions: as of `inversion::network_decoder`.
[[nodiscard]] inversion::prior::DecoderPtr vae_decoder(const TrainedVae& vae, std::string name = "VAE");

}  // namespace lodestone::models::vae
