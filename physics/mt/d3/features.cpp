// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/features.hpp"

#include "physics/mt/d3/background.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d3 {

namespace {

constexpr double strong_contact = 1.0;   // decades; weaker ones get larger cells in proportion
constexpr double body_over_layer = 2.0;  // cells at the top of a body over those at layers without end
constexpr double least_kink = 0.02;      // change of a slope at a line of the surface that needs cells
constexpr double kink_share = 0.2;       // of its distance from a station, for cells at a kink of 45°
constexpr double coast_share = 0.5;  // of its distance from a station, for cells per skin depth at a coast
constexpr double coast_layer = 0.5;  // thickness of layers at the surface over the cells at a coast
constexpr double air_over_relief = 5.0;  // heights of the relief above the sea
constexpr double deepest_seen = 2.0;     // skin depths; contacts below need cells that grow with the damping

/// One column of the parameter grid, from the surface down.
struct Column {
  std::vector<double> top_m;  ///< tops of the layers, from 0
  std::vector<double> resistivity_ohm_m;

  Column(const mesh::Earth& earth, const Eigen::VectorXd& resistivity, int ix, int iy) {
    const mesh::TensorGrid& grid = earth.grid;
    const double shift = level_of(earth);
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      const bool is_last = iz + 1 == grid.n_z();
      if (!is_last && grid.z_edges_m()[iz + 1] - shift <= 0.0) continue;
      top_m.push_back(top_m.empty() ? 0.0 : grid.z_edges_m()[iz] - shift);
      resistivity_ohm_m.push_back(resistivity[grid.index(iz, iy, ix)]);
    }
  }
  [[nodiscard]] d1::LayeredEarth layers() const {
    d1::LayeredEarth earth{resistivity_ohm_m, {}};
    for (std::size_t i = 0; i + 1 < top_m.size(); ++i) earth.thickness_m.push_back(top_m[i + 1] - top_m[i]);
    return earth;
  }

  /// Returns the depth at which ∫dz/δ reaches a number.
  [[nodiscard]] double depth_m(double skin_depths, double frequency_hz) const {
    double left = skin_depths;
    for (std::size_t i = 0; i < top_m.size(); ++i) {
      const double delta = skin_depth_m(resistivity_ohm_m[i], frequency_hz);
      if (i + 1 == top_m.size() || left * delta < top_m[i + 1] - top_m[i]) return top_m[i] + left * delta;
      left -= (top_m[i + 1] - top_m[i]) / delta;
    }
    return 0.0;
  }
  /// Returns ∫dz/δ from the surface to a depth.
  [[nodiscard]] double skin_depths(double depth, double frequency_hz) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < top_m.size() && top_m[i] < depth; ++i) {
      const double bottom = i + 1 == top_m.size() ? depth : std::min(depth, top_m[i + 1]);
      sum += (bottom - top_m[i]) / skin_depth_m(resistivity_ohm_m[i], frequency_hz);
    }
    return sum;
  }
  /// Returns the skin depth of the apparent resistivity.
  [[nodiscard]] double apparent_skin_depth_m(double frequency_hz) const {
    const Complex impedance = d1::layered_impedance(layers(), frequency_hz);
    return skin_depth_m(apparent_resistivity_ohm_m(impedance, frequency_hz), frequency_hz);
  }
};

class Finder {
 public:
  Finder(const mesh::Model& model, const Survey& survey, double lowest_hz, double highest_hz,
         const MeshDesignOptions& options)
      : earth_(model.earth),
        grid_(model.earth.grid),
        surface_(model.earth.surface),
        stretch_(layer_stretch(model.earth)),
        resistivity_(mesh::resistivity_ohm_m(model)),
        stations_(survey.stations),
        lowest_hz_(lowest_hz),
        highest_hz_(highest_hz),
        options_(options),
        shift_(level_of(model.earth)),
        layered_(layered_resistivity(grid_, resistivity_)),
        background_(earth_, layered_, 0, 0) {}

  [[nodiscard]] MeshFeatures find() {
    result_.penetration_m = background_.depth_m(1.0, lowest_hz_);
    result_.bottom_m = background_.depth_m(options_.bottom_depth, lowest_hz_);
    for (const Station& station : stations_) add_station(station);
    for (int axis = 0; axis < 3; ++axis) {
      if (options_.along_cells)
        keep_lines(axis);
      else
        add_contacts(axis);
    }
    add_relief();
    if (earth_.sea) add_sea(*earth_.sea);
    add_aspect_limit();
    return std::move(result_);
  }

 private:
  void add_station(const Station& station) {
    const int ix = grid_.nearest(mesh::Axis::x, station.x_m), iy = grid_.nearest(mesh::Axis::y, station.y_m);
    const Column below(earth_, resistivity_, ix, iy);
    const double delta = below.apparent_skin_depth_m(highest_hz_);
    result_.penetration_m = std::max(result_.penetration_m, below.depth_m(1.0, lowest_hz_));
    result_.bottom_m = std::max(result_.bottom_m, below.depth_m(options_.bottom_depth, lowest_hz_));
    const std::array<double, 2> place{station.x_m, station.y_m};
    for (int axis = 0; axis < 2; ++axis) {
      result_.sizes[axis].push_back({place[axis], delta / options_.cells_per_skin_depth});
      extend(axis, place[axis]);
    }
    result_.sizes[2].push_back({0.0, options_.first_layer * delta / stretch_});
  }

  void extend(int axis, double at) {
    auto& extent = result_.extent[axis];
    const bool is_first = !std::isfinite(extent.from);
    extent = is_first ? mesh::Interval{at, at}
                      : mesh::Interval{std::min(extent.from, at), std::max(extent.to, at)};
  }

  /// Keeps the lines of the parameter grid within reach of a station. Cells beyond grow from the outermost of
  /// theirs.
  void keep_lines(int axis) {
    const auto& edges = grid_.edges_m(mesh::all_axes[axis]);
    const double shift = axis == 2 ? shift_ : 0.0;
    const double reach = (axis == 2 ? deepest_seen : 1.0) * result_.penetration_m;
    auto& kept = result_.kept[axis];
    double outermost_m = 0.0;  // the width of the last cell within the kept lines
    for (std::size_t line = 1; line + 1 < edges.size(); ++line) {
      const double at = edges[line] - shift;
      if (distance_of_stations(axis, at) > reach || (axis == 2 && at <= 0.0)) continue;
      if (kept.empty()) result_.sizes[axis].push_back({at, edges[line + 1] - edges[line]});
      outermost_m = axis == 2 && kept.empty() ? at : edges[line] - edges[line - 1];
      kept.push_back(at);
      if (axis < 2) extend(axis, at);
    }
    if (!kept.empty()) result_.sizes[axis].push_back({kept.back(), outermost_m});
  }
  [[nodiscard]] double distance_of_stations(int axis, double at) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Station& station : stations_)
      least = std::min(least, std::abs(std::array{station.x_m, station.y_m, 0.0}[axis] - at));
    return least;
  }

  /// A face between two parameter cells.
  struct Contact {
    int axis;
    Eigen::Index before, after;
    double width_m;  ///< width of the narrower cell across it
    mesh::Point place;
  };

  /// The size of cells at a contact, 0 where it needs no line. Along the vertical, layers that end somewhere
  /// need it as contacts do; elsewhere the averages take what is thin.
  [[nodiscard]] double contact_size(const Contact& contact) const {
    const double one = resistivity_[contact.before], other = resistivity_[contact.after];
    const double decades = std::abs(std::log10(one / other));
    if (decades < options_.least_contrast) return 0.0;
    double nearest = std::numeric_limits<double>::infinity();
    for (const Station& station : stations_)
      nearest = std::min(nearest, std::hypot(station.x_m - contact.place.x_m, station.y_m - contact.place.y_m,
                                             contact.place.z_m));
    const double damping = background_.skin_depths(contact.place.z_m, lowest_hz_) - deepest_seen;
    if (damping > 2.0) return 0.0;
    const double weakness = std::max(1.0, strong_contact / decades) * std::exp(std::max(0.0, damping));
    const double delta = skin_depth_m(std::min(one, other), highest_hz_);
    const bool is_layer = contact.axis == 2 && !ends_aside(contact);
    if (is_layer) return weakness * options_.first_layer * delta;
    const double by_skin = contact.axis == 2
                               ? body_over_layer * options_.first_layer * delta
                               : std::sqrt(delta * std::max(delta, nearest)) / options_.cells_per_skin_depth;
    const double by_distance = options_.contact_share * std::max(nearest, 0.25 * contact.width_m);
    return weakness * std::min(by_skin, by_distance);
  }
  [[nodiscard]] bool ends_aside(const Contact& contact) const {
    const auto differs = [this](Eigen::Index cell) {
      return std::abs(std::log10(resistivity_[cell] / layered_[cell])) >= options_.least_contrast;
    };
    return differs(contact.before) || differs(contact.after);
  }

  /// Contacts across an axis: the least size on each line of the parameter grid.
  void add_contacts(int axis) {
    const mesh::Axis of = mesh::all_axes[axis];
    const int n = grid_.n(of);
    for (int line = 1; line < n; ++line) {
      double at = grid_.edges_m(of)[line], least = std::numeric_limits<double>::infinity();
      if (axis == 2) at -= shift_;
      if (axis == 2 && at <= 0.0) continue;
      visit_line(axis, line, [&](const Contact& contact) {
        const double size = contact_size(contact);
        if (size > 0.0) least = std::min(least, size);
      });
      if (!std::isfinite(least)) continue;
      result_.anchors[axis].push_back(at);
      result_.sizes[axis].push_back({at, least});
      if (axis < 2) extend(axis, at);
    }
  }

  /// Calls visit for each pair of cells beside a line, with the point of their face next to the stations.
  template <class Visit>
  void visit_line(int axis, int line, Visit visit) const {
    std::array<int, 3> n{grid_.n_x(), grid_.n_y(), grid_.n_z()}, cell{};
    n[axis] = 1;
    for (cell[2] = 0; cell[2] < n[2]; ++cell[2]) {
      for (cell[1] = 0; cell[1] < n[1]; ++cell[1]) {
        for (cell[0] = 0; cell[0] < n[0]; ++cell[0]) {
          std::array<int, 3> before = cell, after = cell;
          before[axis] = line - 1;
          after[axis] = line;
          const mesh::Axis of = mesh::all_axes[axis];
          visit(Contact{axis, grid_.index(before[2], before[1], before[0]),
                        grid_.index(after[2], after[1], after[0]),
                        std::min(grid_.width_m(of, line - 1), grid_.width_m(of, line)),
                        nearest_point(axis, line, cell)});
        }
      }
    }
  }
  [[nodiscard]] mesh::Point nearest_point(int axis, int line, const std::array<int, 3>& cell) const {
    mesh::Point point;
    for (int other = 0; other < 3; ++other) {
      const mesh::Axis of = mesh::all_axes[other];
      const auto& edges = grid_.edges_m(of);
      if (other == axis) {
        point[of] = edges[line];
      } else if (other == 2) {
        point[of] = edges[cell[2]];
      } else {
        point[of] = std::clamp(middle_of_stations(other), edges[cell[other]], edges[cell[other] + 1]);
      }
    }
    point.z_m = std::max(0.0, point.z_m - shift_);
    return point;
  }
  [[nodiscard]] double middle_of_stations(int axis) const {
    double sum = 0.0;
    for (const Station& station : stations_) sum += axis == 0 ? station.x_m : station.y_m;
    return sum / static_cast<double>(stations_.size());
  }

  /// Lines of the surface at which its slope changes: cells there are small beside stations.
  void add_relief() {
    result_.least_air_m = air_over_relief * (height_of_layers_m(earth_) - sea_depth_m(earth_));
    if (surface_.is_flat()) return;
    const Eigen::MatrixXd z = surface_.z_m();
    const std::vector<double> one{0.0};
    const auto& x = surface_.is_map() ? surface_.x_m() : one;
    add_kinks(0, x, surface_.y_m(), z);
    add_kinks(1, surface_.y_m(), x, z.transpose());
  }
  /// Kinks at points along an axis; shape of z: (points along it, points across).
  void add_kinks(int axis, const std::vector<double>& along, const std::vector<double>& across,
                 const Eigen::MatrixXd& z) {
    const int n = static_cast<int>(along.size());
    const auto slope = [&](int i, Eigen::Index j) {  // of the piece before point i; level beyond the ends
      return i <= 0 || i >= n ? 0.0 : (z(i, j) - z(i - 1, j)) / (along[i] - along[i - 1]);
    };
    for (int i = 0; i < n; ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < across.size(); ++j) {
        const double change =
            std::abs(slope(i + 1, static_cast<Eigen::Index>(j)) - slope(i, static_cast<Eigen::Index>(j)));
        if (change < least_kink) continue;
        least = std::min(least, kink_size(axis, along[i], across.size() > 1 ? &across[j] : nullptr) /
                                    std::min(1.0, change));
      }
      if (!std::isfinite(least)) continue;
      result_.anchors[axis].push_back(along[i]);
      result_.sizes[axis].push_back({along[i], least});
      extend(axis, along[i]);
    }
  }
  /// The size of cells at a kink of 45° there; without a place across it runs along the whole axis.
  [[nodiscard]] double kink_size(int axis, double at, const double* across) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Station& station : stations_) {
      const std::array<double, 2> place{station.x_m, station.y_m};
      const double aside = across == nullptr ? 0.0 : place[1 - axis] - *across;
      const double delta = skin_depth_m(resistivity_[grid_.index(0, grid_.nearest(mesh::Axis::y, station.y_m),
                                                                 grid_.nearest(mesh::Axis::x, station.x_m))],
                                        highest_hz_);
      const bool is_wet = earth_.sea && water_depth_m(earth_, station.x_m, station.y_m) > 0.0;
      const double of_water = is_wet ? skin_depth_m(earth_.sea->resistivity_ohm_m, highest_hz_) : delta;
      const double smallest = 0.25 * std::min(delta, of_water) / options_.cells_per_skin_depth;
      least = std::min(least, std::max(smallest, kink_share * std::hypot(place[axis] - at, aside)));
    }
    return least;
  }

  /// Layers of the sea, at its surface and at stations on its floor, and cells at its coasts. Layers share
  /// the depth of the water, or the least height where it is shallow. Those of the deepest are larger than
  /// those of a station.
  void add_sea(const mesh::Sea& sea) {
    const double delta = skin_depth_m(sea.resistivity_ohm_m, highest_hz_), deepest_m = sea_depth_m(earth_);
    result_.sea_depth_m = deepest_m;
    result_.sea_sizes.push_back({-deepest_m, body_over_layer * options_.first_layer * delta});
    for (const Station& station : stations_) {
      const double depth_m = water_depth_m(earth_, station.x_m, station.y_m);
      if (!(depth_m > 0.0)) continue;
      const double layers_m = std::max(depth_m, least_layers * deepest_m);
      const double size_m = options_.first_layer * std::min(delta, layers_m);
      result_.sea_sizes.push_back({0.0, size_m * deepest_m / layers_m});
      if (depth_m < layers_m) result_.sizes[2].push_back({0.0, size_m / stretch_});  // H may come from there
    }
    const Eigen::MatrixXd z = surface_.z_m();
    const std::vector<double> one{0.0};
    const auto& x = surface_.is_map() ? surface_.x_m() : one;
    add_coasts(0, x, surface_.y_m(), z, delta);
    add_coasts(1, surface_.y_m(), x, z.transpose(), delta);
  }
  /// Coasts between points along an axis; shape of z: (points along it, points across). A coast across the
  /// whole other axis is a line.
  void add_coasts(int axis, const std::vector<double>& along, const std::vector<double>& across,
                  const Eigen::MatrixXd& z, double delta_m) {
    const double level_m = earth_.sea->level_m;
    for (Eigen::Index i = 0; i + 1 < z.rows(); ++i) {
      for (Eigen::Index j = 0; j < z.cols(); ++j) {
        if ((z(i, j) > level_m) == (z(i + 1, j) > level_m)) continue;
        const auto before = static_cast<std::size_t>(i);
        const double share = (level_m - z(i, j)) / (z(i + 1, j) - z(i, j)),
                     at = along[before] + share * (along[before + 1] - along[before]);
        const double* place = across.size() > 1 ? &across[static_cast<std::size_t>(j)] : nullptr;
        const double size_m = coast_size(axis, at, place, delta_m);
        result_.sizes[axis].push_back({at, size_m});
        result_.sizes[2].push_back({0.0, coast_layer * size_m});  // currents pass between sea and ground
        if (place == nullptr) result_.anchors[axis].push_back(at);
        extend(axis, at);
      }
    }
  }
  /// The size of cells at a coast, as at a contact of the water that ends at the surface.
  [[nodiscard]] double coast_size(int axis, double at, const double* across, double delta_m) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (const Station& station : stations_) {
      const std::array<double, 2> place{station.x_m, station.y_m};
      nearest = std::min(nearest,
                         std::hypot(place[axis] - at, across == nullptr ? 0.0 : place[1 - axis] - *across));
    }
    const double by_skin = std::sqrt(delta_m * std::max(delta_m, nearest)) / options_.cells_per_skin_depth;
    return std::min(by_skin, coast_share / options_.cells_per_skin_depth *
                                 std::max(nearest, delta_m / options_.cells_per_skin_depth));
  }

  /// Keeps the smallest cells along x and y within a ratio of 8, which the solver needs.
  void add_aspect_limit() {
    constexpr double widest = 8.0;
    const auto least = [this](int axis) {
      double smallest_m = std::numeric_limits<double>::infinity();
      for (const auto& feature : result_.sizes[axis]) smallest_m = std::min(smallest_m, feature.size_m);
      for (std::size_t i = 1; i < result_.kept[axis].size(); ++i)
        smallest_m = std::min(smallest_m, result_.kept[axis][i] - result_.kept[axis][i - 1]);
      return smallest_m;
    };
    const std::array<double, 2> smallest{least(0), least(1)};
    for (int axis = 0; axis < 2; ++axis) {
      const auto& extent = result_.extent[axis];
      if (smallest[axis] > widest * smallest[1 - axis])
        result_.sizes[axis].push_back({0.5 * (extent.from + extent.to), widest * smallest[1 - axis]});
    }
  }

  const mesh::Earth& earth_;
  const mesh::TensorGrid& grid_;
  const mesh::Surface& surface_;
  double stretch_;
  Eigen::VectorXd resistivity_;
  const std::vector<Station>& stations_;
  double lowest_hz_, highest_hz_;
  const MeshDesignOptions& options_;
  double shift_;
  Eigen::VectorXd layered_;
  Column background_;
  MeshFeatures result_;
};

}  // namespace

double level_of(const mesh::Earth& earth) {
  return earth.grid.reference() == mesh::DepthReference::datum ? earth.surface.lowest_m() : 0.0;
}

d1::LayeredEarth layers_of(const mesh::Earth& earth, const Eigen::VectorXd& resistivity, int ix, int iy) {
  return Column(earth, resistivity, ix, iy).layers();
}

MeshFeatures find_features(const mesh::Model& model, const Survey& survey, double lowest_hz,
                           double highest_hz, const MeshDesignOptions& options) {
  return Finder(model, survey, lowest_hz, highest_hz, options).find();
}

}  // namespace lodestone::physics::mt::d3
