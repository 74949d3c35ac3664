// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/parameter_maps.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "tests/gradient/map_case.hpp"

namespace lodestone::tests {
namespace {

core::MapPtr sounding() {
  using physics::mt::Datum;
  return physics::mt::d1::data_map(
      {600.0, 1400.0, 4000.0},
      physics::mt::full_survey({{"a"}}, {100.0, 1.0, 0.01},
                               {Datum::log10_rho_xy, Datum::phase_xy, Datum::zyx_re}));
}

}  // namespace

std::vector<MapCase> inversion_maps() {
  return {
      {"inversion/exp10", [] { return inversion::objective::exp10_map(6); },
       [] { return some_numbers(6, -1.0, 4.0); }},
      {"inversion/bounds", [] { return inversion::objective::bounds_map(6, -1.0, 5.0); },
       [] { return some_numbers(6, -3.0, 3.0); }},
      {"inversion/exp10 after bounds",
       [] {
         return core::compose(inversion::objective::exp10_map(6),
                              inversion::objective::bounds_map(6, 0.0, 3.0));
       },
       [] { return some_numbers(6, -2.0, 2.0); }},
      {"inversion/sounding after bounds",
       [] { return core::compose(sounding(), inversion::objective::bounds_map(4, 0.0, 4.0)); },
       [] { return some_numbers(4, -1.5, 1.5); }},
  };
}

}  // namespace lodestone::tests
