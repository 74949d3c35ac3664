// SPDX-License-Identifier: Apache-2.0
// Symbols: S_ij = <c_i c_j*>; E, H electric and magnetic pairs; R reference pair; Z = <E R*> <H R*>^-1; N =
// residual covariance; G = inverse signal power.
#include "engine/core/error.hpp"
#include "io/edi/errors.hpp"
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::edi {
namespace {

using Eigen::Matrix2cd;
using Eigen::MatrixXcd;
using physics::mt::Complex;
using physics::mt::Estimate;

constexpr const char* component = "io::read_edi";
constexpr int none = -1;

/// Places of the channels in the spectral matrix.
struct Channels {
  int n = 0;
  std::array<int, 2> h{none, none}, e{none, none}, r{none, none};
  int hz = none;
};

/// Channel types by ID, as HMEAS and EMEAS blocks state them (options may go on over several lines).
std::map<std::string, std::string> types_by_id(const EdiFile& file) {
  std::map<std::string, std::string> types;
  for (const auto& block : file.blocks) {
    if (block.name != "HMEAS" && block.name != "EMEAS") continue;
    std::string text = block.header;
    for (const auto& [line, more] : block.lines) text += " " + std::string(more);
    const auto options = key_values(text);
    if (options.count("ID") && options.count("CHTYPE"))
      types.emplace(options.at("ID"), text::upper(options.at("CHTYPE")));
  }
  return types;
}

/// IDs after "//n" in the section.
std::vector<std::string> listed_ids(const EdiBlock& section) {
  std::vector<std::string> ids;
  bool listing = section.announced.has_value();
  for (const auto& [line, text] : section.lines) {
    const std::string_view word = text::trimmed(text);
    if (word.substr(0, 2) == "//") {
      listing = true;
    } else if (listing) {
      for (const auto id : text::words(word)) ids.emplace_back(id);
    }
  }
  return ids;
}

void place(std::array<int, 2>& pair, std::array<int, 2>& reference, std::size_t axis, int index) {
  if (pair[axis] == none) {
    pair[axis] = index;
  } else if (reference[axis] == none) {
    reference[axis] = index;
  }
}

/// The first channel of a type is the local one, the second the reference, whatever its ID.
Channels channels_of(const EdiFile& file, const EdiBlock& section) {
  const auto types = types_by_id(file);
  Channels out;
  for (const auto& id : listed_ids(section)) {
    const int index = out.n++;
    const auto found = types.find(id);
    const std::string type = found == types.end() ? std::string() : found->second;
    if (type == "HX") place(out.h, out.r, 0, index);
    if (type == "HY") place(out.h, out.r, 1, index);
    if (type == "EX") place(out.e, out.r, 0, index);
    if (type == "EY") place(out.e, out.r, 1, index);
    if (type == "HZ" && out.hz == none) out.hz = index;
    if (type == "RX" || type == "RRHX" || type == "R1X") out.r[0] = index;
    if (type == "RY" || type == "RRHY" || type == "R1Y") out.r[1] = index;
  }
  if (out.h[0] == none || out.h[1] == none) {
    throw core::FormatError(component,
                            "{}:{}: expected channels HX and HY among the {} of the spectra section, got "
                            "none of that type; check HMEAS",
                            file.path, section.line, out.n);
  }
  if (out.r[0] == none || out.r[1] == none) out.r = out.h;
  return out;
}

/// Below the diagonal stand the real parts of <c_i c_j*>, above it the imaginary parts.
MatrixXcd spectral_matrix(const std::vector<double>& m, int n) {
  MatrixXcd s(n, n);
  for (int i = 0; i < n; ++i) {
    s(i, i) = m[static_cast<std::size_t>(i * n + i)];
    for (int j = 0; j < i; ++j) {
      s(i, j) = Complex(m[static_cast<std::size_t>(i * n + j)], m[static_cast<std::size_t>(j * n + i)]);
      s(j, i) = std::conj(s(i, j));
    }
  }
  return s;
}

MatrixXcd block_of(const MatrixXcd& s, const std::vector<int>& rows, const std::array<int, 2>& columns) {
  MatrixXcd out(rows.size(), 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < 2; ++j)
      out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = s(rows[i], columns[j]);
  }
  return out;
}

struct Transfer {
  MatrixXcd value;            ///< (outputs, 2)
  Eigen::MatrixXd deviation;  ///< of each part; NaN where the averages are not stated
};

/// Transfer functions of some output channels with their standard deviations from residual and signal power.
Transfer transfer(const MatrixXcd& s, const Channels& c, const std::vector<int>& outputs, double averages) {
  const std::vector<int> h{c.h[0], c.h[1]}, r{c.r[0], c.r[1]};
  const Matrix2cd hr = block_of(s, h, c.r);
  const double scale = hr.cwiseAbs().maxCoeff();
  Transfer out{
      MatrixXcd::Constant(static_cast<Eigen::Index>(outputs.size()), 2,
                          Complex(physics::mt::not_given, physics::mt::not_given)),
      Eigen::MatrixXd::Constant(static_cast<Eigen::Index>(outputs.size()), 2, physics::mt::not_given)};
  if (!(std::abs(hr.determinant()) > 1e-12 * scale * scale)) return out;
  const Matrix2cd inverse = hr.inverse();
  out.value = block_of(s, outputs, c.r) * inverse;
  if (!(averages > 0.0)) return out;
  const Matrix2cd hh = block_of(s, h, c.h), rr = block_of(s, r, c.r);
  const Matrix2cd signal = inverse * rr * inverse.adjoint();
  const MatrixXcd eh = block_of(s, outputs, c.h);
  for (Eigen::Index i = 0; i < out.value.rows(); ++i) {
    const int channel = outputs[static_cast<std::size_t>(i)];
    const auto z = out.value.row(i);
    const double noise = std::real(s(channel, channel)) - 2.0 * std::real((z * eh.row(i).adjoint())(0)) +
                         std::real((z * hh * z.adjoint())(0));
    for (Eigen::Index j = 0; j < 2; ++j) {
      const double variance = noise * std::real(signal(j, j)) / averages;
      if (variance > 0.0)
        out.deviation(i, j) = std::sqrt(0.5 * variance);  // half of a complex variance falls on each part
    }
  }
  return out;
}

void set_pair(Estimate* first, const Transfer& t, Eigen::Index row) {
  for (Eigen::Index j = 0; j < 2; ++j) first[j] = {t.value(row, j), t.deviation(row, j)};
}

double option_number(const EdiBlock& block, const char* key) {
  const auto found = block.options.find(key);
  const auto value = found == block.options.end() ? std::nullopt : text::number(found->second);
  return value ? *value : physics::mt::not_given;
}

EdiRow row_of(const EdiFile& file, const EdiBlock& block, const Channels& channels, const EdiEmpty& empty) {
  const auto expected = static_cast<std::size_t>(channels.n) * static_cast<std::size_t>(channels.n);
  const std::vector<double> numbers = numbers_of(block, file.path);
  if (numbers.size() != expected) {
    throw core::FormatError(
        component, "{}:{}: expected {} numbers in block >SPECTRA ({} channels), got {}; is the file cut off?",
        file.path, block.line, expected, channels.n, numbers.size());
  }
  EdiRow out;
  out.row.frequency_hz = option_number(block, "FREQ");
  const double rotation = option_number(block, "ROTSPEC");
  out.impedance_frame_deg = out.tipper_frame_deg = std::isfinite(rotation) ? rotation : 0.0;
  if (std::any_of(numbers.begin(), numbers.end(), [&](double v) { return std::isnan(empty(v)); })) return out;
  const MatrixXcd s = spectral_matrix(numbers, channels.n);
  const double averages = option_number(block, "AVGT");
  for (std::size_t k = 0; k < 2; ++k) {
    if (channels.e[k] != none)
      set_pair(&out.row.impedance[2 * k], transfer(s, channels, {channels.e[k]}, averages), 0);
  }
  if (channels.hz != none) set_pair(out.row.tipper.data(), transfer(s, channels, {channels.hz}, averages), 0);
  return out;
}

void warn_about_errors(EdiFile& file, const std::string& station, const std::vector<EdiRow>& rows) {
  OpenErrors open;
  for (const auto& [row, impedance_frame, tipper_frame] : rows) {
    for (std::size_t k = 0; k < edi_tensor.size(); ++k)
      open.look_at(edi_tensor[k], row.impedance[k], physics::mt::not_given);
    for (std::size_t k = 0; k < edi_tipper.size(); ++k)
      open.look_at(edi_tipper[k], row.tipper[k], physics::mt::not_given);
  }
  if (const std::string text = open.sentence(station); !text.empty()) file.warn(open.line(), text);
}

}  // namespace

std::vector<EdiRow> read_edi_spectra(EdiFile& file, const EdiHead& head) {
  const EdiBlock* section = file.find("SPECTRASECT");
  if (!section)
    throw core::FormatError(
        component, "{}:1: expected a section >=SPECTRASECT before the >SPECTRA blocks, got none", file.path);
  const Channels channels = channels_of(file, *section);
  std::vector<EdiRow> rows;
  for (const auto& block : file.blocks) {
    if (block.name == "SPECTRA") rows.push_back(row_of(file, block, channels, head.empty));
  }
  warn_about_errors(file, head.name, rows);
  return rows;
}

}  // namespace lodestone::io::edi
