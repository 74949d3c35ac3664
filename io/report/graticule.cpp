// SPDX-License-Identifier: Apache-2.0
#include "io/report/graticule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr Color line_colour{0.80, 0.84, 0.88};
constexpr int n_parts = 32;  // of a line, each of which is straight
constexpr double label_size = 10.0, tick = 5.0;
constexpr std::array steps_deg{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                               0.2,    0.5,    1.0,    2.0,   5.0,   10.0,  20.0, 30.0, 45.0};

std::vector<double> multiples(const physics::mesh::Interval& range, double step) {
  std::vector<double> out;
  for (double k = std::ceil(range.from / step); k * step <= range.to; ++k) out.push_back(k * step);
  return out;
}

/// Returns the least step that gives at most so many lines, or a smaller one where that gives fewer than two.
double step_of(const physics::mesh::Interval& range_deg, int n_lines) {
  const auto enough =
      std::ranges::find_if(steps_deg, [&](double step) { return range_deg.length() / step <= n_lines; });
  if (enough == steps_deg.end()) return steps_deg.back();
  // Lines are bent, so that not all of those near the ends of the range reach the border.
  const double margin = 0.06 * range_deg.length();
  auto step = enough;
  while (step != steps_deg.begin() &&
         multiples({range_deg.from + margin, range_deg.to - margin}, *step).size() < 2)
    --step;
  return *step;
}

std::string label_of(double degrees, double step_deg, const char* positive, const char* negative) {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step_deg) - 1e-9)));
  const char* side = std::abs(degrees) < 1e-9 ? "" : degrees > 0.0 ? positive : negative;
  return fmt::format("{:.{}f}°{}{}", std::abs(degrees), decimals, *side == '\0' ? "" : " ", side);
}

/// Longitudes and latitudes that a map covers; longitudes may pass 180°.
struct Ranges {
  physics::mesh::Interval longitude_deg{INFINITY, -INFINITY}, latitude_deg{INFINITY, -INFINITY};
};

Ranges ranges_of(const geodesy::Projection& projection, const MapExtent& extent) {
  std::vector<mt::PlanePoint> border{
      {extent.x_m.from + 0.5 * extent.x_m.length(), extent.y_m.from + 0.5 * extent.y_m.length()}};
  for (int k = 0; k <= n_parts; ++k) {
    const double part = static_cast<double>(k) / n_parts;
    const double north = extent.x_m.from + part * extent.x_m.length(),
                 east = extent.y_m.from + part * extent.y_m.length();
    border.insert(
        border.end(),
        {{north, extent.y_m.from}, {north, extent.y_m.to}, {extent.x_m.from, east}, {extent.x_m.to, east}});
  }
  const std::vector<geodesy::GeoPoint> points = projection.to_geographic(border);
  const double middle = points.front().longitude_deg;
  Ranges ranges;
  for (const geodesy::GeoPoint& each : points) {
    const double longitude = middle + std::remainder(each.longitude_deg - middle, 360.0);
    ranges.longitude_deg = {std::min(ranges.longitude_deg.from, longitude),
                            std::max(ranges.longitude_deg.to, longitude)};
    ranges.latitude_deg = {std::min(ranges.latitude_deg.from, each.latitude_deg),
                           std::max(ranges.latitude_deg.to, each.latitude_deg)};
  }
  // Lines must pass the border, also where that is as far as they go.
  for (physics::mesh::Interval* each : {&ranges.longitude_deg, &ranges.latitude_deg}) {
    const double margin = 0.02 * each->length();
    *each = {each->from - margin, each->to + margin};
  }
  return ranges;
}

/// Returns where a line passes a value of one coordinate, if it does.
std::optional<Point> crossing(const std::vector<Point>& points, double Point::*coordinate, double value) {
  for (std::size_t k = 1; k < points.size(); ++k) {
    const double a = points[k - 1].*coordinate - value, b = points[k].*coordinate - value;
    if ((a > 0.0) == (b > 0.0)) continue;
    const double part = a / (a - b);
    return Point{points[k - 1].x + part * (points[k].x - points[k - 1].x),
                 points[k - 1].y + part * (points[k].y - points[k - 1].y)};
  }
  return {};
}

std::vector<Point> in_picture(const std::vector<mt::PlanePoint>& line, const PlaceOnMap& place) {
  std::vector<Point> points;
  for (const mt::PlanePoint& each : line) points.push_back(place(each.north_m, each.east_m));
  return points;
}

}  // namespace

Graticule::Graticule(const geodesy::Projection& projection, const MapExtent& extent, int n_lines) {
  constexpr double widest_m = 6e6;  // beyond, corners of the map may have no place on the globe
  if (std::max(extent.x_m.length(), extent.y_m.length()) > widest_m) return;
  const auto [longitude, latitude] = ranges_of(projection, extent);
  const double longest = std::max(extent.x_m.length(), extent.y_m.length());
  const auto step = [&](const physics::mesh::Interval& degrees, double metres) {
    return step_of(degrees, std::max(3, static_cast<int>(n_lines * metres / longest)));
  };
  const double east_step = step(longitude, extent.y_m.length()),
               north_step = step(latitude, extent.x_m.length());
  const auto line = [&](const auto& point_at) {
    std::vector<geodesy::GeoPoint> points;
    for (int k = 0; k <= n_parts; ++k) points.push_back(point_at(static_cast<double>(k) / n_parts));
    return projection.to_plane(points);
  };
  for (const double at : multiples(longitude, east_step))
    meridians_.push_back({label_of(std::remainder(at, 360.0), east_step, "E", "W"), line([&](double part) {
                            return geodesy::GeoPoint{latitude.from + part * latitude.length(), at};
                          })});
  for (const double at : multiples(latitude, north_step))
    parallels_.push_back({label_of(at, north_step, "N", "S"), line([&](double part) {
                            return geodesy::GeoPoint{at, longitude.from + part * longitude.length()};
                          })});
}

void Graticule::draw_lines(Canvas& canvas, const Box& box, const PlaceOnMap& place) const {
  canvas.begin_clip(box);
  for (const auto* lines : {&meridians_, &parallels_})
    for (const Line& each : *lines) canvas.polyline(in_picture(each.points, place), {line_colour, 0.8, {}});
  canvas.end_clip();
}

void Graticule::draw_longitudes(Canvas& canvas, const Box& box, const PlaceOnMap& place) const {
  const TextStyle style{.size = label_size, .horizontal = Align::middle, .vertical = Align::start};
  const double bottom = box.y + box.height;
  double free_from = -INFINITY;
  for (const Line& each : meridians_) {
    const auto at = crossing(in_picture(each.points, place), &Point::y, bottom);
    if (!at || at->x < box.x || at->x > box.x + box.width) continue;
    canvas.line(*at, {at->x, bottom + tick}, {ink, 1.0, {}});
    const double half = 0.5 * text_width(each.label, style);
    if (at->x - half < free_from) continue;
    canvas.text({at->x, bottom + tick + 4.0}, each.label, style);
    free_from = at->x + half + 6.0;
  }
}

void Graticule::draw_latitudes(Canvas& canvas, const Box& box, const PlaceOnMap& place) const {
  for (const Line& each : parallels_) {
    const auto at = crossing(in_picture(each.points, place), &Point::x, box.x);
    if (!at || at->y < box.y || at->y > box.y + box.height) continue;
    canvas.line({box.x - tick, at->y}, {box.x, at->y}, {ink, 1.0, {}});
    canvas.text({box.x - tick - 4.0, at->y}, each.label,
                {.size = label_size, .horizontal = Align::end, .vertical = Align::middle});
  }
}

Box draw_scale_bar(Canvas& canvas, const Box& box, double metres_per_unit, const std::vector<Point>& marks) {
  const double most_m = 0.25 * box.width * metres_per_unit;
  const double power = std::pow(10.0, std::floor(std::log10(most_m)));
  const double length_m = power * (most_m >= 5.0 * power ? 5.0 : most_m >= 2.0 * power ? 2.0 : 1.0);
  const std::string label =
      length_m >= 1000.0 ? fmt::format("{:g} km", length_m / 1000.0) : fmt::format("{:g} m", length_m);
  const double length = length_m / metres_per_unit;
  const double width = std::max(length, text_width(label, {.size = label_size})) + 12.0, height = 26.0;
  const double left = box.x + 6.0, right = box.x + box.width - width - 6.0;
  const double bottom = box.y + box.height - height - 6.0, top = box.y + 6.0;
  const std::array corners{Point{right, bottom}, Point{left, bottom}, Point{right, top}, Point{left, top}};
  const auto covered = [&](const Point& corner) {
    return std::ranges::count_if(marks, [&](const Point& mark) {
      return mark.x > corner.x - 8.0 && mark.x < corner.x + width + 8.0 && mark.y > corner.y - 8.0 &&
             mark.y < corner.y + height + 8.0;
    });
  };
  const Point corner = *std::ranges::min_element(corners, {}, covered);
  const Box taken{corner.x, corner.y, width, height};
  canvas.rectangle(taken, {Color{1.0, 1.0, 1.0, 0.85}, {}});
  const Point from{corner.x + 0.5 * (width - length), corner.y + height - 6.0};
  canvas.line({from.x, from.y}, {from.x + length, from.y}, {ink, 2.0, {}});
  for (const double x : {from.x, from.x + length})
    canvas.line({x, from.y - 4.0}, {x, from.y}, {ink, 1.4, {}});
  canvas.text({corner.x + 0.5 * width, from.y - 6.0}, label,
              {.size = label_size, .horizontal = Align::middle});
  return taken;
}

}  // namespace lodestone::io::report
