// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to io/vtk, whose public headers name no class of VTK.
#pragma once

#include "io/vtk/model_file.hpp"

#include <span>
#include <string>

class vtkDataSetAttributes;
class vtkPoints;
class vtkXMLWriter;

namespace lodestone::io::vtk {

/// Inserts a point in its place on the map, or as (y, x, elevation) where the frame has none.
void insert_point(vtkPoints& points, const physics::mesh::Frame& frame, const physics::mesh::Point& point);
void add_array(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values);
/// Adds vectors of three components, one behind the other.
void add_vectors(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values);
/// Renders into memory and writes atomically. errors: FileError.
void write(const std::filesystem::path& path, vtkXMLWriter& writer);

}  // namespace lodestone::io::vtk
