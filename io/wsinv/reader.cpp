// SPDX-License-Identifier: Apache-2.0
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/wsinv/data.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lodestone::io::wsinv {
namespace {

using physics::mt::Element;
using physics::mt::not_given;
using physics::mt::StationData;

constexpr const char* reader = "io::wsinv::read_data";
constexpr int most_sites = 1'000'000, most_periods = 100'000;
constexpr double written_for_none = 1e9;  ///< errors from here on state that there is none

constexpr std::array all{Element::zxx, Element::zxy, Element::zyx, Element::zyy, Element::tzx, Element::tzy};

/// The numbers of one period: those of each station one after the other.
struct Period {
  double seconds;
  std::vector<double> data{}, errors{}, factors{};
};

/// Returns the numbers of a period that a header names: "DATA_Period", "ERROR_Period" or "ERMAP_Period".
std::vector<double>* list_of(Period& period, std::string_view header) {
  const std::string name = text::lower(header);
  if (name.starts_with("data_period")) return &period.data;
  if (name.starts_with("error_period")) return &period.errors;
  return name.starts_with("ermap_period") ? &period.factors : nullptr;
}

bool is_location(std::string_view line) { return text::lower(line).starts_with("station_location"); }

class WsinvReader {
 public:
  WsinvReader(const std::string& bytes, const std::string& path, const physics::mt::Conventions& chosen)
      : lines_(bytes, path, reader, ""), path_(path), chosen_(chosen) {}

  std::vector<StationData> read() {
    read_head();
    const std::vector<double> north_m = read_places("N-S"), east_m = read_places("E-W");
    while (lines_.next()) read_period();
    for (std::size_t i = 0; i < n_sites_; ++i) add_station(i, north_m[i], east_m[i]);
    for (const Period& period : periods_) add_rows(period);
    if (n_values_ == 0) lines_.refuse("no_value", "expected values that are not 0, found none");
    finish();
    return std::move(stations_);
  }

 private:
  void read_head() {
    lines_.require_next("the numbers of stations, periods and responses");
    const auto words = text::words(lines_.text());
    if (words.size() < 3)
      lines_.refuse("no_counts",
                    fmt::format("expected the numbers of stations, periods and responses, got {} "
                                "words",
                                words.size()));
    n_sites_ = static_cast<std::size_t>(lines_.whole(words[0], "a number of stations", 1, most_sites));
    n_periods_ = lines_.whole(words[1], "a number of periods", 1, most_periods);
    elements_ = elements_of(lines_.whole(words[2], "a number of responses", 1, 12));
    if (elements_.empty())
      lines_.refuse("unknown_responses", fmt::format("expected 4, 8 or 12 responses, got {}", words[2]));
  }

  std::vector<double> read_places(const char* axis) {
    lines_.require_next(fmt::format("\"Station_Location: {}\"", axis));
    if (!is_location(lines_.text()) || text::upper(lines_.text()).find(axis) == std::string::npos)
      lines_.refuse("no_location", fmt::format("expected \"Station_Location: {}\", got \"{}\"", axis,
                                               text::printable(lines_.text())));
    std::vector<double> places = read_list(n_sites_, "a place in m");
    for (const double place : places) {
      if (!physics::mt::is_in_coordinate_range(place))
        lines_.refuse("out_of_range", fmt::format("expected places from {:g} to {:g} m, got {:g}",
                                                  -physics::mt::largest_coordinate_m,
                                                  physics::mt::largest_coordinate_m, place));
    }
    return places;
  }

  /// Reads so many numbers, in lines of any length.
  std::vector<double> read_list(std::size_t n, const std::string& what) {
    std::vector<double> list;
    while (list.size() < n) {
      lines_.require_next(fmt::format("{}, number {} of {}", what, list.size() + 1, n));
      for (const auto word : text::touching_words(lines_.text())) list.push_back(lines_.finite(word, what));
    }
    if (list.size() > n)
      lines_.refuse("too_many", fmt::format("expected {} numbers in the list, got {}", n, list.size()));
    return list;
  }

  void read_period() {
    const auto line = lines_.text();
    const auto colon = line.find(':');
    Period none{};
    if (colon == std::string_view::npos || list_of(none, line) == nullptr)
      lines_.refuse(
          "no_period",
          fmt::format("expected \"DATA_Period: T\", \"ERROR_Period: T\" or \"ERMAP_Period: T\", got "
                      "\"{}\"; do the counts of the first line fit?",
                      text::printable(line)));
    const double seconds = lines_.finite(text::trimmed(line.substr(colon + 1)), "a period in s");
    if (!physics::mt::is_in_frequency_range(seconds))
      lines_.refuse("period_not_positive",
                    fmt::format("expected a period from {:g} to {:g} s, got {:g}",
                                physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, seconds));
    auto found = std::ranges::find(periods_, seconds, &Period::seconds);
    const bool is_data = list_of(none, line) == &none.data;
    if (found == periods_.end() && !is_data)
      lines_.refuse("no_data",
                    fmt::format("expected the data of the period {:g} s before its errors", seconds));
    if (found == periods_.end()) found = periods_.insert(periods_.end(), Period{seconds});
    std::vector<double>& list = *list_of(*found, line);
    if (!list.empty())
      lines_.refuse("second_list",
                    fmt::format("expected one such list of the period {:g} s, got a second", seconds));
    list = read_list(n_sites_ * 2 * elements_.size(), "a number of the period");
  }

  void add_station(std::size_t i, double north_m, double east_m) {
    StationData& station = stations_.emplace_back();
    station.site.name = fmt::format("{}", i + 1);
    station.site.x_m = north_m;
    station.site.y_m = east_m;
    station.site.latitude_deg = station.site.longitude_deg = station.site.elevation_m = not_given;
    station.path = path_;
    station.format = "WSINV3DMT data";
    station.local_frame = physics::mt::LocalFrame{};
  }

  void add_rows(const Period& period) {
    for (std::size_t i = 0; i < n_sites_; ++i) {
      for (std::size_t k = 0; k < elements_.size(); ++k) {
        const std::size_t at = 2 * (i * elements_.size() + k);
        if (period.data[at] == 0.0 && period.data[at + 1] == 0.0) {
          ++n_zero_;
          continue;
        }
        ++n_values_;
        physics::mt::StationRow& row = stations_[i].row_at(1.0 / period.seconds);
        row.values[elements_[k]] = {period.data[at], period.data[at + 1]};
        row.errors[elements_[k]] = sigma_at(period, at);
      }
    }
  }

  double sigma_at(const Period& period, std::size_t at) {
    const auto error = [&](std::size_t i) {
      const double factor = period.factors.empty() ? 1.0 : period.factors[i];
      const double stated = period.errors.empty() ? not_given : period.errors[i] * factor;
      return stated > 0.0 && stated < written_for_none ? stated : not_given;
    };
    const double real = error(at), imaginary = error(at + 1);
    if (std::isnan(real) || std::isnan(imaginary)) {
      ++n_without_error_;
      return not_given;
    }
    if (real == imaginary) return real;
    ++n_unequal_;
    return std::hypot(real, imaginary) / std::numbers::sqrt2;
  }

  void finish() {
    for (StationData& station : stations_) {
      station.sort();
      for (const physics::mt::Remark& remark :
           convert(station, chosen_, {physics::mt::TimeFactor::minus, physics::mt::ImpedanceUnits::ohm}))
        station.remarks.push_back(remark.at(path_));
      station.drop_zero_tippers();
    }
    const auto say = [&](bool is_so, const std::string& text) {
      if (is_so) stations_.front().remarks.push_back(path_ + ": " + text);
    };
    say(n_zero_ > 0, fmt::format("{} values are exactly 0; taken as missing", n_zero_));
    say(n_without_error_ > 0, fmt::format("{} values have no error above 0", n_without_error_));
    say(n_unequal_ > 0,
        fmt::format("{} elements have two errors; their root mean square was taken for both parts",
                    n_unequal_));
    say(static_cast<int>(periods_.size()) != n_periods_,
        fmt::format("the first line announces {} periods, but {} follow; all of them were read", n_periods_,
                    periods_.size()));
  }

  text::LineReader lines_;
  std::string path_;
  physics::mt::Conventions chosen_;
  std::size_t n_sites_ = 0;
  int n_periods_ = 0, n_zero_ = 0, n_without_error_ = 0, n_unequal_ = 0, n_values_ = 0;
  std::span<const Element> elements_;
  std::vector<Period> periods_;
  std::vector<StationData> stations_;
};

}  // namespace

std::span<const Element> elements_of(int n_numbers) {
  const std::span<const Element> elements(all);
  if (n_numbers == 4) return elements.subspan(1, 2);
  if (n_numbers == 8) return elements.first(4);
  return n_numbers == 12 ? elements : std::span<const Element>{};
}

std::vector<StationData> read_data(const std::string& path, const physics::mt::Conventions& chosen) {
  const std::string bytes = text::read_text(path);
  return WsinvReader(bytes, path, chosen).read();
}

bool is_wsinv_data(std::string_view bytes) {
  bool has_head = false;
  for (const auto line : text::split_lines(bytes)) {
    const auto words = text::words(line);
    if (words.empty()) continue;
    if (has_head) return is_location(text::trimmed(line));
    has_head =
        words.size() >= 3 && text::integer(words[0]) && text::integer(words[1]) && text::integer(words[2]);
    if (!has_head) return false;
  }
  return false;
}

}  // namespace lodestone::io::wsinv
