// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mesh/surface.hpp"
#include "physics/mesh/tensor_grid.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace lodestone::physics::mesh {

/// The geometry of an earth in any dimension: its cells, the surface above them and the sea upon it.
struct Earth {
  TensorGrid grid;
  Surface surface{};  ///< surface of the solid earth: the ground on land, the floor of the sea
  std::optional<Sea> sea{};
};

/// The kind of number that a model holds for a quantity.
enum class Scale {
  linear,  ///< the quantity itself
  log10,   ///< its decimal logarithm
};

/// A quantity with a value in each cell.
struct Property {
  std::string name = "resistivity";
  std::string units = "ohm m";  ///< units of the quantity itself, in either scale
  Scale scale = Scale::log10;
};

/// An earth with a number in each cell.
struct Model {
  Earth earth;
  Property property;
  Eigen::VectorXd values;  ///< (n_cells), in the scale of the property
};

/// Returns the true z of a depth in the grid at a place of the surface. A draped grid follows the surface;
/// else the surface cuts it, and its top reaches up or down to the surface.
[[nodiscard]] double true_z_m(const TensorGrid& grid, double grid_z_m, double surface_m);
[[nodiscard]] double true_z_m(const Earth& earth, const Point& in_grid);

/// Checks that an earth is a section: a grid along y and z under a profile. errors: InvalidArgument, with
/// `component` as its source.
void require_section(const Earth& earth, std::string_view component);

/// Returns a model of resistivity in ohm m. shape: (n_cells).
[[nodiscard]] Model resistivity_model(Earth earth, Eigen::VectorXd resistivity_ohm_m);
/// Returns the resistivity of each cell, or its decimal logarithm, in whichever scale the model holds it.
/// shape: (n_cells). errors: InvalidArgument unless the property is a resistivity in ohm m.
[[nodiscard]] Eigen::VectorXd resistivity_ohm_m(const Model& model);
[[nodiscard]] Eigen::VectorXd log10_resistivity(const Model& model);

/// Writes the edges with their depth reference, the surface and the sea to the group "model". The names are
/// those of result files of version 1, with x edges and a surface map where they exist.
void write(core::ArraySink& sink, const Earth& earth);
/// Writes the earth and its values, "model/log10_resistivity" in shape (n_z, n_y, n_x). errors: ShapeError
/// unless there is one value per cell; InvalidArgument when the name of the property is no file name.
void write(core::ArraySink& sink, const Model& model);

/// Returns the units of a property in its scale: "log10(ohm m)".
[[nodiscard]] std::string units_in_scale(const Property& property);
/// Writes a number per cell in shape (n_z, n_y, n_x). errors: ShapeError unless there is one for each.
void write_cells(core::ArraySink& sink, const std::string& name, const TensorGrid& grid,
                 const Eigen::VectorXd& values, const std::string& units = {});
/// Reads a number per cell, also in shape (n_z, n_y) as in version 1. shape: (n_cells). errors: FormatError.
[[nodiscard]] Eigen::VectorXd read_cells(const core::ArraySource& source, const std::string& name,
                                         const TensorGrid& grid);

/// Reads an earth of either version. errors: FormatError.
[[nodiscard]] Earth read_earth(const core::ArraySource& source);
/// Reads a model whose property has this name; values of version 1 have the shape (n_z, n_y). errors:
/// FormatError when the property is missing or its shape is not that of the grid.
[[nodiscard]] Model read_model(const core::ArraySource& source, const std::string& property = "resistivity");

}  // namespace lodestone::physics::mesh
