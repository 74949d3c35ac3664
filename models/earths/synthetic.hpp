// SPDX-License-Identifier: Apache-2.0
// Small on purpose: nothing that trains includes the sections that test.
#pragma once

#include <string>
#include <vector>

namespace lodestone::models::earths {

/// A family of random sections that test a learned prior. They are drawn as polygons, by other code and of
/// other shapes than the generators that networks are trained on.
struct SyntheticFamily {
  std::string name, description;
  bool in_prior = true;  ///< formations, bodies and their resistivities are such as a prior of this kind
                         ///< knows; else it is a test of a wrong prior
};

/// Returns the families wedge, blocks, relief and basin_dike; and rimmed, which the prior never draws.
[[nodiscard]] const std::vector<SyntheticFamily>& synthetic_families();

/// Returns section `number` of a family as the text of a model file (docs/model-files.md). It follows from
/// family and number alone. errors: InvalidArgument for a family there is not.
[[nodiscard]] std::string synthetic_model(const std::string& family, int number);

}  // namespace lodestone::models::earths
