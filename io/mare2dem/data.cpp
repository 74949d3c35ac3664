// SPDX-License-Identifier: Apache-2.0
#include "io/mare2dem/data.hpp"

#include "engine/core/error.hpp"
#include "io/mare2dem/data_types.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace lodestone::io::mare2dem {
namespace {

using physics::mt::Datum;
using physics::mt::DatumKey;
using physics::mt::not_given;
using physics::mt::StationData;

constexpr const char* reader = "io::mare2dem::read_data";
constexpr int most_rows = 100'000'000;  ///< limit of a table; a larger number is no count

/// "# MT Receivers: 25" → {"# mt receivers", "25"}.
struct Entry {
  std::string name;
  std::string_view value;
};

std::optional<Entry> entry_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  std::string name;
  for (const auto word : text::words(line.substr(0, colon)))
    name += (name.empty() ? "" : " ") + text::lower(word);
  return Entry{name, text::trimmed(line.substr(colon + 1))};
}

/// A row of an amplitude or a phase.
struct Half {
  Uncertain datum;
  double response;
  std::string where;
};

class EmDataReader {
 public:
  EmDataReader(const std::string& bytes, const std::string& path)
      : lines_(bytes, path, reader, "!%"), path_(path) {}

  EmData read() {
    read_version();
    while (lines_.next()) {
      const auto entry = entry_of(lines_.text());
      if (!entry)
        lines_.refuse("not_an_entry",
                      fmt::format("expected \"name: value\", got \"{}\"", text::printable(lines_.text())));
      read_entry(*entry);
    }
    if (n_data_ == 0) lines_.refuse("no_mt_data", "expected MT data (types 103 to 136), found none");
    finish();
    return std::move(result_);
  }

 private:
  void read_version() {
    lines_.require_next("\"Format: EMData_2.2\"");
    const auto entry = entry_of(lines_.text());
    const std::string version =
        entry && (entry->name == "format" || entry->name == "version") ? text::lower(entry->value) : "";
    constexpr std::array<std::string_view, 4> numbers{"2.0", "2.1", "2.2", "2.3"};
    is_response_ = version.starts_with("emresp_");
    const auto tail = version.substr(std::min<std::size_t>(version.size(), 7));
    if ((!is_response_ && !version.starts_with("emdata_")) ||
        std::find(numbers.begin(), numbers.end(), tail) == numbers.end())
      lines_.refuse("unknown_version",
                    fmt::format("expected \"Format: EMData_2.0\" to 2.3 or EMResp, got \"{}\"",
                                text::printable(lines_.text())));
    result_.version = std::string(entry->value);
    // 2.1 added SolveStatic (and Name), 2.2 Length before it.
    n_receiver_numbers_ = tail == "2.0" ? 6 : tail == "2.1" ? 7 : 8;
  }

  void read_entry(const Entry& entry) {
    if (entry.name == "# mt frequencies") return read_frequencies(entry.value);
    if (entry.name == "# mt receivers") return read_receivers(entry.value);
    if (entry.name == "mt receiver names") return read_names();
    if (entry.name == "# data") return read_data(entry.value);
    if (entry.name == "phase" || entry.name == "phase convention") {
      result_.phase_convention = text::lower(entry.value);
    } else if (entry.name.starts_with("utm") || entry.name == "origin") {
      result_.origin = std::string(entry.value);
    } else if (entry.name.starts_with("#")) {
      for (int n = count(entry.value); n > 0; --n) lines_.require_next("a row of \"" + entry.name + "\"");
    }
  }

  int count(std::string_view value) const { return lines_.whole(value, "a count", 0, most_rows); }

  void read_frequencies(std::string_view value) {
    for (int n = count(value); n > 0; --n) {
      lines_.require_next("a frequency in Hz");
      const double frequency = lines_.finite(lines_.text(), "a frequency in Hz");
      if (!physics::mt::is_in_frequency_range(frequency))
        lines_.refuse(
            "frequency_not_positive",
            fmt::format("expected a frequency from {:g} to {:g} Hz, got {:g}",
                        physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, frequency));
      frequencies_hz_.push_back(frequency);
    }
  }

  void read_receivers(std::string_view value) {
    for (int n = count(value); n > 0; --n) {
      lines_.require_next("a receiver");
      const auto row = text::words(lines_.text());
      if (row.size() < 6)
        lines_.refuse("wrong_receiver",
                      fmt::format("expected X Y Z Theta Alpha Beta …, got {} columns", row.size()));
      const auto named = static_cast<std::size_t>(n_receiver_numbers_);
      StationData& station = stations().emplace_back();
      station.site.name = row.size() > named ? lines_.name(row[named]) : fmt::format("{}", stations().size());
      static_cast<void>(lines_.within(row[0], "X in m", physics::mt::largest_coordinate_m));
      station.site.y_m = lines_.within(row[1], "Y in m", physics::mt::largest_coordinate_m);
      station.site.z_m = lines_.within(row[2], "Z in m", physics::mt::largest_coordinate_m);
      static_cast<void>(lines_.within(row[4], "Alpha in degrees", physics::mt::largest_angle_deg));
      station.site.tilt_deg = lines_.within(row[5], "Beta in degrees", physics::mt::largest_angle_deg);
      station.site.latitude_deg = station.site.longitude_deg = station.site.elevation_m = not_given;
      if (station.site.tilt_deg != 0.0) station.site.definition = physics::mt::Definition::slope_parallel;
      if (lines_.within(row[3], "Theta in degrees", physics::mt::largest_angle_deg) != 0.0)
        turned_ += turned_.empty() ? station.site.name : ", " + station.site.name;
      station.path = path_;
      station.format = "MARE2DEM data";
      station.units_in_file = "ohm";
    }
  }

  void read_names() {
    for (StationData& station : stations()) {
      lines_.require_next("a receiver's name");
      station.site.name = lines_.name(lines_.text());
    }
  }

  void read_data(std::string_view value) {
    if (stations().empty() || frequencies_hz_.empty())
      lines_.refuse("no_receivers",
                    "expected \"# MT Receivers\" and \"# MT Frequencies\" before the data, found none; only "
                    "MT data can "
                    "be read");
    make_names_unique();
    if (is_response_) result_.responses = stations();
    for (int n = count(value); n > 0; --n) {
      lines_.require_next("a row of data");
      read_row(text::words(lines_.text()));
    }
    join_halves();
  }

  void read_row(const std::vector<std::string_view>& row) {
    const std::size_t n_columns = is_response_ ? 8 : 6;
    if (row.size() < n_columns)
      lines_.refuse("wrong_columns",
                    fmt::format("expected {} columns (Type Freq# Tx# Rx# Data StdErr{}), got {}", n_columns,
                                is_response_ ? " Response Residual" : "", row.size()));
    const int code = lines_.whole(row[0], "a data type", 0, 9999);
    const EmDataType* type = emdata_type(code);
    if (type == nullptr) {
      ++skipped_[code];
      return;
    }
    const int frequency =
        lines_.whole(row[1], "a frequency number", 1, static_cast<int>(frequencies_hz_.size())) - 1;
    const int station = lines_.whole(row[3], "a receiver number", 1, static_cast<int>(stations().size())) - 1;
    const int magnetic = lines_.whole(row[2], "a transmitter number", 0, most_rows) - 1;
    if (magnetic >= 0 && magnetic != station) {
      ++n_remote_;
      return;
    }
    const Uncertain datum =
        datum_of(type->form, {lines_.finite(row[4], "a datum"), lines_.finite(row[5], "an error")});
    const double response =
        is_response_ ? value_of(type->form, lines_.finite(row[6], "a response")) : not_given;
    const DatumKey key{type->quantity, frequency, station};
    if (is_polar(type->form)) return keep_half(key, {datum, response, lines_.here()});
    set(key, datum, response, lines_.here());
  }

  void set(const DatumKey& key, Uncertain datum, double response, const std::string& where) {
    const double frequency_hz = frequencies_hz_[static_cast<std::size_t>(key.frequency)];
    const auto place = static_cast<std::size_t>(key.station);
    if (datum.sigma < 0.0) {  // counts as none
      if (std::isfinite(datum.value)) ++n_negative_;
      datum.sigma = not_given;
    }
    if (!stations()[place].add({key.quantity, frequency_hz, datum.value, datum.sigma, {}})) {
      throw core::FormatError(
          "io::mare2dem::read_data#second_value",
          "{}: expected one value of each kind per station and frequency, got a second {} of station {}",
          where, name_of(key.quantity), stations()[place].site.name);
    }
    ++n_data_;
    if (is_response_)
      (void)result_.responses[place].add({key.quantity, frequency_hz, response, not_given, {}});
  }

  /// Amplitude and phase of a tipper wait for each other.
  void keep_half(const DatumKey& key, const Half& half) {
    auto& [amplitude, phase] = halves_[{key.frequency, key.station}];
    auto& kept = key.quantity == Datum::tzy_re ? amplitude : phase;
    if (kept)
      lines_.refuse(
          "second_half",
          fmt::format("expected one amplitude and one phase of the tipper per station and frequency, got a "
                      "second of station {}",
                      stations()[static_cast<std::size_t>(key.station)].site.name));
    kept = half;
  }

  void join_halves() {
    for (const auto& [place, halves] : halves_) {
      const auto& [amplitude, phase] = halves;
      if (!amplitude || !phase) {
        ++n_halves_;
        continue;
      }
      const auto parts = parts_of(amplitude->datum, phase->datum);
      const auto responses = parts_of({amplitude->response, 0.0}, {phase->response, 0.0});
      const auto [frequency, station] = place;
      set({Datum::tzy_re, frequency, station}, parts[0], responses[0].value, amplitude->where);
      set({Datum::tzy_im, frequency, station}, parts[1], responses[1].value, phase->where);
    }
    halves_.clear();
  }

  /// Names are what masks refer to.
  void make_names_unique() {
    std::set<std::string> taken;
    for (std::size_t i = 0; i < stations().size(); ++i) {
      std::string& name = stations()[i].site.name;
      if (!taken.insert(name).second) taken.insert(name += fmt::format("_{}", i + 1));
    }
  }

  void finish() {
    add_remarks(stations().front().remarks);
    for (StationData& station : stations()) {
      station.sort();
      station.drop_zero_tippers();
    }
    for (StationData& station : result_.responses) station.sort();
  }

  void add_remarks(std::vector<physics::mt::Remark>& remarks) const {
    if (n_negative_ > 0) remarks.push_back(physics::mt::remark_on_negative_errors(path_, n_negative_));
    if (!skipped_.empty()) {
      std::string list;
      for (const auto& [code, n] : skipped_)
        list += fmt::format("{}{} ({} rows)", list.empty() ? "" : ", ", code, n);
      remarks.push_back(
          fmt::format("{}: left out data of types {}: these are no 2-D magnetotelluric data", path_, list));
    }
    if (n_halves_ > 0)
      remarks.push_back(fmt::format(
          "{}: left out {} rows of types 135 and 136: an amplitude or phase of the tipper without the other",
          path_, n_halves_));
    if (n_remote_ > 0)
      remarks.push_back(fmt::format("{}: left out {} rows whose Tx# names another station's magnetic field",
                                    path_, n_remote_));
    if (!turned_.empty())
      remarks.push_back(
          fmt::format("{}: Theta of receivers {} is not 0 but taken as 0: x along strike", path_, turned_));
  }

  std::vector<StationData>& stations() { return result_.stations; }

  text::LineReader lines_;
  std::string path_;
  EmData result_;
  bool is_response_ = false;
  int n_receiver_numbers_ = 8, n_remote_ = 0, n_halves_ = 0, n_negative_ = 0, n_data_ = 0;
  std::vector<double> frequencies_hz_;
  std::map<std::pair<int, int>, std::pair<std::optional<Half>, std::optional<Half>>>
      halves_;                  ///< amplitude, phase by frequency, station
  std::map<int, int> skipped_;  ///< rows by type
  std::string turned_;          ///< names of receivers with a Theta
};

}  // namespace

EmData read_data(const std::string& path) {
  const std::string bytes = text::read_text(path);
  return EmDataReader(bytes, path).read();
}

std::optional<std::string> emdata_version(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '!' || text.front() == '%') continue;
    const auto entry = entry_of(text);
    if (!entry || (entry->name != "format" && entry->name != "version")) return {};
    const std::string value = text::lower(entry->value);
    if (value.starts_with("emdata_") || value.starts_with("emresp_"))
      return std::string(text::words(entry->value).front());
    return {};
  }
  return {};
}

}  // namespace lodestone::io::mare2dem
