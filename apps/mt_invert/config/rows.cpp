// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/rows.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/resistivity_range.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

namespace lodestone::mt_invert::config {

ConfigTable::ConfigTable(core::Options given, std::string folder)
    : given_(std::move(given)), folder_(std::move(folder)) {}
ConfigTable::ConfigTable(core::Options given, core::Options effective, std::string folder)
    : given_(std::move(given)), effective_(std::move(effective)), folder_(std::move(folder)) {}

template <class T>
T ConfigTable::keep(std::string_view key, T value) {
  effective_.set(key, value);
  return value;
}

bool ConfigTable::flag(std::string_view key, std::optional<bool> fallback) {
  return keep(key, given_.flag(key, fallback));
}

int ConfigTable::integer(std::string_view key, int fallback, int least) {
  const std::int64_t value = given_.integer(key, fallback);
  if (value < least || value > std::numeric_limits<int>::max())
    refuse(key, fmt::format("expected an integer of at least {}, got {}", least, value));
  return static_cast<int>(keep(key, value));
}

double ConfigTable::real(std::string_view key, std::optional<double> fallback) {
  return keep(key, given_.real(key, fallback));
}

double ConfigTable::positive(std::string_view key, std::optional<double> fallback) {
  const double value = real(key, fallback);
  if (!(value > 0.0)) refuse(key, fmt::format("expected a positive number, got {}", value));
  return value;
}

double ConfigTable::not_negative(std::string_view key, std::optional<double> fallback) {
  const double value = real(key, fallback);
  if (!(value >= 0.0)) refuse(key, fmt::format("expected a number that is not negative, got {}", value));
  return value;
}

double ConfigTable::from_zero_to(double most, std::string_view key, std::optional<double> fallback) {
  const double value = not_negative(key, fallback);
  if (value > most) refuse(key, fmt::format("expected 0 to {:g}, got {}", most, value));
  return value;
}

double ConfigTable::resistivity(std::string_view key, std::optional<double> fallback) {
  using namespace physics::mt;
  const double value = real(key, fallback);
  if (!is_in_resistivity_range(value))
    refuse(key, fmt::format("expected {:g} to {:g} ohm m, got {:g}", least_resistivity_ohm_m,
                            largest_resistivity_ohm_m, value));
  return value;
}

std::optional<double> ConfigTable::optional_real(std::string_view key) {
  if (!given_.has(key)) return {};
  return real(key);
}

std::string ConfigTable::text(std::string_view key, std::optional<std::string> fallback) {
  return keep(key, given_.text(key, std::move(fallback)));
}

std::string ConfigTable::choice(std::string_view key, const std::vector<std::string>& allowed,
                                std::optional<std::string> fallback) {
  return keep(key, given_.choice(key, allowed, std::move(fallback)));
}

std::vector<double> ConfigTable::reals(std::string_view key) {
  return given_.has(key) ? keep(key, given_.reals(key)) : std::vector<double>();
}

std::vector<double> ConfigTable::required_reals(std::string_view key) { return keep(key, given_.reals(key)); }

std::vector<std::int64_t> ConfigTable::integers(std::string_view key, std::vector<std::int64_t> fallback,
                                                std::int64_t least, std::int64_t most) {
  std::vector<std::int64_t> result;
  for (const double each : given_.reals(key, std::vector<double>(fallback.begin(), fallback.end()))) {
    if (!(each >= static_cast<double>(least) && each <= static_cast<double>(most) &&
          each == std::floor(each)))
      refuse(key, fmt::format("expected whole numbers from {} to {}, got {:g}", least, most, each));
    result.push_back(static_cast<std::int64_t>(each));
  }
  return keep(key, std::move(result));
}

std::vector<std::string> ConfigTable::texts(std::string_view key) {
  return given_.has(key) ? keep(key, given_.texts(key)) : std::vector<std::string>();
}

std::string ConfigTable::resolved(const std::string& path) const {
  return path.empty() || folder_.empty() ? path : (std::filesystem::path(folder_) / path).string();
}

std::string ConfigTable::path(std::string_view key) {
  return given_.has(key) ? resolved(text(key)) : std::string();
}

std::vector<std::string> ConfigTable::paths(std::string_view key) {
  std::vector<std::string> result = texts(key);
  for (std::string& each : result) each = resolved(each);
  return result;
}

ConfigTable ConfigTable::table(std::string_view key) const {
  core::Options effective = effective_;
  return {given_.child(key), effective.table(key), folder_};
}

std::vector<ConfigTable> ConfigTable::tables(std::string_view key) const {
  std::vector<ConfigTable> result;
  core::Options effective = effective_;
  for (core::Options& each : given_.children(key))
    result.push_back({each, effective.append_table(key), folder_});
  return result;
}

std::string ConfigTable::place(std::string_view key) const {
  const std::string where = given_.where(given_.has(key) ? key : "");
  const std::string table = given_.path();
  return fmt::format("{}{}{}", where.empty() ? "" : where + ": ", table.empty() ? "" : table + ".", key);
}

void ConfigTable::allow_one_of(const std::vector<std::string>& keys) const {
  std::string first;
  for (const std::string& key : keys) {
    if (!given_.has(key)) continue;
    if (!first.empty())
      refuse(key, fmt::format("excludes \"{}\", which is given as well; keep one of them", first));
    first = key;
  }
}

void ConfigTable::refuse(std::string_view key, const std::string& text) const {
  throw core::ConfigError("configuration", "{}: {}", place(key), text);
}

}  // namespace lodestone::mt_invert::config
