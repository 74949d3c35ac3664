// SPDX-License-Identifier: Apache-2.0
// Networks of the engine as parts of an inversion.
#pragma once

#include "engine/nn/module.hpp"
#include "inversion/prior/decoder.hpp"

#include <optional>
#include <string>

namespace lodestone::inversion::prior {

/// Returns a module as a map of all its inputs: F(x) = module(x[1, n_in]) flattened, in evaluation mode,
/// linearized by the engine. Its numbers are f64. errors: ShapeError, InvalidArgument for a module that gives
/// something else.
[[nodiscard]] core::MapPtr network_map(engine::Layer module, Eigen::Index n_in, std::string name = "network");

/// The sizes that a decoder joins.
struct NetworkDecoderOptions {
  std::string name;  ///< for messages
  Eigen::Index n_codes = 0, n_cells = 0;
};

/// Returns modules or functions of the engine, in f64, as a decoder of subdomains. shapes: `decode` takes [n,
/// n_codes] and gives [n, n_cells], `encode` the other way. Without an encoder the first guess are codes of
/// 0, the middle of their prior.
///
/// Derivatives are exact: n_codes tangents of all subdomains go through the decoder as one batch. Modules are
/// called in evaluation mode. They are recorded once per number of subdomains (`engine::compile`), which go
/// through by at most 512, and follow changes of their variables. errors: InvalidArgument for one that gives
/// other shapes or numbers than f64. Its functions throw ShapeError, and SolverError for codes or cells that
/// are not finite.
[[nodiscard]] DecoderPtr network_decoder(NetworkDecoderOptions options, engine::Layer decode,
                                         std::optional<engine::Layer> encode = {});

}  // namespace lodestone::inversion::prior
