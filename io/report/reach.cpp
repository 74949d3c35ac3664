// SPDX-License-Identifier: Apache-2.0
#include "io/report/reach.hpp"

#include "io/report/property.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double investigated_part = 0.1;  // of the cells of a layer, which make it one that data see
constexpr double site_margin = 0.15;       // of the length of the line, beside its ends
constexpr double below_seen = 1.2;         // depth of a picture over that to which data see
constexpr double nearly_all = 0.9;         // of the depth of the grid, which is then shown as a whole
constexpr int fewest_layers = 5;

/// Returns the next round number that is not smaller.
double rounded_up(double value) {
  constexpr std::array round{1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0};
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  const auto* found = std::ranges::lower_bound(round, value / power * (1.0 - 1e-9));
  return power * (found == round.end() ? round.back() : *found);
}

/// Returns the range of y that holds the sites and the regions of a prior; the whole grid where sites have no
/// length.
mesh::Interval range_along(const inversion::Outcome& outcome) {
  const std::vector<double>& y_m = outcome.model.earth.grid.y_edges_m();
  const mesh::Interval whole{y_m.front(), y_m.back()};
  if (!outcome.sites.has("y_m") || outcome.sites.n_rows() == 0) return whole;
  auto [from, to] = std::ranges::minmax(outcome.sites.numbers("y_m"));
  if (!(to > from)) return whole;
  if (outcome.findings.prior) {
    for (const inversion::prior::RegionFindings& region : outcome.findings.prior->regions) {
      from = std::min(from, region.y_from_m);
      to = std::max(to, region.y_to_m);
    }
  }
  const double margin = site_margin * (to - from);
  return {std::max(whole.from, from - margin), std::min(whole.to, to + margin)};
}

}  // namespace

std::vector<Eigen::Index> cells_in(const mesh::TensorGrid& grid, const mesh::Box& area, int layer) {
  std::vector<Eigen::Index> cells;
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    for (int ix = 0; ix < grid.n_x(); ++ix) {
      if ((grid.dimension() < 3 || area.x_m.contains(grid.centre_m(mesh::Axis::x, ix))) &&
          area.y_m.contains(grid.centre_m(mesh::Axis::y, iy)))
        cells.push_back(grid.index(layer, iy, ix));
    }
  }
  return cells;
}

double top_of(const mesh::Earth& earth, const mesh::Box& area) {
  const double first = earth.grid.z_edges_m().front();
  if (earth.grid.reference() == mesh::DepthReference::surface) return first;
  const bool is_volume = earth.grid.dimension() == 3;
  double sum = 0.0;
  for (const double x_m : {area.x_m.from, area.x_m.to})
    for (const double y_m : {area.y_m.from, area.y_m.to})
      sum += 0.25 * earth.surface.z_at(is_volume ? x_m : 0.0, y_m);
  return std::max(first, sum);
}

std::optional<mesh::Interval> used_periods(const core::DataSet& data) {
  if (!data.key().has("period_s") || !data.key().column("period_s").is_numbers()) return {};
  mesh::Interval range{INFINITY, -INFINITY};
  for (Eigen::Index row = 0; row < data.size(); ++row) {
    const double period_s = data.key().numbers("period_s")[static_cast<std::size_t>(row)];
    if (data.is_used(row)) range = {std::min(range.from, period_s), std::max(range.to, period_s)};
  }
  if (!(range.from > 0.0 && range.from <= range.to)) return {};
  return range;
}

double skin_depths_m(const mesh::Model& model, const mesh::Box& area, double top_m, double period_s,
                     double n) {
  const mesh::TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd log10 = mesh::log10_resistivity(model);
  double passed = 0.0;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    const double from = std::max(top_m, grid.z_edges_m()[static_cast<std::size_t>(iz)]);
    const double to = grid.z_edges_m()[static_cast<std::size_t>(iz) + 1];
    double sum = 0.0, count = 0.0;
    for (const Eigen::Index cell : cells_in(grid, area, iz)) {
      if (!std::isfinite(log10[cell])) continue;
      sum += log10[cell];
      count += 1.0;
    }
    if (to <= from || count == 0.0) continue;
    constexpr double metres = 503.292;  // δ = √(2ρ/(ωμ₀)) = 503 m √(ρ T)
    const double skin_m = metres * std::sqrt(std::pow(10.0, sum / count) * period_s);
    if (passed + (to - from) / skin_m >= n) return from - top_m + (n - passed) * skin_m;
    passed += (to - from) / skin_m;
  }
  return grid.z_edges_m().back() - top_m;
}

std::optional<double> investigated_depth_m(const inversion::Outcome& outcome, const mesh::Box& area,
                                           double top_m) {
  if (!outcome.findings.uncertainty || !outcome.findings.uncertainty->posterior) return {};
  const Eigen::VectorXd& investigated = outcome.findings.uncertainty->posterior->investigated;
  const mesh::TensorGrid& grid = outcome.model.earth.grid;
  for (int iz = grid.n_z() - 1; iz >= 0; --iz) {
    const std::vector<Eigen::Index> cells = cells_in(grid, area, iz);
    const auto seen = std::ranges::count_if(cells, [&](Eigen::Index c) { return investigated[c] >= 0.5; });
    if (seen > 0 && static_cast<double>(seen) >= investigated_part * static_cast<double>(cells.size()))
      return std::max(0.0, grid.z_centre_m(iz) - top_m);
  }
  return {};
}

std::optional<double> seen_depth_m(const inversion::Outcome& outcome, const mesh::Box& area, double top_m) {
  if (const auto investigated = investigated_depth_m(outcome, area, top_m)) return investigated;
  const std::optional<mesh::Interval> periods = used_periods(outcome.data);
  if (!periods || !is_resistivity(outcome.model.property)) return {};
  return skin_depths_m(outcome.model, area, top_m, periods->to, 1.0);
}

SectionPictureOptions SectionPart::picture() const {
  SectionPictureOptions options{.max_depth_m = max_depth_m, .y_min_m = y_m.from, .y_max_m = y_m.to};
  if (ends_above_seen) options.remark = "data see to " + seen_text();
  return options;
}

std::string SectionPart::seen_text() const {
  if (!seen_m) return {};
  const double power = std::pow(10.0, std::floor(std::log10(*seen_m)) - 1.0);
  return (sees_whole ? "the end of the grid, " : "about ") + length_text(power * std::round(*seen_m / power));
}

SectionPart shown_part(const inversion::Outcome& outcome, double depth_m) {
  const mesh::Earth& earth = outcome.model.earth;
  mesh::require_section(earth, "io::report::shown_part");
  const std::vector<double>& z_m = earth.grid.z_edges_m();
  SectionPart part{.y_m = range_along(outcome)};
  const mesh::Box area{.y_m = part.y_m};
  const double top_m = top_of(earth, area), whole_m = z_m.back() - top_m;
  part.seen_m = seen_depth_m(outcome, area, top_m);
  double shown_m = depth_m;
  if (!(depth_m > 0.0)) {
    const auto fifth = static_cast<std::size_t>(
        std::min(earth.grid.n_z(), earth.grid.nearest(mesh::Axis::z, top_m) + fewest_layers));
    const double wanted_m = part.seen_m ? below_seen * *part.seen_m : whole_m;
    shown_m = rounded_up(std::max(std::min(wanted_m, deepest_part * part.y_m.length()), z_m[fifth] - top_m));
    if (shown_m > nearly_all * whole_m) shown_m = whole_m;
  }
  part.max_depth_m = std::min(z_m.back(), top_m + shown_m);
  part.sees_whole = part.seen_m && *part.seen_m >= (1.0 - 1e-9) * whole_m;
  part.ends_above_seen = part.seen_m && part.max_depth_m - top_m < *part.seen_m;
  return part;
}

}  // namespace lodestone::io::report
