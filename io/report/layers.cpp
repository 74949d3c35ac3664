// SPDX-License-Identifier: Apache-2.0
#include "io/report/layers.hpp"

#include "io/report/axes.hpp"
#include "io/report/property.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::report {
namespace {

constexpr double width = 480.0, height = 420.0, left_margin = 66.0, right_margin = 24.0, head = 34.0,
                 bottom_margin = 50.0;
constexpr double strong_grading = 10.0;  // thickest over thinnest layer from which depth is logarithmic

/// Returns the values as the axis takes them: the logarithm is undone.
Eigen::VectorXd on_axis(const inversion::Outcome& outcome, const Eigen::VectorXd& values) {
  const Eigen::VectorXd shown = values_in_picture(outcome.section(values));
  return shows_log10(outcome.model.property) ? Eigen::VectorXd(Eigen::pow(10.0, shown.array())) : shown;
}

Axis value_axis(const inversion::Outcome& outcome) {
  double low = INFINITY, high = -INFINITY;
  for (const Eigen::VectorXd* values : {&outcome.start, &outcome.model.values}) {
    for (const double value : values_in_picture(outcome.section(*values))) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (!(low <= high)) low = 0.0, high = 1.0;
  const double air = std::max(0.25, 0.08 * (high - low));
  low -= air;
  high += air;
  if (!shows_log10(outcome.model.property))
    return {low, high, Scale::linear, label_of(outcome.model.property)};
  return {std::pow(10.0, low), std::pow(10.0, high), Scale::log10, label_of(outcome.model.property)};
}

Axis depth_axis(const std::vector<double>& z_m, const LengthUnit& unit) {
  double thinnest = INFINITY, thickest = 0.0;
  for (std::size_t k = 0; k + 1 < z_m.size(); ++k) {
    thinnest = std::min(thinnest, z_m[k + 1] - z_m[k]);
    thickest = std::max(thickest, z_m[k + 1] - z_m[k]);
  }
  const bool is_log = thickest > strong_grading * thinnest && z_m[1] > 0.0;
  const double first = is_log && z_m.front() <= 0.0 ? 0.5 * z_m[1] : z_m.front();
  return {first / unit.metres, z_m.back() / unit.metres, is_log ? Scale::log10 : Scale::linear,
          fmt::format("Depth ({})", unit.name)};
}

/// Returns the corners of a curve that is constant in each layer; layers without a value are left out.
std::vector<Point> stairs(const Frame& frame, const Eigen::VectorXd& values, const std::vector<double>& z_m,
                          const LengthUnit& unit, double top) {
  std::vector<Point> points;
  for (std::size_t k = 0; k + 1 < z_m.size(); ++k) {
    const double value = values[static_cast<Eigen::Index>(k)];
    if (!std::isfinite(value)) continue;
    for (const double z : {z_m[k], z_m[k + 1]})
      points.push_back(frame.at(value, std::max(z / unit.metres, top)));
  }
  return points;
}

}  // namespace

Canvas layers_picture(const inversion::Outcome& outcome) {
  const std::vector<double>& z_m = outcome.model.earth.grid.z_edges_m();
  const LengthUnit unit = length_unit(z_m.back() - z_m.front());
  const Axis depth = depth_axis(z_m, unit);
  Canvas canvas(width, height);
  const Frame frame({left_margin, head, width - left_margin - right_margin, height - head - bottom_margin},
                    value_axis(outcome), depth);
  frame.draw_grid(canvas);
  canvas.text(
      {left_margin, head - 12.0},
      fmt::format("{} of the layers, rms {:.2f}", title_of(outcome.model.property), outcome.ending.rms),
      {.size = 14.0, .weight = Weight::bold});
  canvas.begin_clip(frame.box());
  canvas.polyline(stairs(frame, on_axis(outcome, outcome.start), z_m, unit, depth.first),
                  {grey, 1.2, {5.0, 4.0}});
  canvas.polyline(stairs(frame, on_axis(outcome, outcome.model.values), z_m, unit, depth.first),
                  {te_colour, 1.8, {}});
  canvas.end_clip();
  frame.draw(canvas);
  return canvas;
}

}  // namespace lodestone::io::report
