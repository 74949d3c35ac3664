// SPDX-License-Identifier: Apache-2.0
#include "io/edi/writer.hpp"

#include "engine/core/error.hpp"
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace lodestone::io::edi {
namespace {

namespace mt = physics::mt;
using mt::Element;
using mt::StationData;
using mt::StationRow;

/// Stands for a number that is missing.
constexpr const char* empty = "1E+32";

struct BlockNames {
  Element element;
  const char *real, *imaginary, *variance, *rotation;
};
constexpr std::array<BlockNames, 6> blocks{{{Element::zxx, "ZXXR", "ZXXI", "ZXX.VAR", "ZROT"},
                                            {Element::zxy, "ZXYR", "ZXYI", "ZXY.VAR", "ZROT"},
                                            {Element::zyx, "ZYXR", "ZYXI", "ZYX.VAR", "ZROT"},
                                            {Element::zyy, "ZYYR", "ZYYI", "ZYY.VAR", "ZROT"},
                                            {Element::tzx, "TXR.EXP", "TXI.EXP", "TXVAR.EXP", "TROT.EXP"},
                                            {Element::tzy, "TYR.EXP", "TYI.EXP", "TYVAR.EXP", "TROT.EXP"}}};

/// Returns the variance of the file that the reader turns into this error; `unit` is that of the value.
double variance_of(double sigma, double unit) {
  const double in_file = sigma / unit;
  return mt::preimage(sigma, 2.0 * in_file * in_file, [unit](double variance) {
    return 1.0 / std::numbers::sqrt2 * std::sqrt(variance) * unit;
  });
}

class EdiWriter {
 public:
  explicit EdiWriter(const StationData& station) : rows_(station.rows), station_(station) {}

  mt::Written write() {
    std::vector<std::string> lost = mt::not_held(station_, {});
    make_perpendicular(lost);
    write_head();
    write_measurements();
    text_ += fmt::format(
        "\n>=MTSECT\n  SECTID=\"{}\"\n  NFREQ={}\n  HX=1.001\n  HY=2.001\n  HZ=3.001\n  EX=4.001\n  "
        "EY=5.001\n\n",
        station_.site.name, rows_.size());
    write_block("FREQ", "", [](const StationRow& row) { return row.frequency_hz; });
    write_block("ZROT", "", [](const StationRow& row) { return row.azimuths.hx_deg; });
    if (has(mt::all_tippers))
      write_block("TROT.EXP", "", [](const StationRow& row) { return row.azimuths.tipper_hx_deg; });
    for (const BlockNames& names : blocks) write_element(names);
    text_ += ">END\n";
    return {std::move(text_), std::move(lost)};
  }

 private:
  /// Turns rows whose channels are not perpendicular, each within its own period.
  void make_perpendicular(std::vector<std::string>& lost) {
    int n = 0;
    for (StationRow& row : rows_) {
      const mt::ChannelAzimuths& at = row.azimuths;
      const bool fits = at.hy_deg == at.hx_deg + 90.0 && at.ex_deg == at.hx_deg && at.ey_deg == at.hy_deg &&
                        at.tipper_hy_deg == at.tipper_hx_deg + 90.0;
      if (fits) continue;
      row = mt::rotated(row, at.hx_deg);
      ++n;
    }
    if (n > 0)
      lost.push_back(
          fmt::format("channels that are not perpendicular: {} periods were turned to the axis of Hx", n));
  }

  [[nodiscard]] bool has(mt::Elements elements) const {
    return std::ranges::any_of(rows_, [&](const StationRow& row) {
      return std::ranges::any_of(mt::all_elements,
                                 [&](Element e) { return elements.contains(e) && !row.is_missing(e); });
    });
  }

  void write_head() {
    const mt::Station& site = station_.site;
    text_ += fmt::format(">HEAD\n  DATAID=\"{}\"\n", site.name);
    const auto entry = [&](const char* key, double value) {
      if (std::isfinite(value)) text_ += fmt::format("  {}={}\n", key, text::shortest(value));
    };
    entry("LAT", site.latitude_deg);
    entry("LONG", site.longitude_deg);
    entry("ELEV", site.elevation_m);
    text_ += fmt::format("  UNITS=M\n  STDVERS=\"SEG 1.0\"\n  PROGVERS=\"Lodestone\"\n  EMPTY={}\n\n", empty);
    text_ += ">INFO\n  SIGNCONVENTION=exp(+ i\\omega t)\n";
    if (!station_.remote_reference.empty())
      text_ += fmt::format("  REMOTE REFERENCE: {}\n", station_.remote_reference);
    text_ += "\n";
  }

  void write_measurements() {
    const mt::ChannelAzimuths& at = rows_.front().azimuths;
    text_ += ">=DEFINEMEAS\n  MAXCHAN=5\n  UNITS=M\n  REFTYPE=CART\n";
    const auto channel = [&](const char* kind, int id, const char* type, double azimuth_deg) {
      text_ += fmt::format(">{} ID={}.001 CHTYPE={} X=0 Y=0 AZM={}\n", kind, id, type,
                           text::shortest(azimuth_deg));
    };
    channel("HMEAS", 1, "HX", at.hx_deg);
    channel("HMEAS", 2, "HY", at.hy_deg);
    channel("HMEAS", 3, "HZ", 0.0);
    channel("EMEAS", 4, "EX", at.ex_deg);
    channel("EMEAS", 5, "EY", at.ey_deg);
  }

  void write_block(const std::string& name, const std::string& options,
                   const std::function<double(const StationRow&)>& value) {
    constexpr std::size_t per_line = 6;
    text_ += fmt::format(">{}{} //{}\n", name, options, rows_.size());
    for (std::size_t k = 0; k < rows_.size(); ++k)
      text_ += fmt::format(" {}{}", text::shortest(value(rows_[k]), empty),
                           k % per_line == per_line - 1 || k + 1 == rows_.size() ? "\n" : "");
  }

  void write_element(const BlockNames& names) {
    if (!has({names.element})) return;
    const std::string rotation = fmt::format(" ROT={}", names.rotation);
    const bool scaled = is_impedance(names.element);
    const auto in_file = [scaled](double value) { return scaled ? mt::in_field_units(value) : value; };
    write_block(names.real, rotation,
                [&](const StationRow& row) { return in_file(row.values[names.element].real()); });
    write_block(names.imaginary, rotation,
                [&](const StationRow& row) { return in_file(row.values[names.element].imag()); });
    const auto has_error = [&](const StationRow& row) { return std::isfinite(row.errors[names.element]); };
    if (std::ranges::none_of(rows_, has_error)) return;
    write_block(names.variance, rotation, [&](const StationRow& row) {
      return variance_of(row.errors[names.element], scaled ? mt::ohm_per_field_unit : 1.0);
    });
  }

  std::vector<StationRow> rows_;
  const StationData& station_;
  std::string text_;
};

}  // namespace

mt::Written text_of(const StationData& station) {
  if (station.site.name.empty() || station.rows.empty())
    throw core::InvalidArgument(
        "io::edi::text_of#nothing",
        "expected a station with a name and impedances or tippers, got \"{}\" with {} "
        "frequencies",
        station.site.name, station.rows.size());
  return EdiWriter(station).write();
}

}  // namespace lodestone::io::edi
