// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/datum.hpp"
#include "physics/mt/survey.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <Eigen/Cholesky>

#include <cmath>
#include <random>

using namespace lodestone;
using namespace lodestone::physics::mt;

namespace {

constexpr double omega_rad_s = 0.7;
constexpr std::size_t n_parts = 2 * n_elements;

/// Real and imaginary parts of the elements, in the order of `Element`; T is complex in the complex step.
template <class T>
using Parts = std::array<T, n_parts>;

/// Returns a tensor of a three-dimensional earth, in ohm.
Elements::Values some_values() {
  Elements::Values f;
  f.numbers = {Complex(0.3e-3, 0.5e-3),   Complex(2.1e-3, 1.7e-3), Complex(-1.8e-3, -2.3e-3),
               Complex(-0.4e-3, 0.25e-3), Complex(0.12, -0.05),    Complex(-0.21, 0.09),
               Complex(1.1, -0.2),        Complex(-0.07, 0.04),    Complex(0.13, 0.06),
               Complex(0.9, 0.15)};
  return f;
}

Parts<double> parts_of(const Elements::Values& f) {
  Parts<double> parts{};
  for (std::size_t k = 0; k < n_elements; ++k) {
    parts[2 * k] = f.numbers[k].real();
    parts[2 * k + 1] = f.numbers[k].imag();
  }
  return parts;
}

/// The argument of x + iy as an analytic function of both, near real arguments.
template <class T>
T angle(T x, T y) {
  const double turned = std::arg(Complex(std::real(x), std::real(y)));
  const double c = std::cos(turned), s = std::sin(turned);
  return turned + std::atan((y * c - x * s) / (x * c + y * s));
}

/// Independent formulas of every row, by name, from the parts alone.
template <class T>
T reference(std::string_view name, const Parts<T>& p) {
  const auto element = [&](std::string_view ending) -> std::size_t {
    for (std::size_t k = 0; k < n_elements; ++k) {
      if (element_rules[k].name.substr(1) == ending) return 2 * k;
    }
    throw core::InvalidArgument("test", "no element {}", ending);
  };
  const auto power = [](T re, T im) { return re * re + im * im; };
  const double per_power = 1.0 / (omega_rad_s * mu0);
  const auto log10_of = [](T v) { return std::log(v) / ln10; };
  if (name.starts_with('z')) return p[element(name.substr(1, 2)) + (name.ends_with("_im") ? 1 : 0)];
  if (name.starts_with('m')) {
    const std::size_t k = 2 * (name[1] == 'x' ? 0 : 1) + (name[2] == 'x' ? 0 : 1);
    return p[12 + 2 * k + (name.ends_with("_im") ? 1 : 0)];
  }
  if (name.starts_with('t')) return p[(name[2] == 'x' ? 8U : 10U) + (name.ends_with("_im") ? 1 : 0)];
  if (name.starts_with("phase_tensor")) {
    const T d = p[0] * p[6] - p[2] * p[4];
    const std::size_t row = name[13] == 'x' ? 0 : 1, column = name[14] == 'x' ? 0 : 1;
    const T left = row == 0 ? p[6] : -p[4], right = row == 0 ? -p[2] : p[0];
    return (left * p[1 + 2 * column] + right * p[5 + 2 * column]) / d;
  }
  T re{}, im{};
  if (name.ends_with("_det")) {
    re = p[0] * p[6] - p[1] * p[7] - p[2] * p[4] + p[3] * p[5];
    im = p[0] * p[7] + p[1] * p[6] - p[2] * p[5] - p[3] * p[4];
  } else if (name.ends_with("_ssq")) {
    for (std::size_t k = 0; k < 8; k += 2) {
      re += 0.5 * (p[k] * p[k] - p[k + 1] * p[k + 1]);
      im += p[k] * p[k + 1];
    }
  } else {
    const std::size_t k = element(name.substr(name.size() - 2));
    return name.starts_with("phase") ? angle(p[k], p[k + 1]) : log10_of(power(p[k], p[k + 1]) * per_power);
  }
  return name.starts_with("phase") ? 0.5 * angle(re, im) : log10_of(std::sqrt(power(re, im)) * per_power);
}

/// Returns the derivatives of the independent formula by each part, exact to rounding: Im v(x + ih)/h.
Eigen::VectorXd complex_step_gradient(std::string_view name, const Elements::Values& f) {
  const Parts<double> at = parts_of(f);
  Eigen::VectorXd gradient(n_parts);
  for (std::size_t i = 0; i < n_parts; ++i) {
    Parts<Complex> moved;
    for (std::size_t k = 0; k < n_parts; ++k) moved[k] = Complex(at[k], k == i ? 1e-30 : 0.0);
    gradient[static_cast<Eigen::Index>(i)] = reference(name, moved).imag() / 1e-30;
  }
  return gradient;
}

/// Returns a covariance of the elements with correlations of up to 0.9; errors of a few per cent.
ElementCovariance some_covariance() {
  ElementCovariance root = ElementCovariance::Zero();
  for (int k = 0; k < root.rows(); ++k) {
    const double size = k < 4 ? 4e-5 : 4e-3;
    for (int l = 0; l <= k; ++l) root(k, l) = size * Complex(0.9 - 0.2 * (k - l), k == l ? 0.0 : 0.3);
  }
  return root * root.adjoint();
}

/// Returns the covariance of the real parts for circular errors.
Eigen::MatrixXd covariance_of_parts(const ElementCovariance& c) {
  Eigen::MatrixXd out(n_parts, n_parts);
  for (int k = 0; k < c.rows(); ++k) {
    for (int l = 0; l < c.cols(); ++l) {
      const double re = 0.5 * c(k, l).real(), im = 0.5 * c(k, l).imag();
      out.block<2, 2>(2 * k, 2 * l) << re, -im, im, re;
    }
  }
  return out;
}

}  // namespace

TEST_CASE("datum: every row has a code, a name, units and elements", "[physics][mt][datum]") {
  for (std::size_t code = 0; code < n_datum_rows; ++code) {
    const DatumRule& rule = datum_rules()[code];
    INFO(rule.name);
    CHECK(datum_from(rule.name) == static_cast<Datum>(code));
    CHECK(&rule_of(static_cast<Datum>(code)) == &rule);
    CHECK(rule.needs.size() > 0);
    CHECK(!rule.label.empty());
    const bool is_angle = rule.name.starts_with("phase") && !rule.name.starts_with("phase_tensor");
    CHECK((rule.units == "rad") == is_angle);
    CHECK((rule.turn > 0.0) == is_angle);
    CHECK((rule.units == "log10(ohm m)") == rule.name.starts_with("log10"));
  }
  STATIC_REQUIRE(datum("phase_xy") == Datum::phase_xy);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] { (void)datum_from("phase_xz"); }),
             tests::HasId("unknown_datum", {"phase_xz", "phase_tensor_yy"}));
}

TEST_CASE("datum: the first ten rows keep the codes of files", "[physics][mt][datum]") {
  const std::array<std::string_view, 10> names{"zxy_re",       "zxy_im",  "zyx_re",       "zyx_im",
                                               "tzy_re",       "tzy_im",  "log10_rho_xy", "phase_xy",
                                               "log10_rho_yx", "phase_yx"};
  for (std::size_t code = 0; code < names.size(); ++code) CHECK(datum_rules()[code].name == names[code]);
  for (const Datum one :
       {Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im, Datum::tzy_re, Datum::tzy_im,
        Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx})
    CHECK(rule_of(one).name == names[static_cast<std::size_t>(one)]);
}

TEST_CASE("datum: the first ten values and slopes have the bits of their closed forms",
          "[physics][mt][datum]") {
  using enum Datum;
  const Elements::Values f = some_values();
  const auto value = [&](Datum d) { return rule_of(d).value(f, omega_rad_s); };
  const auto slope = [&](Datum d, Element e) { return rule_of(d).slope(f)[e]; };
  const Complex i(0.0, 1.0);
  for (const auto& [element, re, im, rho, phase] :
       {std::tuple(Element::zxy, zxy_re, zxy_im, log10_rho_xy, phase_xy),
        std::tuple(Element::zyx, zyx_re, zyx_im, log10_rho_yx, phase_yx)}) {
    const Complex z = f[element];
    CHECK(value(re) == z.real());
    CHECK(value(im) == z.imag());
    CHECK(value(rho) == std::log10(std::norm(z) / (omega_rad_s * mu0)));
    CHECK(value(phase) == std::arg(z));
    CHECK(slope(re, element) == Complex(1.0, 0.0));
    CHECK(slope(im, element) == -i);
    CHECK(slope(rho, element) == 2.0 / (ln10 * z));
    CHECK(slope(phase, element) == Complex(0.0, -1.0) / z);
  }
  CHECK(value(tzy_re) == f[Element::tzy].real());
  CHECK(value(tzy_im) == f[Element::tzy].imag());
  CHECK(slope(tzy_re, Element::tzy) == Complex(1.0, 0.0));
  CHECK(slope(tzy_im, Element::tzy) == -i);
}

TEST_CASE("datum: value and slope of every row agree with independent formulas", "[physics][mt][datum]") {
  const Elements::Values f = some_values();
  for (const DatumRule& rule : datum_rules()) {
    INFO(rule.name);
    CHECK(rule.value(f, omega_rad_s) == Approx(reference(rule.name, parts_of(f))).epsilon(1e-13));
    const Elements::Values a = rule.slope(f);
    const Eigen::VectorXd gradient = complex_step_gradient(rule.name, f);
    const double scale = gradient.cwiseAbs().maxCoeff();
    for (std::size_t k = 0; k < n_elements; ++k) {
      const auto i = static_cast<Eigen::Index>(2 * k);
      CHECK(std::abs(a.numbers[k].real() - gradient[i]) <= 1e-12 * scale);
      CHECK(std::abs(-a.numbers[k].imag() - gradient[i + 1]) <= 1e-12 * scale);
      const bool is_needed = std::abs(gradient[i]) + std::abs(gradient[i + 1]) > 0.0;
      CHECK(rule.needs.contains(all_elements[k]) == is_needed);
    }
  }
}

TEST_CASE("datum: the slope of every row agrees with finite differences of its value",
          "[physics][mt][datum]") {
  const Elements::Values f = some_values();
  for (const DatumRule& rule : datum_rules()) {
    INFO(rule.name);
    const Elements::Values a = rule.slope(f);
    for (const Element e : all_elements) {
      for (const Complex direction : {Complex(1.0, 0.0), Complex(0.0, 1.0)}) {
        const Complex step = 1e-5 * std::abs(f[e]) * direction;
        Elements::Values up = f, down = f;
        up[e] += step;
        down[e] -= step;
        const double change = difference(rule, rule.value(up, omega_rad_s), rule.value(down, omega_rad_s));
        const double expected = 2.0 * (a[e] * step).real();
        CHECK(change == Approx(expected).epsilon(1e-6).margin(1e-12));
      }
    }
  }
}

TEST_CASE("datum: sigma of every row is the first-order error of the parts", "[physics][mt][datum]") {
  const Elements::Values f = some_values();
  const ElementCovariance c = some_covariance();
  const Eigen::MatrixXd of_parts = covariance_of_parts(c);
  Elements::Errors s;
  for (std::size_t k = 0; k < n_elements; ++k)
    s.numbers[k] = std::sqrt(of_parts(static_cast<Eigen::Index>(2 * k), static_cast<Eigen::Index>(2 * k)));
  for (const DatumRule& rule : datum_rules()) {
    INFO(rule.name);
    const Eigen::VectorXd gradient = complex_step_gradient(rule.name, f);
    const double independent = std::sqrt(gradient.cwiseAbs2().dot(of_parts.diagonal()));
    CHECK(sigma(rule, f, s) == Approx(independent).epsilon(1e-12));
    CHECK(sigma(rule, f, c) == Approx(std::sqrt(gradient.dot(of_parts * gradient))).epsilon(1e-10));
    const ElementCovariance diagonal = ElementCovariance(c.diagonal().asDiagonal());
    CHECK(sigma(rule, f, diagonal) == Approx(independent).epsilon(1e-12));
  }
}

TEST_CASE("datum: sigma of every row is the spread of noisy values", "[physics][mt][datum]") {
  const Elements::Values f = some_values();
  const ElementCovariance c = 0.01 * some_covariance();
  const Eigen::MatrixXd root = covariance_of_parts(c + 1e-18 * ElementCovariance::Identity()).llt().matrixL();
  std::mt19937_64 bits(5);
  std::normal_distribution<double> normal;
  constexpr int n_draws = 20000;
  std::array<double, n_datum_rows> squares{};
  for (int draw = 0; draw < n_draws; ++draw) {
    const Eigen::VectorXd noise = root * Eigen::VectorXd::NullaryExpr(n_parts, [&] { return normal(bits); });
    Elements::Values noisy = f;
    for (std::size_t k = 0; k < n_elements; ++k)
      noisy.numbers[k] +=
          Complex(noise[static_cast<Eigen::Index>(2 * k)], noise[static_cast<Eigen::Index>(2 * k + 1)]);
    for (std::size_t row = 0; row < n_datum_rows; ++row) {
      const DatumRule& rule = datum_rules()[row];
      squares[row] +=
          std::pow(difference(rule, rule.value(noisy, omega_rad_s), rule.value(f, omega_rad_s)), 2);
    }
  }
  for (std::size_t row = 0; row < n_datum_rows; ++row) {
    const DatumRule& rule = datum_rules()[row];
    INFO(rule.name);
    CHECK(std::sqrt(squares[row] / n_draws) == Approx(sigma(rule, f, c)).epsilon(0.03));
  }
}

TEST_CASE("datum: elements that a datum does not need may be missing", "[physics][mt][datum]") {
  const double nan = std::nan("");
  Elements::Values f;
  f.numbers.fill({nan, nan});
  f[Element::zxy] = some_values()[Element::zxy];
  Elements::Errors s;
  s.numbers.fill(nan);
  s[Element::zxy] = 1e-5;
  const DatumRule& rule = rule_of(Datum::log10_rho_xy);
  CHECK(std::isfinite(rule.value(f, omega_rad_s)));
  CHECK(sigma(rule, f, s) == Approx(2e-5 / (std::abs(f[Element::zxy]) * ln10)).epsilon(1e-14));
  CHECK(std::isnan(rule_of(datum("phase_det")).value(f, omega_rad_s)));
}

TEST_CASE("datum: differences of every row are wrapped to half a turn on either side, or not at all",
          "[physics][mt][datum]") {
  for (const DatumRule& rule : datum_rules()) {
    INFO(rule.name);
    if (rule.turn == 0.0) {
      CHECK(difference(rule, 7.5, -4.0) == 11.5);
      continue;
    }
    const double half = 0.5 * rule.turn;
    CHECK(difference(rule, 0.3, 0.1) == 0.3 - 0.1);
    CHECK(difference(rule, half - 0.1, 0.1 - half) == Approx(-0.2).margin(1e-12));
    CHECK(difference(rule, 0.1 - half, half - 0.1) == Approx(0.2).margin(1e-12));
    CHECK(difference(rule, 0.0, half) == half);
    CHECK(difference(rule, half, 0.0) == half);
    CHECK(difference(rule, 0.2 + 3.0 * rule.turn, 0.0) == Approx(0.2).margin(1e-12));
  }
}

TEST_CASE("datum: invariants over a layered earth equal those of its impedance", "[physics][mt][datum]") {
  const Complex z(1.2e-3, 0.9e-3);
  Elements::Values f;
  f[Element::zxy] = z;
  f[Element::zyx] = -z;
  const auto value = [&](std::string_view name) { return rule_of(datum_from(name)).value(f, omega_rad_s); };
  CHECK(value("log10_rho_det") == Approx(value("log10_rho_xy")));
  CHECK(value("phase_det") == Approx(std::arg(z)));
  CHECK(value("log10_rho_ssq") == Approx(value("log10_rho_xy")));
  CHECK(value("phase_ssq") == Approx(std::arg(z)));
  CHECK(value("phase_tensor_xx") == Approx(std::tan(std::arg(z))));
  CHECK(value("phase_tensor_xy") == Approx(0.0).margin(1e-15));
}

TEST_CASE("datum: modes and branches follow from the elements", "[physics][mt][datum]") {
  CHECK(mode_of(rule_of(Datum::phase_yx)) == Mode::tm);
  CHECK(mode_of(rule_of(Datum::tzy_im)) == Mode::te);
  CHECK(mode_of(rule_of(datum("phase_det"))) == std::nullopt);
  CHECK_THROWS_AS(mode_of(datum("phase_det")), core::InvalidArgument);
  CHECK(branch_of(rule_of(Datum::phase_yx)) == std::numbers::pi);
  CHECK(branch_of(rule_of(Datum::zxy_re)) == 0.0);
  CHECK(branch_of(rule_of(Datum::tzy_re)) == std::nullopt);
  CHECK(branch_of(rule_of(datum("zxx_re"))) == std::nullopt);
  CHECK(branch_of(rule_of(datum("phase_ssq"))) == 0.0);
}
