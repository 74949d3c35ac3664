// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/resolution.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {
namespace {

constexpr double shortest_share = 0.005;  // of the penetration depth at the survey's highest frequency

bool ends_in_perfect_conductor(const mesh::TensorGrid& grid, const Eigen::VectorXd& resistivity) {
  const auto last_row = resistivity.tail(grid.n_y());
  return grid.n_z() > 1 && (last_row.array() <= perfect_conductor_ohm_m).all();
}

}  // namespace

SectionResolution::SectionResolution(const mesh::Model& model, const Survey& survey, const BandRange& band)
    : earth_(model.earth),
      surface_(model.earth.surface.profile()),
      resistivity_(mesh::resistivity_ohm_m(model)),
      band_(band),
      draped_(grid().reference() == mesh::DepthReference::surface),
      perfect_conductor_below_(ends_in_perfect_conductor(grid(), resistivity_)),
      n_rows_(grid().n_z() - (perfect_conductor_below_ ? 1 : 0)),
      lowest_(model.earth.surface.lowest_m()) {
  for (const Station& station : survey.stations) stations_.push_back(station.y_m);
  std::sort(stations_.begin(), stations_.end());
  measure_columns();
  const double highest_hz = *std::max_element(survey.frequencies_hz.begin(), survey.frequencies_hz.end());
  for (const double y : stations_)
    shortest_m_ =
        std::max(shortest_m_, shortest_share * depth_reaching(1.0, grid().column_of(y), highest_hz));
}

double SectionResolution::depth_under(double surface_m, int iz) const {
  const double z = grid().z_edges_m()[iz];
  return draped_ ? z - grid().z_edges_m().front() : std::max(0.0, z - surface_m);
}

double SectionResolution::skin_depth_m(double resistivity) const {
  return mt::skin_depth_m(resistivity, band_.max_frequency_hz);
}

double SectionResolution::deepest_penetration_m() const {
  double deepest = 0.0;
  for (const double y : stations_)
    deepest = std::max(deepest, depth_reaching(1.0, grid().column_of(y), band_.min_frequency_hz));
  return deepest;
}

double SectionResolution::bottom_m(double skin_depths) const {
  if (perfect_conductor_below_) return depth_under(lowest_, n_rows_);
  double lowest = 0.0;
  for (const double y : stations_) {
    const int column = grid().column_of(y);
    const double bottom = depth_reaching(skin_depths, column, band_.min_frequency_hz);
    const double height = draped_ ? 0.0 : height_of_column(column);
    lowest = std::max(lowest, bottom > 2.0 * height
                                  ? bottom - height
                                  : bottom);  // a row lies at least that much deeper under a high column
  }
  return lowest;
}

Requirement SectionResolution::requirement(double y_low, double y_high, int row, int column) const {
  return requirement(y_low, y_high, row, column, depth_of_edge(row, column));
}

// A field gets there and comes back damped by about exp(−2 a), a = the hypotenuse of the lateral distance in
// reaches and of ∫dz/δ down to it (a resistive layer below a conductor damps little); errors fall
// with the square of the cell size; 0.7 instead of 1 keeps a margin.
Requirement SectionResolution::requirement(double y_low, double y_high, int row, int column,
                                           double depth) const {
  double lateral = 1e300, reach = reach_[column], down = attenuation(column, row);
  const auto consider = [&](std::size_t station, double distance) {
    if (distance >= lateral) return;
    lateral = distance;
    const int under = grid().column_of(stations_[station]);
    reach = std::max(reach_[column], reach_[under]);
    down = std::min(attenuation(column, row), attenuation_[under][row]);
  };
  const auto next = static_cast<std::size_t>(std::lower_bound(stations_.begin(), stations_.end(), y_low) -
                                             stations_.begin());
  if (next < stations_.size()) consider(next, std::max(0.0, stations_[next] - y_high));
  if (next > 0) consider(next - 1, y_low - stations_[next - 1]);
  return {std::hypot(lateral, depth), std::exp(std::min(0.7 * std::hypot(lateral / reach, down), 50.0))};
}

/// Computes the surface over the middle of every column, and the attenuation under it.
void SectionResolution::measure_columns() {
  for (int iy = 0; iy < grid().n_y(); ++iy) floor_.push_back(surface_.z_at(grid().y_centre_m(iy)));
  for (int iy = 0; iy < grid().n_y(); ++iy) {
    penetration_.push_back(depth_reaching(1.0, iy, band_.max_frequency_hz));
    attenuation_.push_back(attenuation_of(iy));
    reach_.push_back(reach_of(iy));
  }
}

/// Returns the distance at which fields adjust to a change along the profile: the penetration depth, or more
/// where current in a conductor leaks through a resistor below (TM). That takes √(S T), S = ∫σ dz above a
/// depth and T = ∫ρ dz from there to the penetration depth. At the best depth of a half-space this is half
/// the penetration, so twice of it counts. source: Ranganayaki & Madden 1980, Geophys. J. R. Astron. Soc. 60,
/// 445 (the adjustment distance).
double SectionResolution::reach_of(int iy) const {
  std::vector<double> conductance{0.0}, resistance{0.0};  // from the surface down
  for (int iz = 0; iz < n_rows_; ++iz) {
    const double top = depth_of_edge(iz, iy), bottom = iz + 1 == n_rows_ ? 1e300 : depth_of_edge(iz + 1, iy),
                 thickness = std::max(0.0, std::min(bottom, penetration_[iy]) - top);
    conductance.push_back(conductance.back() + thickness / rho(iz, iy));
    resistance.push_back(resistance.back() + thickness * rho(iz, iy));
  }
  double reach = penetration_[iy];
  for (std::size_t k = 0; k < conductance.size(); ++k)
    reach = std::max(reach, 2.0 * std::sqrt(conductance[k] * (resistance.back() - resistance[k])));
  return reach;
}

/// Returns ∫dz/δ from the surface to the top of every row.
std::vector<double> SectionResolution::attenuation_of(int iy) const {
  std::vector<double> result{0.0};
  for (int iz = 0; iz < n_rows_; ++iz) {
    const double thickness = depth_of_edge(iz + 1, iy) - depth_of_edge(iz, iy);
    result.push_back(result.back() + thickness / skin_depth_m(rho(iz, iy)));
  }
  return result;
}

/// Returns the least attenuation down to the top of a row: through the column or one beside it, as to the
/// foot of a conductor's side.
double SectionResolution::attenuation(int column, int row) const {
  const int first = std::max(0, column - 1), last = std::min(grid().n_y() - 1, column + 1);
  double least = attenuation_[column][row];
  for (int iy = first; iy <= last; ++iy) least = std::min(least, attenuation_[iy][row]);
  return least;
}

/// Returns the depth at which ∫dz/δ under a column reaches `amount`; the perfect conductor ends it.
double SectionResolution::depth_reaching(double amount, int iy, double frequency) const {
  double reached = 0.0;
  for (int iz = 0; iz < n_rows_; ++iz) {
    const double top = depth_of_edge(iz, iy), delta = mt::skin_depth_m(rho(iz, iy), frequency);
    const bool last = iz + 1 == n_rows_;
    const double thickness = last && !perfect_conductor_below_ ? 1e300 : depth_of_edge(iz + 1, iy) - top;
    if (thickness <= 0.0) continue;
    if (reached + thickness / delta >= amount) return top + (amount - reached) * delta;
    reached += thickness / delta;
  }
  return depth_of_edge(n_rows_, iy);
}

}  // namespace lodestone::physics::mt::d2
