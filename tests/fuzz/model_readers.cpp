// SPDX-License-Identifier: Apache-2.0
// Readers of models, surfaces and maps.
#include "io/femtic/model.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/mare2dem/model.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/points.hpp"
#include "io/model/read.hpp"
#include "io/model/xyz.hpp"
#include "io/modem/covariance.hpp"
#include "io/modem/modem.hpp"
#include "io/occam2d/model.hpp"
#include "io/raster/raster.hpp"
#include "tests/fuzz/hdf5_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lodestone::tests::fuzz {
namespace {

using io::survey::FileKind;

constexpr std::int64_t kibi = 1024;
/// The reader of TOML makes up to 4 million cells of a few shapes: bytes and seconds that follow these cells.
constexpr std::int64_t of_cells = 192 * 1024 * kibi;
constexpr int of_grid = 10;

/// Takes any reader of a path that returns something.
template <class Read>
std::function<void(const std::string&)> reading(Read read) {
  return [read](const std::string& path) { static_cast<void>(read(path)); };
}

void read_covariance(const std::string& path) {
  static_cast<void>(io::modem::areas_of(io::modem::read_covariance(path)));
}

/// Reads rasters that are texts; formats in bytes are read by GDAL alone, and tested there.
void read_raster(const std::string& path) {
  const std::string format = io::raster::format_of(path);
  if (format != "Arc/Info ASCII Grid" && format != "ASCII Gridded XYZ") return;
  const io::raster::ElevationRaster raster(path);
  raster.visit([](const io::raster::Pixel&, int) {});
}

/// Reads a table of elevations around a place, as a run on a map does.
void read_elevations(const std::string& path) {
  if (io::raster::is_raster(path)) return;  // has a reader of its own
  const physics::mesh::Frame frame{.projection = "EPSG:32733", .origin_north_m = 6.5e6, .origin_east_m = 5e5};
  const physics::mesh::TensorGrid grid(
      {.x_m = {-2000.0, 0.0, 2000.0}, .y_m = {-2000.0, 0.0, 2000.0}, .z_m = {0.0, 500.0, 1500.0}});
  static_cast<void>(io::model::read_elevation_map(path, {.frame = frame, .grid = grid}));
}

/// Returns a section with a relief as our files hold it.
std::vector<std::string> model_files() {
  const std::string root = std::string(LODESTONE_SOURCE_DIR) + "/";
  const TemporaryFolder folder;
  std::vector<std::string> texts;
  for (const char* name : {"valid_section", "valid_boxes", "valid_cells"}) {
    const auto placed = io::model::read_placed_toml(root + "tests/fuzz/corpus/model_toml/" + name);
    io::model::write_model_hdf5(folder / "m.h5", placed.model, placed.frame);
    texts.push_back(text_of_hdf5(folder / "m.h5"));
  }
  texts.push_back(text_of_hdf5(root + "tests/data/result/version_1.h5"));
  return texts;
}

std::vector<Reader> foreign_models() {
  return {{.name = "modem_model",
           .read = reading(io::modem::read_model),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::modem_model_2d, FileKind::modem_model_3d}},
          {.name = "modem_covariance",
           .read = read_covariance,
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::modem_covariance}},
          {.name = "occam2d_model",
           .read = reading(io::occam2d::read_model),
           .beside_bytes = 128 * kibi,
           .names = {"i.iter", "m.mod", "m.mesh"}},
          {.name = "mare2dem_model",
           .read = reading(io::mare2dem::read_model),
           .beside_bytes = 128 * kibi,
           .tree_files = {"data/mare2dem_demo/Demo.0.resistivity+data/mare2dem_demo/Demo.poly"},
           .names = {"Demo.0.resistivity", "Demo.poly"}},
          {.name = "femtic_model",
           .read = reading(io::femtic::read_model),
           .beside_bytes = 128 * kibi,
           .names = {"r.dat", "mesh.dat"}},
          {.name = "gocad",
           .read = reading(io::gocad::read_model),
           .beside_bytes = 128 * kibi,
           .names = {"m.sg", "m__ascii@@"}}};
}

std::vector<Reader> own_models() {
  return {{.name = "model_toml",
           .read = [](const std::string& path) { static_cast<void>(io::model::read_placed_toml(path)); },
           .beside_bytes = of_cells,
           .seconds = of_grid,
           .kinds = {FileKind::toml}},
          {.name = "xyz",
           .read = reading(io::model::read_xyz),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::xyz_model}},
          {.name = "sections_csv",
           .read = reading(io::model::read_sections_csv),
           .beside_bytes = 128 * kibi,
           .tree_files = {"data/samtex/reference_fig4_digitised.csv"}},
          {.name = "model_hdf5",
           .read = [](const std::string& path) { static_cast<void>(io::model::read_placed_hdf5(path)); },
           .beside_bytes = 3072 * kibi,
           .is_hdf5 = true,
           .more_seeds = model_files},
          {.name = "model",  // of whatever kind, by the content
           .read =
               [](const std::string& path) {
                 if (!is_hdf5(path)) static_cast<void>(io::model::read_model(path));
               },
           .beside_bytes = of_cells,
           .seconds = of_grid,
           .kinds = {FileKind::modem_model_2d, FileKind::toml, FileKind::xyz_model}}};
}

std::vector<Reader> maps() {
  return {{.name = "surface",
           .read = reading(io::model::read_surface_file),
           .beside_bytes = 128 * kibi,
           .tree_files = {"data/mare2dem_demo/Topo.prfl"}},
          {.name = "elevations", .read = read_elevations, .beside_bytes = 512 * kibi},
          {.name = "raster", .read = read_raster, .beside_bytes = 512 * kibi}};
}

}  // namespace

std::vector<Reader> model_readers() {
  std::vector<Reader> all;
  for (auto* family : {foreign_models, own_models, maps})
    for (Reader& reader : family()) all.push_back(std::move(reader));
  return all;
}

}  // namespace lodestone::tests::fuzz
