// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/mesh_design.hpp"

#include <functional>
#include <string>
#include <vector>

namespace lodestone::physics::mt::benchmarks {

/// A published section, where its vertical contacts (or the kinks of its surface) are, and the limits by
/// which responses of it are judged.
struct PublishedModel {
  mesh::Model section;
  std::vector<double> contacts_m;
  double body_width_m = 0.0;  ///< width of the narrowest body
  double rho_limit_percent = 0.5, phase_limit_deg = 0.2;
  double tipper_limit = 0.002;  ///< for each part of Tzy in TE, which has no jumps there
  /// Returns whether a site is closer to a contact than 2 % of the body's width. TM is discontinuous there,
  /// and no code should be judged by it.
  [[nodiscard]] bool is_at_contact(double y_m) const;
};

/// Returns a section that is published as polygons, by the name of its model in data/benchmarks. Slanted
/// edges are to be cut into `refine` times more pieces than the model requests.
using ReadSection = std::function<mesh::Model(const std::string& name, double refine)>;

/// Returns COMMEMI 2D-0, 2D-1, 2D-2, 2D-4 (`commemi2d0` …) or the hill of Wannamaker et al. 1986
/// (`wannamaker_hill`); geometry: data/benchmarks/README.md. `read` is called for 2D-4 and the hill. For
/// `fine` the limits are 0.1 % and 0.05 degrees, and the slope of 2D-4 has smaller steps. source: Zhdanov et
/// al. 1997, doi:10.1016/S0926-9851(97)00013-X. errors: InvalidArgument for another name; those of `read`.
[[nodiscard]] PublishedModel published_model(const std::string& name, const ReadSection& read,
                                             d2::Accuracy accuracy = d2::Accuracy::standard);

}  // namespace lodestone::physics::mt::benchmarks
