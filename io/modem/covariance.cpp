// SPDX-License-Identifier: Apache-2.0
#include "io/modem/covariance.hpp"

#include "engine/core/error.hpp"
#include "io/modem/numbers.hpp"
#include "io/text/text_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace lodestone::io::modem {
namespace {

constexpr std::size_t n_header_lines = 16;
constexpr int most_cells_of_axis = 100000, most_times = 1000, most_exceptions = 1000, largest_area = 9;
constexpr std::string_view header =
    R"(+-----------------------------------------------------------------------------+
| This file defines model covariance for a recursive autoregression scheme.   |
| The model space may be divided into distinct areas using integer masks.     |
| Mask 0 is reserved for air; mask 9 is reserved for ocean. Smoothing between |
| air, ocean and the rest of the model is turned off automatically. You can   |
| also define exceptions to override smoothing between any two model areas.   |
| To turn off smoothing set it to zero. This header is 16 lines long.         |
| 1. Grid dimensions excluding air layers (Nx, Ny, NzEarth)                   |
| 2. Smoothing in the X direction (NzEarth real values)                       |
| 3. Smoothing in the Y direction (NzEarth real values)                       |
| 4. Vertical smoothing (1 real value)                                        |
| 5. Number of times the smoothing should be applied (1 integer >= 0)         |
| 6. Number of exceptions (1 integer >= 0)                                    |
| 7. Exceptions in the form e.g. 2 3 0. (to turn off smoothing between 3 & 4) |
| 8. Two integer layer indices and Nx x Ny block of masks, repeated as needed.|
+-----------------------------------------------------------------------------+
)";

std::size_t at(const Covariance& to, int ix, int iy, int iz) {
  return static_cast<std::size_t>((iz * to.n_y + iy) * to.n_x + ix);
}

double next_share(Numbers& file, const char* what) {
  const double share = file.next(what);
  if (!(share >= 0.0 && share <= 1.0))
    file.refuse(
        "share_out_of_range",
        fmt::format("expected {} from 0 to 1, got {}; correct it, or the counts before it", what, share));
  return share;
}

void read_counts(Numbers& file, std::size_t n_bytes, Covariance& to) {
  to.n_x = file.next_whole("the number of cells along x behind 16 lines of text", 1, most_cells_of_axis);
  to.n_y = file.next_whole("the number of cells along y", 1, most_cells_of_axis);
  to.n_z = file.next_whole("the number of layers", 1, most_cells_of_axis);
  // Layers alike may share a block, so that a file holds one layer at least.
  if (2.0 * to.n_x * to.n_y > static_cast<double>(n_bytes) || 4.0 * to.n_z > static_cast<double>(n_bytes))
    file.refuse("counts_too_large",
                fmt::format("expected areas of {} x {} cells in {} layers, but the file has only "
                            "{} bytes; is it cut off?",
                            to.n_x, to.n_y, to.n_z, n_bytes));
}

void read_smoothing(Numbers& file, Covariance& to) {
  for (int iz = 0; iz < to.n_z; ++iz) to.x_smoothing.push_back(next_share(file, "smoothing along x"));
  for (int iz = 0; iz < to.n_z; ++iz) to.y_smoothing.push_back(next_share(file, "smoothing along y"));
  to.z_smoothing = next_share(file, "smoothing along z");
  to.n_times = file.next_whole("how often smoothing is applied", 0, most_times);
  const int n = file.next_whole("the number of exceptions", 0, most_exceptions);
  for (int i = 0; i < n; ++i) {
    const int first = file.next_whole("an area of an exception", 0, largest_area),
              second = file.next_whole("an area of an exception", 0, largest_area);
    to.exceptions.push_back({first, second, next_share(file, "smoothing of an exception")});
  }
}

/// Reads blocks of areas, rows from north to south. A block whose layers run backwards has no effect, as in
/// ModEM.
void read_areas(Numbers& file, Covariance& to) {
  to.area.assign(static_cast<std::size_t>(to.n_x) * to.n_y * to.n_z, 1);
  while (!file.at_end()) {
    const int first = file.next_whole("the first layer of a block", 1, to.n_z),
              last = file.next_whole("the last layer of a block", 1, to.n_z);
    const std::string what =
        fmt::format("an area of the {} x {} cells of layers {} to {}", to.n_x, to.n_y, first, last);
    for (int ix = to.n_x - 1; ix >= 0; --ix) {
      for (int iy = 0; iy < to.n_y; ++iy) {
        const int area = file.next_whole(what, 0, largest_area);
        for (int iz = first - 1; iz < last; ++iz) to.area[at(to, ix, iy, iz)] = area;
      }
    }
  }
}

bool is_same_layer(const Covariance& of, int a, int b) {
  const auto n = static_cast<std::ptrdiff_t>(of.n_x) * of.n_y;
  return std::equal(of.area.begin() + a * n, of.area.begin() + (a + 1) * n, of.area.begin() + b * n);
}

void append_areas(std::string& text, const Covariance& of) {
  for (int first = 0, last = 0; first < of.n_z; first = last + 1) {
    last = first;
    while (last + 1 < of.n_z && is_same_layer(of, first, last + 1)) ++last;
    fmt::format_to(std::back_inserter(text), "\n{} {}\n", first + 1, last + 1);
    for (int ix = of.n_x - 1; ix >= 0; --ix) {
      for (int iy = 0; iy < of.n_y; ++iy)
        fmt::format_to(std::back_inserter(text), "{}{}", of.area_of(ix, iy, first),
                       iy + 1 == of.n_y ? '\n' : ' ');
    }
  }
}

void check(const Covariance& of, const std::string& path) {
  const auto n_layers = static_cast<std::size_t>(of.n_z);
  if (of.area.size() == n_layers * of.n_x * of.n_y && of.x_smoothing.size() == n_layers &&
      of.y_smoothing.size() == n_layers)
    return;
  throw core::ShapeError(
      "io::modem::write_covariance#wrong_size",
      "{}: expected areas of {} x {} x {} cells and smoothing of {} layers, got {} areas and {} "
      "and {} layers",
      path, of.n_x, of.n_y, of.n_z, of.n_z, of.area.size(), of.x_smoothing.size(), of.y_smoothing.size());
}

/// Returns the weight of a link of an autoregression in the roughness, relative to unit variance.
double link_weight(double smoothing) {
  const double alpha = std::min(smoothing, 0.999);
  return alpha / (1.0 - alpha * alpha);
}

double mean_smoothing(const Covariance& of) {
  double sum = of.z_smoothing;
  for (const auto* each : {&of.x_smoothing, &of.y_smoothing})
    sum = std::accumulate(each->begin(), each->end(), sum);
  return sum / static_cast<double>(of.x_smoothing.size() + of.y_smoothing.size() + 1);
}

}  // namespace

physics::mesh::Areas areas_of(const Covariance& covariance) {
  physics::mesh::Areas out{.of_cell = covariance.area};
  const double usual = mean_smoothing(covariance);
  for (const CovarianceException& each : covariance.exceptions) {
    const double weight =
        usual > 0.0 ? link_weight(each.smoothing) / link_weight(usual) : (each.smoothing > 0.0 ? 1.0 : 0.0);
    out.borders.push_back({each.area, each.other_area, weight});
  }
  for (int area = 0; area <= largest_area; ++area) {
    for (const int fixed : {Covariance::air, Covariance::sea}) out.borders.push_back({fixed, area, 0.0});
  }
  return out;
}

Covariance read_covariance(const std::string& path) {
  const std::string bytes = text::read_text(path);
  Numbers file(bytes, path, "io::modem::read_covariance");
  file.skip_lines(n_header_lines, "16 lines of text, with which a covariance file of ModEM begins");
  Covariance out;
  read_counts(file, bytes.size(), out);
  read_smoothing(file, out);
  read_areas(file, out);
  return out;
}

void write_covariance(const std::string& path, const Covariance& covariance) {
  check(covariance, path);
  std::string text(header);
  fmt::format_to(std::back_inserter(text), "\n{} {} {}\n\n{}\n{}\n{}\n\n{}\n\n{}\n", covariance.n_x,
                 covariance.n_y, covariance.n_z, fmt::join(covariance.x_smoothing, " "),
                 fmt::join(covariance.y_smoothing, " "), covariance.z_smoothing, covariance.n_times,
                 covariance.exceptions.size());
  for (const CovarianceException& entry : covariance.exceptions)
    fmt::format_to(std::back_inserter(text), "{} {} {}\n", entry.area, entry.other_area, entry.smoothing);
  append_areas(text, covariance);
  text::write_bytes_atomically(path, text);
}

}  // namespace lodestone::io::modem
