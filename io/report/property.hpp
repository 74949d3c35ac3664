// SPDX-License-Identifier: Apache-2.0
// Small on purpose: shared by pictures.
#pragma once

#include "physics/mesh/earth.hpp"

#include <string>

namespace lodestone::io::report {

/// Returns true for a resistivity in ohm m.
[[nodiscard]] bool is_resistivity(const physics::mesh::Property& property);
/// Returns true if pictures show the logarithm: of a resistivity always, of others where the model holds it.
[[nodiscard]] bool shows_log10(const physics::mesh::Property& property);
/// Returns the values that pictures show. shape: (n_cells).
[[nodiscard]] Eigen::VectorXd values_in_picture(const physics::mesh::Model& model);

/// Returns the name of a property with a capital letter: "Resistivity".
[[nodiscard]] std::string title_of(const physics::mesh::Property& property);
/// Returns the text of an axis: "Resistivity (ohm m)".
[[nodiscard]] std::string label_of(const physics::mesh::Property& property);

}  // namespace lodestone::io::report
