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
constexpr double rho_height = 142.0, phase_height = 92.0, tipper_height = 80.0;
constexpr double least_sigma_drawn = 1e-9;

struct Curve {
  Shown shown;
  Color color;
  Marker marker;
};

bool has_tipper(const ShownData& data) { return data.has(Shown::tipper_re) || data.has(Shown::tipper_im); }

double site_height(const ShownData& data) {
  return title_height + rho_height + gap + phase_height + (has_tipper(data) ? gap + tipper_height : 0.0) +
         bottom_margin;
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

/// Returns the extent of the data used and of the predictions over the periods drawn; that of the data that
/// are not used where there is nothing else.
Extent extent_of(const ShownData& data, const std::vector<Curve>& curves, int station) {
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

Axis value_axis(const ShownData& data, const std::vector<Curve>& curves, int station) {
  Extent extent = extent_of(data, curves, station);
  const Shown kind = curves.front().shown;
  if (is_rho(kind)) {
    extent = extent.empty() ? Extent{1.0, 3.0} : extent;
    const double middle = 0.5 * (extent.low + extent.high),
                 half = std::max(1.0, 0.5 * (extent.high - extent.low) + 0.25);
    return {std::pow(10.0, middle + half), std::pow(10.0, middle - half), Scale::log10, "ρₐ (ohm m)"};
  }
  if (is_phase(kind)) {
    const double low =
        extent.empty() ? 0.0 : std::max(-180.0, std::min(0.0, std::floor(extent.low / 45.0) * 45.0));
    const double high =
        extent.empty() ? 90.0 : std::min(180.0, std::max(90.0, std::ceil(extent.high / 45.0) * 45.0));
    return {high, low, Scale::linear, "Phase (°)", TickLabels::shown, 4, high - low > 135.0 ? 90.0 : 30.0};
  }
  const double size = extent.empty() ? 0.5 : std::max({0.2, std::abs(extent.low), std::abs(extent.high)});
  const double limit = 1.12 * size;
  return {limit, -limit, Scale::linear, "Tipper", TickLabels::shown, 3};
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
  for (const int f : data.frequencies_by_period()) {
    const double value = data.at(curve.shown, f, station).predicted;
    if (std::isfinite(value)) {
      run.push_back(frame.at(data.period_s(f), as_drawn(curve.shown, value)));
    } else {
      canvas.polyline(run, stroke);
      run.clear();
    }
  }
  canvas.polyline(run, stroke);
}

void draw_observations(Canvas& canvas, const Frame& frame, const ShownData& data, const Curve& curve,
                       int station) {
  for (int f = 0; f < data.n_frequencies(); ++f) {
    const ShownDatum datum = data.at(curve.shown, f, station);
    if (!std::isfinite(datum.observed)) {
      continue;
    }
    const Point at = frame.at(data.period_s(f), as_drawn(curve.shown, datum.observed));
    if (datum.kept && datum.sigma > least_sigma_drawn) {
      const Point low = frame.at(data.period_s(f), as_drawn(curve.shown, datum.observed - datum.sigma));
      const Point high = frame.at(data.period_s(f), as_drawn(curve.shown, datum.observed + datum.sigma));
      canvas.line(low, high, {curve.color, 0.9, {}});
    }
    Color color = curve.color;
    if (!datum.kept) {  // hollow and paler
      color = {0.5 + 0.5 * color.red, 0.5 + 0.5 * color.green, 0.5 + 0.5 * color.blue};
    }
    draw_marker(canvas, at, {curve.marker, color, !datum.kept, 2.0});
  }
}

void draw_panel(Canvas& canvas, const Box& box, const ShownData& data, const std::vector<Curve>& curves,
                int station, TickLabels period_labels) {
  const Frame frame(box, period_axis(data, period_labels), value_axis(data, curves, station));
  frame.draw_grid(canvas);
  canvas.begin_clip(box);
  for (const Curve& curve : curves) {
    draw_prediction(canvas, frame, data, curve, station);
  }
  for (const Curve& curve : curves) {
    draw_observations(canvas, frame, data, curve, station);
  }
  canvas.end_clip();
  frame.draw(canvas);
}

double station_rms(const ShownData& data, int station) {
  inversion::RmsSum sum;
  for (const Shown shown : all_shown) {
    for (int f = 0; f < data.n_frequencies(); ++f) {
      sum.add(data.at(shown, f, station).residual);
    }
  }
  return sum.rms();
}

void draw_site(Canvas& canvas, Point corner, const ShownData& data, int station) {
  const double inner = site_width - left_margin - right_margin;
  const double left = corner.x + left_margin;
  double top = corner.y + title_height;
  const double rms = station_rms(data, station);
  canvas.text({left, top - 7.0}, data.station(station).name, {.size = 12.0, .weight = Weight::bold});
  canvas.text({left + inner, top - 7.0}, std::isfinite(rms) ? fmt::format("rms {:.2f}", rms) : "no data used",
              {.size = 10.0, .color = grey, .horizontal = Align::end});
  draw_panel(canvas, {left, top, inner, rho_height}, data,
             {{Shown::rho_te, te_colour, Marker::circle}, {Shown::rho_tm, tm_colour, Marker::square}},
             station, TickLabels::hidden);
  top += rho_height + gap;
  draw_panel(canvas, {left, top, inner, phase_height}, data,
             {{Shown::phase_te, te_colour, Marker::circle}, {Shown::phase_tm, tm_colour, Marker::square}},
             station, has_tipper(data) ? TickLabels::hidden : TickLabels::shown);
  if (has_tipper(data)) {
    top += phase_height + gap;
    draw_panel(canvas, {left, top, inner, tipper_height}, data,
               {{Shown::tipper_re, te_colour, Marker::circle}, {Shown::tipper_im, tm_colour, Marker::square}},
               station, TickLabels::shown);
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
  const bool te = data.has(Shown::rho_te) || data.has(Shown::phase_te),
             tm = data.has(Shown::rho_tm) || data.has(Shown::phase_tm);
  const bool both_parts = has_tipper(data), on_map = data.places() == Places::map;
  const std::string first = on_map ? "xy" : "TE", second = on_map ? "yx" : "TM";
  const std::string tipper = on_map ? "Tzy" : "tipper";
  std::vector<LegendEntry> entries;
  if (te) entries.push_back({first + " observed", te_colour, Marker::circle});
  if (tm) entries.push_back({second + " observed (phase +180°)", tm_colour, Marker::square});
  if (both_parts)
    entries.insert(entries.end(), {{tipper + ", real", te_colour, Marker::circle},
                                   {"imaginary", tm_colour, Marker::square}});
  entries.push_back({"not used", grey, Marker::circle, true});
  if (te || both_parts) entries.push_back({te ? first + " predicted" : "predicted", te_colour, {}});
  if (tm || both_parts) entries.push_back({tm ? second + " predicted" : "predicted", tm_colour, {}});
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
