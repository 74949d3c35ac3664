// SPDX-License-Identifier: Apache-2.0
// Small on purpose: internal to io/model, shared by the tables of points.
#pragma once

#include <map>
#include <string>
#include <vector>

/// Points of a lattice, and the cells around them. Internal to io/model.
namespace lodestone::io::model {

/// Returns the distinct values, increasing, and the place of each of them. `reader` opens the id of the
/// error; `what`: "positions". errors: FormatError with fewer than two of them.
[[nodiscard]] std::map<double, int> lattice_of(const std::vector<double>& values, const std::string& path,
                                               const std::string& reader, const char* what);

/// Returns edges half-way between the points; the outermost cells are as wide as long as they reach inwards,
/// but not above `first_m`.
[[nodiscard]] std::vector<double> edges_around(const std::map<double, int>& points, double first_m);

}  // namespace lodestone::io::model
