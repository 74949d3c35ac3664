// SPDX-License-Identifier: Apache-2.0
#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "engine/core/median.hpp"
#include "io/jones/jones.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/rho_phase.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace lodestone::io::jones {
namespace {

using physics::mt::Element;
using physics::mt::not_given;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr const char* reader = "io::jones::read";
constexpr int most_rows = 100'000;

struct Component {
  std::string_view name;
  Element element;
  bool is_rho;
};
constexpr std::array<Component, 10> components{{{"ZXX", Element::zxx, false},
                                                {"ZXY", Element::zxy, false},
                                                {"ZYX", Element::zyx, false},
                                                {"ZYY", Element::zyy, false},
                                                {"TZX", Element::tzx, false},
                                                {"TZY", Element::tzy, false},
                                                {"RXX", Element::zxx, true},
                                                {"RXY", Element::zxy, true},
                                                {"RYX", Element::zyx, true},
                                                {"RYY", Element::zyy, true}}};

const Component* component_of(std::string_view name) {
  const auto found = std::ranges::find_if(
      components, [&](const Component& c) { return text::equals_ignoring_case(c.name, name); });
  return found == components.end() ? nullptr : &*found;
}

/// Returns NaN for what stands in place of a number.
double known(double value) {
  constexpr double never_a_measurement = 1e30;
  return std::abs(value) >= never_a_measurement ? not_given : value;
}
bool is_filler(double value) { return value == -999.0; }

std::string_view first_word(std::string_view line) {
  const auto words = text::words(line);
  return words.empty() ? std::string_view() : words.front();
}

bool is_count(std::string_view line) {
  const auto words = text::words(line);
  return words.size() == 1 && text::integer(words[0]).value_or(-1) >= 0;
}

/// A row of a block of apparent resistivity and phase.
struct RhoRow {
  double frequency_hz;
  physics::mt::RhoPhase stated;
};
struct RhoBlock {
  Element element;
  std::string where;
  std::vector<RhoRow> rows;
};

class JReader {
 public:
  JReader(const std::string& text, const std::string& path, const Options& options)
      : lines_(text, path, reader, ""), options_(options) {
    station_.path = path;
    station_.format = "J-format";
    station_.site.y_m = not_given;
    station_.site.latitude_deg = station_.site.longitude_deg = station_.site.elevation_m = not_given;
  }

  StationData read() {
    while (lines_.next()) {
      const std::string_view line = lines_.text();
      if (line.front() == '#') {
        if (const auto sign = physics::mt::time_factor_in(line)) stated_.sign = *sign;
      } else if (line.front() == '>') {
        read_entry(line.substr(1));
      } else if (is_count(lines_.peek()) && !is_number(first_word(line))) {
        read_block();
      } else if (!has_blocks_ && !has_name_) {
        read_name(line);
      } else if (has_name_ && first_word(line) == first_word(station_.site.name)) {
        continue;  // once more
      } else {
        lines_.refuse("not_a_block",
                      fmt::format("expected a component such as ZXY and below it a number of rows, got "
                                  "\"{}\"; check that this is a J-format file of one station",
                                  text::printable(line)));
      }
    }
    finish();
    return std::move(station_);
  }

 private:
  void remark(const physics::mt::Remark& remark) { station_.remarks.push_back(remark.at(lines_.here())); }
  static bool is_number(std::string_view word) { return text::number(word).has_value(); }

  /// ">KEY = value", where the value may be blank.
  void read_entry(std::string_view entry) {
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) return;
    const std::string key = text::upper(text::trimmed(entry.substr(0, equals)));
    const std::string_view value = text::trimmed(entry.substr(equals + 1));
    if (value.empty()) return;
    auto& site = station_.site;
    if (key == "LATITUDE") site.latitude_deg = angle(value, "latitude", 90.0);
    if (key == "LONGITUDE") site.longitude_deg = angle(value, "longitude", physics::mt::largest_angle_deg);
    if (site.longitude_deg > 180.0) site.longitude_deg -= 360.0;
    if (key == "AZIMUTH") {
      const double azimuth = angle(value, "azimuth", physics::mt::largest_angle_deg);
      if (std::isfinite(azimuth)) azimuth_deg_ = azimuth;
    }
    if (key != "ELEVATION") return;
    constexpr double largest_elevation_m = 1e5;
    const auto elevation = text::number(first_word(value));
    if (elevation && std::abs(*elevation) <= largest_elevation_m) {
      site.elevation_m = known(*elevation);
    } else {
      remark(fmt::format("elevation \"{}\" is not a length; taken as unknown", text::printable(value)));
    }
  }

  double angle(std::string_view value, const char* what, double largest) {
    const auto read = text::angle(value);
    if (read && read->is_proper && std::abs(read->deg) <= largest) return read->deg;
    const std::string named = fmt::format("{} \"{}\"", what, text::printable(value));
    if (read && read->is_proper)
      remark(physics::mt::impossible_angle(named, what, read->deg, largest));
    else
      remark(named + " is not an angle; taken as unknown");
    return not_given;
  }

  /// A name, behind which the azimuth of `>AZIMUTH` may stand once more.
  void read_name(std::string_view line) {
    const auto words = text::words(line);
    const auto last = words.size() > 1 ? text::number(words.back()) : std::nullopt;
    if (last && (!azimuth_deg_ || *last == *azimuth_deg_)) {
      if (!azimuth_deg_ && std::abs(*last) <= physics::mt::largest_angle_deg) {
        azimuth_deg_ = *last;
        remark(fmt::format("no >AZIMUTH; the number behind the name of the station, {} degrees, is taken",
                           *last));
      }
      line = line.substr(0, static_cast<std::size_t>(words.back().data() - line.data()));
    }
    station_.site.name = lines_.name(line);
    has_name_ = true;
  }

  void read_block() {
    const std::string name(first_word(lines_.text()));
    const std::string tag = text::lower(lines_.text().substr(name.size()));
    const std::string where = lines_.here();
    const Component* component = component_of(name);
    has_blocks_ = true;
    lines_.require_next("a number of rows");
    const int n_rows = lines_.whole(lines_.text(), "a number of rows", 0, most_rows);
    if (component == nullptr)
      remark(
          fmt::format("the block {} is none of the elements of a tensor; left out", text::printable(name)));
    if (component != nullptr && component->is_rho) rho_blocks_.push_back({component->element, where, {}});
    if (component != nullptr && is_impedance(component->element) && !component->is_rho) note_tag(tag, where);
    for (int i = 0; i < n_rows; ++i) {
      lines_.require_next(fmt::format("row {} of {} of {}", i + 1, n_rows, name));
      read_row(component, name, i, n_rows);
    }
    int n_more = 0;
    for (; is_number(first_word(lines_.peek())); ++n_more) (void)lines_.next();
    if (n_more > 0) remark(fmt::format("{} announces {} rows; {} more are left out", name, n_rows, n_more));
  }

  void note_tag(const std::string& tag, const std::string& where) {
    if (tag.find("field") != std::string::npos || tag.find("mv/km") != std::string::npos)
      stated_.units = physics::mt::ImpedanceUnits::field;
    if (tag.find("s.i") != std::string::npos || tag.find("si ") != std::string::npos ||
        tag.find("ohm") != std::string::npos) {
      if (where_si_.empty()) where_si_ = where;
    }
  }

  void read_row(const Component* component, const std::string& name, int i, int n_rows) {
    std::vector<double> row;
    for (const auto word : text::touching_words(lines_.text())) {
      const auto value = text::number(word);
      if (!value)
        lines_.refuse("not_a_number", fmt::format("expected row {} of {} of {}, got \"{}\"; is the file cut "
                                                  "off or the number of rows wrong?",
                                                  i + 1, n_rows, name, text::printable(word)));
      row.push_back(known(*value));
    }
    const std::size_t n_columns = component != nullptr && component->is_rho ? 7 : 4;
    if (component == nullptr || std::isnan(row[0])) return;
    const bool is_missing = row.size() > 2 && is_filler(row[1]) && (component->is_rho || is_filler(row[2]));
    if (is_missing && is_filler(row[0])) return;
    if (row.size() < n_columns)
      lines_.refuse("too_few_columns",
                    fmt::format("expected {}, got {} columns",
                                component->is_rho ? "period, ρₐ, phase and the limits of both (7 columns)"
                                                  : "period, real part, imaginary part and error (4 columns)",
                                row.size()));
    const double frequency_hz = row[0] < 0.0 ? -row[0] : 1.0 / row[0];
    if (!physics::mt::is_in_frequency_range(frequency_hz))
      return remark(fmt::format("a period of {} is out of range; left out", row[0]));
    if (is_missing) {
      (void)station_.row_at(frequency_hz);
    } else if (component->is_rho) {
      rho_blocks_.back().rows.push_back({frequency_hz, rho_phase_of(row)});
    } else {
      set(frequency_hz, component->element, {{row[1], row[2]}, sigma_of(row[3])});
    }
  }

  double sigma_of(double error) const {
    if (!(error > 0.0)) return not_given;
    return options_.error == ErrorOf::each_part ? error : error / std::numbers::sqrt2;
  }

  /// Limits of ρₐ lie by one factor above and below it, those of phases by one angle.
  static physics::mt::RhoPhase rho_phase_of(const std::vector<double>& row) {
    const double rho = row[1], most = row[3], least = row[4];
    const double rho_error = most > least && least > 0.0 ? 0.5 * rho * std::log(most / least) : not_given;
    return {rho, row[2], rho_error, 0.5 * (row[5] - row[6])};
  }

  void set(double frequency_hz, Element element, const physics::mt::Estimate& estimate) {
    StationRow& row = station_.row_at(frequency_hz);
    if (estimate.is_missing()) return;
    if (!row.is_missing(element))
      return remark(fmt::format("a second value of {} at {} Hz; the first is kept", rule_of(element).name,
                                frequency_hz));
    row.values[element] = estimate.value;
    row.errors[element] = estimate.sigma;
  }

  void use_rho_blocks() {
    int n_rejected = 0;
    for (RhoBlock& block : rho_blocks_) {
      std::vector<double> phases;
      for (const RhoRow& row : block.rows) {
        const bool is_rejected = !(row.stated.rho_ohm_m > 0.0);
        n_rejected += is_rejected ? 1 : 0;
        phases.push_back(is_rejected ? not_given : row.stated.phase_deg);
      }
      const bool folded = block.element == Element::zyx && physics::mt::is_folded(phases);
      if (folded)
        station_.remarks.push_back(
            block.where + ": phases of Zyx stand in the first quadrant; 180 degrees were subtracted");
      for (RhoRow& row : block.rows) {
        if (folded) row.stated.phase_deg -= 180.0;
        set(row.frequency_hz, block.element, impedance_of(row.stated, row.frequency_hz));
      }
    }
    if (n_rejected > 0)
      station_.remarks.push_back(fmt::format("{}: {} apparent resistivities are not above 0; left out",
                                             rho_blocks_.front().where, n_rejected));
    station_.remarks.push_back(rho_blocks_.front().where +
                               ": no impedance blocks; made from apparent resistivity and phase");
  }

  /// Compares relative errors of impedances with those of the limits of ρₐ and phase beside them. Those of
  /// the complex number are √2 times those of each part.
  void compare_errors() {
    std::vector<double> ratios;
    for (const RhoBlock& block : rho_blocks_) {
      for (const RhoRow& row : block.rows) {
        const StationRow& known = station_.row_at(row.frequency_hz);
        const physics::mt::Estimate e = impedance_of(row.stated, row.frequency_hz);
        const double ratio = known.errors[block.element] / std::abs(known.values[block.element]) /
                             (e.sigma / std::abs(e.value));
        if (std::isfinite(ratio)) ratios.push_back(ratio);
      }
    }
    std::string about_errors;
    if (!ratios.empty()) {
      const double middle = core::median(std::move(ratios));
      constexpr double between = 1.2, most = 1.6;  // 1 or √2
      if (middle > between && middle < most && options_.error == ErrorOf::each_part)
        about_errors = fmt::format(
            "; their limits show that the errors of impedances are those of the complex "
            "number ({:.2f} times as large), which --j-errors states",
            middle);
    }
    station_.remarks.push_back(fmt::format("{}: apparent resistivities are left out beside impedances{}",
                                           rho_blocks_.front().where, about_errors));
  }

  void finish() {
    const auto has = [&](physics::mt::Elements elements) {
      return std::ranges::any_of(station_.rows, [&](const StationRow& row) {
        return std::ranges::any_of(physics::mt::all_elements, [&](Element element) {
          return elements.contains(element) && !row.is_missing(element);
        });
      });
    };
    const bool has_impedance = has(physics::mt::all_impedances);
    if (!has_impedance && !rho_blocks_.empty()) {
      use_rho_blocks();
      stated_.units = physics::mt::ImpedanceUnits::field;
    } else if (!rho_blocks_.empty()) {
      compare_errors();
    }
    if (!has(physics::mt::all_impedances | physics::mt::all_tippers))
      lines_.refuse("no_values",
                    "expected blocks of impedances, tippers or apparent resistivities with "
                    "values, found none; is this a J-format file?");
    if (!has_name_) station_.site.name = lines_.name(std::filesystem::path(station_.path).stem().string());
    for (StationRow& row : station_.rows)
      row.azimuths = physics::mt::ChannelAzimuths::along(azimuth_deg_.value_or(0.0));
    station_.sort();
    for (const physics::mt::Remark& each : convert(station_, {options_.sign, options_.units}, stated_))
      station_.remarks.push_back(each.at(station_.path + ":1"));
    if (has_impedance && !where_si_.empty() && station_.units_in_file != "ohm")
      station_.remarks.push_back(
          fmt::format("{}: the tag says SI, but the size of the impedances shows mV/km/nT", where_si_));
    station_.drop_zero_tippers();
  }

  text::LineReader lines_;
  Options options_;
  StationData station_;
  physics::mt::Conventions stated_;
  std::optional<double> azimuth_deg_;
  bool has_name_ = false, has_blocks_ = false;
  std::string where_si_;  ///< the first block that says so
  std::vector<RhoBlock> rho_blocks_;
};

}  // namespace

StationData parse(const std::string& bytes, const std::string& path, const Options& options) {
  const std::string text = core::clean_text(bytes);
  return JReader(text, path, options).read();
}

StationData read(const std::string& path, const Options& options) {
  return parse(text::read_bytes(path), path, options);
}

bool is_j_file(std::string_view bytes) {
  bool follows_component = false;
  for (const auto line : text::split_lines(bytes)) {
    const std::string_view text = text::trimmed(line);
    if (text.empty()) continue;
    if (follows_component && is_count(text)) return true;
    follows_component = component_of(first_word(text)) != nullptr;
  }
  return false;
}

}  // namespace lodestone::io::jones
