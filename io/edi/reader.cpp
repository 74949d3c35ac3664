// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"

#include "engine/core/clean_text.hpp"
#include "engine/core/error.hpp"
#include "io/edi/file.hpp"
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace lodestone::io::edi {
namespace {

using physics::mt::Complex;
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

/// Keeps of rows with one frequency the first that has a value, and removes fillers.
void remove_repeated_frequencies(EdiFile& file, std::vector<StationRow>& rows) {
  std::vector<StationRow> kept;
  for (auto begin = rows.begin(); begin != rows.end();) {
    const auto end =
        std::find_if(begin, rows.end(), [&](const auto& r) { return r.frequency_hz != begin->frequency_hz; });
    const bool filler = is_filler(*begin, end - begin);
    const auto first = std::find_if(begin, end, has_value);
    const auto line = [&, hz = begin->frequency_hz] {
      return line_of_frequency(file, [hz](double each) { return each == hz; });
    };
    if (!filler) kept.push_back(first == end ? *begin : *first);
    if (filler)
      file.warn(line(), fmt::format("frequency {} Hz ({} times) is a filler; left out", begin->frequency_hz,
                                    end - begin));
    if (!filler && end - begin > 1)
      file.warn(line(), fmt::format("frequency {} Hz stands {} times; the first is kept", begin->frequency_hz,
                                    end - begin));
    begin = end;
  }
  rows = std::move(kept);
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

/// Returns the time factor that the text of the file states, if any.
std::optional<EdiSign> stated_sign(const EdiFile& file) {
  for (const auto& block : file.blocks) {
    for (const auto& [line, text] : block.lines) {
      if (block.name != "INFO") continue;
      std::string packed;
      for (const char c : text::lower(text)) packed += text::is_blank(c) ? std::string() : std::string(1, c);
      if (packed.find("exp(-i") != std::string::npos) return EdiSign::minus;
      if (packed.find("exp(+i") != std::string::npos || packed.find("exp(i") != std::string::npos)
        return EdiSign::plus;
    }
  }
  return std::nullopt;
}

/// Counts the values of one element in the quadrant of e^{+iωt} (Zxy: first, Zyx: third) and in its
/// conjugate.
struct Votes {
  int plus = 0, minus = 0;
  [[nodiscard]] int count() const { return plus + minus; }
  [[nodiscard]] int of(EdiSign sign) const { return sign == EdiSign::minus ? minus : plus; }
};

/// Returns the votes of one off-diagonal element, multiplied by `sign` so that it lies in the right half
/// plane.
Votes votes_of(const StationData& station, Element element, double sign) {
  Votes votes;
  for (const auto& row : station.rows) {
    const Complex z = sign * row.values[element];
    if (z.real() > 0.0 && z.imag() > 0.0) ++votes.plus;
    if (z.real() > 0.0 && z.imag() < 0.0) ++votes.minus;
  }
  return votes;
}

/// Returns the time factor that both off-diagonal elements vote for, if either has enough votes and neither
/// contradicts. Zxy and Zyx count alike, and so do the two time factors.
std::optional<EdiSign> voted_sign(const StationData& station) {
  constexpr int enough = 5;
  const Votes xy = votes_of(station, Element::zxy, 1.0), yx = votes_of(station, Element::zyx, -1.0);
  if (std::max(xy.count(), yx.count()) < enough) return std::nullopt;
  for (const EdiSign sign : {EdiSign::plus, EdiSign::minus}) {
    const auto agrees = [sign](const Votes& votes) {
      return votes.count() == 0 || votes.of(sign) > 2 * (votes.count() - votes.of(sign));
    };
    if (agrees(xy) && agrees(yx)) return sign;
  }
  return std::nullopt;
}

std::string_view factor_of(EdiSign sign) {
  return sign == EdiSign::minus ? "exp(-i omega t)" : "exp(+i omega t)";
}

void convert_sign(EdiFile& file, StationData& station, EdiSign option) {
  const auto voted = voted_sign(station), stated = stated_sign(file);
  const EdiSign sign = option != EdiSign::vote ? option : stated.value_or(voted.value_or(EdiSign::plus));
  if (option == EdiSign::vote && !stated && voted == EdiSign::minus) {
    file.warn(
        1,
        "quadrants of Zxy and Zyx show that the time factor is exp(-i omega t); all values were conjugated");
  } else if (option == EdiSign::vote && stated && voted && *stated != *voted) {
    file.warn(1,
              fmt::format("the file states {}, but the quadrants of Zxy and Zyx contradict; read as stated",
                          factor_of(*stated)));
  } else if (option == EdiSign::vote && !stated && std::ranges::none_of(station.rows, has_impedance)) {
    file.warn(1,
              "tippers alone do not show the time factor, and the file does not state it; exp(+i omega t) is "
              "assumed, which a line of >INFO or data.edi_sign corrects");
  }
  station.sign_in_file = std::string(1, sign == EdiSign::minus ? '-' : '+');
  if (sign != EdiSign::minus) return;
  for (auto& row : station.rows) {
    for (Complex& value : row.values.numbers) value = std::conj(value);
    if (row.covariance) row.covariance = row.covariance->conjugate().eval();
  }
}

/// Returns the median apparent resistivity of the off-diagonal elements if they are in mV/km/nT; NaN when
/// there is none.
double median_rho_as_field(const StationData& station) {
  std::vector<double> rho;
  for (const auto& row : station.rows) {
    for (const Element element : {Element::zxy, Element::zyx}) {
      if (!row.is_missing(element)) rho.push_back(0.2 * std::norm(row.values[element]) / row.frequency_hz);
    }
  }
  if (rho.empty()) return physics::mt::not_given;
  const auto middle = rho.begin() + static_cast<std::ptrdiff_t>(rho.size() / 2);
  std::nth_element(rho.begin(), middle, rho.end());
  return *middle;
}

void convert_units(EdiFile& file, StationData& station, EdiUnits option) {
  constexpr double implausible_rho = 1e-3;  // no site has a median below; bad ones come near
  constexpr double ohm_over_field_rho =
      1.0 / (physics::mt::ohm_per_field_unit * physics::mt::ohm_per_field_unit);
  const double as_field = median_rho_as_field(station), as_ohm = as_field * ohm_over_field_rho;
  const bool vote_says_ohm = as_field < implausible_rho && as_ohm > 1e-1 && as_ohm < 1e6;
  const bool is_ohm = option == EdiUnits::ohm || (option == EdiUnits::vote && vote_says_ohm);
  if (option == EdiUnits::vote && vote_says_ohm) {
    file.warn(1, fmt::format("the size of the impedances (median apparent resistivity {:.3g} ohm m as "
                             "mV/km/nT, {:.3g} as ohm) shows that they are in ohm",
                             as_field, as_ohm));
  } else if (!is_ohm && (as_field < 1e-2 || as_field > 1e6)) {
    file.warn(1,
              fmt::format("median apparent resistivity is {:.3g} ohm m; are the units mV/km/nT?", as_field));
  }
  station.units_in_file = is_ohm ? "ohm" : "mV/km/nT";
  if (is_ohm) return;
  for (auto& row : station.rows) {
    for (const Element element : physics::mt::all_elements) {
      if (!is_impedance(element)) continue;
      const auto k = static_cast<Eigen::Index>(index_of(element));
      row.values[element] *= physics::mt::ohm_per_field_unit;
      row.errors[element] *= physics::mt::ohm_per_field_unit;
      if (!row.covariance) continue;
      row.covariance->row(k) *= physics::mt::ohm_per_field_unit;
      row.covariance->col(k) *= physics::mt::ohm_per_field_unit;
    }
  }
}

void check_ending(EdiFile& file) {
  if (!file.find("END"))
    file.warn(file.blocks.back().line, "no >END; the file may be cut off after this block");
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

}  // namespace

StationData parse(const std::string& bytes, const std::string& path, const EdiOptions& options) {
  const std::string text = core::clean_text(bytes);
  EdiFile file = split_edi(text, path);
  check_blocks_once(file);
  check_ending(file);
  const EdiHead head = read_edi_head(file);
  StationData station;
  station.site.name = head.name;
  station.site.y_m = physics::mt::not_given;
  station.site.latitude_deg = head.latitude_deg;
  station.site.longitude_deg = head.longitude_deg;
  station.site.elevation_m = head.elevation_m;
  station.path = path;
  station.format = "EDI";
  read_rows(file, head, options, station);
  remark_on_frames(file, station.rows);
  sort_and_check_frequencies(file, station.rows);
  if (std::none_of(station.rows.begin(), station.rows.end(), has_value)) {
    throw core::FormatError("io::edi::read#no_values",
                            "{}:1: expected impedance, apparent resistivity, tipper or spectra blocks with "
                            "values, found none at {} frequencies",
                            path, station.rows.size());
  }
  convert_sign(file, station, options.sign);
  convert_units(file, station, options.units);
  station.remarks = std::move(file.warnings);
  station.zero_tippers = std::move(file.zero_tippers);
  return station;
}

StationData read(const std::string& path, const EdiOptions& options) {
  return parse(text::read_bytes(path), path, options);
}

}  // namespace lodestone::io::edi
