// SPDX-License-Identifier: Apache-2.0
#include "io/report/contours.hpp"

#include "engine/core/error.hpp"
#include "io/report/axes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace lodestone::io::report {

namespace {

constexpr double label_size = 9.0, least_length = 110.0;  // of a line with a label
constexpr double apart = 12.0;                            // of labels
const Stroke strong{{0.1, 0.1, 0.1, 0.8}, 0.9, {}}, faint_line{{0.1, 0.1, 0.1, 0.45}, 0.6, {}};

/// A side of a square of four neighbours: that from a point to the next of its row, or of its column.
struct Side {
  Eigen::Index row, column;
  bool along_row;
  friend auto operator<=>(const Side&, const Side&) = default;
};

/// The lines of one level, as they grow from pieces within squares.
class Lines {
 public:
  Lines(const ContourGrid& grid, double level) : grid_(grid), level_(level) {}

  void add_square(Eigen::Index row, Eigen::Index column) {
    const std::array sides{Side{row, column, true}, Side{row, column + 1, false}, Side{row + 1, column, true},
                           Side{row, column, false}};
    std::vector<Side> crossed;
    for (const Side& side : sides)
      if (is_crossed(side)) crossed.push_back(side);
    if (crossed.size() == 2) join(crossed[0], crossed[1]);
    if (crossed.size() != 4) return;
    // A saddle: the mean tells which corners belong together.
    const double mean = 0.25 * grid_.value.block<2, 2>(row, column).sum();
    const bool first_is_above = grid_.value(row, column) > level_;
    const bool split = (mean > level_) == first_is_above;
    join(crossed[0], crossed[split ? 1 : 3]);
    join(crossed[2], crossed[split ? 3 : 1]);
  }

  /// Returns all lines; those that end go first, and closed ones return to where they began.
  [[nodiscard]] std::vector<std::vector<Point>> take() {
    std::vector<std::vector<Point>> lines;
    for (const bool closed : {false, true}) {
      for (auto& [side, others] : neighbours_)
        if (others.size() == 1 || (closed && !others.empty())) lines.push_back(follow(side));
    }
    return lines;
  }

 private:
  [[nodiscard]] std::pair<double, double> ends(const Side& side) const {
    return {grid_.value(side.row, side.column),
            grid_.value(side.row + (side.along_row ? 0 : 1), side.column + (side.along_row ? 1 : 0))};
  }
  [[nodiscard]] bool is_crossed(const Side& side) const {
    const auto [a, b] = ends(side);
    return (a > level_) != (b > level_);
  }
  [[nodiscard]] Point at(const Side& side) const {
    const auto [a, b] = ends(side);
    const double part = (level_ - a) / (b - a);
    const Eigen::Index row = side.row + (side.along_row ? 0 : 1),
                       column = side.column + (side.along_row ? 1 : 0);
    const auto between = [&](const Eigen::MatrixXd& of) {
      return of(side.row, side.column) + part * (of(row, column) - of(side.row, side.column));
    };
    return {between(grid_.x), between(grid_.y)};
  }
  void join(const Side& a, const Side& b) {
    neighbours_[a].push_back(b);
    neighbours_[b].push_back(a);
  }
  /// Walks along a line and takes its pieces away.
  std::vector<Point> follow(Side side) {
    std::vector<Point> line{at(side)};
    while (!neighbours_[side].empty()) {
      const Side next = neighbours_[side].back();
      neighbours_[side].pop_back();
      std::vector<Side>& back = neighbours_[next];
      back.erase(std::ranges::find(back, side));
      side = next;
      line.push_back(at(side));
    }
    return line;
  }

  const ContourGrid& grid_;
  double level_;
  std::map<Side, std::vector<Side>> neighbours_;
};

double length_of(const std::vector<Point>& line) {
  double length = 0.0;
  for (std::size_t k = 1; k < line.size(); ++k)
    length += std::hypot(line[k].x - line[k - 1].x, line[k].y - line[k - 1].y);
  return length;
}

bool overlaps(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// Writes a label on the middle of a line, or nearest to that where it meets no other and no border.
void draw_label(Canvas& canvas, const std::vector<Point>& line, const std::string& label, const Box& box,
                std::vector<Box>& taken) {
  const TextStyle style{.size = label_size, .horizontal = Align::middle, .vertical = Align::middle};
  const double width = text_width(label, style) + 4.0, height = label_size + 3.0;
  const std::size_t n = line.size();
  for (std::size_t step = 0; step < n; ++step) {
    const std::size_t k = step % 2 == 0 ? (n + step) / 2 : (n - step - 1) / 2;
    if (k >= n) continue;
    const Box place{line[k].x - 0.5 * width, line[k].y - 0.5 * height, width, height};
    const bool inside = place.x > box.x && place.y > box.y && place.x + width < box.x + box.width &&
                        place.y + height < box.y + box.height;
    if (!inside || std::ranges::any_of(taken, [&](const Box& other) { return overlaps(place, other); }))
      continue;
    canvas.rectangle(place, {Color{1.0, 1.0, 1.0, 0.75}, {}});
    canvas.text(line[k], label, style);
    taken.push_back({place.x - apart, place.y - apart, width + 2.0 * apart, height + 2.0 * apart});
    return;
  }
}

}  // namespace

std::vector<std::vector<Point>> contour_lines(const ContourGrid& grid, double level) {
  if (grid.x.rows() != grid.value.rows() || grid.x.cols() != grid.value.cols() ||
      grid.y.rows() != grid.value.rows() || grid.y.cols() != grid.value.cols())
    throw core::ShapeError("io::report::contour_lines#wrong_grid",
                           "expected places for {} × {} values, got {} × {} and {} × {}", grid.value.rows(),
                           grid.value.cols(), grid.x.rows(), grid.x.cols(), grid.y.rows(), grid.y.cols());
  Lines lines(grid, level);
  for (Eigen::Index row = 0; row + 1 < grid.value.rows(); ++row) {
    for (Eigen::Index column = 0; column + 1 < grid.value.cols(); ++column)
      if (grid.value.block<2, 2>(row, column).allFinite()) lines.add_square(row, column);
  }
  return lines.take();
}

void draw_contours(Canvas& canvas, const ContourGrid& grid, double step, const Box& box,
                   const std::function<std::string(double)>& label) {
  double least = INFINITY, most = -INFINITY;
  for (const double value : grid.value.reshaped()) {
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  std::vector<Box> taken;
  for (double k = std::ceil(least / step); k * step <= most; ++k) {
    const std::string text = label(k * step);
    for (const std::vector<Point>& line : contour_lines(grid, k * step)) {
      canvas.polyline(line, text.empty() ? faint_line : strong);
      if (!text.empty() && length_of(line) >= least_length) draw_label(canvas, line, text, box, taken);
    }
  }
}

}  // namespace lodestone::io::report
