// SPDX-License-Identifier: Apache-2.0
#include "io/mare2dem/regions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

namespace lodestone::io::mare2dem {

Regions::Regions(std::vector<PlaneNode> nodes, const std::vector<PlaneSegment>& segments,
                 const std::vector<RegionSeed>& seeds, const std::vector<double>& columns_m)
    : nodes_(std::move(nodes)), segments_(segments) {
  for (PlaneSegment& segment : segments_) {
    const PlaneNode &from = nodes_[segment.from], &to = nodes_[segment.to];
    if (std::tie(to.y_m, to.z_m) < std::tie(from.y_m, from.z_m)) std::swap(segment.from, segment.to);
  }
  parent_.resize(2 * segments_.size() + 1);
  std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  join_around_nodes();
  const std::size_t outer = 2 * segments_.size();
  const auto join_along = [&](double y_m) {
    std::size_t above = outer;
    for (const Crossing& each : crossings(y_m)) {
      join(above, 2 * each.segment);
      above = 2 * each.segment + 1;
    }
    join(above, outer);
  };
  for (const double y_m : columns_m) join_along(y_m);
  for (const RegionSeed& seed : seeds) join_along(seed.at.y_m);
  region_.assign(parent_.size(), no_region);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::size_t face = outer;
    for (const Crossing& each : crossings(seeds[i].at.y_m))
      if (each.z_m < seeds[i].at.z_m) face = 2 * each.segment + 1;
    int& region = region_[face_of(face)];
    if (region != no_region && region != seeds[i].region) contested_.push_back(i);
    region = seeds[i].region;
  }
}

std::size_t Regions::face_of(std::size_t half_edge) const {
  while (parent_[half_edge] != half_edge) {
    parent_[half_edge] = parent_[parent_[half_edge]];
    half_edge = parent_[half_edge];
  }
  return half_edge;
}

void Regions::join(std::size_t a, std::size_t b) { parent_[face_of(a)] = face_of(b); }

/// Joins each half-edge to the next one around its face, which lies on its left as z points down on paper.
void Regions::join_around_nodes() {
  struct Outgoing {
    double angle;
    std::size_t half_edge;
  };
  std::vector<std::vector<Outgoing>> around(nodes_.size());
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const PlaneNode &a = nodes_[segments_[i].from], &b = nodes_[segments_[i].to];
    around[segments_[i].from].push_back({std::atan2(a.z_m - b.z_m, b.y_m - a.y_m), 2 * i});
    around[segments_[i].to].push_back({std::atan2(b.z_m - a.z_m, a.y_m - b.y_m), 2 * i + 1});
  }
  for (auto& fan : around) {
    std::ranges::sort(fan, {}, &Outgoing::angle);
    for (std::size_t k = 0; k < fan.size(); ++k) {
      const std::size_t arriving = fan[k].half_edge ^ 1U;  // it turns into the next one clockwise
      join(arriving, fan[(k + fan.size() - 1) % fan.size()].half_edge);
    }
  }
}

std::vector<Regions::Crossing> Regions::crossings(double y_m) const {
  std::vector<Crossing> found;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const PlaneNode &a = nodes_[segments_[i].from], &b = nodes_[segments_[i].to];
    if (!(a.y_m <= y_m && y_m < b.y_m)) continue;  // so a line through a node meets what goes right from it
    const double slope = (b.z_m - a.z_m) / (b.y_m - a.y_m);
    found.push_back({a.z_m + slope * (y_m - a.y_m), slope, i});
  }
  std::ranges::sort(found, [](const Crossing& p, const Crossing& q) {
    return std::tie(p.z_m, p.slope) < std::tie(q.z_m, q.slope);
  });
  return found;
}

std::vector<PlanePiece> Regions::along(double y_m) const {
  std::vector<PlanePiece> pieces;
  const auto met = crossings(y_m);
  for (std::size_t i = 0; i + 1 < met.size(); ++i)
    if (met[i + 1].z_m > met[i].z_m)
      pieces.push_back({met[i].z_m, met[i + 1].z_m, region_[face_of(2 * met[i].segment + 1)]});
  return pieces;
}

std::vector<Regions::Side> Regions::sides() const {
  std::vector<Side> sides;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const PlaneNode &a = nodes_[segments_[i].from], &b = nodes_[segments_[i].to];
    if (a.y_m < b.y_m) sides.push_back({a, b, region_[face_of(2 * i)], region_[face_of(2 * i + 1)]});
  }
  return sides;
}

std::vector<std::pair<PlaneNode, PlaneNode>> Regions::segments() const {
  std::vector<std::pair<PlaneNode, PlaneNode>> out;
  for (const PlaneSegment& each : segments_) out.emplace_back(nodes_[each.from], nodes_[each.to]);
  return out;
}

}  // namespace lodestone::io::mare2dem
