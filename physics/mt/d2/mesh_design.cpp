// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/mesh_design.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/d2/features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::physics::mt::d2 {

namespace {

constexpr double thinnest_water = 1e-3;  // of the size of water cells; thinner water is left out

/// Returns the heights above the surface, from the top of the air down to 0.
std::vector<double> air_heights(double first, double total, double growth) {
  std::vector<double> heights{0.0};
  for (double cell = first; heights.back() < total; cell *= growth) heights.push_back(heights.back() + cell);
  std::reverse(heights.begin(), heights.end());
  return heights;
}

/// Shares of the water's depth at which rows of sea begin, 0 at its surface; the same everywhere, right for
/// the deepest water.
std::vector<double> sea_shares(const MeshFeatures& features, double slope) {
  if (!(features.sea_depth_m > 0.0)) return {};
  const double size = std::min(features.sea_size_m, 0.5 * features.sea_depth_m);
  auto shares = fem::graded_lines(0.0, features.sea_depth_m, {}, {{0.0, size}, {features.sea_depth_m, size}},
                                  {.slope = slope, .far_slope = slope, .near_m = 0.0});
  shares.pop_back();
  for (double& share : shares) share /= features.sea_depth_m;
  return shares;
}

/// Places rows under (and above) an uneven surface.
class Draping {
 public:
  Draping(const mesh::Earth& earth, const MeshFeatures& features, double air_height)
      : surface_(earth.surface.profile()),
        sea_(earth.sea),
        levels_(features.levels),
        thinnest_water_m_(thinnest_water * features.sea_size_m),
        air_height_(air_height) {
    const auto [high, low] = std::minmax_element(surface_.z_m().begin(), surface_.z_m().end());
    lowest_ = *low;
    highest_ = sea_ ? std::min(*high, sea_->level_m) : *high;
  }
  [[nodiscard]] double below(double y, double row) const {
    const double surface = surface_.z_at(y);
    return surface + levels_.depth_of(row, lowest_ - surface);
  }
  /// Returns z of the top under the air: land or the surface of the sea.
  [[nodiscard]] double top(double y) const {
    const double ground = surface_.z_at(y);
    return sea_ && ground - sea_->level_m > thinnest_water_m_ ? sea_->level_m : ground;
  }
  [[nodiscard]] double in_sea(double y, double share) const {
    return top(y) + share * (surface_.z_at(y) - top(y));
  }
  [[nodiscard]] double above(double y, double height) const {
    const double surface = top(y);
    return surface + (highest_ - surface) * height / air_height_ - height;
  }

 private:
  const mesh::SurfaceLine& surface_;
  const std::optional<mesh::Sea>& sea_;
  const RowLevels& levels_;
  double thinnest_water_m_, air_height_, lowest_ = 0.0, highest_ = 0.0;
};

/// The lines of a mesh: columns, rows of the earth, heights of the air's rows, shares of the water's depth.
struct MeshLines {
  std::vector<double> columns, rows, air, sea;

  [[nodiscard]] double n_lattice_nodes(int order) const {
    const auto n_z = static_cast<double>(rows.size() + air.size() + sea.size() - 2);
    return (1.0 + order * static_cast<double>(columns.size() - 1)) * (1.0 + order * n_z);
  }
};

MeshLines make_lines(const MeshFeatures& features, const MeshDesignOptions& options) {
  const double near = 3.0 * features.penetration_m, padding = options.side_padding * features.penetration_m;
  const double slope = (options.growth - 1.0) * options.coarsen,
               far_slope = std::max(slope, (options.far_growth - 1.0) * std::min(1.0, options.coarsen));
  MeshLines lines;
  lines.columns = fem::graded_lines(
      features.first_y_m - padding, features.last_y_m + padding, features.y_anchors, features.y,
      {.slope = slope, .far_slope = far_slope, .near_m = near, .least_spacing = options.line_spacing});
  lines.rows = fem::graded_lines(
      0.0, features.bottom_m, features.z_anchors, features.z,
      {.slope = slope, .far_slope = slope, .near_m = near, .least_spacing = options.line_spacing});
  const double air_growth = 1.0 + 2.0 * slope + 0.2;
  lines.air =
      air_heights(2.0 * features.surface_size_m, options.air_height * features.penetration_m, air_growth);
  lines.sea = sea_shares(features, slope);
  return lines;
}

fem::QuadMesh make_mesh(const mesh::Earth& earth, const MeshFeatures& features, const MeshLines& lines) {
  const Draping draping(earth, features, lines.air.front());
  std::vector<std::vector<double>> columns;
  for (const double y : lines.columns) {
    auto& column = columns.emplace_back();
    for (std::size_t i = 0; i + 1 < lines.air.size(); ++i) column.push_back(draping.above(y, lines.air[i]));
    for (const double share : lines.sea) column.push_back(draping.in_sea(y, share));
    for (const double row : lines.rows) column.push_back(draping.below(y, row));
  }
  return fem::QuadMesh(lines.columns, std::move(columns), static_cast<int>(lines.air.size()) - 1,
                       static_cast<int>(lines.sea.size()));
}

/// Enlarges cells along the profile by the factor of the nearest station.
void enlarge(std::vector<fem::SizeFeature>& features, const std::vector<Station>& stations,
             const std::vector<double>& factors) {
  for (fem::SizeFeature& feature : features) {
    const auto nearest = std::ranges::min_element(
        stations, {}, [&](const Station& station) { return std::abs(station.y_m - feature.at_m); });
    feature.size_m *= factors[static_cast<std::size_t>(nearest - stations.begin())];
  }
}

}  // namespace

MeshDesignOptions design_options(Accuracy accuracy) {
  MeshDesignOptions options;
  switch (accuracy) {
    case Accuracy::standard:
      options.max_nodes = 120'000;  // rough sections of a hundred columns need as many
      break;
    case Accuracy::fine:
      options.cells_per_skin_depth = 6.0;
      options.contact_fraction = 0.012;
      options.growth = 1.22;
      options.side_padding = 60.0;
      options.air_height = 60.0;
      options.bottom_depth = 7.0;
      options.max_nodes = 400'000;
      break;
    case Accuracy::iteration:
      options.order =
          1;  // the models of iterations are rough: contacts rule the error, and cells of order 2 cost more
      options.cells_per_skin_depth = 4.0;
      options.contact_fraction = 0.1;
      options.line_spacing = 0.5;
      options.least_contrast = 0.25;
      options.max_nodes = 60'000;
      options.growth = 1.5;
      options.far_growth = 2.0;
      options.side_padding = 15.0;
      options.air_height = 15.0;
      break;
  }
  return options;
}

BandMesh design_band(const mesh::Model& model, const Survey& survey, std::vector<int> frequencies,
                     const MeshDesignOptions& options, const std::vector<double>& sizes) {
  const BandRange range{survey.frequencies_hz[frequencies.back()],
                        survey.frequencies_hz[frequencies.front()]};
  const double least = sizes.empty() ? 1.0 : std::ranges::min(sizes);
  MeshDesignOptions relaxed = options;
  relaxed.coarsen *= least;
  MeshFeatures wanted = find_features(model, survey, range, relaxed);
  std::vector<double> factors = sizes;
  for (double& factor : factors) factor /= least;
  if (!factors.empty()) enlarge(wanted.y, survey.stations, factors);
  for (double factor = 1.0; factor < 100.0; factor *= 1.15) {
    relaxed.coarsen = options.coarsen * least * factor;
    const MeshFeatures features = wanted.coarsened(factor);
    const MeshLines lines = make_lines(features, relaxed);
    if (lines.n_lattice_nodes(options.order) > options.max_nodes) continue;
    return {.frequencies = std::move(frequencies),
            .mesh = make_mesh(model.earth, features, lines),
            .perfect_conductor_below = features.perfect_conductor_below,
            .order = options.order,
            .sea_resistivity_ohm_m = model.earth.sea ? model.earth.sea->resistivity_ohm_m : 0.0,
            .coarsened = least * factor};
  }
  throw core::InvalidArgument(
      "mt::design_meshes#too_many_nodes",
      "no mesh of at most {} nodes serves {} stations at {:.4g} Hz; raise max_nodes or move stations away "
      "from contacts",
      options.max_nodes, survey.stations.size(), range.max_frequency_hz);
}

MeshSet design_meshes(const mesh::Model& model, const Survey& survey, const MeshDesignOptions& options) {
  mesh::require_section(model.earth, "mt::design_meshes");
  survey.validate();
  MeshSet result;
  result.solver = options.solver;
  for (auto& frequencies : frequency_bands(survey.frequencies_hz, options.band_ratio)) {
    result.bands.push_back(design_band(model, survey, std::move(frequencies), options));
  }
  return result;
}

std::string MeshSet::summary() const {
  std::string text =
      fmt::format("{:>4} {:>11} {:>9} {:>5} {:>5} {:>5} {:>12} {:>12} {:>12} {:>10}\n", "mesh", "frequencies",
                  "columns", "rows", "sea", "air", "unknowns TE", "unknowns TM", "depth km", "coarsened");
  for (std::size_t i = 0; i < bands.size(); ++i) {
    const auto& [frequencies, mesh, perfect, order, sea, coarsened] = bands[i];
    const int rows = order * (mesh.n_earth() + mesh.n_sea()), lines = order * mesh.n_y() + 1;
    text += fmt::format("{:>4} {:>11} {:>9} {:>5} {:>5} {:>5} {:>12} {:>12} {:>12.4g} {:>10.2f}\n", i,
                        frequencies.size(), mesh.n_y(), mesh.n_earth(), mesh.n_sea(), mesh.n_air(),
                        lines * (order * mesh.n_z() + (perfect ? 0 : 1)), lines * rows,
                        1e-3 * mesh.z(mesh.n_z(), 0), coarsened);
  }
  return text;
}

}  // namespace lodestone::physics::mt::d2
