// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/start_models.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace lodestone::inversion::mt {
namespace {

using physics::mesh::Axis;
using physics::mesh::DepthReference;
using physics::mesh::Point;
using physics::mesh::Sea;
using physics::mesh::Surface;
using physics::mesh::TensorGrid;

constexpr double same_height_m = 1.0;      // depths of files agree no better
constexpr double same_resistivity = 0.01;  // of the water, relative

/// Returns the sides of a grid along an axis and the points of two surfaces between them; 0 on a missing
/// axis.
std::vector<double> places_along(const TensorGrid& grid, Axis axis, const std::vector<double>& a,
                                 const std::vector<double>& b) {
  if (!grid.has(axis)) return {0.0};
  const physics::mesh::Interval range = grid.extent()[axis];
  std::vector<double> places{range.from, range.to};
  for (const std::vector<double>* points : {&a, &b}) {
    for (const double at : *points) {
      if (at > range.from && at < range.to) places.push_back(at);
    }
  }
  return places;
}

/// Finds where two surfaces are farthest apart. Their difference is linear in x and in y between the lines
/// through the points of both. So it is largest where two such lines, or sides of the grid, cross.
Point farthest_apart_at(const Surface& a, const Surface& b, const TensorGrid& grid) {
  const std::vector<double> ys = places_along(grid, Axis::y, a.y_m(), b.y_m());
  double farthest_m = -1.0;
  Point farthest;
  for (const double x_m : places_along(grid, Axis::x, a.x_m(), b.x_m())) {
    for (const double y_m : ys) {
      const double apart_m = std::abs(a.z_at(x_m, y_m) - b.z_at(x_m, y_m));
      if (apart_m <= farthest_m) continue;
      farthest_m = apart_m;
      farthest = {x_m, y_m, 0.0};
    }
  }
  return farthest;
}

std::string in_words(const Point& place, const TensorGrid& grid) {
  const std::string y = fmt::format("y = {:g} m", place.y_m);
  return grid.has(Axis::x) ? fmt::format("x = {:g} m, {}", place.x_m, y) : y;
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
  const Surface &there = model.earth.surface, &here = ground.surface;
  std::string text;
  const Point at = farthest_apart_at(there, here, ground.grid);
  const double there_m = there.z_at(at.x_m, at.y_m), here_m = here.z_at(at.x_m, at.y_m);
  if (std::abs(there_m - here_m) > same_height_m) {
    const bool moves = model.earth.grid.reference() == DepthReference::surface &&
                       ground.grid.reference() == DepthReference::surface;
    text = fmt::format(
        "its surface is not this run's: up to {:g} m apart, at {} (z = {:g} m there, {:g} m here); {}",
        std::abs(there_m - here_m), in_words(at, ground.grid), there_m, here_m,
        moves ? "its cells move up and down with the surface" : "its cells stay at their z");
  }
  if (!same_sea(model.earth.sea, ground.sea))
    text += fmt::format("{}it has {}, this run {}", text.empty() ? "" : "; ", describe(model.earth.sea),
                        describe(ground.sea));
  return text;
}

}  // namespace lodestone::inversion::mt
