// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"
#include "physics/mt/units.hpp"

#include <complex>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::tests {

/// A mistake that is planted into a station, and the finding that names it.
struct Planted {
  std::string what, id;
  std::function<void(physics::mt::StationData&)> plant;
};

inline void for_each(physics::mt::StationData& station,
                     const std::function<void(physics::mt::StationRow&)>& change) {
  for (physics::mt::StationRow& row : station.rows) change(row);
}

/// Returns a wrong azimuth: the tensors are turned, and what the file says of its axes is not.
inline Planted turned(double angle_deg) {
  using namespace physics::mt;
  return {"turned", "wrong_frame", [angle_deg](StationData& s) {
            for_each(s, [angle_deg](StationRow& r) {
              const ChannelAzimuths stated = r.azimuths;
              r = rotated(r, stated.hx_deg + angle_deg);
              r.azimuths = ChannelAzimuths::along(stated.hx_deg);
            });
          }};
}

/// Returns mistakes of signs, units, components and places.
inline std::vector<Planted> planted_mistakes() {
  using namespace physics::mt;
  using enum Element;
  const auto of_rows = [](const char* what, const char* id, const std::function<void(StationRow&)>& change) {
    return Planted{what, id, [change](StationData& s) { for_each(s, change); }};
  };
  return {of_rows("time factor", "time_factor",
                  [](StationRow& r) {
                    for (Complex& z : r.values.numbers) z = std::conj(z);
                  }),
          of_rows("units", "units",
                  [](StationRow& r) {
                    for (const Element e : {zxx, zxy, zyx, zyy}) r.values[e] *= ohm_per_field_unit;
                  }),
          of_rows("swapped", "swapped_components",
                  [](StationRow& r) { std::swap(r.values[zxy], r.values[zyx]); }),
          of_rows("reversed Zxy", "reversed_channel", [](StationRow& r) { r.values[zxy] *= -1.0; }),
          of_rows("reversed Zyx", "reversed_channel", [](StationRow& r) { r.values[zyx] *= -1.0; }),
          {"latitude", "coordinates", [](StationData& s) { s.site.latitude_deg *= -1.0; }},
          {"longitude", "coordinates", [](StationData& s) { s.site.longitude_deg *= -1.0; }},
          {"exchanged", "coordinates",
           [](StationData& s) { std::swap(s.site.latitude_deg, s.site.longitude_deg); }}};
}

}  // namespace lodestone::tests
