// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/mesh_features.hpp"

#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::physics::mt {

namespace {

/// How much a contrast (in decades) matters, 1 at two decades and more: its scattering, and the shielding that makes small fields of large ones.
double strength(double contrast) { return std::min(1.0, std::pow(0.5 * contrast, 1.5)); }

constexpr double edge_fraction = 0.5;      // of the distance between a station and the edge of its column: largest cells there
constexpr double steep = 1.05;             // arc length over width, 18 degrees
constexpr double station_fraction = 0.08;  // of the distance between a station and a contact: largest cells at the station, order 2
constexpr double shortest_share = 0.005;   // of the penetration depth at the survey's highest frequency

double skin_depth(double resistivity, double frequency) { return std::sqrt(2.0 * resistivity / (omega(frequency) * mu0)); }

class FeatureFinder {
 public:
  FeatureFinder(const mesh::Section2D& section, const Survey2D& survey, const BandRange& band, const MeshDesignOptions& options)
      : section_(section),
        grid_(section.grid),
        options_(options),
        band_(band),
        c_(options.coarsen / options.cells_per_skin_depth),
        kappa_(options.coarsen * options.contact_fraction) {
    for (const Station& station : survey.stations) stations_.push_back(station.y_m);
    std::sort(stations_.begin(), stations_.end());
    highest_hz_ = *std::max_element(survey.frequencies_hz.begin(), survey.frequencies_hz.end());
  }

  MeshFeatures find() {
    find_bottom();
    result_.first_y_m = stations_.front();
    result_.last_y_m = stations_.back();
    nearest_.assign(stations_.size(), 1e300);
    for (int iz = 0; iz < rows_; ++iz) {
      for (int iy = 0; iy < grid_.n_y(); ++iy) {
        if (iy > 0) add_contact(iz, iy);
        if (iz > 0) add_interface(iz, iy);
      }
    }
    add_kinks();
    add_slopes();
    if (section_.sea) add_sea(*section_.sea);
    for (std::size_t i = 0; i < stations_.size(); ++i) add_station(i);
    result_.surface_size_m = 1e300;
    for (const auto& feature : result_.z) {
      if (feature.at_m == 0.0) result_.surface_size_m = std::min(result_.surface_size_m, feature.size_m);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] double rho(int iz, int iy) const { return section_.resistivity_ohm_m[grid_.index(iz, iy)]; }
  /// Depth of a row's top below the surface (of its lowest point where the grid hangs on the datum).
  [[nodiscard]] double depth_of_edge(int iz) const {
    if (iz == 0) return 0.0;
    const double z = grid_.z_edges_m()[iz];
    if (grid_.reference() == mesh::DepthReference::surface) return z - grid_.z_edges_m().front();
    return z - *std::max_element(section_.surface.z_m().begin(), section_.surface.z_m().end());
  }
  /// How far the nearest station is from something between y_low and y_high at a depth, and how much coarser that makes its cells: a field gets there
  /// and comes back damped by about exp(−2 a), a = the hypotenuse of the lateral distance in penetration depths and of ∫dz/δ down to it (a resistive
  /// layer below a conductor damps little); errors fall with the square of the cell size; 0.7 instead of 1 keeps a margin.
  struct Hearing {
    double r, coarser;
  };
  [[nodiscard]] Hearing hearing(double y_low, double y_high, int row, int column) const {
    double lateral = 1e300, penetration = penetration_[column], down = attenuation(column, row);
    const auto consider = [&](std::size_t station, double distance) {
      if (distance >= lateral) return;
      lateral = distance;
      const int under = grid_.column_of(stations_[station]);
      penetration = std::max(penetration_[column], penetration_[under]);
      down = std::min(attenuation(column, row), attenuation_[under][row]);
    };
    const auto next = static_cast<std::size_t>(std::lower_bound(stations_.begin(), stations_.end(), y_low) - stations_.begin());
    if (next < stations_.size()) consider(next, std::max(0.0, stations_[next] - y_high));
    if (next > 0) consider(next - 1, y_low - stations_[next - 1]);
    return {std::hypot(lateral, std::max(depth_of_edge(row), 0.0)),
            std::exp(std::min(0.7 * std::hypot(lateral / penetration, down), 50.0))};
  }

  /// The easiest way down to the top of a row: through the column or one beside it, as to the foot of a conductor's side.
  [[nodiscard]] double attenuation(int column, int row) const {
    const int first = std::max(0, column - 1), last = std::min(grid_.n_y() - 1, column + 1);
    double least = attenuation_[column][row];
    for (int iy = first; iy <= last; ++iy) least = std::min(least, attenuation_[iy][row]);
    return least;
  }

  /// ∫dz/δ from the surface to the top of every row, at the band's highest frequency.
  [[nodiscard]] std::vector<double> attenuation_of(int iy) const {
    std::vector<double> result{0.0};
    for (int iz = 0; iz < rows_; ++iz) {
      const double thickness = std::max(0.0, depth_of_edge(iz + 1) - std::max(0.0, depth_of_edge(iz)));
      result.push_back(result.back() + thickness / skin_depth(rho(iz, iy), band_.max_frequency_hz));
    }
    return result;
  }

  /// Depth at which ∫dz/δ under y reaches `amount`; the perfect conductor ends it.
  [[nodiscard]] double depth_reaching(double amount, int iy, double frequency) const {
    double reached = 0.0;
    for (int iz = 0; iz < rows_; ++iz) {
      const double top = depth_of_edge(iz), delta = skin_depth(rho(iz, iy), frequency);
      const bool last = iz + 1 == rows_;
      const double thickness = last && !result_.perfect_conductor_below ? 1e300 : depth_of_edge(iz + 1) - top;
      if (thickness <= 0.0) continue;
      if (reached + thickness / delta >= amount) return top + (amount - reached) * delta;
      reached += thickness / delta;
    }
    return depth_of_edge(rows_);
  }

  void find_bottom() {
    rows_ = grid_.n_z();
    const auto bottom = section_.resistivity_ohm_m.tail(grid_.n_y());
    result_.perfect_conductor_below = rows_ > 1 && (bottom.array() <= perfect_conductor_ohm_m).all();
    if (result_.perfect_conductor_below) --rows_;
    for (int iy = 0; iy < grid_.n_y(); ++iy) {
      penetration_.push_back(depth_reaching(1.0, iy, band_.max_frequency_hz));
      attenuation_.push_back(attenuation_of(iy));
    }
    for (const double y : stations_) {
      const int column = grid_.column_of(y);
      shortest_m_ = std::max(shortest_m_, shortest_share * depth_reaching(1.0, column, highest_hz_));
      result_.penetration_m = std::max(result_.penetration_m, depth_reaching(1.0, column, band_.min_frequency_hz));
      result_.bottom_m = std::max(result_.bottom_m, depth_reaching(options_.bottom_depth, column, band_.min_frequency_hz));
    }
    if (result_.perfect_conductor_below) result_.bottom_m = depth_of_edge(rows_);
  }

  /// Cell size at a place of the given resistivity and distance from the nearest station.
  [[nodiscard]] double conductor_size(double resistivity, double r) const {
    const double delta = skin_depth(resistivity, band_.max_frequency_hz);
    return c_ * std::sqrt(delta * std::max(delta, r));
  }
  [[nodiscard]] static bool is_heard(const Hearing& hearing) { return hearing.coarser < 100.0; }

  /// A vertical contact between columns iy − 1 and iy in row iz.
  void add_contact(int iz, int iy) {
    const double a = rho(iz, iy - 1), b = rho(iz, iy), contrast = std::abs(std::log10(a / b));
    const double y = grid_.y_edges_m()[iy], depth = std::max(0.0, depth_of_edge(iz));
    const Hearing heard = hearing(y, y, iz, iy);
    if (contrast < options_.least_contrast || !is_heard(heard)) return;
    add_lateral(y, depth, conductor_size(std::min(a, b), heard.r), strength(contrast), heard);
  }

  /// Stations closer to a contact than this are not resolved further: its charges act at all frequencies alike, so the survey's highest one sets it.
  [[nodiscard]] double least_distance(double depth) const { return std::max(depth, shortest_m_); }

  /// A contact (or kink) at y whose top lies at `depth`, scattering with `weight` ≤ 1. `most` limits the lines beside it, across which the field decays
  /// into the conductor; along the contact it varies with the distance r alone.
  void add_lateral(double y, double depth, double most, double weight, const Hearing& heard) {
    const double r = std::max(heard.r, least_distance(depth));
    const double size = heard.coarser * kappa_ * r / weight;
    result_.y.push_back({y, std::min(heard.coarser * most, size)});
    result_.y_anchors.push_back(y);
    result_.first_y_m = std::min(result_.first_y_m, y);
    result_.last_y_m = std::max(result_.last_y_m, y);
    result_.z.push_back({depth, options_.contact_depth_ratio * size});
    if (depth > 0.0) result_.z.push_back({0.0, 2.0 * options_.contact_depth_ratio * size});
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      const double distance = std::max(least_distance(depth), std::hypot(stations_[i] - y, depth));
      nearest_[i] = std::min({nearest_[i], distance / weight, most_of_distance() / kappa_ * distance});
    }
  }

  /// A horizontal interface between rows iz − 1 and iz in column iy.
  void add_interface(int iz, int iy) {
    const double a = rho(iz - 1, iy), b = rho(iz, iy), depth = depth_of_edge(iz);
    const auto& y = grid_.y_edges_m();
    const double left = iy == 0 ? -1e300 : y[iy], right = iy + 1 == grid_.n_y() ? 1e300 : y[iy + 1];
    const Hearing heard = hearing(left, right, iz, iy);
    if (depth <= 0.0 || std::abs(std::log10(a / b)) < options_.least_contrast || !is_heard(heard)) return;
    result_.z.push_back({depth, heard.coarser * conductor_size(std::min(a, b), heard.r)});
    result_.z_anchors.push_back(depth);
  }

  /// A steep slope is long in arc length but short in y: cells along it shall be no longer there than beside a kink on level ground.
  void add_slopes() {
    const auto &y = section_.surface.y_m(), &z = section_.surface.z_m();
    for (std::size_t i = 0; i + 1 < y.size(); ++i) {
      const double width = y[i + 1] - y[i], length = std::hypot(width, z[i + 1] - z[i]);
      if (length < steep * width) continue;
      const Hearing heard = hearing(y[i], y[i + 1], 0, grid_.column_of(0.5 * (y[i] + y[i + 1])));
      if (!is_heard(heard)) continue;
      const double at_end = heard.coarser * kappa_ * std::max(heard.r, least_distance(0.0));
      for (int k = 0; k <= 16; ++k) {
        const double t = 0.5 - 0.5 * std::cos(k * std::numbers::pi / 16.0), from_end = std::min(t, 1.0 - t) * length;
        const double along = at_end + (options_.growth - 1.0) * options_.coarsen * from_end;
        result_.y.push_back({y[i] + t * width, along * width / length});
      }
    }
  }

  void add_kinks() {
    const auto& y = section_.surface.y_m();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double before = i == 0 ? 0.0 : section_.surface.slope_at(0.5 * (y[i - 1] + y[i])), after = section_.surface.slope_at(y[i]);
      const double change = std::abs(after - before);
      const Hearing heard = hearing(y[i], y[i], 0, grid_.column_of(y[i]));
      if (change < 1e-3 || !is_heard(heard)) continue;
      add_lateral(y[i], 0.0, 1e300, std::min(0.2, 0.4 * change), heard);  // a slope of 27° counts like half a decade of resistivity
    }
  }

  /// A coast is a contact with the water; the water itself is a conductor above the stations.
  void add_sea(const mesh::Sea& sea) {
    const auto &y = section_.surface.y_m(), &z = section_.surface.z_m();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Hearing heard = hearing(y[i], y[i], 0, grid_.column_of(y[i]));
      if (is_heard(heard)) result_.sea_depth_m = std::max(result_.sea_depth_m, z[i] - sea.level_m);
      if (i + 1 < y.size() && (z[i] > sea.level_m) != (z[i + 1] > sea.level_m)) {
        const double t = (sea.level_m - z[i]) / (z[i + 1] - z[i]);
        add_coast(y[i] + t * (y[i + 1] - y[i]), sea);
      }
    }
    for (const double station : stations_)
      result_.sea_depth_m = std::max(result_.sea_depth_m, section_.surface.z_at(station) - sea.level_m);
    result_.sea_size_m = c_ * skin_depth(sea.resistivity_ohm_m, band_.max_frequency_hz);
  }

  void add_coast(double y, const mesh::Sea& sea) {
    const int column = grid_.column_of(y);
    const Hearing heard = hearing(y, y, 0, column);
    if (!is_heard(heard)) return;
    const double contrast = std::abs(std::log10(rho(0, column) / sea.resistivity_ohm_m));
    add_lateral(y, 0.0, conductor_size(sea.resistivity_ohm_m, heard.r), strength(contrast), heard);
  }

  /// The edges of a station's column get lines unless the surface is the same on both sides: across them E changes by the whole contrast.
  void add_edge(int edge, double station) {
    if (std::abs(std::log10(rho(0, edge - 1) / rho(0, edge))) < 0.01) return;
    const double y_edge = grid_.y_edges_m()[edge];
    const double r = std::max(least_distance(0.0), std::abs(station - y_edge));
    result_.y.push_back({y_edge, options_.coarsen * edge_fraction * r});
    result_.y_anchors.push_back(y_edge);
  }

  /// A station's flux is a mean over two cells, the field bends over the distance to the contact, however weak that is. Order 1 has small cells anyway.
  [[nodiscard]] double most_of_distance() const { return options_.order == 1 ? 1e300 : options_.coarsen * station_fraction; }

  void add_station(std::size_t i) {
    const int column = grid_.column_of(stations_[i]);
    const double penetration = penetration_[column];
    if (column > 0) add_edge(column, stations_[i]);
    if (column + 1 < grid_.n_y()) add_edge(column + 1, stations_[i]);
    result_.z.push_back({0.0, c_ * penetration});
    result_.y.push_back({stations_[i], std::min(0.5 * options_.coarsen * penetration, kappa_ * nearest_[i])});
  }

  const mesh::Section2D& section_;
  const mesh::TensorGrid2D& grid_;
  const MeshDesignOptions& options_;
  BandRange band_;
  double c_, kappa_;
  int rows_ = 0;
  double highest_hz_ = 0.0, shortest_m_ = 0.0;
  std::vector<double> stations_, nearest_;        ///< nearest_: distance of the nearest contact, weighted by its contrast
  std::vector<double> penetration_;               ///< per column, at the band's highest frequency
  std::vector<std::vector<double>> attenuation_;  ///< per column and row: ∫dz/δ down to its top
  MeshFeatures result_;
};

}  // namespace

MeshFeatures find_features(const mesh::Section2D& section, const Survey2D& survey, const BandRange& band,
                           const MeshDesignOptions& options) {
  return FeatureFinder(section, survey, band, options).find();
}

}  // namespace lodestone::physics::mt
