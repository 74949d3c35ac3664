// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/neighbours.hpp"

#include "physics/mt/analysis/rotation.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr std::size_t fewest_neighbours = 3;
constexpr int fewest_rows = 5;
constexpr double same_period = 0.15;          // relative difference of periods that are compared
constexpr double least_spread_of_phi = 0.05;  // of the mean trace of Φ
constexpr double least_spread_of_tipper = 0.03;
constexpr double coarse_step_deg = 5.0, fine_step_deg = 1.0;
// Chosen on the bundled lines, of which none is then named: docs/results/surveys.md.
constexpr double much_more_alike = 0.25;
constexpr double least_turn_deg = 25.0;

/// A number of the station beside the mean and the mean square deviation of its neighbours'.
template <class Tensor>
struct Compared {
  Tensor station, mean;
  double spread_square;
};
struct Comparison {
  std::vector<Compared<Eigen::Matrix2d>> phi;
  std::vector<Compared<Eigen::Vector2cd>> tipper;

  /// Returns how unlike the station is with its axes turned by an angle; single rows far off hardly count.
  [[nodiscard]] double at(double turn_deg) const {
    const Eigen::Matrix2d back = axes_turned_by(-turn_deg);
    double sum = 0.0;
    for (const auto& each : phi)
      sum +=
          std::log1p((back * each.station * back.transpose() - each.mean).squaredNorm() / each.spread_square);
    for (const auto& each : tipper)
      sum += std::log1p((back * each.station - each.mean).squaredNorm() / each.spread_square);
    return sum / static_cast<double>(phi.size() + tipper.size());
  }
};

const DirectedRow* row_near(const std::vector<DirectedRow>& rows, double frequency_hz) {
  const auto off = [&](const DirectedRow& row) { return std::abs(row.frequency_hz / frequency_hz - 1.0); };
  const auto nearest = std::ranges::min_element(rows, {}, off);
  return nearest != rows.end() && off(*nearest) < same_period ? &*nearest : nullptr;
}

/// Appends the comparison of one number; needs enough neighbours that have it.
template <class Tensor>
void compare(const Tensor& station, const std::vector<Tensor>& others, double least_spread,
             std::vector<Compared<Tensor>>& out) {
  if (others.size() < fewest_neighbours) return;
  Tensor mean = Tensor::Zero();
  for (const Tensor& other : others) mean += other / static_cast<double>(others.size());
  double spread = 0.0;
  for (const Tensor& other : others)
    spread += (other - mean).squaredNorm() / static_cast<double>(others.size() - 1);
  out.push_back({station, mean, std::max(spread, least_spread * least_spread)});
}

Comparison comparison_of(std::span<const DirectedRow> station,
                         std::span<const std::vector<DirectedRow>> neighbours) {
  Comparison out;
  for (const DirectedRow& row : station) {
    std::vector<Eigen::Matrix2d> phi;
    std::vector<Eigen::Vector2cd> tippers;
    for (const std::vector<DirectedRow>& neighbour : neighbours) {
      const DirectedRow* other = row_near(neighbour, row.frequency_hz);
      if (other == nullptr) continue;
      if (row.phi && other->phi) phi.push_back(*other->phi);
      if (row.tipper && other->tipper) tippers.push_back(*other->tipper);
    }
    if (row.phi) compare(*row.phi, phi, least_spread_of_phi, out.phi);
    if (row.tipper) compare(*row.tipper, tippers, least_spread_of_tipper, out.tipper);
  }
  return out;
}

}  // namespace

std::vector<DirectedRow> directed_rows(const StationData& station) {
  std::vector<DirectedRow> out;
  for (const StationRow& each : station.rows) {
    const StationRow row = rotated(each, 0.0);
    DirectedRow& directed = out.emplace_back();
    directed.frequency_hz = row.frequency_hz;
    if (const auto z = impedance_of(row))
      if (const auto tensor = phase_tensor(*z))
        directed.phi = tensor->phi / std::max(std::abs(tensor->max), least_spread_of_phi);
    if (!row.is_missing(Element::tzx) && !row.is_missing(Element::tzy))
      directed.tipper = Eigen::Vector2cd{row.values[Element::tzx], row.values[Element::tzy]};
  }
  return out;
}

bool FrameTurn::is_wrong() const {
  return as_it_is - turned > much_more_alike && std::abs(turn_deg) > least_turn_deg;
}

std::optional<FrameTurn> frame_turn(std::span<const DirectedRow> station,
                                    std::span<const std::vector<DirectedRow>> neighbours) {
  if (neighbours.size() < fewest_neighbours) return {};
  const Comparison comparison = comparison_of(station, neighbours);
  FrameTurn out{.n_rows = static_cast<int>(std::max(comparison.phi.size(), comparison.tipper.size()))};
  if (out.n_rows < fewest_rows) return {};
  out.as_it_is = out.turned = comparison.at(0.0);
  const auto search = [&](double from_deg, double to_deg, double step_deg) {
    for (double turn = from_deg; turn <= to_deg; turn += step_deg) {
      const double there = comparison.at(turn);
      if (there < out.turned) out.turned = there, out.turn_deg = turn;
    }
  };
  search(-180.0 + coarse_step_deg, 180.0, coarse_step_deg);
  search(out.turn_deg - coarse_step_deg, out.turn_deg + coarse_step_deg, fine_step_deg);
  out.turn_deg = std::remainder(out.turn_deg, 360.0);
  return out;
}

}  // namespace lodestone::physics::mt
