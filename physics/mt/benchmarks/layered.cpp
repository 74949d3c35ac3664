// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"
#include "physics/mt/d3/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace lodestone::physics::mt::benchmarks {
namespace {

constexpr double limit = 1e-6;  // relative

/// The table's periods are whole half-decades, rounded to six digits.
double exact_period_s(double rounded) { return std::pow(10.0, std::round(2.0 * std::log10(rounded)) / 2.0); }

std::vector<double> numbers_in(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (double number = 0.0; words >> number;) numbers.push_back(number);
  if (!words.eof())
    throw core::InvalidArgument("mt::benchmarks#not_numbers",
                                "expected numbers with blanks between them, got \"{}\"", text);
  return numbers;
}

/// A layered earth of a table with the rows of the periods at which its volume is compared.
struct LayeredRows {
  std::string name;
  d1::LayeredEarth earth;
  std::vector<std::size_t> rows{};
};

bool is_compared(double period_s) {
  const double decade = std::log10(period_s);
  return decade >= -3.0 && decade <= 4.0 && std::abs(std::remainder(decade + 3.0, 2.0)) < 1e-9;
}

std::vector<LayeredRows> layered_rows(const core::Table& reference) {
  const auto& models = reference.texts("model");
  std::vector<LayeredRows> out;
  for (std::size_t i = 0; i < reference.n_rows(); ++i) {
    if (out.empty() || out.back().name != models[i])
      out.push_back({models[i],
                     {numbers_in(reference.texts("rho_ohm_m_top_to_bottom")[i]),
                      numbers_in(reference.texts("thickness_m")[i])}});
    if (is_compared(exact_period_s(reference.numbers("period_s")[i]))) out.back().rows.push_back(i);
  }
  std::erase_if(out, [](const LayeredRows& each) { return each.rows.empty(); });
  return out;
}

/// Returns the layers as a volume of three by three columns around the station.
mesh::Model volume_of(const d1::LayeredEarth& earth) {
  std::vector<double> z{0.0};
  for (const double thickness_m : earth.thickness_m) z.push_back(z.back() + thickness_m);
  z.push_back(z.back() + std::max(1000.0, z.back()));  // the last layer has no bottom
  const std::vector<double> sides{-3000.0, -1000.0, 1000.0, 3000.0};
  const mesh::TensorGrid grid(mesh::Edges{.x_m = sides, .y_m = sides, .z_m = z});
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    cells.segment(grid.index(iz, 0, 0), grid.n_y() * grid.n_x()).setConstant(earth.resistivity_ohm_m[iz]);
  return mesh::resistivity_model({grid}, std::move(cells));
}

}  // namespace

std::vector<core::Comparison> compare_layered_volumes(MPI_Comm comm, const core::Table& reference,
                                                      Accuracy accuracy) {
  const bool is_fine = accuracy == Accuracy::fine;
  const double rho_limit_percent = is_fine ? 0.25 : 0.5, phase_limit_deg = is_fine ? 0.1 : 0.2;
  std::vector<core::Comparison> result;
  for (const LayeredRows& each : layered_rows(reference)) {
    std::vector<double> frequencies_hz;
    for (const std::size_t row : each.rows)
      frequencies_hz.push_back(1.0 / exact_period_s(reference.numbers("period_s")[row]));
    Station station{"site", 130.0};
    station.x_m = -90.0;
    const std::vector<Datum> data{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx};
    const Survey survey = full_survey({station}, frequencies_hz, data);
    const mesh::Model volume = volume_of(each.earth);
    const auto meshes = d3::design_meshes(volume, survey, d3::design_options(accuracy));
    const Eigen::VectorXd ours =
        d3::data_map(comm, volume.earth, survey, meshes)->value(mesh::resistivity_ohm_m(volume));
    const auto n = std::ssize(each.rows);
    for (Eigen::Index i = 0; i < n; ++i) {
      const std::size_t row = each.rows[static_cast<std::size_t>(i)];
      const double rho = reference.numbers("rho_a_ohm_m")[row], phase = reference.numbers("phase_deg")[row];
      for (const bool is_xy : {true, false}) {
        const Eigen::Index at = (is_xy ? 0 : 2 * n) + i;
        const std::string what =
            fmt::format("{} {:.3g} s {}", each.name, exact_period_s(reference.numbers("period_s")[row]),
                        is_xy ? "xy" : "yx");
        const double our_rho = std::pow(10.0, ours[at]), our_phase = deg_per_rad * ours[at + n];
        result.push_back(
            {what + " rho", "ohm m", rho, our_rho, rho_limit_percent, 100.0 * (our_rho / rho - 1.0), "%"});
        const double of_element = is_xy ? phase : phase - 180.0;
        result.push_back({what + " phase", "deg", of_element, our_phase, phase_limit_deg,
                          std::remainder(our_phase - of_element, 360.0), "°"});
      }
    }
  }
  return result;
}

std::vector<core::Comparison> compare_layered(const core::Table& reference) {
  const auto& models = reference.texts("model");
  const auto& rho_ohm_m = reference.texts("rho_ohm_m_top_to_bottom");
  const auto& thickness_m = reference.texts("thickness_m");
  const auto& periods_s = reference.numbers("period_s");
  const auto &re = reference.numbers("Z_re_ohm"), &im = reference.numbers("Z_im_ohm");
  std::vector<core::Comparison> result;
  for (std::size_t i = 0; i < reference.n_rows(); ++i) {
    const double period_s = exact_period_s(periods_s[i]);
    const Complex ours =
        d1::layered_impedance({numbers_in(rho_ohm_m[i]), numbers_in(thickness_m[i])}, 1.0 / period_s);
    const Complex expected(re[i], im[i]);
    result.push_back({.what = fmt::format("{} {:.3g} s |Z|", models[i], period_s),
                      .reference = std::abs(expected),
                      .ours = std::abs(ours),
                      .limit = limit,
                      .difference = std::abs(ours - expected) / std::abs(expected)});
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
