// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/places.hpp"

namespace lodestone::engine {

int Places::number_of(const MeshLayout& layout, const Shape& shape) {
  std::string name;
  for (std::size_t axis = 0; axis < layout.cuts.size(); ++axis) {
    const auto& [axes, grain] = layout.cuts[axis];
    name += fmt::format("{}", shape[static_cast<int>(axis)]);
    for (const Dim each : axes) name += fmt::format(",{}", each);
    name += axes.empty() ? ";" : fmt::format("/{};", grain);
  }
  const auto [known, is_new] = layout_named_.emplace(std::move(name), static_cast<int>(layouts_.size()));
  if (is_new) {
    layouts_.push_back(layout);
    boxes_of_.push_back(number_of(boxes_of(layout, shape, mesh_)));
  }
  return known->second;
}

int Places::number_of(const Boxes& boxes) {
  std::vector<Dim> all;
  for (const Box& box : boxes) {
    all.insert(all.end(), box.first.begin(), box.first.end());
    all.insert(all.end(), box.shape.begin(), box.shape.end());
  }
  const auto [known, is_new] = number_at_.emplace(std::move(all), static_cast<int>(boxes_.size()));
  if (is_new) boxes_.push_back(boxes);
  return known->second;
}

double Places::missing_between(int have, int need) {
  if (have == need) return 0.0;
  const std::uint64_t key = (static_cast<std::uint64_t>(have) << 32U) | static_cast<std::uint32_t>(need);
  const auto known = missing_.find(key);
  if (known != missing_.end()) return known->second;
  const auto n = static_cast<double>(
      missing(boxes_[static_cast<std::size_t>(have)], boxes_[static_cast<std::size_t>(need)]));
  return missing_.emplace(key, n).first->second;
}

}  // namespace lodestone::engine
