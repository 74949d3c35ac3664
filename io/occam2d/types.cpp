// SPDX-License-Identifier: Apache-2.0
#include "io/occam2d/types.hpp"

#include "io/occam2d/data.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lodestone::io::occam2d {
namespace {

using physics::mt::Datum;
using physics::mt::deg_per_rad;

/// Types that are written stand first.
constexpr std::array<Type, 8> types{{{1, Datum::log10_rho_xy, Form::as_it_is},
                                     {2, Datum::phase_xy, Form::phase_te},
                                     {3, Datum::tzy_re, Form::as_it_is},
                                     {4, Datum::tzy_im, Form::as_it_is},
                                     {5, Datum::log10_rho_yx, Form::as_it_is},
                                     {6, Datum::phase_yx, Form::phase_tm},
                                     {9, Datum::log10_rho_xy, Form::apparent_resistivity},
                                     {10, Datum::log10_rho_yx, Form::apparent_resistivity}}};
constexpr std::size_t n_written = 6;

}  // namespace

const Type* type_of(int code) {
  const auto* const found = std::ranges::find(types, code, &Type::code);
  return found == types.end() ? nullptr : found;
}

const Type* type_of(Datum datum) {
  const auto* const found = std::ranges::find(types, datum, &Type::datum);
  return found == types.end() ? nullptr : found;
}

std::vector<Datum> data_held() {
  std::vector<Datum> held;
  for (std::size_t i = 0; i < n_written; ++i) held.push_back(types.at(i).datum);
  return held;
}

double value_of(Form form, double written) {
  switch (form) {
    case Form::apparent_resistivity:
      return written > 0.0 ? std::log10(written) : physics::mt::not_given;
    case Form::phase_te:
      return written / deg_per_rad;
    case Form::phase_tm:
      return std::remainder(written / deg_per_rad - std::numbers::pi, 2.0 * std::numbers::pi);
    default:
      return written;
  }
}

double sigma_of(Form form, double written_value, double written_error) {
  switch (form) {
    case Form::apparent_resistivity:
      return written_error / (written_value * physics::mt::ln10);
    case Form::phase_te:
    case Form::phase_tm:
      return written_error / deg_per_rad;
    default:
      return written_error;
  }
}

}  // namespace lodestone::io::occam2d
