// SPDX-License-Identifier: Apache-2.0
#include "io/report/rows.hpp"

#include "io/report/axes.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::report {
namespace {

constexpr double width = 1000.0, left_margin = 74.0, right_margin = 14.0, head = 34.0, plot_height = 260.0,
                 bottom_margin = 46.0;

/// Returns an axis around the data used and all predictions.
Axis value_axis(const inversion::Outcome& outcome) {
  double low = INFINITY, high = -INFINITY;
  const auto add = [&](double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  };
  for (Eigen::Index row = 0; row < outcome.data.size(); ++row) {
    if (outcome.data.is_used(row)) add(outcome.data.observed()[row]);
  }
  for (const double value : outcome.predicted) add(value);
  if (!(low <= high)) low = 0.0, high = 1.0;
  const double air = high > low ? 0.06 * (high - low) : std::max(1e-3, 0.1 * std::abs(high));
  return {high + air, low - air, Scale::linear, "Datum"};
}

void draw_predictions(Canvas& canvas, const Frame& frame, const Eigen::VectorXd& predicted) {
  std::vector<Point> run;
  for (Eigen::Index row = 0; row < predicted.size(); ++row) {
    if (std::isfinite(predicted[row])) {
      run.push_back(frame.at(static_cast<double>(row), predicted[row]));
      continue;
    }
    canvas.polyline(run, {te_colour, 1.4, {}});
    run.clear();
  }
  canvas.polyline(run, {te_colour, 1.4, {}});
}

void draw_observations(Canvas& canvas, const Frame& frame, const core::DataSet& data) {
  for (Eigen::Index row = 0; row < data.size(); ++row) {
    const double at = static_cast<double>(row), value = data.observed()[row], sigma = data.sigma()[row];
    if (!std::isfinite(value)) continue;
    if (data.is_used(row))
      canvas.line(frame.at(at, value - sigma), frame.at(at, value + sigma), {tm_colour, 0.9, {}});
    draw_marker(canvas, frame.at(at, value), {Marker::circle, tm_colour, !data.is_used(row), 2.4});
  }
}

}  // namespace

Canvas rows_picture(const inversion::Outcome& outcome) {
  const core::DataSet& data = outcome.data;
  Canvas canvas(width, head + plot_height + bottom_margin);
  const Axis rows{-0.5,
                  std::max(0.5, static_cast<double>(data.size()) - 0.5),
                  Scale::linear,
                  "Row of the data",
                  TickLabels::shown,
                  10};
  const Frame frame({left_margin, head, width - left_margin - right_margin, plot_height}, rows,
                    value_axis(outcome));
  frame.draw_grid(canvas);
  canvas.text({left_margin, head - 12.0}, "Observed (points) and predicted (line)",
              {.size = 14.0, .weight = Weight::bold});
  canvas.begin_clip(frame.box());
  draw_predictions(canvas, frame, outcome.predicted);
  draw_observations(canvas, frame, data);
  canvas.end_clip();
  frame.draw(canvas);
  return canvas;
}

}  // namespace lodestone::io::report
