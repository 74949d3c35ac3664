// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/regions.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lodestone::inversion::prior {
namespace {

using Eigen::Index;
using physics::mesh::Interval;
using physics::mesh::TensorGrid;

template <class... Args>
[[noreturn]] void refuse(const RegionOptions& region, const std::string& id, fmt::format_string<Args...> text,
                         Args&&... args) {
  throw core::ConfigError("configuration#" + id, "{}: region \"{}\": {}", region.place, region.name,
                          fmt::format(text, std::forward<Args>(args)...));
}

struct Range {
  int first = 0, count = 0;
};

/// Returns the cells whose centres lie inside. The ends may stick out of the grid by the rounding of their
/// digits only.
Range cells_inside(const RegionOptions& region, const char* key, const Interval& extent,
                   const std::vector<double>& edges_m) {
  const double slack_m = 1e-3 * (edges_m.back() - edges_m.front());
  if ((std::isfinite(extent.from) && extent.from < edges_m.front() - slack_m) ||
      (std::isfinite(extent.to) && extent.to > edges_m.back() + slack_m))
    refuse(region, "region_outside_grid",
           "expected {} inside the grid, {:g} to {:g} m, got {:g} to {:g} m; move its ends or widen [grid]",
           key, edges_m.front(), edges_m.back(), extent.from, extent.to);
  Range range;
  for (std::size_t i = 0; i + 1 < edges_m.size(); ++i) {
    const double centre_m = 0.5 * (edges_m[i] + edges_m[i + 1]);
    if (centre_m < extent.from || centre_m > extent.to) continue;
    if (range.count++ == 0) range.first = static_cast<int>(i);
  }
  if (range.count == 0)
    refuse(region, "region_without_cells",
           "expected the centre of at least one cell in {}, {:g} to {:g} m; widen it", key, extent.from,
           extent.to);
  return range;
}

/// Returns the interfaces below the surface. A grid on the datum has such depths only under level ground.
std::vector<double> depths_of(const RegionOptions& region, const physics::mesh::Earth& earth) {
  std::vector<double> depth_m = earth.grid.z_edges_m();
  if (earth.grid.reference() == physics::mesh::DepthReference::surface) return depth_m;
  const double highest = earth.surface.highest_m(), lowest = earth.surface.lowest_m();
  if (lowest - highest > 1.0)
    refuse(region, "region_on_datum",
           "expected a grid whose depths count from the surface, but its depths count from the datum under a "
           "relief of {:g} m; use [grid] without from_start_model",
           lowest - highest);
  for (double& each : depth_m) each -= highest;
  return depth_m;
}

std::vector<double> edges_of(const std::vector<double>& all_m, Range range) {
  return {all_m.begin() + range.first, all_m.begin() + range.first + range.count + 1};
}

/// Returns weights that grow linearly from the sides of a patch over the shared columns. shape: (n_rows ·
/// n_columns).
Eigen::VectorXd linear_taper(int n_rows, int n_columns, int overlap) {
  Eigen::RowVectorXd of_column(n_columns);
  for (int i = 0; i < n_columns; ++i)
    of_column[i] = std::min({1.0, (i + 1.0) / (overlap + 1.0), (n_columns - i) / (overlap + 1.0)});
  return of_column.replicate(1, n_rows).transpose();
}

/// Returns the first columns of the patches within the region, the last flush with its end.
std::vector<int> patch_starts(const CutRegion& region, int width) {
  const int overlap = region.options.overlap, stride = width - overlap;
  if (stride < 1)
    refuse(region.options, "region_wide_overlap",
           "expected an overlap below the {} columns of the network's patches, got {}; lower it", width,
           overlap);
  if (region.n_columns < width || (region.n_columns - width) % stride != 0)
    refuse(region.options, "region_wrong_columns",
           "expected {} + k·{} columns in y_m, for patches of {} columns that share {}, got {}; move its "
           "ends or change overlap",
           width, stride, width, overlap, region.n_columns);
  std::vector<int> starts;
  for (int start = 0; start + width <= region.n_columns; start += stride)
    starts.push_back(region.first_column + start);
  return starts;
}

/// Checks the patch of a region. errors: ConfigError where it is not that of the decoder.
void check_patch(const CutRegion& region, const std::vector<double>& depth_m, std::vector<double> y_edges_m) {
  const double left_m = y_edges_m.front();
  for (double& each : y_edges_m) each -= left_m;
  try {
    prior::check_patch(region.card(), depth_m, y_edges_m, region.card().file);
  } catch (const core::InvalidArgument& error) {
    refuse(region.options, "region_other_patch", "{}", error.what());
  }
}

void check_codes(const RegionOptions& region) {
  if (!region.n_codes || *region.n_codes == region.decoder->n_codes()) return;
  refuse(region, "region_wrong_codes",
         "{}: expected {} codes per subdomain as the network has, got {}; correct codes, or name the file of "
         "a training with so many codes",
         region.decoder->card()->file, region.decoder->n_codes(), *region.n_codes);
}

void cut(CutRegion& region, const physics::mesh::Earth& earth) {
  physics::mesh::require_section(earth, "inversion::Regions");
  check_codes(region.options);
  const TensorGrid& grid = earth.grid;
  const std::vector<double> all_depths_m = depths_of(region.options, earth);
  const TensorGrid& trained = region.card().patch;
  if (trained.has(physics::mesh::Axis::x))
    refuse(region.options, "region_other_patch",
           "expected a network of columns or of patches along y and z, got patches with {} cells along x",
           trained.n_x());
  const Range rows = cells_inside(
      region.options, "z_m",
      region.options.z_m.value_or(Interval{trained.z_edges_m().front(), trained.z_edges_m().back()}),
      all_depths_m);
  const Range columns = cells_inside(region.options, "y_m", region.options.y_m, grid.y_edges_m());
  region.first_row = rows.first, region.n_rows = rows.count;
  region.first_column = columns.first, region.n_columns = columns.count;
  const int width = trained.n_y();
  if (width == 1 && region.options.overlap > 0)
    refuse(region.options, "region_overlap_of_columns",
           "expected overlap = 0 for a network of single columns, got {}; remove it", region.options.overlap);
  for (const int start : patch_starts(region, width)) {
    check_patch(region, edges_of(all_depths_m, rows), edges_of(grid.y_edges_m(), {start, width}));
    std::vector<Index>& cells = region.subdomains.emplace_back();
    for (int iz = rows.first; iz < rows.first + rows.count; ++iz) {
      for (int iy = start; iy < start + width; ++iy) cells.push_back(grid.index(iz, iy));
    }
  }
  if (region.options.overlap > 0) region.taper = linear_taper(rows.count, width, region.options.overlap);
}

void check_free(const CutRegion& region, const std::vector<Index>& free_cells) {
  std::size_t n_fixed = 0;
  for (const auto& cells : region.subdomains)
    n_fixed += static_cast<std::size_t>(std::ranges::count_if(
        cells, [&](Index cell) { return !std::ranges::binary_search(free_cells, cell); }));
  if (n_fixed > 0)
    refuse(
        region.options, "region_holds_fixed_cells",
        "expected free cells only, got {} that [[regularization.fixed]] holds; move one of the two regions",
        n_fixed);
}

bool is_same_decoder(const CutRegion& a, const CutRegion& b) {
  return a.options.decoder == b.options.decoder ||
         (!a.card().digest.empty() && a.card().digest == b.card().digest && a.card().kind == b.card().kind);
}

/// Checks overlaps. Regions of one network may overlap and are blended; those of two networks may not.
void check_overlaps(const std::vector<CutRegion>& regions) {
  for (const CutRegion& b : regions) {
    for (const CutRegion& a : regions) {
      if (&a == &b) break;
      const bool apart = a.first_column + a.n_columns <= b.first_column ||
                         b.first_column + b.n_columns <= a.first_column ||
                         a.first_row + a.n_rows <= b.first_row || b.first_row + b.n_rows <= a.first_row;
      if (apart || is_same_decoder(a, b)) continue;
      refuse(b.options, "region_overlaps_other",
             "some of its cells belong to region \"{}\" too, which has another network; move one of the two "
             "regions",
             a.options.name);
    }
  }
}

}  // namespace

Regions::Regions(LearnedPriorOptions options, const physics::mesh::Earth& earth,
                 std::vector<Index> free_cells)
    : options_(std::move(options)), free_cells_(std::move(free_cells)), n_cells_(earth.grid.n_cells()) {
  for (const RegionOptions& each : options_.regions) {
    if (!each.decoder || each.decoder->card() == nullptr)
      throw core::InvalidArgument("inversion::Regions#no_card",
                                  "region \"{}\": expected a decoder that states its patch; add one by "
                                  "with_card",
                                  each.name);
    CutRegion region{.options = each};
    cut(region, earth);
    check_free(region, free_cells_);
    regions_.push_back(std::move(region));
  }
  check_overlaps(regions_);
}

std::shared_ptr<const SubdomainMap> Regions::map(Index n_further) const {
  std::vector<Index> place(static_cast<std::size_t>(n_cells_), -1);  // of each cell among the free ones
  for (std::size_t i = 0; i < free_cells_.size(); ++i)
    place[static_cast<std::size_t>(free_cells_[i])] = static_cast<Index>(i);
  std::vector<Region> regions;
  for (const CutRegion& each : regions_) {
    Region region{each.options.name, each.options.decoder, each.subdomains, each.taper};
    for (auto& cells : region.subdomains) {
      for (Index& cell : cells) cell = place[static_cast<std::size_t>(cell)];
    }
    regions.push_back(std::move(region));
  }
  return std::make_shared<const SubdomainMap>(std::ssize(free_cells_) + n_further, std::move(regions));
}

Eigen::VectorXd Regions::numbers() const {
  Eigen::VectorXd result = Eigen::VectorXd::Constant(n_cells_, -1.0);
  double number = 0.0;
  for (const CutRegion& region : regions_) {
    for (const auto& cells : region.subdomains) {
      for (const Index cell : cells) {
        if (result[cell] < 0.0) result[cell] = number;
      }
      ++number;
    }
  }
  return result;
}

std::string Regions::identity() const {
  std::string text;
  for (const CutRegion& each : regions_)
    text += fmt::format("{}: {} subdomains of {} cells by {} codes, network {}\n", each.options.name,
                        each.subdomains.size(), each.decoder().n_cells(), each.decoder().n_codes(),
                        each.card().digest);
  return text;
}

void Regions::log() const {
  for (const CutRegion& each : regions_)
    core::log::info("learned prior, {}: {} subdomains of {} cells set by {} codes each ({})",
                    each.options.name, each.subdomains.size(), each.decoder().n_cells(),
                    each.decoder().n_codes(), each.decoder().name());
}

}  // namespace lodestone::inversion::prior
