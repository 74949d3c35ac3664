// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/vtk_file.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"

#include <vtkDataSetAttributes.h>
#include <vtkDoubleArray.h>
#include <vtkNew.h>
#include <vtkPoints.h>
#include <vtkXMLWriter.h>

#include <algorithm>

namespace lodestone::io::vtk {

void insert_point(vtkPoints& points, const physics::mesh::Frame& frame, const physics::mesh::Point& point) {
  const physics::mesh::MapPlace at = place_in_file(frame, point);
  points.InsertNextPoint(at.east_m, at.north_m, at.elevation_m);
}

namespace {

void add_tuples(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values,
                int n_components) {
  const vtkNew<vtkDoubleArray> array;
  array->SetName(name.c_str());
  array->SetNumberOfComponents(n_components);
  array->SetNumberOfTuples(static_cast<vtkIdType>(values.size()) / n_components);
  std::copy(values.begin(), values.end(), array->GetPointer(0));
  to.AddArray(array);
}

}  // namespace

void add_array(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values) {
  add_tuples(to, name, values, 1);
}

void add_vectors(vtkDataSetAttributes& to, const std::string& name, std::span<const double> values) {
  add_tuples(to, name, values, 3);
}

void write(const std::filesystem::path& path, vtkXMLWriter& writer) {
  writer.SetWriteToOutputString(1);  // VTK's own file output cannot rename and prints when the disk is full
  writer.SetDataModeToAppended();
  writer.EncodeAppendedDataOff();
  if (writer.Write() != 1) {
    throw core::FileError("io::vtk#not_rendered", "{}: VTK could not render the file (error {})",
                          path.string(), writer.GetErrorCode());
  }
  core::write_file(path.string(), writer.GetOutputString());
}

}  // namespace lodestone::io::vtk
