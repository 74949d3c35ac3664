// SPDX-License-Identifier: Apache-2.0
#include "io/report/slice_drawing.hpp"

#include "io/report/contours.hpp"
#include "io/report/property.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr Color water{0.74, 0.85, 0.93};
constexpr double least_part = 0.02, largest_part = 0.98;  // of the cells, at the ends of the colours

struct Seen {
  std::vector<double> values, investigated;
  bool gaps = false;
};

void add_seen(const SliceView& view, Seen& to) {
  const Eigen::VectorXd values = values_in_picture(*view.model);
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    if (!view.shows(piece)) continue;
    const double value = values[piece.cell];
    to.gaps = to.gaps || !std::isfinite(value);
    if (!std::isfinite(value)) continue;
    to.values.push_back(value);
    if (view.investigated == nullptr || (*view.investigated)[piece.cell] >= 0.5)
      to.investigated.push_back(value);
  }
}

// Steps of the colours of logarithms: 1, 3, 10, 30 and so on, which are ticks of the colour bar.
constexpr int fewest_steps = 2;

double log10_of_step(int step) {
  const bool is_three = step % 2 != 0;
  return (step - (is_three ? 1 : 0)) / 2 + (is_three ? std::log10(3.0) : 0.0);
}
/// Returns the largest step that is not above a logarithm.
int step_below(double log10) {
  constexpr double rounding = 1e-9;
  const int decade = static_cast<int>(std::floor(log10 + rounding));
  return 2 * decade + (log10 + rounding >= log10_of_step(2 * decade + 1) ? 1 : 0);
}
int step_above(double log10) { return step_below(log10 - 1e-8) + 1; }

/// Sets the ends of the scale; the values are sorted.
void choose_ends(const std::vector<double>& values, CellColours& colours) {
  const auto percentile = [&](double part) {
    return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
  };
  colours.low = percentile(least_part);
  colours.high = percentile(largest_part);
  if (!shows_log10(colours.property)) {
    if (!(colours.high > colours.low)) colours.high = colours.low + 1.0;
    return;
  }
  int low = step_below(colours.low), high = step_above(colours.high);
  for (bool up = true; high - low < fewest_steps; up = !up) (up ? high : low) += up ? 1 : -1;
  colours.low = log10_of_step(low);
  colours.high = log10_of_step(high);
}

/// Returns the centres of the pieces of a slice in rows and columns: layers along a vertical one, x and y of
/// a map. Cells that are cut off have no value.
ContourGrid contour_grid(const SliceView& view, const PlaceOfSlice& place) {
  const mesh::TensorGrid& grid = view.model->earth.grid;
  const bool is_map = view.slice.surface.empty();
  std::set<double> columns;
  for (const mesh::SlicePiece& piece : view.slice.pieces) columns.insert(piece.corners.front().u_m);
  const Eigen::Index rows = is_map ? grid.n_x() : grid.n_z(), n = static_cast<Eigen::Index>(columns.size());
  ContourGrid to{Eigen::MatrixXd::Zero(rows, n), Eigen::MatrixXd::Zero(rows, n),
                 Eigen::MatrixXd::Constant(rows, n, std::nan(""))};
  const Eigen::VectorXd values = values_in_picture(*view.model);
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    const Eigen::Index row = is_map ? piece.cell % grid.n_x() : piece.cell / grid.n_columns();
    const auto column = std::distance(columns.begin(), columns.find(piece.corners.front().u_m));
    mesh::Flat centre{0.0, 0.0};
    for (const mesh::Flat& corner : piece.corners) {
      centre.u_m += corner.u_m / static_cast<double>(piece.corners.size());
      centre.v_m += corner.v_m / static_cast<double>(piece.corners.size());
    }
    const Point at = place(centre);
    to.x(row, column) = at.x;
    to.y(row, column) = at.y;
    to.value(row, column) = values[piece.cell];
  }
  return to;
}

}  // namespace

bool SliceView::shows(const mesh::SlicePiece& piece) const {
  const auto meets = [&](auto coordinate, const mesh::Interval& range) {
    const auto [least, most] = std::ranges::minmax(piece.corners, {}, coordinate);
    return least.*coordinate < range.to && most.*coordinate > range.from;
  };
  return meets(&mesh::Flat::u_m, u_m) && meets(&mesh::Flat::v_m, v_m);
}

const ColourMap& CellColours::map() const {
  return quantity == SectionQuantity::deviation || !is_resistivity(property) ? phase_colours()
                                                                             : resistivity_colours();
}

Axis CellColours::axis() const {
  const bool is_log10 = shows_log10(property);
  if (quantity == SectionQuantity::deviation)
    return {high, low, Scale::linear,
            fmt::format("Standard deviation ({})", is_log10 ? "decades" : property.units)};
  if (!is_log10) return {high, low, Scale::linear, label_of(property)};
  return {std::pow(10.0, high), std::pow(10.0, low), Scale::log10, label_of(property)};
}

CellColours colours_of(const std::vector<SliceView>& views, SectionQuantity quantity, double low,
                       double high) {
  CellColours colours{.quantity = quantity, .property = views.front().model->property};
  Seen seen;
  for (const SliceView& view : views) add_seen(view, seen);
  colours.gaps = seen.gaps;
  if (!seen.values.empty()) {
    std::ranges::sort(seen.values);
    colours.least = seen.values.front();
    colours.most = seen.values.back();
    std::vector<double>& chosen = seen.investigated.empty() ? seen.values : seen.investigated;
    std::ranges::sort(chosen);
    choose_ends(chosen, colours);
  }
  if (std::isfinite(low)) colours.low = low;
  if (std::isfinite(high)) colours.high = high;
  return colours;
}

void draw_slice(Canvas& canvas, const SliceView& view, const CellColours& colours,
                const PlaceOfSlice& place) {
  const auto places = [&](const std::vector<mesh::Flat>& outline) {
    std::vector<Point> points;
    for (const mesh::Flat& corner : outline) points.push_back(place(corner));
    return points;
  };
  const Eigen::VectorXd values = values_in_picture(*view.model);
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    const double value = values[piece.cell];
    if (std::isfinite(value) && view.shows(piece)) canvas.cell(places(piece.corners), colours.at(value));
  }
  for (const auto& outline : view.slice.water) canvas.polygon(places(outline), {water, {}});
}

void draw_slice_contours(Canvas& canvas, const SliceView& view, const Box& box, const PlaceOfSlice& place) {
  const ContourGrid grid = contour_grid(view, place);
  const bool is_log10 = shows_log10(view.model->property);
  const auto label = [&](double value) -> std::string {
    if (!is_log10) return plain_number(value, 3);
    return std::abs(value - std::round(value)) < 1e-6 ? tick_label(std::pow(10.0, value)) : "";
  };
  double least = INFINITY, most = -INFINITY;
  for (const double value : grid.value.reshaped()) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  constexpr double decades = 0.5, lines = 8.0;
  draw_contours(canvas, grid, is_log10 ? decades : std::max(most - least, 1e-12) / lines, box, label);
}

}  // namespace lodestone::io::report
