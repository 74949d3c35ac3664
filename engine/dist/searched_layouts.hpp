// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: layouts for all values of a program, found without pins.
#pragma once

#include "engine/dist/partition.hpp"
#include "engine/dist/search/memory.hpp"

namespace lodestone::engine {

/// The facts from which layouts are searched.
struct SearchTask {
  LayoutTask layouts;         ///< pins stay; what is pinned counts as held in pieces
  std::size_t n_results = 0;  ///< outputs that leave whole; those behind them are cells
  double memory_bytes = 0.0;  ///< for the cells of each rank; 0: as much as there is
  double move_bytes = 0.0;    ///< the price of a move beside its bytes
  std::size_t most_entries = most_entries_of_search;
  double most_work = 4e9;  ///< sums of an elimination, beyond which axes of the mesh are searched in turn
};

/// A table that was searched, with its price.
struct SearchedTable {
  LayoutTable table;
  FittingChoice found;  ///< costs as bytes that shards receive
};

/// Returns the layouts and cuts whose price is least.
///
/// Variables are cells and instructions: heavy ones, and cheap ones that join values of several variables.
/// Cheap ones with values of one variable follow it. The price is that of `price_of` or above: a value that
/// several variables need in the same boxes moves once, but may count for each. The text of the table says
/// for which values. Costs count shards, so that without `memory_bytes` the table does not depend on the
/// number of ranks. errors: InvalidArgument for cells that cannot fit into the memory, and for collectives.
[[nodiscard]] SearchedTable searched(const Program& program, const DeviceMesh& mesh, const SearchTask& task);

/// Returns the price of a program: bytes that shards receive, each move once, and repeated work as bytes.
[[nodiscard]] double price_of(const CutProgram& cut);

}  // namespace lodestone::engine
