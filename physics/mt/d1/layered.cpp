// SPDX-License-Identifier: Apache-2.0
// Symbols: k wavenumber, h thickness, e = exp(−2kh), t = tanh(kh), eta = iωμ0/k intrinsic impedance, z
// impedance at the top of a layer.
#include "physics/mt/d1/layered.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <cmath>

namespace lodestone::physics::mt::d1 {
namespace {

using Complex = std::complex<double>;

void check(const LayeredEarth& earth, double frequency_hz) {
  if (earth.resistivity_ohm_m.empty() || earth.thickness_m.size() + 1 != earth.resistivity_ohm_m.size())
    throw core::ShapeError(
        "mt::layered_impedance#wrong_size",
        "expected one thickness less than resistivities, got {} resistivities and {} thicknesses",
        earth.resistivity_ohm_m.size(), earth.thickness_m.size());
  const auto positive = [](double value) { return std::isfinite(value) && value > 0.0; };
  for (std::size_t i = 0; i < earth.resistivity_ohm_m.size(); ++i) {
    if (!positive(earth.resistivity_ohm_m[i]))
      throw core::InvalidArgument("mt::layered_impedance#resistivity_not_positive",
                                  "expected positive resistivities, got {} ohm m in layer {}",
                                  earth.resistivity_ohm_m[i], i + 1);
  }
  for (std::size_t i = 0; i < earth.thickness_m.size(); ++i) {
    if (!positive(earth.thickness_m[i]))
      throw core::InvalidArgument("mt::layered_impedance#thickness_not_positive",
                                  "expected positive thicknesses, got {} m in layer {}", earth.thickness_m[i],
                                  i + 1);
  }
  if (!positive(frequency_hz))
    throw core::InvalidArgument("mt::layered_impedance#frequency_not_positive",
                                "expected a positive frequency, got {} Hz", frequency_hz);
}

/// Returns exp(z) − 1 without cancellation for small z: thin layers at long periods keep all digits.
Complex expm1(Complex z) {
  const double half_sine = std::sin(0.5 * z.imag());
  const double growth = std::exp(z.real());
  return {std::expm1(z.real()) - 2.0 * growth * half_sine * half_sine, growth * std::sin(z.imag())};
}

/// Impedance at the top of one layer and its partial derivatives.
struct Step {
  Complex z, d_below, d_ln_resistivity, d_thickness;
};

Step climb(Complex below, double resistivity_ohm_m, double thickness_m, double omega_mu0) {
  const Complex k = std::sqrt(Complex(0.0, omega_mu0 / resistivity_ohm_m));
  const Complex eta = std::sqrt(Complex(0.0, omega_mu0 * resistivity_ohm_m));
  const Complex kh = k * thickness_m;
  const Complex one_minus_e = -expm1(-2.0 * kh);
  const Complex one_plus_e = 2.0 - one_minus_e;
  const Complex t = one_minus_e / one_plus_e;
  const Complex one_minus_t2 = 4.0 * (1.0 - one_minus_e) / (one_plus_e * one_plus_e);
  const Complex numerator = eta * t + below, denominator = eta + below * t;
  const Complex inverse2 = 1.0 / (denominator * denominator);
  const Complex d_kh = eta * (eta * eta - below * below) * inverse2 * one_minus_t2;
  const Complex d_eta = numerator / denominator - eta * below * one_minus_t2 * inverse2;
  return {.z = eta * numerator / denominator,
          .d_below = eta * eta * one_minus_t2 * inverse2,
          .d_ln_resistivity = 0.5 * (eta * d_eta - kh * d_kh),
          .d_thickness = k * d_kh};
}

/// Returns the impedance of the half-space at the bottom; 0 over a perfect conductor.
Complex bottom(const LayeredEarth& earth, double omega_mu0) {
  const double resistivity = earth.resistivity_ohm_m.back();
  return resistivity <= perfect_conductor_ohm_m ? Complex(0.0)
                                                : std::sqrt(Complex(0.0, omega_mu0 * resistivity));
}

}  // namespace

Complex layered_impedance(const LayeredEarth& earth, double frequency_hz) {
  check(earth, frequency_hz);
  const double omega_mu0 = omega(frequency_hz) * mu0;
  Complex z = bottom(earth, omega_mu0);
  for (std::size_t i = earth.thickness_m.size(); i-- > 0;)
    z = climb(z, earth.resistivity_ohm_m[i], earth.thickness_m[i], omega_mu0).z;
  return z;
}

LayeredResponse layered_response(const LayeredEarth& earth, double frequency_hz) {
  check(earth, frequency_hz);
  const double omega_mu0 = omega(frequency_hz) * mu0;
  const std::size_t n = earth.resistivity_ohm_m.size();
  LayeredResponse response;
  response.d_ln_resistivity.resize(n);
  response.d_thickness.resize(n - 1);
  std::vector<Complex> d_below(n - 1);
  Complex z = bottom(earth, omega_mu0);
  response.d_ln_resistivity[n - 1] = 0.5 * z;
  for (std::size_t i = n - 1; i-- > 0;) {
    const Step step = climb(z, earth.resistivity_ohm_m[i], earth.thickness_m[i], omega_mu0);
    z = step.z;
    d_below[i] = step.d_below;
    response.d_ln_resistivity[i] = step.d_ln_resistivity;
    response.d_thickness[i] = step.d_thickness;
  }
  Complex transmission =
      1.0;  // derivative of the surface impedance with respect to the impedance at the top of layer i
  for (std::size_t i = 0; i < n; ++i) {
    response.d_ln_resistivity[i] *= transmission;
    if (i + 1 == n) break;
    response.d_thickness[i] *= transmission;
    transmission *= d_below[i];
  }
  response.impedance_ohm = z;
  return response;
}

}  // namespace lodestone::physics::mt::d1
