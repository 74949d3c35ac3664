// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/boxed.hpp"
#include "physics/mt/remarks.hpp"
#include "physics/mt/survey.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// Two frequencies closer than this (relative) are the same one written with other digits.
inline constexpr double same_frequency = 1e-6;

/// Two azimuths closer than this are the same one. Compasses are a thousand times coarser, and such a turn
/// mixes 2e-5 of one element into another, which is less than any error.
inline constexpr double same_azimuth_deg = 1e-3;

/// Azimuths of the channels of one row, clockwise from the north that the file counts from. Channels of a
/// field need not be perpendicular.
struct ChannelAzimuths {
  double ex_deg = 0.0, ey_deg = 90.0;
  double hx_deg = 0.0, hy_deg = 90.0;                ///< azimuths of the channels of the impedance
  double tipper_hx_deg = 0.0, tipper_hy_deg = 90.0;  ///< azimuths of the channels of the tipper
  double local_hx_deg = 0.0, local_hy_deg = 90.0;    ///< channels of inter-station functions, at the station
  double reference_hx_deg = 0.0, reference_hy_deg = 90.0;  ///< likewise at the reference

  /// Returns those of a frame whose x axis has this azimuth, with y 90° further.
  [[nodiscard]] static ChannelAzimuths along(double x_deg);
};

/// Knowledge of a processing of time series on its errors. Those of two elements have the covariance
/// ⟨δF_ik δF_jl*⟩ = N_ij S_kl. Outputs i and j are those of E_x, E_y and H_z, inputs k and l those of H_x and
/// H_y. source: Egbert 1997 (Geophys. J. Int. 130, 475).
struct SignalAndNoise {
  Eigen::Matrix2cd inverse_signal;  ///< S, inverse power of the coherent signal in the inputs
  /// N, covariance of what the outputs have beside it, over the number of averages; NaN where there is no
  /// such output. units: those of the outputs over those of H, squared.
  Eigen::Matrix3cd noise;
};

/// Impedance, tipper and inter-station function at one frequency. units: ohm, the others none. sign:
/// e^{+iωt}. NaN = missing.
struct StationRow {
  double frequency_hz = not_given;
  Elements::Values values = missing_values();
  Elements::Errors errors = missing_errors();  ///< errors of each part; from `covariance` where that is given
  core::Boxed<ElementCovariance> covariance{};  ///< absent: the elements are independent
  core::Boxed<SignalAndNoise> estimates{};      ///< those that the covariance comes from, where known
  ChannelAzimuths azimuths{};
  /// The row with the values that were masked, which are missing in this one; absent: none were.
  core::Boxed<StationRow> with_masked{};

  [[nodiscard]] bool is_missing(Element element) const;
  /// Returns true for a value that is missing here because it was masked.
  [[nodiscard]] bool is_masked(Element element) const;
  /// Masks an element with its errors and correlations; one that is missing stays so.
  void mask(Element element);
  /// Takes a masked element back; any other stays as it is.
  void unmask(Element element);
  [[nodiscard]] static Elements::Values missing_values();
  [[nodiscard]] static Elements::Errors missing_errors();
  /// Returns the covariance, or the one of independent elements.
  [[nodiscard]] ElementCovariance full_covariance() const;
  /// Keeps these estimates with the covariance and the errors of impedance and tipper that follow. An output
  /// without noise keeps the errors that it has.
  void set_estimates(const SignalAndNoise& known);
};

/// A datum that a file states as such, with its own error. units: those of the datum; phases are not folded.
struct Reading {
  Datum datum{};
  double frequency_hz = not_given;
  double value = not_given, sigma = not_given;
  /// Azimuth of the x axis it refers to; absent: the frame of the data, as in files of profile data.
  std::optional<double> azimuth_deg{};
};

/// The way in which the coordinates x and y of a file lie on the map.
struct LocalFrame {
  double latitude_deg = not_given, longitude_deg = not_given;  ///< place of x = y = 0
  double azimuth_deg = 0.0;  ///< direction of the x axis, clockwise from north; y points 90° further
  /// Returns true for the same numbers, also where both are not given.
  [[nodiscard]] bool is_same(const LocalFrame& other) const;
};

/// Conventions that neither a file nor the user states: they were voted or assumed for a station alone.
struct OpenConventions {
  bool sign = false, units = false;
};

/// The content of one station file in ohm and e^{+iωt}, not rotated.
struct StationData {
  Station site{};
  std::vector<std::string> other_names{};  ///< names of stations whose bands were merged into this one
  std::string path{}, format{};            ///< "EDI"
  std::string remote_reference{};          ///< remote station or channels; empty: none, or not stated
  std::string sign_in_file = "+", units_in_file = "mV/km/nT";  ///< before conversion
  std::optional<LocalFrame> local_frame{};  ///< absent: the file counts no x and y on a map
  double turned_to_deg = not_given;  ///< x axis to which rows were turned on demand; NaN: none was chosen
  std::vector<StationRow> rows{};    ///< highest frequency first
  std::vector<Reading> readings{};
  std::vector<Reading> masked_readings{};  ///< readings that were masked
  OpenConventions open{};                  ///< conventions that a vote of the survey may still decide
  std::string header{};                    ///< text of the file before its numbers, as it stands there
  std::vector<Remark> remarks{};           ///< assumptions made while reading, with file:line
  std::vector<std::string> changes{};      ///< sentences on what was done since the data were read
  std::string zero_tippers{};              ///< the remark on a tipper of exact zeros; empty: there is none

  [[nodiscard]] bool has_name(const std::string& name) const;
  /// Returns the name that the file states, where an earlier station has it and this one got another.
  [[nodiscard]] std::string name_in_file() const;
  /// Returns true where a value is neither missing nor masked.
  [[nodiscard]] bool has_value() const;
  /// Returns the number of values that were masked: elements of rows, and readings.
  [[nodiscard]] int n_masked() const;
  /// Returns the row at exactly this frequency, which is appended where there is none.
  [[nodiscard]] StationRow& row_at(double frequency_hz);
  /// Returns false where a reading of this datum at this frequency is there already, which then stays.
  [[nodiscard]] bool add(const Reading& reading);
  /// Puts the highest frequency first.
  void sort();
  /// Removes the tippers where all of them are exactly zero, which fills a block that was not measured, and
  /// notes it in `zero_tippers`.
  void drop_zero_tippers();
  /// Returns the remarks, with that on the tipper.
  [[nodiscard]] std::vector<Remark> all_remarks() const;
};

/// Returns the remark on a station without measured tippers; `where`: file or file:line.
[[nodiscard]] std::string remark_on_zero_tippers(const std::string& where, const std::string& station, int n);

/// Returns the remark on a coordinate beyond its limit, which readers take as unknown. `named`: what and its
/// text in the file; `what`: "latitude" or "longitude".
[[nodiscard]] Remark impossible_angle(const std::string& named, std::string_view what, double value_deg,
                                      double largest_deg);

/// Returns the remark on a file in which so many data have a negative error; readers set such errors to NaN.
[[nodiscard]] std::string remark_on_negative_errors(const std::string& path, int n);

/// Returns the row in the frame whose x axis has this azimuth. Z' = B_E⁻¹ Z B_H, T' = T B_T and M' = B_L⁻¹ M
/// B_R, where the rows of B are the directions of channels; L and R are the station and its reference.
/// Covariances rotate along, as C' = M C Mᵀ; independent elements become correlated. An element that lacks a
/// part of its sum is missing. Masked values rotate along. Turns by less than `same_azimuth_deg` beside a
/// multiple of 90 degrees are ones by that. errors: InvalidArgument when two channels of a field are
/// parallel.
[[nodiscard]] StationRow rotated(const StationRow& row, double azimuth_deg);

/// Elements that stations lose in a rotation, because others of the same tensor are missing.
struct TurnLoss {
  int n_elements = 0, n_stations = 0;
  std::string station;    ///< name of the first of them
  double turn_deg = 0.0;  ///< from the x axis of its tensors to the new one

  [[nodiscard]] bool is_any() const { return n_elements > 0; }
  /// Returns a sentence on them, without a remedy. unit: azimuth of the new x axis, in degrees.
  [[nodiscard]] std::string in_words(double azimuth_deg) const;
};

/// Rotates all rows. errors: as above, with file and station.
void rotate_rows(StationData& station, double azimuth_deg);
/// Does the same and adds what the station loses.
void rotate_rows(StationData& station, double azimuth_deg, TurnLoss& loss);

/// Returns the rows at other frequencies: Z/√f and T linear in log f, never beyond the measured band and
/// never across a gap of more than one missing frequency. Errors add linearly; correlations are left out. A
/// measured frequency is taken as it is. Rows must be sorted, highest frequency first. errors:
/// InvalidArgument when a frequency is not positive.
[[nodiscard]] std::vector<StationRow> interpolated(const std::vector<StationRow>& rows,
                                                   const std::vector<double>& frequencies_hz);

}  // namespace lodestone::physics::mt
