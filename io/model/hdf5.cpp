// SPDX-License-Identifier: Apache-2.0
#include "io/model/hdf5.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"

namespace lodestone::io::model {

namespace mesh = physics::mesh;

void write_section_hdf5(const std::filesystem::path& path, const mesh::Model& section) {
  mesh::require_section(section.earth, "io::model::write_section_hdf5");
  if (section.values.size() != section.earth.grid.n_cells())
    throw core::ShapeError("io::model::write_section_hdf5#wrong_size", "expected {} resistivities, got {}",
                           section.earth.grid.n_cells(), section.values.size());
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, "lodestone section", 1);
  mesh::write(sink, mesh::Model{section.earth, mesh::Property{}, mesh::log10_resistivity(section)});
  sink.commit();
}

mesh::Model read_section_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  hdf5::require_format(source, path.string(), {"lodestone section", "lodestone result"}, {1, 2});
  try {
    const mesh::Model model = mesh::read_model(source);
    mesh::require_section(model.earth, "io::model::read_section_hdf5");
    return mesh::resistivity_model(model.earth, mesh::resistivity_ohm_m(model));
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // not a resistivity of a section
    throw core::FormatError("io::model::read_section_hdf5#no_section", "{}: {}", path.string(), error.what());
  }
}

}  // namespace lodestone::io::model
