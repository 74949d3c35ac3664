// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: what the surface of the earth and the sea ask of a mesh.
#pragma once

#include "physics/mt/d2/feature_sizes.hpp"

namespace lodestone::physics::mt::d2 {

/// Adds kinks and steep slopes of the surface, coasts and the water above stations.
void add_surface_features(const SectionHearing& earth, const MeshDesignOptions& options,
                          FeatureCollector& features);

}  // namespace lodestone::physics::mt::d2
