// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/dist/layout/device_mesh.hpp"
#include "engine/dist/transport/transport.hpp"

#include <initializer_list>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lodestone::engine {

/// The time at which ranks compare what they do: before each collective, or once, before all of them.
enum class Agreement : std::uint8_t { each_time, done };

/// The ranks that differ from this one along some axes of a mesh, which communicate.
///
/// Their shards are numbered along the axes, and each rank holds neighbours. Sums over the group add in the
/// order of a tree over all shards, so that no bit depends on the number of ranks.
class Group {
 public:
  /// Finds the group of this rank. errors: InvalidArgument for a rank outside of the mesh, and a mesh with
  /// ranks outside of the world.
  Group(World world, const DeviceMesh& mesh, const IntList& axes, Agreement agreement = Agreement::each_time);

  [[nodiscard]] Transport& transport() const { return *world_; }
  [[nodiscard]] const DeviceMesh& mesh() const { return mesh_; }
  [[nodiscard]] const IntList& axes() const { return axes_; }
  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }
  [[nodiscard]] int index() const { return index_; }  ///< place of this rank
  [[nodiscard]] int n_shards() const { return n_shards_; }
  /// Returns the first shard of a member, and the one behind its last.
  [[nodiscard]] std::pair<int, int> shards_of(int index) const;
  [[nodiscard]] int n_own_shards() const;
  [[nodiscard]] std::string name() const;  ///< "x*y of x=2, y=4/8"

  /// Returns the number of the messages of a collective. collective over the group. errors: InvalidArgument
  /// on all ranks where one is about to do something else, which the text says, unless they have agreed.
  [[nodiscard]] std::uint64_t begin(std::string_view text, const std::source_location& where) const;

  /// Two groups are equal if one can stand for the other.
  friend bool operator==(const Group& a, const Group& b) {
    return a.world_ == b.world_ && a.mesh_ == b.mesh_ && a.axes_ == b.axes_ && a.agreement_ == b.agreement_;
  }

 private:
  World world_;
  DeviceMesh mesh_;
  IntList axes_;
  Agreement agreement_;
  std::vector<int> ranks_;
  int index_, n_shards_;
  std::uint64_t id_;
};
using GroupPtr = std::shared_ptr<const Group>;

/// Returns the group of this rank along named axes, the first one slowest. errors: as those of `Group`, and
/// InvalidArgument for a name that the mesh does not have.
[[nodiscard]] GroupPtr group_of(const World& world, const DeviceMesh& mesh,
                                std::initializer_list<std::string_view> axes);

// As attributes groups are compared by value.
[[nodiscard]] std::string attr_text(const GroupPtr& group);
[[nodiscard]] std::uint64_t attr_hash(const GroupPtr& group);
[[nodiscard]] bool attr_equals(const GroupPtr& a, const GroupPtr& b);

}  // namespace lodestone::engine
