// SPDX-License-Identifier: Apache-2.0
#include "io/report/misfit.hpp"

#include "io/report/axes.hpp"
#include "io/run/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double width = 1000.0, left_margin = 60.0, right_margin = 14.0;
constexpr double bar_height = 150.0;
constexpr Color bar_colour{0.36, 0.49, 0.60};
constexpr Color worst_colour{0.78, 0.42, 0.20};

struct Bars {
  std::vector<std::string> labels;
  std::vector<double> rms;
};

struct Sums {
  std::vector<run::RmsSum> station, frequency, quantity;
  run::RmsSum all;
};

Sums sum_up(const run::InversionResult& result) {
  const mt::Survey& survey = result.data.survey;
  Sums sums{std::vector<run::RmsSum>(survey.stations.size()),
            std::vector<run::RmsSum>(survey.frequencies_hz.size()),
            std::vector<run::RmsSum>(mt::n_datum_rows),
            {}};
  const Eigen::VectorXd residual = run::normalized_residuals(result.data, result.predicted);
  for (Eigen::Index k = 0; k < residual.size(); ++k) {
    const mt::DatumKey& key = survey.keys[static_cast<std::size_t>(k)];
    sums.station[static_cast<std::size_t>(key.station)].add(residual[k]);
    sums.frequency[static_cast<std::size_t>(key.frequency)].add(residual[k]);
    sums.quantity[static_cast<std::size_t>(key.quantity)].add(residual[k]);
    sums.all.add(residual[k]);
  }
  return sums;
}

/// Indices sorted by a value per entry.
std::vector<std::size_t> order_by(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

Bars station_bars(const mt::Survey& survey, const Sums& sums) {
  std::vector<double> y;
  for (const mt::Station& station : survey.stations) {
    y.push_back(station.y_m);
  }
  Bars bars;
  for (const std::size_t k : order_by(y)) {
    bars.labels.push_back(survey.stations[k].name);
    bars.rms.push_back(sums.station[k].rms());
  }
  return bars;
}

Bars period_bars(const mt::Survey& survey, const Sums& sums) {
  Bars bars;
  std::vector<double> period;
  for (const double frequency : survey.frequencies_hz) {
    period.push_back(1.0 / frequency);
  }
  for (const std::size_t k : order_by(period)) {
    bars.labels.push_back(period[k] >= 0.01 && period[k] < 1e5 ? fmt::format("{:.3g} s", period[k])
                                                               : fmt::format("{:.2g} s", period[k]));
    bars.rms.push_back(sums.frequency[k].rms());
  }
  return bars;
}

Bars type_bars(const Sums& sums) {
  Bars bars;
  for (std::size_t q = 0; q < mt::n_datum_rows; ++q) {
    if (sums.quantity[q].count() > 0) {
      bars.labels.emplace_back(mt::name_of(static_cast<mt::Datum>(q)));
      bars.rms.push_back(sums.quantity[q].rms());
    }
  }
  return bars;
}

double label_height(const Bars& bars) {
  double widest = 0.0;
  for (const std::string& label : bars.labels) {
    widest = std::max(widest, text_width(label, {.size = 9.5}));
  }
  return widest + 12.0;
}

double top_value(const std::vector<const Bars*>& all) {
  double top = 1.2;
  for (const Bars* bars : all) {
    for (const double rms : bars->rms) {
      top = std::isfinite(rms) ? std::max(top, rms) : top;
    }
  }
  return 1.08 * top;
}

void draw_bars(Canvas& canvas, const Box& box, const std::string& title, const Bars& bars, double top,
               double overall) {
  const Axis no_ticks{0.0, 0.0, Scale::linear, "", TickLabels::hidden, 1};
  const Frame frame(box, no_ticks, {top, 0.0, Scale::linear, "rms", TickLabels::shown, 4});
  canvas.text({box.x, box.y - 8.0}, title, {.size = 12.0, .weight = Weight::bold});
  const double step = box.width / static_cast<double>(std::max<std::size_t>(1, bars.rms.size()));
  const double thickness = std::min(0.72 * step, 34.0);
  for (std::size_t k = 0; k < bars.rms.size(); ++k) {
    const double centre = box.x + (static_cast<double>(k) + 0.5) * step;
    const double height = box.y + box.height - frame.y(bars.rms[k]);
    canvas.rectangle({centre - 0.5 * thickness, frame.y(bars.rms[k]), thickness, height},
                     {bars.rms[k] > 2.0 * overall ? worst_colour : bar_colour, {}});
    canvas.text({centre, box.y + box.height + 5.0}, bars.labels[k],
                {.size = 9.5, .horizontal = Align::end, .vertical = Align::middle, .rotation_deg = 90.0});
  }
  canvas.line({box.x, frame.y(1.0)}, {box.x + box.width, frame.y(1.0)}, {ink, 0.9, {5.0, 4.0}});
  if (std::isfinite(overall)) {
    canvas.line({box.x, frame.y(overall)}, {box.x + box.width, frame.y(overall)}, {worst_colour, 1.1, {}});
  }
  frame.draw(canvas);
}

}  // namespace

Canvas misfit_picture(const run::InversionResult& result) {
  const Sums sums = sum_up(result);
  const Bars stations = station_bars(result.data.survey, sums),
             periods = period_bars(result.data.survey, sums), types = type_bars(sums);
  const double top = top_value({&stations, &periods, &types});
  constexpr double head = 28.0, gap = 40.0;
  const double second_row = head + bar_height + label_height(stations) + 30.0;
  Canvas canvas(width, second_row + bar_height + std::max(label_height(periods), label_height(types)) + 8.0);
  draw_bars(canvas, {left_margin, head, width - left_margin - right_margin, bar_height}, "Misfit per site",
            stations, top, sums.all.rms());
  const double inner = width - left_margin - right_margin - gap - left_margin;
  const double type_width = std::clamp(46.0 * static_cast<double>(types.rms.size()), 172.0, 0.4 * inner);
  draw_bars(canvas, {left_margin, second_row, inner - type_width, bar_height}, "Misfit per period", periods,
            top, sums.all.rms());
  draw_bars(canvas, {width - right_margin - type_width, second_row, type_width, bar_height},
            "Misfit per type of datum", types, top, sums.all.rms());
  canvas.text({width - right_margin, head - 8.0},
              sums.all.count() > 0 ? fmt::format("line: all data, rms {:.2f};  dashed: rms 1", sums.all.rms())
                                   : "no data used;  dashed: rms 1",
              {.size = 10.0, .color = grey, .horizontal = Align::end});
  return canvas;
}

}  // namespace lodestone::io::report
