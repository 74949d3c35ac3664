// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::Sea;
using physics::mesh::SurfaceLine;

constexpr double same_height_m = 1.0;      // depths of files agree no better
constexpr double same_resistivity = 0.01;  // of the water, relative

/// Two polylines are farthest apart at a point of one of them, or where the grid ends.
double farthest_apart_at(const SurfaceLine& a, const SurfaceLine& b, double left_m, double right_m) {
  std::vector<double> places{left_m, right_m};
  for (const SurfaceLine* surface : {&a, &b}) {
    for (const double y : surface->y_m()) {
      if (y > left_m && y < right_m) places.push_back(y);
    }
  }
  double farthest_m = -1.0, at_m = left_m;
  for (const double y : places) {
    const double apart_m = std::abs(a.z_at(y) - b.z_at(y));
    if (apart_m <= farthest_m) continue;
    farthest_m = apart_m;
    at_m = y;
  }
  return at_m;
}

bool same_sea(const std::optional<Sea>& a, const std::optional<Sea>& b) {
  if (!a || !b) return !a && !b;
  return std::abs(a->level_m - b->level_m) <= same_height_m &&
         std::abs(a->resistivity_ohm_m / b->resistivity_ohm_m - 1.0) <= same_resistivity;
}

std::string describe(const std::optional<Sea>& sea) {
  return sea ? fmt::format("a sea of {:g} ohm m up to z = {:g} m", sea->resistivity_ohm_m, sea->level_m)
             : "no sea";
}

}  // namespace

std::string difference_of_surfaces(const physics::mesh::Model& model, const physics::mesh::Earth& ground) {
  const SurfaceLine &there = model.earth.surface.profile(), &here = ground.surface.profile();
  std::string text;
  const double y_m =
      farthest_apart_at(there, here, ground.grid.y_edges_m().front(), ground.grid.y_edges_m().back());
  const double there_m = there.z_at(y_m), here_m = here.z_at(y_m);
  if (std::abs(there_m - here_m) > same_height_m) {
    const bool moves = model.earth.grid.reference() == DepthReference::surface &&
                       ground.grid.reference() == DepthReference::surface;
    text = fmt::format(
        "its surface is not this run's: up to {:g} m apart, at y = {:g} m (z = {:g} m there, {:g} m here); "
        "{}",
        std::abs(there_m - here_m), y_m, there_m, here_m,
        moves ? "its cells move up and down with the surface" : "its cells stay at their z");
  }
  if (!same_sea(model.earth.sea, ground.sea))
    text += fmt::format("{}it has {}, this run {}", text.empty() ? "" : "; ", describe(model.earth.sea),
                        describe(ground.sea));
  return text;
}

}  // namespace lodestone::inversion::mt
