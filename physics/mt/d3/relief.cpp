// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/relief.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/d3/edge_averages.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::mt::d3 {

namespace {

/// The heights of a surface: z = level + s with s from −height to 0.
struct Relief {
  double level_m, height_m;
  explicit Relief(const mesh::Surface& surface)
      : level_m(surface.lowest_m()), height_m(surface.lowest_m() - surface.highest_m()) {}
};

/// The layers above the surface: those that hold the sea, then air.
class Above {
 public:
  Above(const mesh::Earth& earth, double top_m)
      : sea_(earth.sea), lowest_m_(earth.surface.lowest_m()), deepest_m_(sea_depth_m(earth)), top_m_(top_m) {}
  /// Returns the true z of a line at a place of the surface.
  [[nodiscard]] double z_m(double line_m, double surface_m) const {
    const double height_m = sea_ ? std::max(surface_m - sea_->level_m, least_layers * deepest_m_) : 0.0;
    if (-line_m <= deepest_m_) return surface_m + line_m * height_m / deepest_m_;
    const double under_air_m = surface_m - height_m, share = (-line_m - deepest_m_) / (top_m_ - deepest_m_);
    return under_air_m + share * (lowest_m_ - top_m_ - under_air_m);
  }

 private:
  const std::optional<mesh::Sea>& sea_;
  double lowest_m_, deepest_m_, top_m_;
};

/// Depth below the lowest place at which the layers under a grid with level layers are level: at the first of
/// its edges between one and two heights of the relief.
double level_below_m(const mesh::TensorGrid& grid, const Relief& relief) {
  for (const double edge : grid.z_edges_m()) {
    const double below = edge - relief.level_m;
    if (below >= relief.height_m && below <= 2.0 * relief.height_m) return below;
  }
  return 2.0 * relief.height_m;
}

}  // namespace

double sea_depth_m(const mesh::Earth& earth) {
  return earth.sea ? earth.surface.lowest_m() - earth.sea->level_m : 0.0;
}

double water_depth_m(const mesh::Earth& earth, double x_m, double y_m) {
  return earth.surface.z_at(x_m, y_m) - earth.sea->level_m;
}

double height_of_layers_m(const mesh::Earth& earth) {
  const double lowest_m = earth.surface.lowest_m(), highest_m = earth.surface.highest_m();
  const double on_highest_m =
      earth.sea ? std::max(highest_m - earth.sea->level_m, least_layers * sea_depth_m(earth)) : 0.0;
  return lowest_m - highest_m + on_highest_m;
}

double layer_stretch(const mesh::Earth& earth) {
  const Relief relief(earth.surface);
  if (relief.height_m == 0.0 || earth.grid.reference() == mesh::DepthReference::surface) return 1.0;
  return 1.0 + relief.height_m / level_below_m(earth.grid, relief);
}

Eigen::VectorXd node_depths_m(const mesh::Earth& earth, const fem::EdgeGrid& lines) {
  const Relief relief(earth.surface);
  if (relief.height_m == 0.0 && !earth.sea) return {};
  const double top_m = -lines.lines_m(2).front(), under_air_m = height_of_layers_m(earth);
  if (!(top_m > under_air_m))
    throw core::InvalidArgument(
        "mt::d3::node_depths_m#low_air",
        "expected air up to more than {:.4g} m above the lowest ground, {}, got "
        "{:.4g} m; raise air_height",
        under_air_m, earth.sea ? "where the layers of the sea end on the highest" : "where the highest is",
        top_m);
  const Above above(earth, top_m);
  const bool is_draped = earth.grid.reference() == mesh::DepthReference::surface;
  const double below_m = is_draped ? 0.0 : level_below_m(earth.grid, relief);
  const auto share = [&](double z) { return is_draped || z == 0.0 ? 1.0 : std::max(0.0, 1.0 - z / below_m); };
  Eigen::VectorXd result(lines.n_nodes());
  for (int j = 0; j <= lines.n(1); ++j) {
    for (int i = 0; i <= lines.n(0); ++i) {
      const double surface_m = earth.surface.z_at(lines.lines_m(0)[i], lines.lines_m(1)[j]),
                   s = surface_m - relief.level_m;
      for (int k = 0; k <= lines.n(2); ++k) {
        const double z = lines.lines_m(2)[k];
        result[lines.node(i, j, k)] = z < 0.0 ? above.z_m(z, surface_m) : relief.level_m + z + s * share(z);
      }
    }
  }
  return result;
}

Water water_on(const mesh::Earth& earth, const fem::ReliefGrid& grid, int ground) {
  const int n_x = grid.lines().n(0), n_y = grid.lines().n(1);
  Water water{.n_whole = Eigen::ArrayXXi::Zero(n_x, n_y),
              .is_wet = decltype(Water::is_wet)::Constant(n_x, n_y, false)};
  if (!earth.sea) return water;
  const double rounding_m = 1e-9 * sea_depth_m(earth);
  const auto depths_m = [&](int i, int j, int k) {  // least and greatest at the corners
    const auto z = [&](int a, int b) { return grid.z_m(i + a, j + b, k) - earth.sea->level_m; };
    return std::minmax({z(0, 0), z(1, 0), z(0, 1), z(1, 1)});
  };
  for (int j = 0; j < n_y; ++j) {
    for (int i = 0; i < n_x; ++i) {
      water.is_wet(i, j) = depths_m(i, j, ground).second > rounding_m;
      int& n = water.n_whole(i, j);
      while (n < ground && water.is_wet(i, j) && depths_m(i, j, ground - n - 1).first >= -rounding_m) ++n;
    }
  }
  return water;
}

namespace {

/// A parameter interval and its share of an interval of the forward grid.
using Shares = std::vector<std::pair<int, double>>;

/// Shares of the intervals between `edges` in [from, to]; the outermost continue without end.
Shares shares_of(const std::vector<double>& edges, double from, double to) {
  const int n = std::max(1, static_cast<int>(edges.size()) - 1);
  Shares result;
  for (int i = 0; i < n; ++i) {
    const double begin = i == 0 ? from : std::max(from, edges[i]),
                 end = i + 1 == n ? to : std::min(to, edges[i + 1]);
    if (end - begin > 1e-12 * (to - from)) result.emplace_back(i, (end - begin) / (to - from));
  }
  return result;
}

double middle_z(const fem::ReliefGrid& grid, int i, int j, int k) {
  return 0.25 *
         (grid.z_m(i, j, k) + grid.z_m(i + 1, j, k) + grid.z_m(i, j + 1, k) + grid.z_m(i + 1, j + 1, k));
}

/// Returns the conductivity of a cell above the surface, by the volume of the water in it.
double conductivity_above(const fem::ReliefGrid& grid, const std::optional<mesh::Sea>& sea, int i, int j,
                          int k) {
  if (!sea) return air_conductivity;
  double water_m = 0.0, all_m = 0.0;  // at the corners together
  for (const auto& [a, b] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}}) {
    const double top = grid.z_m(i + a, j + b, k), bottom = grid.z_m(i + a, j + b, k + 1);
    water_m += std::max(0.0, bottom - std::max(top, sea->level_m));
    all_m += bottom - top;
  }
  const double share = water_m / all_m;
  return share / sea->resistivity_ohm_m + (1.0 - share) * air_conductivity;
}

}  // namespace

CellAverages::CellAverages(const mesh::Earth& earth, const fem::ReliefGrid& grid, int ground)
    : shares_(grid.lines().n_cells(), earth.grid.n_cells()),
      fixed_(Eigen::VectorXd::Zero(grid.lines().n_cells())) {
  const fem::EdgeGrid& lines = grid.lines();
  const bool is_draped = earth.grid.reference() == mesh::DepthReference::surface;
  std::array<std::vector<Shares>, 2> plan;
  for (int axis = 0; axis < 2; ++axis) {
    for (int i = 0; i < lines.n(axis); ++i)
      plan[axis].push_back(shares_of(earth.grid.edges_m(mesh::all_axes[axis]), lines.lines_m(axis)[i],
                                     lines.lines_m(axis)[i + 1]));
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (int k = 0; k < lines.n(2); ++k) {
    for (int j = 0; j < lines.n(1); ++j) {
      for (int i = 0; i < lines.n(0); ++i) {
        const Eigen::Index cell = lines.cell(i, j, k);
        if (k < ground) {
          fixed_[cell] = conductivity_above(grid, earth.sea, i, j, k);
          continue;
        }
        const Shares down =
            is_draped
                ? shares_of(earth.grid.z_edges_m(), lines.lines_m(2)[k], lines.lines_m(2)[k + 1])
                : shares_of(earth.grid.z_edges_m(), middle_z(grid, i, j, k), middle_z(grid, i, j, k + 1));
        for (const auto& [ix, x] : plan[0][i]) {
          for (const auto& [iy, y] : plan[1][j]) {
            for (const auto& [iz, z] : down)
              entries.emplace_back(static_cast<int>(cell), static_cast<int>(earth.grid.index(iz, iy, ix)),
                                   x * y * z);
          }
        }
      }
    }
  }
  shares_.setFromTriplets(entries.begin(), entries.end());
}

Eigen::VectorXd CellAverages::conductivities(const Eigen::VectorXd& resistivity) const {
  return fixed_ + shares_ * resistivity.cwiseInverse();
}

core::SparseRows CellAverages::derivative(const Eigen::VectorXd& resistivity) const {
  const Eigen::VectorXd of_inverse = -resistivity.array().square().inverse();
  return shares_ * of_inverse.asDiagonal();
}

}  // namespace lodestone::physics::mt::d3
