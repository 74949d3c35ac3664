// SPDX-License-Identifier: Apache-2.0
#include "engine/core/markup.hpp"
#include "io/report/canvas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace lodestone::io::report {

namespace {

/// At most two decimals, no trailing zeros.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", std::round(100.0 * value) / 100.0);
  while (text.back() == '0') {
    text.pop_back();
  }
  if (text.back() == '.') {
    text.pop_back();
  }
  return text == "-0" ? "0" : text;
}

double rounded(double value) { return std::round(100.0 * value) / 100.0; }

std::string hex(const Color& color) {
  const auto byte = [](double part) {
    return static_cast<int>(std::lround(255.0 * std::min(1.0, std::max(0.0, part))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", byte(color.red), byte(color.green), byte(color.blue));
}

std::string paint_attributes(const Paint& paint) {
  std::string text = fmt::format(" fill=\"{}\"", paint.fill ? hex(*paint.fill) : "none");
  if (paint.fill && paint.fill->alpha < 1.0) {
    text += fmt::format(" fill-opacity=\"{}\"", number(paint.fill->alpha));
  }
  if (paint.stroke) {
    const Stroke& stroke = *paint.stroke;
    text += fmt::format(" stroke=\"{}\"", hex(stroke.color));
    text += stroke.width != 1.0 ? fmt::format(" stroke-width=\"{}\"", number(stroke.width)) : "";
    text += stroke.color.alpha < 1.0 ? fmt::format(" stroke-opacity=\"{}\"", number(stroke.color.alpha)) : "";
    for (std::size_t k = 0; k < stroke.dash.size(); ++k) {
      text += (k == 0 ? " stroke-dasharray=\"" : " ") + number(stroke.dash[k]);
    }
    text += stroke.dash.empty() ? "" : "\"";
  }
  return text;
}

std::string path(const std::vector<Point>& points, const char* end) {
  std::string text;
  for (std::size_t k = 0; k < points.size(); ++k) {
    text += fmt::format("{}{} {}", k == 0 ? "M" : "L", number(points[k].x), number(points[k].y));
  }
  return text + end;
}

}  // namespace

/// Turns the commands into SVG elements; runs of cells become one path per colour.
class SvgRenderer {
 public:
  void operator()(const Canvas::Shape& shape) {
    flush();
    out_ += fmt::format("<path d=\"{}\"{}/>\n", path(shape.points, shape.closed ? "z" : ""),
                        paint_attributes(shape.paint));
  }
  void operator()(const Canvas::Circle& circle) {
    flush();
    const std::string end =
        circle.hint.empty() ? "/>" : "><title>" + core::escaped(circle.hint) + "</title></circle>";
    out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}{}\n", number(circle.centre.x),
                        number(circle.centre.y), number(circle.radius), paint_attributes(circle.paint), end);
  }
  void operator()(const Canvas::Dots& dots) {
    flush();
    // Lines without length, of which only the caps are seen.
    std::string d;
    for (const Point& at : dots.at) d += fmt::format("M{} {}h0", number(at.x), number(at.y));
    out_ += fmt::format("<path d=\"{}\"{} stroke-linecap=\"{}\"/>\n", d,
                        paint_attributes({{}, Stroke{dots.color, dots.width, {}}}),
                        dots.shape == DotShape::round ? "round" : "square");
  }
  void operator()(const Canvas::Segments& segments) {
    flush();
    std::string d;
    for (std::size_t k = 0; k < segments.ends.size(); k += 2)
      d += path({segments.ends[k], segments.ends[k + 1]}, "");
    out_ += fmt::format("<path d=\"{}\"{}/>\n", d, paint_attributes({{}, segments.stroke}));
  }
  void operator()(const Canvas::Text& text) {
    flush();
    static constexpr std::array anchors{"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    const TextStyle& style = text.style;
    // Offsets of DejaVu Sans: cap height 0.73 em; browsers disagree on dominant-baseline.
    const double drop = style.vertical == Align::start    ? 0.73 * style.size
                        : style.vertical == Align::middle ? 0.365 * style.size
                                                          : 0.0;
    std::string where = fmt::format("x=\"{}\" y=\"{}\"", number(text.at.x), number(text.at.y + drop));
    if (style.rotation_deg != 0.0) {
      where = fmt::format("y=\"{}\" transform=\"translate({} {})rotate({})\"", number(drop),
                          number(text.at.x), number(text.at.y), number(-style.rotation_deg));
    }
    out_ += fmt::format("<text {}{}{}{} fill=\"{}\">{}</text>\n", where,
                        style.size != 11.0 ? fmt::format(" font-size=\"{}\"", number(style.size)) : "",
                        anchors[static_cast<std::size_t>(style.horizontal)],
                        style.weight == Weight::bold ? " font-weight=\"bold\"" : "", hex(style.color),
                        core::escaped(text.text));
  }
  void operator()(const Canvas::Cell& cell) {
    const auto& c = cell.corners;
    const bool upright =
        c.size() == 4 && c[0].y == c[1].y && c[1].x == c[2].x && c[2].y == c[3].y && c[3].x == c[0].x;
    // Sizes are differences of rounded corners: neighbours share their edges to the last digit.
    cells_[hex(cell.fill)] += upright ? fmt::format("M{} {}h{}v{}h{}z", number(c[0].x), number(c[0].y),
                                                    number(rounded(c[1].x) - rounded(c[0].x)),
                                                    number(rounded(c[2].y) - rounded(c[1].y)),
                                                    number(rounded(c[0].x) - rounded(c[1].x)))
                                      : path(c, "z");
  }
  void operator()(const Canvas::BeginClip& clip) {
    flush();
    const auto x = number(clip.box.x), y = number(clip.box.y), width = number(clip.box.width),
               height = number(clip.box.height);
    // A nested element clips without an id, which several pictures in one page would have to keep apart.
    out_ +=
        fmt::format("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">\n", x,
                    y, width, height);
  }
  void operator()(const Canvas::EndClip&) {
    flush();
    out_ += "</svg>\n";
  }
  std::string take() {
    flush();
    return std::move(out_);
  }

 private:
  void flush() {
    for (const auto& [color, d] : cells_) {
      out_ += fmt::format("<path shape-rendering=\"crispEdges\" fill=\"{}\" d=\"{}\"/>\n", color, d);
    }
    cells_.clear();
  }
  std::string out_;
  std::map<std::string, std::string> cells_;
};

std::string Canvas::svg() const {
  SvgRenderer renderer;
  for (const Command& command : commands_) {
    std::visit(renderer, command);
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
             "font-size=\"11\" "
             "font-family=\"DejaVu Sans,Verdana,sans-serif\">\n",
             number(width_), number(height_)) +
         renderer.take() + "</svg>\n";
}

}  // namespace lodestone::io::report
