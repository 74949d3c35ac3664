// SPDX-License-Identifier: Apache-2.0
#include "io/report/prior.hpp"

#include "engine/core/error.hpp"
#include "io/report/axes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace lodestone::io::report {

namespace {

constexpr double left_margin = 66.0, right_margin = 16.0, bar_margin = 106.0, head = 58.0,
                 bottom_margin = 50.0;
constexpr double column_gap = 16.0, patch_gap = 12.0;  // between panels
constexpr double column_panel_height = 190.0, min_panel_height = 70.0, max_panel_height = 200.0;
constexpr int columns_across = 8, n_columns_shown = 24, patches_across = 4, n_patches_shown = 16;
constexpr double strong_grading =
    10.0;  // thickest over thinnest layer from which depth is shown by its logarithm
constexpr Color band_colour{0.80, 0.86, 0.92};
constexpr Color median_colour{0.35, 0.47, 0.60};

struct Limits {
  double low = 0.0, high = 4.0;
};

void check(const PriorDraws& draws) {
  const auto increases = [](const std::vector<double>& edges) {
    return edges.size() >= 2 && std::adjacent_find(edges.begin(), edges.end(), [](double a, double b) {
                                  return !(b > a);
                                }) == edges.end();
  };
  if (!increases(draws.depth_m) || !increases(draws.y_m)) {
    throw core::InvalidArgument("io::report::prior_picture#edges_not_increasing",
                                "expected depths and edges of columns that increase, two or more of each");
  }
  const auto n_cells = static_cast<Eigen::Index>((draws.depth_m.size() - 1) * (draws.y_m.size() - 1));
  if (draws.log10_resistivity.rows() != n_cells) {
    throw core::ShapeError("io::report::prior_picture#wrong_cells", "expected draws of {} cells, got {}",
                           n_cells, draws.log10_resistivity.rows());
  }
  if (draws.log10_resistivity.cols() == 0)
    throw core::InvalidArgument("io::report::prior_picture#no_draw",
                                "expected at least one draw, found none");
}

/// The finite values, sorted.
std::vector<double> sorted(const Eigen::MatrixXd& values) {
  std::vector<double> finite;
  for (const double value : values.reshaped()) {
    if (std::isfinite(value)) finite.push_back(value);
  }
  std::sort(finite.begin(), finite.end());
  return finite;
}

/// Returns a percentile of sorted values, linear between neighbours; NaN without values.
double percentile(const std::vector<double>& values, double part) {
  if (values.empty()) return std::nan("");
  const double at = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Returns half decades around the given parts of all values, at least one decade apart.
Limits limits_of(const PriorDraws& draws, const PriorPictureOptions& options, double part) {
  Limits limits;
  if (const std::vector<double> values = sorted(draws.log10_resistivity); !values.empty()) {
    limits = {std::floor(2.0 * percentile(values, part)) / 2.0,
              std::ceil(2.0 * percentile(values, 1.0 - part)) / 2.0};
    const double missing = std::max(0.0, 1.0 - (limits.high - limits.low));
    limits = {limits.low - 0.5 * missing, limits.high + 0.5 * missing};
  }
  if (std::isfinite(options.min_log10)) limits.low = options.min_log10;
  if (std::isfinite(options.max_log10)) limits.high = options.max_log10;
  return limits;
}

void draw_title(Canvas& canvas, const std::string& title, const std::string& subtitle) {
  canvas.text({left_margin, 22.0}, title, {.size = 14.0, .weight = Weight::bold});
  canvas.text({left_margin, 41.0}, subtitle, {.size = 11.0, .color = grey});
}

/// Panels in rows of equal size, with labels at the left and at the bottom alone.
struct Panels {
  int n = 0, n_across = 1;
  double gap = 0.0, width = 0.0, height = 0.0;
  [[nodiscard]] int n_down() const { return (n + n_across - 1) / n_across; }
  [[nodiscard]] double total_height() const { return n_down() * (height + gap) - gap; }
  [[nodiscard]] Box box(int k) const {
    return {left_margin + (k % n_across) * (width + gap), head + (k / n_across) * (height + gap), width,
            height};
  }
  /// The axes of a panel: labels only where no other panel stands to the left or below.
  [[nodiscard]] Frame frame(int k, Axis x, Axis depth) const {
    const bool is_left = k % n_across == 0, is_lowest = k + n_across >= n;
    if (!is_lowest) x.tick_labels = TickLabels::hidden;
    if (!is_left) depth.tick_labels = TickLabels::hidden;
    if (!is_left) depth.label.clear();
    x.label.clear();
    return {box(k), std::move(x), std::move(depth)};
  }
};

/// Draws one name for the horizontal axes of all panels.
void draw_common_label(Canvas& canvas, const Panels& panels, const std::string& label) {
  const double width = panels.n_across * (panels.width + panels.gap) - panels.gap;
  canvas.text({left_margin + 0.5 * width, head + panels.total_height() + 27.0}, label,
              {.size = 12.0, .horizontal = Align::middle, .vertical = Align::start});
}

/// Returns the corners of a curve that is constant in each layer; layers without a value are left out. `top`
/// is where the axis begins.
std::vector<Point> stairs(const Frame& frame, const Eigen::VectorXd& values, const std::vector<double>& depth,
                          double top) {
  std::vector<Point> points;
  for (std::size_t iz = 0; iz + 1 < depth.size(); ++iz) {
    const double value = values[static_cast<Eigen::Index>(iz)];
    if (!std::isfinite(value)) continue;
    for (const double at : {depth[iz], depth[iz + 1]})
      points.push_back(frame.at(std::pow(10.0, value), std::max(at, top)));
  }
  return points;
}

Eigen::VectorXd percentiles(const Eigen::MatrixXd& draws, double part) {
  return Eigen::VectorXd::NullaryExpr(
      draws.rows(), [&](Eigen::Index iz) { return percentile(sorted(draws.row(iz)), part); });
}

Axis depth_axis(const std::vector<double>& depth_m, const LengthUnit& unit) {
  double thinnest = 1e300, thickest = 0.0;
  for (std::size_t iz = 0; iz + 1 < depth_m.size(); ++iz) {
    thinnest = std::min(thinnest, depth_m[iz + 1] - depth_m[iz]);
    thickest = std::max(thickest, depth_m[iz + 1] - depth_m[iz]);
  }
  Axis axis{depth_m.front() / unit.metres, depth_m.back() / unit.metres, Scale::linear,
            fmt::format("Depth ({})", unit.name)};
  if (thickest > strong_grading * thinnest) {
    axis.scale = Scale::log10;
    axis.first = (depth_m.front() > 0.0 ? depth_m.front() : 0.7 * depth_m[1]) / unit.metres;
  }
  return axis;
}

Canvas columns_picture(const PriorDraws& draws, const PriorPictureOptions& options) {
  const Eigen::MatrixXd& all = draws.log10_resistivity;
  Panels panels{static_cast<int>(std::min<Eigen::Index>(all.cols(), n_columns_shown)), columns_across,
                column_gap, 0.0, column_panel_height};
  panels.width = (options.width - left_margin - right_margin + column_gap) / columns_across - column_gap;
  const LengthUnit unit = length_unit(draws.depth_m.back());
  const Axis depth = depth_axis(draws.depth_m, unit);
  const Limits limits = limits_of(draws, options, 0.0);
  constexpr double air = 0.25;  // decades beside the curves, so that labels of neighbours stay apart
  const Axis x{std::pow(10.0, limits.low - air),
               std::pow(10.0, limits.high + air),
               Scale::log10,
               "",
               TickLabels::shown,
               2};
  std::vector<double> edges = draws.depth_m;
  for (double& edge : edges) edge /= unit.metres;
  const Eigen::VectorXd p5 = percentiles(all, 0.05), p50 = percentiles(all, 0.5),
                        p95 = percentiles(all, 0.95);

  Canvas canvas(options.width, head + panels.total_height() + bottom_margin);
  draw_title(
      canvas, draws.title,
      fmt::format(
          "{} of {} draws (red), each over the median (line) and the 5th to 95th percentile (shaded) of all",
          panels.n, all.cols()));
  for (int k = 0; k < panels.n; ++k) {
    const Frame frame = panels.frame(k, x, depth);
    canvas.begin_clip(frame.box());
    std::vector<Point> band = stairs(frame, p5, edges, depth.first),
                       back = stairs(frame, p95, edges, depth.first);
    band.insert(band.end(), back.rbegin(), back.rend());
    canvas.polygon(band, {band_colour, {}});
    canvas.polyline(stairs(frame, p50, edges, depth.first), {median_colour, 1.2, {}});
    canvas.polyline(stairs(frame, all.col(k), edges, depth.first), {te_colour, 1.7, {}});
    canvas.end_clip();
    frame.draw(canvas);
  }
  draw_common_label(canvas, panels, "Resistivity (ohm m)");
  return canvas;
}

void draw_section(Canvas& canvas, const Frame& frame, const PriorDraws& draws, Eigen::Index k,
                  const std::function<Color(double)>& colour) {
  const std::size_t n_y = draws.y_m.size() - 1, n_z = draws.depth_m.size() - 1;
  const LengthUnit unit = length_unit(std::max(draws.y_m.back(), draws.depth_m.back()));
  for (std::size_t iz = 0; iz < n_z; ++iz) {
    for (std::size_t iy = 0; iy < n_y; ++iy) {
      const double value = draws.log10_resistivity(static_cast<Eigen::Index>(iz * n_y + iy), k);
      if (!std::isfinite(value)) continue;
      const auto at = [&](std::size_t jy, std::size_t jz) {
        return frame.at(draws.y_m[jy] / unit.metres, draws.depth_m[jz] / unit.metres);
      };
      canvas.cell({at(iy, iz), at(iy + 1, iz), at(iy + 1, iz + 1), at(iy, iz + 1)}, colour(value));
    }
  }
}

Canvas patches_picture(const PriorDraws& draws, const PriorPictureOptions& options) {
  const int n = static_cast<int>(std::min<Eigen::Index>(draws.log10_resistivity.cols(), n_patches_shown));
  Panels panels{n, patches_across, patch_gap,
                (options.width - left_margin - bar_margin + patch_gap) / patches_across - patch_gap, 0.0};
  const double width_m = draws.y_m.back() - draws.y_m.front(),
               depth_m = draws.depth_m.back() - draws.depth_m.front();
  panels.height = std::clamp(panels.width * depth_m / width_m, min_panel_height, max_panel_height);
  const LengthUnit unit = length_unit(std::max(draws.y_m.back(), draws.depth_m.back()));
  const Axis x{draws.y_m.front() / unit.metres,
               draws.y_m.back() / unit.metres,
               Scale::linear,
               "",
               TickLabels::shown,
               4};
  const Axis depth{draws.depth_m.front() / unit.metres,
                   draws.depth_m.back() / unit.metres,
                   Scale::linear,
                   fmt::format("Depth ({})", unit.name),
                   TickLabels::shown,
                   4};
  const Limits limits = limits_of(draws, options, 0.02);
  const auto colour = [&](double value) {
    return resistivity_colours().at((value - limits.low) / (limits.high - limits.low));
  };

  Canvas canvas(options.width, head + panels.total_height() + bottom_margin);
  draw_title(
      canvas, draws.title,
      fmt::format("{} of {} draws, vertical exaggeration {:.2g} : 1", n, draws.log10_resistivity.cols(),
                  (panels.height / depth_m) / (panels.width / width_m)));
  for (int k = 0; k < n; ++k) {
    const Frame frame = panels.frame(k, x, depth);
    draw_section(canvas, frame, draws, k, colour);
    frame.draw(canvas);
  }
  draw_common_label(canvas, panels, fmt::format("Distance ({})", unit.name));
  const double bar_height = std::min(panels.total_height(), 420.0);
  draw_colour_bar(
      canvas,
      {options.width - bar_margin + 16.0, head + 0.5 * (panels.total_height() - bar_height), 16.0,
       bar_height},
      resistivity_colours(),
      {std::pow(10.0, limits.high), std::pow(10.0, limits.low), Scale::log10, "Resistivity (ohm m)"});
  return canvas;
}

}  // namespace

Canvas prior_picture(const PriorDraws& draws, const PriorPictureOptions& options) {
  check(draws);
  return draws.y_m.size() == 2 ? columns_picture(draws, options) : patches_picture(draws, options);
}

}  // namespace lodestone::io::report
