// SPDX-License-Identifier: Apache-2.0
#pragma once

// Private to the map algebra: what all maps made of other maps need.

#include "engine/core/differentiable_map.hpp"
#include "engine/core/error.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lodestone::core {

using Linearizations = std::vector<std::unique_ptr<Linearization>>;

/// States whether ranks may take products of a map with directions of their own.
enum class Ranks : std::uint8_t { each_alone, together };

[[nodiscard]] inline Ranks ranks_of(const DifferentiableMap& map) {
  return map.communicator_id() == 0 ? Ranks::each_alone : Ranks::together;
}

/// Returns the communicator of a map made of others: serial parts join any. errors: InvalidArgument.
[[nodiscard]] inline int joint_communicator(const std::string& component, int first, int second) {
  if (first != 0 && second != 0 && first != second) {
    throw InvalidArgument(
        component + "#two_communicators",
        "expected maps over one communicator, got communicators {} and {}; build both over the same one",
        first, second);
  }
  return first != 0 ? first : second;
}

inline void require_map(const char* component, const MapPtr& map) {
  if (!map) throw InvalidArgument(std::string(component) + "#no_map", "expected a map, got a null pointer");
}

[[nodiscard]] inline std::size_t bytes_of(const Linearizations& parts) {
  std::size_t total = 0;
  for (const auto& part : parts) total += part->bytes();
  return total;
}

/// Returns the values of all parts, one below the other.
[[nodiscard]] inline Eigen::VectorXd stacked_value(const Linearizations& parts, Eigen::Index size_out) {
  Eigen::VectorXd value(size_out);
  Eigen::Index row = 0;
  for (const auto& part : parts) {
    value.segment(row, part->size_out()) = part->value();
    row += part->size_out();
  }
  return value;
}

[[nodiscard]] inline std::string joined_names(const char* of, const std::vector<MapPtr>& maps) {
  std::string text;
  for (const MapPtr& map : maps) text += (text.empty() ? "" : ", ") + map->name();
  return std::string(of) + "(" + text + ")";
}

/// Entries of a sparse matrix with offsets, for the assembly of blocks.
using Triplets = std::vector<Eigen::Triplet<double>>;
inline void add_block(Triplets& triplets, const SparseRows& block, Eigen::Index row, Eigen::Index column) {
  for (Eigen::Index i = 0; i < block.outerSize(); ++i) {
    for (SparseRows::InnerIterator entry(block, i); entry; ++entry)
      triplets.emplace_back(static_cast<int>(row + i), static_cast<int>(column + entry.col()), entry.value());
  }
}
[[nodiscard]] inline SparseRows assembled(Eigen::Index rows, Eigen::Index columns, const Triplets& triplets) {
  SparseRows result(rows, columns);
  result.setFromTriplets(triplets.begin(), triplets.end());
  return result;
}

}  // namespace lodestone::core
