// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/vtk/cells.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::vtk {

namespace mt = physics::mt;

VtkFrame profile_frame() { return {}; }

VtkFrame straight_frame(mt::PlanePoint origin, double azimuth_deg, double datum_elevation_m) {
  const double north = std::cos(azimuth_deg / mt::deg_per_rad);
  const double east = std::sin(azimuth_deg / mt::deg_per_rad);
  return {[=](double y_m) {
            return mt::PlanePoint{origin.north_m + y_m * north, origin.east_m + y_m * east};
          },
          datum_elevation_m};
}

VtkFrame polyline_frame(std::vector<double> y_m, std::vector<mt::PlanePoint> points,
                        double datum_elevation_m) {
  if (y_m.size() != points.size()) {
    throw core::ShapeError("io::polyline_frame", "expected as many points as distances, got {} and {}",
                           points.size(), y_m.size());
  }
  if (y_m.size() < 2 || std::adjacent_find(y_m.begin(), y_m.end(), std::greater_equal<>()) != y_m.end()) {
    throw core::InvalidArgument("io::polyline_frame", "expected at least two increasing distances, got {}",
                                y_m.size());
  }
  const auto at = [y = std::move(y_m), p = std::move(points)](double y_at) {
    const auto above = std::upper_bound(y.begin() + 1, y.end() - 1, y_at);
    const auto k = static_cast<std::size_t>(above - y.begin());
    const double part = (y_at - y[k - 1]) / (y[k] - y[k - 1]);
    return mt::PlanePoint{p[k - 1].north_m + part * (p[k].north_m - p[k - 1].north_m),
                          p[k - 1].east_m + part * (p[k].east_m - p[k - 1].east_m)};
  };
  return {at, datum_elevation_m};
}

}  // namespace lodestone::io::vtk
