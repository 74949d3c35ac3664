// SPDX-License-Identifier: Apache-2.0
#include "io/report/volume.hpp"

#include "engine/core/error.hpp"
#include "io/report/property.hpp"
#include "io/report/reach.hpp"
#include "io/report/slice.hpp"
#include "io/report/slice_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr int n_maps = 6, n_columns = 3;
constexpr double shallowest_part = 0.25;  // of a skin depth of the shortest period
constexpr double near_part = 0.06;        // of the extent: sites this near stand on a cut
constexpr double below_deepest = 1.5;     // depth of the vertical slices over that of the deepest map
constexpr double dot_radius = 2.6;
constexpr double tallest_cut = 330.0, lowest_cut = 150.0, narrowest_cut = 400.0, around_cut = 172.0;
const Stroke cut_line{ink, 1.2, {6.0, 3.0}};

void require_volume(const inversion::Outcome& outcome) {
  if (outcome.model.earth.grid.dimension() != 3)
    throw core::InvalidArgument("io::report::volume#not_a_volume",
                                "expected a model with the axes x, y and z, but its grid has {} axes; draw "
                                "sections with section_picture",
                                outcome.model.earth.grid.dimension());
}

mesh::Box area_of(const MapExtent& extent) { return {.x_m = extent.x_m, .y_m = extent.y_m}; }

/// Returns the layers at these depths, from the top, each once.
std::vector<int> layers_at(const mesh::Earth& earth, const std::vector<double>& depths_m, double top_m) {
  std::vector<int> layers;
  for (const double depth_m : depths_m) {
    const double deepest_m = earth.grid.z_edges_m().back() - top_m;
    if (!(depth_m >= 0.0 && depth_m <= deepest_m))
      throw core::InvalidArgument("io::report::volume#no_such_depth",
                                  "expected depths of maps from 0 to {:.4g} km, where the model ends, got "
                                  "{:.4g} km; choose one in the model",
                                  1e-3 * deepest_m, 1e-3 * depth_m);
    const std::vector<double>& edges = earth.grid.z_edges_m();
    const auto above = std::ranges::upper_bound(edges, top_m + depth_m) - edges.begin() - 1;
    layers.push_back(std::clamp(static_cast<int>(above), 0, earth.grid.n_z() - 1));
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
  return layers;
}

std::vector<int> layers_of(const inversion::Outcome& outcome, const MapExtent& extent) {
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  const mesh::Box area = area_of(extent);
  const double top_m = top_of(outcome.model.earth, area);
  double shallow = grid.z_centre_m(grid.nearest(mesh::Axis::z, top_m)) - top_m,
         deep = deepest_part * extent.longest_m();
  const std::optional<mesh::Interval> periods = used_periods(outcome.data);
  if (periods && is_resistivity(outcome.model.property)) {
    shallow = std::max(shallow, skin_depths_m(outcome.model, area, top_m, periods->from, shallowest_part));
  }
  if (const auto seen_m = seen_depth_m(outcome, area, top_m))
    deep = std::min(*seen_m, deepest_part * extent.longest_m());
  shallow = std::max(shallow, 1e-3 * grid.width_m(mesh::Axis::z, 0));
  deep = std::max(deep, shallow);
  std::vector<int> layers;
  for (int k = 0; k < n_maps; ++k) {
    const double depth = shallow * std::pow(deep / shallow, k / (n_maps - 1.0));
    const int layer = grid.nearest(mesh::Axis::z, top_m + depth);
    if (layers.empty() || layer > layers.back()) layers.push_back(layer);
  }
  return layers;
}

/// Returns the coordinate along an axis of a line that most sites are near; the middle of the range without
/// sites.
double place_of_cut(const std::vector<mesh::Site>& sites, mesh::Axis axis, double within_m,
                    const mesh::Interval& range) {
  if (sites.empty()) return 0.5 * (range.from + range.to);
  std::vector<double> places;
  for (const mesh::Site& site : sites) places.push_back(site.at[axis]);
  std::ranges::sort(places);
  const double median = places[places.size() / 2];
  double best = median, best_count = 0.0;
  for (const double place : places) {
    double sum = 0.0, count = 0.0;
    for (const double other : places) {
      if (std::abs(other - place) > within_m) continue;
      sum += other;
      count += 1.0;
    }
    const double mean = sum / count;
    const bool nearer = std::abs(mean - median) < std::abs(best - median);
    if (count > best_count || (count == best_count && nearer)) best = mean, best_count = count;
  }
  return best;
}

/// Returns the places of the cuts across an axis: those wanted, or the one that most sites are near.
std::vector<double> places_of_cuts(const std::vector<double>& wanted_m, const VolumeSlices& slices,
                                   const std::vector<mesh::Site>& sites, mesh::Axis axis) {
  const mesh::Interval& range = axis == mesh::Axis::x ? slices.extent.x_m : slices.extent.y_m;
  if (wanted_m.empty()) return {place_of_cut(sites, axis, slices.sites_within_m, range)};
  for (const double place_m : wanted_m) {
    if (!range.contains(place_m))
      throw core::InvalidArgument(
          "io::report::volume#cut_outside",
          "expected {} of vertical slices from {:.4g} to {:.4g} km, which is the part "
          "around the sites that pictures show, got {:.4g} km; choose one there",
          axis == mesh::Axis::x ? "x" : "y", 1e-3 * range.from, 1e-3 * range.to, 1e-3 * place_m);
  }
  return wanted_m;
}

struct View {
  int layer;
  SliceView slice;
};

/// Returns the cells that a posterior finds investigated; null without one.
const Eigen::VectorXd* investigated_of(const inversion::Outcome& outcome) {
  const auto& uncertainty = outcome.findings.uncertainty;
  return uncertainty && uncertainty->posterior ? &uncertainty->posterior->investigated : nullptr;
}

std::vector<View> map_views(const inversion::Outcome& outcome, const VolumeSlices& slices) {
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  if (slices.layers.empty())
    throw core::InvalidArgument("io::report::volume#no_layer",
                                "expected the numbers of layers to draw, but the list is empty");
  std::vector<View> views;
  for (const int layer : slices.layers) {
    if (layer < 0 || layer >= grid.n_z())
      throw core::InvalidArgument("io::report::volume#no_such_layer", "expected layers from 0 to {}, got {}",
                                  grid.n_z() - 1, layer);
    views.push_back(
        {layer,
         {&outcome.model, mesh::slice(outcome.model.earth, mesh::HorizontalCut{grid.z_centre_m(layer)}),
          slices.extent.y_m, slices.extent.x_m, investigated_of(outcome)}});
  }
  return views;
}

SectionPanel cut_panel(const inversion::Outcome& outcome, const VolumeSlices& slices,
                       const mesh::VerticalCut& cut) {
  const bool along_y = cut.from.x_m == cut.to.x_m;
  const MapAxes axes = map_axes(outcome.frame);
  const bool named = axes.y != "y";
  const std::string line =
      named ? (along_y ? "West–east" : "South–north") : (along_y ? "Along y" : "Along x");
  SectionPanel panel{fmt::format("{} at {} = {}", line, along_y ? "x" : "y",
                                 length_text(along_y ? cut.from.x_m : cut.from.y_m, 3)),
                     outcome.model,
                     {},
                     {}};
  panel.cut = cut;
  panel.along = along_y ? axes.y : axes.x;
  panel.along_first_m = along_y ? cut.from.y_m : cut.from.x_m;
  panel.stations_within_m = slices.sites_within_m;
  for (const mesh::Site& site : map_sites(outcome)) {
    panel.station_names.push_back(site.name);
    panel.station_x_m.push_back(site.at.x_m);
    panel.station_y_m.push_back(site.at.y_m);
  }
  if (const Eigen::VectorXd* investigated = investigated_of(outcome)) panel.investigated = *investigated;
  return panel;
}

/// Returns the depths of a layer: "Depth 1.2–1.6 km".
std::string layer_title(const mesh::Earth& earth, int layer) {
  const auto k = static_cast<std::size_t>(layer);
  const double from = earth.grid.z_edges_m()[k], to = earth.grid.z_edges_m()[k + 1];
  const LengthUnit unit = length_unit(to);
  const bool is_depth = earth.grid.reference() == mesh::DepthReference::surface ||
                        (earth.surface.is_flat() && earth.surface.lowest_m() == 0.0);
  return fmt::format("{} {} to {} {}", is_depth ? "Depth" : "z =", plain_number(from / unit.metres, 3),
                     plain_number(to / unit.metres, 3), unit.name);
}

void draw_sites(Canvas& canvas, const MapSheet& sheet, const Frame& frame,
                const std::vector<mesh::Site>& sites, bool with_names) {
  std::vector<SiteMark> marks;
  for (const mesh::Site& site : sites)
    marks.push_back({site.name, sheet.at(frame, site.at.x_m, site.at.y_m)});
  canvas.begin_clip(frame.box());
  for (const SiteMark& mark : marks)
    canvas.circle(mark.at, dot_radius, {ink, Stroke{{1.0, 1.0, 1.0}, 0.7, {}}});
  canvas.end_clip();
  if (with_names) draw_site_names(canvas, marks, dot_radius, frame.box());
}

void draw_cut_lines(Canvas& canvas, const MapSheet& sheet, const Frame& frame, const VolumeSlices& slices) {
  for (const mesh::VerticalCut& cut : slices.cuts)
    canvas.line(sheet.at(frame, cut.from.x_m, cut.from.y_m), sheet.at(frame, cut.to.x_m, cut.to.y_m),
                cut_line);
}

}  // namespace

VolumeSlices slices_of(const inversion::Outcome& outcome, const WantedSlices& wanted) {
  require_volume(outcome);
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  const std::vector<mesh::Site> sites = map_sites(outcome);
  VolumeSlices slices{.extent = extent_around(sites, grid)};
  const double top_m = top_of(outcome.model.earth, area_of(slices.extent));
  slices.layers = wanted.depths_m.empty() ? layers_of(outcome, slices.extent)
                                          : layers_at(outcome.model.earth, wanted.depths_m, top_m);
  slices.sites_within_m = near_part * slices.extent.longest_m();
  const auto& [x_m, y_m] = slices.extent;
  if (!wanted.x_m.empty() || wanted.y_m.empty())
    for (const double at_x : places_of_cuts(wanted.x_m, slices, sites, mesh::Axis::x))
      slices.cuts.push_back({{at_x, y_m.from, 0.0}, {at_x, y_m.to, 0.0}});
  if (!wanted.y_m.empty() || wanted.x_m.empty())
    for (const double at_y : places_of_cuts(wanted.y_m, slices, sites, mesh::Axis::y))
      slices.cuts.push_back({{x_m.from, at_y, 0.0}, {x_m.to, at_y, 0.0}});
  const double deepest = grid.z_edges_m()[static_cast<std::size_t>(slices.layers.back()) + 1];
  slices.max_depth_m = std::min(grid.z_edges_m().back(), top_m + below_deepest * (deepest - top_m));
  return slices;
}

CellColours colours_of(const inversion::Outcome& outcome, const VolumeSlices& slices,
                       const PictureChoices& choices) {
  require_volume(outcome);
  std::vector<SliceView> views;
  for (View& view : map_views(outcome, slices)) views.push_back(std::move(view.slice));
  for (const mesh::VerticalCut& cut : slices.cuts) {
    views.push_back({&outcome.model, mesh::slice(outcome.model.earth, cut)});
    views.back().v_m.to = slices.max_depth_m;
    views.back().investigated = investigated_of(outcome);
  }
  return colours_of(views, SectionQuantity::resistivity, choices.low, choices.high);
}

Canvas horizontal_slices_picture(const inversion::Outcome& outcome, const VolumeSlices& slices,
                                 const PictureChoices& choices) {
  require_volume(outcome);
  const std::vector<View> views = map_views(outcome, slices);
  const CellColours colours = colours_of(outcome, slices, choices);
  const auto n = static_cast<int>(views.size());
  const MapSheet sheet(slices.extent, map_axes(outcome.frame), n, std::min(n, n_columns));
  const std::vector<mesh::Site> sites = map_sites(outcome);
  Canvas canvas(MapSheet::width, sheet.height());
  sheet.draw_title(
      canvas,
      fmt::format("{} of {} layers, rms {:.2f}", title_of(outcome.model.property), n, outcome.ending.rms),
      colours.gaps ? "white: no value" : "");
  for (int k = 0; k < n; ++k) {
    const View& view = views[static_cast<std::size_t>(k)];
    const Frame frame = sheet.frame(k);
    const auto place = [&](const mesh::Flat& at) { return sheet.at(frame, at.v_m, at.u_m); };
    canvas.begin_clip(frame.box());
    draw_slice(canvas, view.slice, colours, place);
    if (choices.contours) draw_slice_contours(canvas, view.slice, frame.box(), place);
    if (view.slice.investigated != nullptr)
      draw_unseen(canvas, view.slice, *view.slice.investigated, frame.box(), place);
    if (k == 0) draw_cut_lines(canvas, sheet, frame, slices);
    canvas.end_clip();
    draw_sites(canvas, sheet, frame, sites, k == 0);
    sheet.draw_frame(canvas, k, layer_title(outcome.model.earth, view.layer));
  }
  draw_colour_bar(canvas, sheet.colour_bar(), colours.map(), colours.axis(), colours.clipped());
  return canvas;
}

Canvas vertical_slices_picture(const inversion::Outcome& outcome, const VolumeSlices& slices,
                               const PictureChoices& choices) {
  require_volume(outcome);
  const CellColours colours = colours_of(outcome, slices, choices);
  const double longest = slices.extent.longest_m();
  const double depth = slices.max_depth_m - top_of(outcome.model.earth, area_of(slices.extent));
  const double width = std::clamp(tallest_cut * longest / depth, narrowest_cut, MapSheet::width - around_cut);
  const double level = width * depth / longest;  // height without exaggeration
  SectionPictureOptions options{.min_log10 = colours.low,
                                .max_log10 = colours.high,
                                .max_depth_m = slices.max_depth_m,
                                .width = width + around_cut,
                                .contours = choices.contours};
  options.vertical_exaggeration = std::clamp(level, lowest_cut, tallest_cut) / level;
  std::vector<SectionPanel> panels;
  for (const mesh::VerticalCut& cut : slices.cuts) panels.push_back(cut_panel(outcome, slices, cut));
  return sections_picture(panels, options);
}

}  // namespace lodestone::io::report
