// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace lodestone::core {

/// Named columns of numbers or texts, of one length, with units. Files, reports and programs treat every
/// table alike: observations, certificates, histories, static shifts.
///
/// A missing number is NaN, a missing text is empty. A name is not empty, occurs once and contains neither
/// '/' nor control characters, because files store each column under its name. Names "." and ".." are refused
/// too.
class Table {
 public:
  using Numbers = std::vector<double>;
  using Texts = std::vector<std::string>;
  using Cell = std::variant<double, std::string>;
  struct Column {
    std::string name, units;  ///< units "" for a pure number or a text
    std::variant<Numbers, Texts> values;
    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] bool is_numbers() const { return std::holds_alternative<Numbers>(values); }
    friend bool operator==(const Column& a, const Column& b);
  };

  Table() = default;
  /// Makes a table of these columns. errors: as `add`.
  explicit Table(std::vector<Column> columns);

  /// Appends a column. errors: InvalidArgument on a bad or repeated name or a text with a zero byte,
  /// ShapeError on another number of rows.
  Table& add(Column column);
  Table& add_numbers(std::string name, std::string units, Numbers values = {});
  Table& add_texts(std::string name, Texts values = {});
  /// Appends a row, one cell per column. errors: ShapeError on another number of cells, InvalidArgument on a
  /// number where the column has texts, or the reverse; the table then stays as it was.
  void append_row(const std::vector<Cell>& cells);
  /// Appends all rows of a table with the same columns: names, units and kinds in the same order. errors:
  /// InvalidArgument.
  void append(const Table& rows);

  [[nodiscard]] std::size_t n_rows() const { return columns_.empty() ? 0 : columns_.front().size(); }
  [[nodiscard]] std::size_t n_columns() const { return columns_.size(); }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool has(std::string_view name) const;
  /// Returns a column. errors: InvalidArgument, which lists the columns of the table, when there is none of
  /// this name; `numbers` and `texts` also when it holds the other kind.
  [[nodiscard]] const Column& column(std::string_view name) const;
  [[nodiscard]] const Numbers& numbers(std::string_view name) const;
  [[nodiscard]] const Texts& texts(std::string_view name) const;
  [[nodiscard]] const std::string& units(std::string_view name) const { return column(name).units; }
  /// Returns the cells of one row. errors: InvalidArgument when the row does not exist.
  [[nodiscard]] std::vector<Cell> row(std::size_t index) const;
  /// Returns the table without some of its columns. errors: InvalidArgument on a name that it does not have.
  [[nodiscard]] Table without(std::span<const std::string> names) const;

  /// Returns the file that the table was read from, for messages, or "".
  [[nodiscard]] const std::string& origin() const { return origin_; }
  void set_origin(std::string origin) { origin_ = std::move(origin); }

  /// Compares names, units and values; NaN equals NaN. The origin does not count.
  friend bool operator==(const Table& a, const Table& b) { return a.columns_ == b.columns_; }

 private:
  [[nodiscard]] std::string prefix() const;
  std::vector<Column> columns_;
  std::string origin_;
};

/// Writes a table as a group of arrays, one per column, each with its units; the group lists their order.
void write(ArraySink& sink, const std::string& group, const Table& table);
/// Reads a table; its origin is the source's location. errors: FormatError when the group holds no table, a
/// column is missing or neither numbers nor texts, or lengths differ.
[[nodiscard]] Table read_table(const ArraySource& source, const std::string& group);

}  // namespace lodestone::core
