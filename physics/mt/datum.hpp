// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/element.hpp"

#include <Eigen/Core>

#include <span>
#include <string>

namespace lodestone::physics::mt {

/// One real number that is compared with a prediction: the number of its row in `datum_rules`, which is also
/// its code in files. The first ten have enumerators; `datum("phase_det")` finds the others.
enum class Datum : std::uint8_t {
  zxy_re,
  zxy_im,
  zyx_re,
  zyx_im,
  tzy_re,
  tzy_im,
  log10_rho_xy,
  phase_xy,
  log10_rho_yx,
  phase_yx
};

/// Names of all rows in the order of their codes. A new datum is one name here and one row in datum.cpp.
inline constexpr std::array<std::string_view, 32> datum_names{
    "zxy_re",        "zxy_im",    "zyx_re",          "zyx_im",          "tzy_re",          "tzy_im",
    "log10_rho_xy",  "phase_xy",  "log10_rho_yx",    "phase_yx",        "zxx_re",          "zxx_im",
    "zyy_re",        "zyy_im",    "tzx_re",          "tzx_im",          "log10_rho_det",   "phase_det",
    "log10_rho_ssq", "phase_ssq", "phase_tensor_xx", "phase_tensor_xy", "phase_tensor_yx", "phase_tensor_yy",
    "mxx_re",        "mxx_im",    "mxy_re",          "mxy_im",          "myx_re",          "myx_im",
    "myy_re",        "myy_im"};
inline constexpr std::size_t n_datum_rows = datum_names.size();

/// Returns the datum of this name at compile time; an unknown name does not compile.
[[nodiscard]] consteval Datum datum(std::string_view name) {
  for (std::size_t row = 0; row < n_datum_rows; ++row) {
    if (datum_names[row] == name) return static_cast<Datum>(row);
  }
  throw "no datum has this name";
}

/// Which error floor limits a datum.
enum class FloorKind : std::uint8_t {
  impedance,     ///< share of |Z|, on each part
  log10_rho,     ///< decades
  phase,         ///< angle
  tipper,        ///< absolute, on each part
  phase_tensor,  ///< absolute
  interstation   ///< absolute, on each part
};
constexpr auto words(FloorKind) {
  using enum FloorKind;
  return core::Words<FloorKind>{
      {impedance, "impedance"}, {log10_rho, "log10_rho"},       {phase, "phase"},
      {tipper, "tipper"},       {phase_tensor, "phase_tensor"}, {interstation, "interstation"}};
}

/// One row of the table of data: everything that is known of a kind of datum.
struct DatumRule {
  std::string_view name, units, label;                ///< "phase_xy", "rad", "phase xy"
  Elements needs;                                     ///< elements it is made of
  double (*value)(Elements::Values f, double omega);  ///< omega in rad/s
  Elements::Values (*slope)(Elements::Values f);      ///< a with d value = Re Σ a_k df_k
  double turn;  ///< differences are wrapped to (−turn/2, turn/2]; 0: not wrapped
  FloorKind floor;
};

/// Returns all rows in the order of their codes.
[[nodiscard]] std::span<const DatumRule, n_datum_rows> datum_rules();
[[nodiscard]] const DatumRule& rule_of(Datum datum);
/// Returns the datum of this name. errors: InvalidArgument, with the names there are.
[[nodiscard]] Datum datum_from(std::string_view name);

/// Rows come in pairs, except those of the phase tensor: real and imaginary part, or log10 ρₐ and phase.
[[nodiscard]] constexpr bool is_second_of_pair(Datum datum) { return static_cast<unsigned>(datum) % 2 == 1; }
[[nodiscard]] constexpr Datum partner_of(Datum datum) {
  return static_cast<Datum>(static_cast<unsigned>(datum) ^ 1U);
}

/// Returns true for the real or the imaginary part of an element.
[[nodiscard]] bool is_part(const DatumRule& rule);
/// Returns the datum that is the real part of an element.
[[nodiscard]] Datum real_part_of(Element element);

/// Returns the only element that the datum is made of. errors: InvalidArgument when there are several.
[[nodiscard]] Element element_of(const DatumRule& rule);
/// Returns a datum of one element, and its slope. units: element as in `Elements::Values`, omega rad/s.
/// errors: InvalidArgument when the datum is made of several.
[[nodiscard]] double value_of(const DatumRule& rule, Complex element, double omega);
[[nodiscard]] Complex slope_of(const DatumRule& rule, Complex element);

/// Returns a − b, wrapped by whole turns as `core::wrapped` does, which is the only wrap of data.
[[nodiscard]] double difference(const DatumRule& rule, double a, double b);

/// Returns one standard deviation to first order, for independent elements: σ² = Σ |a_k|² s_k².
[[nodiscard]] double sigma(const DatumRule& rule, const Elements::Values& f, const Elements::Errors& s);

/// Covariance of the complex elements: C_kl = ⟨δf_k δf_l*⟩, so that C_kk = 2 s_k². Errors are circular:
/// ⟨δf_k δf_l⟩ = 0.
using ElementCovariance = Eigen::Matrix<Complex, static_cast<int>(n_elements), static_cast<int>(n_elements)>;
/// Returns one standard deviation to first order, for correlated elements: σ² = ½ aᵀ C a*.
[[nodiscard]] double sigma(const DatumRule& rule, const Elements::Values& f, const ElementCovariance& c);

/// Returns the mode whose fields the datum belongs to, or nothing where it combines both.
[[nodiscard]] std::optional<Mode> mode_of(const DatumRule& rule);
/// Returns whether a simulation of these elements determines the datum: it predicts all that this is made of,
/// or this is a determinant or a sum of squares and it predicts Zxy and Zyx. Over its earth, of layers or
/// along strike, the diagonal that it does not predict is zero. Phase tensors with elements that are zero
/// there are not determined.
[[nodiscard]] bool determines(Elements predicted, const DatumRule& rule);
/// Returns the angle in radian that brings phases over a layered earth into 0…90°. Nothing: the datum has no
/// phase, or its phase may lie in any quadrant.
[[nodiscard]] std::optional<double> branch_of(const DatumRule& rule);

}  // namespace lodestone::physics::mt
