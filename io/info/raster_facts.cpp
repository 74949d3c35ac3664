// SPDX-License-Identifier: Apache-2.0
#include "io/info/raster_facts.hpp"

#include "io/raster/raster.hpp"
#include "io/text/counted.hpp"

#include <fmt/ranges.h>

namespace lodestone::io::info {

void describe_elevations(FileInfo& info) {
  if (!raster::is_raster(info.path)) {
    info.facts.emplace_back(elevation_map);
    return;
  }
  info.format = raster::format_of(info.path);
  const raster::RasterFacts facts = raster::facts_of(info.path);
  const std::string size = fmt::format("{} x {} pixels", facts.n_columns, facts.n_rows);
  if (!facts.quantity.empty()) {
    info.facts.push_back(fmt::format("{} of {} ({}), {}: {}", text::counted(facts.bands.size(), "map"),
                                     facts.quantity, facts.units, size, fmt::join(facts.bands, ", ")));
  } else if (facts.is_of_elevations) {
    info.facts.push_back(fmt::format("{}; {}", elevation_map, size));
  } else {
    info.facts.push_back(fmt::format(
        "a grid of numbers, {}{}, of which the file does not state the quantity; profile.surface_file takes "
        "the first band for a map of elevations in metres",
        facts.bands.size() > 1 ? fmt::format("{} bands of ", facts.bands.size()) : "", size));
  }
}

}  // namespace lodestone::io::info
