// SPDX-License-Identifier: Apache-2.0
#include "io/report/misfit.hpp"

#include "io/report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace lodestone::io::report {

namespace {

constexpr double width = 1000.0, left_margin = 60.0, right_margin = 14.0;
constexpr double bar_height = 150.0, head = 28.0, gap = 40.0, label_size = 9.5;
constexpr Color bar_colour{0.36, 0.49, 0.60};
constexpr Color worst_colour{0.78, 0.42, 0.20};

struct Bars {
  std::string title{};
  std::vector<std::string> labels{};
  std::vector<double> rms{};
};

template <class Key>
using Sums = std::vector<std::pair<Key, inversion::RmsSum>>;

/// Sums up the residuals of each value of a column, in the order in which they appear behind those of
/// `known`.
template <class Key>
Sums<Key> sum_by(const std::vector<Key>& column, const Eigen::VectorXd& residual,
                 const std::vector<Key>& known = {}) {
  Sums<Key> sums;
  std::map<Key, std::size_t> place;
  const auto at = [&](const Key& key) -> inversion::RmsSum& {
    const auto [found, is_new] = place.emplace(key, sums.size());
    if (is_new) sums.emplace_back(key, inversion::RmsSum{});
    return sums[found->second].second;
  };
  for (const Key& key : known) (void)at(key);
  for (std::size_t row = 0; row < column.size(); ++row)
    at(column[row]).add(residual[static_cast<Eigen::Index>(row)]);
  return sums;
}

bool has_texts(const core::Table& key, const char* column) {
  return key.has(column) && !key.column(column).is_numbers();
}

/// Returns the names of the sites along the profile, as far as their places are known.
std::vector<std::string> sites_along(const core::Table& sites) {
  if (!sites.has("name")) return {};
  std::vector<std::string> names = sites.texts("name");
  if (!sites.has("y_m")) return names;
  const std::vector<double>& y_m = sites.numbers("y_m");
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return y_m[k]; });
  std::ranges::transform(order, names.begin(), [&](std::size_t k) { return sites.texts("name")[k]; });
  return names;
}

Bars site_bars(const inversion::Outcome& outcome, const Eigen::VectorXd& residual) {
  Bars bars{.title = "Misfit per site"};
  for (const auto& [name, sum] :
       sum_by(outcome.data.key().texts("site"), residual, sites_along(outcome.sites))) {
    bars.labels.push_back(name);
    bars.rms.push_back(sum.rms());
  }
  return bars;
}

Bars period_bars(const core::Table& key, const Eigen::VectorXd& residual) {
  Bars bars{.title = "Misfit per period"};
  auto sums = sum_by(key.numbers("period_s"), residual);
  std::ranges::sort(sums, {}, [](const auto& each) { return each.first; });
  for (const auto& [period_s, sum] : sums) {
    if (sum.count() == 0) continue;
    bars.labels.push_back(period_text(period_s));
    bars.rms.push_back(sum.rms());
  }
  return bars;
}

Bars type_bars(const core::Table& key, const Eigen::VectorXd& residual) {
  Bars bars{.title = "Misfit per type of datum"};
  for (const auto& [name, sum] : sum_by(key.texts("quantity"), residual)) {
    if (sum.count() == 0) continue;
    bars.labels.push_back(name);
    bars.rms.push_back(sum.rms());
  }
  return bars;
}

inversion::RmsSum sum_of(const Eigen::VectorXd& residual) {
  inversion::RmsSum sum;
  for (const double each : residual) sum.add(each);
  return sum;
}

double label_height(const Bars& bars) {
  double widest = 0.0;
  for (const std::string& label : bars.labels) {
    widest = std::max(widest, text_width(label, {.size = label_size}));
  }
  return widest + 12.0;
}

double top_value(const std::vector<std::vector<Bars>>& rows) {
  double top = 1.2;
  for (const std::vector<Bars>& row : rows) {
    for (const Bars& bars : row) {
      for (const double rms : bars.rms) top = std::isfinite(rms) ? std::max(top, rms) : top;
    }
  }
  return 1.08 * top;
}

/// Returns the bars whose labels have room beside each other, `step` from one to the next: the largest rms
/// come first.
std::vector<std::size_t> named_of(const Bars& bars, double step) {
  std::vector<std::size_t> order(bars.rms.size()), named;
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t k) { return std::isfinite(bars.rms[k]) ? bars.rms[k] : -1.0; });
  for (const std::size_t k : order) {
    const auto is_near = [&](std::size_t other) {
      return step * static_cast<double>(std::max(k, other) - std::min(k, other)) < label_size + 1.0;
    };
    if (std::ranges::none_of(named, is_near)) named.push_back(k);
  }
  return named;
}

void draw_bars(Canvas& canvas, const Box& box, const Bars& bars, double top, double overall) {
  const Axis no_ticks{0.0, 0.0, Scale::linear, "", TickLabels::hidden, 1};
  const Frame frame(box, no_ticks, {top, 0.0, Scale::linear, "rms", TickLabels::shown, 4});
  canvas.text({box.x, box.y - 8.0}, bars.title, {.size = 12.0, .weight = Weight::bold});
  const double step = box.width / static_cast<double>(std::max<std::size_t>(1, bars.rms.size()));
  const double thickness = std::min(0.72 * step, 34.0);
  for (std::size_t k = 0; k < bars.rms.size(); ++k) {
    const double centre = box.x + (static_cast<double>(k) + 0.5) * step;
    const double height = box.y + box.height - frame.y(bars.rms[k]);
    canvas.rectangle({centre - 0.5 * thickness, frame.y(bars.rms[k]), thickness, height},
                     {bars.rms[k] > 2.0 * overall ? worst_colour : bar_colour, {}});
  }
  for (const std::size_t k : named_of(bars, step))
    canvas.text(
        {box.x + (static_cast<double>(k) + 0.5) * step, box.y + box.height + 5.0}, bars.labels[k],
        {.size = label_size, .horizontal = Align::end, .vertical = Align::middle, .rotation_deg = 90.0});
  canvas.line({box.x, frame.y(1.0)}, {box.x + box.width, frame.y(1.0)}, {ink, 0.9, {5.0, 4.0}});
  if (std::isfinite(overall)) {
    canvas.line({box.x, frame.y(overall)}, {box.x + box.width, frame.y(overall)}, {worst_colour, 1.1, {}});
  }
  frame.draw(canvas);
}

/// Returns the groups of bars, row by row, of the columns that the key has.
std::vector<std::vector<Bars>> rows_of(const inversion::Outcome& outcome, const Eigen::VectorXd& residual,
                                       const inversion::RmsSum& all) {
  const core::Table& key = outcome.data.key();
  std::vector<std::vector<Bars>> rows;
  if (has_texts(key, "site")) rows.push_back({site_bars(outcome, residual)});
  std::vector<Bars> second;
  if (key.has("period_s") && key.column("period_s").is_numbers())
    second.push_back(period_bars(key, residual));
  if (has_texts(key, "quantity")) second.push_back(type_bars(key, residual));
  if (!second.empty()) rows.push_back(std::move(second));
  if (rows.empty()) rows.push_back({{.title = "Misfit", .labels = {"all data"}, .rms = {all.rms()}}});
  return rows;
}

/// Returns the widths of the groups of a row; the second of two is as wide as its bars ask for.
std::vector<double> widths_of(const std::vector<Bars>& row) {
  const double whole = width - left_margin - right_margin;
  if (row.size() == 1) return {whole};
  const double inner = whole - gap - left_margin;
  const double second = std::clamp(46.0 * static_cast<double>(row.back().rms.size()), 172.0, 0.4 * inner);
  return {inner - second, second};
}

}  // namespace

Canvas misfit_picture(const inversion::Outcome& outcome) {
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  const inversion::RmsSum all = sum_of(residual);
  const std::vector<std::vector<Bars>> rows = rows_of(outcome, residual, all);
  std::vector<double> tops;
  double height = head;
  for (const std::vector<Bars>& row : rows) {
    tops.push_back(height);
    double labels = 0.0;
    for (const Bars& bars : row) labels = std::max(labels, label_height(bars));
    height += bar_height + labels + (&row == &rows.back() ? 8.0 : 30.0);
  }
  Canvas canvas(width, height);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const std::vector<double> widths = widths_of(rows[k]);
    double right = left_margin + widths.front();
    for (std::size_t i = 0; i < rows[k].size(); ++i) {
      if (i > 0) right = width - right_margin;
      draw_bars(canvas, {right - widths[i], tops[k], widths[i], bar_height}, rows[k][i], top_value(rows),
                all.rms());
    }
  }
  canvas.text({width - right_margin, head - 8.0},
              all.count() > 0 ? fmt::format("line: all data, rms {:.2f};  dashed: rms 1", all.rms())
                              : "no data used;  dashed: rms 1",
              {.size = 10.0, .color = grey, .horizontal = Align::end});
  return canvas;
}

}  // namespace lodestone::io::report
