// SPDX-License-Identifier: Apache-2.0
// Small on purpose: numbers for what would otherwise be compared box by box.
// Inside of the engine: layouts and boxes by number, so that equal ones are found and priced once.
#pragma once

#include "engine/dist/work.hpp"

#include <map>
#include <string>
#include <unordered_map>

namespace lodestone::engine {

/// The layouts and boxes that occur in a search, on one mesh. Boxes with one number are equal on all ranks.
class Places {
 public:
  explicit Places(const DeviceMesh& mesh) : mesh_(mesh) {}

  /// Returns the number of a layout of a tensor. Layouts with the same boxes may have one number.
  int number_of(const MeshLayout& layout, const Shape& shape);
  int number_of(const Boxes& boxes);
  [[nodiscard]] const MeshLayout& layout(int number) const {
    return layouts_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] int boxes_of_layout(int number) const { return boxes_of_[static_cast<std::size_t>(number)]; }
  /// Returns the elements that all ranks receive to come from these boxes to others.
  double missing_between(int have, int need);

 private:
  const DeviceMesh& mesh_;
  std::vector<MeshLayout> layouts_;
  std::vector<int> boxes_of_;                ///< per layout
  std::map<std::string, int> layout_named_;  ///< by extents and cuts
  std::vector<Boxes> boxes_;
  std::map<std::vector<Dim>, int> number_at_;  ///< by first indices and extents of all ranks
  std::unordered_map<std::uint64_t, double> missing_;
};

}  // namespace lodestone::engine
