// SPDX-License-Identifier: Apache-2.0
// Meshes and layouts drawn at random, and tensors of which each element is its own number.
#pragma once

#include "engine/dist/layout/layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace lodestone::engine {

/// Draws meshes, shapes and layouts.
class RandomLayouts {
 public:
  explicit RandomLayouts(unsigned seed) : generator_(seed) {}
  int integer(int least, int most) { return std::uniform_int_distribution(least, most)(generator_); }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(generator_); }

  /// Returns a mesh of up to four axes and `most_ranks` ranks, numbered up to `most_ranks` more.
  DeviceMesh mesh(int most_ranks, bool any_ranks = true) {
    std::vector<MeshAxis> axes;
    int size = 1;
    for (int left = integer(0, 4); left > 0; --left) {
      const int along = integer(1, 4);
      if (size * along > most_ranks) continue;
      size *= along;
      const std::string name(1, static_cast<char>('a' + std::ssize(axes)));
      axes.push_back({name, along, chance(0.5) ? 0 : along + integer(0, 5)});
    }
    std::vector<int> ranks(static_cast<std::size_t>(any_ranks ? 2 * size : size));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (any_ranks) std::shuffle(ranks.begin(), ranks.end(), generator_);
    ranks.resize(static_cast<std::size_t>(size));
    return DeviceMesh(axes, ranks);
  }

  Shape shape(int most_axes, int most_extent) {
    Shape result;
    for (int left = integer(0, most_axes); left > 0; --left)
      result.push_back(chance(0.03) ? 0 : integer(1, most_extent));
    return result;
  }

  /// Returns a layout whose mesh axes cut, are partial in the given way, or do neither.
  MeshLayout layout(const Shape& shape, const DeviceMesh& mesh, Terms how = Terms::no) {
    MeshLayout result = whole_layout(shape.rank(), mesh);
    std::vector<Dim> axes(static_cast<std::size_t>(mesh.n_axes()));
    std::iota(axes.begin(), axes.end(), 0);
    std::shuffle(axes.begin(), axes.end(), generator_);
    for (const Dim axis : axes) {
      if (how != Terms::no && chance(0.4)) {
        result.terms[static_cast<std::size_t>(axis)] = how;
      } else if (shape.rank() > 0 && chance(0.7)) {
        Cut& cut = result.cuts[static_cast<std::size_t>(integer(0, shape.rank() - 1))];
        cut.axes.push_back(axis);
        if (chance(0.3)) cut.grain = integer(1, 3);
      }
    }
    return result;
  }

 private:
  std::mt19937 generator_;
};

/// Calls f(index) for all indices of a box, the last axis fastest.
inline void for_indices(const Box& box, const std::function<void(const IntList&)>& f) {
  if (box.is_empty()) return;
  IntList index = box.first;
  for (int axis = box.rank(); axis >= 0;) {
    f(index);
    for (axis = box.rank() - 1; axis >= 0; --axis) {
      if (++index[axis] < box.end(axis)) break;
      index[axis] = box.first[axis];
    }
  }
}

/// Returns the place of an index among those of a box.
inline std::size_t place_in(const Box& box, const IntList& index) {
  Dim place = 0;
  for (int axis = 0; axis < box.rank(); ++axis)
    place = place * box.shape[axis] + index[axis] - box.first[axis];
  return static_cast<std::size_t>(place);
}

}  // namespace lodestone::engine
