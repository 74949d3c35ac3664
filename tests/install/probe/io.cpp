// SPDX-License-Identifier: Apache-2.0
// Component io: HDF5, VTK, PROJ, TOML and a picture in one short program.
#include "io/geodesy/projection.hpp"
#include "io/hdf5/file.hpp"
#include "io/report/canvas.hpp"
#include "io/toml/options.hpp"
#include "io/vtk/model_file.hpp"

#include <cmath>

using namespace lodestone;

int main() {
  static_cast<void>(io::toml::parse_options_toml("resistivity_ohm_m = 100.0\n", "probe.toml"));
  io::vtk::write_model_vtu("probe.vtu", physics::mesh::resistivity_model(
                                            {physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0})},
                                            Eigen::VectorXd::Constant(1, 100.0)));
  io::hdf5::Hdf5Sink sink("probe.h5");
  core::write_vector(sink, "v", std::vector<double>{1.0});
  sink.commit();
  io::report::Canvas(10.0, 10.0).write_png("probe.png");
  const auto point = io::geodesy::Projection::utm({{-23.0, 17.0}}).to_plane({{-23.0, 17.0}}).at(0);
  return core::read_doubles(io::hdf5::Hdf5Source("probe.h5"), "v") == std::vector<double>{1.0} &&
                 std::isfinite(point.north_m)
             ? 0
             : 1;
}
