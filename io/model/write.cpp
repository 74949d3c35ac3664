// SPDX-License-Identifier: Apache-2.0
#include "io/model/write.hpp"

#include "io/gocad/sgrid.hpp"
#include "io/model/cells.hpp"
#include "io/model/depth_maps.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/steps.hpp"
#include "io/model/xyz.hpp"
#include "io/occam2d/model.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/vtk/model_file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace lodestone::io::model {
namespace {

constexpr std::array<std::pair<std::string_view, ModelFormat>, 10> endings{{{".iter", ModelFormat::occam2d},
                                                                            {".rho", ModelFormat::modem},
                                                                            {".ws", ModelFormat::modem},
                                                                            {".h5", ModelFormat::hdf5},
                                                                            {".toml", ModelFormat::toml},
                                                                            {".xyz", ModelFormat::xyz},
                                                                            {".sg", ModelFormat::gocad},
                                                                            {".vtu", ModelFormat::vtk},
                                                                            {".tif", ModelFormat::geotiff},
                                                                            {".tiff", ModelFormat::geotiff}}};

using Lost = std::vector<std::string>;

geodesy::MapSystem system_of(const PlacedModel& placed, const std::string& definition) {
  return definition.empty() ? geodesy::MapSystem() : geodesy::MapSystem(placed.frame, definition);
}

void add_place(const PlacedModel& placed, Lost& lost) {
  if (placed.frame.is_on_map()) lost.emplace_back("the place on the map");
}

Lost write_modem(const std::string& path, const PlacedModel& placed, modem::ModemScale scale) {
  const physics::mesh::Earth& earth = placed.model.earth;
  const physics::mesh::TensorGrid& grid = earth.grid;
  const bool needs_steps = grid.dimension() == 3 && (earth.sea || !earth.surface.is_flat());
  modem::write_model(path, needs_steps ? in_steps(placed.model) : placed.model, scale);
  Lost lost;
  if (needs_steps)
    lost.emplace_back(
        "the relief and the sea: cells of air (1e12 ohm m) and of water stand for them, in steps");
  if (grid.dimension() == 2 && grid.y_edges_m().front() != 0.0)
    lost.push_back(fmt::format("y of its left edge, {} m, from which y counts in the file: sites move by it",
                               grid.y_edges_m().front()));
  if (grid.dimension() == 2 && earth.surface.highest_m() != 0.0)
    lost.emplace_back("z of its surface, from which z counts in the file");
  add_place(placed, lost);
  return lost;
}

Lost write_occam2d(const std::string& path, const PlacedModel& placed) {
  occam2d::write_model(path, placed.model);
  Lost lost;
  if (placed.model.earth.surface.highest_m() != 0.0)
    lost.emplace_back("z of its surface, from which z counts in the file");
  add_place(placed, lost);
  return lost;
}

Lost write_toml(const std::string& path, const PlacedModel& placed) {
  text::write_bytes_atomically(path, model_toml(placed));
  return placed.frame.bends.empty() ? Lost{} : Lost{"the bends of the line on the map"};
}

Lost write_gocad(const std::string& path, const PlacedModel& placed, const geodesy::MapSystem& system) {
  Lost lost = gocad::write_model(path, placed.model, system);
  if (system.is_local()) add_place(placed, lost);
  return lost;
}

Lost write_vtk(const std::string& path, const PlacedModel& placed) {
  static_cast<void>(vtk::write_model_vtu(path, placed.model));
  Lost lost{"edges as a model: VTK is for viewers and not read back"};
  add_place(placed, lost);
  return lost;
}

}  // namespace

std::optional<ModelFormat> model_format_of_ending(const std::string& path) {
  for (const auto& [ending, format] : endings)
    if (text::lower(path).ends_with(ending)) return format;
  return {};
}

bool may_be_on_map(ModelFormat format) {
  return format == ModelFormat::xyz || format == ModelFormat::gocad || format == ModelFormat::geotiff;
}

std::vector<std::string> write_model(const std::string& path, const PlacedModel& placed, ModelFormat format,
                                     const ModelWriteOptions& options) {
  switch (format) {
    case ModelFormat::modem:
      return write_modem(path, placed, options.scale);
    case ModelFormat::wsinv:  // which reads ModEM's files where these hold resistivities themselves
      return write_modem(path, placed, modem::ModemScale::linear);
    case ModelFormat::occam2d:
      return write_occam2d(path, placed);
    case ModelFormat::hdf5:
      write_model_hdf5(path, placed.model, placed.frame);
      return {};
    case ModelFormat::toml:
      return write_toml(path, placed);
    case ModelFormat::xyz:
      return write_xyz(path, placed, system_of(placed, options.system));
    case ModelFormat::gocad:
      return write_gocad(path, placed, system_of(placed, options.system));
    case ModelFormat::vtk:
      return write_vtk(path, placed);
    case ModelFormat::geotiff:
      return write_depth_maps(path, placed, {options.system, options.depths_m, options.pixel_m});
  }
  return {};
}

}  // namespace lodestone::io::model
