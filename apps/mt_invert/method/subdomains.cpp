// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/subdomains.hpp"

#include "apps/mt_invert/method/digest.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/state/safetensors.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "io/hdf5/file.hpp"
#include "models/vae/vae_decoder.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace lodestone::mt_invert::method {
namespace {

using Eigen::Index;
using physics::mesh::TensorGrid2D;

template <class... Args>
[[noreturn]] void refuse(const config::LearnedRegionConfig& region, fmt::format_string<Args...> text,
                         Args&&... args) {
  throw core::ConfigError("configuration", "{}: region \"{}\": {}", region.place, region.name,
                          fmt::format(text, std::forward<Args>(args)...));
}

struct Range {
  int first = 0, count = 0;
};

/// Cells whose centres lie inside. The ends may stick out of the grid by the rounding of their digits only.
Range cells_inside(const config::LearnedRegionConfig& region, const char* key, const config::Extent& extent,
                   const std::vector<double>& edges_m) {
  const double slack_m = 1e-3 * (edges_m.back() - edges_m.front());
  if (extent.from_m < edges_m.front() - slack_m || extent.to_m > edges_m.back() + slack_m)
    refuse(region,
           "expected {} inside the grid, {:g} to {:g} m, got {:g} to {:g} m; move its ends or widen [grid]",
           key, edges_m.front(), edges_m.back(), extent.from_m, extent.to_m);
  Range range;
  for (std::size_t i = 0; i + 1 < edges_m.size(); ++i) {
    const double centre_m = 0.5 * (edges_m[i] + edges_m[i + 1]);
    if (centre_m < extent.from_m || centre_m > extent.to_m) continue;
    if (range.count++ == 0) range.first = static_cast<int>(i);
  }
  if (range.count == 0)
    refuse(region, "expected the centre of at least one cell in {}, {:g} to {:g} m, got none; widen it", key,
           extent.from_m, extent.to_m);
  return range;
}

/// Interfaces below the surface. A grid on the datum has depths where the ground is level only.
std::vector<double> depths_of(const config::LearnedRegionConfig& region, const Earth& earth) {
  std::vector<double> depth_m = earth.grid.z_edges_m();
  if (earth.grid.reference() == physics::mesh::DepthReference::surface) return depth_m;
  const auto [highest, lowest] = std::ranges::minmax(earth.surface.z_m());
  if (lowest - highest > 1.0)
    refuse(region,
           "expected a grid whose depths count from the surface, got one on the datum under relief of {:g} "
           "m; use [grid] without "
           "from_start_model",
           lowest - highest);
  for (double& each : depth_m) each -= highest;
  return depth_m;
}

std::vector<double> edges_of(const std::vector<double>& all_m, Range range) {
  return {all_m.begin() + range.first, all_m.begin() + range.first + range.count + 1};
}

/// Linear from the sides of a patch over the shared columns. shape: (n_rows · n_columns).
Eigen::VectorXd linear_taper(int n_rows, int n_columns, int overlap) {
  Eigen::RowVectorXd of_column(n_columns);
  for (int i = 0; i < n_columns; ++i)
    of_column[i] = std::min({1.0, (i + 1.0) / (overlap + 1.0), (n_columns - i) / (overlap + 1.0)});
  return of_column.replicate(1, n_rows).transpose();
}

/// First columns of the patches within the region, the last flush with its end.
std::vector<int> patch_starts(const LearnedRegion& region, int width) {
  const int overlap = region.config.overlap, stride = width - overlap;
  if (stride < 1)
    refuse(region.config,
           "expected an overlap below the {} columns of the network's patches, got {}; lower it", width,
           overlap);
  if (region.n_columns < width || (region.n_columns - width) % stride != 0)
    refuse(region.config,
           "expected {} + k·{} columns in y_m, for patches of {} columns that share {}, got {}; move its "
           "ends or change overlap",
           width, stride, width, overlap, region.n_columns);
  std::vector<int> starts;
  for (int start = 0; start + width <= region.n_columns; start += stride)
    starts.push_back(region.first_column + start);
  return starts;
}

/// What a network refuses is said at its region. errors: ConfigError.
template <class Check>
void checked(const LearnedRegion& region, Check&& check) {
  try {
    check(*region.vae, region.config.network_as_written);
  } catch (const core::InvalidArgument& error) {
    refuse(region.config, "{}", error.what());
  }
}

/// errors: ConfigError where the patch's columns are not the network's.
void check_patch(const LearnedRegion& region, const std::vector<double>& depth_m,
                 const std::vector<double>& y_edges_m) {
  models::earths::PatchGrid patch{depth_m, y_edges_m};
  for (double& each : patch.y_m) each -= y_edges_m.front();
  checked(region, [&](const models::vae::TrainedVae& vae, const std::string& where) {
    vae.check_grid(patch, where);
  });
}

void cut(LearnedRegion& region, const Earth& earth) {
  if (region.config.n_codes)
    checked(region, [&](const models::vae::TrainedVae& vae, const std::string& where) {
      vae.check_codes(*region.config.n_codes, where);
    });
  const TensorGrid2D& grid = earth.grid;
  const std::vector<double> all_depths_m = depths_of(region.config, earth);
  const models::earths::PatchGrid& trained = region.vae->grid();
  const Range rows =
      cells_inside(region.config, "z_m",
                   region.config.z.value_or(config::Extent{trained.depth_m.front(), trained.depth_m.back()}),
                   all_depths_m);
  const Range columns = cells_inside(region.config, "y_m", region.config.y, grid.y_edges_m());
  region.first_row = rows.first, region.n_rows = rows.count;
  region.first_column = columns.first, region.n_columns = columns.count;
  const int width = static_cast<int>(trained.n_y());
  if (width == 1 && region.config.overlap > 0)
    refuse(region.config, "expected overlap = 0 for a network of single columns, got {}; remove it",
           region.config.overlap);
  for (const int start : patch_starts(region, width)) {
    check_patch(region, edges_of(all_depths_m, rows), edges_of(grid.y_edges_m(), {start, width}));
    std::vector<Index>& cells = region.subdomains.emplace_back();
    for (int iz = rows.first; iz < rows.first + rows.count; ++iz) {
      for (int iy = start; iy < start + width; ++iy) cells.push_back(grid.index(iz, iy));
    }
  }
  if (region.config.overlap > 0) region.taper = linear_taper(rows.count, width, region.config.overlap);
}

void check_free(const LearnedRegion& region, const std::vector<Index>& free_cells) {
  std::size_t n_fixed = 0;
  for (const auto& cells : region.subdomains)
    n_fixed += static_cast<std::size_t>(std::ranges::count_if(
        cells, [&](Index cell) { return !std::ranges::binary_search(free_cells, cell); }));
  if (n_fixed > 0)
    refuse(
        region.config,
        "expected free cells only, got {} that [[regularization.fixed]] holds; move one of the two regions",
        n_fixed);
}

/// Regions of one network may overlap, they are blended; two opinions on a cell may not.
void check_overlaps(const std::vector<LearnedRegion>& regions) {
  for (const LearnedRegion& b : regions) {
    for (const LearnedRegion& a : regions) {
      if (&a == &b) break;
      const bool apart = a.first_column + a.n_columns <= b.first_column ||
                         b.first_column + b.n_columns <= a.first_column ||
                         a.first_row + a.n_rows <= b.first_row || b.first_row + b.n_rows <= a.first_row;
      if (apart || (a.digest == b.digest && a.config.decoder == b.config.decoder)) continue;
      refuse(b.config,
             "expected cells of its own, got some of region \"{}\", which has another network or decoder; "
             "move one of them",
             a.config.name);
    }
  }
}

}  // namespace

models::vae::TrainedVae read_network(const std::string& path) {
  std::error_code other;  // told when it is opened
  if (std::filesystem::status(path, other).type() == std::filesystem::file_type::not_found)
    throw core::FileError(
        "mt_invert", "{}: expected the file of a trained network, got none; make it with `mt_invert train`",
        path);
  if (path.ends_with(".safetensors")) return models::vae::TrainedVae::load(engine::SafetensorsSource(path));
  return models::vae::TrainedVae::load(io::hdf5::Hdf5Source(path));
}

Subdomains::Subdomains(const config::LearnedPriorConfig& config, const Earth& earth)
    : config_(config), free_cells_(earth.free_cells), n_cells_(earth.grid.n_cells()) {
  for (const config::LearnedRegionConfig& each : config.regions) {
    LearnedRegion region{.config = each,
                         .vae = std::make_shared<const models::vae::TrainedVae>(read_network(each.network)),
                         .digest = digest_of_file(each.network),
                         .decoder = {},
                         .subdomains = {}};
    region.decoder = each.decoder == config::RegionDecoder::gaussian
                         ? inversion::prior::gaussian_decoder(region.vae->statistics().mean,
                                                              region.vae->statistics().covariance)
                         : models::vae::vae_decoder(*region.vae, each.network_as_written);
    cut(region, earth);
    check_free(region, free_cells_);
    regions_.push_back(std::move(region));
  }
  check_overlaps(regions_);
}

std::shared_ptr<const inversion::prior::SubdomainMap> Subdomains::map(Index n_further) const {
  std::vector<Index> place(static_cast<std::size_t>(n_cells_), -1);  // of each cell among the free ones
  for (std::size_t i = 0; i < free_cells_.size(); ++i)
    place[static_cast<std::size_t>(free_cells_[i])] = static_cast<Index>(i);
  std::vector<inversion::prior::Region> regions;
  for (const LearnedRegion& each : regions_) {
    inversion::prior::Region region{each.config.name, each.decoder, each.subdomains, each.taper};
    for (auto& cells : region.subdomains) {
      for (Index& cell : cells) cell = place[static_cast<std::size_t>(cell)];
    }
    regions.push_back(std::move(region));
  }
  return std::make_shared<const inversion::prior::SubdomainMap>(std::ssize(free_cells_) + n_further,
                                                                std::move(regions));
}

Eigen::VectorXd Subdomains::numbers() const {
  Eigen::VectorXd result = Eigen::VectorXd::Constant(n_cells_, -1.0);
  double number = 0.0;
  for (const LearnedRegion& region : regions_) {
    for (const auto& cells : region.subdomains) {
      for (const Index cell : cells) {
        if (result[cell] < 0.0) result[cell] = number;
      }
      ++number;
    }
  }
  return result;
}

std::string Subdomains::identity() const {
  std::string text;
  for (const LearnedRegion& each : regions_)
    text +=
        fmt::format("{}: {} subdomains of {} cells by {} codes, network {}\n", each.config.name,
                    each.subdomains.size(), each.decoder->n_cells(), each.decoder->n_codes(), each.digest);
  return text;
}

std::shared_ptr<const Subdomains> cut_subdomains(const std::optional<config::LearnedPriorConfig>& config,
                                                 const Earth& earth) {
  if (!config) return nullptr;
  auto subdomains = std::make_shared<const Subdomains>(*config, earth);
  for (const LearnedRegion& each : subdomains->regions())
    core::log::info("learned prior, {}: {} subdomains of {} cells set by {} codes each ({})",
                    each.config.name, each.subdomains.size(), each.decoder->n_cells(),
                    each.decoder->n_codes(), each.decoder->name());
  return subdomains;
}

}  // namespace lodestone::mt_invert::method
