// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// Rasters of the map, by GDAL. No other folder includes it.
namespace lodestone::io::raster {

/// One layer of a raster.
struct Band {
  std::string name;
  std::vector<float> values;  ///< row by row from the north; NaN: no data
};

/// Square pixels with north up. shape of each band: n_rows × n_columns.
struct Raster {
  int n_columns = 0, n_rows = 0;
  double west = 0.0, north = 0.0, pixel = 0.0;  ///< outer corner and size of pixels, in units of the system
  std::string system{};                         ///< text for PROJ, "EPSG:32733"
  std::string quantity{}, units{};  ///< those of all bands, "log10 resistivity"; empty: not stated
  std::vector<Band> bands{};
  /// Returns the coordinate of the middle of a column or a row.
  [[nodiscard]] double east_of(int column) const { return west + (column + 0.5) * pixel; }
  [[nodiscard]] double north_of(int row) const { return north - (row + 0.5) * pixel; }
};

/// Writes a GeoTIFF of 32-bit numbers, compressed without loss; it appears whole or not at all. errors:
/// FileError; InvalidArgument for a system that GDAL does not resolve.
void write_geotiff(const std::string& path, const Raster& raster);

/// Returns whether the file is one of elevations that `ElevationRaster` opens: GeoTIFF, ESRI ASCII, XYZ, SRTM
/// (.hgt), netCDF, DTED, USGS DEM and others. Looks at the head of the file only.
[[nodiscard]] bool is_raster(const std::string& path);
/// Returns the name of its format, as GDAL states it: "GeoTIFF". errors: FormatError.
[[nodiscard]] std::string format_of(const std::string& path);

/// The content of a raster without its numbers.
struct RasterFacts {
  std::string format;               ///< as GDAL states it: "GeoTIFF"
  std::string quantity{}, units{};  ///< units of the first band; empty: not stated
  int n_columns = 0, n_rows = 0;
  std::vector<std::string> bands{};  ///< names, "" for a band without one
  bool is_of_elevations = false;  ///< the format is one of elevations alone, or the units are metres or feet
};
/// Returns what a raster states about itself; only files of `write_geotiff` state a quantity. errors:
/// FormatError.
[[nodiscard]] RasterFacts facts_of(const std::string& path);

/// A pixel of a raster of elevations.
struct Pixel {
  double east = 0.0, north = 0.0;  ///< WGS84 degrees, longitude and latitude, or the coordinates of the file
  double elevation_m = 0.0;        ///< NaN: no data
};

/// The first band of a raster, read row by row: elevations in metres.
class ElevationRaster {
 public:
  /// Opens a file. errors: FileError; FormatError for a file that is no raster, or has no georeference.
  explicit ElevationRaster(const std::string& path);
  ~ElevationRaster();
  ElevationRaster(const ElevationRaster&) = delete;
  ElevationRaster& operator=(const ElevationRaster&) = delete;

  /// Returns true where pixels have places on the globe: the file states its system, whatever it is. Without
  /// one they have the numbers of the file.
  [[nodiscard]] bool is_on_globe() const;
  [[nodiscard]] int n_columns() const;
  [[nodiscard]] int n_rows() const;
  /// Returns the extent in units of the file, along a row and along a column.
  [[nodiscard]] double width() const;
  [[nodiscard]] double height() const;
  /// Calls `visit` for all pixels, row by row. Feet become metres, and scale and offset of the file are
  /// applied. errors: FormatError (a row that cannot be read, a system that cannot be transformed).
  void visit(const std::function<void(const Pixel&, int row)>& visit) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lodestone::io::raster
