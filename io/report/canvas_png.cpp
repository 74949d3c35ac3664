// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/report/canvas.hpp"
#include "physics/mt/units.hpp"

#include <cairo.h>

#include <cmath>
#include <memory>

namespace lodestone::io::report {

namespace {

using Surface = std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)>;
using Context = std::unique_ptr<cairo_t, decltype(&cairo_destroy)>;

struct Drawing {
  Surface surface;
  Context context;
};

Drawing make_drawing(int width, int height) {
  Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height), cairo_surface_destroy);
  Context context(cairo_create(surface.get()), cairo_destroy);
  return {std::move(surface), std::move(context)};
}

void set_color(cairo_t* cr, const Color& color) {
  cairo_set_source_rgba(cr, color.red, color.green, color.blue, color.alpha);
}

void set_font(cairo_t* cr, const TextStyle& style) {
  cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                         style.weight == Weight::bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, style.size);
}

double advance(cairo_t* cr, const std::string& text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text.c_str(), &extents);
  return extents.x_advance;
}

void paint_path(cairo_t* cr, const Paint& paint) {
  if (paint.fill) {
    set_color(cr, *paint.fill);
    cairo_fill_preserve(cr);
  }
  if (paint.stroke) {
    set_color(cr, paint.stroke->color);
    cairo_set_line_width(cr, paint.stroke->width);
    cairo_set_dash(cr, paint.stroke->dash.data(), static_cast<int>(paint.stroke->dash.size()), 0.0);
    cairo_stroke_preserve(cr);
  }
  cairo_new_path(cr);
}

void trace(cairo_t* cr, const std::vector<Point>& points) {
  cairo_new_path(cr);
  for (const Point& point : points) {
    cairo_line_to(cr, point.x, point.y);
  }
}

cairo_status_t append_bytes(void* to, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

/// Draws the commands with cairo.
class PngRenderer {
 public:
  explicit PngRenderer(cairo_t* cr) : cr_(cr) {}
  void operator()(const Canvas::Shape& shape) const {
    trace(cr_, shape.points);
    if (shape.closed) {
      cairo_close_path(cr_);
    }
    paint_path(cr_, shape.paint);
  }
  void operator()(const Canvas::Circle& circle) const {
    cairo_new_path(cr_);
    cairo_arc(cr_, circle.centre.x, circle.centre.y, circle.radius, 0.0, 360.0 / physics::mt::deg_per_rad);
    paint_path(cr_, circle.paint);
  }
  void operator()(const Canvas::Dots& dots) const {
    cairo_new_path(cr_);
    const double half = 0.5 * dots.width;
    for (const Point& at : dots.at) {
      if (dots.shape == DotShape::square) {
        cairo_rectangle(cr_, at.x - half, at.y - half, dots.width, dots.width);
        continue;
      }
      cairo_new_sub_path(cr_);
      cairo_arc(cr_, at.x, at.y, half, 0.0, 360.0 / physics::mt::deg_per_rad);
      cairo_close_path(cr_);
    }
    paint_path(cr_, {dots.color, {}});
  }
  void operator()(const Canvas::Segments& segments) const {
    cairo_new_path(cr_);
    for (std::size_t k = 0; k < segments.ends.size(); k += 2) {
      cairo_move_to(cr_, segments.ends[k].x, segments.ends[k].y);
      cairo_line_to(cr_, segments.ends[k + 1].x, segments.ends[k + 1].y);
    }
    paint_path(cr_, {{}, segments.stroke});
  }
  void operator()(const Canvas::Text& text) const {
    const TextStyle& style = text.style;
    set_font(cr_, style);
    set_color(cr_, style.color);
    const double width = advance(cr_, text.text);
    const double left = style.horizontal == Align::start    ? 0.0
                        : style.horizontal == Align::middle ? -0.5 * width
                                                            : -width;
    const double drop = style.vertical == Align::start    ? 0.73 * style.size
                        : style.vertical == Align::middle ? 0.365 * style.size
                                                          : 0.0;
    cairo_save(cr_);
    cairo_translate(cr_, text.at.x, text.at.y);
    cairo_rotate(cr_, -style.rotation_deg / physics::mt::deg_per_rad);
    cairo_move_to(cr_, left, drop);
    cairo_show_text(cr_, text.text.c_str());
    cairo_restore(cr_);
    cairo_new_path(cr_);
  }
  void operator()(const Canvas::Cell& cell) const {
    cairo_save(cr_);
    cairo_set_antialias(cr_, CAIRO_ANTIALIAS_NONE);
    trace(cr_, cell.corners);
    cairo_close_path(cr_);
    paint_path(cr_, {cell.fill, {}});
    cairo_restore(cr_);
  }
  void operator()(const Canvas::BeginClip& clip) const {
    cairo_save(cr_);
    cairo_rectangle(cr_, clip.box.x, clip.box.y, clip.box.width, clip.box.height);
    cairo_clip(cr_);
  }
  void operator()(const Canvas::EndClip&) const { cairo_restore(cr_); }

 private:
  cairo_t* cr_;
};

void Canvas::write_png(const std::filesystem::path& path, double scale) const {
  const Drawing drawing =
      make_drawing(static_cast<int>(std::ceil(width_ * scale)), static_cast<int>(std::ceil(height_ * scale)));
  cairo_t* cr = drawing.context.get();
  cairo_set_source_rgb(cr, 1.0, 1.0, 1.0);
  cairo_paint(cr);
  cairo_scale(cr, scale, scale);
  const PngRenderer renderer(cr);
  for (const Command& command : commands_) {
    std::visit(renderer, command);
  }
  std::string bytes;
  const cairo_status_t drawn = cairo_status(cr);
  const cairo_status_t status =
      drawn != CAIRO_STATUS_SUCCESS
          ? drawn
          : cairo_surface_write_to_png_stream(drawing.surface.get(), append_bytes, &bytes);
  if (status != CAIRO_STATUS_SUCCESS) {
    throw core::FileError("io::report#not_drawn", "{}: the picture could not be drawn: {}", path.string(),
                          cairo_status_to_string(status));
  }
  core::write_file(path.string(), bytes);
}

double text_width(const std::string& text, const TextStyle& style) {
  const Drawing drawing = make_drawing(1, 1);
  set_font(drawing.context.get(), style);
  return advance(drawing.context.get(), text);
}

}  // namespace lodestone::io::report
