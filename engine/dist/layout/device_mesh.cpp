// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/layout/device_mesh.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace lodestone::engine {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text != "whole" && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

void check_axes(const std::vector<MeshAxis>& axes) {
  if (std::ssize(axes) > IntList::max_size)
    throw core::InvalidArgument("DeviceMesh#too_many_axes", "expected at most {} axes, got {}",
                                IntList::max_size, axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const MeshAxis& axis = axes[i];
    if (!is_name(axis.name))
      throw core::InvalidArgument("DeviceMesh#wrong_name",
                                  "expected a name of letters, digits and underscores other than \"whole\", "
                                  "got \"{}\"",
                                  axis.name);
    for (std::size_t other = 0; other < i; ++other) {
      if (axes[other].name == axis.name)
        throw core::InvalidArgument("DeviceMesh#same_name",
                                    "expected axes of different names, got \"{}\" "
                                    "twice",
                                    axis.name);
    }
    if (axis.size < 1 || axis.n_shards() < axis.size)
      throw core::InvalidArgument("DeviceMesh#wrong_size",
                                  "expected a size of 1 or more and at least as many shards along \"{}\", "
                                  "got size {} and {} shards",
                                  axis.name, axis.size, axis.n_shards());
  }
}

void check_ranks(const std::vector<int>& ranks, int size) {
  if (std::ssize(ranks) != size)
    throw core::InvalidArgument("DeviceMesh#wrong_ranks", "expected {} ranks, one per point, got {}", size,
                                ranks.size());
  std::vector<int> sorted = ranks;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    throw core::InvalidArgument("DeviceMesh#same_rank", "expected different ranks, got {} twice", *twice);
  if (sorted.front() < 0)
    throw core::InvalidArgument("DeviceMesh#negative_rank", "expected ranks of 0 or more, got {}",
                                sorted.front());
}

}  // namespace

DeviceMesh::DeviceMesh(std::vector<MeshAxis> axes, std::vector<int> ranks, std::vector<int> nodes)
    : axes_(std::move(axes)), ranks_(std::move(ranks)), nodes_(std::move(nodes)) {
  check_axes(axes_);
  for (MeshAxis& axis : axes_) axis.shards = axis.n_shards();
  const int size = size_along(IntList::counting(n_axes()));
  if (ranks_.empty()) {
    ranks_.resize(static_cast<std::size_t>(size));
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }
  check_ranks(ranks_, size);
  if (nodes_.empty()) nodes_.assign(ranks_.size(), 0);
  if (nodes_.size() != ranks_.size())
    throw core::InvalidArgument("DeviceMesh#wrong_nodes", "expected the nodes of {} ranks, got {}", size,
                                nodes_.size());
}

int DeviceMesh::axis_named(std::string_view name) const {
  std::string known;
  for (int axis = 0; axis < n_axes(); ++axis) {
    const std::string& each = axes_[static_cast<std::size_t>(axis)].name;
    if (each == name) return axis;
    known += fmt::format("{}\"{}\"", axis == 0 ? "" : ", ", each);
  }
  throw core::InvalidArgument("DeviceMesh#no_such_axis", "expected an axis of the mesh ({}), got \"{}\"",
                              known.empty() ? "it has none" : known, name);
}

bool DeviceMesh::contains(int rank) const {
  return std::find(ranks_.begin(), ranks_.end(), rank) != ranks_.end();
}

std::size_t DeviceMesh::place_of(int rank) const {
  // Ranks mostly stand at the place of their number.
  if (rank >= 0 && rank < size() && ranks_[static_cast<std::size_t>(rank)] == rank)
    return static_cast<std::size_t>(rank);
  const auto found = std::find(ranks_.begin(), ranks_.end(), rank);
  if (found == ranks_.end())
    throw core::InvalidArgument("DeviceMesh#no_such_rank", "expected a rank of the mesh ({}), got {}", text(),
                                rank);
  return static_cast<std::size_t>(found - ranks_.begin());
}

int DeviceMesh::rank_at(const IntList& point) const {
  std::size_t place = 0;
  for (int axis = 0; axis < n_axes(); ++axis)
    place = place * static_cast<std::size_t>(axes_[static_cast<std::size_t>(axis)].size) +
            static_cast<std::size_t>(point[axis]);
  return ranks_[place];
}

IntList DeviceMesh::point_of(int rank) const {
  auto place = static_cast<Dim>(place_of(rank));
  IntList point = IntList::filled(n_axes(), 0);
  for (int axis = n_axes() - 1; axis >= 0; --axis) {
    const Dim size = axes_[static_cast<std::size_t>(axis)].size;
    point[axis] = place % size;
    place /= size;
  }
  return point;
}

int DeviceMesh::node_of(int rank) const { return nodes_[place_of(rank)]; }

std::vector<int> DeviceMesh::group(int rank, const IntList& axes) const {
  IntList point = point_of(rank);
  std::vector<int> result;
  for (int index = 0; index < size_along(axes); ++index) {
    Dim rest = index;
    for (int i = axes.size() - 1; i >= 0; --i) {
      const Dim size = axes_[static_cast<std::size_t>(axes[i])].size;
      point[static_cast<int>(axes[i])] = rest % size;
      rest /= size;
    }
    result.push_back(rank_at(point));
  }
  return result;
}

int DeviceMesh::index_along(int rank, const IntList& axes) const {
  const IntList point = point_of(rank);
  int index = 0;
  for (const Dim axis : axes)
    index =
        index * axes_[static_cast<std::size_t>(axis)].size + static_cast<int>(point[static_cast<int>(axis)]);
  return index;
}

int DeviceMesh::size_along(const IntList& axes) const {
  int size = 1;
  for (const Dim axis : axes) size *= axes_[static_cast<std::size_t>(axis)].size;
  return size;
}

int DeviceMesh::shards_along(const IntList& axes) const {
  int shards = 1;
  for (const Dim axis : axes) shards *= axes_[static_cast<std::size_t>(axis)].n_shards();
  return shards;
}

std::string DeviceMesh::text() const {
  std::string result;
  for (const MeshAxis& axis : axes_) {
    result += fmt::format("{}{}={}", result.empty() ? "" : ", ", axis.name, axis.size);
    if (axis.n_shards() != axis.size) result += fmt::format("/{}", axis.n_shards());
  }
  if (result.empty()) result = "no axes";
  bool in_order = true;
  for (int i = 0; i < size(); ++i) in_order = in_order && ranks_[static_cast<std::size_t>(i)] == i;
  return in_order ? result : fmt::format("{} on ranks {}", result, fmt::join(ranks_, " "));
}

}  // namespace lodestone::engine
