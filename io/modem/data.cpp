// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/words.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace lodestone::io::modem {
namespace {

using physics::mt::ChannelAzimuths;
using physics::mt::Complex;
using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::FloorKind;
using physics::mt::largest_angle_deg;
using physics::mt::largest_coordinate_m;
using physics::mt::LocalFrame;
using physics::mt::not_given;
using physics::mt::Station;
using physics::mt::StationData;

/// A number of a row with its error; NaN: none given.
struct Uncertain {
  double value, sigma;
};

struct Header {
  const ModemBlock* block = nullptr;
  LocalFrame frame{};
  bool conjugate = false;
  double factor = 1.0;  ///< file units to ohm (1 for tipper and ρₐ)
  std::string units;
  int n_periods = 0, n_sites = 0;
  int line = 0;

  /// Returns the column of the component, behind the place of the site and that of its reference; values
  /// and error follow.
  [[nodiscard]] std::size_t component_column() const { return block->has_reference ? 13 : 7; }
};

/// Collects rows in any order; stations are those the rows name.
class Collector {
 public:
  explicit Collector(const std::string& path) : path_(path) {}

  StationData& station(const Station& here, const Header& header, const std::string& where) {
    const auto [found, is_new] = places_.try_emplace(here.name, stations_.size());
    if (is_new) {
      StationData& added = stations_.emplace_back();
      added.site = here;
      added.path = path_;
      added.format = fmt::format("ModEM {}-D data", header.block->dimension);
      if (header.block->dimension == 3) added.local_frame = header.frame;
    }
    const Station& before = stations_[found->second].site;
    for (const auto& [axis, now_m, before_m] :
         {std::tuple{"x", here.x_m, before.x_m}, std::tuple{"y", here.y_m, before.y_m}}) {
      if (std::abs(now_m - before_m) > 1e-3)
        throw core::FormatError(
            "io::modem::read_data#site_moved",
            "{}: site {} stands at {} = {} m here and at {} m before; give each place its own code", where,
            here.name, axis, now_m, before_m);
    }
    return stations_[found->second];
  }

  [[nodiscard]] std::vector<StationData> stations() {
    for (StationData& station : stations_) {
      station.sort();
      station.drop_zero_tippers();
    }
    return std::move(stations_);
  }
  [[nodiscard]] bool empty() const { return stations_.empty(); }

 private:
  const std::string& path_;
  std::vector<StationData> stations_;
  std::map<std::string, std::size_t> places_;
};

class DataReader {
 public:
  DataReader(const std::string& bytes, const std::string& path)
      : lines_(text::split_lines(bytes)), path_(path), collector_(path) {}

  std::vector<StationData> read() {
    while (skip_empty()) {
      const Header header = read_header();
      while (skip_empty() && !is_header_line()) read_row(header);
    }
    if (collector_.empty())
      throw core::FormatError("io::modem::read_data#no_rows", "{}:{}: expected rows of data, found none",
                              path_, lines_.size());
    return collector_.stations();
  }

 private:
  [[nodiscard]] std::string here() const { return fmt::format("{}:{}", path_, next_ + 1); }

  bool skip_empty() {
    while (next_ < lines_.size() && text::trimmed(lines_[next_]).empty()) ++next_;
    return next_ < lines_.size();
  }

  [[nodiscard]] bool is_header_line() const {
    const char c = text::trimmed(lines_[next_]).front();
    return c == '#' || c == '>' || c == '+';
  }

  /// Returns the text after ">" of the next header line, comments passed over.
  std::string_view header_entry(const char* what) {
    while (skip_empty()) {
      const auto text = text::trimmed(lines_[next_]);
      if (text.front() == '>') {
        ++next_;
        return text::trimmed(text.substr(1));
      }
      if (text.front() != '#' && text.front() != '+') break;
      ++next_;
    }
    throw core::FormatError("io::modem::read_data#no_header_line",
                            "{}: expected a header line `> {}`, got {}", here(), what,
                            next_ < lines_.size() ? "\"" + text::printable(lines_[next_]) + "\""
                                                  : std::string("the end of the file"));
  }

  const ModemBlock& read_block() {
    const auto name = header_entry("data type");
    if (const ModemBlock* block = modem_block(name)) return *block;
    std::vector<std::string_view> names;
    for (const ModemBlock& block : modem_blocks()) names.push_back(block.name);
    throw core::FormatError("io::modem::read_data#unknown_block",
                            "{}:{}: expected data of one of the types {}, got \"{}\"; correct the name, or "
                            "remove this block with its rows",
                            path_, next_, fmt::join(names, ", "), text::printable(name));
  }

  ModemSign read_sign() {
    const auto text = header_entry("exp(+i\\omega t)");
    if (const auto sign = modem_sign(text)) return *sign;
    throw core::FormatError("io::modem::read_data#no_sign",
                            "{}:{}: expected a time factor exp(+i\\omega t) or exp(-i\\omega t), got \"{}\"",
                            path_, next_, text::printable(text));
  }

  /// Reads an entry of the header, of `n` angles.
  std::vector<double> read_angles(const char* entry, std::size_t n) {
    const auto text = header_entry(entry);
    std::vector<double> angles;
    for (const auto word : text::words(text)) {
      const auto value = text::number(word);
      if (!value || !(std::abs(*value) <= largest_angle_deg)) break;
      angles.push_back(*value);
    }
    if (angles.size() != n || text::words(text).size() != n)
      throw core::FormatError("io::modem::read_data#not_an_angle",
                              "{}:{}: expected {} ({} from {:g} to {:g} degrees), got \"{}\"", path_, next_,
                              entry, n, -largest_angle_deg, largest_angle_deg, text::printable(text));
    return angles;
  }

  /// Reads orientation and origin; zeros stand for an origin that is not stated.
  LocalFrame read_frame() {
    const double azimuth = read_angles("orientation", 1).front();
    const auto origin = read_angles("latitude longitude", 2);
    if (origin[0] == 0.0 && origin[1] == 0.0) return {.azimuth_deg = azimuth};
    return {origin[0], origin[1], azimuth};
  }

  /// Checks that a block goes with those before it.
  void check_alike(const Header& header) {
    if (!first_) first_ = header;
    if (header.block->dimension != first_->block->dimension)
      throw core::FormatError(
          "io::modem::read_data#mixed_dimensions",
          "{}:{}: {} is a block of {}-D data, {} before it of {}-D; give each its own file", path_,
          header.line, header.block->name, header.block->dimension, first_->block->name,
          first_->block->dimension);
    if (header.block->dimension == 3 && !header.frame.is_same(first_->frame))
      throw core::FormatError(
          "io::modem::read_data#other_frame",
          "{}:{}: expected the orientation and origin of the first block, {} {} {}, got {} "
          "{} {}; give each block the same",
          path_, header.line, first_->frame.azimuth_deg, first_->frame.latitude_deg,
          first_->frame.longitude_deg, header.frame.azimuth_deg, header.frame.latitude_deg,
          header.frame.longitude_deg);
  }

  void read_units(Header& header) {
    const auto text = header_entry("units");
    if (!header.block->is_impedance) return;
    const auto units = modem_units(text);
    if (!units)
      throw core::FormatError("io::modem::read_data#unknown_units",
                              "{}:{}: expected units [mV/km]/[nT], [V/m]/[T] or Ohm, got \"{}\"", path_,
                              next_, text::printable(text));
    header.factor = ohm_per(*units);
    header.units = short_name_of(*units);
  }

  Header read_header() {
    Header header;
    header.block = &read_block();
    header.line = static_cast<int>(next_);
    header.conjugate = read_sign() == ModemSign::minus;
    read_units(header);
    header.frame = read_frame();
    check_alike(header);
    const auto counts = text::words(header_entry("nPeriods nSites"));
    const auto n_periods = counts.size() == 2 ? text::integer(counts[0]) : std::nullopt,
               n_sites = counts.size() == 2 ? text::integer(counts[1]) : std::nullopt;
    if (!n_periods || !n_sites)
      throw core::FormatError("io::modem::read_data#no_counts",
                              "{}:{}: expected two counts, periods and sites", path_, next_);
    header.n_periods = *n_periods;
    header.n_sites = *n_sites;
    return header;
  }

  double number_at(const std::vector<std::string_view>& row, std::size_t i, const char* what,
                   double most = std::numeric_limits<double>::infinity()) const {
    const auto value = text::number(row[i]);
    if (!value || !std::isfinite(*value))
      throw core::FormatError("io::modem::read_data#not_a_number", "{}: expected {} in column {}, got \"{}\"",
                              here(), what, i + 1, text::printable(row[i]));
    if (!(std::abs(*value) <= most))
      throw core::FormatError("io::modem::read_data#out_of_range",
                              "{}: expected {} from {:g} to {:g} in column {}, got {:g}", here(), what, -most,
                              most, i + 1, *value);
    return *value;
  }

  const ModemComponent& component_in(const Header& header, std::string_view name) const {
    if (const ModemComponent* component = component_of(*header.block, name)) return *component;
    throw core::FormatError("io::modem::read_data#unknown_component",
                            "{}: expected a component of {}, got \"{}\"", here(), header.block->name,
                            text::printable(name));
  }

  /// Checks the number of words. Rows of 3-D blocks may end with the azimuths of up to four channels.
  void check_columns(const Header& header, std::size_t n_words) const {
    const std::size_t least = columns(header), most = least + (header.block->dimension == 3 ? 4 : 0);
    if (n_words >= least && n_words <= most) return;
    throw core::FormatError("io::modem::read_data#wrong_columns",
                            "{}: expected {} columns in a row of {}, got {}; is the file cut off or a code "
                            "written with blanks?",
                            here(),
                            least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most),
                            header.block->name, n_words);
  }
  static std::size_t columns(const Header& header) {
    return header.component_column() + (header.block->is_real ? 3 : 4);
  }

  double read_period(const std::vector<std::string_view>& row) const {
    const double period = number_at(row, 0, "a period in s");
    if (!physics::mt::is_in_frequency_range(period))
      throw core::FormatError("io::modem::read_data#period_not_positive",
                              "{}: expected a period from {:g} to {:g} s, got {:g}", here(),
                              physics::mt::least_frequency_hz, physics::mt::largest_frequency_hz, period);
    return period;
  }

  /// Reads a site from its code and five numbers behind it.
  Station read_site(const Header& header, const std::vector<std::string_view>& row, std::size_t code) const {
    Station site{text::checked_name(row[code], "io::modem::read_data", here()),
                 number_at(row, code + 4, "y in m", largest_coordinate_m),
                 number_at(row, code + 1, "a latitude", 90.0),
                 number_at(row, code + 2, "a longitude", largest_angle_deg), not_given};
    const double x = number_at(row, code + 3, "x in m", largest_coordinate_m),
                 z = number_at(row, code + 5, "z in m", largest_coordinate_m);
    if (header.block->dimension == 3) {
      site.x_m = x;
      site.z_m = z;
    }
    if (site.latitude_deg == 0.0 && site.longitude_deg == 0.0)
      site.latitude_deg = site.longitude_deg = not_given;
    return site;
  }

  /// Returns the azimuths of the channels in the order Hx, Hy, Ex, Ey, counted from the orientation of the
  /// header; the reference's Hx and Hy stand instead of E. Those that are not stated are 0 for x, and 90 more
  /// than that of x for y.
  ChannelAzimuths azimuths_in(const Header& header, const std::vector<std::string_view>& row) const {
    const double zero = header.frame.azimuth_deg;
    const auto stated = [&](std::size_t i, double otherwise) {
      const std::size_t at = columns(header) + i;
      return at < row.size() ? zero + number_at(row, at, "an azimuth", largest_angle_deg) : otherwise;
    };
    const double hx = stated(0, zero), hy = stated(1, hx + 90.0), ex = stated(2, zero),
                 ey = stated(3, ex + 90.0);
    return {.ex_deg = ex,
            .ey_deg = ey,
            .hx_deg = hx,
            .hy_deg = hy,
            .tipper_hx_deg = hx,
            .tipper_hy_deg = hy,
            .local_hx_deg = hx,
            .local_hy_deg = hy,
            .reference_hx_deg = ex,
            .reference_hy_deg = ey};
  }

  void read_row(const Header& header) {
    const auto row = text::words(lines_[next_]);
    check_columns(header, row.size());
    const double frequency_hz = 1.0 / read_period(row);
    const ModemComponent& component = component_in(header, row[header.component_column()]);
    std::string reference;
    if (header.block->has_reference)
      reference = collector_.station(read_site(header, row, 7), header, here()).site.name;
    StationData& station = collector_.station(read_site(header, row, 1), header, here());
    if (header.block->has_reference) set_reference(reference, station);
    if (!header.units.empty()) station.units_in_file = header.units;
    if (header.conjugate) station.sign_in_file = "-";
    if (component.element) {
      set_complex(header, row, *component.element, frequency_hz, station);
    } else {
      set_real(header, row, component.datum, frequency_hz, station);
    }
    ++next_;
  }

  void set_reference(const std::string& reference, StationData& station) const {
    std::string& known = station.site.reference;
    if (!known.empty() && known != reference)
      throw core::FormatError("io::modem::read_data#second_reference",
                              "{}: expected one reference per site, got {} for {}, which had {} before; give "
                              "each its own file",
                              here(), reference, station.site.name, known);
    known = reference;
  }

  /// Errors from here on state that there is none (ModEM writes 1e13 or 2e15).
  static double sigma_of(double error, double factor) {
    constexpr double placeholder_error = 1e12;
    return error > 0.0 && error < placeholder_error ? error * factor : not_given;
  }

  [[noreturn]] void refuse_second(std::string_view datum, const StationData& station) const {
    throw core::FormatError(
        "io::modem::read_data#second_value",
        "{}: expected one value of each kind per site and period, got a second {} of site {}", here(), datum,
        station.site.name);
  }

  void set_complex(const Header& header, const std::vector<std::string_view>& row, Element element,
                   double frequency_hz, StationData& station) const {
    const std::size_t first = header.component_column() + 1;
    const double error = number_at(row, first + 2, "an error");
    const double imaginary = number_at(row, first + 1, "an imaginary part") * header.factor;
    const Complex value(number_at(row, first, "a real part") * header.factor,
                        header.conjugate ? -imaginary : imaginary);
    physics::mt::StationRow& at = station.row_at(frequency_hz);
    const auto given = [&at](Element e) { return !at.is_missing(e); };
    if (std::ranges::none_of(physics::mt::all_elements, given) && header.block->dimension == 3)
      at.azimuths = ChannelAzimuths::along(header.frame.azimuth_deg);
    if (given(element)) refuse_second(rule_of(real_part_of(element)).name, station);
    at.values[element] = value;
    at.errors[element] = sigma_of(error, header.factor);
    if (header.block->dimension == 3) take_azimuths(azimuths_in(header, row), element, at);
  }

  /// Impedance, tipper and inter-station function of a row may have channels of their own.
  static void take_azimuths(const ChannelAzimuths& stated, Element element, physics::mt::StationRow& row) {
    ChannelAzimuths& to = row.azimuths;
    if (physics::mt::is_tipper(element)) {
      to.tipper_hx_deg = stated.tipper_hx_deg;
      to.tipper_hy_deg = stated.tipper_hy_deg;
    } else if (physics::mt::is_interstation(element)) {
      to.local_hx_deg = stated.local_hx_deg;
      to.local_hy_deg = stated.local_hy_deg;
      to.reference_hx_deg = stated.reference_hx_deg;
      to.reference_hy_deg = stated.reference_hy_deg;
    } else {
      to.ex_deg = stated.ex_deg;
      to.ey_deg = stated.ey_deg;
      to.hx_deg = stated.hx_deg;
      to.hy_deg = stated.hy_deg;
    }
  }

  void add(const Header& header, Datum datum, double frequency_hz, const Uncertain& number,
           StationData& station) const {
    std::optional<double> azimuth_deg;
    if (header.block->dimension == 3) azimuth_deg = header.frame.azimuth_deg;
    if (!station.add({datum, frequency_hz, number.value, number.sigma, azimuth_deg}))
      refuse_second(rule_of(datum).name, station);
  }

  void set_real(const Header& header, const std::vector<std::string_view>& row, Datum datum,
                double frequency_hz, StationData& station) const {
    const double value = number_at(row, 8, "a value"), error = number_at(row, 9, "an error");
    check_unturned(header, row);
    const double sigma = sigma_of(error, 1.0);
    switch (rule_of(datum).floor) {
      case FloorKind::log10_rho:
        if (!(value > 0.0))
          throw core::FormatError("io::modem::read_data#resistivity_not_positive",
                                  "{}: expected an apparent resistivity above 0, got {}", here(), value);
        return add(header, datum, frequency_hz, {std::log10(value), sigma / (value * physics::mt::ln10)},
                   station);
      case FloorKind::phase:
        return add(header, datum, frequency_hz,
                   {unfolded_deg(datum, value, header.block->dimension == 3 && header.conjugate) /
                        physics::mt::deg_per_rad,
                    sigma / physics::mt::deg_per_rad},
                   station);
      default:
        return add(header, datum, frequency_hz, {value, sigma}, station);
    }
  }

  /// Real data cannot be rotated: their channels must lie along the axes of the file.
  void check_unturned(const Header& header, const std::vector<std::string_view>& row) const {
    if (header.block->dimension != 3) return;
    const ChannelAzimuths at = azimuths_in(header, row);
    const double zero = header.frame.azimuth_deg;
    if (at.hx_deg == zero && at.hy_deg == zero + 90.0 && at.ex_deg == zero && at.ey_deg == zero + 90.0)
      return;
    throw core::FormatError("io::modem::read_data#turned_channels",
                            "{}: expected channels along 0 and 90 degrees in a block of {}, which cannot be "
                            "rotated; give impedances instead",
                            here(), header.block->name);
  }

  std::vector<std::string_view> lines_;
  const std::string& path_;
  std::size_t next_ = 0;
  std::optional<Header> first_;
  Collector collector_;
};

}  // namespace

std::vector<StationData> read_data(const std::string& path) {
  const std::string bytes = text::read_text(path);
  return DataReader(bytes, path).read();
}

}  // namespace lodestone::io::modem
