// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"

#include "apps/mt_invert/selftest/data.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::selftest {
namespace {

namespace mt = physics::mt;
constexpr double limit = 1e-6;  // relative in ρₐ, radian in phase

/// The table's periods are whole half-decades, rounded to six digits.
double exact_period_s(double rounded) { return std::pow(10.0, std::round(2.0 * std::log10(rounded)) / 2.0); }

}  // namespace

SelftestReport selftest_layered() {
  const BenchmarkTable table(data_file("benchmarks/layered1d.csv"));
  SelftestReport report;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    const double period_s = exact_period_s(table.number(i, "period_s"));
    const mt::d1::LayeredEarth earth{table.numbers(i, "rho_ohm_m_top_to_bottom"),
                                     table.numbers(i, "thickness_m")};
    const mt::Complex ours = mt::d1::layered_impedance(earth, 1.0 / period_s);
    const mt::Complex reference(table.number(i, "Z_re_ohm"), table.number(i, "Z_im_ohm"));
    SelftestRow row;
    row.what = fmt::format("{} {:.3g} s |Z|", table.text(i, "model"), period_s);
    row.reference = std::abs(reference);
    row.ours = std::abs(ours);
    row.difference = std::abs(ours - reference) / std::abs(reference);
    row.limit = limit;
    report.rows.push_back(row);
  }
  return report;
}

}  // namespace lodestone::mt_invert::selftest
