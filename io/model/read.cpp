// SPDX-License-Identifier: Apache-2.0
#include "io/model/read.hpp"

#include "engine/core/error.hpp"
#include "io/model/hdf5.hpp"
#include "io/modem/modem.hpp"
#include "io/occam2d/model.hpp"
#include "io/survey/kinds.hpp"
#include "physics/mt/ranges.hpp"

#include <algorithm>

namespace lodestone::io::model {
namespace {

/// Checks the resistivities and returns them in ohm m; readers of texts checked them before, with the line.
physics::mesh::Model checked(physics::mesh::Model model, const std::string& path) {
  Eigen::VectorXd values = resistivity_ohm_m(model);
  const auto wrong = std::ranges::find_if_not(values, physics::mt::is_in_resistivity_range);
  if (wrong == values.end())
    return physics::mesh::resistivity_model(std::move(model.earth), std::move(values));
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

}  // namespace

physics::mesh::Model read_model(const std::string& path) {
  const survey::FileKind kind = survey::kind_of_file(path);
  switch (kind) {
    case survey::FileKind::hdf5:
      return checked(read_model_hdf5(path), path);
    case survey::FileKind::modem_model_2d:
    case survey::FileKind::modem_model_3d:
      return modem::read_model(path);
    case survey::FileKind::occam2d_model:
      return occam2d::read_model(path);
    case survey::FileKind::toml:
      return read_model_toml(path);
    default:
      throw core::FormatError("io::model::read#not_a_model",
                              "{}:1: expected a model (ModEM, Occam2D, TOML with [background], or an HDF5 "
                              "result), got {}; check the path",
                              path,
                              kind == survey::FileKind::unknown ? std::string_view("a file of unknown format")
                                                                : core::word(kind));
  }
}

}  // namespace lodestone::io::model
