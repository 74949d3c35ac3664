// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/numbers.hpp"
#include "io/occam2d/model.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/conventions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iterator>

namespace lodestone::io::occam2d {
namespace {

using modem::widths_of;
using physics::mesh::Model;
using physics::mesh::Scale;
using physics::mesh::TensorGrid;
using physics::mt::preimage;

/// Appends numbers, ten to a line.
void append(std::string& text, const std::vector<double>& numbers) {
  constexpr std::size_t per_line = 10;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    fmt::format_to(std::back_inserter(text), "{}{}", numbers[i],
                   (i + 1) % per_line == 0 || i + 1 == numbers.size() ? '\n' : ' ');
}

std::string mesh_text(const TensorGrid& grid, const std::vector<double>& widths_m) {
  constexpr int triangles = 4;
  std::string text = fmt::format("all elements are free\n0 {} {} 0 0 2\n", grid.n_y() + 1, grid.n_z() + 1);
  append(text, widths_m);
  append(text, widths_of(grid.z_edges_m()));
  text += "0\n";
  for (int row = 0; row < triangles * grid.n_z(); ++row)
    text += std::string(static_cast<std::size_t>(grid.n_y()), '?') + "\n";
  return text;
}

std::string blocks_text(const TensorGrid& grid, const std::string& mesh_name, double binding_m) {
  std::string text = fmt::format(
      "FORMAT: OCCAM2MTMOD_1.0\nMODEL NAME: a block for each cell\nDESCRIPTION: none\nMESH FILE: {}\n"
      "MESH TYPE: PW2D\nSTATICS FILE: none\nPREJUDICE FILE: none\nBINDING OFFSET: {}\nNUM LAYERS: {}\n",
      mesh_name, binding_m, grid.n_z());
  const std::vector<double> ones(static_cast<std::size_t>(grid.n_y()), 1.0);
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    fmt::format_to(std::back_inserter(text), "1 {}\n", grid.n_y());
    append(text, ones);
  }
  return text + "NO. EXCEPTIONS: 0\n";
}

std::string iteration_text(const Model& model, const std::string& blocks_name) {
  std::string text = fmt::format(
      "Format: OCCAMITER_FLEX\nDescription: none\nModel File: {}\nData File: OccamDataFile.dat\n"
      "Date/Time: none\nIterations to run: 20\nTarget Misfit: 1.0\nRoughness Type: 1\nDiagonal Penalties: 0\n"
      "Stepsize Cut Count: 8\nDebug Level: 1\nIteration: 0\nLagrange Value: 5.0\nRoughness Value: 1e+10\n"
      "Misfit Value: 1000.0\nMisfit Reached: 0\nParam Count: {}\n",
      blocks_name, model.earth.grid.n_cells());
  std::vector<double> values;
  const auto reads_as = [](double log) { return std::pow(10.0, log); };
  for (const double value : model.values)
    values.push_back(model.property.scale == Scale::log10 ? value
                                                          : preimage(value, std::log10(value), reads_as));
  append(text, values);
  return text;
}

void check(const std::string& path, const Model& model) {
  physics::mesh::require_section(model.earth, "io::occam2d::write_model");
  static_cast<void>(log10_resistivity(model));
  if (model.earth.sea || !model.earth.surface.is_flat() || model.earth.grid.z_edges_m().front() != 0.0)
    throw core::InvalidArgument(
        "io::occam2d::write_model#has_topography",
        "{}: expected a section under a level surface without a sea, whose rows begin "
        "at 0; write HDF5 instead",
        path);
}

}  // namespace

void write_model(const std::string& path, const Model& model) {
  check(path, model);
  const TensorGrid& grid = model.earth.grid;
  const std::vector<double> widths_m = widths_of(grid.y_edges_m());
  // The left edge is read as the binding offset less the width of the leftmost block.
  const double binding_m = preimage(grid.y_edges_m().front(), grid.y_edges_m()[1],
                                    [&](double offset) { return offset - widths_m.front(); });
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string stem = std::filesystem::path(path).stem().string();
  const std::string mesh_name = stem + ".mesh", blocks_name = stem + ".model";
  text::write_bytes_atomically((folder / mesh_name).string(), mesh_text(grid, widths_m));
  text::write_bytes_atomically((folder / blocks_name).string(), blocks_text(grid, mesh_name, binding_m));
  text::write_bytes_atomically(path, iteration_text(model, blocks_name));
}

}  // namespace lodestone::io::occam2d
