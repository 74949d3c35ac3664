// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/mesh_design.hpp"

#include "engine/core/error.hpp"
#include "physics/fem/graded_lines.hpp"
#include "physics/mt/d3/features.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lodestone::physics::mt::d3 {

namespace {

constexpr double coarsest = 30.0;            // times the sizes of the rules
constexpr double least_layers_of_sea = 6.0;  // so that companions have three
constexpr double least_air_over_cells_m = 1e6;
constexpr double air_growth_over_sea = 0.3;  // of that over land, for what water shields is a small rest

/// Lines from the top of the air to the surface, which is 0. Layers grow by at most `most_growth`, and just
/// as much as it takes to end at the height: layers far higher than columns are wide are hard to solve in
/// single precision.
std::vector<double> air_lines(double first_m, double height_m, double most_growth) {
  const auto height_of = [first_m](int n, double growth) {
    double height = 0.0;
    for (int i = 0; i < n; ++i) height = height * growth + first_m;
    return height;
  };
  int n = 4;
  while (height_of(n, most_growth) < height_m) ++n;
  double least = 1.0, growth = most_growth;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (least + growth);
    (height_of(n, middle) < height_m ? least : growth) = middle;
  }
  std::vector<double> lines;
  for (; n >= 0; --n) lines.push_back(-height_of(n, growth));
  return lines;
}

/// Returns the lines of air above a grid of cells as common codes of finite differences have them: heights
/// above a layer as thick as the ground's first rise by a constant ratio.
std::vector<double> air_lines_of_cells(double first_m, double height_m) {
  constexpr int n_layers = 12;
  const double ratio = std::pow(height_m / first_m, 1.0 / n_layers);
  std::vector<double> lines;
  for (int layer = n_layers; layer >= 0; --layer) lines.push_back(first_m * (1.0 - std::pow(ratio, layer)));
  return lines;
}

/// Lines of the sea from its surface down, without the floor; none without a sea. Their number is even, so
/// that companions keep the surface. The extrapolation of H needs three layers, on companions as well.
std::vector<double> sea_lines(const MeshFeatures& features, double slope, double coarsen) {
  if (!(features.sea_depth_m > 0.0)) return {};
  auto sizes = features.sea_sizes;
  for (auto& feature : sizes) feature.size_m *= coarsen;
  const double thickest_m = features.sea_depth_m / least_layers_of_sea;
  auto lines =
      fem::graded_lines(-features.sea_depth_m, 0.0, {}, sizes,
                        {.slope = slope, .far_slope = slope, .max_size_m = thickest_m, .even = true});
  lines.pop_back();
  return lines;
}

/// Returns the lines to keep when cells grow by a factor: the first, and of the others those with enough
/// distance from the last.
std::vector<double> thinned(const std::vector<double>& lines, double factor) {
  if (factor <= 1.0) return lines;
  std::vector<double> kept;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const double cell = i == 0 ? 0.0 : lines[i] - lines[i - 1];
    if (kept.empty() || lines[i] - kept.back() > 0.9 * factor * cell) kept.push_back(lines[i]);
  }
  return kept;
}

/// The lines of a mesh along x, y and, below the ground, z.
using GroundLines = std::array<std::vector<double>, 3>;

/// Returns the lines whose cells are larger than required by `coarsen`; `thinning`: the same of the cells of
/// the parameter grid.
GroundLines graded_lines(const MeshFeatures& features, const MeshDesignOptions& options, double coarsen,
                         double thinning) {
  GroundLines lines;
  for (int axis = 0; axis < 3; ++axis) {
    auto sizes = features.sizes[axis];
    for (auto& feature : sizes) feature.size_m *= coarsen;
    const double padding = options.side_padding * features.penetration_m;
    const double slope = ((axis < 2 ? options.growth : options.layer_growth) - 1.0) * coarsen;
    const double from = axis < 2 ? features.extent[axis].from - padding : 0.0,
                 to = axis < 2 ? features.extent[axis].to + padding : features.bottom_m;
    lines[axis] = fem::graded_lines(from, to, features.anchors[axis], sizes,
                                    {.slope = slope,
                                     .far_slope = axis < 2 ? std::max(slope, 0.7) : slope,
                                     .near_m = axis < 2 ? 2.0 * features.penetration_m : 0.0,
                                     .least_spacing = 0.4,
                                     .even = !options.along_cells,
                                     .kept_m = thinned(features.kept[axis], thinning)});
  }
  return lines;
}

/// Returns the lines of the parameter grid, continued to the ends that the others have.
GroundLines lines_of_cells(const mesh::Earth& earth, const MeshFeatures& features,
                           const MeshDesignOptions& options) {
  GroundLines lines;
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<double>& of_axis = lines[axis] = earth.grid.edges_m(mesh::all_axes[axis]);
    const double padding = options.side_padding * features.penetration_m;
    if (axis == 2) {
      const double level = level_of(earth);
      for (double& line : of_axis) line -= level;
      std::erase_if(of_axis, [](double z) { return z <= 0.0; });
      of_axis.insert(of_axis.begin(), 0.0);
    } else if (const double missing = of_axis.front() - (features.extent[axis].from - padding);
               missing > 0.0) {
      const auto outside = fem::lines_outward(of_axis.front(), missing, of_axis[1] - of_axis[0], -1.0);
      of_axis.insert(of_axis.begin(), outside.rbegin(), outside.rend());
    }
    const double end = axis < 2 ? features.extent[axis].to + padding : features.bottom_m;
    const double last = of_axis.back(), width = last - of_axis[of_axis.size() - 2];
    const auto outside = fem::lines_outward(last, end - last, width, 1.0);
    of_axis.insert(of_axis.end(), outside.begin(), outside.end());
  }
  return lines;
}

/// Returns the grid of these lines with the sea and the air above them.
fem::EdgeGrid make_grid(GroundLines lines, const MeshFeatures& features, const MeshDesignOptions& options,
                        double coarsen) {
  const auto ground = std::move(lines[2]);
  const double z_slope = (options.layer_growth - 1.0) * coarsen;
  const auto sea = sea_lines(features, z_slope, coarsen);
  const double first_m = sea.empty() ? ground[1] : (sea.size() > 1 ? sea[1] : 0.0) - sea[0];
  const double air_growth = (options.air_growth - 1.0) * (sea.empty() ? 1.0 : air_growth_over_sea);
  const double height_m = std::max(options.air_height * features.penetration_m, features.least_air_m);
  lines[2] = options.only_cells && sea.empty()
                 ? air_lines_of_cells(first_m, std::max(height_m, least_air_over_cells_m))
                 : air_lines(first_m, height_m, 1.0 + air_growth * coarsen);
  for (double& line : lines[2]) line -= features.sea_depth_m;
  if (!sea.empty()) {
    lines[2].insert(lines[2].end(), sea.begin() + 1, sea.end());
    lines[2].push_back(0.0);
  }
  lines[2].insert(lines[2].end(), ground.begin() + 1, ground.end());
  return fem::EdgeGrid(std::move(lines));
}

int n_layers_of_sea(const fem::EdgeGrid& grid, double sea_depth_m) {
  const auto above_m = [&](double z) { return z < 0.0 && z >= -sea_depth_m * (1.0 + 1e-12); };
  return static_cast<int>(std::ranges::count_if(grid.lines_m(2), above_m));
}

BandMesh make_band(const mesh::Model& model, const Survey& survey, std::vector<int> frequencies,
                   const MeshDesignOptions& options) {
  const double lowest_hz = survey.frequencies_hz[frequencies.back()],
               highest_hz = survey.frequencies_hz[frequencies.front()];
  const MeshFeatures features = find_features(model, survey, lowest_hz, highest_hz, options);
  const auto band_of = [&](fem::EdgeGrid grid, double coarsened) {
    Eigen::VectorXd node_z_m = node_depths_m(model.earth, grid);
    const int n_sea = n_layers_of_sea(grid, features.sea_depth_m);
    return BandMesh{.frequencies = std::move(frequencies),
                    .grid = std::move(grid),
                    .coarsened = coarsened,
                    .node_z_m = std::move(node_z_m),
                    .n_sea = n_sea,
                    .is_linear = options.only_cells};
  };
  if (options.only_cells)
    return band_of(make_grid(lines_of_cells(model.earth, features, options), features, options, 1.0), 1.0);
  // Lines of the parameter grid go last: cells of rough models have no mean that stands for them.
  for (const bool thins : {false, true}) {
    if (thins && !options.along_cells) break;
    for (double factor = 1.0; factor < coarsest; factor *= 1.1) {
      const double coarsen = factor * options.coarsen;
      fem::EdgeGrid grid =
          make_grid(graded_lines(features, options, coarsen, thins ? coarsen : options.coarsen), features,
                    options, coarsen);
      if (static_cast<double>(grid.n_inner_edges()) <= options.max_edges)
        return band_of(std::move(grid), factor);
    }
  }
  throw core::InvalidArgument(
      "mt::d3::design_meshes#too_many_edges",
      "no mesh of at most {:.3g} edges serves {} stations at {:.4g} Hz; raise max_edges or leave "
      "out stations or frequencies",
      options.max_edges, survey.stations.size(), highest_hz);
}

}  // namespace

void require_volume(const mesh::Earth& earth, std::string_view component) {
  if (earth.grid.dimension() != 3)
    throw core::InvalidArgument(fmt::format("{}#no_volume", component),
                                "expected a grid along x, y and z, got {} axes", earth.grid.dimension());
}

int BandMesh::ground() const {
  const auto& z = grid.lines_m(2);
  const auto found = std::find(z.begin(), z.end(), 0.0);
  if (found == z.end() || found == z.begin() || found + 1 == z.end())
    throw core::InvalidArgument("mt::d3::BandMesh#no_ground",
                                "expected an inner line at z = 0, the surface, in {:.4g} … {:.4g} m",
                                z.front(), z.back());
  return static_cast<int>(found - z.begin());
}

MeshDesignOptions design_options(Accuracy accuracy) {
  MeshDesignOptions options;
  if (accuracy == Accuracy::fine) {
    options.extrapolate = true;
    options.cells_per_skin_depth = 6.0;
    options.contact_share = 0.02;
    options.first_layer = 0.05;
    options.layer_growth = 1.11;
    options.bottom_depth = 7.0;
    options.air_height = 8.0;
    options.side_padding = 6.0;
    options.max_edges = 6e6;
  }
  if (accuracy == Accuracy::iteration) {
    options.along_cells = true;
    options.cells_per_skin_depth = 2.5;
    options.first_layer = 0.12;
    options.layer_growth = 1.3;
    options.growth = 1.5;
    options.bottom_depth = 4.0;
    options.air_height = 4.0;
    options.side_padding = 4.0;
    options.max_edges = 8e5;
  }
  return options;
}

MeshSet design_meshes(const mesh::Model& model, const Survey& survey, const MeshDesignOptions& options) {
  require_volume(model.earth, "mt::d3::design_meshes");
  survey.validate();
  MeshSet result;
  result.design_resistivity_ohm_m = mesh::resistivity_ohm_m(model);
  result.is_extrapolated = options.extrapolate;
  for (auto& frequencies : frequency_bands(survey.frequencies_hz, options.band_ratio))
    result.bands.push_back(make_band(model, survey, std::move(frequencies), options));
  return result;
}

namespace {

/// Every second of n lines, counted so that `kept` and both ends remain.
std::vector<int> every_second(int n, int kept) {
  std::vector<int> result;
  for (int i = 0; i < n; ++i) {
    const bool is_end = i == 0 || i + 1 == n;
    if (is_end || (i - kept) % 2 == 0) result.push_back(i);
  }
  return result;
}

}  // namespace

MeshSet companions(const MeshSet& meshes) {
  MeshSet result = meshes;
  result.bands.clear();
  for (const BandMesh& band : meshes.bands) {
    const fem::EdgeGrid& grid = band.grid;
    const std::array<int, 3> kept{0, 0, band.ground()};
    std::array<std::vector<int>, 3> numbers;
    for (int axis = 0; axis < 3; ++axis) numbers[axis] = every_second(grid.n(axis) + 1, kept[axis]);
    const fem::ReliefGrid fewer =
        (band.has_relief() ? fem::ReliefGrid(grid, band.node_z_m) : fem::ReliefGrid(grid)).subset(numbers);
    result.bands.push_back({band.frequencies, fewer.lines(), 2.0 * band.coarsened,
                            band.has_relief() ? fewer.node_z_m() : Eigen::VectorXd(), band.n_sea / 2,
                            band.is_linear});
  }
  return result;
}

std::string MeshSet::summary() const {
  std::string text =
      fmt::format("{:>4} {:>11} {:>16} {:>5} {:>5} {:>10} {:>12} {:>10} {:>10}\n", "mesh", "frequencies",
                  "cells", "air", "sea", "edges", "first layer", "depth km", "coarsened");
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const fem::EdgeGrid& grid = bands[i].grid;
    const int ground = bands[i].ground();
    text +=
        fmt::format("{:>4} {:>11} {:>16} {:>5} {:>5} {:>10} {:>10.4g} m {:>10.4g} {:>10.2f}\n", i,
                    bands[i].frequencies.size(), fmt::format("{} × {} × {}", grid.n(0), grid.n(1), grid.n(2)),
                    ground - bands[i].n_sea, bands[i].n_sea, grid.n_inner_edges(), grid.width_m(2, ground),
                    1e-3 * grid.lines_m(2).back(), bands[i].coarsened);
  }
  return text;
}

}  // namespace lodestone::physics::mt::d3
