// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/edi/file.hpp"
#include "physics/mt/transfer_functions.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

/// Interpretation of the sections of an EDI file; values stay in the file's own units, sign and frame.
/// Internal to io/edi.
namespace lodestone::io::edi {

/// Names of the elements in messages, in the order of TransferFunctionRow.
inline constexpr std::array<const char*, 4> edi_tensor{"zxx", "zxy", "zyx", "zyy"};
inline constexpr std::array<const char*, 2> edi_tipper{"tx", "ty"};

/// A number of the file, NaN when it is the file's EMPTY (or its like).
class EdiEmpty {
 public:
  explicit EdiEmpty(double empty = 1e32) : empty_(empty) {}
  [[nodiscard]] double operator()(double value) const;

 private:
  double empty_;
};

/// One row of the file with the azimuths of the frames its parts stand in.
struct EdiRow {
  physics::mt::TransferFunctionRow row;
  double impedance_frame_deg = 0.0, tipper_frame_deg = 0.0;
};

struct EdiHead {
  std::string name;
  double latitude_deg = physics::mt::not_given, longitude_deg = physics::mt::not_given,
         elevation_m = physics::mt::not_given;
  EdiEmpty empty;
};

/// Name and place out of HEAD, with DEFINEMEAS, the section and the file name as fall-backs.
[[nodiscard]] EdiHead read_edi_head(EdiFile& file);

/// Rows of an impedance (or ρₐ/phase) section in the order of the file; σ of each part is
/// `part_of_root`·√VAR. Values without a usable error, and Zxy or Zyx without any value, are warnings.
/// errors: FormatError with file:line.
[[nodiscard]] std::vector<EdiRow> read_edi_impedances(EdiFile& file, const EdiHead& head,
                                                      double part_of_root);

/// Rows of a spectra section: Z = ⟨E R*⟩⟨H R*⟩⁻¹. Values without a usable error are a warning. errors:
/// FormatError with file:line.
[[nodiscard]] std::vector<EdiRow> read_edi_spectra(EdiFile& file, const EdiHead& head);

}  // namespace lodestone::io::edi
