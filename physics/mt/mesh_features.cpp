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
constexpr double step_depth_share = 0.4;   // of the depth of cells at a contact, where it is a step of a slanted edge
constexpr double most_of_kink = 0.2;       // the weight of the sharpest kink
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
        kappa_(options.coarsen * options.contact_fraction),
        least_ratio_(std::pow(10.0, options.least_contrast)),
        draped_(section.grid.reference() == mesh::DepthReference::surface) {
    for (const Station& station : survey.stations) stations_.push_back(station.y_m);
    std::sort(stations_.begin(), stations_.end());
    highest_hz_ = *std::max_element(survey.frequencies_hz.begin(), survey.frequencies_hz.end());
  }

  MeshFeatures find() {
    measure_columns();
    find_bottom();
    result_.first_y_m = stations_.front();
    result_.last_y_m = stations_.back();
    nearest_.assign(stations_.size(), 1e300);
    for (int iy = 1; iy < grid_.n_y(); ++iy) add_contacts(iy);
    for (int iz = 1; iz < rows_; ++iz) add_interfaces(iz);
    add_kinks();
    add_slopes();
    if (section_.sea) add_sea(*section_.sea);
    for (std::size_t i = 0; i < stations_.size(); ++i) add_station(i);
    place_rows();
    result_.surface_size_m = 1e300;
    for (const auto& feature : result_.z) {
      if (feature.at_m == 0.0) result_.surface_size_m = std::min(result_.surface_size_m, feature.size_m);
    }
    return std::move(result_);
  }

 private:
  /// Where a contact or kink is: the depth of its top, its height below that, and how much more than `most_of_distance` suits a station near it.
  struct Lateral {
    double y, depth, height, station_cap = 1.0;
  };
  /// A depth under the local surface, which stands `height` above its lowest point, and the size of cells there.
  struct Level {
    double height, depth, size;
  };

  [[nodiscard]] double rho(int iz, int iy) const { return section_.resistivity_ohm_m[grid_.index(iz, iy)]; }
  /// Depth of a row's top under a surface at `surface_m`; 0 above it.
  [[nodiscard]] double depth_under(double surface_m, int iz) const {
    const double z = grid_.z_edges_m()[iz];
    return draped_ ? z - grid_.z_edges_m().front() : std::max(0.0, z - surface_m);
  }
  [[nodiscard]] double depth_of_edge(int iz, int iy) const { return depth_under(floor_[iy], iz); }
  [[nodiscard]] double height_at(double surface_m) const { return lowest_ - surface_m; }
  /// The row of cells under the surface.
  [[nodiscard]] int top_row(double y) const { return draped_ ? 0 : grid_.row_of(section_.surface.z_at(y)); }

  /// The lowest point of the surface over every column, as far as there are stations.
  void measure_columns() {
    const auto& surface = section_.surface;
    lowest_ = *std::max_element(surface.z_m().begin(), surface.z_m().end());
    const auto& edges = grid_.y_edges_m();
    for (int iy = 0; iy < grid_.n_y(); ++iy) {
      const double left = iy == 0 ? surface.y_m().front() : edges[iy], right = iy + 1 == grid_.n_y() ? surface.y_m().back() : edges[iy + 1];
      double low = std::max(surface.z_at(left), surface.z_at(right));
      auto node = std::lower_bound(surface.y_m().begin(), surface.y_m().end(), left);
      for (; node != surface.y_m().end() && *node < right; ++node) low = std::max(low, surface.z_m()[node - surface.y_m().begin()]);
      floor_.push_back(low);
    }
  }

  /// How far the nearest station is from something between y_low and y_high at a depth, and how much coarser that makes its cells: a field gets there
  /// and comes back damped by about exp(−2 a), a = the hypotenuse of the lateral distance in penetration depths and of ∫dz/δ down to it (a resistive
  /// layer below a conductor damps little); errors fall with the square of the cell size; 0.7 instead of 1 keeps a margin.
  struct Hearing {
    double r, coarser;
  };
  [[nodiscard]] Hearing hearing(double y_low, double y_high, int row, int column) const {
    return hearing(y_low, y_high, row, column, depth_of_edge(row, column));
  }
  [[nodiscard]] Hearing hearing(double y_low, double y_high, int row, int column, double depth) const {
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
    return {std::hypot(lateral, depth), std::exp(std::min(0.7 * std::hypot(lateral / penetration, down), 50.0))};
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
      const double thickness = depth_of_edge(iz + 1, iy) - depth_of_edge(iz, iy);
      result.push_back(result.back() + thickness / skin_depth(rho(iz, iy), band_.max_frequency_hz));
    }
    return result;
  }

  /// Depth at which ∫dz/δ under y reaches `amount`; the perfect conductor ends it.
  [[nodiscard]] double depth_reaching(double amount, int iy, double frequency) const {
    double reached = 0.0;
    for (int iz = 0; iz < rows_; ++iz) {
      const double top = depth_of_edge(iz, iy), delta = skin_depth(rho(iz, iy), frequency);
      const bool last = iz + 1 == rows_;
      const double thickness = last && !result_.perfect_conductor_below ? 1e300 : depth_of_edge(iz + 1, iy) - top;
      if (thickness <= 0.0) continue;
      if (reached + thickness / delta >= amount) return top + (amount - reached) * delta;
      reached += thickness / delta;
    }
    return depth_of_edge(rows_, iy);
  }

  void find_bottom() {
    rows_ = grid_.n_z();
    const auto last_row = section_.resistivity_ohm_m.tail(grid_.n_y());
    result_.perfect_conductor_below = rows_ > 1 && (last_row.array() <= perfect_conductor_ohm_m).all();
    if (result_.perfect_conductor_below) --rows_;
    for (int iy = 0; iy < grid_.n_y(); ++iy) {
      penetration_.push_back(depth_reaching(1.0, iy, band_.max_frequency_hz));
      attenuation_.push_back(attenuation_of(iy));
    }
    for (const double y : stations_) {
      const int column = grid_.column_of(y);
      shortest_m_ = std::max(shortest_m_, shortest_share * depth_reaching(1.0, column, highest_hz_));
      result_.penetration_m = std::max(result_.penetration_m, depth_reaching(1.0, column, band_.min_frequency_hz));
      const double bottom = depth_reaching(options_.bottom_depth, column, band_.min_frequency_hz);
      result_.bottom_m = std::max(result_.bottom_m, draped_ ? bottom : bottom - height_at(floor_[column]));
    }
    if (result_.perfect_conductor_below) result_.bottom_m = depth_under(lowest_, rows_);
  }

  /// Cell size at a place of the given resistivity and distance from the nearest station.
  [[nodiscard]] double conductor_size(double resistivity, double r) const {
    const double delta = skin_depth(resistivity, band_.max_frequency_hz);
    return c_ * std::sqrt(delta * std::max(delta, r));
  }
  [[nodiscard]] static bool is_heard(const Hearing& hearing) { return hearing.coarser < 100.0; }

  /// 1 or −1 by the side that conducts, 0 without a contrast that counts.
  [[nodiscard]] int conducting_side(double a, double b) const { return a / b >= least_ratio_ ? 1 : b / a >= least_ratio_ ? -1 : 0; }

  /// Calls visit(first, end) for the runs of one conducting side among 0 … n − 1.
  template <class Side, class Visit>
  static void for_runs(int n, Side side, Visit visit) {
    for (int first = 0, end = 1; first < n; first = end++) {
      while (end < n && side(end) == side(first)) ++end;
      if (side(first) != 0) visit(first, end);
    }
  }

  /// A grid on the datum may hold slanted edges as steps. Under a sea, which keeps stations away from them, a step smaller than the cells asked for gets
  /// no line: averages take it. On land charges on the steps beside a station are heard.
  [[nodiscard]] bool needs_line(double length, double size) const { return !section_.sea || options_.coarsen * length >= size; }

  /// The vertical contacts between columns iy − 1 and iy.
  void add_contacts(int iy) {
    const auto side = [&](int iz) { return conducting_side(rho(iz, iy - 1), rho(iz, iy)); };
    for_runs(rows_, side, [&](int first, int end) {
      const double height = draped_ ? 1e300 : grid_.z_edges_m()[end] - grid_.z_edges_m()[first];
      for (int iz = first; iz < end; ++iz) add_contact(iz, iy, height);
    });
  }

  /// Row iz of a contact between columns iy − 1 and iy, which is `height` tall.
  void add_contact(int iz, int iy, double height) {
    const double y = grid_.y_edges_m()[iy], surface = section_.surface.z_at(y), depth = depth_under(surface, iz);
    if (depth_under(surface, iz + 1) <= 0.0) return;
    const Hearing heard = hearing(y, y, iz, iy, depth);
    if (!is_heard(heard)) return;
    const double a = rho(iz, iy - 1), b = rho(iz, iy);
    add_lateral({y, depth, height}, conductor_size(std::min(a, b), heard.r), strength(std::abs(std::log10(a / b))), heard);
  }

  /// Stations closer to a contact than this are not resolved further: its charges act at all frequencies alike, so the survey's highest one sets it.
  [[nodiscard]] double least_distance(double depth) const { return std::max(depth, shortest_m_); }

  /// A contact (or kink) at y whose top lies at `depth`, scattering with `weight` ≤ 1. `most` limits the lines beside it, across which the field decays
  /// into the conductor; along the contact it varies with the distance r alone.
  void add_lateral(const Lateral& lateral, double most, double weight, const Hearing& heard) {
    const auto [y, depth, height, station_cap] = lateral;
    const double r = std::max(heard.r, least_distance(depth));
    const double size = heard.coarser * kappa_ * r / weight;
    result_.y.push_back({y, std::min(heard.coarser * most, size)});
    result_.first_y_m = std::min(result_.first_y_m, y);
    result_.last_y_m = std::max(result_.last_y_m, y);
    const double above = height_at(section_.surface.z_at(y));
    const bool line = needs_line(height, options_.contact_depth_ratio * size);
    levels_.push_back({above, depth, (line ? 1.0 : step_depth_share) * options_.contact_depth_ratio * size});
    if (line) result_.y_anchors.push_back(y);
    if (depth > 0.0) levels_.push_back({above, 0.0, 2.0 * options_.contact_depth_ratio * size});
    for (std::size_t i = 0; i < stations_.size(); ++i) {
      const double distance = std::max(least_distance(depth), std::hypot(stations_[i] - y, depth));
      nearest_[i] = std::min({nearest_[i], distance / weight, station_cap * most_of_distance() / kappa_ * distance});
    }
  }

  /// The horizontal interfaces between rows iz − 1 and iz.
  void add_interfaces(int iz) {
    const auto& y = grid_.y_edges_m();
    const auto side = [&](int iy) { return conducting_side(rho(iz - 1, iy), rho(iz, iy)); };
    for_runs(grid_.n_y(), side, [&](int first, int end) {
      const double left = first == 0 ? -1e300 : y[first], right = end == grid_.n_y() ? 1e300 : y[end];
      for (int iy = first; iy < end; ++iy) add_interface(iz, iy, draped_ ? 1e300 : right - left);
    });
  }

  /// Column iy of an interface between rows iz − 1 and iz, which is `length` long.
  void add_interface(int iz, int iy, double length) {
    const double depth = depth_of_edge(iz, iy);
    if (depth <= 0.0) return;
    const auto& y = grid_.y_edges_m();
    const double left = iy == 0 ? -1e300 : y[iy], right = iy + 1 == grid_.n_y() ? 1e300 : y[iy + 1];
    const Hearing heard = hearing(left, right, iz, iy);
    if (!is_heard(heard)) return;
    const double size = heard.coarser * conductor_size(std::min(rho(iz - 1, iy), rho(iz, iy)), heard.r);
    levels_.push_back({height_at(floor_[iy]), depth, size});
    if (needs_line(length, size)) interfaces_.push_back(levels_.back());
  }

  /// Rows level out at the first interface below the whole surface, so that they conform to those from there on, unless that is very shallow.
  void place_rows() {
    RowLevels& rows = result_.levels;
    const double highest = *std::min_element(section_.surface.z_m().begin(), section_.surface.z_m().end());
    const double relief = lowest_ - (section_.sea ? std::min(highest, section_.sea->level_m) : highest);
    rows = {draped_, std::max(4.0 * relief, 1e-3 * result_.bottom_m)};
    for (const Level& level : interfaces_) {
      const double below = level.depth - level.height;
      if (below > 0.0) rows.level_depth_m = std::min(rows.level_depth_m, std::max(below, 0.5 * relief));
    }
    for (const Level& level : interfaces_) result_.z_anchors.push_back(rows.row_at(level.depth, level.height));
    for (const Level& level : levels_) {
      const double stretch = rows.is_level(level.depth, level.height) ? 1.0 : rows.stretch(level.height);
      result_.z.push_back({rows.row_at(level.depth, level.height), level.size / stretch});
    }
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
      const double weight = std::min(most_of_kink, 0.4 * change) * floor_strength(y[i]);  // a slope of 27° counts like half a decade
      const double station_cap = under_water(y[i]) ? std::sqrt(most_of_kink / weight) : 1.0;
      add_lateral({y[i], 0.0, kink_length(i), station_cap}, 1e300, weight, heard);
    }
  }

  /// How much the shape of the surface matters at y: charges on it are as the reflection coefficient, 1 under air.
  [[nodiscard]] double floor_strength(double y) const {
    if (!under_water(y)) return 1.0;
    const double earth = rho(top_row(y), grid_.column_of(y)), water = section_.sea->resistivity_ohm_m;
    return std::max(0.1, std::abs(earth - water) / (earth + water));
  }

  /// A kink of the floor among closer ones than the cells asked for is a step too, but not at the ends of the piece on which a station lies.
  [[nodiscard]] double kink_length(std::size_t i) const {
    const auto& y = section_.surface.y_m();
    if (!section_.sea || i == 0 || i + 1 == y.size()) return 1e300;
    const auto next = std::lower_bound(stations_.begin(), stations_.end(), y[i - 1]);
    return next != stations_.end() && *next <= y[i + 1] ? 1e300 : std::min(y[i] - y[i - 1], y[i + 1] - y[i]);
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
    const double contrast = std::abs(std::log10(rho(top_row(y), column) / sea.resistivity_ohm_m));
    add_lateral({y, 0.0, 1e300}, conductor_size(sea.resistivity_ohm_m, heard.r), strength(contrast), heard);
  }

  [[nodiscard]] bool under_water(double y) const { return section_.sea && section_.surface.z_at(y) > section_.sea->level_m; }

  /// The edges of a station's column get lines unless the surface is the same on both sides: across them E changes by the whole contrast. Not so under
  /// water, which carries the current past them: cells much narrower than deep would only show the error of the cells' depth.
  void add_edge(int edge, double station) {
    const double y_edge = grid_.y_edges_m()[edge];
    if (under_water(y_edge)) return;
    const int row = top_row(y_edge);
    if (std::abs(std::log10(rho(row, edge - 1) / rho(row, edge))) < 0.01) return;
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
    levels_.push_back({height_at(section_.surface.z_at(stations_[i])), 0.0, c_ * penetration});
    result_.y.push_back({stations_[i], std::min(0.5 * options_.coarsen * penetration, kappa_ * nearest_[i])});
  }

  const mesh::Section2D& section_;
  const mesh::TensorGrid2D& grid_;
  const MeshDesignOptions& options_;
  BandRange band_;
  double c_, kappa_, least_ratio_;
  bool draped_;
  int rows_ = 0;
  double lowest_ = 0.0;        ///< z of the lowest point of the surface
  std::vector<double> floor_;  ///< per column: z of its lowest point
  std::vector<Level> levels_, interfaces_;
  double highest_hz_ = 0.0, shortest_m_ = 0.0;
  std::vector<double> stations_, nearest_;        ///< nearest_: distance of the nearest contact, weighted by its contrast
  std::vector<double> penetration_;               ///< per column, at the band's highest frequency
  std::vector<std::vector<double>> attenuation_;  ///< per column and row: ∫dz/δ down to its top
  MeshFeatures result_;
};

}  // namespace

MeshFeatures MeshFeatures::coarsened(double factor) const {
  MeshFeatures result = *this;
  for (auto* features : {&result.y, &result.z}) {
    for (auto& feature : *features) feature.size_m *= factor;
  }
  result.surface_size_m *= factor;
  result.sea_size_m *= factor;
  return result;
}

MeshFeatures find_features(const mesh::Section2D& section, const Survey2D& survey, const BandRange& band,
                           const MeshDesignOptions& options) {
  return FeatureFinder(section, survey, band, options).find();
}

}  // namespace lodestone::physics::mt
