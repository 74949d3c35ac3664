// SPDX-License-Identifier: Apache-2.0
#include "io/report/slice.hpp"

#include "engine/core/error.hpp"
#include "io/report/axes.hpp"
#include "io/report/property.hpp"
#include "io/report/reach.hpp"
#include "physics/mesh/slice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double left_margin = 66.0, right_margin = 106.0, bottom_margin = 46.0, panel_gap = 14.0,
                 title_height = 26.0, remark_height = 15.0;
constexpr double min_panel_height = 90.0, max_panel_height = 720.0;  // where an exaggeration is given
constexpr double usual_height = 250.0, tallest = 330.0, tallest_lone = 600.0, narrowest = 520.0;  // where not
constexpr double width_of_tick = 80.0;
constexpr double headroom = 0.06;  // above the highest point of a topography, for the triangles

bool is_cut(const SectionPanel& panel) { return !std::holds_alternative<mesh::WholeSection>(panel.cut); }

/// Scales that all panels share.
struct Scales {
  double length = 0.0;                 // along the longest panel, m
  double z_top = 0.0, z_bottom = 1.0;  // m, down
  double highest_ground = 1e300;       // smallest z of the surface, m
  LengthUnit unit;                     // of both axes
  double panel_width = 1.0, panel_height = 1.0;
  bool level_at_zero = true;
  [[nodiscard]] double exaggeration() const {
    return (panel_height / (z_bottom - z_top)) / (panel_width / length);
  }
};

/// Returns the sites of a panel in the frame of its earth.
std::vector<mesh::Site> sites_of(const SectionPanel& panel) {
  std::vector<mesh::Site> sites;
  for (std::size_t k = 0; k < panel.station_names.size(); ++k) {
    const double x_m = panel.station_x_m.empty() ? 0.0 : panel.station_x_m[k];
    sites.push_back({panel.station_names[k], {x_m, panel.station_y_m[k], 0.0}});
  }
  return sites;
}

/// Returns the slice of each panel. Whole sections are as long as the longest of them; cuts have their ends.
std::vector<SliceView> views_of(const std::vector<SectionPanel>& panels,
                                const SectionPictureOptions& options) {
  std::vector<SliceView> views;
  mesh::Interval all{1e300, -1e300};
  for (const SectionPanel& panel : panels) {
    views.push_back({&panel.section,
                     mesh::slice(panel.section.earth, panel.cut, sites_of(panel), panel.stations_within_m)});
    if (panel.investigated.size() > 0) views.back().investigated = &panel.investigated;
    const std::vector<double>& y_m = panel.section.earth.grid.y_edges_m();
    if (const auto* cut = std::get_if<mesh::VerticalCut>(&panel.cut))
      views.back().u_m = {0.0, std::hypot(cut->to.x_m - cut->from.x_m, cut->to.y_m - cut->from.y_m)};
    else
      all = {std::min(all.from, y_m.front()), std::max(all.to, y_m.back())};
  }
  if (options.y_max_m > options.y_min_m) all = {options.y_min_m, options.y_max_m};
  for (std::size_t k = 0; k < panels.size(); ++k) {
    if (!is_cut(panels[k])) views[k].u_m = all;
  }
  return views;
}

void extend_over(Scales& scales, const SliceView& view, double max_depth_m) {
  const mesh::Earth& earth = view.model->earth;
  const std::vector<double>& z = earth.grid.z_edges_m();
  const double bottom = max_depth_m > 0.0 ? std::min(max_depth_m, z.back()) : z.back();
  const bool draped = earth.grid.reference() == mesh::DepthReference::surface;
  for (const auto& [u_m, surface] : view.slice.surface) {
    if (earth.grid.dimension() == 2 &&
        (u_m < earth.grid.y_edges_m().front() || u_m > earth.grid.y_edges_m().back()))
      continue;
    scales.highest_ground = std::min(scales.highest_ground, surface);
    if (earth.sea) scales.z_top = std::min(scales.z_top, earth.sea->level_m);
    scales.z_bottom = std::max(scales.z_bottom, bottom + (draped ? surface : 0.0));
    scales.level_at_zero = scales.level_at_zero && surface == 0.0;
  }
}

/// Returns the scales, and limits the views to their depths.
Scales make_scales(std::vector<SliceView>& views, const SectionPictureOptions& options) {
  Scales scales;
  scales.z_top = 1e300;
  scales.z_bottom = -1e300;
  for (const SliceView& view : views) {
    extend_over(scales, view, options.max_depth_m);
    scales.length = std::max(scales.length, view.u_m.length());
  }
  const bool is_flat =
      std::ranges::all_of(views, [](const auto& v) { return v.model->earth.surface.is_flat(); });
  const double room = is_flat ? 0.0 : headroom * (scales.z_bottom - scales.highest_ground);
  scales.z_top = std::min(scales.z_top, scales.highest_ground - room);
  for (SliceView& view : views) view.v_m.to = scales.z_bottom;
  scales.unit = length_unit(std::max(scales.length, scales.z_bottom - scales.z_top));
  const double ratio = (scales.z_bottom - scales.z_top) / scales.length;
  scales.panel_width = options.width - left_margin - right_margin;
  if (options.vertical_exaggeration > 0.0) {
    scales.panel_height = std::clamp(options.vertical_exaggeration * scales.panel_width * ratio,
                                     min_panel_height, max_panel_height);
  } else {
    scales.panel_height =
        std::clamp(scales.panel_width * ratio, usual_height, views.size() == 1 ? tallest_lone : tallest);
    scales.panel_width =
        std::clamp(scales.panel_height / ratio, std::min(narrowest, scales.panel_width), scales.panel_width);
  }
  return scales;
}

/// A panel with its slice in its frame, in which lengths have a unit.
struct Drawn {
  const SectionPanel& panel;
  const SliceView& view;
  const Scales& scales;
  Frame frame;
  [[nodiscard]] Point at(const mesh::Flat& place) const {
    return frame.at((panel.along_first_m + place.u_m) / scales.unit.metres, place.v_m / scales.unit.metres);
  }
  [[nodiscard]] std::vector<Point> line(const std::vector<mesh::Flat>& places) const {
    std::vector<Point> points;
    for (const mesh::Flat& place : places) points.push_back(at(place));
    return points;
  }
};

void draw_veil(Canvas& canvas, const Frame& frame, const Scales& scales, double below_m) {
  const double top = frame.y(below_m / scales.unit.metres);
  const double bottom = frame.box().y + frame.box().height;
  if (below_m > 0.0 && top < bottom) {
    canvas.rectangle({frame.box().x, top, frame.box().width, bottom - top}, {Color{1.0, 1.0, 1.0, 0.62}, {}});
    canvas.line({frame.box().x, top}, {frame.box().x + frame.box().width, top}, {ink, 0.8, {5.0, 4.0}});
  }
}

/// Along the cells' edges, so that it follows the surface where they do.
void draw_frame(Canvas& canvas, const Drawn& drawn, const mesh::Box& box) {
  std::vector<double> along{box.y_m.from, box.y_m.to};
  for (const mesh::Flat& place : drawn.view.slice.surface) {
    if (place.u_m > box.y_m.from && place.u_m < box.y_m.to) along.push_back(place.u_m);
  }
  std::sort(along.begin(), along.end());
  const auto at = [&](double y_m, double z_m) {
    return drawn.at({y_m, mesh::true_z_m(drawn.panel.section.earth, {0.0, y_m, z_m})});
  };
  std::vector<Point> line;
  for (const double y : along) line.push_back(at(y, box.z_m.from));
  for (std::size_t k = along.size(); k-- > 0;) line.push_back(at(along[k], box.z_m.to));
  line.push_back(line.front());
  canvas.polyline(line, {ink, 1.4, {6.0, 3.0}});
}

StationLabels labels_of(const Drawn& drawn, double names_top) {
  StationLabels labels;
  for (const mesh::SliceSite& site : drawn.view.slice.sites) {
    if (!drawn.view.u_m.contains(site.at.u_m)) continue;
    labels.names.push_back(site.name);
    labels.x.push_back(drawn.at(site.at).x);
    labels.surface_y.push_back(drawn.at(site.at).y);
  }
  labels.top = names_top;
  return labels;
}

std::string depth_label(const Scales& scales) {
  return fmt::format("{} ({})", scales.level_at_zero ? "Depth" : "Depth below datum", scales.unit.name);
}

void check(const SectionPanel& panel) {
  if (std::holds_alternative<mesh::HorizontalCut>(panel.cut))
    throw core::InvalidArgument(
        "io::report::sections_picture#not_vertical",
        "panel '{}': expected a section or a vertical cut, but the cut is horizontal; draw it on a map",
        panel.title);
  if (!is_cut(panel)) mesh::require_section(panel.section.earth, "io::report::sections_picture");
  const Eigen::Index n_cells = panel.section.earth.grid.n_cells();
  if (panel.section.values.size() != n_cells || panel.station_names.size() != panel.station_y_m.size() ||
      (!panel.station_x_m.empty() && panel.station_x_m.size() != panel.station_y_m.size())) {
    throw core::ShapeError(
        "io::report::sections_picture#wrong_panel",
        "panel '{}': expected {} resistivities and as many station names as positions, got {}; {}, {}",
        panel.title, n_cells, panel.section.values.size(), panel.station_names.size(),
        panel.station_y_m.size());
  }
  if (panel.investigated.size() != 0 && panel.investigated.size() != n_cells)
    throw core::ShapeError("io::report::sections_picture#wrong_investigated",
                           "panel '{}': expected {} cells that are investigated or not, got {}", panel.title,
                           n_cells, panel.investigated.size());
}

double label_height(const SectionPanel& panel) {
  return panel.station_names.empty() ? 4.0 : station_label_height(panel.station_names) + 6.0;
}

enum class AlongAxis { shown, hidden };

Frame frame_of(const SectionPanel& panel, const SliceView& view, const Scales& scales, double top,
               AlongAxis along) {
  const bool shown = along == AlongAxis::shown;
  const double first = panel.along_first_m, width = scales.panel_width * view.u_m.length() / scales.length;
  const Axis x{(first + view.u_m.from) / scales.unit.metres,
               (first + view.u_m.to) / scales.unit.metres,
               Scale::linear,
               shown ? fmt::format("{} ({})", panel.along, scales.unit.name) : "",
               shown ? TickLabels::shown : TickLabels::hidden,
               std::max(3, static_cast<int>(width / width_of_tick))};
  const Axis depth{scales.z_top / scales.unit.metres, scales.z_bottom / scales.unit.metres, Scale::linear,
                   depth_label(scales)};
  return {{left_margin, top, width, scales.panel_height}, x, depth};
}

void draw_panel(Canvas& canvas, const Drawn& drawn, const CellColours& colours,
                const SectionPictureOptions& options) {
  const auto& [panel, view, scales, frame] = drawn;
  const auto place = [&](const mesh::Flat& at) { return drawn.at(at); };
  canvas.text({left_margin, frame.box().y - label_height(panel) - 6.0}, panel.title,
              {.size = 14.0, .weight = Weight::bold});
  canvas.begin_clip(frame.box());
  draw_slice(canvas, view, colours, place);
  draw_veil(canvas, frame, scales, options.mask_below_m);
  if (options.contours) draw_slice_contours(canvas, view, frame.box(), place);
  if (panel.investigated.size() > 0) draw_unseen(canvas, view, panel.investigated, frame.box(), place);
  for (const NamedBox& each : panel.frames) draw_frame(canvas, drawn, each.box);
  if (!panel.section.earth.surface.is_flat()) canvas.polyline(drawn.line(view.slice.surface), {ink, 1.2, {}});
  canvas.end_clip();
  frame.draw(canvas);
  draw_stations(canvas, labels_of(drawn, frame.box().y - 12.0));
}

/// Returns the ends that all panels on a map have in common.
LineEnds common_ends(const std::vector<SectionPanel>& panels) {
  LineEnds ends;
  for (const SectionPanel& panel : panels) {
    if (panel.ends == LineEnds{}) continue;
    if (ends != LineEnds{} && ends != panel.ends) return {};
    ends = panel.ends;
  }
  return ends;
}

/// Writes the directions of both ends beside the name of the axis, and below it what the scales hide.
void draw_footer(Canvas& canvas, const Scales& scales, const std::string& remark, double y,
                 const LineEnds& ends) {
  const double right = left_margin + scales.panel_width;
  canvas.text({left_margin, y}, ends.first, {.size = 12.0, .weight = Weight::bold});
  canvas.text({right, y}, ends.last, {.size = 12.0, .horizontal = Align::end, .weight = Weight::bold});
  canvas.text({right, y + remark_height},
              fmt::format("{}vertical exaggeration {} : 1", remark, plain_number(scales.exaggeration(), 2)),
              {.size = 10.0, .color = grey, .horizontal = Align::end});
}

}  // namespace

LineEnds ends_of(const mesh::Frame& frame) {
  if (!frame.is_on_map()) return {};
  constexpr std::array names{"N", "NE", "E", "SE", "S", "SW", "W", "NW"};
  const long eighth = std::lround(frame.azimuth_deg / 45.0);
  const auto name = [&](long turn) { return names[static_cast<std::size_t>(((turn % 8) + 8) % 8)]; };
  return {name(eighth + 4), name(eighth)};
}

Canvas sections_picture(const std::vector<SectionPanel>& panels, const SectionPictureOptions& options) {
  if (panels.empty()) {
    throw core::InvalidArgument("io::report::sections_picture#no_panel",
                                "expected at least one panel, but the list is empty");
  }
  std::for_each(panels.begin(), panels.end(), check);
  std::vector<SliceView> views = views_of(panels, options);
  const Scales scales = make_scales(views, options);
  const CellColours colours = colours_of(views, options.quantity, options.min_log10, options.max_log10);
  const bool own_axes = std::ranges::any_of(panels, is_cut);
  const double gap = own_axes ? bottom_margin : panel_gap;
  double height = bottom_margin + remark_height + panel_gap - gap;
  for (const SectionPanel& panel : panels)
    height += title_height + label_height(panel) + scales.panel_height + gap;
  Canvas canvas(left_margin + scales.panel_width + right_margin, height);
  double top = 0.0, first_frame_top = 0.0;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    top += title_height + label_height(panels[k]);
    first_frame_top = k == 0 ? top : first_frame_top;
    const bool has_axis = own_axes || k + 1 == panels.size();
    const Frame frame =
        frame_of(panels[k], views[k], scales, top, has_axis ? AlongAxis::shown : AlongAxis::hidden);
    draw_panel(canvas, {panels[k], views[k], scales, frame}, colours, options);
    top += scales.panel_height + gap;
  }
  const double all_frames = top - gap - first_frame_top;
  const double bar_height = std::min(all_frames, 420.0);
  draw_colour_bar(canvas,
                  {left_margin + scales.panel_width + 16.0, first_frame_top + 0.5 * (all_frames - bar_height),
                   16.0, bar_height},
                  colours.map(), colours.axis(), colours.clipped());
  const std::string remark =
      (colours.gaps ? "white: no value;  " : "") + (options.remark.empty() ? "" : options.remark + ";  ");
  draw_footer(canvas, scales, remark, top - gap + 33.0, common_ends(panels));
  return canvas;
}

SectionPanel panel_of(const inversion::Outcome& outcome, std::string title, Eigen::VectorXd values,
                      Sites sites) {
  SectionPanel panel{std::move(title), outcome.section(std::move(values)), {}, {}};
  panel.ends = ends_of(outcome.frame);
  if (outcome.findings.prior) {
    for (const inversion::prior::RegionFindings& region : outcome.findings.prior->regions)
      panel.frames.push_back(
          {region.name, {.y_m = {region.y_from_m, region.y_to_m}, .z_m = {region.z_from_m, region.z_to_m}}});
  }
  if (outcome.findings.uncertainty && outcome.findings.uncertainty->posterior)
    panel.investigated = outcome.findings.uncertainty->posterior->investigated;
  const bool has_places = outcome.sites.has("name") && outcome.sites.has("y_m");
  if (sites == Sites::hidden || !has_places) return panel;
  panel.station_names = outcome.sites.texts("name");
  panel.station_y_m = outcome.sites.numbers("y_m");
  return panel;
}

Canvas section_picture(const inversion::Outcome& outcome, const SectionPictureOptions& options) {
  const std::vector<double>& z_m = outcome.model.earth.grid.z_edges_m();
  std::string part;
  if (options.max_depth_m > 0.0 && options.max_depth_m < z_m.back()) {
    const std::vector<double>& y_m = outcome.model.earth.grid.y_edges_m();
    const double depth_m = options.max_depth_m - z_m.front();
    const bool is_part = options.y_max_m > options.y_min_m;
    const double width_m = is_part ? options.y_max_m - options.y_min_m : y_m.back() - y_m.front();
    const LengthUnit unit = length_unit(std::max(width_m, depth_m));
    part = fmt::format(", upper {} {}", plain_number(depth_m / unit.metres, 3), unit.name);
  }
  const std::string title =
      fmt::format("{} section{}, rms {:.2f}", title_of(outcome.model.property), part, outcome.ending.rms);
  return sections_picture({panel_of(outcome, title, outcome.model.values, Sites::shown)}, options);
}

CellColours section_colours(const inversion::Outcome& outcome) {
  const std::vector<SectionPanel> panels{panel_of(outcome, {}, outcome.model.values, Sites::hidden)};
  check(panels.front());
  const SectionPictureOptions options = shown_part(outcome).picture();
  std::vector<SliceView> views = views_of(panels, options);
  static_cast<void>(make_scales(views, options));
  return colours_of(views, SectionQuantity::resistivity, NAN, NAN);
}

Canvas prior_picture_of(const inversion::Outcome& outcome) {
  return sections_picture({panel_of(outcome, "Final model", outcome.model.values, Sites::shown),
                           panel_of(outcome, "Nearest model of the prior",
                                    outcome.findings.prior->decoded_log10_resistivity, Sites::hidden)},
                          shown_part(outcome).picture());
}

}  // namespace lodestone::io::report
