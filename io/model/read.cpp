// SPDX-License-Identifier: Apache-2.0
#include "io/model/read.hpp"

#include "engine/core/error.hpp"
#include "io/femtic/model.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/mare2dem/model.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/xyz.hpp"
#include "io/modem/modem.hpp"
#include "io/occam2d/model.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/unread.hpp"
#include "physics/mt/ranges.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::io::model {
namespace {

/// Checks the resistivities of a model; readers of texts checked them before, with the line.
void check(const physics::mesh::Model& model, const std::string& path) {
  const Eigen::VectorXd values = resistivity_ohm_m(model);
  const auto wrong = std::ranges::find_if_not(values, physics::mt::is_in_resistivity_range);
  if (wrong == values.end()) return;
  const physics::mesh::TensorGrid& grid = model.earth.grid;
  const auto cell = wrong - values.begin(), column = cell % grid.n_columns();
  const std::string place = grid.dimension() == 3
                                ? fmt::format("layer {}, y {}, x {}", cell / grid.n_columns(),
                                              column / grid.n_x(), column % grid.n_x())
                                : fmt::format("row {}, column {}", cell / grid.n_columns(), column);
  throw core::FormatError("io::model::read#resistivity_out_of_range",
                          "{}: expected resistivities of {:g} to {:g} ohm m, got {:g} in {} (from 0)", path,
                          physics::mt::least_resistivity_ohm_m, physics::mt::largest_resistivity_ohm_m,
                          *wrong, place);
}

/// Reads a model by its kind.
PlacedModel read(const std::string& path, survey::FileKind kind) {
  switch (kind) {
    case survey::FileKind::hdf5:
      return read_placed_hdf5(path);
    case survey::FileKind::modem_model_2d:
    case survey::FileKind::modem_model_3d:
      return {modem::read_model(path)};
    case survey::FileKind::occam2d_model:
      return {occam2d::read_model(path)};
    case survey::FileKind::mare2dem_model:
      return {mare2dem::read_model(path)};
    case survey::FileKind::femtic_model:
      return {femtic::read_model(path)};
    case survey::FileKind::xyz_model:
      return read_xyz(path);
    case survey::FileKind::gocad_sgrid:
      return {gocad::read_model(path)};
    case survey::FileKind::toml:
      return read_placed_toml(path);
    default:
      survey::refuse_unread(path);
      throw core::FormatError(
          "io::model::read#not_a_model",
          "{}:1: expected a model (ModEM, WSINV3DMT, Occam2D, MARE2DEM, FEMTIC, XYZ, GOCAD "
          "SGrid, TOML with [background] or "
          "[cells], or an HDF5 result), got {}; check the path",
          path,
          kind == survey::FileKind::unknown ? std::string_view("a file of unknown format")
                                            : core::word(kind));
  }
}

}  // namespace

PlacedModel read_placed_model(const std::string& path) {
  PlacedModel placed = read(path, survey::kind_of_file(path));
  check(placed.model, path);
  return placed;
}

physics::mesh::Model read_model(const std::string& path) {
  physics::mesh::Model model = read_placed_model(path).model;
  Eigen::VectorXd values = resistivity_ohm_m(model);
  return physics::mesh::resistivity_model(std::move(model.earth), std::move(values));
}

bool is_model_file(const std::string& path) {
  switch (survey::kind_of_file(path)) {
    case survey::FileKind::modem_model_2d:
    case survey::FileKind::modem_model_3d:
    case survey::FileKind::occam2d_model:
    case survey::FileKind::mare2dem_model:
    case survey::FileKind::femtic_model:
    case survey::FileKind::xyz_model:
    case survey::FileKind::gocad_sgrid:
    case survey::FileKind::toml:
      return true;
    case survey::FileKind::hdf5:
      return has_model_hdf5(path);
    default:
      return false;
  }
}

}  // namespace lodestone::io::model
