// SPDX-License-Identifier: Apache-2.0
#pragma once

// Private to io/vtk: what its writers share.

#include "io/vtk/cells.hpp"

#include <span>
#include <string>

class vtkDataSetAttributes;
class vtkPoints;
class vtkXMLWriter;

namespace lodestone::io::vtk {

void insert_point(vtkPoints& points, const VtkFrame& frame, double y_m, double z_m);
void add_array(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values);
/// Renders into memory and writes atomically. errors: FileError.
void write(const std::filesystem::path& path, vtkXMLWriter& writer);

}  // namespace lodestone::io::vtk
