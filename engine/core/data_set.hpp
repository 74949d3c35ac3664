// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/core/differentiable_map.hpp"
#include "engine/core/table.hpp"

#include <Eigen/Core>

#include <string>
#include <string_view>
#include <vector>

namespace lodestone::core {

/// The parts of a `DataSet`. shapes: all (n), `reasons` excepted.
struct DataSetParts {
  Eigen::VectorXd observed;      ///< in the units of the map's outputs
  Eigen::VectorXd sigma;         ///< standard deviations after floors, same units
  Eigen::VectorXd turn = {};     ///< differences are wrapped to (−turn/2, turn/2]; 0: not. Empty: all 0
  std::vector<int> reason = {};  ///< 0: used; else an index into `reasons`. Empty: all 0
  std::vector<std::string> reasons = {"used"};  ///< why data are left out, "missing" …; the first is "used"
  Table key = {};  ///< identifies each row: quantity, site, period_s … No columns: by number
};

/// The data that a misfit compares with the outputs of a map, for any physics. Immutable and valid.
///
/// Data with a reason other than 0 do not count; their values may be missing (NaN).
class DataSet {
 public:
  DataSet() = default;
  /// Checks and takes the parts. errors: ShapeError on unequal lengths; InvalidArgument on a used datum
  /// without a finite value or a positive, finite sigma, and on a negative or infinite turn; also on a reason
  /// outside the list, and on a list that does not begin with "used".
  explicit DataSet(DataSetParts parts);
  /// Takes values and standard deviations from two columns; the others are the key. A row without a value
  /// (NaN) has the reason "missing". errors: as the other constructor, and those of `Table::numbers`.
  DataSet(const Table& table, const std::string& observed_column, const std::string& sigma_column);

  [[nodiscard]] Eigen::Index size() const { return parts_.observed.size(); }
  [[nodiscard]] Eigen::Index n_used() const { return n_used_; }
  [[nodiscard]] bool is_used(Eigen::Index row) const {
    return parts_.reason[static_cast<std::size_t>(row)] == 0;
  }
  [[nodiscard]] const Eigen::VectorXd& observed() const { return parts_.observed; }
  [[nodiscard]] const Eigen::VectorXd& sigma() const { return parts_.sigma; }
  [[nodiscard]] const Eigen::VectorXd& turn() const { return parts_.turn; }
  [[nodiscard]] const std::vector<int>& reason() const { return parts_.reason; }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return parts_.reasons; }
  [[nodiscard]] const Table& key() const { return parts_.key; }
  /// Returns the parts, for a data set that differs in some of them.
  [[nodiscard]] const DataSetParts& parts() const { return parts_; }

  /// Returns observed − predicted of every row, wrapped where the datum has a turn; 0 where it is not used.
  /// shapes: (n) → (n). errors: ShapeError.
  [[nodiscard]] Eigen::VectorXd difference(const ConstVectorRef& predicted) const;
  /// Returns a text that identifies a row: "row 3: site = kim438, period_s = 10".
  [[nodiscard]] std::string describe(Eigen::Index row) const;

  /// Compares all parts; NaN equals NaN.
  friend bool operator==(const DataSet& a, const DataSet& b);

 private:
  void check_sizes() const;
  void check_rows() const;

  DataSetParts parts_;
  Eigen::Index n_used_ = 0;
};

/// Returns the value in (−turn/2, turn/2] that differs from `difference` by whole turns; itself for turn 0.
[[nodiscard]] double wrapped(double difference, double turn);

/// Writes the parts as arrays of a group, the key as a table below it.
void write(ArraySink& sink, const std::string& group, const DataSet& data);
/// Reads a data set. errors: FormatError when an array is missing or the parts are no valid data set.
[[nodiscard]] DataSet read_data_set(const ArraySource& source, const std::string& group);

}  // namespace lodestone::core
