// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/modem/numbers.hpp"
#include "io/modem/words.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <utility>

namespace lodestone::io::modem {
namespace {

using physics::mesh::Axis;
using physics::mesh::Model;
using physics::mesh::TensorGrid;
using physics::mt::largest_coordinate_m;
using physics::mt::largest_resistivity_ohm_m;
using physics::mt::least_resistivity_ohm_m;
using physics::mt::preimage;

constexpr const char* reader = "io::modem::read_model";
constexpr double largest_air_ohm_m = 1e20;  ///< files state 1e12 to 1e17 ohm m for air
constexpr std::array<std::string_view, 3> scale_words{"LINEAR", "LOGE", "LOG10"};

std::vector<double> read_widths(Numbers& file, int n, const char* what) {
  std::vector<double> widths;
  for (int i = 0; i < n; ++i) {
    widths.push_back(file.next(what));
    if (!(widths.back() > 0.0))
      file.refuse("width_not_positive", fmt::format("expected {} above 0, got {}", what, widths.back()));
    if (widths.back() > largest_coordinate_m)
      file.refuse("width_out_of_range",
                  fmt::format("expected {} with which edges increase up to {:g} m, got {}", what,
                              largest_coordinate_m, widths.back()));
  }
  return widths;
}

/// Returns the edges of cells of these widths, the first at `from`.
std::vector<double> edges_from(double from, const std::vector<double>& widths, const char* what,
                               const Numbers& file) {
  std::vector<double> edges{from};
  for (const double width : widths) {
    edges.push_back(edges.back() + width);
    if (!(edges.back() > edges[edges.size() - 2]) || std::abs(edges.back()) > largest_coordinate_m)
      file.refuse("width_out_of_range",
                  fmt::format("expected {} with which edges increase up to {:g} m, got {}", what,
                              largest_coordinate_m, width));
  }
  return edges;
}

ModemScale scale_of(const std::vector<std::string_view>& head, const Numbers& file) {
  if (text::integer(head.back())) return ModemScale::linear;
  for (std::size_t i = 0; i < scale_words.size(); ++i) {
    if (text::equals_ignoring_case(head.back(), scale_words[i])) return static_cast<ModemScale>(i);
  }
  file.refuse("unknown_scale", fmt::format("expected LOGE, LOG10 or LINEAR after the counts, got \"{}\"",
                                           text::printable(head.back())));
}

double resistivity_from(double value, ModemScale scale) {
  switch (scale) {
    case ModemScale::loge:
      return std::exp(value);
    case ModemScale::log10:
      return std::pow(10.0, value);
    default:
      return value;
  }
}

/// Returns the number that reads back as the resistivity where there is one.
double value_of(double resistivity, ModemScale scale) {
  const auto reads_as = [scale](double value) { return resistivity_from(value, scale); };
  switch (scale) {
    case ModemScale::loge:
      return preimage(resistivity, std::log(resistivity), reads_as);
    case ModemScale::log10:
      return preimage(resistivity, std::log10(resistivity), reads_as);
    default:
      return resistivity;
  }
}

/// Checks counts: the bytes of the file must be able to hold them, as each number takes two. A list of
/// resistivities may stand for any number of cells that the memory takes.
ModemModelHead checked_head(const std::string& bytes, const std::vector<std::string_view>& line,
                            const Numbers& file) {
  const auto head = modem_model_head(bytes);
  if (!head)
    file.refuse("no_counts",
                fmt::format("expected a line `Ny Nz [LOGE|LOG10]` or `Nx Ny Nz 0 [LOGE|LOG10]`, got "
                            "\"{}\"",
                            line.empty() ? "" : text::printable(line.front())));
  const double n_cells = 1.0 * head->n_x * head->n_y * head->n_z;
  if (head->n_listed == 0 && 2.0 * n_cells > static_cast<double>(bytes.size()))
    file.refuse(
        "counts_too_large",
        fmt::format("expected {} x {} x {} resistivities, but the file has only {} bytes; is it cut off?",
                    head->n_x, head->n_y, head->n_z, bytes.size()));
  constexpr double most_listed = 1e8;
  if (head->n_listed < 0 || (head->n_listed > 0 && n_cells > most_listed))
    file.refuse("wrong_list",
                fmt::format("expected 0 or more resistivities in the list, and at most {:g} cells "
                            "with it, got {} and {:g}",
                            most_listed, head->n_listed, n_cells));
  return *head;
}

/// Reads resistivities in the order of a file; cells of a volume that are air may exceed the range.
double next_resistivity(Numbers& file, ModemModel& to, bool may_be_air) {
  const double value = resistivity_from(file.next("a resistivity"), to.scale);
  if (may_be_air && value > largest_resistivity_ohm_m && value <= largest_air_ohm_m) {
    ++to.n_air;
    return largest_resistivity_ohm_m;
  }
  if (!physics::mt::is_in_resistivity_range(value))
    file.refuse("resistivity_out_of_range",
                fmt::format("expected a resistivity of {:g} to {:g} ohm m, got {}; is the word LOGE or LOG10 "
                            "missing in line 1?",
                            least_resistivity_ohm_m, largest_resistivity_ohm_m, value));
  return value;
}

/// Returns a number per cell in the order of a file.
std::vector<double> read_values(Numbers& file, const ModemModelHead& head, ModemModel& to) {
  std::vector<double> values;
  for (long i = 0; i < static_cast<long>(head.n_x) * head.n_y * head.n_z; ++i)
    values.push_back(next_resistivity(file, to, true));
  return values;
}

/// Returns the same of a file of WSINV3DMT with a list of resistivities. Where it has more than one, blocks
/// of layers `first last` follow. They have a row of places in the list for each x, from north to south.
std::vector<double> read_listed(Numbers& file, const ModemModelHead& head, ModemModel& to) {
  std::vector<double> list;
  for (int i = 0; i < head.n_listed; ++i) list.push_back(next_resistivity(file, to, true));
  const auto n_x = static_cast<std::size_t>(head.n_x), n_y = static_cast<std::size_t>(head.n_y);
  std::vector<double> values(n_x * n_y * static_cast<std::size_t>(head.n_z), list.front());
  for (int next = 1; head.n_listed > 1 && next <= head.n_z;) {
    const int first = file.next_whole("the first layer of a block", next, next),
              last = file.next_whole("the last layer of a block", first, head.n_z);
    for (std::size_t ix = 0; ix < n_x; ++ix) {
      for (std::size_t iy = 0; iy < n_y; ++iy) {
        const int number = file.next_whole("the number of a resistivity", 1, head.n_listed);
        for (int layer = first; layer <= last; ++layer)
          values[(static_cast<std::size_t>(layer - 1) * n_y + iy) * n_x + ix] =
              list[static_cast<std::size_t>(number - 1)];
      }
    }
    next = last + 1;
  }
  return values;
}

void read_section(Numbers& file, const ModemModelHead& head, ModemModel& to) {
  const auto dy = read_widths(file, head.n_y, "a column width in m");
  auto y = edges_from(0.0, dy, "a column width in m", file);
  const auto dz = read_widths(file, head.n_z, "a row height in m");
  auto z = edges_from(0.0, dz, "a row height in m", file);
  (void)file.next("the marker 0 or 1 before the resistivities");
  Eigen::VectorXd resistivity(static_cast<Eigen::Index>(head.n_y) * head.n_z);
  for (double& value : resistivity) value = next_resistivity(file, to, false);
  file.require_end("the last resistivity");
  to.model = physics::mesh::resistivity_model({TensorGrid::section(std::move(y), std::move(z))},
                                              std::move(resistivity));
}

struct Origin {
  double x_m, y_m, z_m;
};

/// Reads the origin line, without which the columns are centred.
Origin read_origin(Numbers& file, const std::vector<double>& dx, const std::vector<double>& dy,
                   ModemModel& to) {
  const auto half = [](const std::vector<double>& widths) {
    double sum = 0.0;
    for (const double width : widths) sum += width;
    return 0.5 * sum;
  };
  if (file.at_end()) return {-half(dx), -half(dy), 0.0};
  to.has_stated_origin = true;
  const auto coordinate = [&](const char* what) {
    const double metres = file.next(what);
    if (!physics::mt::is_in_coordinate_range(metres))
      file.refuse("origin_out_of_range",
                  fmt::format("expected {} within {:g} m, got {}", what, largest_coordinate_m, metres));
    return metres;
  };
  const double x = coordinate("x of the origin"), y = coordinate("y of the origin"),
               z = coordinate("z of the origin");
  if (!file.at_end()) to.rotation_deg = file.next("the rotation");
  if (std::abs(to.rotation_deg) > physics::mt::largest_angle_deg)
    file.refuse("rotation_out_of_range", fmt::format("expected a rotation within {} degrees, got {}",
                                                     physics::mt::largest_angle_deg, to.rotation_deg));
  file.require_end("the rotation");
  return {x, y, z};
}

/// Widths go from south to north, resistivities of a row from north to south.
void read_volume(Numbers& file, const ModemModelHead& head, ModemModel& to) {
  const auto dx = read_widths(file, head.n_x, "a width along x in m"),
             dy = read_widths(file, head.n_y, "a width along y in m"),
             dz = read_widths(file, head.n_z, "a thickness in m");
  const auto values = head.n_listed > 0 ? read_listed(file, head, to) : read_values(file, head, to);
  const Origin origin = read_origin(file, dx, dy, to);
  TensorGrid grid(physics::mesh::Edges{edges_from(origin.x_m, dx, "a width along x in m", file),
                                       edges_from(origin.y_m, dy, "a width along y in m", file),
                                       edges_from(0.0, dz, "a thickness in m", file)});
  Eigen::VectorXd resistivity(grid.n_cells());
  std::size_t next = 0;
  for (int iz = 0; iz < head.n_z; ++iz) {
    for (int iy = 0; iy < head.n_y; ++iy) {
      for (int ix = head.n_x - 1; ix >= 0; --ix) resistivity[grid.index(iz, iy, ix)] = values[next++];
    }
  }
  to.model = physics::mesh::resistivity_model({std::move(grid), physics::mesh::Surface(origin.z_m)},
                                              std::move(resistivity));
}

template <class Values>
void append_rows(std::string& text, const Values& values, std::size_t per_line) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}", values[i],
                   (i + 1) % per_line == 0 || i + 1 == values.size() ? '\n' : ' ');
  }
}

/// Returns the level of the top. errors: InvalidArgument where the surface is not the level top of the cells.
double level_top_m(const physics::mesh::Earth& earth, const std::string& path) {
  const double level = earth.surface.highest_m(), top = earth.grid.z_edges_m().front();
  const bool is_draped = earth.grid.reference() == physics::mesh::DepthReference::surface;
  if (earth.sea)
    throw core::InvalidArgument(
        "io::modem::write_model#has_sea",
        "{}: expected a model without a sea, as the format has no water; write HDF5 instead", path);
  if (!earth.surface.is_flat() || (earth.grid.dimension() == 3 && !is_draped && top != level))
    throw core::InvalidArgument("io::modem::write_model#has_topography",
                                "{}: expected a model whose top is a level surface, as the format has no "
                                "topography; write HDF5 instead",
                                path);
  return is_draped ? level + top : top;
}

std::string section_text(const Model& model, ModemScale scale) {
  constexpr std::size_t per_line = 10;
  const TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd resistivity = resistivity_ohm_m(model);
  std::string text =
      fmt::format("{} {} {}\n", grid.n_y(), grid.n_z(), scale_words.at(static_cast<std::size_t>(scale)));
  append_rows(text, widths_of(grid.y_edges_m()), per_line);
  append_rows(text, widths_of(grid.z_edges_m()), per_line);
  text += "0\n";
  std::vector<double> row(static_cast<std::size_t>(grid.n_y()));
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      row[static_cast<std::size_t>(iy)] = value_of(resistivity[grid.index(iz, iy)], scale);
    append_rows(text, row, row.size());
  }
  return text;
}

std::string volume_text(const Model& model, ModemScale scale, double top_m, double rotation_deg) {
  const TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd resistivity = resistivity_ohm_m(model);
  std::string text =
      fmt::format("# resistivities from north to south, layer by layer\n{} {} {} 0 {}\n", grid.n_x(),
                  grid.n_y(), grid.n_z(), scale_words.at(static_cast<std::size_t>(scale)));
  for (const Axis axis : physics::mesh::all_axes) {
    const auto widths = widths_of(grid.edges_m(axis));
    append_rows(text, widths, widths.size());
  }
  std::vector<double> row;
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    text += '\n';
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      row.clear();
      for (int ix = grid.n_x() - 1; ix >= 0; --ix)
        row.push_back(value_of(resistivity[grid.index(iz, iy, ix)], scale));
      append_rows(text, row, row.size());
    }
  }
  fmt::format_to(std::back_inserter(text), "\n{} {} {}\n{}\n", grid.edges_m(Axis::x).front(),
                 grid.y_edges_m().front(), top_m, rotation_deg);
  return text;
}

}  // namespace

ModemModel read_model_file(const std::string& path) {
  const std::string bytes = text::read_text(path);
  Numbers file(bytes, path, reader);
  const auto first = file.first_line("Ny Nz [LOGE|LOG10]` or `Nx Ny Nz 0 [LOGE|LOG10]");
  const ModemModelHead head = checked_head(bytes, first, file);
  ModemModel out{
      .model = physics::mesh::resistivity_model({TensorGrid::layers(1.0, 1.0, 1)}, Eigen::VectorXd::Ones(1))};
  out.scale = scale_of(first, file);
  if (head.dimensions == 2) {
    read_section(file, head, out);
  } else {
    read_volume(file, head, out);
  }
  return out;
}

Model read_model(const std::string& path) {
  ModemModel file = read_model_file(path);
  if (file.n_air > 0)
    core::log::warning(
        core::log::Id("io::modem::read_model#air"),
        "{}: {} cells have more than {:g} ohm m, as air has; they got that, and are cells like others", path,
        file.n_air, largest_resistivity_ohm_m);
  if (file.rotation_deg != 0.0)
    core::log::warning(
        core::log::Id("io::modem::read_model#rotation"),
        "{}: the rotation of {} degrees has no effect, as in ModEM: x and y are those of the cells", path,
        file.rotation_deg);
  return std::move(file.model);
}

void write_model(const std::string& path, const Model& model, ModemScale scale, double rotation_deg) {
  if (model.earth.grid.dimension() != 3) physics::mesh::require_section(model.earth, "io::write_model");
  const double top_m = level_top_m(model.earth, path);
  text::write_bytes_atomically(path, model.earth.grid.dimension() == 3
                                         ? volume_text(model, scale, top_m, rotation_deg)
                                         : section_text(model, scale));
}

}  // namespace lodestone::io::modem
