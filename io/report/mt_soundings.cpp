// SPDX-License-Identifier: Apache-2.0
#include "io/report/mt_soundings.hpp"

#include "io/report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double site_width = 250.0, left_margin = 66.0, right_margin = 12.0, title_height = 22.0,
                 bottom_margin = 44.0, gap = 9.0;
constexpr double rho_height = 142.0, phase_height = 92.0, low_height = 80.0;
constexpr double least_sigma_drawn = 1e-9;
constexpr double half_turn_deg = 180.0;  // phases further apart meet beyond the ends of their axis

constexpr Color det_colour{0.22, 0.22, 0.22};

struct Curve {
  Shown shown;
  Color color;
  Marker marker;
};

/// Curves on one pair of axes. Unless its label says so, a panel of phases or apparent resistivities is that
/// of xy and yx.
struct Panel {
  std::string label;
  double height;
  std::vector<Curve> curves;
};

Panel panel(std::string label, double height, Shown first, Shown second) {
  return {
      std::move(label), height, {{first, te_colour, Marker::circle}, {second, tm_colour, Marker::square}}};
}

bool has_any(const ShownData& data, const Panel& panel) {
  return std::ranges::any_of(panel.curves, [&](const Curve& curve) { return data.has(curve.shown); });
}

/// Returns the panels of each station, from above: those of which some station has data.
std::vector<Panel> panels_of(const ShownData& data) {
  std::vector<Panel> panels{
      panel("ρₐ (ohm m)", rho_height, Shown::rho_te, Shown::rho_tm),
      panel("Phase (°)", phase_height, Shown::phase_te, Shown::phase_tm),
      {"ρₐ det (ohm m)", rho_height, {{Shown::rho_det, det_colour, Marker::circle}}},
      {"Phase det (°)", phase_height, {{Shown::phase_det, det_colour, Marker::circle}}},
      panel("ρₐ xx, yy", low_height, Shown::rho_xx, Shown::rho_yy),
      panel("Phase xx, yy", low_height, Shown::phase_xx, Shown::phase_yy),
      panel("Φ xx, yy", low_height, Shown::phase_tensor_xx, Shown::phase_tensor_yy),
      panel("Φ xy, yx", low_height, Shown::phase_tensor_xy, Shown::phase_tensor_yx),
      panel(data.places() == Places::map ? "Tzy" : "Tipper", low_height, Shown::tipper_re, Shown::tipper_im),
      panel("Tzx", low_height, Shown::tzx_re, Shown::tzx_im)};
  std::erase_if(panels, [&](const Panel& each) { return !has_any(data, each); });
  return panels;
}

double site_height(const ShownData& data) {
  double height = title_height + bottom_margin - gap;
  for (const Panel& each : panels_of(data)) height += each.height + gap;
  return height;
}

double as_drawn(Shown shown, double value) { return is_rho(shown) ? std::pow(10.0, value) : value; }

/// Extent of everything drawn in a panel over all stations would hide detail, so each station has its own.
struct Extent {
  double low = 1e300, high = -1e300;
  void add(double value) {
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  [[nodiscard]] bool empty() const { return low > high; }
};

/// Returns the value below which this part of sorted values lies.
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at), above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Returns the extent of the middle 92 % of the observed values, as a few outliers would hide the curves.
/// Values farther from the quartiles than three times the distance of these are left out, too.
Extent extent_of_most(const ShownData& data, const std::vector<Curve>& curves, int station) {
  constexpr double left_out = 0.04, farthest = 3.0;
  Extent extent;
  for (const Curve& curve : curves) {
    std::vector<double> values;
    for (int f = 0; f < data.n_frequencies(); ++f) {
      const double value = data.at(curve.shown, f, station).observed;
      if (std::isfinite(value)) values.push_back(value);
    }
    if (values.empty()) continue;
    std::ranges::sort(values);
    const auto n = static_cast<std::size_t>(left_out * static_cast<double>(values.size()));
    const double low = quantile(values, 0.25), high = quantile(values, 0.75), room = farthest * (high - low);
    const auto is_near = [&](double value) { return value >= low - room && value <= high + room; };
    for (std::size_t k = n; k < values.size() - n; ++k)
      if (is_near(values[k])) extent.add(values[k]);
  }
  return extent;
}

/// Returns the extent of the data used and of the predictions over the periods drawn; that of the data that
/// are not used where there is nothing else.
Extent extent_of(const ShownData& data, const std::vector<Curve>& curves, int station) {
  if (!data.has_predictions()) return extent_of_most(data, curves, station);
  Extent extent, of_all;
  for (const Curve& curve : curves) {
    for (const int f : data.used_frequencies()) {
      const ShownDatum datum = data.at(curve.shown, f, station);
      if (datum.kept) extent.add(datum.observed);
      extent.add(datum.predicted);
      of_all.add(datum.observed);
    }
  }
  return extent.empty() ? of_all : extent;
}

Axis value_axis(const ShownData& data, const Panel& panel, int station) {
  Extent extent = extent_of(data, panel.curves, station);
  const Shown kind = panel.curves.front().shown;
  if (is_rho(kind)) {
    extent = extent.empty() ? Extent{1.0, 3.0} : extent;
    const double middle = 0.5 * (extent.low + extent.high),
                 half = std::max(1.0, 0.5 * (extent.high - extent.low) + 0.25);
    return {std::pow(10.0, middle + half), std::pow(10.0, middle - half), Scale::log10, panel.label};
  }
  if (is_phase(kind)) {
    const double low =
        extent.empty() ? 0.0 : std::max(-180.0, std::min(0.0, std::floor(extent.low / 45.0) * 45.0));
    const double high =
        extent.empty() ? 90.0 : std::min(180.0, std::max(90.0, std::ceil(extent.high / 45.0) * 45.0));
    return {high, low, Scale::linear, panel.label, TickLabels::shown, 4, high - low > 135.0 ? 90.0 : 30.0};
  }
  const double size = extent.empty() ? 0.5 : std::max({0.2, std::abs(extent.low), std::abs(extent.high)});
  const double limit = 1.12 * size;
  return {limit, -limit, Scale::linear, panel.label, TickLabels::shown, 3};
}

Axis period_axis(const ShownData& data, TickLabels labels) {
  Extent extent;
  for (const int f : data.used_frequencies()) extent.add(std::log10(data.period_s(f)));
  return {std::pow(10.0, extent.low - 0.2),
          std::pow(10.0, extent.high + 0.2),
          Scale::log10,
          labels == TickLabels::shown ? "Period (s)" : "",
          labels,
          4};
}

void draw_prediction(Canvas& canvas, const Frame& frame, const ShownData& data, const Curve& curve,
                     int station) {
  std::vector<Point> run;
  const Stroke stroke{curve.color, 1.4, {}};
  double before = NAN;
  const auto end_run = [&] {
    canvas.polyline(run, stroke);
    run.clear();
  };
  for (const int f : data.frequencies_by_period()) {
    const double value = data.at(curve.shown, f, station).predicted;
    const bool turns = is_phase(curve.shown) && std::abs(value - before) > half_turn_deg;
    if (turns || !std::isfinite(value)) end_run();
    if (std::isfinite(value)) run.push_back(frame.at(data.period_s(f), as_drawn(curve.shown, value)));
    before = value;
  }
  end_run();
}

void draw_observations(Canvas& canvas, const Frame& frame, const ShownData& data, const Curve& curve,
                       int station) {
  const auto place = [&](int f, double value) {
    return frame.at(data.period_s(f), as_drawn(curve.shown, value));
  };
  std::vector<Point> bars, used;
  for (int f = 0; f < data.n_frequencies(); ++f) {
    const ShownDatum datum = data.at(curve.shown, f, station);
    if (!std::isfinite(datum.observed)) continue;
    if (datum.kept) {
      used.push_back(place(f, datum.observed));
      if (datum.sigma > least_sigma_drawn)
        bars.insert(bars.end(),
                    {place(f, datum.observed - datum.sigma), place(f, datum.observed + datum.sigma)});
      continue;
    }
    const Color paler{0.5 + 0.5 * curve.color.red, 0.5 + 0.5 * curve.color.green,
                      0.5 + 0.5 * curve.color.blue};
    draw_marker(canvas, place(f, datum.observed), {curve.marker, paler, true, 2.0});
  }
  constexpr double disc_width = 5.0, square_width = 4.5;
  canvas.segments(bars, {curve.color, 0.9, {}});
  if (curve.marker == Marker::circle)
    canvas.dots(used, disc_width, curve.color, DotShape::round);
  else
    canvas.dots(used, square_width, curve.color, DotShape::square);
}

/// Draws triangles at the ends of the axis in place of the values used that lie beyond. returns: their
/// number.
std::size_t draw_beyond(Canvas& canvas, const Frame& frame, const ShownData& data, const Curve& curve,
                        int station) {
  constexpr double half = 2.6, height = 4.5;
  std::size_t n = 0;
  for (int f = 0; f < data.n_frequencies(); ++f) {
    const ShownDatum datum = data.at(curve.shown, f, station);
    if (!datum.kept || !std::isfinite(datum.observed)) continue;
    const Point at = frame.at(data.period_s(f), as_drawn(curve.shown, datum.observed));
    const double top = frame.box().y, bottom = top + frame.box().height;
    if (at.y >= top && at.y <= bottom) continue;
    const double tip = at.y < top ? top : bottom, base = at.y < top ? top + height : bottom - height;
    canvas.polygon({{at.x, tip}, {at.x - half, base}, {at.x + half, base}}, {curve.color, {}});
    ++n;
  }
  return n;
}

void draw_panel(Canvas& canvas, const Box& box, const ShownData& data, const Panel& panel, int station,
                TickLabels period_labels) {
  const Frame frame(box, period_axis(data, period_labels), value_axis(data, panel, station));
  frame.draw_grid(canvas);
  canvas.begin_clip(box);
  for (const Curve& curve : panel.curves) {
    draw_prediction(canvas, frame, data, curve, station);
  }
  for (const Curve& curve : panel.curves) {
    draw_observations(canvas, frame, data, curve, station);
  }
  for (const Curve& curve : panel.curves) draw_beyond(canvas, frame, data, curve, station);
  canvas.end_clip();
  frame.draw(canvas);
}

void draw_site(Canvas& canvas, Point corner, const ShownData& data, int station) {
  const double inner = site_width - left_margin - right_margin;
  const double left = corner.x + left_margin;
  double top = corner.y + title_height;
  const double rms = data.rms(station);
  std::string remark = std::isfinite(rms) ? fmt::format("rms {:.2f}", rms) : "no data used";
  if (!data.has_predictions()) remark.clear();
  const TextStyle remark_style{.size = 10.0, .color = grey, .horizontal = Align::end},
      name_style{.size = 12.0, .weight = Weight::bold};
  const double room = inner - (remark.empty() ? 0.0 : text_width(remark, remark_style) + 8.0);
  canvas.text({left, top - 7.0}, shortened(data.station(station).name, room, name_style), name_style);
  canvas.text({left + inner, top - 7.0}, remark, remark_style);
  const std::vector<Panel> panels = panels_of(data);
  for (const Panel& each : panels) {
    draw_panel(canvas, {left, top, inner, each.height}, data, each, station,
               &each == &panels.back() ? TickLabels::shown : TickLabels::hidden);
    top += each.height + gap;
  }
}

constexpr double legend_height = 24.0, legend_margin = 10.0;
constexpr double legend_width = 380.0;  // of windows as narrow as telephones and of sheets of one site

struct LegendEntry {
  std::string text;
  Color color;
  std::optional<Marker> marker;  // none: a line
  bool hollow = false;
};

std::vector<LegendEntry> legend_of(const ShownData& data) {
  const auto has = [&](std::initializer_list<Shown> any) {
    return std::ranges::any_of(any, [&](Shown shown) { return data.has(shown); });
  };
  const bool te = has({Shown::rho_te, Shown::phase_te}), tm = has({Shown::rho_tm, Shown::phase_tm}),
             tzy = has({Shown::tipper_re, Shown::tipper_im}), tzx = has({Shown::tzx_re, Shown::tzx_im}),
             has_phase_tensor = has({Shown::phase_tensor_xx, Shown::phase_tensor_xy}),
             on_map = data.places() == Places::map;
  std::string first = on_map ? "xy" : "TE", second = on_map ? "yx" : "TM";
  if (has({Shown::rho_xx, Shown::phase_xx})) first += " and xx";
  if (has({Shown::rho_yy, Shown::phase_yy})) second += " and yy";
  const std::string tipper = !on_map ? "tipper" : tzy && tzx ? "Tzy and Tzx" : tzx ? "Tzx" : "Tzy";
  std::vector<LegendEntry> entries;
  if (te) entries.push_back({first + " observed", te_colour, Marker::circle});
  if (tm)
    entries.push_back(
        {second + " observed (phase" + (on_map ? " yx" : "") + " +180°)", tm_colour, Marker::square});
  const bool det = has({Shown::rho_det, Shown::phase_det});
  if (det) entries.push_back({"determinant observed", det_colour, Marker::circle});
  if (has_phase_tensor)
    entries.insert(entries.end(), {{"phase tensor Φ: xx, xy", te_colour, Marker::circle},
                                   {"yy, yx", tm_colour, Marker::square}});
  if (tzy || tzx)
    entries.insert(entries.end(), {{tipper + ", real", te_colour, Marker::circle},
                                   {"imaginary", tm_colour, Marker::square}});
  if (!data.has_predictions()) return entries;
  entries.push_back({"not used", grey, Marker::circle, true});
  if (det) entries.push_back({"determinant predicted", det_colour, {}});
  const bool has_others = has_phase_tensor || tzy || tzx;
  if (te || has_others) entries.push_back({te ? first + " predicted" : "predicted", te_colour, {}});
  if (tm || has_others) entries.push_back({tm ? second + " predicted" : "predicted", tm_colour, {}});
  return entries;
}

double width_of(const LegendEntry& entry) {
  return (entry.marker ? 9.0 : 20.0) + text_width(entry.text, {}) + 22.0;
}

using LegendRows = std::vector<std::vector<LegendEntry>>;

/// Breaks the entries into rows of at most this width.
LegendRows rows_of(const std::vector<LegendEntry>& entries, double width) {
  LegendRows rows;
  double used = 0.0;
  for (const LegendEntry& entry : entries) {
    if (rows.empty() || used + width_of(entry) > width) {
      rows.emplace_back();
      used = legend_margin;
    }
    rows.back().push_back(entry);
    used += width_of(entry);
  }
  return rows;
}

double height_of(const LegendRows& rows) { return legend_height * static_cast<double>(rows.size()); }

void draw_legend(Canvas& canvas, const LegendRows& rows) {
  double y = 0.5 * legend_height;
  for (const std::vector<LegendEntry>& row : rows) {
    double x = legend_margin;
    for (const LegendEntry& entry : row) {
      if (entry.marker)
        draw_marker(canvas, {x, y}, {*entry.marker, entry.color, entry.hollow, 3.0});
      else
        canvas.line({x - 4.0, y}, {x + 14.0, y}, {entry.color, 1.6, {}});
      canvas.text({x + (entry.marker ? 9.0 : 20.0), y}, entry.text, {.vertical = Align::middle});
      x += width_of(entry);
    }
    y += legend_height;
  }
}

}  // namespace

Canvas sounding_picture(const ShownData& data, int station) {
  Canvas canvas(site_width, site_height(data));
  draw_site(canvas, {0.0, 0.0}, data, station);
  return canvas;
}

ValuesOfCurves values_of_curves(const ShownData& data, int station) {
  ValuesOfCurves values;
  Canvas unseen(site_width, site_height(data));
  for (const Panel& panel : panels_of(data)) {
    const Frame frame({0.0, 0.0, site_width, panel.height}, period_axis(data, TickLabels::hidden),
                      value_axis(data, panel, station));
    for (const Curve& curve : panel.curves) {
      values.beyond += draw_beyond(unseen, frame, data, curve, station);
      for (int f = 0; f < data.n_frequencies(); ++f) {
        const ShownDatum datum = data.at(curve.shown, f, station);
        if (datum.kept && std::isfinite(datum.observed)) ++values.all;
      }
    }
  }
  return values;
}

Canvas sounding_sheet(const ShownData& data, const std::vector<int>& stations, int n_columns) {
  const int n = static_cast<int>(stations.size());
  const int n_rows = (n + n_columns - 1) / n_columns;
  const double width = std::max(std::min(n, n_columns) * site_width, legend_width);
  const LegendRows legend = rows_of(legend_of(data), width);
  const double top = height_of(legend);
  Canvas canvas(width, top + n_rows * site_height(data));
  draw_legend(canvas, legend);
  for (int k = 0; k < n; ++k) {
    draw_site(canvas, {(k % n_columns) * site_width, top + (k / n_columns) * site_height(data)}, data,
              stations[static_cast<std::size_t>(k)]);
  }
  return canvas;
}

Canvas sounding_legend(const ShownData& data) {
  const LegendRows legend = rows_of(legend_of(data), legend_width);
  Canvas canvas(legend_width, height_of(legend));
  draw_legend(canvas, legend);
  return canvas;
}

}  // namespace lodestone::io::report
