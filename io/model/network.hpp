// SPDX-License-Identifier: Apache-2.0
// Small on purpose: readers of models and surfaces need no networks.
#pragma once

#include "engine/core/words.hpp"
#include "inversion/prior/decoder.hpp"
#include "models/vae/trained_vae.hpp"

#include <cstdint>
#include <string>

namespace lodestone::io::model {

/// The origin of the subdomains of a region: the trained network, or the normal distribution of its training
/// draws.
enum class DecoderKind : std::uint8_t { network, gaussian };
constexpr auto words(DecoderKind) {
  return core::Words<DecoderKind>{{DecoderKind::network, "network"}, {DecoderKind::gaussian, "gaussian"}};
}

/// Reads a network that `mt_invert train` wrote, HDF5 or safetensors. errors: FileError, FormatError.
[[nodiscard]] models::vae::TrainedVae read_trained_network(const std::string& path);

/// Reads a network as a decoder with its card. `name`: the file in messages and results; empty: `path`.
/// errors: FileError, FormatError.
[[nodiscard]] inversion::prior::DecoderPtr read_network(const std::string& path,
                                                        DecoderKind kind = DecoderKind::network,
                                                        std::string name = {});

}  // namespace lodestone::io::model
