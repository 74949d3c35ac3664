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

/// Interpolates by a polynomial through the four points next to x, of those from `first` to `last`, or
/// through as many as there are.
Places between(const std::vector<double>& points, int first, int last, double x) {
  constexpr int most = 4;
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

/// The lines of an axis around a station and the middles of its cells.
struct Axis {
  const std::vector<double>& lines;
  std::vector<double> middles;
  double at;
  int cell;

  Axis(const std::vector<double>& lines_in, double at_in)
      : lines(lines_in), at(at_in), cell(cell_of(lines_in, at_in)) {
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) middles.push_back(0.5 * (lines[i] + lines[i + 1]));
  }
  [[nodiscard]] int n() const { return static_cast<int>(middles.size()); }
  /// Interpolates between inner lines.
  [[nodiscard]] Places between_lines() const { return between(lines, 1, n() - 1, at); }
  [[nodiscard]] Places between_middles() const { return between(middles, 0, n() - 1, at); }
  /// Interpolates between middles that no contact separates. `is_contact(i)`: between cells i − 1 and i.
  template <class IsContact>
  [[nodiscard]] Places within_contacts(IsContact is_contact) const {
    int first = cell, last = cell;
    while (first > 0 && !is_contact(first)) --first;
    while (last + 1 < n() && !is_contact(last + 1)) ++last;
    return between(middles, first, last, at);
  }
};

/// Weighted faces, made into a row of edges.
class FaceRow {
 public:
  explicit FaceRow(const fem::EdgeGrid& grid) : grid_(grid) {}
  /// Adds weight times the mean of curl E over a face.
  void add(int axis, int i, int j, int k, double weight) {
    const fem::Face face = fem::face_at(grid_, axis, i, j, k);
    const std::array<int, 3> at{i, j, k};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const double area = grid_.width_m(a, at[a]) * grid_.width_m(b, at[b]);
    for (int edge = 0; edge < 4; ++edge)
      row_.emplace_back(face.edges[edge], weight * face.signs[edge] / area);
  }
  /// Sums the weights of each edge.
  [[nodiscard]] std::vector<std::pair<Eigen::Index, double>> take() {
    std::sort(row_.begin(), row_.end());
    std::vector<std::pair<Eigen::Index, double>> result;
    for (const auto& [edge, weight] : row_) {
      if (result.empty() || result.back().first != edge) result.emplace_back(edge, 0.0);
      result.back().second += weight;
    }
    return result;
  }

 private:
  const fem::EdgeGrid& grid_;
  std::vector<std::pair<Eigen::Index, double>> row_;
};

void check_inside(const fem::EdgeGrid& grid, const Station& station) {
  const auto is_inside = [&grid](int axis, double x) {
    const auto& lines = grid.lines_m(axis);
    return lines.size() > 4 && x > lines[1] && x < lines[lines.size() - 2];
  };
  if (!is_inside(0, station.x_m) || !is_inside(1, station.y_m))
    throw core::InvalidArgument(
        "mt::d3::Receiver#outside",
        "station {} at x = {} m, y = {} m stands outside the forward mesh; design the mesh "
        "for this survey",
        station.name, station.x_m, station.y_m);
}

}  // namespace

Receiver::Receiver(const fem::EdgeGrid& grid, int ground, const Station& station,
                   const Eigen::MatrixXd& top_resistivity) {
  check_inside(grid, station);
  const Axis x(grid.lines_m(0), station.x_m), y(grid.lines_m(1), station.y_m);
  const auto is_contact = [&](int i, int j, int other_i, int other_j) {
    const double one = top_resistivity(i, j), other = top_resistivity(other_i, other_j);
    return std::max(one, other) > least_contact * std::min(one, other);
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
  const double drift = 0.5 * grid.width_m(2, ground - 1);
  for (const auto& [i, wx] : x_line) {
    for (const auto& [j, wy] : y_middle) {
      h_x.add(0, i, j, ground - 1, wx * wy);
      h_x.add(2, i, j, ground, wx * wy * drift / grid.dual_m(0, i));
      h_x.add(2, i - 1, j, ground, -wx * wy * drift / grid.dual_m(0, i));
    }
  }
  for (const auto& [i, wx] : x_middle) {
    for (const auto& [j, wy] : y_line) {
      h_y.add(1, i, j, ground - 1, wx * wy);
      h_y.add(2, i, j, ground, wx * wy * drift / grid.dual_m(1, j));
      h_y.add(2, i, j - 1, ground, -wx * wy * drift / grid.dual_m(1, j));
    }
    for (const auto& [j, wy] : y_middle) h_z.add(2, i, j, ground, wx * wy);
  }
  rows_[static_cast<int>(Channel::h_x)] = h_x.take();
  rows_[static_cast<int>(Channel::h_y)] = h_y.take();
  rows_[static_cast<int>(Channel::h_z)] = h_z.take();
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
