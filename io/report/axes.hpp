// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/report/colour_map.hpp"

#include <string>
#include <vector>

namespace lodestone::io::report {

inline constexpr Color ink{0.13, 0.13, 0.13};
inline constexpr Color grey{0.45, 0.45, 0.45};
inline constexpr Color faint{0.88, 0.88, 0.88};
inline constexpr Color te_colour{0.78, 0.27, 0.13};
inline constexpr Color tm_colour{0.10, 0.40, 0.68};

enum class Scale { linear, log10 };
enum class TickLabels { shown, hidden };

/// One axis of a frame. `first` stands at the left or at the top; it may be the larger one.
struct Axis {
  double first = 0.0, last = 1.0;
  Scale scale = Scale::linear;
  std::string label = {};
  TickLabels tick_labels = TickLabels::shown;
  int n_ticks =
      6;  ///< wanted, about; a logarithmic axis labels every second, third … decade where there are more
  double step = 0.0;  ///< between the ticks of a linear axis; 0: a round number
};

struct Tick {
  double value = 0.0;
  std::string label;  ///< empty: a minor tick
};
/// Returns round numbers on a linear axis; decades with minor ticks on a logarithmic one. Two labels at
/// least: a logarithmic axis that has room for fewer has round numbers.
[[nodiscard]] std::vector<Tick> ticks(const Axis& axis);
/// Returns plain digits for ordinary sizes, powers of ten with superscripts beyond; a true minus sign.
[[nodiscard]] std::string tick_label(double value);

/// Returns a number with so many significant digits and without an exponent from 1e-6 to 1e7: "1000", not
/// "1e+03". Whole numbers keep all their digits.
[[nodiscard]] std::string plain_number(double value, int digits = 4);
/// Returns the text of a period: "1000 s".
[[nodiscard]] std::string period_text(double period_s);

/// A rectangle of the picture with its data coordinates.
class Frame {
 public:
  Frame(const Box& box, Axis x, Axis y) : box_(box), x_(std::move(x)), y_(std::move(y)) {}
  [[nodiscard]] const Box& box() const { return box_; }
  /// Picture coordinates; NaN where a value has none (non-positive on a log axis).
  [[nodiscard]] double x(double value) const;
  [[nodiscard]] double y(double value) const;
  [[nodiscard]] Point at(double x_value, double y_value) const { return {x(x_value), y(y_value)}; }
  void draw_grid(Canvas& canvas) const;  ///< under the data
  void draw(Canvas& canvas) const;       ///< outline, ticks and labels, over the data

 private:
  Box box_;
  Axis x_, y_;
};

/// The ends of a colour scale beyond which drawn values lie.
struct Clipped {
  bool below = false, above = false;
  /// Returns the ends that values from `least` to `most` pass on a scale from `low` to `high`; NaN passes
  /// none.
  [[nodiscard]] static Clipped of(double least, double most, double low, double high);
};
/// Draws a vertical colour bar with its scale to the right. The axis' `first` is at the top. A triangle at an
/// end: values beyond it have the colour of the end.
void draw_colour_bar(Canvas& canvas, const Box& box, const ColourMap& map, const Axis& axis,
                     const Clipped& clipped = {});

/// A legend entry: a line with a marker and its text; returns the width used.
enum class Marker { circle, square };
struct MarkerStyle {
  Marker marker = Marker::circle;
  Color color;
  bool hollow = false;
  double radius = 2.6;
  std::string hint = {};  ///< a text of circles, as in Canvas::circle
};
void draw_marker(Canvas& canvas, Point at, const MarkerStyle& style);

/// Metres or kilometres, whichever suits a range.
struct LengthUnit {
  double metres = 1.0;
  std::string name = "m";
};
[[nodiscard]] LengthUnit length_unit(double range_m);
/// Returns the text of a length with so many digits: "45 km".
[[nodiscard]] std::string length_text(double metres, int digits = 2);

/// Stations above a frame: triangles on the surface and names, thinned out where they would overlap.
struct StationLabels {
  std::vector<std::string> names;
  std::vector<double> x;          ///< picture coordinates
  std::vector<double> surface_y;  ///< y of the triangle's tip
  double top = 0.0;               ///< height of the names; a thin line leads to a triangle further down
};
void draw_stations(Canvas& canvas, const StationLabels& stations);
/// Returns the height that the names need above the triangles.
[[nodiscard]] double station_label_height(const std::vector<std::string>& names);

}  // namespace lodestone::io::report
