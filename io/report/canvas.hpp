// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace lodestone::io::report {

/// sRGB, each 0…1.
struct Color {
  double red = 0.0, green = 0.0, blue = 0.0, alpha = 1.0;
};
struct Point {
  double x = 0.0, y = 0.0;
};
struct Box {
  double x = 0.0, y = 0.0, width = 0.0, height = 0.0;
};
struct Stroke {
  Color color;
  double width = 1.0;
  std::vector<double> dash = {};
};
/// Fill and outline of a closed shape.
struct Paint {
  std::optional<Color> fill;
  std::optional<Stroke> stroke;
};

/// The shape of dots: discs, or upright squares.
enum class DotShape { round, square };

enum class Align { start, middle, end };
enum class Weight { normal, bold };
struct TextStyle {
  double size = 11.0;
  Color color{0.13, 0.13, 0.13};
  Align horizontal = Align::start;
  Align vertical = Align::end;  ///< start: top at the point, middle, end: baseline at the point
  double rotation_deg = 0.0;    ///< counter-clockwise
  Weight weight = Weight::normal;
};

/// A picture as a list of drawing commands, rendered alike to SVG text and to a PNG file. Origin top left, y
/// down, units CSS pixels.
///
/// Shapes with a coordinate that is not finite are left out.
class Canvas {
 public:
  Canvas(double width, double height);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }

  void rectangle(const Box& box, const Paint& paint);
  void polygon(const std::vector<Point>& points, const Paint& paint);
  void line(Point from, Point to, const Stroke& stroke);
  void polyline(const std::vector<Point>& points, const Stroke& stroke);
  /// Draws a circle. `hint`: a text that browsers show where one points at it; pictures as PNG have none.
  void circle(Point centre, double radius, const Paint& paint, const std::string& hint = {});
  /// Draws many filled dots of one width and colour, which take little room in a file.
  void dots(const std::vector<Point>& at, double width, const Color& color, DotShape shape);
  /// Draws many straight lines alike, each from a point to the next one of the list. shape: an even number.
  void segments(const std::vector<Point>& ends, const Stroke& stroke);
  void text(Point at, const std::string& text, const TextStyle& style = {});
  /// Draws a quadrilateral of a colour image: filled without seams between neighbours.
  void cell(const std::vector<Point>& corners, const Color& fill);
  /// Everything until `end_clip` is cut at the box.
  void begin_clip(const Box& box);
  void end_clip();

  /// Returns an <svg> element that can stand in an HTML page.
  [[nodiscard]] std::string svg() const;
  /// Writes the picture as SVG. errors: FileError.
  void write_svg(const std::filesystem::path& path) const;
  /// `scale` pixels per unit. errors: FileError.
  void write_png(const std::filesystem::path& path, double scale = 2.0) const;

 private:
  struct Shape {
    std::vector<Point> points;
    Paint paint;
    bool closed = true;
  };
  struct Circle {
    Point centre;
    double radius = 0.0;
    Paint paint;
    std::string hint;
  };
  struct Dots {
    std::vector<Point> at;
    double width = 0.0;
    Color color;
    DotShape shape{};
  };
  struct Segments {
    std::vector<Point> ends;
    Stroke stroke;
  };
  struct Text {
    Point at;
    std::string text;
    TextStyle style;
  };
  struct Cell {
    std::vector<Point> corners;
    Color fill;
  };
  struct BeginClip {
    Box box;
  };
  struct EndClip {};
  using Command = std::variant<Shape, Circle, Dots, Segments, Text, Cell, BeginClip, EndClip>;
  friend class SvgRenderer;
  friend class PngRenderer;

  double width_, height_;
  std::vector<Command> commands_;
};

/// Returns the width of a text in canvas units.
[[nodiscard]] double text_width(const std::string& text, const TextStyle& style);
/// Returns a text that is as wide as this at most: where it is wider, its beginning and "…".
[[nodiscard]] std::string shortened(const std::string& text, double width, const TextStyle& style);

}  // namespace lodestone::io::report
