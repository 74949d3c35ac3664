// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/edi/errors.hpp"
#include "io/edi/file.hpp"
#include "physics/mt/station_data.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

/// Interpretation of the sections of an EDI file; values stay in the file's own units and sign, in the frame
/// of their channels. Internal to io/edi.
namespace lodestone::io::edi {

/// Names in messages of the elements that EDI files hold, in the order of physics::mt::Element.
inline constexpr std::array<const char*, 6> element_names{"zxx", "zxy", "zyx", "zyy", "tx", "ty"};

/// Returns one element of a row, by its number.
[[nodiscard]] inline Estimate estimate_of(const physics::mt::StationRow& row, std::size_t element) {
  return {row.values.numbers[element], row.errors.numbers[element]};
}
inline void set(physics::mt::StationRow& row, std::size_t element, const Estimate& estimate) {
  row.values.numbers[element] = estimate.value;
  row.errors.numbers[element] = estimate.sigma;
}

/// A reader of numbers that returns NaN for the file's EMPTY (or its like).
class EdiEmpty {
 public:
  explicit EdiEmpty(double empty = 1e32) : empty_(empty) {}
  [[nodiscard]] double operator()(double value) const;

 private:
  double empty_;
};

/// Name and place of a station.
struct EdiHead {
  std::string name;
  double latitude_deg = physics::mt::not_given, longitude_deg = physics::mt::not_given,
         elevation_m = physics::mt::not_given;
  EdiEmpty empty;
};

/// Reads name and place from HEAD, with DEFINEMEAS, the section and the file name as fall-backs.
[[nodiscard]] EdiHead read_edi_head(EdiFile& file);

/// Reads the rows of an impedance (or ρₐ/phase) section in the order of the file; σ of each part is
/// `part_of_root`·√VAR. Values without a usable error, and Zxy or Zyx without any value, are warnings.
/// errors: FormatError with file:line.
[[nodiscard]] std::vector<physics::mt::StationRow> read_edi_impedances(EdiFile& file, const EdiHead& head,
                                                                       double part_of_root);

/// The rows of a spectra section, and the channels that served as the reference.
struct EdiSpectra {
  std::vector<physics::mt::StationRow> rows;
  std::string reference;  ///< empty: the local magnetic field
};
/// Reads the rows of a spectra section: Z = ⟨E R*⟩⟨H R*⟩⁻¹, with the covariance of all elements where the
/// number of averages is stated. Values without a usable error are a warning. errors: FormatError with
/// file:line.
[[nodiscard]] EdiSpectra read_edi_spectra(EdiFile& file, const EdiHead& head);

}  // namespace lodestone::io::edi
