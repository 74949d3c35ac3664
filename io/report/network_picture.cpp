// SPDX-License-Identifier: Apache-2.0
#include "io/report/network_picture.hpp"

#include "engine/core/error.hpp"
#include "io/report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lodestone::io::report {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double width = 1000.0, left_margin = 66.0, right_margin = 14.0, head = 28.0, bottom_margin = 46.0;
constexpr double bar_margin = 100.0;  // of the colour bar
constexpr Color draw_colour{0.55, 0.58, 0.62};
constexpr TextStyle heading{.size = 12.0, .weight = Weight::bold};

void check(const char* what, const physics::mesh::TensorGrid& grid, const MatrixXd& cells) {
  if (cells.rows() != grid.n_cells())
    throw core::ShapeError("io::report::network_picture#wrong_cells",
                           "expected {} cells per subdomain of the {}, got {}", grid.n_cells(), what,
                           cells.rows());
}

/// Extent of all finite numbers.
struct Extent {
  double low = 1e300, high = -1e300;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void add(const MatrixXd& values) {
    for (const double each : values.reshaped()) add(each);
  }
  [[nodiscard]] Extent widened(double share, double least) const {
    if (low > high) return {0.0, 1.0};
    const double margin = std::max(share * (high - low), 0.5 * (least - (high - low)));
    return {low - std::max(margin, 0.0), high + std::max(margin, 0.0)};
  }
};

/// Depth in the middle of a layer is read off a logarithmic axis: layers grow with depth.
Axis depth_axis(const physics::mesh::TensorGrid& grid, TickLabels labels = TickLabels::shown) {
  const LengthUnit unit = length_unit(grid.z_edges_m().back());
  const double first = grid.z_edges_m().front() > 0.0 ? grid.z_edges_m().front() : 0.5 * grid.z_edges_m()[1];
  return {first / unit.metres,
          grid.z_edges_m().back() / unit.metres,
          Scale::log10,
          fmt::format("Depth ({})", unit.name),
          labels,
          5};
}

/// Returns the depth of an interface on that axis.
double on_axis(const physics::mesh::TensorGrid& grid, std::size_t interface) {
  const LengthUnit unit = length_unit(grid.z_edges_m().back());
  return std::max(grid.z_edges_m()[interface],
                  grid.z_edges_m().front() > 0.0 ? 0.0 : 0.5 * grid.z_edges_m()[1]) /
         unit.metres;
}

/// The steps of a column from its top to its bottom.
std::vector<Point> steps(const Frame& frame, const physics::mesh::TensorGrid& grid,
                         const Eigen::Ref<const Eigen::VectorXd>& values) {
  std::vector<Point> result;
  for (Index iz = 0; iz < grid.n_z(); ++iz) {
    const auto layer = static_cast<std::size_t>(iz);
    result.push_back(frame.at(values[iz], on_axis(grid, layer)));
    result.push_back(frame.at(values[iz], on_axis(grid, layer + 1)));
  }
  return result;
}

/// Draws a subdomain as an image in a box, on the depth axis of the others.
void draw_image(Canvas& canvas, const Box& box, const physics::mesh::TensorGrid& grid,
                const Eigen::Ref<const Eigen::VectorXd>& values, const ColourMap& map, const Extent& scale) {
  const Frame frame(box, {grid.y_edges_m().front(), grid.y_edges_m().back()}, depth_axis(grid));
  for (Index iz = 0; iz < grid.n_z(); ++iz) {
    const double top = frame.y(on_axis(grid, static_cast<std::size_t>(iz))),
                 bottom = frame.y(on_axis(grid, static_cast<std::size_t>(iz) + 1));
    for (Index iy = 0; iy < grid.n_y(); ++iy) {
      const double left = frame.x(grid.y_edges_m()[static_cast<std::size_t>(iy)]),
                   right = frame.x(grid.y_edges_m()[static_cast<std::size_t>(iy) + 1]);
      const double value = values[iz * grid.n_y() + iy];
      canvas.cell({{left, top}, {right, top}, {right, bottom}, {left, bottom}},
                  map.at((value - scale.low) / (scale.high - scale.low)));
    }
  }
}

/// A row of subdomains side by side under one heading; the depth axis at the left.
struct ImageRow {
  std::string title;
  const MatrixXd& cells;
  const ColourMap& map = resistivity_colours();
  Extent scale = {};
};
void draw_row(Canvas& canvas, const Box& box, const physics::mesh::TensorGrid& grid, const ImageRow& row) {
  const auto n = static_cast<double>(std::max<Index>(row.cells.cols(), 1));
  const double gap = grid.n_y() > 1 ? 8.0 : 2.0, step = (box.width + gap) / n;
  canvas.text({box.x, box.y - 8.0}, row.title, heading);
  for (Index k = 0; k < row.cells.cols(); ++k)
    draw_image(canvas, {box.x + static_cast<double>(k) * step, box.y, step - gap, box.height}, grid,
               row.cells.col(k), row.map, row.scale);
  Frame(box, {0.0, 0.0, Scale::linear, "", TickLabels::hidden, 1}, depth_axis(grid)).draw(canvas);
}

/// Returns the resistivities that a scale covers as an axis of ohm m, the larger at the top.
Axis resistivity_axis(const Extent& scale) {
  return {std::pow(10.0, scale.high), std::pow(10.0, scale.low), Scale::log10, "Resistivity (ohm m)"};
}

Canvas image_rows(const physics::mesh::TensorGrid& grid, const std::vector<ImageRow>& rows,
                  const std::vector<Axis>& scales) {
  constexpr double gap = 36.0;
  const double height = grid.n_y() > 1 ? 132.0 : 190.0, inner = width - left_margin - bar_margin;
  Canvas canvas(width, head + static_cast<double>(rows.size()) * (height + gap) - gap + 16.0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const Box box{left_margin, head + static_cast<double>(k) * (height + gap), inner, height};
    draw_row(canvas, box, grid, rows[k]);
    draw_colour_bar(canvas, {box.x + box.width + 16.0, box.y, 12.0, box.height}, rows[k].map, scales[k]);
  }
  return canvas;
}

/// Draws the curves of one column: the draw and what came back.
void draw_pair(Canvas& canvas, const Frame& frame, const physics::mesh::TensorGrid& grid,
               const Eigen::Ref<const Eigen::VectorXd>& draw, const Eigen::Ref<const Eigen::VectorXd>& back) {
  frame.draw_grid(canvas);
  canvas.begin_clip(frame.box());
  canvas.polyline(steps(frame, grid, draw), {draw_colour, 3.4, {}});
  canvas.polyline(steps(frame, grid, back), {te_colour, 1.4, {}});
  canvas.end_clip();
  frame.draw(canvas);
}

Canvas column_pairs(const physics::mesh::TensorGrid& grid, const MatrixXd& draws,
                    const MatrixXd& reconstructions) {
  constexpr Index in_row = 6;
  constexpr double height = 190.0, gap = 14.0, between = 26.0;
  const Index n_rows = std::max<Index>((draws.cols() + in_row - 1) / in_row, 1);
  Extent extent;
  extent.add(draws);
  extent.add(reconstructions);
  extent = extent.widened(0.04, 1.0);
  const double panel = (width - left_margin - right_margin - (in_row - 1) * gap) / in_row;
  Canvas canvas(width, head + static_cast<double>(n_rows) * (height + between) - between + bottom_margin);
  canvas.text({left_margin, head - 8.0}, "Validation draws and their reconstruction", heading);
  const double legend = width - right_margin - 190.0;
  canvas.line({legend, head - 12.0}, {legend + 22.0, head - 12.0}, {draw_colour, 3.4, {}});
  canvas.text({legend + 27.0, head - 8.0}, "draw", {.size = 10.5});
  canvas.line({legend + 80.0, head - 12.0}, {legend + 102.0, head - 12.0}, {te_colour, 1.4, {}});
  canvas.text({legend + 107.0, head - 8.0}, "reconstruction", {.size = 10.5});
  for (Index k = 0; k < draws.cols(); ++k) {
    const bool is_first = k % in_row == 0, is_last_row = k / in_row == n_rows - 1;
    const auto shown = [](bool condition) { return condition ? TickLabels::shown : TickLabels::hidden; };
    Axis depth = depth_axis(grid, shown(is_first));
    if (!is_first) depth.label = "";
    const Box box{left_margin + static_cast<double>(k % in_row) * (panel + gap),
                  head + static_cast<double>(k / in_row) * (height + between), panel, height};
    const Frame frame(
        box,
        {extent.low, extent.high, Scale::linear, is_last_row ? "log₁₀ ρ (ohm m)" : "", shown(is_last_row), 4},
        depth);
    draw_pair(canvas, frame, grid, draws.col(k), reconstructions.col(k));
  }
  return canvas;
}

Axis log_axis(const std::vector<double>& values, const std::string& label) {
  Extent logs;
  for (const double each : values) {
    if (each > 0.0) logs.add(std::log10(each));
  }
  logs = logs.widened(0.06, 0.6);
  return {std::pow(10.0, logs.high), std::pow(10.0, logs.low), Scale::log10, label};
}

struct Curve {
  std::string name;
  Color color;
  std::function<double(const TrainingEpoch&)> get;
};

/// Draws curves over the epochs with their names at the top right.
void draw_curves(Canvas& canvas, const Box& box, const std::string& title,
                 const std::vector<TrainingEpoch>& history, const std::vector<Curve>& curves,
                 int best_epoch) {
  std::vector<double> all;
  for (const Curve& curve : curves) {
    for (const TrainingEpoch& each : history) all.push_back(curve.get(each));
  }
  const double last = history.empty() ? 1.0 : std::max(2, history.back().epoch);
  const Frame frame(box, {1.0, last, Scale::linear, "Epoch", TickLabels::shown, 8, last <= 10.0 ? 1.0 : 0.0},
                    log_axis(all, ""));
  canvas.text({box.x, box.y - 8.0}, title, heading);
  frame.draw_grid(canvas);
  if (best_epoch > 0)
    canvas.line({frame.x(best_epoch), box.y}, {frame.x(best_epoch), box.y + box.height},
                {ink, 0.9, {5.0, 4.0}});
  double legend = box.x + box.width;
  for (auto curve = curves.rbegin(); curve != curves.rend(); ++curve) {
    std::vector<Point> points;
    for (const TrainingEpoch& each : history) points.push_back(frame.at(each.epoch, curve->get(each)));
    std::erase_if(points, [](const Point& at) { return !std::isfinite(at.y); });
    canvas.polyline(points, {curve->color, 1.6, {}});
    legend -= text_width(curve->name, {.size = 10.5});
    canvas.text({legend, box.y - 8.0}, curve->name, {.size = 10.5, .color = curve->color});
    legend -= 14.0;
  }
  frame.draw(canvas);
}

void draw_scatter(Canvas& canvas, const Box& box, const MatrixXd& codes, Index a, Index b) {
  constexpr double limit = 3.6;
  const Frame frame(box, {-limit, limit, Scale::linear, fmt::format("code {}", a + 1), TickLabels::shown, 4},
                    {limit, -limit, Scale::linear, fmt::format("code {}", b + 1), TickLabels::shown, 4});
  frame.draw_grid(canvas);
  canvas.begin_clip(box);
  for (Index k = 0; k < codes.cols(); ++k)
    canvas.circle(frame.at(codes(a, k), codes(b, k)), 1.3, {Color{0.10, 0.40, 0.68, 0.45}, {}});
  for (const double sigma : {1.0, 2.0})
    canvas.circle(frame.at(0.0, 0.0), frame.x(sigma) - frame.x(0.0), {{}, Stroke{ink, 0.9, {5.0, 4.0}}});
  canvas.end_clip();
  frame.draw(canvas);
}

/// Leaves out codes that do not vary.
void draw_histogram(Canvas& canvas, const Box& box, const MatrixXd& codes) {
  constexpr int n_bins = 36;
  constexpr double limit = 3.6, bin = 2.0 * limit / n_bins, least_variance = 0.01;
  std::vector<double> density(n_bins);
  double n = 0.0;
  for (Index row = 0; row < codes.rows(); ++row) {
    if ((codes.row(row).array() - codes.row(row).mean()).square().mean() <= least_variance) continue;
    n += static_cast<double>(codes.cols());
    for (Index k = 0; k < codes.cols(); ++k) {
      const double at = (codes(row, k) + limit) / bin;
      if (at >= 0.0 && at < n_bins) density[static_cast<std::size_t>(at)] += 1.0 / bin;
    }
  }
  for (double& each : density) each /= std::max(n, 1.0);
  const double top = 1.1 * std::max(0.4, *std::ranges::max_element(density));
  const Frame frame(box, {-limit, limit, Scale::linear, "codes in use", TickLabels::shown, 4},
                    {top, 0.0, Scale::linear, "density", TickLabels::shown, 4});
  for (int k = 0; k < n_bins; ++k) {
    const double height = density[static_cast<std::size_t>(k)], left = frame.x(-limit + k * bin),
                 right = frame.x(-limit + (k + 1) * bin);
    canvas.rectangle({left, frame.y(height), right - left, frame.y(0.0) - frame.y(height)},
                     {draw_colour, {}});
  }
  std::vector<Point> normal;
  for (double v = -limit; v <= limit; v += 0.05)
    normal.push_back(frame.at(v, std::exp(-0.5 * v * v) / std::sqrt(2.0 * 3.14159265358979)));
  canvas.polyline(normal, {ink, 1.1, {5.0, 4.0}});
  frame.draw(canvas);
}

void draw_divergences(Canvas& canvas, const Box& box, const Eigen::VectorXd& divergence) {
  const double top = 1.08 * std::max(1e-3, divergence.size() > 0 ? divergence.maxCoeff() : 0.0),
               n = static_cast<double>(std::max<Index>(divergence.size(), 1));
  const Frame frame(box, {0.5, n + 0.5, Scale::linear, "code", TickLabels::shown, 4},
                    {top, 0.0, Scale::linear, "divergence (nats)", TickLabels::shown, 4});
  for (Index k = 0; k < divergence.size(); ++k) {
    const double centre = frame.x(static_cast<double>(k) + 1.0), half = 0.38 * box.width / n;
    canvas.rectangle(
        {centre - half, frame.y(divergence[k]), 2.0 * half, frame.y(0.0) - frame.y(divergence[k])},
        {tm_colour, {}});
  }
  frame.draw(canvas);
}

/// Draws the root mean square over the columns of each layer.
void draw_errors(Canvas& canvas, const Box& box, const physics::mesh::TensorGrid& grid,
                 const Eigen::VectorXd& cell_rms) {
  Eigen::VectorXd layers(grid.n_z());
  for (Index iz = 0; iz < grid.n_z(); ++iz)
    layers[iz] = std::sqrt(cell_rms.segment(iz * grid.n_y(), grid.n_y()).array().square().mean());
  const double top = 1.1 * std::max(1e-3, layers.maxCoeff());
  const Frame frame(box, {0.0, top, Scale::linear, "error (decades)", TickLabels::shown, 3},
                    depth_axis(grid));
  frame.draw_grid(canvas);
  canvas.polyline(steps(frame, grid, layers), {te_colour, 1.6, {}});
  frame.draw(canvas);
}

}  // namespace

Canvas training_picture(const std::vector<TrainingEpoch>& history, int best_epoch) {
  constexpr double height = 220.0, between = 76.0;
  Canvas canvas(width, head + height + bottom_margin);
  const double panel = 0.5 * (width - left_margin - right_margin - between);
  draw_curves(canvas, {left_margin, head, panel, height}, "Loss", history,
              {{"training", grey, [](const TrainingEpoch& each) { return each.training_loss; }},
               {"validation", te_colour, [](const TrainingEpoch& each) { return each.loss; }}},
              best_epoch);
  draw_curves(
      canvas, {left_margin + panel + between, head, panel, height}, "Its terms, validation", history,
      {{"reconstruction", te_colour, [](const TrainingEpoch& each) { return each.reconstruction; }},
       {"1 − SSIM", Color{0.24, 0.52, 0.30}, [](const TrainingEpoch& each) { return each.dissimilarity; }},
       {"divergence", tm_colour, [](const TrainingEpoch& each) { return each.divergence; }}},
      best_epoch);
  return canvas;
}

Canvas reconstruction_picture(const physics::mesh::TensorGrid& grid, const MatrixXd& draws,
                              const MatrixXd& reconstructions) {
  check("draws", grid, draws);
  check("reconstructions", grid, reconstructions);
  if (draws.cols() != reconstructions.cols())
    throw core::ShapeError("io::report::network_picture#wrong_draws",
                           "expected a reconstruction of each of the {} draws, got {}", draws.cols(),
                           reconstructions.cols());
  if (grid.n_y() == 1) return column_pairs(grid, draws, reconstructions);
  Extent scale;
  scale.add(draws);
  scale.add(reconstructions);
  scale = scale.widened(0.0, 1.0);
  const MatrixXd difference = reconstructions - draws;
  const Extent around{-0.5, 0.5};
  return image_rows(grid,
                    {{"Validation draws", draws, resistivity_colours(), scale},
                     {"Their reconstructions", reconstructions, resistivity_colours(), scale},
                     {"Difference", difference, residual_colours(), around}},
                    {resistivity_axis(scale),
                     resistivity_axis(scale),
                     {around.high, around.low, Scale::linear, "decades"}});
}

Canvas decoding_picture(const physics::mesh::TensorGrid& grid, const MatrixXd& draws,
                        const MatrixXd& decodings) {
  check("draws", grid, draws);
  check("decodings", grid, decodings);
  Extent scale;
  scale.add(draws);
  scale.add(decodings);
  scale = scale.widened(0.0, 1.0);
  return image_rows(grid,
                    {{"Draws of the prior", draws, resistivity_colours(), scale},
                     {"Decoded standard normal codes", decodings, resistivity_colours(), scale}},
                    {resistivity_axis(scale), resistivity_axis(scale)});
}

Canvas code_picture(const physics::mesh::TensorGrid& grid, const CodeFigures& figures) {
  check("errors", grid, figures.cell_rms);
  constexpr double panel = 172.0, between = 72.0;
  Canvas canvas(width, head + panel + bottom_margin);
  std::vector<Index> order(static_cast<std::size_t>(figures.divergence.size()));
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Index>(k);
  std::ranges::stable_sort(order, std::greater<>(), [&](Index k) { return figures.divergence[k]; });
  const auto box = [&](int k) { return Box{left_margin + k * (panel + between), head, panel, panel}; };
  const auto title = [&](int k, const std::string& text) {
    canvas.text({box(k).x, head - 8.0}, text, heading);
  };
  title(0, "Codes of validation draws");
  if (order.size() >= 2) draw_scatter(canvas, box(0), figures.codes, order[0], order[1]);
  title(1, "Against the normal density");
  draw_histogram(canvas, box(1), figures.codes);
  title(2, "Divergence of each code");
  draw_divergences(canvas, box(2), figures.divergence);
  title(3, "Reconstruction error");
  draw_errors(canvas, box(3), grid, figures.cell_rms);
  return canvas;
}

}  // namespace lodestone::io::report
