// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/collectives/group.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/transport/agree.hpp"
#include "engine/graph/attr_values.hpp"
#include "engine/graph/node.hpp"

#include <algorithm>
#include <functional>

namespace lodestone::engine {
namespace {

std::string names_of(const DeviceMesh& mesh, const IntList& axes) {
  std::string names;
  for (const Dim axis : axes)
    names += (names.empty() ? "" : "*") + mesh.axes()[static_cast<std::size_t>(axis)].name;
  return names.empty() ? "no axis" : names;
}

}  // namespace

Group::Group(World world, const DeviceMesh& mesh, const IntList& axes, Agreement agreement)
    : world_(std::move(world)),
      mesh_(mesh),
      axes_(axes),
      agreement_(agreement),
      ranks_(mesh.group(world_->rank(), axes)),
      index_(mesh.index_along(world_->rank(), axes)),
      n_shards_(mesh.shards_along(axes)),
      id_(std::hash<std::string>{}(fmt::format("{} {}", name(), fmt::join(ranks_, " ")))) {
  const int last = *std::max_element(mesh.ranks().begin(), mesh.ranks().end());
  if (last >= world_->size())
    throw core::InvalidArgument("Group#no_such_rank", "expected a mesh of ranks 0 to {}, got rank {} in {}",
                                world_->size() - 1, last, mesh.text());
}

std::pair<int, int> Group::shards_of(int index) const {
  const auto begin = [&](int i) {
    return static_cast<int>(static_cast<std::int64_t>(i) * n_shards_ / size());
  };
  return {begin(index), begin(index + 1)};
}

int Group::n_own_shards() const {
  const auto [first, last] = shards_of(index_);
  return last - first;
}

std::string Group::name() const { return fmt::format("{} of {}", names_of(mesh_, axes_), mesh_.text()); }

std::uint64_t Group::begin(std::string_view text, const std::source_location& where) const {
  const std::uint64_t number = world_->next_number(id_);
  if (agreement_ == Agreement::each_time)
    agree(*world_, ranks_, id_,
          fmt::format("collective {} along {}: {}", number, names_of(mesh_, axes_), text), at_line(where));
  return detail::mixed(id_, number + 1);
}

GroupPtr group_of(const World& world, const DeviceMesh& mesh, std::initializer_list<std::string_view> axes) {
  IntList numbers;
  for (const std::string_view axis : axes) numbers.push_back(mesh.axis_named(axis));
  return std::make_shared<const Group>(world, mesh, numbers);
}

std::string attr_text(const GroupPtr& group) { return group->name(); }
std::uint64_t attr_hash(const GroupPtr& group) { return std::hash<std::string>{}(group->name()); }
bool attr_equals(const GroupPtr& a, const GroupPtr& b) { return *a == *b; }

}  // namespace lodestone::engine
