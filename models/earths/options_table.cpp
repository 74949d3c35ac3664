// SPDX-License-Identifier: Apache-2.0
#include "models/earths/options_table.hpp"

#include <cmath>
#include <vector>

namespace lodestone::models::earths {
namespace {

constexpr double largest = 1e8;  // of metres, cells and shares; their products stay finite
constexpr double least_log10_resistivity = -6.0, largest_log10_resistivity = 12.0;

std::string place(const core::Options& table, std::string_view key) {
  const std::string where = table.where(key);
  return where.empty() ? where : where + ": ";
}

std::string full_name(const core::Options& table, std::string_view key) {
  const std::string path = table.path();
  return path.empty() || key.empty() ? path + std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

void OptionsTable::refuse(std::string_view key, const std::string& text, std::string_view id) const {
  throw core::ConfigError(fmt::format("configuration#{}", id), "{}\"{}\": {}", place(table_, key),
                          full_name(table_, key), text);
}

void OptionsTable::hand_on(std::string_view key, const core::Error& error) const {
  // The text follows the component in `[component] text`.
  const std::string message = error.what();
  const auto end = message.starts_with('[') ? message.find("] ") : std::string::npos;
  refuse(key, end == std::string::npos ? message : message.substr(end + 2),
         error.id().empty() ? "wrong_value" : error.id());
}

void OptionsTable::check(std::string_view key, double value, double least, double most) const {
  if (!(value >= least && value <= most))
    refuse(key, fmt::format("expected {:g} to {:g}, got {:g}", least, most, value), "out_of_range");
}

Range OptionsTable::range(std::string_view key) const {
  const std::vector<double> values = table_.reals(key);
  if (values.size() != 2)
    refuse(key, fmt::format("expected a range [lower, upper], got {} numbers", values.size()), "not_a_range");
  if (values[0] > values[1])
    refuse(
        key,
        fmt::format("expected a range [lower, upper], got [{:g}, {:g}]; swap the two", values[0], values[1]),
        "range_reversed");
  for (const double value : values) check(key, value, -largest, largest);
  return {values[0], values[1]};
}

Range OptionsTable::decades(std::string_view key) const {
  const Range result = range(key);
  for (const double value : {result.lower, result.upper})
    check(key, value, least_log10_resistivity, largest_log10_resistivity);
  return result;
}

void OptionsTable::read(std::string_view key, Range& target) const {
  if (table_.has(key)) target = range(key);
}

void OptionsTable::read_decades(std::string_view key, Range& target) const {
  if (table_.has(key)) target = decades(key);
}

void OptionsTable::read(std::string_view key, double& target) const {
  target = table_.real(key, target);
  check(key, target, -largest, largest);
}

void OptionsTable::read(std::string_view key, IntegerRange& target) const {
  if (!table_.has(key)) return;
  const Range values = range(key);
  if (values.lower != std::floor(values.lower) || values.upper != std::floor(values.upper) ||
      std::abs(values.lower) > 1e6 || std::abs(values.upper) > 1e6) {
    refuse(key,
           fmt::format("expected two integers up to a million, got [{:g}, {:g}]", values.lower, values.upper),
           "not_integers");
  }
  target = {static_cast<int>(values.lower), static_cast<int>(values.upper)};
}

void OptionsTable::read(std::string_view key, int& target) const {
  const std::int64_t value = table_.integer(key, target);
  if (std::abs(value) > 1'000'000)
    refuse(key, fmt::format("expected an integer up to a million, got {}", value), "integer_too_large");
  target = static_cast<int>(value);
}

}  // namespace lodestone::models::earths
