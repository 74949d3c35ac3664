// SPDX-License-Identifier: Apache-2.0
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/zfile/zfile.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

namespace lodestone::io::zfile {
namespace {

using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::not_given;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr const char* reader = "io::zfile::read";
constexpr int most_channels = 200, most_periods = 100'000;
constexpr int none = -1;

/// The field that a channel measures, in the order of outputs of physics::mt::SignalAndNoise, then the
/// inputs.
enum Field : int { ex = 0, ey = 1, hz = 2, hx = 3, hy = 4 };
constexpr int n_outputs = 3;
/// The first of the two elements of each output; the other one follows.
constexpr std::array<Element, n_outputs> first_elements{Element::zxx, Element::zyx, Element::tzx};

struct Channel {
  double azimuth_deg = 0.0, tilt_deg = 0.0;
  std::string station, name;
  int field = none;
};

int field_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Field>, 8> fields{
      {{"ex", ex}, {"ey", ey}, {"hz", hz}, {"bz", hz}, {"hx", hx}, {"bx", hx}, {"hy", hy}, {"by", hy}}};
  const std::string word = text::lower(name.substr(0, 2));
  for (const auto& [known, field] : fields) {
    if (word == known) return field;
  }
  return none;
}

bool is_missing(double value) {
  constexpr double never_a_measurement = 1e30;
  return !std::isfinite(value) || std::abs(value) >= never_a_measurement;
}

/// Returns a complex number of two parts as they stand; NaN where the file marks it as missing.
Complex complex_of(double re, double im) {
  constexpr double filler = -999.0;
  if (is_missing(re) || is_missing(im) || (re == filler && im == filler)) return {not_given, not_given};
  return {re, im};
}

std::vector<Complex> complex_numbers(const std::vector<double>& parts) {
  std::vector<Complex> out;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) out.push_back(complex_of(parts[i], parts[i + 1]));
  return out;
}

class ZReader {
 public:
  ZReader(const std::string& text, const std::string& path, const Options& options)
      : lines_(text, path, reader, ""), options_(options) {
    station_.path = path;
    station_.format = "Z-file";
    station_.site.y_m = not_given;
    station_.site.latitude_deg = station_.site.longitude_deg = station_.site.elevation_m = not_given;
  }

  StationData read() {
    read_titles();
    read_place();
    read_counts();
    read_channels();
    choose_outputs();
    set_azimuths();
    for (int i = 0; i < n_periods_; ++i) {
      lines_.require_next(fmt::format("period {} of {}", i + 1, n_periods_));
      read_period();
    }
    while (text::lower(lines_.peek()).starts_with("period")) {
      (void)lines_.next();
      remark(fmt::format("the head announces {} periods; this one is read as well", n_periods_));
      read_period();
    }
    finish();
    return std::move(station_);
  }

 private:
  void remark(const physics::mt::Remark& remark) { station_.remarks.push_back(remark.at(lines_.here())); }
  [[nodiscard]] std::string shown() const { return text::printable(lines_.text()); }

  /// The title lines end with that of the coordinates: frame, errors, processing, station.
  void read_titles() {
    constexpr std::size_t most_titles = 8;
    std::vector<std::string> titles;
    while (true) {
      lines_.require_next("the line \"coordinate … declination …\" of a Z-file");
      if (text::lower(lines_.text()).starts_with("coordinate")) break;
      titles.emplace_back(lines_.text());
      if (titles.size() > most_titles)
        lines_.refuse("not_a_z_file",
                      fmt::format("expected the line \"coordinate … declination …\" after the titles of a "
                                  "Z-file, got \"{}\"; check that it is one",
                                  shown()));
    }
    if (!titles.empty() && text::lower(titles[0]).find("measurement") == std::string::npos)
      remark(fmt::format("the title is \"{}\"; data are taken in the directions of the channels listed",
                         text::printable(titles[0])));
    if (titles.size() > 2) read_name(titles.back(), titles.size() > 3);
  }

  /// The third title is that of the processing or, where that is blank, the station's.
  void read_name(std::string_view title, bool has_processing) {
    std::string_view name = title;
    const std::string lower = text::lower(title);
    const auto colon = title.find(':');
    const auto has = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (lower.starts_with("station") && colon != std::string_view::npos) {
      name = title.substr(colon + 1);
    } else if (!has_processing && (has("robust") || has("single station") || has("remote ref"))) {
      return;
    }
    constexpr std::string_view remote = " remote ";
    const auto at = text::lower(name).find(remote);
    if (at != std::string::npos) {
      station_.remote_reference = lines_.name(name.substr(at + remote.size()));
      name = name.substr(0, at);
    }
    station_.site.name = lines_.name(name);
  }

  void read_place() {
    constexpr std::string_view key = "coordinate", second_key = "declination";
    const std::string_view line = lines_.text();
    const auto split = text::lower(line).find(second_key);
    const auto place = text::touching_words(line.substr(0, split).substr(key.size()));
    if (place.size() != 2)
      lines_.refuse(
          "wrong_coordinate",
          fmt::format("expected \"coordinate LATITUDE LONGITUDE declination DEGREES\", got \"{}\"", shown()));
    const auto latitude = text::number(place[0]), longitude = text::number(place[1]);
    const bool is_place = latitude && longitude && std::abs(*latitude) <= 90.0 &&
                          std::abs(*longitude) <= physics::mt::largest_angle_deg;
    if (is_place) {
      station_.site.latitude_deg = *latitude;
      station_.site.longitude_deg = *longitude > 180.0 ? *longitude - 360.0 : *longitude;
      if (*latitude == 0.0 && *longitude == 0.0)
        remark("latitude and longitude are both 0; the place is probably unknown");
    } else {
      using enum physics::mt::RemarkKind;
      const bool is_latitude = latitude && std::abs(*latitude) > 90.0;
      const std::optional<double> stated = is_latitude ? latitude : longitude;
      if (latitude && std::abs(*latitude) <= 90.0) station_.site.latitude_deg = *latitude;
      if (longitude && std::abs(*longitude) <= 180.0) station_.site.longitude_deg = *longitude;
      remark({fmt::format(
                  "\"{}\" and \"{}\" are no latitude and longitude, which is impossible; taken as unknown",
                  text::printable(place[0]), text::printable(place[1])),
              !latitude || !longitude ? other
              : is_latitude           ? impossible_latitude
                                      : impossible_longitude,
              stated ? fmt::format("{}", *stated) : ""});
    }
    if (split == std::string::npos) return;
    const auto words = text::words(line.substr(split + second_key.size()));
    const auto value = words.empty() ? std::nullopt : text::number(words[0]);
    if (value && std::abs(*value) <= physics::mt::largest_angle_deg) declination_deg_ = *value;
  }

  void read_counts() {
    lines_.require_next("the line \"number of channels … number of frequencies …\"");
    std::vector<std::string_view> counts;
    for (const auto word : text::words(lines_.text())) {
      if (text::integer(word)) counts.push_back(word);
    }
    if (counts.size() != 2)
      lines_.refuse(
          "wrong_counts",
          fmt::format("expected \"number of channels N number of frequencies M\", got \"{}\"", shown()));
    channels_.resize(
        static_cast<std::size_t>(lines_.whole(counts[0], "a number of channels", 3, most_channels)));
    n_periods_ = lines_.whole(counts[1], "a number of frequencies", 1, most_periods);
  }

  void read_channels() {
    lines_.require_next("the line \"orientations and tilts of each channel\"");
    const std::string line = text::lower(lines_.text());
    if (line.find("orientation") == std::string::npos)
      lines_.refuse("no_orientations",
                    fmt::format("expected \"orientations and tilts of each channel\", got \"{}\"", shown()));
    const bool says_magnetic =
        line.find("declination") != std::string::npos || line.find("magnetic") != std::string::npos;
    choose_north(says_magnetic);
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      lines_.require_next(fmt::format("channel {} of {}", i + 1, channels_.size()));
      read_channel(channels_[i]);
    }
  }

  void choose_north(bool says_magnetic) {
    const bool adds = options_.declination == ZDeclination::add ||
                      (options_.declination == ZDeclination::as_stated && says_magnetic);
    const bool is_stated = options_.declination == ZDeclination::as_stated && says_magnetic;
    if (std::isnan(declination_deg_)) {
      if (adds) remark("no declination is stated; azimuths are taken from geographic north");
      return;
    }
    if (declination_deg_ == 0.0) return;
    if (!adds)
      remark(fmt::format(
          "azimuths are taken from geographic north; the declination of {} degrees is not "
          "added{}",
          declination_deg_, says_magnetic ? ", although the file says they are relative to it" : ""));
    else
      remark(fmt::format("azimuths are {} from magnetic north; the declination of {} degrees was added",
                         is_stated ? "stated" : "taken", declination_deg_));
    added_deg_ = adds ? declination_deg_ : 0.0;
  }

  /// Index, azimuth and tilt, which may touch; station, which may be blank; name.
  void read_channel(Channel& channel) {
    std::vector<std::string_view> numbers, names;
    for (const auto word : text::words(lines_.text())) {
      if (numbers.size() < 3) {
        for (const auto part : text::touching_words(word)) numbers.push_back(part);
      } else {
        names.push_back(word);
      }
    }
    if (numbers.size() != 3 || names.empty())
      lines_.refuse(
          "wrong_channel",
          fmt::format("expected index, azimuth, tilt, station and name of a channel, got \"{}\"", shown()));
    channel.azimuth_deg =
        lines_.within(numbers[1], "an azimuth", 2.0 * physics::mt::largest_angle_deg) + added_deg_;
    channel.tilt_deg = lines_.within(numbers[2], "a tilt", physics::mt::largest_angle_deg);
    channel.name = std::string(names.back());
    channel.field = field_of(names.back());
    names.pop_back();
    for (const auto part : names) {
      if (!channel.station.empty()) channel.station += ' ';
      channel.station += part;
    }
    constexpr double level_deg = 1.0;
    if (channel.field != hz && channel.field != none && std::abs(channel.tilt_deg) > level_deg)
      remark(fmt::format("channel {} is tilted by {} degrees; it is taken as horizontal", channel.name,
                         channel.tilt_deg));
  }

  void choose_outputs() {
    const bool in_order = channels_[0].field == hx && channels_[1].field == hy;
    const bool is_swapped = channels_[0].field == hy && channels_[1].field == hx;
    if (!in_order && !is_swapped)
      lines_.refuse("wrong_inputs",
                    fmt::format("expected the first two channels, the inputs, to be Hx and Hy, got {} and {}",
                                text::printable(channels_[0].name), text::printable(channels_[1].name)));
    input_of_x_ = in_order ? 0 : 1;
    std::string station = channels_[0].station;
    const auto is_output = [](const Channel& c) { return c.field >= 0 && c.field < n_outputs; };
    const auto first = std::ranges::find_if(channels_, is_output);
    const bool has_own = std::ranges::any_of(
        channels_, [&](const Channel& c) { return is_output(c) && c.station == station; });
    if (first == channels_.end())
      lines_.refuse("no_outputs", "expected a channel Hz, Ex or Ey among the outputs, got none");
    if (!has_own) {
      remark(fmt::format("the outputs of station {} are referred to Hx and Hy of station {}",
                         text::printable(first->station), text::printable(station)));
      station = first->station;
    }
    std::string others;
    for (std::size_t i = 2; i < channels_.size(); ++i) {
      const Channel& c = channels_[i];
      const bool is_wanted = is_output(c) && c.station == station;
      if (is_wanted && outputs_[static_cast<std::size_t>(c.field)] == none) {
        outputs_[static_cast<std::size_t>(c.field)] = static_cast<int>(i) - 2;
      } else {
        others += fmt::format("{}{} {}", others.empty() ? "" : ", ", text::printable(c.station),
                              text::printable(c.name));
      }
    }
    if (!others.empty()) remark(fmt::format("other channels are left out: {}", others));
    if (station_.site.name.empty()) station_.site.name = lines_.name(station);
  }

  void set_azimuths() {
    const auto of_input = [&](int i) { return channels_[static_cast<std::size_t>(i)].azimuth_deg; };
    const auto of_output = [&](int field, double otherwise) {
      const int i = outputs_[static_cast<std::size_t>(field)];
      return i == none ? otherwise : channels_[static_cast<std::size_t>(i) + 2].azimuth_deg;
    };
    const double x = of_input(input_of_x_), y = of_input(1 - input_of_x_);
    azimuths_ = {of_output(ex, x), of_output(ey, y), x, y, x, y, x, y, x, y};
  }

  /// Reads so many numbers, on one line or several.
  std::vector<double> numbers(std::size_t n, const std::string& what) {
    std::vector<double> out;
    while (out.size() < n) {
      lines_.require_next(fmt::format("{} more numbers of the {}", n - out.size(), what));
      for (const auto word : text::touching_words(lines_.text())) {
        const auto value = text::number(word);
        if (!value)
          lines_.refuse("not_a_number", fmt::format("expected {} more numbers of the {}, got \"{}\"",
                                                    n - out.size(), what, text::printable(word)));
        out.push_back(*value);
      }
    }
    if (out.size() > n)
      lines_.refuse("too_many_numbers", fmt::format("expected {} numbers of the {}, got {} by the end of "
                                                    "this line; compare it with the channels above",
                                                    n, what, out.size()));
    return out;
  }

  void require_heading(const char* word, const char* heading) {
    lines_.require_next(fmt::format("the heading \"{}\"", heading));
    if (text::lower(lines_.text()).find(word) == std::string::npos)
      lines_.refuse("no_heading", fmt::format("expected the heading \"{}\", got \"{}\"", heading, shown()));
  }

  double period() const {
    const std::string_view line = lines_.text();
    const auto colon = line.find(':');
    if (!text::lower(line).starts_with("period") || colon == std::string_view::npos)
      lines_.refuse("no_period", fmt::format("expected \"period : SECONDS …\", got \"{}\"", shown()));
    const auto words = text::words(line.substr(colon + 1));
    return lines_.finite(words.empty() ? std::string_view() : words[0], "a period in s");
  }

  void read_period() {
    StationRow row;
    const double period_s = period();
    const std::string where = lines_.here();
    row.frequency_hz = 1.0 / period_s;
    row.azimuths = azimuths_;
    if (text::lower(lines_.peek()).starts_with("number")) (void)lines_.next();  // of data points
    const std::size_t n = channels_.size() - 2;
    require_heading("transfer", "Transfer Functions");
    set_values(complex_numbers(numbers(4 * n, "transfer functions")), row);
    require_heading("inverse", "Inverse Coherent Signal Power Matrix");
    const auto signal = complex_numbers(numbers(6, "inverse signal power"));
    require_heading("residual", "Residual Covariance");
    set_noise(signal, complex_numbers(numbers(n * (n + 1), "residual covariance")), row);
    if (!physics::mt::is_in_frequency_range(row.frequency_hz)) {
      station_.remarks.push_back(
          fmt::format("{}: a period of {} s is out of range; left out", where, period_s));
    } else if (std::ranges::any_of(station_.rows,
                                   [&](const StationRow& r) { return r.frequency_hz == row.frequency_hz; })) {
      station_.remarks.push_back(
          fmt::format("{}: the period of {} s stands twice; the first is kept", where, period_s));
    } else {
      station_.rows.push_back(std::move(row));
    }
  }

  void set_values(const std::vector<Complex>& values, StationRow& row) const {
    for (std::size_t field = 0; field < n_outputs; ++field) {
      if (outputs_[field] == none) continue;
      const auto at = static_cast<std::size_t>(2 * outputs_[field]);
      const std::size_t first = index_of(first_elements[field]), x = static_cast<std::size_t>(input_of_x_);
      row.values.numbers[first] = values[at + x];
      row.values.numbers[first + 1] = values[at + 1 - x];
    }
  }

  /// Keeps signal and noise in the units of the file; an output whose noise is not above 0 has none.
  void set_noise(const std::vector<Complex>& s, const std::vector<Complex>& n, StationRow& row) const {
    const auto lower = [](const std::vector<Complex>& m, int i, int j) {
      const auto at = [&](int a, int b) { return m[static_cast<std::size_t>(a * (a + 1) / 2 + b)]; };
      return i >= j ? at(i, j) : std::conj(at(j, i));
    };
    physics::mt::SignalAndNoise known;
    for (int k = 0; k < 2; ++k) {
      for (int l = 0; l < 2; ++l)
        known.inverse_signal(k, l) =
            lower(s, k == 0 ? input_of_x_ : 1 - input_of_x_, l == 0 ? input_of_x_ : 1 - input_of_x_);
    }
    const auto has_noise = [&](int field) {
      const int i = outputs_[static_cast<std::size_t>(field)];
      return i != none && lower(n, i, i).real() > 0.0;
    };
    bool is_known = false;
    for (int i = 0; i < n_outputs; ++i) {
      for (int j = 0; j < n_outputs; ++j) {
        const bool both = has_noise(i) && has_noise(j);
        is_known = is_known || both;
        known.noise(i, j) =
            both ? lower(n, outputs_[static_cast<std::size_t>(i)], outputs_[static_cast<std::size_t>(j)])
                 : Complex(not_given, not_given);
      }
    }
    if (is_known) row.estimates = known;
  }

  void finish() {
    const auto has_value = [](const StationRow& row) {
      return std::ranges::any_of(physics::mt::all_elements,
                                 [&](Element element) { return !row.is_missing(element); });
    };
    if (std::ranges::none_of(station_.rows, has_value))
      lines_.refuse("no_values", fmt::format("expected transfer functions, found none at {} periods",
                                             station_.rows.size()));
    if (station_.site.name.empty())
      station_.site.name = lines_.name(std::filesystem::path(station_.path).stem().string());
    station_.sort();
    const physics::mt::Conventions stated{physics::mt::TimeFactor::plus, physics::mt::ImpedanceUnits::field};
    for (const physics::mt::Remark& each : convert(station_, {options_.sign, options_.units}, stated))
      station_.remarks.push_back(each.at(station_.path + ":1"));
    for (StationRow& row : station_.rows) {
      // In ohm: a row that is written from there gives the same bits.
      if (row.estimates) row.set_estimates(physics::mt::SignalAndNoise(*row.estimates));
    }
    station_.drop_zero_tippers();
  }

  text::LineReader lines_;
  Options options_;
  StationData station_;
  double declination_deg_ = not_given, added_deg_ = 0.0;
  int n_periods_ = 0, input_of_x_ = 0;
  std::vector<Channel> channels_;
  std::array<int, n_outputs> outputs_{none, none, none};  ///< rows of the file's transfer functions
  physics::mt::ChannelAzimuths azimuths_;
};

}  // namespace

StationData parse(const std::string& bytes, const std::string& path, const Options& options) {
  const std::string text = core::clean_text(bytes);
  return ZReader(text, path, options).read();
}

StationData read(const std::string& path, const Options& options) {
  return parse(text::read_bytes(path), path, options);
}

bool is_z_file(std::string_view bytes) {
  constexpr std::size_t most_lines = 12;
  bool has_place = false;
  std::size_t n = 0;
  for (const auto line : text::split_lines(bytes)) {
    if (++n > most_lines) break;
    const std::string text = text::lower(text::trimmed(line));
    if (has_place && text.starts_with("number of channels")) return true;
    has_place = has_place || text.starts_with("coordinate");
  }
  return false;
}

}  // namespace lodestone::io::zfile
