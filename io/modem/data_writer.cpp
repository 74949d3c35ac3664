// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/words.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <map>
#include <tuple>

namespace lodestone::io::modem {
namespace {

using physics::mt::Datum;
using physics::mt::MaskReason;
using physics::mt::Observations;
using physics::mt::Station;

constexpr double no_error = 2e15;  ///< ModEM's mark of a datum without an error

struct Value {
  double value, sigma;
};
/// Kept data by station, frequency and quantity: the order of the rows in a block.
using Table = std::map<std::tuple<int, int, Datum>, Value>;

/// The number x next to `guess` for which f(x) is exactly `target`, so that reading undoes writing; the guess
/// itself when there is none.
template <class Function>
double preimage(double target, double guess, const Function& f) {
  double up = guess, down = guess;
  for (int i = 0; i < 3; ++i) {
    if (f(up) == target) return up;
    if (f(down) == target) return down;
    up = std::nextafter(up, INFINITY);
    down = std::nextafter(down, -INFINITY);
  }
  return guess;
}

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

class DataWriter {
 public:
  DataWriter(const Observations& data, const ModemDataOptions& options) : data_(data), options_(options) {
    for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
      const auto& key = data.survey.keys[i];
      if (data.reason[i] != MaskReason::kept) continue;
      if (key.quantity == Datum::log10_rho_xy || key.quantity == Datum::phase_xy) {
        throw core::InvalidArgument("io::modem::write_data#te_apparent_resistivity",
                                    "ModEM's 2-D format has no apparent resistivity and phase of the TE "
                                    "mode; select zxy_re and zxy_im");
      }
      table_[{key.station, key.frequency, key.quantity}] = {data.value[static_cast<Eigen::Index>(i)],
                                                            data.sigma[static_cast<Eigen::Index>(i)]};
    }
  }

  std::string text() {
    append_complex(ModemBlockKind::te, "TE", Datum::zxy_re, Datum::zxy_im, ohm_per(options_.units));
    append_complex(ModemBlockKind::tm, "TM", Datum::zyx_re, Datum::zyx_im, ohm_per(options_.units));
    append_complex(ModemBlockKind::tzy, "TY", Datum::tzy_re, Datum::tzy_im, 1.0);
    append_rho_phase();
    return text_;
  }

 private:
  void append_header(ModemBlockKind kind, const char* columns, std::string_view units) {
    fmt::format_to(std::back_inserter(text_),
                   "# {}\n# Period(s) Code GG_Lat GG_Lon X(m) Y(m) Z(m) Component {} Error\n> {}\n> "
                   "exp({}i\\omega t)\n> {}\n> 0.00\n"
                   "> 0.000 0.000\n> {} {}\n",
                   options_.comment, columns, name_of(kind), options_.sign == ModemSign::plus ? '+' : '-',
                   units, data_.survey.frequencies_hz.size(), data_.survey.stations.size());
  }

  void append_place(int station, int frequency, std::string_view component) {
    const Station& s = data_.survey.stations[static_cast<std::size_t>(station)];
    const double f = data_.survey.frequencies_hz[static_cast<std::size_t>(frequency)];
    const double period = preimage(f, 1.0 / f, [](double p) { return 1.0 / p; });
    const bool placed = std::isfinite(s.latitude_deg) && std::isfinite(s.longitude_deg);
    fmt::format_to(std::back_inserter(text_), "{:<24} {:<12} {} {} 0 {} 0 {}", period, code_of(s),
                   placed ? s.latitude_deg : 0.0, placed ? s.longitude_deg : 0.0,
                   s.y_m - options_.left_edge_m, component);
  }

  static double error_of(double sigma, double factor) {
    if (!(sigma > 0.0) || !std::isfinite(sigma)) return no_error;
    return preimage(sigma, sigma / factor, [factor](double e) { return e * factor; });
  }

  void append_complex(ModemBlockKind kind, std::string_view component, Datum real, Datum imaginary,
                      double factor) {
    const auto in_file = [factor](double v) {
      return preimage(v, v / factor, [factor](double x) { return x * factor; });
    };
    bool started = false;
    for (const auto& [key, re] : table_) {
      const auto [station, frequency, quantity] = key;
      const Datum other = quantity == real ? imaginary : real;
      if (quantity != real && quantity != imaginary) continue;
      const auto im = table_.find({station, frequency, other});
      if (im == table_.end()) {
        throw core::InvalidArgument(
            "io::modem::write_data#one_part_alone",
            "expected both parts of {} at station {}, got {} alone; mask or keep both", name_of(kind),
            data_.survey.stations[static_cast<std::size_t>(station)].name, name_of(quantity));
      }
      if (quantity != real) continue;
      if (!started)
        append_header(kind, "Real Imag", kind == ModemBlockKind::tzy ? "[]" : name_of(options_.units));
      started = true;
      append_place(station, frequency, component);
      const double sign = options_.sign == ModemSign::plus ? 1.0 : -1.0;
      fmt::format_to(std::back_inserter(text_), " {} {} {}\n", in_file(re.value),
                     sign * in_file(im->second.value), error_of(re.sigma, factor));
    }
  }

  void append_rho_phase() {
    bool started = false;
    for (const auto& [key, datum] : table_) {
      const auto [station, frequency, quantity] = key;
      if (quantity != Datum::log10_rho_yx && quantity != Datum::phase_yx) continue;
      if (!started) append_header(ModemBlockKind::rho_phase_tm, "Value", "[]");
      started = true;
      const bool is_rho = quantity == Datum::log10_rho_yx;
      append_place(station, frequency, is_rho ? "Rho_TM" : "Phs_TM");
      const double rho = std::pow(10.0, datum.value),
                   folded_deg = folded(datum.value * physics::mt::deg_per_rad);
      const double factor = is_rho ? 1.0 / (rho * physics::mt::ln10) : 1.0 / physics::mt::deg_per_rad;
      const double error = datum.sigma > 0.0 && std::isfinite(datum.sigma) ? datum.sigma / factor : no_error;
      fmt::format_to(std::back_inserter(text_), " {} {}\n", is_rho ? rho : folded_deg, error);
    }
  }

  const Observations& data_;
  const ModemDataOptions& options_;
  Table table_;
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
