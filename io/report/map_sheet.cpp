// SPDX-License-Identifier: Apache-2.0
#include "io/report/map_sheet.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

namespace {

constexpr double left_margin = 66.0, right_margin = 106.0, bottom_margin = 46.0, head = 34.0;
constexpr double map_head = 20.0, gap = 16.0;
constexpr double margin_part = 0.15, least_ratio = 0.4;  // of the extent around sites
constexpr double name_size = 8.5, name_margin = 1.5;
constexpr double left_gap = 1.5;  // as letters end at the right edge of their box, but begin inside of it
constexpr double farthest_named = 45.0;  // from a site without a name to one with it, where there is room

mesh::Interval widened(mesh::Interval range, double by) { return {range.from - by, range.to + by}; }

/// Cuts a range at the ends of a grid.
mesh::Interval inside(const mesh::Interval& range, const std::vector<double>& edges) {
  return {std::max(range.from, edges.front()), std::min(range.to, edges.back())};
}

double narrowest_m(const mesh::TensorGrid& grid) {
  double width = INFINITY;
  for (const mesh::Axis axis : {mesh::Axis::x, mesh::Axis::y})
    for (int k = 0; k < grid.n(axis); ++k) width = std::min(width, grid.width_m(axis, k));
  return width;
}

bool overlap(const Box& a, const Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

bool holds(const Box& outer, const Box& inner) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

/// A place for a name: the box of its letters, and the end of a line that leads to it, if it has one.
struct NamePlace {
  Box box;
  std::optional<Point> leader = {};
};

/// Returns the places that a name may have beside its mark: to the right, to the left, above and below it,
/// and askew.
std::vector<NamePlace> places_beside(const SiteMark& site, double radius) {
  const double width = text_width(site.name, {.size = name_size}), height = name_size, off = radius + 2.0;
  const auto& [x, y] = site.at;
  return {{{x + off, y - 0.5 * height, width, height}},
          {{x - off - left_gap - width, y - 0.5 * height, width, height}},
          {{x - 0.5 * width, y - off - height, width, height}},
          {{x - 0.5 * width, y + off, width, height}},
          {{x + 0.7 * radius, y - off - 0.7 * height, width, height}},
          {{x + 0.7 * radius, y + off - 0.3 * height, width, height}},
          {{x - 0.7 * radius - width, y - off - 0.7 * height, width, height}},
          {{x - 0.7 * radius - width, y + off - 0.3 * height, width, height}}};
}

/// Returns places farther away from the mark, with lines that lead to them.
std::vector<NamePlace> places_apart(const SiteMark& site, double radius) {
  const double width = text_width(site.name, {.size = name_size}), height = name_size;
  std::vector<NamePlace> places;
  for (const double distance : {radius + 10.0, radius + 18.0, radius + 28.0})
    for (const auto& [right, up] : {std::pair{1.0, 0.0},
                                    {1.0, 0.5},
                                    {1.0, -0.5},
                                    {-1.0, 0.0},
                                    {-1.0, 0.5},
                                    {-1.0, -0.5},
                                    {0.5, 1.0},
                                    {0.5, -1.0},
                                    {-0.5, 1.0},
                                    {-0.5, -1.0}}) {
      const Point end{site.at.x + right * distance, site.at.y - up * distance};
      const double left = right > 0.0 ? end.x + 1.5 : end.x - 1.5 - width;
      places.push_back({{left, end.y - 0.5 * height, width, height}, end});
    }
  return places;
}

/// Returns a box with a margin around it, which neighbours keep free.
Box with_margin(const Box& box) {
  return {box.x - name_margin, box.y - name_margin, box.width + 2.0 * name_margin,
          box.height + 2.0 * name_margin};
}

/// Places names one by one where they touch nothing, and draws them.
class NameWriter {
 public:
  NameWriter(Canvas& canvas, const std::vector<SiteMark>& sites, double radius, const Box& box,
             const NamesAround& around)
      : canvas_(canvas), box_(box), taken_(around.taken), avoided_(around.avoided) {
    for (const SiteMark& site : sites)
      taken_.push_back({site.at.x - radius, site.at.y - radius, 2.0 * radius, 2.0 * radius});
  }

  /// Writes a name at the first place that has room, rather where nothing is to be avoided. returns: whether.
  bool write(const SiteMark& site, const std::vector<NamePlace>& places) {
    const auto is_free = [&](const NamePlace& each) {
      return holds(box_, each.box) && !touches(taken_, each.box);
    };
    auto place = std::ranges::find_if(
        places, [&](const NamePlace& each) { return is_free(each) && !touches(avoided_, each.box); });
    if (place == places.end()) place = std::ranges::find_if(places, is_free);
    if (place == places.end()) return false;
    if (place->leader) canvas_.line(site.at, *place->leader, {grey, 0.5, {}});
    const Box& box = place->box;
    canvas_.rectangle(box, {Color{1.0, 1.0, 1.0, 0.6}, {}});  // names stand on dark colours, too
    canvas_.text({box.x, box.y + 0.5 * box.height}, site.name,
                 {.size = name_size, .vertical = Align::middle});
    taken_.push_back(box);
    named_.push_back(site.at);
    return true;
  }

  /// Returns whether a site nearby has its name in the picture.
  [[nodiscard]] bool is_near_named(const SiteMark& site) const {
    return std::ranges::any_of(named_, [&](const Point& each) {
      return std::hypot(each.x - site.at.x, each.y - site.at.y) < farthest_named;
    });
  }

 private:
  static bool touches(const std::vector<Box>& boxes, const Box& box) {
    return std::ranges::any_of(boxes, [&](const Box& other) { return overlap(with_margin(box), other); });
  }

  Canvas& canvas_;
  Box box_;
  std::vector<Box> taken_, avoided_;
  std::vector<Point> named_;
};

}  // namespace

std::vector<mesh::Site> map_sites(const inversion::Outcome& outcome) {
  const core::Table& table = outcome.sites;
  std::vector<mesh::Site> sites;
  if (!table.has("name") || !table.has("x_m") || !table.has("y_m")) return sites;
  for (std::size_t k = 0; k < table.n_rows(); ++k) {
    const mesh::Point at{table.numbers("x_m")[k], table.numbers("y_m")[k], 0.0};
    if (std::isfinite(at.x_m) && std::isfinite(at.y_m)) sites.push_back({table.texts("name")[k], at});
  }
  return sites;
}

MapExtent extent_around(const std::vector<mesh::Site>& sites, const mesh::TensorGrid& grid) {
  const auto &x_edges = grid.edges_m(mesh::Axis::x), &y_edges = grid.edges_m(mesh::Axis::y);
  if (sites.empty()) return {{x_edges.front(), x_edges.back()}, {y_edges.front(), y_edges.back()}};
  const MapExtent extent = extent_around(sites, 5.0 * narrowest_m(grid));
  return {inside(extent.x_m, x_edges), inside(extent.y_m, y_edges)};
}

MapExtent extent_around(const std::vector<mesh::Site>& sites, double lone_margin_m) {
  if (sites.empty())
    throw core::InvalidArgument("io::report::map#no_site", "expected at least one site on the map, got none");
  MapExtent extent{{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
  for (const mesh::Site& site : sites) {
    extent.x_m = {std::min(extent.x_m.from, site.at.x_m), std::max(extent.x_m.to, site.at.x_m)};
    extent.y_m = {std::min(extent.y_m.from, site.at.y_m), std::max(extent.y_m.to, site.at.y_m)};
  }
  const double longest = extent.longest_m();
  const double margin = longest > 0.0 ? margin_part * longest : lone_margin_m;
  for (mesh::Interval* range : {&extent.x_m, &extent.y_m}) *range = widened(*range, margin);
  const double least = least_ratio * extent.longest_m();
  for (mesh::Interval* range : {&extent.x_m, &extent.y_m})
    if (range->length() < least) *range = widened(*range, 0.5 * (least - range->length()));
  return extent;
}

MapAxes map_axes(const mesh::Frame& frame) {
  if (std::abs(frame.azimuth_deg - 90.0) < 1.0) return {};
  return {.x = "x", .y = "y"};
}

MapSheet::MapSheet(MapExtent extent, MapAxes axes, int n_maps, int n_columns, double tallest)
    : extent_(extent),
      axes_(std::move(axes)),
      n_maps_(n_maps),
      n_columns_(n_columns),
      unit_(length_unit(extent.longest_m())) {
  map_width_ = (width - left_margin - right_margin - (n_columns - 1) * gap) / n_columns;
  map_height_ = map_width_ * extent.x_m.length() / extent.y_m.length();
  if (map_height_ <= tallest) return;
  map_width_ *= tallest / map_height_;
  map_height_ = tallest;
}

double MapSheet::height() const {
  const int n_rows = (n_maps_ + n_columns_ - 1) / n_columns_;
  return head + n_rows * (map_head + map_height_) + (n_rows - 1) * (gap - 4.0) + bottom_margin;
}

double MapSheet::used_width() const {
  return box(std::min(n_maps_, n_columns_) - 1).x + map_width_ + right_margin;
}

Box MapSheet::box(int k) const {
  const int row = k / n_columns_, column = k % n_columns_;
  return {left_margin + column * (map_width_ + gap),
          head + map_head + row * (map_height_ + map_head + gap - 4.0), map_width_, map_height_};
}

Frame MapSheet::frame(int k) const {
  const int n_ticks = map_width_ > 300.0 ? 6 : 4;
  const auto axis = [&](double first, double last, const std::string& name, bool labelled) {
    return Axis{first / unit_.metres,
                last / unit_.metres,
                Scale::linear,
                labelled ? fmt::format("{} ({})", name, unit_.name) : "",
                labelled ? TickLabels::shown : TickLabels::hidden,
                n_ticks};
  };
  return {box(k), axis(extent_.y_m.from, extent_.y_m.to, axes_.y, is_at_bottom(k)),
          axis(extent_.x_m.to, extent_.x_m.from, axes_.x, is_at_left(k))};
}

Box MapSheet::colour_bar() const {
  const Box first = box(0), last = box(n_maps_ - 1);
  const int in_row = std::min(n_maps_, n_columns_);
  const double all = last.y + last.height - first.y, bar = std::min(all, 420.0);
  return {box(in_row - 1).x + map_width_ + 16.0, first.y + 0.5 * (all - bar), 16.0, bar};
}

void MapSheet::draw_frame(Canvas& canvas, int k, const std::string& title) const {
  frame(k).draw(canvas);
  draw_map_title(canvas, k, title);
}

void MapSheet::draw_map_title(Canvas& canvas, int k, const std::string& title) const {
  canvas.text({box(k).x, box(k).y - 6.0}, title, {.size = 11.0, .weight = Weight::bold});
}

void MapSheet::draw_title(Canvas& canvas, const std::string& title, const std::string& remark) const {
  const TextStyle style{.size = 14.0, .weight = Weight::bold};
  canvas.text({left_margin, head - 12.0}, title, style);
  canvas.text({left_margin + text_width(title, style) + 14.0, head - 12.0}, remark,
              {.size = 10.0, .color = grey});
}

double mark_radius(const std::vector<Point>& places, double least, double most) {
  std::vector<double> nearest;
  for (const Point& a : places) {
    double distance = INFINITY;
    for (const Point& b : places)
      if (&a != &b) distance = std::min(distance, std::hypot(a.x - b.x, a.y - b.y));
    nearest.push_back(distance);
  }
  if (nearest.empty()) return most;
  std::ranges::sort(nearest);
  return std::clamp(0.48 * nearest[nearest.size() / 4], least, most);
}

int draw_site_names(Canvas& canvas, const std::vector<SiteMark>& sites, double radius, const Box& box,
                    const NamesAround& around) {
  NameWriter writer(canvas, sites, radius, box, around);
  std::vector<const SiteMark*> left_out;
  for (const SiteMark& site : sites)
    if (!writer.write(site, places_beside(site, radius))) left_out.push_back(&site);
  std::erase_if(left_out, [&](const SiteMark* site) {
    return !writer.is_near_named(*site) && writer.write(*site, places_apart(*site, radius));
  });
  return static_cast<int>(left_out.size());
}

}  // namespace lodestone::io::report
