// SPDX-License-Identifier: Apache-2.0
#include "io/report/survey_maps.hpp"

#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace lodestone::io::report {

namespace mesh = physics::mesh;
namespace mt = physics::mt;

namespace {

constexpr double lone_margin_m = 1000.0;
constexpr int columns_of_maps = 2;
constexpr double tall_map = 780.0;  // of sites alone
constexpr double site_radius = 3.2, dot_radius = 1.6;
constexpr double least_ellipse = 3.0, largest_ellipse = 13.0;
constexpr double line_part = 4.0;  // of a profile, which names avoid
constexpr double reference_length = 0.5;
constexpr double least_reference = 30.0, largest_reference = 44.0;  // of its arrow in the picture

const Color& real_colour = tm_colour;
const Color& imaginary_colour = te_colour;

bool has_tipper(const mt::StationData& station) {
  return std::ranges::any_of(station.rows, [](const mt::StationRow& row) {
    return !row.is_missing(mt::Element::tzx) || !row.is_missing(mt::Element::tzy);
  });
}

void draw_arrow(Canvas& canvas, Point from, double right, double up, const Color& colour) {
  const double length = std::hypot(right, up);
  if (!(length > 0.5)) return;
  const Point to{from.x + right, from.y - up};
  const double head = std::min(6.0, 0.5 * length), x = right / length, y = -up / length;
  const Point neck{to.x - head * x, to.y - head * y};
  canvas.line(from, neck, {colour, 1.3, {}});
  canvas.polygon({to,
                  {neck.x - 0.42 * head * y, neck.y + 0.42 * head * x},
                  {neck.x + 0.42 * head * y, neck.y - 0.42 * head * x}},
                 {colour, {}});
}

/// Draws an arrow of a station whose north has this azimuth in the picture.
void draw_arrow(Canvas& canvas, Point from, const mt::InductionArrow& arrow, double north_deg, double scale,
                const Color& colour) {
  const double c = std::cos(north_deg / mt::deg_per_rad), s = std::sin(north_deg / mt::deg_per_rad);
  draw_arrow(canvas, from, scale * (arrow.x * s + arrow.y * c), scale * (arrow.x * c - arrow.y * s), colour);
}

/// Draws the meaning and the scale of the arrows to the right of the first row of maps.
void draw_key(Canvas& canvas, const Box& last_box, double reference) {
  const double left = last_box.x + last_box.width + 16.0;
  double y = last_box.y + 24.0;
  for (const auto& [name, colour] : {std::pair{"real", real_colour}, {"imaginary", imaginary_colour}}) {
    draw_arrow(canvas, {left, y}, reference, 0.0, colour);
    canvas.text({left, y + 8.0}, name, {.size = 10.0, .vertical = Align::start});
    y += 40.0;
  }
  canvas.text({left, y - 4.0}, fmt::format("length {:g}", reference_length),
              {.size = 10.0, .vertical = Align::start});
}

/// Draws the profile with the distances at its ends. returns: the boxes that these take, and those along the
/// line, which names avoid.
NamesAround draw_profile(Canvas& canvas, const SurveySheet& sheet, const SurveyLine& line) {
  const Point from = sheet.at(0, line.from.north_m, line.from.east_m),
              to = sheet.at(0, line.to.north_m, line.to.east_m);
  canvas.line(from, to, {grey, 1.0, {6.0, 4.0}});
  const LengthUnit unit = length_unit(line.y_m.back() - line.y_m.front());
  const double length = std::max(1.0, std::hypot(to.x - from.x, to.y - from.y));
  const TextStyle style{.size = 9.5, .color = grey, .horizontal = Align::middle, .vertical = Align::middle};
  NamesAround around;
  const int n_parts = static_cast<int>(length / line_part);
  for (int k = 0; k <= n_parts; ++k) {
    const double part = k * line_part / length;
    around.avoided.push_back({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y), 1.0, 1.0});
  }
  for (const auto& [end, y_m, side] :
       {std::tuple{from, line.y_m.front(), -1.0}, {to, line.y_m.back(), 1.0}}) {
    const std::string text = fmt::format("{} {}", plain_number(std::round(y_m / unit.metres)), unit.name);
    const double half = 0.5 * text_width(text, style);
    const Point at{end.x + side * (half + 6.0) * (to.x - from.x) / length,
                   end.y + side * 12.0 * (to.y - from.y) / length};
    canvas.text(at, text, style);
    around.taken.push_back({at.x - half, at.y - 6.0, 2.0 * half, 12.0});
  }
  return around;
}

std::string sites_text(std::size_t n) { return fmt::format("{} site{}", n, n == 1 ? "" : "s"); }

}  // namespace

SurveySheet::SurveySheet(const SurveyMap& map, int n_maps, int n_columns, double tallest)
    : map_(map),
      extent_(extent_around(map.sites, lone_margin_m)),
      sheet_(extent_, MapAxes{}, n_maps, n_columns, tallest) {
  if (map.projection)
    graticule_.emplace(*map.projection, extent_,
                       std::max(sheet_.frame(0).box().width, sheet_.frame(0).box().height) > 500.0 ? 7 : 5);
}

std::vector<Point> SurveySheet::places(int k) const {
  std::vector<Point> places;
  for (const mesh::Site& site : map_.sites) places.push_back(at(k, site.at.x_m, site.at.y_m));
  return places;
}

void SurveySheet::draw_ground(Canvas& canvas, int k) const {
  if (!graticule_) return sheet_.frame(k).draw_grid(canvas);
  graticule_->draw_lines(canvas, box(k),
                         [&](double north_m, double east_m) { return at(k, north_m, east_m); });
}

Box SurveySheet::draw_frame(Canvas& canvas, int k, const std::string& title) const {
  const Box taken = draw_scale_bar(canvas, box(k), extent_.y_m.length() / box(k).width, places(k));
  if (!graticule_) {
    sheet_.draw_frame(canvas, k, title);
    return taken;
  }
  const auto place = [&](double north_m, double east_m) { return at(k, north_m, east_m); };
  canvas.rectangle(box(k), {{}, Stroke{ink, 1.0, {}}});
  sheet_.draw_map_title(canvas, k, title);
  if (sheet_.is_at_bottom(k)) graticule_->draw_longitudes(canvas, box(k), place);
  if (sheet_.is_at_left(k)) graticule_->draw_latitudes(canvas, box(k), place);
  return taken;
}

SiteMap site_map(const std::vector<mt::StationData>& stations, const SurveyMap& map,
                 const std::optional<SurveyLine>& line) {
  const SurveySheet sheet(map, 1, 1, tall_map);
  SiteMap out{sheet.canvas()};
  sheet.draw_ground(out.picture, 0);
  sheet.sheet().draw_title(out.picture, "Map of " + sites_text(map.sites.size()));
  NamesAround around;
  if (line && line->half_width_m) around = draw_profile(out.picture, sheet, *line);
  const std::vector<Point> places = sheet.places(0);
  const double radius = mark_radius(places, dot_radius, site_radius);
  std::vector<SiteMark> marks;
  for (std::size_t k = 0; k < places.size(); ++k) {
    const bool filled = has_tipper(stations[map.stations[k]]);
    draw_marker(out.picture, places[k], {Marker::circle, tm_colour, !filled, radius, map.sites[k].name});
    marks.push_back({map.sites[k].name, places[k]});
  }
  around.taken.push_back(sheet.draw_frame(out.picture, 0, ""));
  out.n_names_left_out = draw_site_names(out.picture, marks, radius, sheet.box(0), around);
  return out;
}

Canvas ellipse_maps(const std::vector<mt::StationData>& stations, const SurveyMap& map,
                    const std::vector<double>& periods_s, EllipseFill fill) {
  const SurveySheet sheet(map, static_cast<int>(periods_s.size()), columns_of_maps, MapSheet::usual_height);
  Canvas canvas = sheet.canvas();
  sheet.sheet().draw_title(canvas, "Phase tensors");
  EllipseColours colours(fill);
  for (int m = 0; m < static_cast<int>(periods_s.size()); ++m) {
    const double period_s = periods_s[static_cast<std::size_t>(m)];
    const std::vector<Point> places = sheet.places(m);
    const double radius = mark_radius(places, least_ellipse, largest_ellipse);
    sheet.draw_ground(canvas, m);
    std::size_t n = 0;
    canvas.begin_clip(sheet.box(m));
    for (std::size_t k = 0; k < places.size(); ++k) {
      const auto tensor = tensor_at(stations[map.stations[k]], period_s);
      if (!tensor) {
        canvas.circle(places[k], 1.2, {grey, {}});
        continue;
      }
      colours.draw(canvas, places[k], radius, *tensor, tensor->azimuth_deg + map.north_deg[k]);
      ++n;
    }
    canvas.end_clip();
    sheet.draw_frame(canvas, m, fmt::format("{}: {}", period_text(period_s), sites_text(n)));
  }
  colours.draw_bar(canvas, sheet.sheet().colour_bar());
  return canvas;
}

Canvas arrow_maps(const std::vector<mt::StationData>& stations, const SurveyMap& map,
                  const std::vector<double>& periods_s, mt::ArrowConvention convention) {
  const SurveySheet sheet(map, static_cast<int>(periods_s.size()), columns_of_maps, MapSheet::usual_height);
  Canvas canvas = sheet.canvas();
  sheet.sheet().draw_title(canvas, "Induction arrows",
                           convention == mt::ArrowConvention::parkinson
                               ? "convention of Parkinson: real arrows point towards conductors"
                               : "convention of Wiese: real arrows point away from conductors");
  const double reference =
      std::clamp(4.0 * mark_radius(sheet.places(0), 0.0, 100.0), least_reference, largest_reference);
  for (int m = 0; m < static_cast<int>(periods_s.size()); ++m) {
    const double period_s = periods_s[static_cast<std::size_t>(m)];
    const std::vector<Point> places = sheet.places(m);
    sheet.draw_ground(canvas, m);
    std::size_t n = 0, n_long = 0;
    canvas.begin_clip(sheet.box(m));
    for (std::size_t k = 0; k < places.size(); ++k) {
      canvas.circle(places[k], 1.2, {grey, {}});
      const auto rows = mt::interpolated(stations[map.stations[k]].rows, {1.0 / period_s});
      const auto arrows = mt::induction_arrows(rows.front(), convention);
      if (!arrows) continue;
      if (std::max(arrows->real.length(), arrows->imaginary.length()) > longest_arrow) {
        ++n_long;
        continue;
      }
      const double scale = reference / reference_length;
      draw_arrow(canvas, places[k], arrows->imaginary, map.north_deg[k], scale, imaginary_colour);
      draw_arrow(canvas, places[k], arrows->real, map.north_deg[k], scale, real_colour);
      ++n;
    }
    canvas.end_clip();
    const std::string left_out =
        n_long > 0 ? fmt::format(", {} above {:g} left out", n_long, longest_arrow) : std::string();
    sheet.draw_frame(canvas, m, fmt::format("{}: {}{}", period_text(period_s), sites_text(n), left_out));
  }
  const int last_of_row = std::min(columns_of_maps, static_cast<int>(periods_s.size())) - 1;
  draw_key(canvas, sheet.box(last_of_row), reference);
  return canvas;
}

}  // namespace lodestone::io::report
