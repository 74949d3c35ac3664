// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "io/model/read.hpp"
#include "io/modem/modem.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::model {

/// The formats in which models can be written.
enum class ModelFormat { modem, wsinv, occam2d, hdf5, toml, xyz, gocad, vtk, geotiff };
constexpr auto words(ModelFormat) {
  using enum ModelFormat;
  return core::Words<ModelFormat>{{modem, "modem"}, {wsinv, "wsinv"}, {occam2d, "occam2d"},
                                  {hdf5, "hdf5"},   {toml, "toml"},   {xyz, "xyz"},
                                  {gocad, "gocad"}, {vtk, "vtk"},     {geotiff, "geotiff"}};
}
/// Returns the format of a name by its ending: .rho, .ws, .iter, .h5, .toml, .xyz, .sg, .vtu, .tif, .tiff;
/// nothing for another.
[[nodiscard]] std::optional<ModelFormat> model_format_of_ending(const std::string& path);
/// Returns true for formats whose coordinates may be those of a map.
[[nodiscard]] bool may_be_on_map(ModelFormat format);

/// The choices of writers. Those of which a format has no use have no effect on it.
struct ModelWriteOptions {
  modem::ModemScale scale = modem::ModemScale::loge;  ///< form of numbers in ModEM files
  std::string system{};             ///< coordinates of the map, "EPSG:32733"; empty: those of the model
  std::vector<double> depths_m{};   ///< bands of a GeoTIFF
  std::optional<double> pixel_m{};  ///< size in a GeoTIFF; absent: the least width of cells
};

/// Writes a model and returns in words what the format does not hold. errors: FileError; InvalidArgument for
/// a model that the format cannot hold at all, and those of its writer.
[[nodiscard]] std::vector<std::string> write_model(const std::string& path, const PlacedModel& placed,
                                                   ModelFormat format, const ModelWriteOptions& options = {});

}  // namespace lodestone::io::model
