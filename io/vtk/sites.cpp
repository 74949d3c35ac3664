// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/vtk/vtk_file.hpp"

#include <vtkCellArray.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStringArray.h>
#include <vtkXMLPolyDataWriter.h>

namespace lodestone::io::vtk {

void write_stations_vtp(const std::filesystem::path& path, const StationPoints& stations,
                        const physics::mesh::Frame& frame) {
  const std::size_t n = stations.names.size();
  if (stations.y_m.size() != n || stations.z_m.size() != n ||
      (!stations.x_m.empty() && stations.x_m.size() != n)) {
    throw core::ShapeError("io::vtk::write_stations_vtp#wrong_positions",
                           "expected {} positions, got {} y and {} z", n, stations.y_m.size(),
                           stations.z_m.size());
  }
  physics::mesh::check(frame);
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  const vtkNew<vtkCellArray> vertices;
  const vtkNew<vtkStringArray> names;
  names->SetName("station");
  for (std::size_t k = 0; k < n; ++k) {
    vtk::insert_point(*points, frame,
                      {stations.x_m.empty() ? 0.0 : stations.x_m[k], stations.y_m[k], stations.z_m[k]});
    const auto id = static_cast<vtkIdType>(k);
    vertices->InsertNextCell(1, &id);
    names->InsertNextValue(stations.names[k]);
  }
  const vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  data->SetVerts(vertices);
  data->GetPointData()->AddArray(names);
  for (const NamedArray& array : stations.arrays) {
    if (static_cast<std::size_t>(array.values.size()) != n) {
      throw core::ShapeError("io::vtk::write_stations_vtp#wrong_values", "expected {} values of {}, got {}",
                             n, array.name, array.values.size());
    }
    vtk::add_array(*data->GetPointData(), array.name, {array.values.data(), n});
  }
  const vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(data);
  vtk::write(path, *writer);
}

}  // namespace lodestone::io::vtk
