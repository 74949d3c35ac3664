// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/run/layout.hpp"
#include "io/run/result.hpp"

namespace lodestone::io::run {

namespace mesh = physics::mesh;

void write_section_hdf5(const std::filesystem::path& path, const mesh::Section2D& section) {
  if (section.resistivity_ohm_m.size() != section.grid.n_cells()) {
    throw core::ShapeError("io::write_section_hdf5", "expected {} resistivities, got {}",
                           section.grid.n_cells(), section.resistivity_ohm_m.size());
  }
  hdf5::Hdf5Sink sink(path);
  layout::write_header(sink, layout::section_format);
  layout::write_grid(sink, section);
  layout::write_cells(sink, "model/log10_resistivity", section.resistivity_ohm_m.array().log10().matrix(),
                      section.grid.n_z(), section.grid.n_y(), "log10(ohm m)");
  sink.commit();
}

mesh::Section2D read_section_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  layout::require_format(source, path.string(), {layout::section_format, layout::result_format});
  const auto build = [&] {
    return mesh::Section2D{
        layout::read_grid(source),
        Eigen::pow(10.0, layout::read_values(source, "model/log10_resistivity").array()).matrix(),
        layout::read_surface(source), layout::read_sea(source)};
  };
  try {
    mesh::Section2D section = build();
    if (section.resistivity_ohm_m.size() != section.grid.n_cells()) {
      throw core::FormatError("io::read_section_hdf5", "{}: expected {} resistivities, got {}", path.string(),
                              section.grid.n_cells(), section.resistivity_ohm_m.size());
    }
    return section;
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // edges or surface that are no grid
    throw core::FormatError("io::read_section_hdf5", "{}: {}", path.string(), error.what());
  }
}

}  // namespace lodestone::io::run
