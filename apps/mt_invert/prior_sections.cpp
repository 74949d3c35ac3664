// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/prior_sections.hpp"

#include "engine/core/error.hpp"
#include "io/model/model_file.hpp"

#include <algorithm>
#include <filesystem>

namespace lodestone::mt_invert {
namespace {

/// z of the surface on the grid's scale: 0 where depths count from it.
double surface_z_m(const physics::mesh::Section2D& section, const std::string& path) {
  if (section.grid.reference() == physics::mesh::DepthReference::surface) return 0.0;
  const auto [highest, lowest] = std::ranges::minmax(section.surface.z_m());
  if (lowest - highest > 1.0)
    throw core::FormatError(
        "mt_invert train",
        "{}: expected a level surface, or depths that count from it, got relief of {:g} m; cut from an inversion's result.h5", path,
        lowest - highest);
  return highest;
}

}  // namespace

models::Section read_prior_section(const std::string& path) {
  const physics::mesh::Section2D model = io::read_model(path);
  const double surface_m = surface_z_m(model, path);
  const auto& z = model.grid.z_edges_m();
  const int first = static_cast<int>(std::ranges::upper_bound(z, surface_m) - z.begin()) - 1;  // the row the surface lies in
  models::Section section{
      .name = std::filesystem::path(path).filename().string(), .depth_m = {0.0}, .y_m = model.grid.y_edges_m(), .log10_resistivity = {}};
  const int top = std::clamp(first, 0, model.grid.n_z() - 1);
  for (int iz = top; iz < model.grid.n_z(); ++iz) section.depth_m.push_back(z[static_cast<std::size_t>(iz) + 1] - surface_m);
  section.log10_resistivity.resize(model.grid.n_z() - top, model.grid.n_y());
  for (int iz = top; iz < model.grid.n_z(); ++iz) {
    for (int iy = 0; iy < model.grid.n_y(); ++iy)
      section.log10_resistivity(iz - top, iy) = std::log10(model.resistivity_ohm_m[model.grid.index(iz, iy)]);
  }
  return section;
}

}  // namespace lodestone::mt_invert
