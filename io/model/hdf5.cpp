// SPDX-License-Identifier: Apache-2.0
#include "io/model/hdf5.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::io::model {

namespace mesh = physics::mesh;

namespace {

const std::vector<std::string> formats{"lodestone section", "lodestone volume", "lodestone result"};

/// Checks that a model is a resistivity of a section or volume. errors: InvalidArgument.
void require_section_or_volume(const mesh::Model& model, std::string_view component) {
  if (model.earth.grid.dimension() != 3) mesh::require_section(model.earth, component);
  static_cast<void>(mesh::resistivity_ohm_m(model));
}

}  // namespace

void write_model_hdf5(const std::filesystem::path& path, const mesh::Model& model, const mesh::Frame& frame) {
  require_section_or_volume(model, "io::model::write_model_hdf5");
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, model.earth.grid.dimension() == 3 ? "lodestone volume" : "lodestone section", 1);
  mesh::write(sink, model);
  if (frame.is_on_map()) mesh::write(sink, frame);
  sink.commit();
}

PlacedModel read_placed_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  hdf5::require_format(source, path.string(), formats, {1, 2});
  try {
    mesh::Model model = mesh::read_model(source);
    require_section_or_volume(model, "io::model::read_model_hdf5");
    const bool has_frame = source.contains("frame/azimuth_deg");
    return {std::move(model), has_frame ? mesh::read_frame(source) : mesh::Frame{}};
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // not a resistivity of a section or volume
    throw core::FormatError("io::model::read_model_hdf5#no_model", "{}: {}", path.string(), error.what());
  }
}

mesh::Model read_model_hdf5(const std::filesystem::path& path) { return read_placed_hdf5(path).model; }

bool has_model_hdf5(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  const std::string format = source.has_attribute("", "format") ? source.attribute("", "format") : "";
  return std::ranges::find(formats, format) != formats.end();
}

}  // namespace lodestone::io::model
