// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/edi/damage.hpp"
#include "io/edi/file.hpp"
#include "io/edi/sections.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>
#include <utility>

namespace lodestone::io::edi {
namespace {

using physics::mt::Element;
using physics::mt::StationData;
using physics::mt::StationRow;

bool has_value(const StationRow& row) {
  return std::any_of(physics::mt::all_elements.begin(), physics::mt::all_elements.end(),
                     [&](Element element) { return !row.is_missing(element); });
}

/// Returns true when some frequency has only the off-diagonal elements, which cannot be rotated.
bool lacks_diagonal(const StationRow& row) {
  return (row.is_missing(Element::zxx) || row.is_missing(Element::zyy)) &&
         !(row.is_missing(Element::zxy) && row.is_missing(Element::zyx));
}

/// Remarks on tensors that do not stand in the frame of geographic north.
void remark_on_frames(EdiFile& file, const std::vector<StationRow>& rows) {
  const auto is_north = [](const StationRow& row) { return row.azimuths.hx_deg == 0.0; };
  if (std::all_of(rows.begin(), rows.end(), is_north)) return;
  const double first = rows.front().azimuths.hx_deg;
  const bool varies = std::any_of(rows.begin(), rows.end(),
                                  [first](const StationRow& row) { return row.azimuths.hx_deg != first; });
  if (std::none_of(rows.begin(), rows.end(), lacks_diagonal)) {
    file.warn(1,
              fmt::format("stands in the frame of the file's rotation angles ({} degrees{}) and is rotated "
                          "from there",
                          first, varies ? " at the first frequency" : ""));
  } else if (varies) {
    file.warn(1,
              "the tensor lacks elements and its frame varies; frequencies whose frame is not that of the "
              "data are missing");
  } else {
    file.warn(1,
              fmt::format("the tensor lacks its diagonal and cannot be rotated; it is of use in the file's "
                          "frame at {} degrees only",
                          first));
  }
}

bool has_impedance(const StationRow& row) {
  return std::ranges::any_of(physics::mt::all_elements, [&](Element element) {
    return is_impedance(element) && !row.is_missing(element);
  });
}

/// Returns true for the frequency that some writers put in place of a missing one.
bool is_filler(const StationRow& row, std::ptrdiff_t count) {
  constexpr double filler_hz = 999.0;
  return row.frequency_hz == filler_hz && (count > 1 || !has_impedance(row));
}

/// Returns the number of the first line that states a frequency of this kind: in >FREQ, or that of a
/// spectrum.
int line_of_frequency(const EdiFile& file, const std::function<bool(double)>& is_meant) {
  const auto states_one = [&](std::string_view text) {
    return std::ranges::any_of(text::words(text), [&](std::string_view word) {
      const auto value = text::number(word);
      return value && is_meant(*value);
    });
  };
  for (const EdiBlock& block : file.blocks) {
    const auto option = block.options.find("FREQ");
    if (block.name == "SPECTRA" && option != block.options.end() && states_one(option->second))
      return block.line;
    if (block.name != "FREQ") continue;
    for (const auto& [line, text] : block.lines) {
      if (states_one(text)) return line;
    }
  }
  return 1;
}

/// Remarks on frequencies that stand several times; of many such frequencies on the first ones.
class RepeatedFrequencies {
 public:
  explicit RepeatedFrequencies(EdiFile& file) : file_(file) {}
  void add(double hz, const std::string& text) {
    if (++n_ > most) return;
    file_.warn(line_of_frequency(file_, [hz](double each) { return each == hz; }), text);
  }
  /// Counts those without a remark of their own.
  void finish() {
    if (n_ > most) file_.warn(1, fmt::format("{} further frequencies stand several times", n_ - most));
  }

 private:
  static constexpr int most = 20;
  EdiFile& file_;
  int n_ = 0;
};

/// Keeps of rows with one frequency the first that has a value, and removes fillers.
void remove_repeated_frequencies(EdiFile& file, std::vector<StationRow>& rows) {
  RepeatedFrequencies repeated(file);
  auto kept = rows.begin();
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end =
        std::find_if(begin, rows.end(), [&](const auto& r) { return r.frequency_hz != begin->frequency_hz; });
    const bool filler = is_filler(*begin, end - begin);
    const auto first = std::find_if(begin, end, has_value);
    const double hz = begin->frequency_hz;
    if (filler)
      repeated.add(hz, fmt::format("frequency {} Hz ({} times) is a filler; left out", hz, end - begin));
    if (!filler && end - begin > 1)
      repeated.add(hz, fmt::format("frequency {} Hz stands {} times; the first is kept", hz, end - begin));
    if (!filler) {
      const auto chosen = first == end ? begin : first;
      if (kept != chosen) *kept = std::move(*chosen);
      ++kept;
    }
    begin = end;
  }
  rows.erase(kept, rows.end());
  repeated.finish();
}

void sort_and_check_frequencies(EdiFile& file, std::vector<StationRow>& rows) {
  const auto is_outside = [](double hz) { return !physics::mt::is_in_frequency_range(hz); };
  const auto unusable = [&](const StationRow& r) { return is_outside(r.frequency_hz); };
  const auto n_before = rows.size();
  rows.erase(std::remove_if(rows.begin(), rows.end(), unusable), rows.end());
  if (rows.size() < n_before)
    file.warn(
        line_of_frequency(file, is_outside),
        fmt::format("{} frequencies do not lie between {:g} and {:g} Hz; left out", n_before - rows.size(),
                    physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.frequency_hz > b.frequency_hz; });
  remove_repeated_frequencies(file, rows);
}

/// Returns the time factor that the text of the file states; vote where there is none.
physics::mt::TimeFactor stated_sign(const EdiFile& file) {
  for (const auto& block : file.blocks) {
    for (const auto& [line, text] : block.lines) {
      if (block.name != "INFO") continue;
      if (const auto sign = physics::mt::time_factor_in(text)) return *sign;
    }
  }
  return physics::mt::TimeFactor::vote;
}

/// Returns the text before the first numbers.
std::string header_of(const std::string& text) {
  std::string header;
  for (const std::string_view line : text::split_lines(text)) {
    const std::string word = text::upper(text::trimmed(line).substr(0, 9));
    if (word.starts_with(">FREQ") || word.starts_with(">SPECTRA")) break;
    header.append(line).push_back('\n');
  }
  return header;
}

void check_blocks_once(EdiFile& file) {
  for (std::size_t i = 0; i < file.blocks.size(); ++i) {
    const auto& block = file.blocks[i];
    const bool may_repeat = block.name == "HMEAS" || block.name == "EMEAS" || block.name == "SPECTRA" ||
                            block.name == "COH" || block.name == "PREDCOH";
    if (may_repeat || block.lines.empty()) continue;
    if (file.find(block.name) != &block)
      file.warn(block.line,
                fmt::format("block >{} stands twice; the first is used", text::printable(block.name)));
  }
}

void read_rows(EdiFile& file, const EdiHead& head, const EdiOptions& options, StationData& station) {
  if (file.find("SPECTRA")) {
    EdiSpectra spectra = read_edi_spectra(file, head);
    station.rows = std::move(spectra.rows);
    station.remote_reference = spectra.reference;
    return;
  }
  const double part_of_root =
      options.variance == EdiVariance::of_complex_element ? 1.0 / std::numbers::sqrt2 : 1.0;
  station.rows = read_edi_impedances(file, head, part_of_root);
}

StationData station_of(EdiFile file, const std::string& text, const EdiOptions& options) {
  const std::string& path = file.path;
  check_blocks_once(file);
  remark_on_damage(file);
  const EdiHead head = read_edi_head(file);
  StationData station;
  station.site.name = head.name;
  station.site.y_m = physics::mt::not_given;
  station.site.latitude_deg = head.latitude_deg;
  station.site.longitude_deg = head.longitude_deg;
  station.site.elevation_m = head.elevation_m;
  station.path = path;
  station.format = "EDI";
  station.header = header_of(text);
  read_rows(file, head, options, station);
  remark_on_frames(file, station.rows);
  sort_and_check_frequencies(file, station.rows);
  if (std::none_of(station.rows.begin(), station.rows.end(), has_value)) {
    throw core::FormatError("io::edi::read#no_values",
                            "{}:1: expected impedance, apparent resistivity, tipper or spectra blocks with "
                            "values, found none at {} frequencies",
                            path, station.rows.size());
  }
  for (const physics::mt::Remark& remark :
       physics::mt::convert(station, {options.sign, options.units}, {.sign = stated_sign(file)}))
    file.warn(1, remark);
  station.remarks = std::move(file.warnings);
  station.zero_tippers = std::move(file.zero_tippers);
  return station;
}

/// Notes that a station is one of several of its file, and makes its name that of no other.
void note_part(StationData& station, std::size_t n_parts, std::set<std::string>& taken) {
  const std::string name = std::exchange(station.site.name, text::untaken_name(station.site.name, taken));
  station.remarks.push_back(fmt::format(
      "{}:1: the file holds {} data sections; each is a station at the same place", station.path, n_parts));
  if (name != station.site.name)
    station.remarks.push_back(fmt::format("{}:1: another section is named {}; this one was renamed {}",
                                          station.path, name, station.site.name));
}

}  // namespace

std::vector<StationData> parse_all(const std::string& bytes, const std::string& path,
                                   const EdiOptions& options) {
  const std::string text = core::clean_text(bytes);
  std::vector<EdiFile> parts = parts_of(split_edi(text, path));
  std::set<std::string> taken;
  std::vector<StationData> stations;
  for (EdiFile& part : parts) {
    stations.push_back(station_of(std::move(part), text, options));
    if (parts.size() > 1) note_part(stations.back(), parts.size(), taken);
  }
  return stations;
}

std::vector<StationData> read_all(const std::string& path, const EdiOptions& options) {
  return parse_all(text::read_bytes(path), path, options);
}

StationData parse(const std::string& bytes, const std::string& path, const EdiOptions& options) {
  return std::move(parse_all(bytes, path, options).front());
}

StationData read(const std::string& path, const EdiOptions& options) {
  return parse(text::read_bytes(path), path, options);
}

}  // namespace lodestone::io::edi
