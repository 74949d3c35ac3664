// SPDX-License-Identifier: Apache-2.0
#include "io/report/slice.hpp"

#include "engine/core/error.hpp"
#include "io/report/axes.hpp"
#include "io/report/hatch.hpp"
#include "io/report/property.hpp"
#include "physics/mesh/slice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double left_margin = 66.0, right_margin = 106.0, bottom_margin = 46.0, panel_gap = 14.0,
                 title_height = 26.0;
constexpr double default_panel_height = 250.0, min_panel_height = 90.0, max_panel_height = 720.0;
constexpr Color water{0.74, 0.85, 0.93};
constexpr double ends_width = 34.0;  // of the direction at an end of the profile
constexpr double headroom = 0.06;    // above the highest point of a topography, for the triangles

/// Scales that all panels share.
struct Scales {
  double y_min = 0.0, y_max = 1.0;      // along the profile, m
  double z_top = 0.0, z_bottom = 1.0;   // m, down
  double log_min = 0.0, log_max = 4.0;  // of the colours, as `values_in_picture`
  double least = std::numeric_limits<double>::quiet_NaN(),
         most = std::numeric_limits<double>::quiet_NaN();  // log10 of what is seen
  bool gaps = false;                                       // cells without a value are seen
  LengthUnit unit;                                         // of both axes
  double panel_width = 1.0, panel_height = 1.0;
  bool level_at_zero = true;
  SectionQuantity quantity = SectionQuantity::resistivity;
  mesh::Property property{};
  [[nodiscard]] bool is_log10() const { return shows_log10(property); }
  [[nodiscard]] const ColourMap& colours() const {
    return quantity == SectionQuantity::deviation || !is_resistivity(property) ? phase_colours()
                                                                               : resistivity_colours();
  }
  [[nodiscard]] Axis axis() const {
    if (quantity == SectionQuantity::deviation)
      return {log_max, log_min, Scale::linear,
              fmt::format("Standard deviation ({})", is_log10() ? "decades" : property.units)};
    if (!is_log10()) return {log_max, log_min, Scale::linear, label_of(property)};
    return {std::pow(10.0, log_max), std::pow(10.0, log_min), Scale::log10, label_of(property)};
  }
  [[nodiscard]] double exaggeration() const {
    return (panel_height / (z_bottom - z_top)) / (panel_width / (y_max - y_min));
  }
};

void extend_over(Scales& scales, const mesh::Earth& earth, double max_depth_m) {
  const auto& y = earth.grid.y_edges_m();
  const auto& z = earth.grid.z_edges_m();
  scales.y_min = std::min(scales.y_min, y.front());
  scales.y_max = std::max(scales.y_max, y.back());
  std::vector<double> along = earth.surface.y_m();
  along.insert(along.end(), {y.front(), y.back()});
  const double bottom = max_depth_m > 0.0 ? std::min(max_depth_m, z.back()) : z.back();
  for (const double at : along) {
    const double surface = earth.surface.z_at(0.0, std::clamp(at, y.front(), y.back()));
    scales.z_top = std::min(scales.z_top, earth.sea ? std::min(surface, earth.sea->level_m) : surface);
    scales.z_bottom = std::max(
        scales.z_bottom, bottom + (earth.grid.reference() == mesh::DepthReference::surface ? surface : 0.0));
    scales.level_at_zero = scales.level_at_zero && surface == 0.0;
  }
}

/// Takes the 2nd to 98th percentile of what is seen, widened to half decades.
void choose_colours(Scales& scales, const std::vector<SectionPanel>& panels) {
  std::vector<double> seen;
  for (const SectionPanel& panel : panels) {
    const mesh::TensorGrid& grid = panel.section.earth.grid;
    const Eigen::VectorXd values = values_in_picture(panel.section);
    for (int iz = 0; iz < grid.n_z() && grid.z_edges_m()[static_cast<std::size_t>(iz)] < scales.z_bottom;
         ++iz) {
      for (int iy = 0; iy < grid.n_y(); ++iy) {
        const double value = values[grid.index(iz, iy)];
        if (!(grid.y_centre_m(iy) > scales.y_min && grid.y_centre_m(iy) < scales.y_max)) continue;
        if (std::isfinite(value))
          seen.push_back(value);
        else
          scales.gaps = true;
      }
    }
  }
  if (seen.empty()) {
    return;
  }
  std::sort(seen.begin(), seen.end());
  scales.least = seen.front();
  scales.most = seen.back();
  const auto percentile = [&](double part) {
    return seen[static_cast<std::size_t>(part * static_cast<double>(seen.size() - 1))];
  };
  if (!scales.is_log10()) {
    scales.log_min = percentile(0.02);
    scales.log_max = percentile(0.98) > scales.log_min ? percentile(0.98) : scales.log_min + 1.0;
    return;
  }
  scales.log_min = std::floor(2.0 * percentile(0.02)) / 2.0;
  scales.log_max = std::ceil(2.0 * percentile(0.98)) / 2.0;
  const double missing = std::max(0.0, 1.0 - (scales.log_max - scales.log_min));
  scales.log_min -= 0.5 * missing;
  scales.log_max += 0.5 * missing;
}

Scales make_scales(const std::vector<SectionPanel>& panels, const SectionPictureOptions& options) {
  Scales scales;
  scales.quantity = options.quantity;
  scales.property = panels.front().section.property;
  scales.y_min = scales.z_top = 1e300;
  scales.y_max = scales.z_bottom = -1e300;
  for (const SectionPanel& panel : panels) {
    extend_over(scales, panel.section.earth, options.max_depth_m);
  }
  if (!std::all_of(panels.begin(), panels.end(),
                   [](const SectionPanel& panel) { return panel.section.earth.surface.is_flat(); })) {
    scales.z_top -= headroom * (scales.z_bottom - scales.z_top);
  }
  if (options.y_max_m > options.y_min_m) {
    scales.y_min = options.y_min_m;
    scales.y_max = options.y_max_m;
  }
  scales.unit = length_unit(std::max(scales.y_max - scales.y_min, scales.z_bottom - scales.z_top));
  choose_colours(scales, panels);
  scales.log_min = std::isfinite(options.min_log10) ? options.min_log10 : scales.log_min;
  scales.log_max = std::isfinite(options.max_log10) ? options.max_log10 : scales.log_max;
  scales.panel_width = options.width - left_margin - right_margin;
  scales.panel_height = default_panel_height;
  if (options.vertical_exaggeration > 0.0) {
    scales.panel_height = std::clamp(options.vertical_exaggeration * scales.panel_width *
                                         (scales.z_bottom - scales.z_top) / (scales.y_max - scales.y_min),
                                     min_panel_height, max_panel_height);
  }
  return scales;
}

Point place_of(const Frame& frame, const Scales& scales, const mesh::Flat& place) {
  return frame.at(place.u_m / scales.unit.metres, place.v_m / scales.unit.metres);
}

void draw_cells(Canvas& canvas, const Frame& frame, const Scales& scales, const mesh::Model& section,
                const mesh::Slice& slice) {
  const ColourMap& map = scales.colours();
  const Eigen::VectorXd values = values_in_picture(section);
  for (const mesh::SlicePiece& piece : slice.pieces) {
    const double value = values[piece.cell];
    if (!std::isfinite(value) || std::min(piece.corners[0].v_m, piece.corners[1].v_m) > scales.z_bottom) {
      continue;
    }
    const auto at = [&](std::size_t corner) { return place_of(frame, scales, piece.corners[corner]); };
    canvas.cell({at(0), at(1), at(2), at(3)},
                map.at((value - scales.log_min) / (scales.log_max - scales.log_min)));
  }
}

std::vector<Point> line_of(const Frame& frame, const Scales& scales, const std::vector<mesh::Flat>& places) {
  std::vector<Point> line;
  for (const mesh::Flat& place : places) line.push_back(place_of(frame, scales, place));
  return line;
}

void draw_investigation(Canvas& canvas, const Frame& frame, const Scales& scales, const SectionPanel& panel) {
  if (panel.investigated.size() == 0) return;
  const auto at = [&](double y_m, double depth_m) {
    return frame.at(y_m / scales.unit.metres, depth_m / scales.unit.metres);
  };
  draw_unseen(canvas, {frame.box(), at, scales.y_min, scales.y_max, scales.z_top, scales.z_bottom},
              panel.section.earth, panel.investigated);
}

void draw_veil(Canvas& canvas, const Frame& frame, const Scales& scales, double below_m) {
  const double top = frame.y(below_m / scales.unit.metres);
  const double bottom = frame.box().y + frame.box().height;
  if (below_m > 0.0 && top < bottom) {
    canvas.rectangle({frame.box().x, top, frame.box().width, bottom - top}, {Color{1.0, 1.0, 1.0, 0.62}, {}});
    canvas.line({frame.box().x, top}, {frame.box().x + frame.box().width, top}, {ink, 0.8, {5.0, 4.0}});
  }
}

/// Along the cells' edges, so that it follows the surface where they do.
void draw_frame(Canvas& canvas, const Frame& axes, const Scales& scales, const mesh::Earth& earth,
                const mesh::Slice& slice, const mesh::Box& box) {
  std::vector<double> along{box.y_m.from, box.y_m.to};
  for (const mesh::Flat& place : slice.surface) {
    if (place.u_m > box.y_m.from && place.u_m < box.y_m.to) along.push_back(place.u_m);
  }
  std::sort(along.begin(), along.end());
  const auto at = [&](double y_m, double z_m) {
    return place_of(axes, scales, {y_m, mesh::true_z_m(earth, {0.0, y_m, z_m})});
  };
  std::vector<Point> line;
  for (const double y : along) line.push_back(at(y, box.z_m.from));
  for (std::size_t k = along.size(); k-- > 0;) line.push_back(at(along[k], box.z_m.to));
  line.push_back(line.front());
  canvas.polyline(line, {ink, 1.4, {6.0, 3.0}});
}

StationLabels labels_of(const SectionPanel& panel, const Frame& frame, const Scales& scales,
                        double names_top) {
  StationLabels labels;
  for (std::size_t k = 0; k < panel.station_names.size(); ++k) {
    const double y = panel.station_y_m[k];
    if (y < scales.y_min || y > scales.y_max) {
      continue;
    }
    labels.names.push_back(panel.station_names[k]);
    labels.x.push_back(frame.x(y / scales.unit.metres));
    labels.surface_y.push_back(frame.y(panel.section.earth.surface.z_at(0.0, y) / scales.unit.metres));
  }
  labels.top = names_top;
  return labels;
}

std::string depth_label(const Scales& scales) {
  return fmt::format("{} ({})", scales.level_at_zero ? "Depth" : "Depth below datum", scales.unit.name);
}

void check(const SectionPanel& panel) {
  mesh::require_section(panel.section.earth, "io::report::sections_picture");
  const Eigen::Index n_cells = panel.section.earth.grid.n_cells();
  if (panel.section.values.size() != n_cells || panel.station_names.size() != panel.station_y_m.size()) {
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

void draw_panel(Canvas& canvas, const SectionPanel& panel, const Scales& scales, double frame_top,
                const SectionPictureOptions& options, bool is_last) {
  const Axis x{scales.y_min / scales.unit.metres,
               scales.y_max / scales.unit.metres,
               Scale::linear,
               is_last ? fmt::format("Distance along profile ({})", scales.unit.name) : "",
               is_last ? TickLabels::shown : TickLabels::hidden,
               10};
  const Axis depth{scales.z_top / scales.unit.metres, scales.z_bottom / scales.unit.metres, Scale::linear,
                   depth_label(scales)};
  const Frame frame({left_margin, frame_top, scales.panel_width, scales.panel_height}, x, depth);
  canvas.text({left_margin, frame_top - label_height(panel) - 6.0}, panel.title,
              {.size = 14.0, .weight = Weight::bold});
  canvas.begin_clip(frame.box());
  const mesh::Earth& earth = panel.section.earth;
  const mesh::Slice slice = mesh::slice(earth);
  draw_cells(canvas, frame, scales, panel.section, slice);
  for (const auto& outline : slice.water) canvas.polygon(line_of(frame, scales, outline), {water, {}});
  draw_veil(canvas, frame, scales, options.mask_below_m);
  draw_investigation(canvas, frame, scales, panel);
  for (const NamedBox& each : panel.frames) draw_frame(canvas, frame, scales, earth, slice, each.box);
  canvas.end_clip();
  if (!panel.section.earth.surface.is_flat()) {
    canvas.polyline(line_of(frame, scales, slice.surface), {ink, 1.2, {}});
  }
  frame.draw(canvas);
  draw_stations(canvas, labels_of(panel, frame, scales, frame_top - 12.0));
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

/// Writes the directions of both ends below the axis, and to the left of the last one what the scales hide.
void draw_footer(Canvas& canvas, const Scales& scales, double y, const LineEnds& ends) {
  const double right = left_margin + scales.panel_width;
  canvas.text({left_margin, y}, ends.first, {.size = 12.0, .weight = Weight::bold});
  canvas.text({right, y}, ends.last, {.size = 12.0, .horizontal = Align::end, .weight = Weight::bold});
  canvas.text({ends.last.empty() ? right : right - ends_width, y},
              fmt::format("{}vertical exaggeration {:.2g} : 1", scales.gaps ? "white: no value;  " : "",
                          scales.exaggeration()),
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
  double height = bottom_margin;
  std::for_each(panels.begin(), panels.end(), check);
  const Scales scales = make_scales(panels, options);
  for (const SectionPanel& panel : panels) {
    height += title_height + label_height(panel) + scales.panel_height + panel_gap;
  }
  Canvas canvas(options.width, height);
  double top = 0.0, first_frame_top = 0.0;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    top += title_height + label_height(panels[k]);
    first_frame_top = k == 0 ? top : first_frame_top;
    draw_panel(canvas, panels[k], scales, top, options, k + 1 == panels.size());
    top += scales.panel_height + panel_gap;
  }
  const double all_frames = top - panel_gap - first_frame_top;
  const double bar_height = std::min(all_frames, 420.0);
  draw_colour_bar(canvas,
                  {left_margin + scales.panel_width + 16.0, first_frame_top + 0.5 * (all_frames - bar_height),
                   16.0, bar_height},
                  scales.colours(), scales.axis(),
                  Clipped::of(scales.least, scales.most, scales.log_min, scales.log_max));
  draw_footer(canvas, scales, top - panel_gap + 33.0, common_ends(panels));
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
    part = fmt::format(", upper {:.3g} {}", depth_m / unit.metres, unit.name);
  }
  const std::string title =
      fmt::format("{} section{}, rms {:.2f}", title_of(outcome.model.property), part, outcome.ending.rms);
  return sections_picture({panel_of(outcome, title, outcome.model.values, Sites::shown)}, options);
}

Canvas prior_picture_of(const inversion::Outcome& outcome) {
  return sections_picture({panel_of(outcome, "Final model", outcome.model.values, Sites::shown),
                           panel_of(outcome, "Nearest model of the prior",
                                    outcome.findings.prior->decoded_log10_resistivity, Sites::hidden)});
}

}  // namespace lodestone::io::report
