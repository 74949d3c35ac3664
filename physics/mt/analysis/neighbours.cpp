// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/neighbours.hpp"

#include "engine/core/parallel.hpp"
#include "physics/mt/analysis/rotation.hpp"
#include "physics/mt/merge.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr std::size_t fewest_neighbours = 3, most_neighbours = 5;
constexpr double farthest_neighbour_m = 200e3;
constexpr int fewest_rows = 5;
constexpr double same_period = 0.15;  // relative difference of periods that are compared
constexpr double least_size_of_phi = 0.05;
// Differences of neighbours: of phase tensors over their size, and of tippers.
constexpr double usual_of_phi = 0.2, usual_of_tipper = 0.05;
constexpr double coarse_step_deg = 5.0, fine_step_deg = 1.0;
// This limit names no station of the bundled lines; docs/results/surveys.md says how it was chosen.
constexpr double much_more_alike = 0.2;
constexpr double least_turn_deg = 25.0;

/// Returns the rows of a station as such, highest frequency first. errors: those of `rotated`.
std::vector<DirectedRow> directed_rows(const StationData& station) {
  std::vector<DirectedRow> out;
  for (const StationRow& each : station.rows) {
    const StationRow row = rotated(each, 0.0);
    DirectedRow& directed = out.emplace_back();
    directed.frequency_hz = row.frequency_hz;
    if (const auto z = impedance_of(row))
      if (const auto tensor = phase_tensor(*z))
        directed.phi = tensor->phi / std::max(std::abs(tensor->max), least_size_of_phi);
    if (!row.is_missing(Element::tzx) && !row.is_missing(Element::tzy))
      directed.tipper = Eigen::Vector2cd{row.values[Element::tzx], row.values[Element::tzy]};
  }
  return out;
}

/// A difference that depends on the turn of the station by d² = c + a cos nθ + b sin nθ.
struct Difference {
  double c, a, b, weight;

  /// `square_at`: returns d² where the station is turned by an angle in degrees.
  template <class Square>
  static Difference of(const Square& square_at, int n, double weight) {
    constexpr double half_turn_deg = 180.0;
    const double at_zero = square_at(0.0), at_half = square_at(half_turn_deg / n),
                 at_quarter = square_at(0.5 * half_turn_deg / n);
    const double middle = 0.5 * (at_zero + at_half);
    return {middle, at_zero - middle, at_quarter - middle, weight};
  }
};

/// The differences of a station from its neighbours, row by row.
struct Comparison {
  std::vector<Difference> phi, tipper;
  int n_phi = 0, n_tipper = 0;  ///< rows that have some; weights of a row add up to 1

  /// Returns how unlike the station is with its axes turned by an angle; differences far off hardly count.
  [[nodiscard]] double at(double turn_deg) const {
    const double once = turn_deg / deg_per_rad;
    const auto sum_of = [](const std::vector<Difference>& differences, double angle) {
      const double cosine = std::cos(angle), sine = std::sin(angle);
      double sum = 0.0;
      for (const Difference& each : differences)
        sum += each.weight * std::log1p(std::max(each.c + each.a * cosine + each.b * sine, 0.0));
      return sum;
    };
    return (sum_of(phi, 2.0 * once) + sum_of(tipper, once)) / (n_phi + n_tipper);
  }
};

const DirectedRow* row_near(const std::vector<DirectedRow>& rows, double frequency_hz) {
  const auto off = [&](const DirectedRow& row) { return std::abs(row.frequency_hz / frequency_hz - 1.0); };
  const auto nearest = std::ranges::min_element(rows, {}, off);
  return nearest != rows.end() && off(*nearest) < same_period ? &*nearest : nullptr;
}

Difference difference(const Eigen::Matrix2d& station, const Eigen::Matrix2d& other, double weight) {
  const auto square_at = [&](double turn_deg) {
    const Eigen::Matrix2d back = axes_turned_by(-turn_deg);
    return (back * station * back.transpose() - other).squaredNorm() / (usual_of_phi * usual_of_phi);
  };
  return Difference::of(square_at, 2, weight);
}

Difference difference(const Eigen::Vector2cd& station, const Eigen::Vector2cd& other, double weight) {
  const auto square_at = [&](double turn_deg) {
    return (axes_turned_by(-turn_deg) * station - other).squaredNorm() / (usual_of_tipper * usual_of_tipper);
  };
  return Difference::of(square_at, 1, weight);
}

/// Makes the weights of the differences from `first` on add up to 1. returns: 1 where there are some, else 0.
int normalize(std::vector<Difference>& differences, std::size_t first) {
  double sum = 0.0;
  for (std::size_t k = first; k < differences.size(); ++k) sum += differences[k].weight;
  for (std::size_t k = first; k < differences.size(); ++k) differences[k].weight /= sum;
  return first < differences.size() ? 1 : 0;
}

}  // namespace

bool FrameTurn::is_wrong() const {
  return as_it_is - turned > much_more_alike && std::abs(turn_deg) > least_turn_deg;
}

FrameComparison::FrameComparison(const std::vector<StationData>& stations)
    : rows_(stations.size()), neighbours_(stations.size()) {
  core::parallel_for(std::ssize(stations), [&](std::ptrdiff_t each) {
    const auto k = static_cast<std::size_t>(each);
    rows_[k] = directed_rows(stations[k]);
    std::vector<Neighbour>& near = neighbours_[k];
    for (std::size_t other = 0; other < stations.size(); ++other) {
      const double apart_m = distance_m(stations[k], stations[other]);
      if (apart_m > 0.0 && apart_m <= farthest_neighbour_m) near.push_back({other, apart_m});
    }
    const std::size_t n = std::min(most_neighbours, near.size());
    std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(n), {},
                              &Neighbour::distance_m);
    near.resize(n);
  });
}

std::optional<FrameTurn> FrameComparison::turn_of(std::size_t station) const {
  return turn_of(rows_[station], neighbours_[station]);
}

std::optional<FrameTurn> FrameComparison::turn_of(const StationData& instead, std::size_t station) const {
  return turn_of(directed_rows(instead), neighbours_[station]);
}

std::optional<FrameTurn> FrameComparison::turn_of(const std::vector<DirectedRow>& rows,
                                                  const std::vector<Neighbour>& neighbours) const {
  if (neighbours.size() < fewest_neighbours) return {};
  Comparison comparison;
  for (const DirectedRow& row : rows) {
    const std::size_t first_phi = comparison.phi.size(), first_tipper = comparison.tipper.size();
    for (const Neighbour& neighbour : neighbours) {
      const DirectedRow* other = row_near(rows_[neighbour.station], row.frequency_hz);
      if (other == nullptr) continue;
      const double weight = neighbours.front().distance_m / neighbour.distance_m;
      if (row.phi && other->phi) comparison.phi.push_back(difference(*row.phi, *other->phi, weight));
      if (row.tipper && other->tipper)
        comparison.tipper.push_back(difference(*row.tipper, *other->tipper, weight));
    }
    comparison.n_phi += normalize(comparison.phi, first_phi);
    comparison.n_tipper += normalize(comparison.tipper, first_tipper);
  }
  FrameTurn out{.n_rows = std::max(comparison.n_phi, comparison.n_tipper),
                .n_neighbours = static_cast<int>(neighbours.size())};
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
