// SPDX-License-Identifier: Apache-2.0
#include "io/occam2d/data.hpp"
#include "io/occam2d/types.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

namespace lodestone::io::occam2d {
namespace {

using physics::mt::Datum;
using physics::mt::not_given;
using physics::mt::StationData;

constexpr const char* reader = "io::occam2d::read_data";
constexpr const char* format_name = "occam2mtdata_";
constexpr int most_rows = 100'000'000;  ///< limit of a list; a larger number is no count

/// "OFFSETS (M): 1 2" → {"offsets", "1 2"}.
struct Entry {
  std::string key{};  ///< first word in lower case
  std::string_view value{};
};
Entry entry_of(std::string_view line) {
  const auto colon = line.find(':');
  const auto words = text::words(line.substr(0, colon));
  if (colon == std::string_view::npos || words.empty()) return {};
  return {text::lower(words.front()), text::trimmed(line.substr(colon + 1))};
}

class OccamReader {
 public:
  OccamReader(const std::string& bytes, const std::string& path, const Options& options)
      : lines_(bytes, path, reader, "!"), path_(path), options_(options) {}

  std::vector<StationData> read() {
    lines_.require_next("\"FORMAT: OCCAM2MTDATA_1.0\"");
    read_version();
    while (lines_.next() && !has_table_) read_entry(entry_of(lines_.text()));
    if (n_data_ == 0)
      lines_.refuse("no_datum", "expected rows of types 1 to 6, 9 or 10 below \"DATA BLOCKS:\", found none");
    add_remarks(stations_.front().remarks);
    for (StationData& station : stations_) {
      station.sort();
      station.drop_zero_tippers();
    }
    return std::move(stations_);
  }

 private:
  void read_version() {
    const Entry entry = entry_of(lines_.text());
    const std::string version = text::lower(entry.value);
    if (entry.key != "format" || (version != "occam2mtdata_1.0" && version != "occam2mtdata_2.0"))
      lines_.refuse("unknown_version", fmt::format("expected \"FORMAT: OCCAM2MTDATA_1.0\" or 2.0, got \"{}\"",
                                                   text::printable(lines_.text())));
  }

  void read_entry(const Entry& entry) {
    if (entry.key == "title") return;
    if (entry.key == "sites") return read_sites(entry.value);
    if (entry.key == "offsets") return read_offsets(entry.value);
    if (entry.key == "frequencies") return read_frequencies(entry.value);
    if (entry.key == "data") return read_table(entry.value);
    lines_.refuse("unknown_entry",
                  fmt::format("expected TITLE, SITES, OFFSETS (M), FREQUENCIES or DATA BLOCKS with a colon, "
                              "got \"{}\"; does the count above fit its list?",
                              text::printable(lines_.text())));
  }

  int count(std::string_view value, const char* what) const {
    return lines_.whole(value, what, 1, most_rows);
  }

  void read_sites(std::string_view value) {
    if (!stations_.empty())
      lines_.refuse("second_sites", "expected \"SITES:\" once, got it again; are these two files in one?");
    std::set<std::string> taken;
    for (int n = count(value, "a number of sites"); n > 0; --n) {
      lines_.require_next("the name of a site");
      StationData& station = stations_.emplace_back();
      station.site.name = text::untaken_name(lines_.name(lines_.text()), taken);
      station.site.latitude_deg = station.site.longitude_deg = station.site.elevation_m = not_given;
      station.path = path_;
      station.format = "Occam2D data";
      station.sign_in_file = options_.sign == physics::mt::TimeFactor::minus ? "-" : "+";
      station.units_in_file = "ohm m";
    }
  }

  /// Reads numbers that begin behind a colon or on the next line, in lines of any length.
  std::vector<double> read_list(std::string_view first, std::size_t n, const std::string& what, double most) {
    std::vector<double> list;
    std::vector<std::string_view> row = text::words(first);
    while (list.size() < n) {
      for (const auto word : row) list.push_back(lines_.within(word, what, most));
      if (list.size() >= n) break;
      lines_.require_next(fmt::format("{} more: {} of {}", what, list.size() + 1, n));
      row = text::words(lines_.text());
    }
    if (list.size() > n)
      lines_.refuse("too_many", fmt::format("expected {} numbers in the list, got {}", n, list.size()));
    return list;
  }

  void read_offsets(std::string_view value) {
    if (stations_.empty()) lines_.refuse("no_sites", "expected \"SITES:\" before the offsets, found none");
    const auto offsets =
        read_list(value, stations_.size(), "an offset in m", physics::mt::largest_coordinate_m);
    for (std::size_t i = 0; i < offsets.size(); ++i) stations_[i].site.y_m = offsets[i];
    has_offsets_ = true;
  }

  void read_frequencies(std::string_view value) {
    const auto words = text::words(value);
    const auto n =
        static_cast<std::size_t>(count(words.empty() ? value : words.front(), "a number of frequencies"));
    const auto rest = words.size() < 2
                          ? std::string_view{}
                          : value.substr(static_cast<std::size_t>(words[1].data() - value.data()));
    frequencies_hz_ = read_list(rest, n, "a frequency in Hz", physics::mt::largest_frequency_hz);
    for (const double frequency : frequencies_hz_) {
      if (!physics::mt::is_in_frequency_range(frequency))
        lines_.refuse(
            "frequency_not_positive",
            fmt::format("expected frequencies from {:g} to {:g} Hz, got {:g}",
                        physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, frequency));
    }
  }

  void read_table(std::string_view value) {
    if (!has_offsets_ || frequencies_hz_.empty())
      lines_.refuse("early_table",
                    "expected SITES, OFFSETS (M) and FREQUENCIES before \"DATA BLOCKS:\", which lacks one");
    has_table_ = true;
    n_announced_ = count(value, "a number of data");
    if (text::lower(lines_.peek()).starts_with("site")) (void)lines_.next();
    while (lines_.next()) read_row(text::words(lines_.text()));
  }

  void read_row(const std::vector<std::string_view>& row) {
    if (row.size() != 4 && row.size() != 5)
      lines_.refuse("wrong_columns",
                    fmt::format("expected 5 columns (SITE FREQ TYPE DATUM ERROR), got {}; is the file cut "
                                "off?",
                                row.size()));
    ++n_rows_;
    const int site = lines_.whole(row[0], "a site number", 1, static_cast<int>(stations_.size()));
    const int frequency =
        lines_.whole(row[1], "a frequency number", 1, static_cast<int>(frequencies_hz_.size()));
    const int code = lines_.whole(row[2], "a data type", 0, 9999);
    const Type* type = type_of(code);
    if (type == nullptr) {
      ++n_skipped_[code];
      return;
    }
    const double value = lines_.finite(row[3], "a datum");
    double error = row.size() == 5 ? lines_.finite(row[4], "an error") : not_given;
    if (row.size() == 4) ++n_without_error_;
    if (error < 0.0) {
      ++n_negative_;
      error = not_given;
    }
    add(stations_[static_cast<std::size_t>(site - 1)],
        {type->datum,
         frequencies_hz_[static_cast<std::size_t>(frequency - 1)],
         value_of(type->form, value),
         sigma_of(type->form, value, error),
         {}});
  }

  void add(StationData& station, physics::mt::Reading reading) {
    has_tipper_ = has_tipper_ || reading.datum == Datum::tzy_re || reading.datum == Datum::tzy_im;
    if (reading.datum == Datum::tzy_im && options_.sign == physics::mt::TimeFactor::minus)
      reading.value = -reading.value;
    if (!station.add(reading))
      lines_.refuse("second_value",
                    fmt::format("expected one value of each kind per site and frequency, got a second {} of "
                                "site {}",
                                name_of(reading.datum), station.site.name));
    ++n_data_;
  }

  void add_remarks(std::vector<physics::mt::Remark>& remarks) const {
    const auto say = [&](const std::string& text) { remarks.emplace_back(path_ + ": " + text); };
    if (n_rows_ != n_announced_)
      say(fmt::format("DATA BLOCKS announces {} rows, but {} follow; all of them were read", n_announced_,
                      n_rows_));
    if (n_negative_ > 0) remarks.push_back(physics::mt::remark_on_negative_errors(path_, n_negative_));
    if (n_without_error_ > 0) say(fmt::format("{} data have no error", n_without_error_));
    for (const auto& [code, n] : n_skipped_)
      say(fmt::format("left out {} rows of type {}, which is none of 1 to 6, 9 and 10", n, code));
    if (has_tipper_ && options_.sign == physics::mt::TimeFactor::vote)
      say("the file does not state the time factor of its tippers; e^(+iwt) was assumed");
  }

  text::LineReader lines_;
  std::string path_;
  Options options_;
  std::vector<StationData> stations_;
  std::vector<double> frequencies_hz_;
  bool has_offsets_ = false, has_table_ = false, has_tipper_ = false;
  int n_announced_ = 0, n_rows_ = 0, n_data_ = 0, n_negative_ = 0, n_without_error_ = 0;
  std::map<int, int> n_skipped_;  ///< rows by type
};

}  // namespace

std::vector<StationData> read_data(const std::string& path, const Options& options) {
  const std::string bytes = text::read_text(path);
  return OccamReader(bytes, path, options).read();
}

bool is_occam2d_data(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '!') continue;
    const Entry entry = entry_of(text);
    return entry.key == "format" && text::lower(entry.value).starts_with(format_name);
  }
  return false;
}

}  // namespace lodestone::io::occam2d
