// SPDX-License-Identifier: Apache-2.0
#include "io/survey/write.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/edi/writer.hpp"
#include "io/emtf/xml.hpp"
#include "io/geodesy/profile.hpp"
#include "io/jones/jones.hpp"
#include "io/mare2dem/data.hpp"
#include "io/modem/modem.hpp"
#include "io/modem/words.hpp"
#include "io/occam2d/data.hpp"
#include "io/survey/observe.hpp"
#include "io/survey/profile_files.hpp"
#include "io/survey/rows_csv.hpp"
#include "io/survey/store.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/wsinv/data.hpp"
#include "io/zfile/zfile.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::StationData;

struct Ending {
  WriteFormat format;
  const char* ending;
};
constexpr std::array<Ending, 7> endings{{{WriteFormat::survey, ".h5"},
                                         {WriteFormat::edi, ".edi"},
                                         {WriteFormat::emtf, ".xml"},
                                         {WriteFormat::zfile, ".zmm"},
                                         {WriteFormat::jones, ".j"},
                                         {WriteFormat::modem, ".dat"},
                                         {WriteFormat::csv, ".csv"}}};

mt::Written text_of(const StationData& station, WriteFormat format) {
  if (format == WriteFormat::edi) return edi::text_of(station);
  if (format == WriteFormat::emtf) return emtf::text_of(station);
  return format == WriteFormat::zfile ? zfile::text_of(station) : jones::text_of(station);
}

/// Returns a name that every file system takes.
std::string file_name(const std::string& site) {
  std::string name = site;
  for (char& c : name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '_' || c == '-' || c == '.';
    if (!is_plain) c = '_';
  }
  if (name.empty() || name.front() == '.') name.insert(name.begin(), '_');
  return name;
}

/// Counts the stations of which a part is lost.
class Losses {
 public:
  void add(const std::vector<std::string>& lost) {
    for (const std::string& each : lost) ++stations_[each];
  }
  [[nodiscard]] std::vector<std::string> in_words() const {
    std::vector<std::string> out;
    for (const auto& [what, n] : stations_)
      out.push_back(n == 1 ? what : fmt::format("{} ({} stations)", what, n));
    return out;
  }

 private:
  std::map<std::string, int> stations_;
};

bool has_elements(const StationData& station) {
  return std::ranges::any_of(station.rows, [](const mt::StationRow& row) {
    return std::ranges::any_of(mt::all_elements, [&](mt::Element each) { return !row.is_missing(each); });
  });
}

/// Returns the names of the data that stations state beside impedances and tippers.
std::string names_of_readings(const std::vector<StationData>& stations) {
  std::set<mt::Datum> data;
  for (const StationData& station : stations)
    for (const mt::Reading& reading : station.readings) data.insert(reading.datum);
  std::vector<std::string_view> names;
  for (const mt::Datum datum : data) names.push_back(name_of(datum));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Refuses stations of which a format of impedances and tippers holds nothing.
void require_elements(const std::vector<StationData>& stations, WriteFormat format) {
  if (std::ranges::any_of(stations, has_elements)) return;
  throw core::InvalidArgument(
      "io::survey::write#nothing_held",
      "expected impedances or tippers, which are all that {} holds, but the stations have {} alone; write a "
      "survey file (a name that ends in .h5), or data of ModEM (.dat), which has a block for phase tensors",
      core::word(format), names_of_readings(stations));
}

WriteResult write_each(const std::string& path, const std::vector<StationData>& stations,
                       WriteFormat format) {
  const std::string ending = std::ranges::find(endings, format, &Ending::format)->ending;
  const bool is_file = text::lower(path).ends_with(ending);
  if (is_file && stations.size() > 1)
    throw core::InvalidArgument(
        "io::survey::write#one_file",
        "expected a folder for {} stations, as a file of this format holds one, got {}; "
        "give a name without its ending",
        stations.size(), path);
  require_elements(stations, format);
  WriteResult result;
  Losses losses;
  if (!is_file) core::make_folder(path);
  std::map<std::string, int> taken;
  for (const StationData& station : stations) {
    if (!has_elements(station)) {
      losses.add({"stations without impedances and tippers"});
      continue;
    }
    std::string name = file_name(station.site.name);
    if (const int before = taken[name]++; before > 0) name += fmt::format("_{}", before + 1);
    result.paths.push_back(is_file ? path : (std::filesystem::path(path) / (name + ending)).string());
    const mt::Written written = text_of(station, format);
    losses.add(written.lost);
    text::write_bytes_atomically(result.paths.back(), written.text);
  }
  result.lost = losses.in_words();
  return result;
}

/// Returns whether ModEM's 3-D files state the datum as such.
bool has_block(mt::Datum datum) {
  return std::ranges::any_of(modem::modem_blocks(), [datum](const modem::ModemBlock& block) {
    return block.dimension == 3 && block.is_real &&
           std::ranges::count(block.components, datum, &modem::ModemComponent::datum) > 0;
  });
}

/// Returns what ModEM's 3-D files have a block for, of what stations state.
std::vector<mt::Datum> data_with_block(const std::vector<StationData>& stations) {
  std::set<mt::Datum> data;
  for (const StationData& station : stations) {
    for (const mt::StationRow& row : station.rows) {
      for (const mt::Element element : mt::all_elements) {
        if (row.is_missing(element)) continue;
        data.insert(mt::real_part_of(element));
        data.insert(mt::partner_of(mt::real_part_of(element)));
      }
    }
    for (const mt::Reading& reading : station.readings)
      if (has_block(reading.datum)) data.insert(reading.datum);
  }
  return {data.begin(), data.end()};
}

/// Masks what follows from impedances but is not stated by a station itself.
void mask_derived(mt::Observations& data) {
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k)
    if (mt::is_derived(data, data.survey.keys[k])) data.reason[k] = mt::MaskReason::listed;
}

/// Returns in words how many data of a station have no block of ModEM, or lie in another frame than its map.
std::vector<std::string> readings_lost(const StationData& station, double azimuth_deg) {
  std::set<std::string> lost;
  for (const mt::Reading& reading : station.readings) {
    if (!has_block(reading.datum))
      lost.emplace(name_of(reading.datum));
    else if (reading.azimuth_deg &&
             std::abs(std::remainder(*reading.azimuth_deg - azimuth_deg, 360.0)) > mt::same_azimuth_deg)
      lost.insert(fmt::format("{} along {:g} degrees on a map with x along {:g}", name_of(reading.datum),
                              *reading.azimuth_deg, azimuth_deg));
  }
  return {lost.begin(), lost.end()};
}

/// Returns the units that all files of the stations have, which give back the same bits.
modem::ModemUnits units_of(const std::vector<StationData>& stations) {
  const std::string& first = stations.front().units_in_file;
  const bool is_same = std::ranges::all_of(
      stations, [&](const StationData& station) { return station.units_in_file == first; });
  for (const auto units : {modem::ModemUnits::volt_per_metre_per_tesla, modem::ModemUnits::ohm})
    if (is_same && first == modem::short_name_of(units)) return units;
  return modem::ModemUnits::millivolt_per_kilometre_per_nanotesla;
}

/// Returns the options of a map whose axes are those to which data were rotated. errors: InvalidArgument for
/// stations whose file has a map of its own with other axes.
mt::ProfileOptions map_options(const std::vector<StationData>& stations, const Placing& placing) {
  mt::ProfileOptions options = placing.line;
  if (!placing.strike_deg) return options;
  for (const StationData& station : stations) {
    if (station.local_frame && std::abs(std::remainder(station.local_frame->azimuth_deg - *placing.strike_deg,
                                                       360.0)) > mt::same_azimuth_deg)
      throw core::InvalidArgument("io::survey::write#own_axes",
                                  "expected axes of the map that {} states, x along {:g} degrees, got {:g}; "
                                  "leave the rotation out, or "
                                  "write EDI files, a survey file or CSV",
                                  station.path, station.local_frame->azimuth_deg, *placing.strike_deg);
  }
  options.azimuth_deg = *placing.strike_deg + 90.0;
  return options;
}

/// Returns the axes to which all stations were turned on demand, as a survey file keeps it; nothing where
/// some were not, or to others.
std::optional<double> kept_axes(const std::vector<StationData>& stations) {
  const auto is_turned = [](const StationData& station) { return std::isfinite(station.turned_to_deg); };
  if (std::ranges::none_of(stations, is_turned)) return {};
  const double first_deg = stations.front().turned_to_deg;
  const bool is_one = std::ranges::all_of(stations, [&](const StationData& station) {
    return std::abs(std::remainder(station.turned_to_deg - first_deg, 360.0)) <= mt::same_azimuth_deg;
  });
  if (is_one) return first_deg;
  core::log::warning(
      core::log::Id("io::survey::write#several_axes"),
      "not all stations were rotated, or not to one axis, so that none holds; choose one with --rotate");
  return {};
}

/// Takes over the axes to which stations were rotated before, unless others are chosen or a file states the
/// axes of its map.
void keep_axes(const std::vector<StationData>& stations, WriteFormat format, Placing& placing) {
  if (placing.strike_deg) return;
  const std::optional<double> kept_deg = kept_axes(stations);
  if (!kept_deg) return;
  const auto has_other_map = [&](const StationData& station) {
    return station.local_frame && std::abs(std::remainder(station.local_frame->azimuth_deg - *kept_deg,
                                                          360.0)) > mt::same_azimuth_deg;
  };
  const auto other = std::ranges::find_if(stations, has_other_map);
  if (!is_of_profile(format) && other != stations.end()) {
    core::log::warning(
        core::log::Id("io::survey::write#turned_back"),
        "x and y of {} are those of {}, so tensors are turned to its x axis, {:g} degrees, from "
        "the {:g} degrees to which they were rotated",
        core::word(format), other->path, other->local_frame->azimuth_deg, *kept_deg);
    return;
  }
  core::log::info("tensors keep x along {:g} degrees, to which they were rotated; --rotate chooses otherwise",
                  *kept_deg);
  placing.strike_deg = kept_deg;
}

/// Writes what ModEM has blocks for: impedances, tippers, inter-station functions, phase tensors, apparent
/// resistivities and phases at the periods of any station.
WriteResult write_modem(const std::string& path, const std::vector<StationData>& stations,
                        const mt::ProfileOptions& map) {
  mt::Selection selection{.data = data_with_block(stations),
                          .frequencies = mt::FrequencyChoice::all,
                          .frequency_tolerance = mt::same_frequency,
                          .floors = {},
                          .min_phase_deg = -180.0,
                          .max_phase_deg = 180.0,
                          .keeps_without_error = true,
                          .same_place_m = 0.0};
  if (selection.data.empty())
    throw core::InvalidArgument("io::survey::write#nothing_held",
                                "expected data that ModEM has a block for, but the stations have {} alone; "
                                "write a survey file (a name that ends in .h5)",
                                names_of_readings(stations));
  mt::Observations data = observe_on_map(stations, map, selection);
  mask_derived(data);
  modem::write_data(path, data,
                    {.units = units_of(stations), .dimension = 3, .comment = "transfer functions"});
  Losses losses;
  for (const StationData& station : stations) {
    if (std::isfinite(station.site.elevation_m) && !std::isfinite(station.site.z_m))
      losses.add({"elevations, in whose place Z is 0"});
    losses.add(mt::not_held(station, {.interstation = true, .readings = true, .local_places = true}));
    losses.add(readings_lost(station, data.azimuth_deg));
  }
  return {{path}, losses.in_words()};
}

/// Writes stations at the places of a map, turned to its axes.
WriteResult write_wsinv(const std::string& path, const std::vector<StationData>& stations,
                        const mt::ProfileOptions& options) {
  require_elements(stations, WriteFormat::wsinv);
  const mt::Profile map = geodesy::map(stations, options);
  std::vector<StationData> placed = stations;
  Losses losses;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    placed[i].site.x_m = map.offset_m[i];
    placed[i].site.y_m = map.y_m[i];
    mt::rotate_rows(placed[i], map.azimuth_deg - 90.0);
    losses.add(mt::not_held(stations[i], {.local_places = true}));
  }
  mt::Written written = wsinv::text_of(placed);
  text::write_bytes_atomically(path, written.text);
  std::ranges::move(losses.in_words(), std::back_inserter(written.lost));
  return {{path}, written.lost};
}

WriteResult write_profile(const std::string& path, const std::vector<StationData>& stations,
                          WriteFormat format, const Placing& placing) {
  const ProfileData profile = profile_data(stations, format, placing);
  if (profile.data.n_used() == 0)
    throw core::InvalidArgument("io::survey::write#nothing_held",
                                "expected data that {} holds, found none; what it cannot hold: {}. Write a "
                                "survey file (a name that ends in .h5)",
                                core::word(format), fmt::join(profile.lost, "; "));
  if (format == WriteFormat::modem2d) {
    modem::write_data(path, profile.data,
                      {.units = units_of(stations), .dimension = 2, .comment = profile.title});
  } else {
    text::write_bytes_atomically(path, format == WriteFormat::occam2d
                                           ? occam2d::text_of(profile.data, profile.title)
                                           : mare2dem::text_of(profile.data, profile.title));
  }
  return {{path}, profile.lost};
}

}  // namespace

bool is_of_one_station(WriteFormat format) {
  using enum WriteFormat;
  return format == edi || format == emtf || format == zfile || format == jones;
}

bool is_of_profile(WriteFormat format) {
  using enum WriteFormat;
  return format == modem2d || format == mare2dem || format == occam2d;
}

std::optional<WriteFormat> format_of_ending(const std::string& path) {
  for (const Ending& each : endings)
    if (text::lower(path).ends_with(each.ending)) return each.format;
  return {};
}

WriteResult write(const std::string& path, const std::vector<StationData>& stations, WriteFormat format,
                  const Placing& given) {
  if (is_of_one_station(format)) return write_each(path, stations, format);
  Placing placing = given;
  if (is_of_profile(format) || format == WriteFormat::wsinv || format == WriteFormat::modem)
    keep_axes(stations, format, placing);
  if (is_of_profile(format)) return write_profile(path, stations, format, placing);
  if (format == WriteFormat::wsinv) return write_wsinv(path, stations, map_options(stations, placing));
  if (format == WriteFormat::modem) return write_modem(path, stations, map_options(stations, placing));
  if (format == WriteFormat::survey) {
    write_survey(path, stations);
    return {{path}, {}};
  }
  require_elements(stations, format);
  const mt::Written written = rows_csv_text(stations);
  text::write_bytes_atomically(path, written.text);
  return {{path}, written.lost};
}

}  // namespace lodestone::io::survey
