// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/damage.hpp"
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::edi {
namespace {

using physics::mt::Complex;
using physics::mt::not_given;
using physics::mt::StationRow;

constexpr std::array<const char*, 4> tensor_names{"XX", "XY", "YX", "YY"};

/// Blocks of one value per frequency.
class Columns {
 public:
  Columns(EdiFile& file, const EdiEmpty& empty, double part_of_root)
      : file_(file), empty_(empty), part_of_root_(part_of_root) {
    read_frequencies();
  }

  [[nodiscard]] std::size_t size() const { return frequencies_.size(); }
  [[nodiscard]] const std::vector<double>& frequencies() const { return frequencies_; }
  [[nodiscard]] EdiFile& file() { return file_; }
  [[nodiscard]] OpenErrors& open_errors() { return open_errors_; }
  /// Returns σ of each part of a complex number; a variance that is missing, zero or negative gives NaN.
  [[nodiscard]] double deviation(double variance) const {
    return variance > 0.0 ? part_of_root_ * std::sqrt(variance) : not_given;
  }

  /// Returns the values of the first block that has one of the names, NaN where EMPTY; an empty vector when
  /// there is no such block.
  [[nodiscard]] std::vector<double> values(const std::vector<std::string>& names) {
    const EdiBlock* block = file_.find_any(names);
    if (!block) return {};
    std::vector<double> out = numbers_of(*block, file_.path);
    if (out.size() < size()) {
      throw core::FormatError("io::edi::read#too_few_numbers",
                              "{}:{}: expected {} numbers in block >{}, got {}; is the file cut off?",
                              file_.path, block->line, size(), block->name, out.size());
    }
    if (out.size() > size())
      file_.warn(block->line, damaged(fmt::format("block >{} holds {} numbers, the first {} are used",
                                                  block->name, out.size(), size())));
    out.resize(size());
    for (double& v : out) v = empty_(v);
    return out;
  }

 private:
  void read_frequencies() {
    const EdiBlock* block = file_.find("FREQ");
    if (!block) {
      throw core::FormatError(
          "io::edi::read#no_frequencies",
          "{}:1: expected a block >FREQ, found none among {} blocks; is the file cut off?", file_.path,
          file_.blocks.size());
    }
    frequencies_ = numbers_of(*block, file_.path);
    const auto announced = block->announced ? text::integer(*block->announced) : std::nullopt;
    const std::size_t n =
        announced && *announced > 0 ? static_cast<std::size_t>(*announced) : frequencies_.size();
    if (block->announced && !announced && !block->announced->empty()) {
      file_.warn(block->line, fmt::format("the count of frequencies is written \"{}\"; {} were found",
                                          text::printable(*block->announced), frequencies_.size()));
    }
    if (frequencies_.empty() || frequencies_.size() < n) {
      throw core::FormatError("io::edi::read#too_few_frequencies",
                              "{}:{}: expected {} frequencies in block >FREQ, got {}; is the file cut off?",
                              file_.path, block->line, n, frequencies_.size());
    }
    if (frequencies_.size() > n)
      file_.warn(block->line,
                 damaged(fmt::format(">FREQ announces {} values, holds {}; the first {} are used", n,
                                     frequencies_.size(), n)));
    frequencies_.resize(n);
    for (double& f : frequencies_) f = empty_(f);
  }

  EdiFile& file_;
  const EdiEmpty& empty_;
  double part_of_root_;
  std::vector<double> frequencies_;
  OpenErrors open_errors_;
};

double at(const std::vector<double>& column, std::size_t i) { return column.empty() ? not_given : column[i]; }

bool is_zero(const Estimate& e) { return e.value == Complex(0.0, 0.0); }

/// Errors of one complex element: as the file states them, and σ of each part.
struct ErrorColumn {
  std::vector<double> stated, sigma;
  int line = 0;
};

/// Reads errors out of a .VAR block, or else a .ERR block (a standard error).
ErrorColumn errors_of(Columns& columns, const std::vector<std::string>& variance_names,
                      const std::vector<std::string>& error_names) {
  const bool variances = columns.file().find_any(variance_names) != nullptr;
  const EdiBlock* block = columns.file().find_any(variances ? variance_names : error_names);
  if (!block) return {};
  ErrorColumn out{columns.values(variances ? variance_names : error_names), {}, block->line};
  for (const double v : out.stated)
    out.sigma.push_back(variances ? columns.deviation(v) : v > 0.0 ? v : not_given);
  return out;
}

/// Names of the blocks of one complex element.
struct ElementBlocks {
  std::vector<std::string> real, imaginary, variance, error;
};

/// Returns an estimate for each frequency; all missing when one part has no block.
std::vector<Estimate> complex_column(Columns& columns, const std::string& element,
                                     const ElementBlocks& names) {
  const auto re = columns.values(names.real), im = columns.values(names.imaginary);
  const ErrorColumn errors = errors_of(columns, names.variance, names.error);
  std::vector<Estimate> out(columns.size());
  if (re.empty() || im.empty()) return out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = {{re[i], im[i]}, at(errors.sigma, i)};
    columns.open_errors().look_at(element, out[i], at(errors.stated, i), errors.line);
  }
  return out;
}

/// Warns about Zxy and Zyx whose blocks are there and hold nothing.
void warn_about_empty_elements(Columns& columns, const std::string& station,
                               const std::vector<StationRow>& rows) {
  for (const std::size_t k : {1U, 2U}) {
    const EdiBlock* block = columns.file().find(fmt::format("Z{}R", tensor_names[k]));
    const bool is_whole = block && columns.file().find(fmt::format("Z{}I", tensor_names[k]));
    const auto missing = [k](const StationRow& r) { return estimate_of(r, k).is_missing(); };
    if (is_whole && std::all_of(rows.begin(), rows.end(), missing))
      columns.file().warn(
          block->line,
          damaged(fmt::format(
              "station {}: none of the {} values of {} is a number (not finite, EMPTY or 0); it has none",
              station, rows.size(), element_names[k])));
  }
}

void read_impedances(Columns& columns, std::vector<StationRow>& rows) {
  for (std::size_t k = 0; k < tensor_names.size(); ++k) {
    const std::string z = std::string("Z") + tensor_names[k];
    const auto column =
        complex_column(columns, element_names[k], {{z + "R"}, {z + "I"}, {z + ".VAR"}, {z + ".ERR"}});
    for (std::size_t i = 0; i < rows.size(); ++i) set(rows[i], k, column[i]);
  }
  for (auto& row : rows) {  // an off-diagonal element that is exactly zero is a filler; diagonal ones are
                            // zero over 1-D and 2-D models
    const bool xy = is_zero(estimate_of(row, 1)), yx = is_zero(estimate_of(row, 2));
    for (std::size_t k = 0; k < tensor_names.size(); ++k) {
      if ((xy && yx) || (k == 1 && xy) || (k == 2 && yx)) set(row, k, {});
    }
  }
}

/// Leaves out tippers that are exactly zero, which are fillers, with a remark.
void read_tippers(Columns& columns, const std::string& station, std::vector<StationRow>& rows) {
  const std::array<const char*, 2> names{"TX", "TY"};
  for (std::size_t k = 0; k < names.size(); ++k) {
    const std::string t = names[k];
    const auto column = complex_column(columns, element_names[4 + k],
                                       {{t + "R.EXP", t + "R"},
                                        {t + "I.EXP", t + "I"},
                                        {t + "VAR.EXP", t + "VAR", t + ".VAR"},
                                        {t + "ERR.EXP", t + "ERR", t + ".ERR"}});
    for (std::size_t i = 0; i < rows.size(); ++i) set(rows[i], 4 + k, column[i]);
  }
  const auto is_given = [](const StationRow& row) {
    return !estimate_of(row, 4).is_missing() || !estimate_of(row, 5).is_missing();
  };
  int n_zero = 0, n_given = 0;
  for (auto& row : rows) {
    n_given += is_given(row) ? 1 : 0;
    if (!is_zero(estimate_of(row, 4)) || !is_zero(estimate_of(row, 5))) continue;
    ++n_zero;
    set(row, 4, {});
    set(row, 5, {});
  }
  if (n_zero == 0) return;
  const EdiBlock* block = columns.file().find_any({"TXR.EXP", "TXR", "TYR.EXP", "TYR"});
  const std::string place = fmt::format("{}:{}", columns.file().path, block->line);
  columns.file().zero_tippers =
      n_zero == n_given ? physics::mt::remark_on_zero_tippers(place, station, 4 * n_zero)
                        : fmt::format(
                              "{}: station {}: the tipper is exactly 0 at {} of {} periods; it counts as not "
                              "measured there",
                              place, station, n_zero, n_given);
}

void read_rho_phase(Columns& columns, std::vector<StationRow>& rows) {
  for (std::size_t k = 0; k < tensor_names.size(); ++k) {
    const std::string rho_name = std::string("RHO") + tensor_names[k],
                      phase_name = std::string("PHS") + tensor_names[k];
    const auto rho = columns.values({rho_name}), phase = columns.values({phase_name});
    if (rho.empty() || phase.empty()) continue;
    const auto rho_error = columns.values({rho_name + ".ERR"}),
               phase_error = columns.values({phase_name + ".ERR"});
    const bool folded = k == 2 && physics::mt::is_folded(phase);
    if (folded)
      columns.file().warn(columns.file().find(phase_name)->line,
                          "phases of Zyx stand in the first quadrant; 180 degrees were subtracted");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Estimate z = physics::mt::impedance_of(
          {rho[i], folded ? phase[i] - 180.0 : phase[i], at(rho_error, i), at(phase_error, i)},
          columns.frequencies()[i]);
      set(rows[i], k, z);
      columns.open_errors().look_at(element_names[k], z, std::fmin(at(rho_error, i), at(phase_error, i)));
    }
  }
  columns.file().warn(1, "no impedance blocks; made from apparent resistivity and phase");
}

/// Returns the azimuth of the frame of a data block per frequency: its ROT= option, or else the array that
/// belongs to it.
std::vector<double> frames(Columns& columns, const EdiBlock* block,
                           const std::vector<std::string>& own_arrays) {
  std::vector<double> zeros(columns.size(), 0.0);
  if (!block) return zeros;
  const auto option = block->options.find("ROT");
  const std::string rot = option == block->options.end() ? std::string() : text::upper(option->second);
  if (rot == "NONE" || rot == "NORTH") return zeros;
  if (const auto angle = text::number(rot); angle && std::isfinite(*angle))
    return std::vector<double>(columns.size(), *angle);
  auto angles = rot.empty() ? columns.values(own_arrays) : columns.values({rot, rot + ".EXP"});
  if (angles.empty() && !rot.empty()) angles = columns.values(own_arrays);
  if (angles.empty()) return zeros;
  const bool some_missing = std::any_of(angles.begin(), angles.end(), [](double a) { return std::isnan(a); });
  if (some_missing)
    columns.file().warn(block->line, "rotation angles are missing at some frequencies; taken as 0");
  for (double& a : angles) a = std::isnan(a) ? 0.0 : a;
  return angles;
}

/// Returns whether HEAD states geographic axes; rotation angles then describe a rotation that was applied,
/// not the frame.
bool is_stated_geographic(const EdiFile& file) {
  const EdiBlock* head = file.find("HEAD");
  if (!head) return false;
  const auto entries = head->entries();
  const auto system = entries.find("COORDINATE_SYSTEM");
  return system != entries.end() && text::lower(system->second).substr(0, 10) == "geographic";
}

/// Sets the angles of an already rotated tensor to 0, with a warning.
void clear_frames(EdiFile& file, std::vector<StationRow>& rows) {
  double angle = 0.0;
  for (auto& row : rows) {
    if (row.azimuths.hx_deg != 0.0) angle = row.azimuths.hx_deg;
    row.azimuths = {};
  }
  if (angle != 0.0) {
    file.warn(
        1, fmt::format("COORDINATE_SYSTEM states geographic axes: rotation angles ({} degrees) were taken as "
                       "already applied, not as the frame",
                       angle));
  }
}

/// Warns about channels laid out in another direction when no block states the frame of the tensor.
void warn_about_unstated_frame(EdiFile& file) {
  if (file.find_any({"ZROT", "RHOROT", "TROT", "TROT.EXP"})) return;
  for (const auto& block : file.blocks) {
    if (block.name != "HMEAS" ||
        text::upper(block.options.count("CHTYPE") ? block.options.at("CHTYPE") : "") != "HX")
      continue;
    const auto azimuth = block.options.count("AZM") ? text::number(block.options.at("AZM")) : std::nullopt;
    if (azimuth && std::abs(*azimuth) > 0.01) {
      file.warn(block.line, fmt::format("HX was laid out at azimuth {} but no >ZROT states the frame of the "
                                        "tensor; x is taken as geographic north",
                                        *azimuth));
    }
    return;
  }
}

}  // namespace

std::vector<StationRow> read_edi_impedances(EdiFile& file, const EdiHead& head, double part_of_root) {
  Columns columns(file, head.empty, part_of_root);
  std::vector<StationRow> rows(columns.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].frequency_hz = columns.frequencies()[i];
  const bool has_impedance = file.find_any({"ZXYR", "ZYXR", "ZXXR", "ZYYR"}) != nullptr;
  const bool has_rho = !has_impedance && file.find_any({"RHOXY", "RHOYX"}) != nullptr;
  if (has_impedance) read_impedances(columns, rows);
  if (has_rho) read_rho_phase(columns, rows);
  read_tippers(columns, head.name, rows);
  warn_about_empty_elements(columns, head.name, rows);
  if (const std::string text = columns.open_errors().sentence(head.name); !text.empty())
    file.warn(columns.open_errors().line(), text);
  const EdiBlock* tensor =
      has_rho ? file.find_any({"RHOXY", "RHOYX"}) : file.find_any({"ZXYR", "ZYXR", "ZXXR", "ZYYR"});
  const auto tensor_frames =
      frames(columns, tensor,
             has_rho ? std::vector<std::string>{"RHOROT", "ZROT"} : std::vector<std::string>{"ZROT"});
  const auto tipper_frames =
      frames(columns, file.find_any({"TXR.EXP", "TXR", "TYR.EXP", "TYR"}), {"TROT", "TROT.EXP", "ZROT"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].azimuths = physics::mt::ChannelAzimuths::along(tensor_frames[i]);
    rows[i].azimuths.tipper_hx_deg = tipper_frames[i];
    rows[i].azimuths.tipper_hy_deg = tipper_frames[i] + 90.0;
  }
  if (is_stated_geographic(file)) clear_frames(file, rows);
  warn_about_unstated_frame(file);
  return rows;
}

}  // namespace lodestone::io::edi
