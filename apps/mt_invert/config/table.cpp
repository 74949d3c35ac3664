// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/table.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"

#include <filesystem>

namespace lodestone::mt_invert::config {
namespace {

/// Returns the path of what there is. The configuration is text: where a name on the disk has bytes that are
/// no UTF-8, they were read as Windows-1252.
std::filesystem::path as_on_disk(const std::filesystem::path& path) {
  std::filesystem::path found;
  std::error_code ignored;
  for (const std::filesystem::path& name : path) {
    const std::string bytes = core::windows_1252_of(name.string());
    const bool is_other = !std::filesystem::exists(found / name, ignored) && !bytes.empty() &&
                          std::filesystem::exists(found / bytes, ignored);
    found /= is_other ? std::filesystem::path(bytes) : name;
  }
  return found;
}

}  // namespace

ConfigTable::ConfigTable(core::Options given, std::string folder)
    : given_(std::move(given)), folder_(std::move(folder)) {}
ConfigTable::ConfigTable(core::Options given, core::Options effective, std::string folder)
    : given_(std::move(given)), effective_(std::move(effective)), folder_(std::move(folder)) {}

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

std::string ConfigTable::resolved(const std::string& path) const {
  if (path.empty()) return path;
  const std::string full = folder_.empty() ? path : (std::filesystem::path(folder_) / path).string();
  std::error_code ignored;
  return std::filesystem::exists(full, ignored) ? full : as_on_disk(full).string();
}

std::vector<std::string> ConfigTable::resolved(std::vector<std::string> paths) const {
  for (std::string& each : paths) each = resolved(each);
  return paths;
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
      refuse(key, "exclusive_keys",
             fmt::format("excludes \"{}\", which is given as well; keep one of them", first));
    first = key;
  }
}

void ConfigTable::refuse_unless(const std::string& needed, std::string_view key) const {
  if (has(key)) refuse(key, "not_chosen", fmt::format("needs {}; change that or remove this key", needed));
}

void ConfigTable::refuse(std::string_view key, std::string_view id, const std::string& text) const {
  throw core::ConfigError(fmt::format("configuration#{}", id), "{}: {}", place(key), text);
}

}  // namespace lodestone::mt_invert::config
