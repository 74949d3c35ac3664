// SPDX-License-Identifier: Apache-2.0
// Symbols: f elements, a slope, D = Zxx Zyy − Zxy Zyx, S = ½ Σ Z², Z = X + iY, Φ = X⁻¹ Y the phase tensor.
// Sources: determinant and SSQ Rung-Arunwan et al. 2016 (Earth, Planets and Space 68, 138); phase tensor
// Caldwell et al. 2004 (Geophys. J. Int. 158, 457).
#include "physics/mt/datum.hpp"

#include "engine/core/data_set.hpp"
#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <Eigen/LU>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

using enum Element;
using Values = Elements::Values;
constexpr double pi = std::numbers::pi;
constexpr Complex minus_i{0.0, -1.0};

Values only(Element element, Complex a) {
  Values slope;
  slope[element] = a;
  return slope;
}

// Real and imaginary part of one element.
template <Element e>
double real_part(Values f, double) {
  return f[e].real();
}
template <Element e>
Values real_slope(Values) {
  return only(e, 1.0);
}
template <Element e>
double imaginary_part(Values f, double) {
  return f[e].imag();
}
template <Element e>
Values imaginary_slope(Values) {
  return only(e, minus_i);
}

// log10 of the apparent resistivity |Z|²/(ωμ₀), and the phase, of one element.
template <Element e>
double log10_rho(Values f, double omega) {
  return std::log10(std::norm(f[e]) / (omega * mu0));
}
template <Element e>
Values log10_rho_slope(Values f) {
  return only(e, 2.0 / (ln10 * f[e]));
}
template <Element e>
double phase(Values f, double) {
  return std::arg(f[e]);
}
template <Element e>
Values phase_slope(Values f) {
  return only(e, minus_i / f[e]);
}

/// The square of an effective impedance and its derivatives: D or S.
struct Square {
  Complex value;
  Values slope;
};

Square determinant(const Values& f) {
  Square out{f[zxx] * f[zyy] - f[zxy] * f[zyx], {}};
  out.slope[zxx] = f[zyy];
  out.slope[zyy] = f[zxx];
  out.slope[zxy] = -f[zyx];
  out.slope[zyx] = -f[zxy];
  return out;
}

Square sum_of_squares(const Values& f) {
  Square out;
  for (const Element e : {zxx, zxy, zyx, zyy}) {
    out.value += 0.5 * f[e] * f[e];
    out.slope[e] = f[e];
  }
  return out;
}

template <Square (*square)(const Values&)>
double effective_log10_rho(Values f, double omega) {
  return std::log10(std::abs(square(f).value) / (omega * mu0));
}
template <Square (*square)(const Values&)>
Values effective_log10_rho_slope(Values f) {
  Square out = square(f);
  for (Complex& a : out.slope.numbers) a /= ln10 * out.value;
  return out.slope;
}
/// The root has two signs, so that this phase is known up to half a turn.
template <Square (*square)(const Values&)>
double effective_phase(Values f, double) {
  return 0.5 * std::arg(square(f).value);
}
template <Square (*square)(const Values&)>
Values effective_phase_slope(Values f) {
  Square out = square(f);
  for (Complex& a : out.slope.numbers) a *= 0.5 * minus_i / out.value;
  return out.slope;
}

Eigen::Matrix2cd impedance_matrix(const Values& f) {
  return Eigen::Matrix2cd{{f[zxx], f[zxy]}, {f[zyx], f[zyy]}};
}

template <int i, int j>
double phase_tensor(Values f, double) {
  const Eigen::Matrix2cd z = impedance_matrix(f);
  return (z.real().inverse() * z.imag())(i, j);
}
/// Computes dΦ = X⁻¹ (dY − dX Φ); Re(a dZ) = Re a dX − Im a dY.
template <int i, int j>
Values phase_tensor_slope(Values f) {
  const Eigen::Matrix2cd z = impedance_matrix(f);
  const Eigen::Matrix2d inverse = z.real().inverse(), phi = inverse * z.imag();
  Values slope;
  for (int k = 0; k < 2; ++k) {
    for (int l = 0; l < 2; ++l) {
      slope.numbers[static_cast<std::size_t>(2 * k + l)] = {-inverse(i, k) * phi(l, j),
                                                            l == j ? -inverse(i, k) : 0.0};
    }
  }
  return slope;
}

constexpr std::string_view decades = "log10(ohm m)";

constexpr std::array<DatumRule, n_datum_rows> rules{{
    {"zxy_re", "ohm", "Re Zxy", {zxy}, real_part<zxy>, real_slope<zxy>, 0.0, FloorKind::impedance},
    {"zxy_im", "ohm", "Im Zxy", {zxy}, imaginary_part<zxy>, imaginary_slope<zxy>, 0.0, FloorKind::impedance},
    {"zyx_re", "ohm", "Re Zyx", {zyx}, real_part<zyx>, real_slope<zyx>, 0.0, FloorKind::impedance},
    {"zyx_im", "ohm", "Im Zyx", {zyx}, imaginary_part<zyx>, imaginary_slope<zyx>, 0.0, FloorKind::impedance},
    {"tzy_re", "", "Re Tzy", {tzy}, real_part<tzy>, real_slope<tzy>, 0.0, FloorKind::tipper},
    {"tzy_im", "", "Im Tzy", {tzy}, imaginary_part<tzy>, imaginary_slope<tzy>, 0.0, FloorKind::tipper},
    {"log10_rho_xy",
     decades,
     "log10 ρₐ xy",
     {zxy},
     log10_rho<zxy>,
     log10_rho_slope<zxy>,
     0.0,
     FloorKind::log10_rho},
    {"phase_xy", "rad", "phase xy", {zxy}, phase<zxy>, phase_slope<zxy>, 2.0 * pi, FloorKind::phase},
    {"log10_rho_yx",
     decades,
     "log10 ρₐ yx",
     {zyx},
     log10_rho<zyx>,
     log10_rho_slope<zyx>,
     0.0,
     FloorKind::log10_rho},
    {"phase_yx", "rad", "phase yx", {zyx}, phase<zyx>, phase_slope<zyx>, 2.0 * pi, FloorKind::phase},
    {"zxx_re", "ohm", "Re Zxx", {zxx}, real_part<zxx>, real_slope<zxx>, 0.0, FloorKind::impedance},
    {"zxx_im", "ohm", "Im Zxx", {zxx}, imaginary_part<zxx>, imaginary_slope<zxx>, 0.0, FloorKind::impedance},
    {"zyy_re", "ohm", "Re Zyy", {zyy}, real_part<zyy>, real_slope<zyy>, 0.0, FloorKind::impedance},
    {"zyy_im", "ohm", "Im Zyy", {zyy}, imaginary_part<zyy>, imaginary_slope<zyy>, 0.0, FloorKind::impedance},
    {"tzx_re", "", "Re Tzx", {tzx}, real_part<tzx>, real_slope<tzx>, 0.0, FloorKind::tipper},
    {"tzx_im", "", "Im Tzx", {tzx}, imaginary_part<tzx>, imaginary_slope<tzx>, 0.0, FloorKind::tipper},
    {"log10_rho_det", decades, "log10 ρₐ det", all_impedances, effective_log10_rho<determinant>,
     effective_log10_rho_slope<determinant>, 0.0, FloorKind::log10_rho},
    {"phase_det", "rad", "phase det", all_impedances, effective_phase<determinant>,
     effective_phase_slope<determinant>, pi, FloorKind::phase},
    {"log10_rho_ssq", decades, "log10 ρₐ ssq", all_impedances, effective_log10_rho<sum_of_squares>,
     effective_log10_rho_slope<sum_of_squares>, 0.0, FloorKind::log10_rho},
    {"phase_ssq", "rad", "phase ssq", all_impedances, effective_phase<sum_of_squares>,
     effective_phase_slope<sum_of_squares>, pi, FloorKind::phase},
    {"phase_tensor_xx", "", "Φxx", all_impedances, phase_tensor<0, 0>, phase_tensor_slope<0, 0>, 0.0,
     FloorKind::phase_tensor},
    {"phase_tensor_xy", "", "Φxy", all_impedances, phase_tensor<0, 1>, phase_tensor_slope<0, 1>, 0.0,
     FloorKind::phase_tensor},
    {"phase_tensor_yx", "", "Φyx", all_impedances, phase_tensor<1, 0>, phase_tensor_slope<1, 0>, 0.0,
     FloorKind::phase_tensor},
    {"phase_tensor_yy", "", "Φyy", all_impedances, phase_tensor<1, 1>, phase_tensor_slope<1, 1>, 0.0,
     FloorKind::phase_tensor},
    {"mxx_re", "", "Re Mxx", {mxx}, real_part<mxx>, real_slope<mxx>, 0.0, FloorKind::interstation},
    {"mxx_im", "", "Im Mxx", {mxx}, imaginary_part<mxx>, imaginary_slope<mxx>, 0.0, FloorKind::interstation},
    {"mxy_re", "", "Re Mxy", {mxy}, real_part<mxy>, real_slope<mxy>, 0.0, FloorKind::interstation},
    {"mxy_im", "", "Im Mxy", {mxy}, imaginary_part<mxy>, imaginary_slope<mxy>, 0.0, FloorKind::interstation},
    {"myx_re", "", "Re Myx", {myx}, real_part<myx>, real_slope<myx>, 0.0, FloorKind::interstation},
    {"myx_im", "", "Im Myx", {myx}, imaginary_part<myx>, imaginary_slope<myx>, 0.0, FloorKind::interstation},
    {"myy_re", "", "Re Myy", {myy}, real_part<myy>, real_slope<myy>, 0.0, FloorKind::interstation},
    {"myy_im", "", "Im Myy", {myy}, imaginary_part<myy>, imaginary_slope<myy>, 0.0, FloorKind::interstation},
}};

consteval bool rows_have_their_names() {
  for (std::size_t row = 0; row < n_datum_rows; ++row) {
    if (rules[row].name != datum_names[row]) return false;
  }
  return true;
}
static_assert(rows_have_their_names(), "rows stand in the order of datum_names");

}  // namespace

std::span<const DatumRule, n_datum_rows> datum_rules() { return rules; }

const DatumRule& rule_of(Datum datum) { return rules.at(static_cast<std::size_t>(datum)); }

Datum datum_from(std::string_view name) {
  for (std::size_t row = 0; row < n_datum_rows; ++row) {
    if (datum_names[row] == name) return static_cast<Datum>(row);
  }
  throw core::InvalidArgument("mt::datum_from#unknown_datum", "expected one of {}, got \"{}\"",
                              fmt::join(datum_names, ", "), name);
}

bool is_part(const DatumRule& rule) {
  return rule.floor == FloorKind::impedance || rule.floor == FloorKind::tipper ||
         rule.floor == FloorKind::interstation;
}

Datum real_part_of(Element element) {
  constexpr PerElement<Datum> parts{{datum("zxx_re"), datum("zxy_re"), datum("zyx_re"), datum("zyy_re"),
                                     datum("tzx_re"), datum("tzy_re"), datum("mxx_re"), datum("mxy_re"),
                                     datum("myx_re"), datum("myy_re")}};
  return parts[element];
}

Element element_of(const DatumRule& rule) {
  if (const auto element = rule.needs.single()) return *element;
  throw core::InvalidArgument("mt::element_of#several_elements",
                              "expected a datum of one element, but {} is made of {}", rule.name,
                              rule.needs.size());
}

double value_of(const DatumRule& rule, Complex element, double omega) {
  return rule.value(only(element_of(rule), element), omega);
}

Complex slope_of(const DatumRule& rule, Complex element) {
  const Element which = element_of(rule);
  return rule.slope(only(which, element))[which];
}

double difference(const DatumRule& rule, double a, double b) { return core::wrapped(a - b, rule.turn); }

double sigma(const DatumRule& rule, const Elements::Values& f, const Elements::Errors& s) {
  const Elements::Values a = rule.slope(f);
  double variance = 0.0;
  for (const Element e : all_elements) {
    if (rule.needs.contains(e)) variance += std::norm(a[e]) * s[e] * s[e];
  }
  return std::sqrt(variance);
}

double sigma(const DatumRule& rule, const Elements::Values& f, const ElementCovariance& c) {
  const Elements::Values a = rule.slope(f);
  Complex sum = 0.0;
  for (const Element k : all_elements) {
    for (const Element l : all_elements) {
      if (!rule.needs.contains(k) || !rule.needs.contains(l)) continue;
      sum += a[k] * c(static_cast<int>(index_of(k)), static_cast<int>(index_of(l))) * std::conj(a[l]);
    }
  }
  return std::sqrt(std::max(0.5 * sum.real(), 0.0));  // a sum that cancels may round below 0; NaN stays
}

std::optional<Mode> mode_of(const DatumRule& rule) {
  std::optional<Mode> mode;
  for (const Element e : all_elements) {
    if (!rule.needs.contains(e)) continue;
    if (mode && *mode != rule_of(e).mode) return {};
    mode = rule_of(e).mode;
  }
  return mode;
}

bool determines(Elements predicted, const DatumRule& rule) {
  const bool is_effective = rule.needs == all_impedances && rule.floor != FloorKind::phase_tensor;
  return predicted.contains(rule.needs) || (is_effective && predicted.contains(Elements{zxy, zyx}));
}

std::optional<double> branch_of(const DatumRule& rule) {
  if (const auto element = rule.needs.single()) return rule_of(*element).branch_rad;
  return rule.floor == FloorKind::phase ? std::optional(0.0) : std::nullopt;
}

}  // namespace lodestone::physics::mt
