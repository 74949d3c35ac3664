// SPDX-License-Identifier: Apache-2.0
#include "io/report/slice_drawing.hpp"

#include "io/report/property.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr Color water{0.74, 0.85, 0.93};
constexpr double least_part = 0.02, largest_part = 0.98;  // of the cells, at the ends of the colours

struct Seen {
  std::vector<double> values;
  bool gaps = false;
};

void add_seen(const SliceView& view, Seen& to) {
  const Eigen::VectorXd values = values_in_picture(*view.model);
  for (const mesh::SlicePiece& piece : view.slice.pieces) {
    if (!view.shows(piece)) continue;
    const double value = values[piece.cell];
    if (std::isfinite(value))
      to.values.push_back(value);
    else
      to.gaps = true;
  }
}

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
  colours.low = std::floor(2.0 * colours.low) / 2.0;
  colours.high = std::ceil(2.0 * colours.high) / 2.0;
  const double missing = std::max(0.0, 1.0 - (colours.high - colours.low));
  colours.low -= 0.5 * missing;
  colours.high += 0.5 * missing;
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
    choose_ends(seen.values, colours);
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

}  // namespace lodestone::io::report
