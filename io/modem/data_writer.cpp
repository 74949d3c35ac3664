// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/words.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace lodestone::io::modem {
namespace {

using physics::mt::Datum;
using physics::mt::LocalFrame;
using physics::mt::MaskReason;
using physics::mt::Observations;
using physics::mt::preimage;
using physics::mt::Station;

constexpr const char* no_error = "2e15";  ///< ModEM's mark of a datum without an error

struct Value {
  double value, sigma;
};
struct Texts {
  std::string value, error;
};
/// Kept data by station, frequency and quantity: the order of the rows in a block.
using Table = std::map<std::tuple<int, int, Datum>, Value>;

/// Returns the phase + 180 degrees in (-90, 270]: the range the reader takes as folded.
double folded(double phase_deg) {
  const double out = std::remainder(phase_deg + 180.0, 360.0);
  return out > -90.0 ? out : out + 360.0;
}

std::string code_of(const Station& station) {
  std::string code = station.name.empty() ? std::string("site") : station.name;
  for (char& c : code) {
    if (text::is_blank(c)) c = '_';
  }
  return code;
}

/// Returns the dimension of the files that the data came from: 3 where x and y lie on a map.
int dimension_of(const Observations& data) {
  return !data.stations.empty() && data.stations.front().local_frame ? 3 : 2;
}

class DataWriter {
 public:
  DataWriter(const Observations& data, const ModemDataOptions& options)
      : data_(data),
        options_(options),
        dimension_(options.dimension.value_or(dimension_of(data))),
        references_(physics::mt::references_of(data.survey.stations)) {
    if (options.dimension == 3) frame_.azimuth_deg = data.azimuth_deg;
    if (!data.profile.projection.empty()) {
      frame_.latitude_deg = data.profile.origin_latitude_deg;
      frame_.longitude_deg = data.profile.origin_longitude_deg;
    }
    if (!data.stations.empty()) frame_ = data.stations.front().local_frame.value_or(frame_);
    for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
      const auto& key = data.survey.keys[i];
      if (data.reason[i] != MaskReason::kept) continue;
      table_[{key.station, key.frequency, key.quantity}] = {data.value[static_cast<Eigen::Index>(i)],
                                                            data.sigma[static_cast<Eigen::Index>(i)]};
    }
  }

  std::string text() {
    for (const ModemBlock* block : blocks()) append_block(*block);
    if (written_.size() < table_.size()) refuse_first_left_out();
    return text_;
  }

 private:
  /// Returns the blocks in which data are written. Impedances without diagonal elements have their own.
  std::vector<const ModemBlock*> blocks() const {
    const bool is_full = std::ranges::any_of(table_, [](const auto& entry) {
      const Datum datum = std::get<Datum>(entry.first);
      return physics::mt::rule_of(datum).floor == physics::mt::FloorKind::impedance &&
             !physics::mt::section_elements.contains(physics::mt::rule_of(datum).needs);
    });
    std::vector<const ModemBlock*> chosen;
    for (const ModemBlock& block : modem_blocks()) {
      const bool is_other =
          block.dimension == 3 && block.is_impedance && is_full != (block.components.size() == 4);
      if (block.dimension == dimension_ && !is_other) chosen.push_back(&block);
    }
    return chosen;
  }

  [[noreturn]] void refuse_first_left_out() const {
    for (const auto& [key, value] : table_) {
      if (!written_.contains(key))
        throw core::InvalidArgument(
            "io::modem::write_data#no_block",
            "ModEM's {}-D format has no block for {}; leave these data out, or select "
            "the parts of impedances and tippers",
            dimension_, name_of(std::get<Datum>(key)));
    }
    throw core::InvalidArgument("io::modem::write_data#no_block", "expected data that have a block");
  }

  void append_header(const ModemBlock& block) {
    const std::string_view units = block.is_impedance ? name_of(options_.units) : "[]";
    const bool placed = std::isfinite(frame_.latitude_deg) && std::isfinite(frame_.longitude_deg);
    const std::string origin = placed && dimension_ == 3
                                   ? fmt::format("{} {}", frame_.latitude_deg, frame_.longitude_deg)
                                   : "0.000 0.000";
    const std::string azimuth = frame_.azimuth_deg == 0.0 ? "0.00" : fmt::format("{}", frame_.azimuth_deg);
    fmt::format_to(
        std::back_inserter(text_),
        "# {}\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) {}Component {} Error\n> {}\n> "
        "exp({}i\\omega t)\n> {}\n> {}\n> {}\n> {} {}\n",
        options_.comment, block.has_reference ? "Ref_Code Ref_Lat Ref_Lon Ref_X(m) Ref_Y(m) Ref_Z(m) " : "",
        block.is_real ? "Value" : "Real Imag", block.name, options_.sign == ModemSign::plus ? '+' : '-',
        units, azimuth, origin, data_.survey.frequencies_hz.size(), data_.survey.stations.size());
  }

  /// Appends what a row begins with: period, places and the component.
  void append_head(const ModemBlock& block, const ModemComponent& component, int station, int frequency) {
    const double f = data_.survey.frequencies_hz[static_cast<std::size_t>(frequency)];
    const std::string period = text::shortest_preimage(f, 1.0 / f, [](double p) { return 1.0 / p; });
    fmt::format_to(std::back_inserter(text_), "{:<24}", period);
    append_place(station);
    if (block.has_reference) append_place(references_[static_cast<std::size_t>(station)]);
    fmt::format_to(std::back_inserter(text_), " {}", component.name);
  }

  void append_place(int station) {
    const Station& s = data_.survey.stations[static_cast<std::size_t>(station)];
    const bool placed = std::isfinite(s.latitude_deg) && std::isfinite(s.longitude_deg);
    const bool has_z = dimension_ == 3 && std::isfinite(s.z_m);
    fmt::format_to(std::back_inserter(text_), " {:<12} {} {} {} {} {}", code_of(s),
                   placed ? s.latitude_deg : 0.0, placed ? s.longitude_deg : 0.0,
                   dimension_ == 3 ? s.x_m : 0.0, s.y_m - options_.left_edge_m, has_z ? s.z_m : 0.0);
  }

  /// Returns the text of a number that the reader multiplies by a factor.
  static std::string scaled_text(double value, double factor) {
    return text::shortest_preimage(value, value / factor,
                                   [factor](double written) { return written * factor; });
  }
  static std::string error_of(double sigma, double factor) {
    if (!(sigma > 0.0) || !std::isfinite(sigma)) return no_error;
    return scaled_text(sigma, factor);
  }

  void append_block(const ModemBlock& block) {
    const std::size_t before = text_.size();
    append_header(block);
    const std::size_t header_end = text_.size();
    for (const auto& [station, frequency] : places()) {
      for (const ModemComponent& component : block.components)
        append_row(block, component, station, frequency);
    }
    if (text_.size() == header_end) text_.resize(before);
  }

  std::set<std::pair<int, int>> places() const {
    std::set<std::pair<int, int>> all;
    for (const auto& [key, datum] : table_) all.emplace(std::get<0>(key), std::get<1>(key));
    return all;
  }

  void append_row(const ModemBlock& block, const ModemComponent& component, int station, int frequency) {
    if (component.element) return append_complex(block, component, station, frequency);
    const auto found = table_.find({station, frequency, component.datum});
    if (found == table_.end()) return;
    written_.insert(found->first);
    append_head(block, component, station, frequency);
    const auto [value, error] = texts_of(component.datum, found->second);
    fmt::format_to(std::back_inserter(text_), " {} {}\n", value, error);
  }

  void append_complex(const ModemBlock& block, const ModemComponent& component, int station, int frequency) {
    const Datum real = physics::mt::real_part_of(*component.element),
                imaginary = physics::mt::partner_of(real);
    const auto re = table_.find({station, frequency, real}),
               im = table_.find({station, frequency, imaginary});
    if (re == table_.end() && im == table_.end()) return;
    if (re == table_.end() || im == table_.end())
      throw core::InvalidArgument(
          "io::modem::write_data#one_part_alone",
          "expected both parts of {} of {} at station {}, got {} alone; mask or keep both", component.name,
          block.name, data_.survey.stations[static_cast<std::size_t>(station)].name,
          name_of(re == table_.end() ? imaginary : real));
    written_.insert(re->first);
    written_.insert(im->first);
    const double factor = block.is_impedance ? ohm_per(options_.units) : 1.0;
    append_head(block, component, station, frequency);
    const double sign = options_.sign == ModemSign::plus ? 1.0 : -1.0;
    fmt::format_to(std::back_inserter(text_), " {} {} {}\n", scaled_text(re->second.value, factor),
                   scaled_text(sign * im->second.value, factor), error_of(re->second.sigma, factor));
  }

  /// Returns the error of a real datum, which the reader divides by a factor.
  static std::string error_text(double sigma, double factor) {
    if (!(sigma > 0.0) || !std::isfinite(sigma)) return no_error;
    return text::shortest_preimage(sigma, sigma * factor, [factor](double error) { return error / factor; });
  }

  /// Returns a real datum and its error as the file states them.
  [[nodiscard]] Texts texts_of(Datum datum, const Value& number) const {
    switch (physics::mt::rule_of(datum).floor) {
      case physics::mt::FloorKind::log10_rho: {
        const double rho =
            preimage(number.value, std::pow(10.0, number.value), [](double r) { return std::log10(r); });
        return {text::shortest(rho), error_text(number.sigma, rho * physics::mt::ln10)};
      }
      case physics::mt::FloorKind::phase: {
        const double degrees = number.value * physics::mt::deg_per_rad;
        const double phase = datum == Datum::phase_yx ? folded(degrees) : degrees;
        const bool is_turned = dimension_ == 3 && options_.sign == ModemSign::minus;
        const auto reads_as = [&](double written) {
          return unfolded_deg(datum, written, is_turned) / physics::mt::deg_per_rad;
        };
        return {text::shortest_preimage(number.value, is_turned ? -phase : phase, reads_as),
                error_text(number.sigma, physics::mt::deg_per_rad)};
      }
      default:
        return {text::shortest(number.value), error_text(number.sigma, 1.0)};
    }
  }

  const Observations& data_;
  const ModemDataOptions& options_;
  int dimension_;
  std::vector<int> references_;  ///< station to which inter-station functions refer, per station
  LocalFrame frame_{};
  Table table_;
  std::set<Table::key_type> written_;
  std::string text_;
};

}  // namespace

void write_data(const std::string& path, const Observations& data, const ModemDataOptions& options) {
  const std::string text = DataWriter(data, options).text();
  if (text.empty())
    throw core::InvalidArgument("io::modem::write_data#no_datum",
                                "{}: expected at least one datum that is not masked, found none", path);
  text::write_bytes_atomically(path, text);
}

}  // namespace lodestone::io::modem
