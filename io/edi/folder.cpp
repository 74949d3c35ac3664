// SPDX-License-Identifier: Apache-2.0
#include "engine/core/log.hpp"
#include "engine/core/options.hpp"
#include "io/edi/reader.hpp"
#include "io/text/scan.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace lodestone::io::edi {
namespace {

using physics::mt::TransferFunctions;
namespace fs = std::filesystem;

constexpr const char* component = "io::read_edi_folder";

std::vector<std::string> edi_files_of(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw core::FileError(component, "{}: expected a folder of EDI files, got {}; check the path", folder,
                          fs::exists(folder, error) ? "a file" : "nothing");
  }
  std::vector<std::string> paths;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (text::lower(it->path().extension().string()) == ".edi") paths.push_back(it->path().string());
  }
  if (error)
    throw core::FileError(component, "{}: the folder cannot be read ({}); check its permissions", folder,
                          error.message());
  if (paths.empty())
    throw core::FileError(component,
                          "{}: expected files named *.edi in this folder, got none; check the path", folder);
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Later stations of the same name get "_2", "_3" …
void make_names_unique(std::vector<TransferFunctions>& stations) {
  std::set<std::string> taken;
  for (auto& station : stations) {
    const std::string name = station.name;
    for (int suffix = 2; !taken.insert(station.name).second; ++suffix)
      station.name = fmt::format("{}_{}", name, suffix);
    if (station.name == name) continue;
    station.warnings.push_back(fmt::format("{}:1: another station is named {}; this one was renamed {}",
                                           station.path, name, station.name));
  }
}

std::vector<TransferFunctions> in_order(std::vector<TransferFunctions> stations,
                                        const std::vector<std::string>& order) {
  if (order.empty()) return stations;
  std::vector<std::string> names;
  for (const auto& s : stations) names.push_back(s.name);
  std::vector<TransferFunctions> out;
  for (const auto& name : order) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const auto near = core::nearest_word(name, names);
      throw core::ConfigError(
          component, "the station order names \"{}\", which no readable file holds{}", name,
          near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; check the names with `info`"));
    }
    out.push_back(stations[static_cast<std::size_t>(found - names.begin())]);
  }
  return out;
}

}  // namespace

EdiFolder read_edi_files(const std::vector<std::string>& paths, const EdiFolderOptions& options) {
  EdiFolder out;
  for (const auto& path : paths) {
    try {
      out.stations.push_back(read_edi(path, options.edi));
    } catch (const core::Error& error) {
      out.skipped.push_back({path, error.what(), error.exit_code()});
      core::log::warning("skipped {}: {}", path, error.what());
    }
  }
  if (out.stations.empty()) {
    const std::string text =
        fmt::format("none of {} EDI files could be read{}", paths.size(),
                    out.skipped.empty() ? std::string() : "; the first said: " + out.skipped.front().reason);
    if (!out.skipped.empty() && out.skipped.front().code == core::ExitCode::format)
      throw core::FormatError(component, "{}", text);
    throw core::FileError(component, "{}", text);
  }
  make_names_unique(out.stations);
  out.stations = in_order(std::move(out.stations), options.station_order);
  return out;
}

EdiFolder read_edi_folder(const std::string& folder, const EdiFolderOptions& options) {
  return read_edi_files(edi_files_of(folder), options);
}

}  // namespace lodestone::io::edi
