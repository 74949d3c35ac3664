// SPDX-License-Identifier: Apache-2.0
#include "io/survey/read.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/options.hpp"
#include "io/emtf/xml.hpp"
#include "io/femtic/observe.hpp"
#include "io/hdf5/file.hpp"
#include "io/mare2dem/data.hpp"
#include "io/modem/modem.hpp"
#include "io/mt2d/data.hpp"
#include "io/mth5/mth5.hpp"
#include "io/survey/rows_csv.hpp"
#include "io/survey/store.hpp"
#include "io/survey/unread.hpp"
#include "io/text/counted.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/wsinv/data.hpp"
#include "physics/mt/survey_votes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::StationData;
namespace fs = std::filesystem;

bool has_ending_of_edi(const std::string& path) { return text::lower(path).ends_with(".edi"); }

/// Warns of what a folder holds and is not read: subfolders, and files that are packed.
void tell_of_unread(const std::string& folder) {
  std::vector<std::string> folders, packed;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    if (entry.is_directory(ignored) && !name.starts_with('.')) folders.push_back(name);
    if (!entry.is_regular_file(ignored) || has_ending_of_edi(name)) continue;  // which reading refuses
    try {
      if (packed_kind(text::read_bytes_up_to(entry.path().string(), 16))) packed.push_back(name);
    } catch (const core::Error&) {  // a file that is not readable is no packed one
      continue;
    }
  }
  std::ranges::sort(folders);
  std::ranges::sort(packed);
  if (!folders.empty())
    core::log::warning(core::log::Id("io::survey::read#subfolders"),
                       "{} has {} that {} not searched, {}{}; name those with stations beside it", folder,
                       text::counted(folders.size(), "subfolder"), folders.size() == 1 ? "is" : "are",
                       folders.front(), folders.size() > 1 ? " first of all" : "");
  if (!packed.empty())
    core::log::warning(core::log::Id("io::survey::read#packed_files"),
                       "{} has {} that {} compressed, or text in UTF-16, and not read, {}{}; unpack them, or "
                       "save them as UTF-8",
                       folder, text::counted(packed.size(), "file"), packed.size() == 1 ? "is" : "are",
                       packed.front(), packed.size() > 1 ? " first of all" : "");
}

std::vector<std::string> edi_files_of(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw core::FileError("io::survey::read#not_a_folder",
                          "{}: expected a folder of EDI files, got {}; check the path", folder,
                          fs::exists(folder, error) ? "a file" : "nothing");
  }
  std::vector<std::string> paths;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (text::lower(it->path().extension().string()) == ".edi") paths.push_back(it->path().string());
  }
  if (error)
    throw core::FileError("io::survey::read#unreadable_folder",
                          "{}: the folder cannot be read ({}); check its permissions", folder,
                          error.message());
  tell_of_unread(folder);
  if (paths.empty())
    throw core::FileError("io::survey::read#no_edi_files",
                          "{}: expected files named *.edi in this folder, found none; check the path",
                          folder);
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool holds_stations(FileKind kind) {
  using enum FileKind;
  constexpr std::array kinds{edi,           emtf_xml,      z_file,  j_format,  zonge_avg,
                             modem_data_2d, modem_data_3d, emdata,  mt2d_data, occam2d_data,
                             femtic_data,   wsinv_data,    csv_rows};
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// Later stations of the same name get "_2", "_3" …
void make_names_unique(std::vector<StationData>& stations) {
  std::set<std::string> taken;
  for (auto& station : stations) {
    const std::string name = std::exchange(station.site.name, text::untaken_name(station.site.name, taken));
    if (station.site.name == name) continue;
    station.remarks.emplace_back(fmt::format("{}:1: another station is named {}; this one was renamed {}",
                                             station.path, name, station.site.name),
                                 physics::mt::RemarkKind::renamed, name);
  }
}

std::vector<StationData> in_order(std::vector<StationData> stations, const std::vector<std::string>& order) {
  if (order.empty()) return stations;
  std::vector<std::string> names;
  for (const auto& s : stations) names.push_back(s.site.name);
  std::vector<StationData> out;
  for (const auto& name : order) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const auto near = core::nearest_word(name, names);
      throw core::ConfigError(
          "io::survey::read#unknown_station",
          "the station order names \"{}\", which no readable file holds{}", name,
          near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; check the names with `info`"));
    }
    out.push_back(stations[static_cast<std::size_t>(found - names.begin())]);
  }
  return out;
}

/// Returns the kind by content, and by name where the content is damaged: an EDI file.
FileKind kind_of(const std::string& path, const ReadOptions& options) {
  if (options.kind) return *options.kind;
  const FileKind kind = kind_of_file(path);
  const bool is_damaged_edi =
      kind == FileKind::unknown && has_ending_of_edi(path) && !packed_kind(text::read_bytes_up_to(path, 16));
  return is_damaged_edi ? FileKind::edi : kind;
}

/// Returns true also for a file that cannot be looked into, so that reading it names what is wrong.
bool may_hold_stations(const std::string& file) {
  try {
    const FileKind kind = kind_of(file, {});
    if (kind == FileKind::unknown) return has_ending_of_edi(file);
    if (kind != FileKind::hdf5) return holds_stations(kind);
    const hdf5::Hdf5Source source(file);
    return is_survey(source) || mth5::is_mth5(source);
  } catch (const core::Error&) {
    return true;
  }
}

[[noreturn]] void refuse_kind(const std::string& path, FileKind kind) {
  refuse_unread(path);
  throw core::FormatError(
      "io::survey::read#not_stations",
      "{}:1: expected a file of stations (EDI, EMTF XML, Z-file, J-format, Zonge AVG, ModEM data, "
      "MARE2DEM data, MT2DData, Occam2D data, FEMTIC data, WSINV3DMT data, "
      "MTH5, CSV or a survey file), got {}; check the path",
      path, core::word(kind));
}

/// Reads a survey file. errors: those of `read_survey`; FormatError where all values are masked.
std::vector<StationData> read_stored(const std::string& path, const ReadOptions& options) {
  std::vector<StationData> stations = read_survey(path);
  if (options.keeps_masked_stations) return stations;
  const std::size_t n = std::erase_if(
      stations, [](const StationData& station) { return !station.has_value() && station.n_masked() > 0; });
  if (stations.empty() && n > 0)
    throw core::FormatError(
        "io::survey::read#all_masked",
        "{}: expected a value that is not masked, but those of all {} are; take some back with: mt_invert "
        "convert {} -o OUT.h5 --unmask SITE",
        path, text::counted(n, "station"), path);
  return stations;
}

std::vector<StationData> read_file(const std::string& path, const ReadOptions& options) {
  const FileKind kind = kind_of(path, options);
  switch (kind) {
    case FileKind::edi:
      return edi::read_all(path, options.edi);
    case FileKind::emtf_xml:
      return {emtf::read(path, options.emtf)};
    case FileKind::modem_data_2d:
    case FileKind::modem_data_3d:
      return modem::read_data(path);
    case FileKind::emdata:
      return mare2dem::read_data(path).stations;
    case FileKind::mt2d_data:
      return mt2d::read_data(path);
    case FileKind::occam2d_data:
      return occam2d::read_data(path, options.occam2d);
    case FileKind::femtic_data:
      return femtic::read_data(path, options.femtic);
    case FileKind::wsinv_data:
      return wsinv::read_data(path, options.wsinv);
    case FileKind::z_file:
      return {zfile::read(path, options.zfile)};
    case FileKind::j_format:
      return {jones::read(path, options.jones)};
    case FileKind::zonge_avg:
      return {zonge::read(path, options.zonge)};
    case FileKind::csv_rows:
      return read_rows_csv(path);
    case FileKind::hdf5:
      if (is_survey(hdf5::Hdf5Source(path))) return read_stored(path, options);
      if (mth5::is_mth5(hdf5::Hdf5Source(path))) return mth5::read(path, options.mth5);
      refuse_kind(path, kind);
    default:
      refuse_kind(path, kind);
  }
}

/// Files that could not be read.
struct Skipped {
  std::size_t n = 0;
  std::string reason;  ///< why the first one could not
  core::ExitCode code = core::ExitCode::format;
};

[[noreturn]] void refuse_all(const Skipped& skipped) {
  const std::string text =
      skipped.n == 1 ? "the only file could not be read: " + skipped.reason
                     : fmt::format("none of {} files could be read: the warnings above say why", skipped.n);
  if (skipped.code == core::ExitCode::format)
    throw core::FormatError("io::survey::read#nothing_readable", "{}", text);
  throw core::FileError("io::survey::read#nothing_readable", "{}", text);
}

/// The place of a station among the files that were read.
struct Source {
  std::string path;
  std::size_t index = 0;  ///< among the stations of the file
};

/// Sets what stations of one survey leave open by the vote of the others. A station that follows is read once
/// more with what was voted, so that it has the same bits as with the option.
void follow_survey(const std::vector<std::size_t>& members, std::vector<StationData>& stations,
                   const std::vector<Source>& sources, const ReadOptions& options) {
  std::vector<const StationData*> survey;
  for (const std::size_t member : members) survey.push_back(&stations[member]);
  const mt::SurveyVote units = mt::vote_on_units(survey), sign = mt::vote_on_sign(survey);
  std::map<std::size_t, mt::Conventions> followed;
  std::map<std::size_t, std::vector<mt::Remark>> remarks;
  for (const std::size_t k : units.open) {
    if (units.is_other()) followed[members[k]].units = mt::ImpedanceUnits::ohm;
    if (units.is_other()) remarks[members[k]].push_back(mt::remark_on_voted_units(*survey[k], units));
    if (units.is_in_doubt()) remarks[members[k]].push_back(mt::remark_on_open_units(*survey[k], units));
  }
  for (const std::size_t k : sign.open) {
    if (sign.is_other()) followed[members[k]].sign = mt::TimeFactor::minus;
    if (sign.is_other()) remarks[members[k]].push_back(mt::remark_on_voted_sign(sign));
    if (sign.is_in_doubt() && sign.n_other > 0) remarks[members[k]].push_back(mt::remark_on_open_sign(sign));
  }
  for (const auto& [at, conventions] : followed) {
    ReadOptions voted = options;
    choose(voted, conventions);
    stations[at] = read_file(sources[at].path, voted).at(sources[at].index);
  }
  for (const auto& [at, each] : remarks)
    for (const mt::Remark& remark : each) stations[at].remarks.push_back(remark.at(stations[at].path + ":1"));
  if (!remarks.empty())
    core::log::warning(core::log::Id("io::survey::read#survey_vote"), "{}{}",
                       stations[remarks.begin()->first].remarks.back().text,
                       remarks.size() > 1 ? fmt::format(" (likewise {} more)", remarks.size() - 1) : "");
}

/// Lets stations of one format in one folder follow their majority where they are in doubt.
void follow_surveys(std::vector<StationData>& stations, const std::vector<Source>& sources,
                    const ReadOptions& options) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> surveys;
  for (std::size_t k = 0; k < stations.size(); ++k)
    surveys[{fs::path(sources[k].path).parent_path().string(), stations[k].format}].push_back(k);
  for (const auto& [place, members] : surveys) follow_survey(members, stations, sources, options);
}

std::vector<StationData> read_each(const std::vector<std::string>& paths, const ReadOptions& options,
                                   const OnSkipped& on_skipped) {
  std::vector<StationData> stations;
  std::vector<Source> sources;
  Skipped skipped;
  for (const auto& path : paths) {
    try {
      std::size_t index = 0;
      for (StationData& station : read_file(path, options)) {
        stations.push_back(std::move(station));
        sources.push_back({path, index++});
      }
    } catch (const core::Error& error) {
      if (skipped.n++ == 0) skipped = {1, error.what(), error.exit_code()};
      if (on_skipped) on_skipped(path, error);
      if (paths.size() > 1)  // the error that follows says it of a file alone
        core::log::warning(core::log::Id("io::survey::read#file_skipped"), "skipped {}: {}", path,
                           error.what());
    }
  }
  if (stations.empty()) refuse_all(skipped);
  follow_surveys(stations, sources, options);
  return stations;
}

}  // namespace

void choose(ReadOptions& options, const mt::Conventions& chosen) {
  if (chosen.sign != mt::TimeFactor::vote) {
    for (auto* each : {&options.emtf, &options.femtic, &options.wsinv, &options.mth5})
      each->sign = chosen.sign;
    options.edi.sign = options.zfile.sign = options.jones.sign = options.zonge.sign = options.occam2d.sign =
        chosen.sign;
  }
  if (chosen.units == mt::ImpedanceUnits::vote) return;
  for (auto* each : {&options.emtf, &options.femtic, &options.wsinv, &options.mth5})
    each->units = chosen.units;
  options.edi.units = options.zfile.units = options.jones.units = chosen.units;
}

std::vector<std::string> station_files(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const std::string file = entry.path().string();
    if (!entry.is_regular_file(error)) continue;
    if (may_hold_stations(file)) paths.push_back(file);
  }
  tell_of_unread(path);
  if (paths.empty())
    throw core::FileError("io::survey::read#no_files",
                          "{}: expected files of stations in this folder, found none; check the path", path);
  std::ranges::sort(paths);
  return paths;
}

std::vector<StationData> read_files(const std::vector<std::string>& paths, const ReadOptions& options,
                                    const OnSkipped& skipped) {
  if (paths.empty())
    throw core::FileError("io::survey::read#no_file", "expected at least one file, got an empty list");
  std::vector<StationData> stations = read_each(paths, options, skipped);
  make_names_unique(stations);
  return in_order(std::move(stations), options.station_order);
}

std::vector<StationData> read_folder(const std::string& folder, const ReadOptions& options) {
  ReadOptions edi_only = options;
  edi_only.kind = FileKind::edi;
  return read_files(edi_files_of(folder), edi_only);
}

std::vector<StationData> read(const std::string& path, const ReadOptions& options) {
  std::error_code ignored;
  const bool may_be_edi = options.kind.value_or(FileKind::edi) == FileKind::edi;
  if (may_be_edi && fs::is_directory(path, ignored)) return read_folder(path, options);
  return in_order(read_file(path, options), options.station_order);
}

}  // namespace lodestone::io::survey
