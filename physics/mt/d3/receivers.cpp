// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/receivers.hpp"

#include "engine/core/error.hpp"
#include "physics/fem/edge_operator.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d3 {

namespace {

constexpr double least_contact = 1.2;  // ratio of resistivities

/// Places with weights along one axis.
using Places = std::vector<std::pair<int, double>>;

int cell_of(const std::vector<double>& lines, double x) {
  const auto after = std::upper_bound(lines.begin(), lines.end(), x) - lines.begin();
  return std::clamp(static_cast<int>(after) - 1, 0, static_cast<int>(lines.size()) - 2);
}

/// Interpolates by a polynomial through `most` points next to x, of those from `first` to `last`, or through
/// as many as there are.
Places between(const std::vector<double>& points, int first, int last, double x, int most) {
  const int n = std::min(most, last - first + 1);
  const int after = static_cast<int>(std::upper_bound(points.begin() + first, points.begin() + last + 1, x) -
                                     points.begin());
  const int begin = std::clamp(after - n / 2, first, last + 1 - n);
  Places places;
  for (int i = begin; i < begin + n; ++i) {
    double weight = 1.0;
    for (int other = begin; other < begin + n; ++other) {
      if (other != i) weight *= (x - points[other]) / (points[i] - points[other]);
    }
    places.emplace_back(i, weight);
  }
  return places;
}

/// Returns the places of an interpolation along each axis.
int most_places(Interpolation interpolation) { return interpolation == Interpolation::linear ? 2 : 4; }

/// The lines of an axis around a station and the middles of its cells.
struct Axis {
  const std::vector<double>& lines;
  std::vector<double> middles;
  double at;
  int most, cell;

  Axis(const std::vector<double>& lines_in, double at_in, Interpolation interpolation)
      : lines(lines_in), at(at_in), most(most_places(interpolation)), cell(cell_of(lines_in, at_in)) {
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) middles.push_back(0.5 * (lines[i] + lines[i + 1]));
  }
  [[nodiscard]] int n() const { return static_cast<int>(middles.size()); }
  /// Interpolates between inner lines.
  [[nodiscard]] Places between_lines() const { return between(lines, 1, n() - 1, at, most); }
  [[nodiscard]] Places between_middles() const { return between(middles, 0, n() - 1, at, most); }
  /// Interpolates between middles that no contact separates. `is_contact(i)`: between cells i − 1 and i.
  template <class IsContact>
  [[nodiscard]] Places within_contacts(IsContact is_contact) const {
    int first = cell, last = cell;
    while (first > 0 && !is_contact(first)) --first;
    while (last + 1 < n() && !is_contact(last + 1)) ++last;
    return between(middles, first, last, at, most);
  }
  /// Interpolates between inner lines that no kink separates. `is_kink(i)`: on line i.
  template <class IsKink>
  [[nodiscard]] Places within_kinks(IsKink is_kink) const {
    int first = cell, last = cell + 1;
    while (first > 1 && !is_kink(first)) --first;
    while (last < n() - 1 && !is_kink(last)) ++last;
    return between(lines, first, last, at, most);
  }
};

/// Weights of edges.
using EdgeRow = std::vector<std::pair<Eigen::Index, double>>;

/// Sums the weights of each edge.
EdgeRow summed(EdgeRow row) {
  std::sort(row.begin(), row.end());
  EdgeRow result;
  for (const auto& [edge, weight] : row) {
    if (result.empty() || result.back().first != edge) result.emplace_back(edge, 0.0);
    result.back().second += weight;
  }
  return result;
}
/// Returns the sum of rows with factors.
EdgeRow combined(std::initializer_list<std::pair<double, const EdgeRow*>> parts) {
  EdgeRow all;
  for (const auto& [factor, row] : parts) {
    for (const auto& [edge, weight] : *row) all.emplace_back(edge, factor * weight);
  }
  return summed(std::move(all));
}

/// Weighted faces, made into a row of edges.
class FaceRow {
 public:
  explicit FaceRow(const fem::EdgeGrid& grid) : grid_(grid) {}
  /// Adds weight times the mean of curl E over a face.
  void add(int axis, int i, int j, int k, double weight) {
    const std::array<int, 3> at{i, j, k};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    add_circulation(axis, i, j, k, weight / (grid_.width_m(a, at[a]) * grid_.width_m(b, at[b])));
  }
  /// Adds weight times the circulation around a face.
  void add_circulation(int axis, int i, int j, int k, double weight) {
    const fem::Face face = fem::face_at(grid_, axis, i, j, k);
    for (int edge = 0; edge < 4; ++edge) row_.emplace_back(face.edges[edge], weight * face.signs[edge]);
  }
  /// Sums the weights of each edge.
  [[nodiscard]] EdgeRow take() { return summed(std::move(row_)); }

 private:
  const fem::EdgeGrid& grid_;
  EdgeRow row_;
};

void check_inside(const fem::EdgeGrid& grid, const Station& station, Interpolation interpolation) {
  const auto ends = [&grid](int axis) {
    const auto& lines = grid.lines_m(axis);
    const bool has_inner_cells = lines.size() > 4;
    return has_inner_cells ? mesh::Interval{lines[1], lines[lines.size() - 2]}
                           : mesh::Interval{lines.front(), lines.front()};
  };
  const mesh::Interval x = ends(0), y = ends(1);
  const auto is_inside = [](const mesh::Interval& within, double at) {
    return at > within.from && at < within.to;
  };
  if (is_inside(x, station.x_m) && is_inside(y, station.y_m)) return;
  const bool of_cells = interpolation == Interpolation::linear;
  throw core::InvalidArgument(
      "mt::d3::Receiver#outside",
      "expected station {} inside the outermost cells of the forward mesh, x {:.6g} to {:.6g} m and y {:.6g} "
      "to {:.6g} m, got x = {:.6g} m, y = {:.6g} m; {}",
      station.name, x.from, x.to, y.from, y.to, station.x_m, station.y_m,
      of_cells ? "the cells of the model are the mesh: leave the station out, or give a model with at least "
                 "one more cell beyond it"
               : "leave the station out, or design the mesh for this survey");
}

}  // namespace

Receiver::Receiver(const fem::EdgeGrid& grid, int ground, const Station& station,
                   const Eigen::MatrixXd& top_resistivity, Interpolation interpolation) {
  check_inside(grid, station, interpolation);
  const Axis x(grid.lines_m(0), station.x_m, interpolation), y(grid.lines_m(1), station.y_m, interpolation);
  const auto is_contact = [&](int i, int j, int other_i, int other_j) {
    const double one = top_resistivity(i, j), other = top_resistivity(other_i, other_j);
    return interpolation == Interpolation::cubic &&
           std::max(one, other) > least_contact * std::min(one, other);
  };
  const Places x_e = x.within_contacts([&](int i) { return is_contact(i - 1, y.cell, i, y.cell); });
  const Places y_e = y.within_contacts([&](int j) { return is_contact(x.cell, j - 1, x.cell, j); });
  const Places x_line = x.between_lines(), y_line = y.between_lines();
  const Places x_middle = x.between_middles(), y_middle = y.between_middles();
  for (const auto& [i, wx] : x_e) {
    for (const auto& [j, wy] : y_line)
      rows_[static_cast<int>(Channel::e_x)].emplace_back(grid.edge(0, i, j, ground),
                                                         wx * wy / grid.width_m(0, i));
  }
  for (const auto& [i, wx] : x_line) {
    for (const auto& [j, wy] : y_e)
      rows_[static_cast<int>(Channel::e_y)].emplace_back(grid.edge(1, i, j, ground),
                                                         wx * wy / grid.width_m(1, j));
  }
  FaceRow h_x(grid), h_y(grid), h_z(grid);
  // H of the air above goes down to the surface by its drift. Linear between edges, it is that between the
  // middles of the layers above and below.
  const double above = grid.width_m(2, ground - 1), below = grid.width_m(2, ground);
  const bool is_linear = interpolation == Interpolation::linear;
  const double share = is_linear ? below / (above + below) : 1.0, drift = is_linear ? 0.0 : 0.5 * above;
  for (const auto& [i, wx] : x_line) {
    for (const auto& [j, wy] : y_middle) {
      h_x.add(0, i, j, ground - 1, wx * wy * share);
      h_x.add(0, i, j, ground, wx * wy * (1.0 - share));
      h_x.add(2, i, j, ground, wx * wy * drift / grid.dual_m(0, i));
      h_x.add(2, i - 1, j, ground, -wx * wy * drift / grid.dual_m(0, i));
    }
  }
  for (const auto& [i, wx] : x_middle) {
    for (const auto& [j, wy] : y_line) {
      h_y.add(1, i, j, ground - 1, wx * wy * share);
      h_y.add(1, i, j, ground, wx * wy * (1.0 - share));
      h_y.add(2, i, j, ground, wx * wy * drift / grid.dual_m(1, j));
      h_y.add(2, i, j - 1, ground, -wx * wy * drift / grid.dual_m(1, j));
    }
    for (const auto& [j, wy] : y_middle) h_z.add(2, i, j, ground, wx * wy);
  }
  rows_[static_cast<int>(Channel::h_x)] = h_x.take();
  rows_[static_cast<int>(Channel::h_y)] = h_y.take();
  rows_[static_cast<int>(Channel::h_z)] = h_z.take();
}

namespace {

/// The rows of a station on a relief before they are turned: E along the edges of the surface, its slopes,
/// and H along the axes.
class ReliefRows {
 public:
  ReliefRows(const fem::ReliefGrid& grid, int ground, const Station& station,
             const Eigen::MatrixXd& top_resistivity, const Water& water, Interpolation interpolation)
      : grid_(grid),
        lines_(grid.lines()),
        ground_(ground),
        crosses_contacts_(interpolation == Interpolation::linear),
        x_(lines_.lines_m(0), station.x_m, interpolation),
        y_(lines_.lines_m(1), station.y_m, interpolation),
        water_(water) {
    if (water_.is_wet(x_.cell, y_.cell)) choose_layers();
    add_electric(top_resistivity);
    if (is_under_water) add_vertical_electric();
    add_magnetic();
  }
  EdgeRow along_x, along_y, e_z, h_x, h_y, h_z;
  double p = 0.0, q = 0.0;      ///< ∂z/∂x, ∂z/∂y of the surface
  bool is_under_water = false;  ///< under layers of water enough to extrapolate in

 private:
  static constexpr int most_layers = 3, fewest_layers = 2;

  /// The layers that fields on the surface are extrapolated from, beginning at it.
  struct Layers {
    int n, first, step;
    int operator[](int a) const { return first + step * a; }
  };

  /// Chooses the layers that H and E_z come from: those of whole water in all columns of the rows, or, where
  /// there are too few, those below the ground.
  void choose_layers() {
    int least = most_layers;
    for (const auto& [i, wx] : x_.between_lines()) {
      for (const auto& [j, wy] : y_.between_lines()) {
        for (const auto& [a, b] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
          least = std::min(least, water_.n_whole(i - a, j - b));
      }
    }
    is_under_water = least >= fewest_layers;
    water_layers_.n = least;
    magnetic_layers_ = is_under_water ? water_layers_ : Layers{most_layers, ground_, 1};
  }

  void add_electric(const Eigen::MatrixXd& top_resistivity) {
    const auto is_contact = [&](int i, int j, int other_i, int other_j) {
      return (!is_under_water && !crosses_contacts_ &&
              differ(top_resistivity(i, j), top_resistivity(other_i, other_j))) ||
             is_coast(i, j, other_i, other_j);
    };
    const auto is_kink_x = [&](int i) {
      return std::abs(grid_.slope(0, i, y_.cell, ground_) - grid_.slope(0, i - 1, y_.cell, ground_)) >
             least_kink;
    };
    const auto is_kink_y = [&](int j) {
      return std::abs(grid_.slope(1, x_.cell, j, ground_) - grid_.slope(1, x_.cell, j - 1, ground_)) >
             least_kink;
    };
    const Places x_e =
        x_.within_contacts([&](int i) { return is_contact(i - 1, y_.cell, i, y_.cell) || is_kink_x(i); });
    const Places y_e =
        y_.within_contacts([&](int j) { return is_contact(x_.cell, j - 1, x_.cell, j) || is_kink_y(j); });
    for (const auto& [i, wx] : x_e) {
      for (const auto& [j, wy] : y_.within_kinks(is_kink_y)) {
        along_x.emplace_back(lines_.edge(0, i, j, ground_), wx * wy / lines_.width_m(0, i));
        p += wx * wy * grid_.slope(0, i, j, ground_);
      }
    }
    for (const auto& [i, wx] : x_.within_kinks(is_kink_x)) {
      for (const auto& [j, wy] : y_e) {
        along_y.emplace_back(lines_.edge(1, i, j, ground_), wx * wy / lines_.width_m(1, j));
        q += wx * wy * grid_.slope(1, i, j, ground_);
      }
    }
  }

  /// Adds E_z of the water down to its floor, beyond no coast.
  void add_vertical_electric() {
    const auto is_coast_x = [&](int i) { return is_coast(i - 1, y_.cell, i, y_.cell); };
    const auto is_coast_y = [&](int j) { return is_coast(x_.cell, j - 1, x_.cell, j); };
    for (const auto& [i, wx] : x_.within_kinks(is_coast_x)) {
      for (const auto& [j, wy] : y_.within_kinks(is_coast_y)) {
        const auto shares = shares_of(water_layers_, [&, i = i, j = j](int k) { return grid_.z_m(i, j, k); });
        for (int a = 0; a < water_layers_.n; ++a) {
          const int k = water_layers_[a];
          e_z.emplace_back(lines_.edge(2, i, j, k), wx * wy * shares[a] / grid_.height_m(i, j, k));
        }
      }
    }
  }

  void add_magnetic() {
    FaceRow of_x(lines_), of_y(lines_), of_z(lines_);
    const Places x_line = x_.between_lines(), y_line = y_.between_lines();
    const Places x_middle = x_.between_middles(), y_middle = y_.between_middles();
    for (const auto& [i, wx] : x_line) {
      for (const auto& [j, wy] : y_middle) add_across(0, i, j, wx * wy, of_x);
    }
    for (const auto& [i, wx] : x_middle) {
      for (const auto& [j, wy] : y_line) add_across(1, i, j, wx * wy, of_y);
      for (const auto& [j, wy] : y_middle) add_vertical(i, j, wx * wy, of_z);
    }
    h_x = of_x.take();
    h_y = of_y.take();
    h_z = of_z.take();
  }
  /// Returns the weights with which fields in the middle of layers give those on the surface. z(k): depth of
  /// a line there.
  template <class Depth>
  [[nodiscard]] std::array<double, most_layers> shares_of(const Layers& layers, Depth z) const {
    std::array<double, most_layers> height{}, shares{};
    for (int a = 0; a < layers.n; ++a) height[a] = z(ground_) - 0.5 * (z(layers[a]) + z(layers[a] + 1));
    for (int a = 0; a < layers.n; ++a) {
      shares[a] = 1.0;
      for (int b = 0; b < layers.n; ++b) {
        if (b != a) shares[a] *= height[b] / (height[b] - height[a]);
      }
    }
    return shares;
  }
  /// Adds the field normal to the vertical faces above or below an edge of the surface, extrapolated to it.
  /// The faces are normal to `axis` and begin at node (i, j).
  void add_across(int axis, int i, int j, double weight, FaceRow& row) const {
    const int other_i = i + axis, other_j = j + 1 - axis;  // the far end of the edge
    const auto z = [&](int k) { return 0.5 * (grid_.z_m(i, j, k) + grid_.z_m(other_i, other_j, k)); };
    const auto shares = shares_of(magnetic_layers_, z);
    const double width = axis == 0 ? lines_.width_m(1, j) : lines_.width_m(0, i);
    for (int a = 0; a < magnetic_layers_.n; ++a) {
      const int k = magnetic_layers_[a];
      // The mean of 1/height at both ends, as in the operator: its H keeps Ampère's law in a wedge of water.
      const double per_height = 0.5 / grid_.height_m(i, j, k) + 0.5 / grid_.height_m(other_i, other_j, k);
      row.add_circulation(axis, i, j, k, weight * shares[a] * per_height / width);
    }
  }
  /// Adds H_z at the middle of a face of the surface: what passes through it, and what its slope takes of the
  /// horizontal field.
  void add_vertical(int i, int j, double weight, FaceRow& row) const {
    row.add(2, i, j, ground_, weight);
    const double slope_x = 0.5 * (grid_.slope(0, i, j, ground_) + grid_.slope(0, i, j + 1, ground_));
    const double slope_y = 0.5 * (grid_.slope(1, i, j, ground_) + grid_.slope(1, i + 1, j, ground_));
    for (int side = 0; side < 2; ++side) {
      add_across(0, i + side, j, 0.5 * weight * slope_x, row);
      add_across(1, i, j + side, 0.5 * weight * slope_y, row);
    }
  }

  static bool differ(double one_ohm_m, double other_ohm_m) {
    return std::max(one_ohm_m, other_ohm_m) > least_contact * std::min(one_ohm_m, other_ohm_m);
  }
  [[nodiscard]] bool is_coast(int i, int j, int other_i, int other_j) const {
    return water_.is_wet(i, j) != water_.is_wet(other_i, other_j);
  }

  static constexpr double least_kink = 0.2;  // change of a slope between neighbours
  const fem::ReliefGrid& grid_;
  const fem::EdgeGrid& lines_;
  int ground_;
  bool crosses_contacts_;
  Axis x_, y_;
  const Water& water_;
  Layers water_layers_{most_layers, ground_ - 1, -1}, magnetic_layers_ = water_layers_;
};

}  // namespace

Receiver::Receiver(const fem::ReliefGrid& grid, int ground, const Station& station,
                   const Eigen::MatrixXd& top_resistivity, const Water& water, Interpolation interpolation) {
  check_inside(grid.lines(), station, interpolation);
  const ReliefRows rows(grid, ground, station, top_resistivity, water, interpolation);
  const double p = rows.p, q = rows.q, length = 1.0 + p * p + q * q;
  const double to_x = std::sqrt(1.0 + p * p), to_y = std::sqrt(1.0 + q * q), normal = std::sqrt(length);
  const auto set = [this](Channel channel, std::initializer_list<std::pair<double, const EdgeRow*>> parts) {
    rows_[static_cast<int>(channel)] = combined(parts);
  };
  if (station.definition == Definition::slope_parallel) {
    set(Channel::e_x, {{1.0 / to_x, &rows.along_x}});
    set(Channel::e_y, {{1.0 / to_y, &rows.along_y}});
    set(Channel::h_x, {{1.0 / to_x, &rows.h_x}, {p / to_x, &rows.h_z}});
    set(Channel::h_y, {{1.0 / to_y, &rows.h_y}, {q / to_y, &rows.h_z}});
    set(Channel::h_z, {{1.0 / normal, &rows.h_z}, {-p / normal, &rows.h_x}, {-q / normal, &rows.h_y}});
    return;
  }
  if (rows.is_under_water) {
    set(Channel::e_x, {{1.0, &rows.along_x}, {-p, &rows.e_z}});
    set(Channel::e_y, {{1.0, &rows.along_y}, {-q, &rows.e_z}});
  } else {
    set(Channel::e_x, {{(1.0 + q * q) / length, &rows.along_x}, {-p * q / length, &rows.along_y}});
    set(Channel::e_y, {{(1.0 + p * p) / length, &rows.along_y}, {-p * q / length, &rows.along_x}});
  }
  set(Channel::h_x, {{1.0, &rows.h_x}});
  set(Channel::h_y, {{1.0, &rows.h_y}});
  set(Channel::h_z, {{1.0, &rows.h_z}});
}

Complex Receiver::factor(Channel channel, double omega) {
  return channel == Channel::e_x || channel == Channel::e_y ? Complex(1.0)
                                                            : Complex(0.0, 1.0 / (omega * mu0));
}

Complex Receiver::measure(Channel channel, double omega, const Eigen::VectorXcd& circulation) const {
  Complex sum{};
  for (const auto& [edge, weight] : rows_[static_cast<int>(channel)]) sum += weight * circulation[edge];
  return factor(channel, omega) * sum;
}

void Receiver::add_row(Channel channel, double omega, Complex weight,
                       Eigen::Ref<Eigen::VectorXcd> edges) const {
  const Complex scale = weight * factor(channel, omega);
  for (const auto& [edge, of_edge] : rows_[static_cast<int>(channel)]) edges[edge] += of_edge * scale;
}

}  // namespace lodestone::physics::mt::d3
