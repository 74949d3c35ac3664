// SPDX-License-Identifier: Apache-2.0
#include "io/mare2dem/data_types.hpp"

#include "io/mare2dem/data.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::io::mare2dem {
namespace {

using physics::mt::Datum;
using physics::mt::deg_per_rad;
using physics::mt::not_given;

constexpr std::array<EmDataType, 14> known_types{
    {{103, Datum::log10_rho_xy, EmDataForm::apparent_resistivity},
     {104, Datum::phase_xy, EmDataForm::phase_te},
     {105, Datum::log10_rho_yx, EmDataForm::apparent_resistivity},
     {106, Datum::phase_yx, EmDataForm::phase_tm},
     {113, Datum::zxy_re, EmDataForm::as_it_is},
     {114, Datum::zxy_im, EmDataForm::as_it_is},
     {115, Datum::zyx_re, EmDataForm::as_it_is},
     {116, Datum::zyx_im, EmDataForm::as_it_is},
     {123, Datum::log10_rho_xy, EmDataForm::as_it_is},
     {125, Datum::log10_rho_yx, EmDataForm::as_it_is},
     {133, Datum::tzy_re, EmDataForm::as_it_is},
     {134, Datum::tzy_im, EmDataForm::as_it_is},
     {135, Datum::tzy_re, EmDataForm::amplitude},
     {136, Datum::tzy_im, EmDataForm::phase}}};

double radian(double degrees) { return std::remainder(degrees / deg_per_rad, 2.0 * std::numbers::pi); }

double sigma_of(EmDataForm form, const Uncertain& written) {
  switch (form) {
    case EmDataForm::as_it_is:
    case EmDataForm::amplitude:
      return written.sigma;
    case EmDataForm::apparent_resistivity:
      return written.sigma / (written.value * physics::mt::ln10);
    default:
      return written.sigma / deg_per_rad;
  }
}

}  // namespace

const EmDataType* emdata_type(int code) {
  const auto found = std::find_if(known_types.begin(), known_types.end(),
                                  [code](const EmDataType& type) { return type.code == code; });
  return found == known_types.end() ? nullptr : &*found;
}

const EmDataType* emdata_type(Datum datum) {
  const auto* const found = std::ranges::find_if(known_types, [datum](const EmDataType& type) {
    const bool is_written = !is_polar(type.form) && type.form != EmDataForm::apparent_resistivity;
    return is_written && type.quantity == datum;
  });
  return found == known_types.end() ? nullptr : found;
}

std::vector<Datum> data_held() {
  std::vector<Datum> held;
  for (const EmDataType& type : known_types)
    if (emdata_type(type.quantity) == &type) held.push_back(type.quantity);
  return held;
}

double value_of(EmDataForm form, double written) {
  switch (form) {
    case EmDataForm::apparent_resistivity:
      return written > 0.0 ? std::log10(written) : not_given;
    case EmDataForm::amplitude:
      return written > 0.0 ? written : not_given;
    case EmDataForm::phase_te:
    case EmDataForm::phase:
      return radian(written);
    case EmDataForm::phase_tm:
      return std::remainder(written / deg_per_rad - std::numbers::pi, 2.0 * std::numbers::pi);
    default:
      return written;
  }
}

Uncertain datum_of(EmDataForm form, const Uncertain& written) {
  return {value_of(form, written.value), sigma_of(form, written)};
}

std::array<Uncertain, 2> parts_of(const Uncertain& amplitude, const Uncertain& phase) {
  const double c = std::cos(phase.value), s = std::sin(phase.value), re = amplitude.value * c,
               im = amplitude.value * s;
  if (!(amplitude.sigma > 0.0) || !(phase.sigma > 0.0)) {
    const double none = std::min({0.0, amplitude.sigma, phase.sigma});
    return {{{re, none}, {im, none}}};
  }
  const double along = amplitude.sigma, across = amplitude.value * phase.sigma;
  return {{{re, std::hypot(c * along, s * across)}, {im, std::hypot(s * along, c * across)}}};
}

}  // namespace lodestone::io::mare2dem
