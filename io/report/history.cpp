// SPDX-License-Identifier: Apache-2.0
#include "io/report/axes.hpp"
#include "io/report/map_sheet.hpp"
#include "io/report/misfit.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace lodestone::io::report {

namespace {

constexpr double width = 1000.0, left_margin = 62.0, right_margin = 14.0, head = 28.0, plot_height = 190.0,
                 bottom_margin = 46.0;
constexpr double visible = 0.01;

/// Returns an axis of decades around all positive values.
Axis log_axis(const std::vector<double>& values, const std::string& label) {
  double low = 1e300, high = 0.0;
  for (const double value : values) {
    if (std::isfinite(value) && value > 0.0) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  if (high == 0.0) {
    return {10.0, 0.1, Scale::log10, label};
  }
  const double middle = std::sqrt(low * high), factor = std::max(2.0, 1.25 * std::sqrt(high / low));
  return {middle * factor, middle / factor, Scale::log10, label};
}

std::vector<double> column(const std::vector<inversion::optimize::StagedRecord>& history,
                           const std::function<double(const inversion::optimize::StagedRecord&)>& get) {
  std::vector<double> values(history.size());
  std::transform(history.begin(), history.end(), values.begin(), get);
  return values;
}

void draw_curve(Canvas& canvas, const Frame& frame,
                const std::vector<inversion::optimize::StagedRecord>& history,
                const std::vector<double>& values, const Color& color) {
  std::vector<Point> points;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Point at = frame.at(history[k].iteration, values[k]);
    if (std::isfinite(at.y)) {
      points.push_back(at);
    }
  }
  canvas.polyline(points, {color, 1.6, {}});
  for (const Point& at : points) {
    draw_marker(canvas, at, {Marker::circle, color, false, 3.2});
  }
}

/// Draws the misfit of the same model on the mesh it was redesigned for, where one can see the difference.
void draw_redesigns(Canvas& canvas, const Frame& frame,
                    const std::vector<inversion::optimize::StagedRecord>& history) {
  for (std::size_t k = 1; k < history.size(); ++k) {
    if (history[k].kind == inversion::optimize::StepKind::start)
      continue;  // of a further stage: the same model as the row before
    const double before = history[k].rms_at_start;
    if (std::isfinite(before) && before > 0.0 && std::abs(before - history[k - 1].rms) > visible * before) {
      draw_marker(canvas, frame.at(history[k].iteration - 1, before), {Marker::square, grey, true, 3.4});
    }
  }
}

}  // namespace

Canvas history_picture(const inversion::Outcome& outcome) {
  const std::vector<inversion::optimize::StagedRecord>& history = outcome.history;
  Canvas canvas(width, head + plot_height + bottom_margin);
  const double last = history.empty() ? 1.0 : std::max(1, history.back().iteration);
  const Axis iterations{-0.4,        last + 0.4,        Scale::linear,
                        "Iteration", TickLabels::shown, std::min(10, static_cast<int>(last))};
  const double plot_width = 0.5 * (width - 2.0 * left_margin - 2.0 * right_margin - 16.0);

  std::vector<double> rms =
      column(history, [](const inversion::optimize::StagedRecord& row) { return row.rms; });
  std::vector<double> shown = rms;
  shown.push_back(outcome.ending.target_rms);
  const Frame left({left_margin, head, plot_width, plot_height}, iterations, log_axis(shown, "rms"));
  left.draw_grid(canvas);
  canvas.text({left_margin, head - 8.0}, "Misfit per iteration", {.size = 12.0, .weight = Weight::bold});
  canvas.line({left_margin, left.y(outcome.ending.target_rms)},
              {left_margin + plot_width, left.y(outcome.ending.target_rms)}, {ink, 0.9, {5.0, 4.0}});
  draw_redesigns(canvas, left, history);
  draw_curve(canvas, left, history, rms, te_colour);
  left.draw(canvas);

  const std::vector<double> lambda =
      column(history, [](const inversion::optimize::StagedRecord& row) { return row.lambda; });
  const double right_left = width - right_margin - plot_width;
  const Frame right({right_left, head, plot_width, plot_height}, iterations, log_axis(lambda, "λ"));
  right.draw_grid(canvas);
  canvas.text({right_left, head - 8.0}, "Trade-off parameter λ per iteration",
              {.size = 12.0, .weight = Weight::bold});
  draw_curve(canvas, right, history, lambda, tm_colour);
  right.draw(canvas);
  return canvas;
}

Canvas trade_off_picture(const inversion::Outcome& outcome) {
  constexpr double picture_width = 560.0, height = 300.0;
  std::vector<double> roughness, rms;
  for (const inversion::optimize::StagedRecord& row : outcome.history) {
    if (!(row.roughness > 0.0 && row.rms > 0.0) || !std::isfinite(row.roughness + row.rms)) continue;
    roughness.push_back(row.roughness);
    rms.push_back(row.rms);
  }
  if (rms.size() < 2) return {picture_width, 0.0};
  Axis across = log_axis(roughness, "Roughness");
  std::swap(across.first, across.last);
  std::vector<double> shown = rms;
  shown.push_back(outcome.ending.target_rms);
  const Frame frame({left_margin, head, picture_width - left_margin - right_margin, height}, across,
                    log_axis(shown, "rms"));
  Canvas canvas(picture_width, head + height + bottom_margin);
  frame.draw_grid(canvas);
  canvas.text({left_margin, head - 8.0}, "Misfit against roughness", {.size = 12.0, .weight = Weight::bold});
  const double target = frame.y(outcome.ending.target_rms);
  canvas.line({frame.box().x, target}, {frame.box().x + frame.box().width, target}, {ink, 0.9, {5.0, 4.0}});
  std::vector<Point> points;
  std::vector<SiteMark> marks;
  for (const inversion::optimize::StagedRecord& row : outcome.history) {
    const Point at = frame.at(row.roughness, row.rms);
    if (!std::isfinite(at.x) || !std::isfinite(at.y)) continue;
    points.push_back(at);
    marks.push_back({std::to_string(row.iteration), at});
  }
  constexpr double radius = 3.2;
  canvas.polyline(points, {te_colour, 1.2, {}});
  for (const Point& at : points) draw_marker(canvas, at, {Marker::circle, te_colour, false, radius});
  draw_site_names(canvas, marks, radius, frame.box());
  frame.draw(canvas);
  return canvas;
}

}  // namespace lodestone::io::report
