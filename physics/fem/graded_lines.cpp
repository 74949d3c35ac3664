// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/graded_lines.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::fem {

namespace {

/// Drops features of which a neighbour requires smaller cells wherever they do: its size grows by at most
/// `steepest` per metre on the way to them.
std::vector<SizeFeature> without_idle(std::vector<SizeFeature> features, double steepest) {
  const auto sweep = [&] {
    std::vector<SizeFeature> kept;
    for (const SizeFeature& feature : features) {
      if (kept.empty() ||
          kept.back().size_m + steepest * std::abs(feature.at_m - kept.back().at_m) > feature.size_m)
        kept.push_back(feature);
    }
    std::reverse(kept.begin(), kept.end());
    features = std::move(kept);
  };
  std::sort(features.begin(), features.end(), [](const SizeFeature& a, const SizeFeature& b) {
    return a.at_m < b.at_m || (a.at_m == b.at_m && a.size_m < b.size_m);
  });
  sweep();
  sweep();
  return features;
}

/// Returns the cell size required at x. Features far away are cut off by the sorted order: only those whose
/// own size is smaller than the best so far can win.
class SizeFunction {
 public:
  SizeFunction(std::vector<SizeFeature> features, const GradedLineOptions& options)
      : features_(without_idle(std::move(features), std::max(options.slope, options.far_slope))),
        options_(options) {
    std::sort(features_.begin(), features_.end(),
              [](const SizeFeature& a, const SizeFeature& b) { return a.size_m < b.size_m; });
  }
  double operator()(double x) const {
    double best = options_.max_size_m;
    for (const auto& feature : features_) {
      if (feature.size_m >= best) break;
      const double distance = std::abs(x - feature.at_m);
      const double near = std::min(distance, options_.near_m);
      best = std::min(best, feature.size_m + options_.slope * near + options_.far_slope * (distance - near));
    }
    return best;
  }

 private:
  std::vector<SizeFeature> features_;
  GradedLineOptions options_;
};

/// Returns the values inside an interval, in order and each once.
std::vector<double> inside(double begin, double end, std::vector<double> values) {
  std::erase_if(values, [&](double value) { return value <= begin || value >= end; });
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Returns the ends, the kept lines, and the anchors that are further from the lines beside them than that
/// share of the size required there.
std::vector<double> spaced(double begin, double end, const std::vector<double>& anchors,
                           const GradedLineOptions& options, const SizeFunction& size) {
  std::vector<double> stops = inside(begin, end, options.kept_m);
  stops.insert(stops.begin(), begin);
  stops.push_back(end);
  for (const double anchor : inside(begin, end, anchors)) {
    const double least = options.least_spacing * size(anchor);
    const auto after = std::upper_bound(stops.begin(), stops.end(), anchor);
    if (anchor - *(after - 1) > least && *after - anchor > least) stops.insert(after, anchor);
  }
  return stops;
}

/// Returns the number of cells for ∫ dx/size; a little more than a whole number needs no further cell.
int n_cells(double density, bool even) {
  const auto n = std::max(1, static_cast<int>(std::ceil(density - 0.05)));
  return even && n > 1 ? n + n % 2 : n;
}

/// Cuts [a, b] so that each cell holds the same share of ∫ dx/size.
void append_interval(double a, double b, const SizeFunction& size, bool even, std::vector<double>& lines) {
  std::vector<double> x{a}, density{0.0};
  while (x.back() < b) {
    const double here = x.back();
    const double next =
        std::min(b, here + 0.2 * std::min(size(here), size(std::min(b, here + 0.2 * size(here)))));
    density.push_back(density.back() + (next - here) / size(0.5 * (here + next)));
    x.push_back(next);
  }
  const int n = n_cells(density.back(), even);
  std::size_t j = 0;
  for (int i = 1; i < n; ++i) {
    const double wanted = density.back() * i / n;
    while (density[j + 1] < wanted) ++j;
    const double t = (wanted - density[j]) / (density[j + 1] - density[j]);
    lines.push_back((1.0 - t) * x[j] + t * x[j + 1]);
  }
  lines.push_back(b);
}

}  // namespace

std::vector<double> graded_lines(double begin_m, double end_m, const std::vector<double>& anchors_m,
                                 const std::vector<SizeFeature>& features, const GradedLineOptions& options) {
  if (features.empty() || !(end_m > begin_m)) {
    throw core::InvalidArgument("mesh::graded_lines#no_feature_or_interval",
                                "expected a feature and an interval, got {} features in {} … {} m",
                                features.size(), begin_m, end_m);
  }
  const SizeFunction size(features, options);
  const auto stops = spaced(begin_m, end_m, anchors_m, options, size);
  std::vector<double> lines{begin_m};
  for (std::size_t i = 0; i + 1 < stops.size(); ++i)
    append_interval(stops[i], stops[i + 1], size, options.even, lines);
  return lines;
}

std::vector<double> lines_outward(double begin_m, double length_m, double first_m, double direction) {
  std::vector<double> points;
  double reached = 0.0;
  for (double cell = first_m; reached < length_m; cell *= 1.5) {
    reached += cell;
    points.push_back(begin_m + direction * reached);
  }
  return points;
}

}  // namespace lodestone::physics::fem
