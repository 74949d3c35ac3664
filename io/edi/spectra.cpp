// SPDX-License-Identifier: Apache-2.0
// Symbols: S_ij = <c_i c_j*>; F outputs (E_x, E_y, H_z); H, R local and reference magnetic pairs;
// A = <H R*>^-1; Z = <F R*> A; N = <n n*> residual covariance of n = F - Z H; G = A^* <R R*> A inverse signal
// power. With m averages the errors dZ = <n R*> A have <dZ_ik dZ_jl*> = N_ij G_lk / m. Source: Egbert 1997
// (Geophys. J. Int. 130, 475).
#include "engine/core/error.hpp"
#include "io/edi/sections.hpp"
#include "io/text/scan.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::edi {
namespace {

using Eigen::Matrix2cd;
using Eigen::MatrixXcd;
using physics::mt::Complex;
using physics::mt::StationRow;

constexpr int none = -1;

/// Places of the channels in the spectral matrix.
struct Channels {
  int n = 0;
  std::array<int, 2> h{none, none}, e{none, none}, r{none, none};
  int hz = none;
  std::string reference;  ///< IDs of the reference pair; empty: the local one

  /// Returns the output channels, `none` where there is no such channel: E_x, E_y, H_z.
  [[nodiscard]] std::array<int, 3> outputs() const { return {e[0], e[1], hz}; }
};

/// Returns the channel types by ID, as HMEAS and EMEAS blocks state them (options may go on over several
/// lines).
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

/// Returns the IDs after "//n" in the section.
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
  const auto ids = listed_ids(section);
  Channels out;
  for (const auto& id : ids) {
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
    throw core::FormatError("io::edi::read#no_magnetic_channels",
                            "{}:{}: expected channels HX and HY among the {} of the spectra section, got "
                            "none of that type; check HMEAS",
                            file.path, section.line, out.n);
  }
  if (out.r[0] == none || out.r[1] == none) {
    out.r = out.h;
  } else {
    out.reference = fmt::format("channels {} and {}", ids[static_cast<std::size_t>(out.r[0])],
                                ids[static_cast<std::size_t>(out.r[1])]);
  }
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

template <std::size_t n>
MatrixXcd block_of(const MatrixXcd& s, const std::array<int, n>& rows, const std::array<int, 2>& columns) {
  MatrixXcd out(n, 2);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < 2; ++j) {
      out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          rows[i] == none ? Complex(physics::mt::not_given, physics::mt::not_given) : s(rows[i], columns[j]);
    }
  }
  return out;
}

/// Returns ⟨n_i n_j*⟩ of the residuals of the outputs; NaN where there is no such channel.
MatrixXcd residual_covariance(const MatrixXcd& s, const Channels& c, const MatrixXcd& z) {
  const auto outputs = c.outputs();
  const MatrixXcd fh = block_of(s, outputs, c.h), hh = block_of(s, c.h, c.h);
  MatrixXcd ff(3, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      const bool both = outputs[i] != none && outputs[j] != none;
      ff(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          both ? s(outputs[i], outputs[j]) : Complex(physics::mt::not_given, physics::mt::not_given);
    }
  }
  return ff - z * fh.adjoint() - fh * z.adjoint() + z * hh * z.adjoint();
}

/// Fills the transfer functions of all outputs; without a reference field of full rank they stay missing.
void set_transfer(const MatrixXcd& s, const Channels& c, double averages, StationRow& row) {
  const Matrix2cd hr = block_of(s, c.h, c.r);
  const double scale = hr.cwiseAbs().maxCoeff();
  if (!(std::abs(hr.determinant()) > 1e-12 * scale * scale)) return;
  const Matrix2cd inverse = hr.inverse();
  const MatrixXcd z = block_of(s, c.outputs(), c.r) * inverse;
  for (int k = 0; k < 6; ++k) row.values.numbers[static_cast<std::size_t>(k)] = z(k / 2, k % 2);
  if (!(averages > 0.0)) return;
  const Matrix2cd signal = inverse.adjoint() * block_of(s, c.r, c.r) * inverse;
  row.set_estimates({signal.transpose(), residual_covariance(s, c, z) / averages});
}

double option_number(const EdiBlock& block, const char* key) {
  const auto found = block.options.find(key);
  const auto value = found == block.options.end() ? std::nullopt : text::number(found->second);
  return value ? *value : physics::mt::not_given;
}

StationRow row_of(const EdiFile& file, const EdiBlock& block, const Channels& channels,
                  const EdiEmpty& empty) {
  const auto expected = static_cast<std::size_t>(channels.n) * static_cast<std::size_t>(channels.n);
  const std::vector<double> numbers = numbers_of(block, file.path);
  if (numbers.size() != expected) {
    throw core::FormatError(
        "io::edi::read#wrong_spectra",
        "{}:{}: expected {} numbers in block >SPECTRA ({} channels), got {}; is the file cut off?", file.path,
        block.line, expected, channels.n, numbers.size());
  }
  StationRow out;
  out.frequency_hz = option_number(block, "FREQ");
  const double rotation = option_number(block, "ROTSPEC");
  out.azimuths = physics::mt::ChannelAzimuths::along(std::isfinite(rotation) ? rotation : 0.0);
  if (std::any_of(numbers.begin(), numbers.end(), [&](double v) { return std::isnan(empty(v)); })) return out;
  set_transfer(spectral_matrix(numbers, channels.n), channels, option_number(block, "AVGT"), out);
  return out;
}

void warn_about_errors(EdiFile& file, const std::string& station, const std::vector<StationRow>& rows) {
  OpenErrors open;
  for (const StationRow& row : rows) {
    for (std::size_t k = 0; k < element_names.size(); ++k)
      open.look_at(element_names[k], estimate_of(row, k), physics::mt::not_given);
  }
  if (const std::string text = open.sentence(station); !text.empty()) file.warn(open.line(), text);
}

}  // namespace

EdiSpectra read_edi_spectra(EdiFile& file, const EdiHead& head) {
  const EdiBlock* section = file.find("SPECTRASECT");
  if (!section)
    throw core::FormatError("io::edi::read#no_spectra_section",
                            "{}:1: expected a section >=SPECTRASECT before the >SPECTRA blocks, found none",
                            file.path);
  const Channels channels = channels_of(file, *section);
  EdiSpectra out{{}, channels.reference};
  for (const auto& block : file.blocks) {
    if (block.name == "SPECTRA") out.rows.push_back(row_of(file, block, channels, head.empty));
  }
  warn_about_errors(file, head.name, out.rows);
  return out;
}

}  // namespace lodestone::io::edi
