// SPDX-License-Identifier: Apache-2.0
#include "io/mare2dem/model.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/mare2dem/regions.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace lodestone::io::mare2dem {
namespace {

using physics::mesh::DepthReference;
using physics::mesh::TensorGrid;

constexpr const char* reader = "io::mare2dem::read_model";
constexpr int most = 10'000'000;
constexpr double least_air_ohm_m = 1e9, largest_sea_ohm_m = 1.0;
constexpr double same_m = 1e-3;

/// A row of the table of regions.
struct Region {
  double ohm_m;
  bool is_free;
  [[nodiscard]] bool is_air() const { return ohm_m >= least_air_ohm_m; }
};

/// The content of a `.resistivity` file.
struct Table {
  std::string poly_path;
  std::vector<Region> regions;
};

/// Splits "Key: value" and returns the key in lower case; empty for another line.
std::pair<std::string, std::string_view> entry_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  return {text::lower(text::trimmed(line.substr(0, colon))), text::trimmed(line.substr(colon + 1))};
}

Region read_region(text::LineReader& lines, int number, int n) {
  lines.require_next(fmt::format("region {} of {}", number, n));
  const auto words = text::words(lines.text());
  if (words.size() < 3 || lines.whole(words[0], "the number of a region", 1, most) != number)
    lines.refuse("wrong_region",
                 fmt::format("expected region {}: its number, resistivity and parameter", number));
  const Region region{lines.finite(words[1], "a resistivity"),
                      lines.whole(words[2], "the number of a parameter", 0, most) > 0};
  if (!region.is_air() && !physics::mt::is_in_resistivity_range(region.ohm_m))
    lines.refuse("resistivity_out_of_range",
                 fmt::format("expected a resistivity of {:g} to {:g} ohm m, got {}",
                             physics::mt::least_resistivity_ohm_m, physics::mt::largest_resistivity_ohm_m,
                             region.ohm_m));
  return region;
}

Table read_resistivities(const std::string& path) {
  const std::string bytes = text::read_text(path);
  text::LineReader lines(bytes, path, reader, "!%");
  Table table;
  while (lines.next()) {
    const auto [key, value] = entry_of(lines.text());
    if (key == "model file") {
      table.poly_path = (std::filesystem::path(path).parent_path() / std::string(value)).string();
    } else if (key == "anisotropy" && !text::equals_ignoring_case(value, "isotropic")) {
      lines.refuse("anisotropy",
                   fmt::format("expected an isotropic model, as others are not read, got \"{}\"",
                               text::printable(value)));
    } else if (key == "number of regions") {
      const int n = lines.whole(value, "a number of regions", 1, most);
      for (int number = 1; number <= n; ++number) table.regions.push_back(read_region(lines, number, n));
    }
  }
  if (table.poly_path.empty() || table.regions.empty())
    lines.refuse("no_entry", "expected \"Model File: …\" and \"Number of regions: …\" with its table");
  return table;
}

/// The content of a `.poly` file.
struct Plane {
  std::vector<PlaneNode> nodes;
  std::vector<PlaneSegment> segments;
  std::vector<RegionSeed> seeds;
};

/// Reads the sections of a `.poly` file one by one.
class PolyReader {
 public:
  explicit PolyReader(const std::string& path)
      : bytes_(text::read_text(path)), lines_(bytes_, path, reader, "#") {}
  Plane read(std::size_t n_regions);
  /// Throws a FormatError at the last line.
  [[noreturn]] void refuse(std::string_view id, const std::string& text) const { lines_.refuse(id, text); }

 private:
  int count(const char* what);
  std::vector<std::string_view> row(const char* what, std::size_t least);
  PlaneNode node(const std::vector<std::string_view>& words);
  std::size_t index(std::string_view word, std::size_t n);

  std::string bytes_;
  text::LineReader lines_;
  int first_ = 1;  ///< number of the first node, 0 or 1
};

int PolyReader::count(const char* what) {
  const auto words = row(what, 1);
  return lines_.whole(words[0], what, 0, most);
}

std::vector<std::string_view> PolyReader::row(const char* what, std::size_t least) {
  lines_.require_next(what);
  auto words = text::words(lines_.text());
  if (words.size() < least)
    lines_.refuse("short_row",
                  fmt::format("expected {} in {} words or more, got {}", what, least, words.size()));
  return words;
}

PlaneNode PolyReader::node(const std::vector<std::string_view>& words) {
  return {lines_.within(words[1], "y in m", physics::mt::largest_coordinate_m),
          lines_.within(words[2], "z in m", physics::mt::largest_coordinate_m)};
}

std::size_t PolyReader::index(std::string_view word, std::size_t n) {
  return static_cast<std::size_t>(
      lines_.whole(word, "the number of a node", first_, first_ + static_cast<int>(n) - 1) - first_);
}

Plane PolyReader::read(std::size_t n_regions) {
  Plane plane;
  const int n_nodes = count("the number of nodes");
  for (int i = 0; i < n_nodes; ++i) {
    const auto words = row("a node: its number, y and z", 3);
    if (i == 0) first_ = lines_.whole(words[0], "the number of the first node", 0, 1);
    plane.nodes.push_back(node(words));
  }
  const int n_segments = count("the number of segments");
  for (int i = 0; i < n_segments; ++i) {
    const auto words = row("a segment: its number and two nodes", 3);
    plane.segments.push_back({index(words[1], plane.nodes.size()), index(words[2], plane.nodes.size())});
  }
  const int n_holes = count("the number of holes");
  for (int i = 0; i < n_holes; ++i) static_cast<void>(row("a hole", 3));
  const int n_seeds = count("the number of regions");
  for (int i = 0; i < n_seeds; ++i) {
    const auto words = row("a region: its number, y, z and attribute", 4);
    const double attribute = lines_.within(words[3], "the attribute of a region", most);
    if (!(attribute >= 1.0 && attribute <= static_cast<double>(n_regions)) ||
        attribute != std::floor(attribute))
      lines_.refuse("unknown_region",
                    fmt::format("expected a region from 1 to {}, as the resistivities have, "
                                "got {}",
                                n_regions, attribute));
    plane.seeds.push_back({node(words), static_cast<int>(attribute) - 1});
  }
  return plane;
}

/// The lines along one axis; each new one keeps a distance from those before.
class Lines {
 public:
  /// Adds a line unless another one is nearer than `apart_m`.
  void add(double at_m, double apart_m) {
    const auto next = lines_.lower_bound(at_m - apart_m);
    if (next == lines_.end() || *next > at_m + apart_m) lines_.insert(at_m);
  }
  [[nodiscard]] std::vector<double> sorted() const { return {lines_.begin(), lines_.end()}; }

 private:
  std::set<double> lines_;
};

/// Makes a section of regions.
class Section {
 public:
  Section(const Table& table, const PolyReader& file, const Plane& plane);
  [[nodiscard]] MareModel model() const;

 private:
  [[nodiscard]] const Region& at(int region) const {
    return table_.regions[static_cast<std::size_t>(region)];
  }
  /// Returns true where no ground is: in air, in the sea, and beyond all segments.
  [[nodiscard]] bool is_open(int region) const {
    return region == no_region || at(region).is_air() || sea_regions_.contains(region);
  }
  void find_sea();
  void find_surface();
  [[nodiscard]] TensorGrid grid() const;
  void add_lines(const PlaneNode& a, const PlaneNode& b, Lines& y, Lines& z) const;
  [[nodiscard]] double depth_at(double y_m, double z_m) const { return z_m - surface_.z_at(y_m); }
  [[nodiscard]] Eigen::VectorXd resistivity(const TensorGrid& grid) const;

  const Table& table_;
  const PolyReader& file_;
  Regions regions_;
  std::set<int> sea_regions_{};
  std::optional<physics::mesh::Sea> sea_{};
  physics::mesh::SurfaceLine surface_{};
};

/// Returns the middles between the places of nodes along y.
std::vector<double> middles(const std::vector<PlaneNode>& nodes) {
  std::set<double> places;
  for (const PlaneNode& node : nodes) places.insert(node.y_m);
  std::vector<double> out;
  for (auto next = places.begin(); next != places.end(); ++next)
    if (next != places.begin()) out.push_back(0.5 * (*std::prev(next) + *next));
  return out;
}

Section::Section(const Table& table, const PolyReader& file, const Plane& plane)
    : table_(table), file_(file), regions_(plane.nodes, plane.segments, plane.seeds, middles(plane.nodes)) {
  if (!regions_.contested().empty()) {
    const RegionSeed& seed = plane.seeds[regions_.contested().front()];
    file_.refuse(
        "region_twice",
        fmt::format("expected segments around each region, but the point y = {} m, z = {} m of region {} "
                    "lies in one with another; is a segment missing?",
                    seed.at.y_m, seed.at.z_m, seed.region + 1));
  }
  find_sea();
  find_surface();
}

void Section::find_sea() {
  struct Contact {
    double highest_m = std::numeric_limits<double>::infinity(), lowest_m = -highest_m, length_m = 0.0;
  };
  std::map<int, Contact> contacts;
  for (const auto& side : regions_.sides()) {
    if (side.below == no_region || side.above == no_region || !at(side.above).is_air()) continue;
    Contact& contact = contacts[side.below];
    contact.highest_m = std::min({contact.highest_m, side.left.z_m, side.right.z_m});
    contact.lowest_m = std::max({contact.lowest_m, side.left.z_m, side.right.z_m});
    contact.length_m += side.right.y_m - side.left.y_m;
  }
  double longest_m = 0.0;
  for (const auto& [region, contact] : contacts) {
    const Region& water = at(region);
    if (water.is_free || water.ohm_m > largest_sea_ohm_m || contact.lowest_m - contact.highest_m > same_m)
      continue;
    sea_regions_.insert(region);
    if (contact.length_m <= longest_m) continue;
    longest_m = contact.length_m;
    sea_ = physics::mesh::Sea{contact.highest_m, water.ohm_m};
  }
}

void Section::find_surface() {
  std::map<double, double> points;
  for (const auto& side : regions_.sides()) {
    if (!is_open(side.above) || side.above == no_region || is_open(side.below)) continue;
    for (const PlaneNode& node : {side.left, side.right}) {
      const auto [found, is_new] = points.emplace(node.y_m, node.z_m);
      if (!is_new && std::abs(found->second - node.z_m) > same_m)
        file_.refuse("surface_turns_back",
                     fmt::format("expected a surface with one z at each y, got z = {} m and {} m at y = {} m",
                                 found->second, node.z_m, node.y_m));
    }
  }
  if (points.empty()) return;  // without air the uppermost edge is the surface
  std::vector<double> y_m, z_m;
  for (const auto& [y, z] : points) {
    y_m.push_back(y);
    z_m.push_back(z);
  }
  surface_ = physics::mesh::SurfaceLine(std::move(y_m), std::move(z_m));
}

void Section::add_lines(const PlaneNode& a, const PlaneNode& b, Lines& y, Lines& z) const {
  constexpr double pieces_per_depth = 16.0, most_pieces = 32.0, least_m = 10.0;
  const double dy = std::abs(b.y_m - a.y_m), dz = std::abs(b.z_m - a.z_m);
  const double depth_m = std::max(least_m, depth_at(0.5 * (a.y_m + b.y_m), std::min(a.z_m, b.z_m)));
  const double piece_m = depth_m / pieces_per_depth;
  const double n = std::clamp(std::ceil(std::min(dy, dz) / piece_m), 1.0, most_pieces);
  for (double k = 0.0; k <= n; ++k) {
    y.add(a.y_m + (b.y_m - a.y_m) * k / n, 0.5 * piece_m);
    z.add(a.z_m + (b.z_m - a.z_m) * k / n, 0.5 * piece_m);
  }
}

TensorGrid Section::grid() const {
  Lines y, z;
  std::vector<std::pair<PlaneNode, PlaneNode>> slanted;
  // Edges along an axis come first, as lines stand on them exactly.
  for (const auto& [a, b] : regions_.segments()) {
    if (a.y_m == b.y_m)
      y.add(a.y_m, same_m);
    else if (a.z_m == b.z_m && depth_at(0.5 * (a.y_m + b.y_m), a.z_m) > same_m)
      z.add(a.z_m, same_m);
  }
  const double top_m = *std::ranges::min_element(surface_.z_m());
  z.add(top_m, same_m);
  for (const auto& side : regions_.sides()) {
    if (is_open(side.above) || is_open(side.below)) continue;
    if (side.left.z_m == side.right.z_m) {
      y.add(side.left.y_m, same_m);
      y.add(side.right.y_m, same_m);
    } else {
      slanted.emplace_back(side.left, side.right);
    }
  }
  // Shallow edges come before deep ones, whose lines may stand farther apart.
  std::ranges::stable_sort(slanted, {},
                           [](const auto& side) { return std::min(side.first.z_m, side.second.z_m); });
  for (const auto& [a, b] : slanted) add_lines(a, b, y, z);
  auto y_m = y.sorted(), z_m = z.sorted();
  std::erase_if(z_m, [&](double each) { return each < top_m; });
  if (y_m.size() < 2 || z_m.size() < 2)
    file_.refuse("no_ground", "expected ground with a left, a right and a lower edge, found none");
  return TensorGrid::section(std::move(y_m), std::move(z_m), DepthReference::datum);
}

Eigen::VectorXd Section::resistivity(const TensorGrid& grid) const {
  constexpr int n_parts = 4;
  Eigen::VectorXd conductance = Eigen::VectorXd::Zero(grid.n_cells()), height = conductance;
  const auto& z = grid.z_edges_m();
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    for (int part = 0; part < n_parts; ++part) {
      const auto left = grid.y_edges_m()[static_cast<std::size_t>(iy)];
      for (const PlanePiece& piece :
           regions_.along(left + (part + 0.5) / n_parts * grid.width_m(physics::mesh::Axis::y, iy))) {
        if (is_open(piece.region)) continue;
        for (int iz = grid.row_of(piece.from_m); iz < grid.n_z(); ++iz) {
          const auto row = static_cast<std::size_t>(iz);
          const double overlap = std::min(z[row + 1], piece.to_m) - std::max(z[row], piece.from_m);
          if (overlap <= 0.0 && z[row] >= piece.to_m) break;
          height[grid.index(iz, iy)] += std::max(0.0, overlap);
          conductance[grid.index(iz, iy)] += std::max(0.0, overlap) / at(piece.region).ohm_m;
        }
      }
    }
  }
  Eigen::VectorXd resistivity(grid.n_cells());
  for (int iz = grid.n_z() - 1; iz >= 0; --iz)
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const Eigen::Index cell = grid.index(iz, iy);
      if (height[cell] > 0.0)
        resistivity[cell] = height[cell] / conductance[cell];
      else if (iz + 1 < grid.n_z())
        resistivity[cell] = resistivity[grid.index(iz + 1, iy)];  // above the surface
      else
        file_.refuse("no_region_there", fmt::format("expected a region at y = {} m, z = {} m, found none",
                                                    grid.y_centre_m(iy), grid.z_centre_m(iz)));
    }
  return resistivity;
}

MareModel Section::model() const {
  TensorGrid cells = grid();
  Eigen::VectorXd values = resistivity(cells);
  const bool has_water = sea_ && sea_->level_m < *std::ranges::max_element(surface_.z_m());
  MareModel out{.model = physics::mesh::resistivity_model(
                    {std::move(cells), surface_, has_water ? sea_ : std::nullopt}, std::move(values)),
                .n_regions = static_cast<int>(table_.regions.size()),
                .n_sea = static_cast<int>(sea_regions_.size())};
  for (const Region& region : table_.regions) {
    if (region.is_free) ++out.n_free;
    if (region.is_air()) ++out.n_air;
  }
  return out;
}

}  // namespace

MareModel read_model_file(const std::string& path) {
  const Table table = read_resistivities(path);
  PolyReader file(table.poly_path);
  const Plane plane = file.read(table.regions.size());
  return Section(table, file, plane).model();
}

physics::mesh::Model read_model(const std::string& path) {
  MareModel file = read_model_file(path);
  if (file.n_free > 0)
    core::log::warning(core::log::Id("io::mare2dem::read_model#free_regions"),
                       "{}: {} of {} regions are free in MARE2DEM's inversions; which ones, their bounds, "
                       "prejudices and the penalty file have no place in a model and are left out",
                       path, file.n_free, file.n_regions);
  if (file.n_sea > 1)
    core::log::warning(
        core::log::Id("io::mare2dem::read_model#several_seas"),
        "{}: {} regions below a level contact with air are taken as sea, with the resistivity of "
        "the widest",
        path, file.n_sea);
  return std::move(file.model);
}

bool is_resistivity(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes)) {
    const auto [key, value] = entry_of(line.substr(0, line.find_first_of("!%")));
    if (key.empty()) continue;
    return key == "format" && text::lower(value).starts_with("mare2dem");
  }
  return false;
}

}  // namespace lodestone::io::mare2dem
