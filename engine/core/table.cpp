// SPDX-License-Identifier: Apache-2.0
#include "engine/core/table.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::core {
namespace {

constexpr const char* order_key = "columns";  // attribute of the group: the names, one per line

std::string quoted(const std::vector<std::string>& names) {
  return names.empty() ? "no columns" : fmt::format("\"{}\"", fmt::join(names, "\", \""));
}

bool is_good_name(const std::string& name) {
  const bool is_plain =
      std::ranges::none_of(name, [](unsigned char c) { return c == '/' || c < 0x20 || c == 0x7f; });
  return is_plain && !name.empty() && name != "." && name != "..";
}

const char* kind_of(const Table::Column& column) { return column.is_numbers() ? "numbers" : "texts"; }

void check_text(const std::string& place, const std::string& text) {
  if (text.find('\0') != std::string::npos)
    throw InvalidArgument("core::Table#zero_byte",
                          "{}expected texts without zero bytes, got one after \"{}\"", place, text.c_str());
}

bool is_same_kind(const Table::Column& column, const Table::Cell& cell) {
  return column.is_numbers() == std::holds_alternative<double>(cell);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    lines.push_back(text.substr(first, end - first));
    first = end + 1;
  }
  return lines;
}

Table::Column read_column(const ArraySource& source, const std::string& group, const std::string& name) {
  const std::string path = group + "/" + name;
  if (!source.contains(path))
    throw FormatError("core::read_table#missing_column",
                      "{}: expected column \"{}\" of table \"{}\", found none; is the file complete?",
                      source.location(), name, group);
  Table::Column column{name, "", {}};
  if (source.has_attribute(path, "units")) column.units = source.attribute(path, "units");
  if (source.info(path).dtype == DType::u8) {
    column.values = read_texts(source, path);
  } else {
    column.values = read_doubles(source, path);
  }
  return column;
}

}  // namespace

std::size_t Table::Column::size() const {
  return std::visit([](const auto& all) { return all.size(); }, values);
}

bool operator==(const Table::Column& a, const Table::Column& b) {
  if (a.name != b.name || a.units != b.units || a.is_numbers() != b.is_numbers()) return false;
  if (!a.is_numbers()) return a.values == b.values;
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::ranges::equal(std::get<Table::Numbers>(a.values), std::get<Table::Numbers>(b.values), same);
}

Table::Table(std::vector<Column> columns) {
  for (Column& column : columns) add(std::move(column));
}

std::string Table::prefix() const { return origin_.empty() ? "" : origin_ + ": "; }

Table& Table::add(Column column) {
  if (!is_good_name(column.name) || has(column.name))
    throw InvalidArgument(
        "core::Table#bad_name",
        "{}expected a new column name without '/' and control characters, got \"{}\" beside {}", prefix(),
        column.name, quoted(names()));
  if (!columns_.empty() && column.size() != n_rows())
    throw ShapeError("core::Table#wrong_length", "{}expected {} rows for column \"{}\", as in \"{}\", got {}",
                     prefix(), n_rows(), column.name, columns_.front().name, column.size());
  if (!column.is_numbers()) {
    for (const std::string& text : std::get<Texts>(column.values)) check_text(prefix(), text);
  }
  columns_.push_back(std::move(column));
  return *this;
}

Table& Table::add_numbers(std::string name, std::string units, Numbers values) {
  return add({std::move(name), std::move(units), std::move(values)});
}

Table& Table::add_texts(std::string name, Texts values) {
  return add({std::move(name), "", std::move(values)});
}

void Table::append_row(const std::vector<Cell>& cells) {
  if (cells.size() != columns_.size())
    throw ShapeError("core::Table#wrong_row", "{}expected {} cells ({}), got {}", prefix(), columns_.size(),
                     quoted(names()), cells.size());
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (!is_same_kind(columns_[k], cells[k]))
      throw InvalidArgument("core::Table#other_kind", "{}expected {} in column \"{}\", got {} in row {}",
                            prefix(), kind_of(columns_[k]), columns_[k].name,
                            columns_[k].is_numbers() ? "a text" : "a number", n_rows());
    if (const auto* text = std::get_if<std::string>(&cells[k])) check_text(prefix(), *text);
  }
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (columns_[k].is_numbers()) {
      std::get<Numbers>(columns_[k].values).push_back(std::get<double>(cells[k]));
    } else {
      std::get<Texts>(columns_[k].values).push_back(std::get<std::string>(cells[k]));
    }
  }
}

void Table::append(const Table& rows) {
  const auto same = [](const Column& a, const Column& b) {
    return a.name == b.name && a.units == b.units && a.is_numbers() == b.is_numbers();
  };
  if (!std::ranges::equal(columns_, rows.columns_, same))
    throw InvalidArgument("core::Table#other_columns",
                          "{}expected rows with the columns {}, got {}; names, units and kinds must agree",
                          prefix(), quoted(names()), quoted(rows.names()));
  const Table copy = rows;  // the rows may be those of this table
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    std::visit(
        [&](auto& values) {
          const auto& more = std::get<std::decay_t<decltype(values)>>(copy.columns_[k].values);
          values.insert(values.end(), more.begin(), more.end());
        },
        columns_[k].values);
  }
}

std::vector<std::string> Table::names() const {
  std::vector<std::string> result;
  for (const Column& column : columns_) result.push_back(column.name);
  return result;
}

bool Table::has(std::string_view name) const {
  return std::ranges::find(columns_, name, &Column::name) != columns_.end();
}

const Table::Column& Table::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name, &Column::name);
  if (found == columns_.end())
    throw InvalidArgument("core::Table#no_such_column", "{}expected a column \"{}\", found {}", prefix(),
                          name, quoted(names()));
  return *found;
}

const Table::Numbers& Table::numbers(std::string_view name) const {
  const Column& found = column(name);
  if (!found.is_numbers())
    throw InvalidArgument("core::Table#other_kind", "{}expected numbers in column \"{}\", found texts",
                          prefix(), name);
  return std::get<Numbers>(found.values);
}

const Table::Texts& Table::texts(std::string_view name) const {
  const Column& found = column(name);
  if (found.is_numbers())
    throw InvalidArgument("core::Table#other_kind", "{}expected texts in column \"{}\", found numbers",
                          prefix(), name);
  return std::get<Texts>(found.values);
}

std::vector<Table::Cell> Table::row(std::size_t index) const {
  if (index >= n_rows())
    throw InvalidArgument("core::Table#no_such_row", "{}expected a row below {}, got {}", prefix(), n_rows(),
                          index);
  std::vector<Cell> cells;
  for (const Column& column : columns_)
    std::visit([&](const auto& values) { cells.emplace_back(values[index]); }, column.values);
  return cells;
}

Table Table::without(std::span<const std::string> names) const {
  for (const std::string& name : names) (void)column(name);
  Table result;
  result.origin_ = origin_;
  std::ranges::copy_if(columns_, std::back_inserter(result.columns_), [&](const Column& column) {
    return std::ranges::find(names, column.name) == names.end();
  });
  return result;
}

void write(ArraySink& sink, const std::string& group, const Table& table) {
  for (const Table::Column& column : table.columns()) {
    const std::string path = group + "/" + column.name;
    if (column.is_numbers()) {
      write_vector(sink, path, std::get<Table::Numbers>(column.values));
    } else {
      write_texts(sink, path, std::get<Table::Texts>(column.values));
    }
    if (!column.units.empty()) sink.attribute(path, "units", column.units);
  }
  sink.attribute(group, order_key, fmt::format("{}", fmt::join(table.names(), "\n")));
}

Table read_table(const ArraySource& source, const std::string& group) {
  if (!source.has_attribute(group, order_key))
    throw FormatError("core::read_table#no_table",
                      "{}: expected a table \"{}\" with an attribute \"{}\", found none", source.location(),
                      group, order_key);
  std::vector<Table::Column> columns;
  for (const std::string& name : lines_of(source.attribute(group, order_key)))
    columns.push_back(read_column(source, group, name));
  try {
    Table table(std::move(columns));
    table.set_origin(source.location());
    return table;
  } catch (const Error& error) {
    throw FormatError("core::read_table#damaged", "{}: table \"{}\": {}", source.location(), group,
                      error.what());
  }
}

}  // namespace lodestone::core
