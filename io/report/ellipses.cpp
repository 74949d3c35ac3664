// SPDX-License-Identifier: Apache-2.0
#include "io/report/ellipses.hpp"

#include "physics/mt/analysis/map_periods.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double width = 1000.0, left_margin = 66.0, right_margin = 106.0, bottom_margin = 48.0,
                 title_height = 26.0, plot_height = 400.0;
constexpr double skew_limit_deg = 9.0, phase_limit_deg = 90.0;
constexpr double least_radius = 3.0, largest_radius = 9.0;
constexpr int largest_per_decade = 8;

struct FillScale {
  double low, high;
  const ColourMap* map;
  Axis axis;
};

FillScale scale_of(EllipseFill fill) {
  if (fill == EllipseFill::skew)
    return {-skew_limit_deg,
            skew_limit_deg,
            &residual_colours(),
            {skew_limit_deg, -skew_limit_deg, Scale::linear, "Skew β (°)", TickLabels::shown, 6, 3.0}};
  return {0.0,
          phase_limit_deg,
          &phase_colours(),
          {phase_limit_deg, 0.0, Scale::linear, "Smallest phase φ min (°)", TickLabels::shown, 6, 15.0}};
}

/// Returns the stations of a line that have room beside those before them, by their places in its list.
std::vector<std::size_t> with_room(const std::vector<double>& x, double apart) {
  std::vector<std::size_t> chosen;
  for (std::size_t k = 0; k < x.size(); ++k)
    if (chosen.empty() || x[k] - x[chosen.back()] >= apart) chosen.push_back(k);
  return chosen;
}

/// Returns the median distance of neighbours on the paper.
double usual_distance(const std::vector<double>& x) {
  std::vector<double> distances;
  for (std::size_t k = 1; k < x.size(); ++k) distances.push_back(x[k] - x[k - 1]);
  const auto middle = distances.begin() + std::ssize(distances) / 2;
  std::ranges::nth_element(distances, middle);
  return *middle;
}

}  // namespace

void EllipseColours::draw(Canvas& canvas, Point at, double radius, const mt::PhaseTensor& tensor,
                          double azimuth_deg) {
  if (!(tensor.max > 0.0)) return;
  const double value = fill_ == EllipseFill::skew ? tensor.skew_deg : tensor.min_deg();
  least_ = std::fmin(least_, value);
  most_ = std::fmax(most_, value);
  const double s = std::sin(azimuth_deg / mt::deg_per_rad), c = std::cos(azimuth_deg / mt::deg_per_rad);
  const double other = radius * std::min(1.0, std::abs(tensor.min) / tensor.max);
  const int n_corners = radius < 5.0 ? 20 : 32;
  std::vector<Point> corners;
  for (int k = 0; k < n_corners; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / n_corners;
    const double along = radius * std::cos(angle), across = other * std::sin(angle);
    corners.push_back({at.x + along * s + across * c, at.y - along * c + across * s});
  }
  const FillScale scale = scale_of(fill_);
  canvas.polygon(corners, {scale.map->at((value - scale.low) / (scale.high - scale.low)),
                           Stroke{ink, radius < 5.0 ? 0.4 : 0.6, {}}});
}

void EllipseColours::draw_bar(Canvas& canvas, const Box& box) const {
  const FillScale scale = scale_of(fill_);
  draw_colour_bar(canvas, box, *scale.map, scale.axis, Clipped::of(least_, most_, scale.low, scale.high));
}

std::optional<mt::PhaseTensor> tensor_at(const mt::StationData& station, double period_s) {
  const std::vector<mt::StationRow> rows = mt::interpolated(station.rows, {1.0 / period_s});
  const auto impedance = mt::impedance_of(rows.front());
  return impedance ? mt::phase_tensor(*impedance) : std::nullopt;
}

Canvas ellipse_section(const std::vector<mt::StationData>& stations, const SurveyLine& line,
                       EllipseFill fill) {
  std::vector<mt::StationData> shown;
  StationLabels labels;
  for (const std::size_t k : line.stations) {
    shown.push_back(stations[k]);
    labels.names.push_back(stations[k].site.name);
  }
  const double plot_width = width - left_margin - right_margin, length = line.y_m.back() - line.y_m.front();
  const double margin_m = length * 14.0 / plot_width;
  std::vector<double> x;
  for (const double y : line.y_m) x.push_back(plot_width * y / (length + 2.0 * margin_m));
  const double radius = std::clamp(0.46 * usual_distance(x), least_radius, largest_radius);
  const std::vector<double> all = mt::even_periods(shown, largest_per_decade);
  const double decades = std::log10(all.back() / all.front()) + 0.4;
  const int per_decade =
      std::clamp(static_cast<int>(plot_height / decades / (2.2 * radius)), 1, largest_per_decade);
  const std::vector<double> periods = mt::even_periods(shown, per_decade);

  const LengthUnit unit = length_unit(length);
  const double top = title_height + station_label_height(labels.names) + 6.0;
  Canvas canvas(width, top + plot_height + bottom_margin);
  const Frame frame(
      {left_margin, top, plot_width, plot_height},
      {(line.y_m.front() - margin_m) / unit.metres, (line.y_m.back() + margin_m) / unit.metres, Scale::linear,
       fmt::format("Distance along profile ({})", unit.name), TickLabels::shown, 10},
      {all.front() / std::pow(10.0, 0.2), all.back() * std::pow(10.0, 0.2), Scale::log10, "Period (s)"});
  canvas.text({left_margin, title_height - 8.0}, "Phase tensors along the profile, north up",
              {.size = 14.0, .weight = Weight::bold});
  frame.draw_grid(canvas);
  canvas.begin_clip(frame.box());
  EllipseColours colours(fill);
  for (const std::size_t k : with_room(x, 1.2 * radius)) {
    for (const double period_s : periods)
      if (const auto tensor = tensor_at(shown[k], period_s))
        colours.draw(canvas, frame.at(line.y_m[k] / unit.metres, period_s), radius, *tensor,
                     tensor->azimuth_deg);
  }
  canvas.end_clip();
  frame.draw(canvas);
  for (const double y : line.y_m) {
    labels.x.push_back(frame.x(y / unit.metres));
    labels.surface_y.push_back(top - 1.0);
  }
  labels.top = top - 13.0;
  draw_stations(canvas, labels);
  colours.draw_bar(canvas, {width - right_margin + 16.0, top + 20.0, 14.0, plot_height - 40.0});
  return canvas;
}

}  // namespace lodestone::io::report
