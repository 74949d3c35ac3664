// SPDX-License-Identifier: Apache-2.0
// Networks of the engine as parts of an inversion.
#pragma once

#include "engine/nn/module.hpp"
#include "inversion/map/decoder.hpp"

#include <functional>
#include <string>

namespace lodestone::inversion {

/// Any module as a map of all its inputs: F(x) = module(x[1, n_in]) flattened, in evaluation mode, linearised by the engine. Its numbers are f64.
/// errors: ShapeError, InvalidArgument for a module that gives something else.
[[nodiscard]] core::MapPtr network_map(engine::Layer module, Eigen::Index n_in, std::string name = "network");

/// A function of tensors and the sizes it joins.
struct NetworkDecoderOptions {
  std::string name;  ///< for messages
  Eigen::Index n_codes = 0, n_cells = 0;
};
using BatchFunction = std::function<engine::Tensor(const engine::Tensor&)>;

/// A decoder and an encoder of the engine, in f64, as a decoder of subdomains. shapes: `decode` takes [n, n_codes] and gives [n, n_cells], `encode` the other way.
///
/// Derivatives are exact: n_codes tangents of all subdomains go through the decoder as one batch.
/// errors of its functions: ShapeError; SolverError for codes or cells that are not finite.
[[nodiscard]] DecoderPtr network_decoder(NetworkDecoderOptions options, BatchFunction decode, BatchFunction encode);

}  // namespace lodestone::inversion
