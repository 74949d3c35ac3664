// SPDX-License-Identifier: Apache-2.0
#include "io/model/hdf5.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"

namespace lodestone::io::model {

namespace mesh = physics::mesh;

namespace {

/// Checks that a model is a resistivity of a section or volume. errors: InvalidArgument.
void require_section_or_volume(const mesh::Model& model, std::string_view component) {
  if (model.earth.grid.dimension() != 3) mesh::require_section(model.earth, component);
  static_cast<void>(mesh::resistivity_ohm_m(model));
}

}  // namespace

void write_model_hdf5(const std::filesystem::path& path, const mesh::Model& model) {
  require_section_or_volume(model, "io::model::write_model_hdf5");
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, model.earth.grid.dimension() == 3 ? "lodestone volume" : "lodestone section", 1);
  mesh::write(sink, model);
  sink.commit();
}

mesh::Model read_model_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  hdf5::require_format(source, path.string(), {"lodestone section", "lodestone volume", "lodestone result"},
                       {1, 2});
  try {
    mesh::Model model = mesh::read_model(source);
    require_section_or_volume(model, "io::model::read_model_hdf5");
    return model;
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // not a resistivity of a section or volume
    throw core::FormatError("io::model::read_model_hdf5#no_model", "{}: {}", path.string(), error.what());
  }
}

}  // namespace lodestone::io::model
