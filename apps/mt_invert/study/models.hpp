// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lodestone::mt_invert::study {

/// A family of random sections for `selftest vae-synthetic`, drawn as polygons, by other code and of other
/// shapes than the generators of `models/vae/prior`.
struct SyntheticFamily {
  std::string name, description;
  bool in_prior = true;  ///< formations, bodies and their resistivities are such as the prior knows; else it
                         ///< is a test of a wrong prior
};

/// wedge, blocks, relief, basin_dike; and rimmed, which the prior never draws.
[[nodiscard]] const std::vector<SyntheticFamily>& synthetic_families();

/// Section `number` of a family as the text of a model file (docs/model-files.md). It follows from family and
/// number alone. errors: InvalidArgument for a family there is not.
[[nodiscard]] std::string synthetic_model(const std::string& family, int number);

}  // namespace lodestone::mt_invert::study
