// SPDX-License-Identifier: Apache-2.0
#include "io/report/canvas.hpp"

#include "engine/core/atomic_file.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lodestone::io::report {

namespace {

bool is_drawable(const std::vector<Point>& points) {
  return std::all_of(points.begin(), points.end(),
                     [](const Point& p) { return std::isfinite(p.x) && std::isfinite(p.y); });
}

}  // namespace

Canvas::Canvas(double width, double height) : width_(width), height_(height) {}

void Canvas::polygon(const std::vector<Point>& points, const Paint& paint) {
  if (is_drawable(points)) {
    commands_.emplace_back(Shape{points, paint, true});
  }
}

void Canvas::rectangle(const Box& box, const Paint& paint) {
  polygon({{box.x, box.y},
           {box.x + box.width, box.y},
           {box.x + box.width, box.y + box.height},
           {box.x, box.y + box.height}},
          paint);
}

void Canvas::line(Point from, Point to, const Stroke& stroke) { polyline({from, to}, stroke); }

void Canvas::polyline(const std::vector<Point>& points, const Stroke& stroke) {
  if (points.size() >= 2 && is_drawable(points)) {
    commands_.emplace_back(Shape{points, {{}, stroke}, false});
  }
}

void Canvas::circle(Point centre, double radius, const Paint& paint, const std::string& hint) {
  if (is_drawable({centre})) {
    commands_.emplace_back(Circle{centre, radius, paint, hint});
  }
}

void Canvas::dots(const std::vector<Point>& at, double width, const Color& color, DotShape shape) {
  std::vector<Point> drawable;
  std::ranges::copy_if(at, std::back_inserter(drawable), [](const Point& p) { return is_drawable({p}); });
  if (!drawable.empty()) commands_.emplace_back(Dots{std::move(drawable), width, color, shape});
}

void Canvas::segments(const std::vector<Point>& ends, const Stroke& stroke) {
  std::vector<Point> drawable;
  for (std::size_t k = 0; k + 1 < ends.size(); k += 2)
    if (is_drawable({ends[k], ends[k + 1]})) drawable.insert(drawable.end(), {ends[k], ends[k + 1]});
  if (!drawable.empty()) commands_.emplace_back(Segments{std::move(drawable), stroke});
}

void Canvas::text(Point at, const std::string& text, const TextStyle& style) {
  if (!text.empty() && is_drawable({at})) {
    commands_.emplace_back(Text{at, text, style});
  }
}

void Canvas::cell(const std::vector<Point>& corners, const Color& fill) {
  if (is_drawable(corners)) {
    commands_.emplace_back(Cell{corners, fill});
  }
}

void Canvas::begin_clip(const Box& box) { commands_.emplace_back(BeginClip{box}); }

void Canvas::end_clip() { commands_.emplace_back(EndClip{}); }

std::string shortened(const std::string& text, double width, const TextStyle& style) {
  if (text_width(text, style) <= width) return text;
  constexpr unsigned char is_follower = 0x80, mask = 0xC0;  // of a character of several bytes in UTF-8
  std::string part = text;
  while (!part.empty() && text_width(part + "…", style) > width) {
    while (!part.empty() && (static_cast<unsigned char>(part.back()) & mask) == is_follower) part.pop_back();
    if (!part.empty()) part.pop_back();
  }
  return part + "…";
}

void Canvas::write_svg(const std::filesystem::path& path) const {
  core::write_file(path.string(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg());
}

}  // namespace lodestone::io::report
