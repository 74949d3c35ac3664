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
using physics::mesh::Axis;
using physics::mesh::Interval;
using physics::mesh::TensorGrid;

template <class... Args>
[[noreturn]] void refuse(const RegionOptions& region, const std::string& id, fmt::format_string<Args...> text,
                         Args&&... args) {
  throw core::ConfigError("configuration#" + id, "{}: region \"{}\": {}", region.place, region.name,
                          fmt::format(text, std::forward<Args>(args)...));
}

/// Returns the cells whose centres lie inside. The ends may stick out of the grid by the rounding of their
/// digits only.
CellRange cells_inside(const RegionOptions& region, const char* key, const Interval& extent,
                       const std::vector<double>& edges_m) {
  const double slack_m = 1e-3 * (edges_m.back() - edges_m.front());
  if ((std::isfinite(extent.from) && extent.from < edges_m.front() - slack_m) ||
      (std::isfinite(extent.to) && extent.to > edges_m.back() + slack_m))
    refuse(region, "region_outside_grid",
           "expected {} inside the grid, {:g} to {:g} m, got {:g} to {:g} m; move its ends or widen [grid]",
           key, edges_m.front(), edges_m.back(), extent.from, extent.to);
  CellRange range;
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

/// Returns the edges of some cells, the first at 0.
std::vector<double> edges_from_zero(const std::vector<double>& all_m, CellRange range) {
  std::vector<double> edges_m(all_m.begin() + range.first, all_m.begin() + range.end() + 1);
  const double first_m = edges_m.front();
  for (double& each : edges_m) each -= first_m;
  return edges_m;
}

/// The columns of a subdomain along either axis, and those that neighbours share.
struct Footprint {
  int n_x = 1, n_y = 1, overlap_x = 0, overlap_y = 0;
  [[nodiscard]] bool is_blended() const { return overlap_x > 0 || overlap_y > 0; }
};

/// Refuses keys of a region that the grid or the network excludes.
void check_keys(const RegionOptions& region, bool is_volume) {
  const TensorGrid& trained = region.decoder->card()->patch;
  const bool is_column = trained.n_columns() == 1;
  if (!is_volume && trained.has(Axis::x))
    refuse(region, "region_other_patch",
           "expected a network of columns or of patches along y and z, got patches with {} cells along x; "
           "invert a volume (--dim 3), or train another network",
           trained.n_x());
  if (!is_volume && region.x_m)
    refuse(region, "region_needs_volume",
           "expected y_m alone in a section, got x_m as well; invert a volume (--dim 3) or remove x_m");
  if (region.along == Along::x && (!is_volume || is_column || trained.has(Axis::x)))
    refuse(region, "region_along_x",
           "expected along = \"x\" for a network of patches of a section in a volume (--dim 3) alone; remove "
           "along");
  if (is_column && region.overlap > 0)
    refuse(region, "region_overlap_of_columns",
           "expected overlap = 0 for a network of single columns, got {}; remove it", region.overlap);
  if (!is_column && region.together > 1)
    refuse(region, "region_patches_together",
           "expected together = 1 for a network of patches, which join columns themselves, got {}; remove it",
           region.together);
}

Footprint footprint_of(const RegionOptions& region, bool is_volume) {
  const TensorGrid& trained = region.decoder->card()->patch;
  if (trained.n_columns() == 1) return {is_volume ? region.together : 1, region.together, 0, 0};
  if (region.along == Along::x) return {trained.n_y(), 1, region.overlap, 0};
  const bool overlaps_x = trained.n_x() > 1, overlaps_y = trained.n_y() > 1;
  return {trained.n_x(), trained.n_y(), overlaps_x ? region.overlap : 0, overlaps_y ? region.overlap : 0};
}

/// Returns weights that grow linearly from the sides of a patch over the shared columns. shape: (n_rows ·
/// n_y · n_x).
Eigen::VectorXd linear_taper(int n_rows, const Footprint& footprint) {
  const auto ramp = [](int i, int n, int overlap) {
    return std::min({1.0, (i + 1.0) / (overlap + 1.0), (n - i) / (overlap + 1.0)});
  };
  Eigen::VectorXd of_row(footprint.n_y * footprint.n_x);
  for (int iy = 0; iy < footprint.n_y; ++iy) {
    for (int ix = 0; ix < footprint.n_x; ++ix)
      of_row[iy * footprint.n_x + ix] =
          ramp(iy, footprint.n_y, footprint.overlap_y) * ramp(ix, footprint.n_x, footprint.overlap_x);
  }
  return of_row.replicate(n_rows, 1);
}

/// Returns the first columns of the subdomains along an axis, the last flush with the end of the region.
std::vector<int> starts_of(const RegionOptions& region, const char* key, CellRange range, int width,
                           int overlap) {
  const int stride = width - overlap;
  if (stride < 1)
    refuse(region, "region_wide_overlap",
           "expected an overlap below the {} columns of the network's patches, got {}; lower it", width,
           overlap);
  const bool fits = range.count >= width && (range.count - width) % stride == 0;
  if (!fits && region.together > 1)
    refuse(
        region, "region_wrong_columns",
        "expected a multiple of {} columns in {}, so many of which share their codes, got {}; move its ends "
        "or change together",
        width, key, range.count);
  if (!fits)
    refuse(region, "region_wrong_columns",
           "expected {} + k·{} columns in {}, for patches of {} columns that share {}, got {}; move its "
           "ends or change overlap",
           width, stride, key, width, overlap, range.count);
  std::vector<int> starts;
  for (int start = 0; start + width <= range.count; start += stride) starts.push_back(range.first + start);
  return starts;
}

/// Checks the cells of a subdomain that begins at (x, y). errors: ConfigError where they are not those of the
/// decoder.
void check_cells(const CutRegion& region, const std::vector<double>& depth_m, const TensorGrid& grid,
                 CellRange x, CellRange y) {
  const DecoderCard& card = region.card();
  const bool is_along_x = region.options.along == Along::x;
  try {
    prior::check_patch(card, depth_m,
                       edges_from_zero(grid.edges_m(is_along_x ? Axis::x : Axis::y), is_along_x ? x : y),
                       card.file);
    if (card.patch.n_x() > 1)
      prior::check_edges("edges along x", card.patch.edges_m(Axis::x),
                         edges_from_zero(grid.edges_m(Axis::x), x), card.file);
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

/// Returns the depths of the rows of a region below the surface, and finds these rows.
std::vector<double> find_rows(CutRegion& region, const physics::mesh::Earth& earth) {
  const std::vector<double> depths_m = depths_of(region.options, earth);
  const std::vector<double>& trained_m = region.card().patch.z_edges_m();
  region.z =
      cells_inside(region.options, "z_m",
                   region.options.z_m.value_or(Interval{trained_m.front(), trained_m.back()}), depths_m);
  return {depths_m.begin() + region.z.first, depths_m.begin() + region.z.end() + 1};
}

void cut(CutRegion& region, const physics::mesh::Earth& earth) {
  const TensorGrid& grid = earth.grid;
  if (!grid.has(Axis::y))
    throw core::InvalidArgument("inversion::Regions#no_columns",
                                "expected the earth of a section or a volume, got layers alone");
  const bool is_volume = grid.has(Axis::x);
  RegionOptions& options = region.options;
  check_codes(options);
  check_keys(options, is_volume);
  const std::vector<double> depth_m = find_rows(region, earth);
  region.y = cells_inside(options, "y_m", options.y_m, grid.y_edges_m());
  if (is_volume)
    region.x = cells_inside(options, "x_m", options.x_m.value_or(Interval{}), grid.edges_m(Axis::x));
  const Footprint each = footprint_of(options, is_volume);
  if (options.together > 1) options.decoder = repeated(options.decoder, each.n_x * each.n_y);
  const std::vector<int> along_x = starts_of(options, "x_m", region.x, each.n_x, each.overlap_x);
  for (const int y : starts_of(options, "y_m", region.y, each.n_y, each.overlap_y)) {
    for (const int x : along_x) {
      check_cells(region, depth_m, grid, {x, each.n_x}, {y, each.n_y});
      std::vector<Index>& cells = region.subdomains.emplace_back();
      for (int iz = region.z.first; iz < region.z.end(); ++iz) {
        for (int iy = y; iy < y + each.n_y; ++iy) {
          for (int ix = x; ix < x + each.n_x; ++ix) cells.push_back(grid.index(iz, iy, ix));
        }
      }
    }
  }
  if (each.is_blended()) region.taper = linear_taper(region.z.count, each);
}

/// Takes the subdomains with a held cell out of a region of a volume. errors: ConfigError where a section has
/// such a cell, or where nothing is left.
void leave_out_held(CutRegion& region, const std::vector<Index>& free_cells, bool is_volume) {
  const auto is_held = [&](Index cell) { return !std::ranges::binary_search(free_cells, cell); };
  std::size_t n_fixed = 0;
  for (const auto& cells : region.subdomains)
    n_fixed += static_cast<std::size_t>(std::ranges::count_if(cells, is_held));
  if (n_fixed == 0) return;
  if (is_volume) {
    region.n_left_out = static_cast<int>(std::erase_if(
        region.subdomains, [&](const auto& cells) { return std::ranges::any_of(cells, is_held); }));
    if (!region.subdomains.empty()) return;
  }
  refuse(region.options, "region_holds_fixed_cells",
         "expected free cells{}, got {} that [[regularization.fixed]]{} holds; move one of the two regions",
         is_volume ? " in at least one subdomain" : " only", n_fixed,
         is_volume ? " or a ModEM covariance file" : "");
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
      const auto overlap = [](CellRange one, CellRange other) {
        return one.first < other.end() && other.first < one.end();
      };
      const bool meet = overlap(a.x, b.x) && overlap(a.y, b.y) && overlap(a.z, b.z);
      if (!meet || is_same_decoder(a, b)) continue;
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
    leave_out_held(region, free_cells_, earth.grid.has(Axis::x));
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
  for (const CutRegion& each : regions_) {
    core::log::info("learned prior, {}: {} subdomains of {} cells set by {} codes each ({})",
                    each.options.name, each.subdomains.size(), each.decoder().n_cells(),
                    each.decoder().n_codes(), each.decoder().name());
    if (each.n_left_out > 0)
      core::log::info("learned prior, {}: {} subdomains are left out, since some of their cells are held",
                      each.options.name, each.n_left_out);
  }
}

}  // namespace lodestone::inversion::prior
