// SPDX-License-Identifier: Apache-2.0
#include "io/report/canvas.hpp"

#include "engine/core/atomic_file.hpp"

#include <algorithm>
#include <cmath>

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

void Canvas::circle(Point centre, double radius, const Paint& paint) {
  if (is_drawable({centre})) {
    commands_.emplace_back(Circle{centre, radius, paint});
  }
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

void Canvas::write_svg(const std::filesystem::path& path) const {
  core::write_file(path.string(), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + svg());
}

}  // namespace lodestone::io::report
