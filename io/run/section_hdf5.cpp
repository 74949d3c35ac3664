// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/run/layout.hpp"
#include "io/run/result.hpp"

namespace lodestone::io::run {

namespace mesh = physics::mesh;

void write_section_hdf5(const std::filesystem::path& path, const mesh::Model& section) {
  const mesh::TensorGrid& grid = section.earth.grid;
  mesh::require_section(section.earth, "io::write_section_hdf5");
  if (section.values.size() != grid.n_cells()) {
    throw core::ShapeError("io::write_section_hdf5", "expected {} resistivities, got {}", grid.n_cells(),
                           section.values.size());
  }
  hdf5::Hdf5Sink sink(path);
  layout::write_header(sink, layout::section_format);
  mesh::write(sink, section.earth);
  layout::write_cells(sink, "model/log10_resistivity", mesh::log10_resistivity(section), grid.n_z(),
                      grid.n_y(), "log10(ohm m)");
  sink.commit();
}

mesh::Model read_section_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  layout::require_format(source, path.string(), {layout::section_format, layout::result_format});
  try {
    const mesh::Model model = mesh::read_model(source);
    mesh::require_section(model.earth, "io::read_section_hdf5");
    return mesh::resistivity_model(model.earth, mesh::resistivity_ohm_m(model));
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // not a resistivity of a section
    throw core::FormatError("io::read_section_hdf5", "{}: {}", path.string(), error.what());
  }
}

}  // namespace lodestone::io::run
