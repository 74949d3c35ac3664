// SPDX-License-Identifier: Apache-2.0
#include "io/report/mt_pseudosections.hpp"

#include "io/report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double width = 1000.0, left_margin = 66.0, right_margin = 106.0, bottom_margin = 48.0;
constexpr double panel_height = 132.0, panel_gap = 30.0, title_height = 26.0;
constexpr double residual_limit = 4.0;
constexpr Color no_datum{0.80, 0.80, 0.80};

/// Returns the boundaries half-way between neighbours, as far outside at the ends.
std::vector<double> boundaries(const std::vector<double>& centres, double lone_half_width) {
  const std::size_t n = centres.size();
  std::vector<double> edges(n + 1);
  for (std::size_t k = 1; k < n; ++k) {
    edges[k] = 0.5 * (centres[k - 1] + centres[k]);
  }
  edges[0] = n > 1 ? centres[0] - (edges[1] - centres[0]) : centres[0] - lone_half_width;
  edges[n] = n > 1 ? centres[n - 1] + (centres[n - 1] - edges[n - 1]) : centres[0] + lone_half_width;
  return edges;
}

struct Layout {
  std::vector<int> stations, frequencies;  // in the order drawn
  std::vector<double> y_edges, log_period_edges;
  LengthUnit unit;
};

Layout make_layout(const ShownData& data) {
  Layout layout{data.stations_along(), data.used_frequencies(), {}, {}, {}};
  std::vector<double> y, log_period;
  for (const int station : layout.stations) {
    y.push_back(data.station(station).y_m);
  }
  for (const int frequency : layout.frequencies) {
    log_period.push_back(std::log10(data.period_s(frequency)));
  }
  layout.y_edges = boundaries(y, 500.0);
  layout.log_period_edges = boundaries(log_period, 0.1);
  layout.unit = length_unit(layout.y_edges.back() - layout.y_edges.front());
  return layout;
}

/// A panel: what it shows and on which scale.
struct Panel {
  Shown shown;
  std::string title;
  std::function<double(const ShownDatum&)> value;
  const ColourMap* map;
  double low, high;  // of `value`
  Axis bar;          // first at the top
};

struct Range {
  double low, high;
};

using Names = std::set<std::string>;

/// Returns all kept observations and their predictions, but not those of the stations of these names.
std::vector<double> values_of(const ShownData& data, Shown shown, const Names& without) {
  std::vector<double> values;
  for (const int f : data.used_frequencies()) {
    for (int s = 0; s < data.n_stations(); ++s) {
      if (without.contains(data.station(s).name)) continue;
      const ShownDatum datum = data.at(shown, f, s);
      for (const double value : {datum.kept ? datum.observed : mt::not_given, datum.predicted})
        if (std::isfinite(value)) values.push_back(value);
    }
  }
  return values;
}

/// Returns the range of the values, rounded outwards; those of the stations to leave out count only where
/// there are no others.
Range value_range(const ShownData& data, Shown shown, const Names& without) {
  if (is_phase(shown)) return {0.0, 90.0};
  std::vector<double> values = values_of(data, shown, without);
  if (values.empty()) values = values_of(data, shown, {});
  if (values.empty()) {
    return is_rho(shown) ? Range{0.0, 4.0} : Range{-0.5, 0.5};
  }
  std::sort(values.begin(), values.end());
  const auto percentile = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  };
  if (is_rho(shown)) {
    const double low = std::floor(2.0 * percentile(0.01)) / 2.0,
                 high = std::ceil(2.0 * percentile(0.99)) / 2.0;
    return {low, std::max(high, low + 1.0)};
  }
  const double size = std::max({0.1, std::abs(percentile(0.01)), std::abs(percentile(0.99))});
  return {-std::ceil(10.0 * size) / 10.0, std::ceil(10.0 * size) / 10.0};
}

Axis value_axis(Shown shown, const Range& range) {
  if (is_rho(shown)) {
    return {std::pow(10.0, range.high), std::pow(10.0, range.low), Scale::log10, "ohm m"};
  }
  return {range.high,
          range.low,
          Scale::linear,
          is_phase(shown) ? "degrees" : "",
          TickLabels::shown,
          4,
          is_phase(shown) ? 30.0 : 0.0};
}

std::string full_title_of(Shown shown) {
  return title_of(shown) + (shown == Shown::phase_tm ? " (folded by +180°)" : "");
}

Panel observed_panel(const ShownData& data, Shown shown, std::string title, const Names& set_no_limits = {}) {
  const Range range = value_range(data, shown, set_no_limits);
  const ColourMap& map = is_rho(shown)     ? resistivity_colours()
                         : is_phase(shown) ? phase_colours()
                                           : residual_colours();
  return {shown,
          std::move(title),
          [](const ShownDatum& d) { return d.kept ? d.observed : mt::not_given; },
          &map,
          range.low,
          range.high,
          value_axis(shown, range)};
}

std::vector<Panel> make_panels(const ShownData& data, Shown shown) {
  const Panel observed = observed_panel(data, shown, "observed");
  Panel predicted = observed;
  predicted.title = "predicted";
  predicted.value = [](const ShownDatum& d) { return d.predicted; };
  return {observed,
          predicted,
          {shown,
           "residual: (observed − predicted) / error",
           [](const ShownDatum& d) { return d.residual; },
           &residual_colours(),
           -residual_limit,
           residual_limit,
           {residual_limit, -residual_limit, Scale::linear, "errors", TickLabels::shown, 4}}};
}

void draw_cells(Canvas& canvas, const Frame& frame, const Layout& layout, const ShownData& data,
                const Panel& panel) {
  canvas.rectangle(frame.box(), {no_datum, {}});
  for (std::size_t kf = 0; kf < layout.frequencies.size(); ++kf) {
    const double top = frame.y(std::pow(10.0, layout.log_period_edges[kf])),
                 bottom = frame.y(std::pow(10.0, layout.log_period_edges[kf + 1]));
    for (std::size_t ks = 0; ks < layout.stations.size(); ++ks) {
      const double value = panel.value(data.at(panel.shown, layout.frequencies[kf], layout.stations[ks]));
      if (std::isfinite(value)) {
        const double left = frame.x(layout.y_edges[ks] / layout.unit.metres),
                     right = frame.x(layout.y_edges[ks + 1] / layout.unit.metres);
        canvas.cell({{left, top}, {right, top}, {right, bottom}, {left, bottom}},
                    panel.map->at((value - panel.low) / (panel.high - panel.low)));
      }
    }
  }
}

/// Returns the ends of the colour scale beyond which values of a panel lie.
Clipped clipped_in(const ShownData& data, const Panel& panel) {
  double least = mt::not_given, most = mt::not_given;
  for (const int f : data.used_frequencies()) {
    for (int s = 0; s < data.n_stations(); ++s) {
      const double value = panel.value(data.at(panel.shown, f, s));
      least = std::fmin(least, value);
      most = std::fmax(most, value);
    }
  }
  return Clipped::of(least, most, panel.low, panel.high);
}

StationLabels labels_of(const ShownData& data, const Layout& layout, const Frame& frame) {
  StationLabels labels;
  for (const int station : layout.stations) {
    const mt::Station& at = data.station(station);
    labels.names.push_back(at.name);
    labels.x.push_back(frame.x(at.y_m / layout.unit.metres));
    labels.surface_y.push_back(frame.box().y - 1.0);
  }
  labels.top = frame.box().y - 13.0;
  return labels;
}

Canvas picture_of(const ShownData& data, const std::vector<Panel>& panels, const std::string& title) {
  const Layout layout = make_layout(data);
  std::vector<std::string> names;
  for (const mt::Station& station : data.stations()) names.push_back(station.name);
  const double head = title_height + station_label_height(names) + 22.0;
  Canvas canvas(width, head + static_cast<double>(panels.size()) * (panel_height + panel_gap) - panel_gap +
                           bottom_margin);
  canvas.text({left_margin, title_height - 8.0}, title, {.size = 14.0, .weight = Weight::bold});
  double top = head;
  for (const Panel& panel : panels) {
    const bool last = &panel == &panels.back();
    const Axis distance{layout.y_edges.front() / layout.unit.metres,
                        layout.y_edges.back() / layout.unit.metres,
                        Scale::linear,
                        last ? fmt::format("Distance along profile ({})", layout.unit.name) : "",
                        last ? TickLabels::shown : TickLabels::hidden,
                        10};
    const Axis period{std::pow(10.0, layout.log_period_edges.front()),
                      std::pow(10.0, layout.log_period_edges.back()), Scale::log10, "Period (s)"};
    const Frame frame({left_margin, top, width - left_margin - right_margin, panel_height}, distance, period);
    draw_cells(canvas, frame, layout, data, panel);
    frame.draw(canvas);
    if (&panel == &panels.front()) {
      draw_stations(canvas, labels_of(data, layout, frame));
      canvas.text({left_margin, top - station_label_height(names) - 10.0}, panel.title,
                  {.size = 12.0, .color = grey});
    } else {
      canvas.text({left_margin, top - 7.0}, panel.title, {.size = 12.0, .color = grey});
    }
    draw_colour_bar(canvas, {width - right_margin + 16.0, top, 14.0, panel_height}, *panel.map, panel.bar,
                    clipped_in(data, panel));
    top += panel_height + panel_gap;
  }
  return canvas;
}

bool is_empty(const ShownData& data) { return data.n_stations() == 0 || data.n_frequencies() == 0; }

}  // namespace

Canvas pseudosection_picture(const ShownData& data, Shown shown) {
  if (is_empty(data)) return {width, 1.0};
  return picture_of(data, make_panels(data, shown), full_title_of(shown));
}

Canvas observed_pseudosections(const ShownData& data, const std::vector<Shown>& all, const std::string& title,
                               const std::set<std::string>& set_no_limits) {
  std::vector<Panel> panels;
  for (const Shown shown : all)
    if (data.has(shown)) panels.push_back(observed_panel(data, shown, full_title_of(shown), set_no_limits));
  if (is_empty(data) || panels.empty()) return {width, 1.0};
  return picture_of(data, panels, title);
}

}  // namespace lodestone::io::report
