// SPDX-License-Identifier: Apache-2.0
#include "io/raster/raster.hpp"

#include "engine/core/error.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_vsi.h>
#include <fmt/ranges.h>
#include <gdal.h>
#include <ogr_srs_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>

namespace lodestone::io::raster {
namespace {

/// The formats of elevations that are read; the rest of GDAL's drivers is for pictures, or opens the network.
constexpr std::array<const char*, 16> drivers{
    "GTiff", "AAIGrid", "XYZ", "SRTMHGT", "netCDF", "DTED",           "USGSDEM", "GSAG",
    "GSBG",  "GS7BG",   "HFA", "EHdr",    "ENVI",   "GRASSASCIIGrid", "VRT",     nullptr};

constexpr const char* quantity_key = "QUANTITY";  // in the metadata of our GeoTIFFs

struct CloseDataset {
  void operator()(GDALDatasetH dataset) const { GDALClose(dataset); }
};
using Dataset = std::unique_ptr<std::remove_pointer_t<GDALDatasetH>, CloseDataset>;
struct DestroySystem {
  void operator()(OGRSpatialReferenceH system) const { OSRDestroySpatialReference(system); }
};
using System = std::unique_ptr<std::remove_pointer_t<OGRSpatialReferenceH>, DestroySystem>;
struct DestroyTransformation {
  void operator()(OGRCoordinateTransformationH transformation) const {
    OCTDestroyCoordinateTransformation(transformation);
  }
};
using Transformation =
    std::unique_ptr<std::remove_pointer_t<OGRCoordinateTransformationH>, DestroyTransformation>;

void register_drivers() {
  static std::once_flag once;
  std::call_once(once, [] { GDALAllRegister(); });
}

/// Keeps GDAL from writing to standard error while it lives; its last message is there for ours.
class Quiet {
 public:
  Quiet() {
    CPLPushErrorHandler(CPLQuietErrorHandler);
    CPLErrorReset();
  }
  ~Quiet() { CPLPopErrorHandler(); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  [[nodiscard]] static std::string message() { return text::printable(CPLGetLastErrorMsg(), 200); }
};

/// Returns a system whose coordinates are east and north, or longitude and latitude, in this order.
System system_of(const std::string& definition) {
  System system(OSRNewSpatialReference(nullptr));
  if (OSRSetFromUserInput(system.get(), definition.c_str()) != OGRERR_NONE)
    throw core::InvalidArgument("io::raster#wrong_system",
                                "expected a coordinate system, for example \"EPSG:32733\", got \"{}\"",
                                definition);
  OSRSetAxisMappingStrategy(system.get(), OAMS_TRADITIONAL_GIS_ORDER);
  return system;
}

/// Returns the metres of a unit of elevations; empty for an unknown one.
std::optional<double> metres_per(const std::string& unit) {
  constexpr double foot_m = 0.3048, survey_foot_m = 1200.0 / 3937.0;
  const std::string name = text::lower(unit);
  if (name.empty() || name == "m" || name.starts_with("met")) return 1.0;
  if (name.find("us survey") != std::string::npos || name == "ftus" || name == "us-ft") return survey_foot_m;
  if (name == "ft" || name == "foot" || name == "feet" || name == "international feet") return foot_m;
  if (name == "cm" || name == "centimeters") return 0.01;
  if (name == "km") return 1000.0;
  return {};
}

/// Returns whether a text has three numbers in its first row of numbers; GDAL takes more for XYZ.
bool has_three_columns(const std::string& path) {
  constexpr std::size_t looked_at = 4096;
  const std::string bytes = text::read_bytes_up_to(path, looked_at);
  for (const auto line : text::split_lines(bytes)) {
    std::string row(line);
    std::ranges::replace_if(
        row, [](char c) { return c == ',' || c == ';'; }, ' ');
    const auto words = text::words(row);
    if (words.empty() || !text::number(words.front())) continue;
    return words.size() == 3 && text::number(words[1]) && text::number(words[2]);
  }
  return false;
}

/// Checks the numbers of an ESRI ASCII grid, of which GDAL takes each absent or garbled one for 0. errors:
/// FormatError with file:line.
void check_numbers(const std::string& path, double n_expected) {
  const std::string bytes = text::read_text(path);
  text::LineReader lines(bytes, path, "io::raster", "");
  double n = 0.0;
  while (lines.next()) {
    const auto words = text::words(lines.text());
    if (n == 0.0 && !text::number(words.front())) continue;  // of the head
    n += static_cast<double>(words.size());
    for (const auto word : words)
      if (!text::number(word))
        lines.refuse("not_a_number", fmt::format("expected an elevation, got \"{}\"", text::printable(word)));
  }
  if (n != n_expected)
    lines.refuse("wrong_count",
                 fmt::format("expected {} elevations, as ncols and nrows say, got {}; is the file "
                             "cut off?",
                             n_expected, n));
}

/// Checks that the head of an ESRI ASCII grid states its size, its corner and its pixels. errors:
/// FormatError.
void check_head(const std::string& path) {
  constexpr std::size_t looked_at = 4096;
  const std::string bytes = text::lower(text::read_bytes_up_to(path, looked_at));
  const auto words = text::words(bytes);
  const auto has = [&](std::string_view name) {
    const auto at = std::ranges::find(words, name);
    return at != words.end() && at + 1 != words.end() && text::number(*(at + 1));
  };
  std::vector<std::string> lacking;
  const auto expect = [&](bool is_there, const char* what) {
    if (!is_there) lacking.emplace_back(what);
  };
  expect(has("ncols"), "ncols");
  expect(has("nrows"), "nrows");
  expect(has("xllcorner") || has("xllcenter"), "xllcorner (or xllcenter)");
  expect(has("yllcorner") || has("yllcenter"), "yllcorner (or yllcenter)");
  expect(has("cellsize") || (has("dx") && has("dy")), "cellsize");
  if (!lacking.empty())
    throw core::FormatError("io::raster#wrong_head",
                            "{}:1: expected the head of an ESRI ASCII grid with ncols, nrows, xllcorner, "
                            "yllcorner and cellsize, each with a number with a decimal point behind it, but "
                            "it lacks {}; correct the "
                            "head",
                            path, fmt::join(lacking, ", "));
}

/// Checks the counts in the head of an ESRI ASCII grid, for which GDAL takes memory before it looks for the
/// numbers. errors: FormatError.
void check_counts(const std::string& path) {
  constexpr std::size_t looked_at = 4096;
  const std::string bytes = text::lower(text::read_bytes_up_to(path, looked_at));
  const auto words = text::words(bytes);
  const auto count = [&](std::string_view name) {
    const auto at = std::ranges::find(words, name);
    double n = 0.0;  // as GDAL reads it: the digits that the word begins with
    if (at != words.end() && at + 1 != words.end()) {
      const std::string_view word = *(at + 1);
      std::from_chars(word.data(), word.data() + word.size(), n);
    }
    return n;
  };
  const double n_columns = count("ncols"), n_rows = count("nrows");
  const auto n_bytes = static_cast<double>(std::filesystem::file_size(path));
  if (n_columns > n_bytes || n_rows > n_bytes || n_columns * n_rows > n_bytes)
    throw core::FormatError(
        "io::raster#wrong_count",
        "{}:1: expected {} x {} elevations, as ncols and nrows say, but the file has only "
        "{} bytes; is it cut off?",
        path, n_columns, n_rows, n_bytes);
}

/// Checks a grid that GDAL found in a list of points: one point far off gives a grid of any size. errors:
/// FormatError.
void check_grid(const std::string& path, int n_columns, int n_rows) {
  constexpr double some = 1e4, pixels_per_byte = 64.0;
  const auto n_bytes = static_cast<double>(std::filesystem::file_size(path));
  if (n_columns <= n_bytes && static_cast<double>(n_columns) * n_rows <= some + pixels_per_byte * n_bytes)
    return;
  throw core::FormatError(
      "io::raster#not_a_grid",
      "{}: expected the points of a grid, but at their distances they span {} x {} places "
      "in a file of {} bytes; does one of them lie far off, or between the others?",
      path, n_columns, n_rows, n_bytes);
}

/// Returns the driver that takes a file by its head; null where none does.
GDALDriverH driver_of(const std::string& path) {
  register_drivers();
  const Quiet quiet;
  static_cast<void>(text::read_bytes_up_to(path, 1));  // a missing file is an error of its own
  const GDALDriverH driver = GDALIdentifyDriverEx(path.c_str(), GDAL_OF_RASTER, drivers.data(), nullptr);
  if (driver == nullptr) return nullptr;
  const bool is_text = std::string_view(GDALGetDriverShortName(driver)) == "XYZ";
  return is_text && !has_three_columns(path) ? nullptr : driver;
}

void fill(const Dataset& dataset, const Raster& raster) {
  for (std::size_t i = 0; i < raster.bands.size(); ++i) {
    const Band& band = raster.bands[i];
    const GDALRasterBandH to = GDALGetRasterBand(dataset.get(), static_cast<int>(i) + 1);
    GDALSetDescription(to, band.name.c_str());
    if (!raster.units.empty()) GDALSetRasterUnitType(to, raster.units.c_str());
    GDALSetRasterNoDataValue(to, std::numeric_limits<double>::quiet_NaN());
    std::vector<float> values = band.values;
    if (GDALRasterIO(to, GF_Write, 0, 0, raster.n_columns, raster.n_rows, values.data(), raster.n_columns,
                     raster.n_rows, GDT_Float32, 0, 0) != CE_None)
      throw core::FileError("io::raster::write_geotiff#not_written", "{}: {}", band.name, Quiet::message());
  }
}

}  // namespace

void write_geotiff(const std::string& path, const Raster& raster) {
  register_drivers();
  const Quiet quiet;
  static std::atomic<int> count{0};
  const std::string name = fmt::format("/vsimem/lodestone_{}.tif", ++count);
  const char* options[] = {"COMPRESS=DEFLATE", "PREDICTOR=3", nullptr};
  Dataset dataset(GDALCreate(GDALGetDriverByName("GTiff"), name.c_str(), raster.n_columns, raster.n_rows,
                             static_cast<int>(raster.bands.size()), GDT_Float32,
                             const_cast<char**>(options)));
  if (!dataset)
    throw core::FileError("io::raster::write_geotiff#not_written", "{}: {}", path, Quiet::message());
  std::array<double, 6> transform{raster.west, raster.pixel, 0.0, raster.north, 0.0, -raster.pixel};
  GDALSetGeoTransform(dataset.get(), transform.data());
  GDALSetSpatialRef(dataset.get(), system_of(raster.system).get());
  if (!raster.quantity.empty())
    GDALSetMetadataItem(dataset.get(), quantity_key, raster.quantity.c_str(), nullptr);
  fill(dataset, raster);
  dataset.reset();
  vsi_l_offset size = 0;
  const GByte* bytes = VSIGetMemFileBuffer(name.c_str(), &size, FALSE);
  const std::string content(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  VSIUnlink(name.c_str());
  text::write_bytes_atomically(path, content);
}

bool is_raster(const std::string& path) { return driver_of(path) != nullptr; }

std::string format_of(const std::string& path) {
  const GDALDriverH driver = driver_of(path);
  if (driver == nullptr)
    throw core::FormatError(
        "io::raster#not_a_raster",
        "{}: expected a raster of elevations (GeoTIFF, ESRI ASCII, XYZ, HGT, netCDF, DTED "
        "…), got a file of another format",
        path);
  return GDALGetDriverLongName(driver);
}

RasterFacts facts_of(const std::string& path) {
  RasterFacts facts{.format = format_of(path)};
  const Quiet quiet;
  const std::string_view driver = GDALGetDriverShortName(driver_of(path));
  if (driver == "AAIGrid") check_head(path);
  const Dataset dataset(
      GDALOpenEx(path.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY, drivers.data(), nullptr, nullptr));
  if (!dataset || GDALGetRasterCount(dataset.get()) < 1)
    throw core::FormatError("io::raster#not_read", "{}: expected a raster of elevations, but {}", path,
                            Quiet::message().empty() ? "it has no band" : Quiet::message());
  if (const char* quantity = GDALGetMetadataItem(dataset.get(), quantity_key, nullptr))
    facts.quantity = text::printable(quantity, 200);
  facts.n_columns = GDALGetRasterXSize(dataset.get());
  facts.n_rows = GDALGetRasterYSize(dataset.get());
  for (int k = 1; k <= GDALGetRasterCount(dataset.get()); ++k)
    facts.bands.push_back(text::printable(GDALGetDescription(GDALGetRasterBand(dataset.get(), k)), 200));
  facts.units = text::printable(GDALGetRasterUnitType(GDALGetRasterBand(dataset.get(), 1)), 200);
  const bool is_of_its_kind = driver == "SRTMHGT" || driver == "DTED" || driver == "USGSDEM";
  facts.is_of_elevations =
      facts.quantity.empty() && (is_of_its_kind || (!facts.units.empty() && metres_per(facts.units)));
  return facts;
}

struct ElevationRaster::Impl {
  std::string path;
  Dataset dataset;
  Transformation to_globe;  ///< null: the file states no system
  std::array<double, 6> transform{};
  double metres = 1.0;  ///< per unit of elevations

  [[nodiscard]] GDALRasterBandH band() const { return GDALGetRasterBand(dataset.get(), 1); }
  void set_system();
  void set_units();
  void move_to_globe(std::vector<double>& east, std::vector<double>& north, int row) const;
};

void ElevationRaster::Impl::set_system() {
  const OGRSpatialReferenceH stated = GDALGetSpatialRef(dataset.get());
  if (stated == nullptr || (OSRIsProjected(stated) == 0 && OSRIsGeographic(stated) == 0)) return;
  const System system(OSRClone(stated));
  OSRStripVertical(system.get());
  OSRSetAxisMappingStrategy(system.get(), OAMS_TRADITIONAL_GIS_ORDER);
  to_globe.reset(OCTNewCoordinateTransformation(system.get(), system_of("EPSG:4326").get()));
  if (!to_globe)
    throw core::FormatError("io::raster#no_transformation",
                            "{}: expected a coordinate system with a way to WGS84, but {}; warp the file to "
                            "EPSG:4326",
                            path, Quiet::message());
}

void ElevationRaster::Impl::set_units() {
  const std::string unit = GDALGetRasterUnitType(band());
  const char* quantity = GDALGetMetadataItem(dataset.get(), quantity_key, nullptr);
  const auto known = metres_per(unit);
  if (!known)
    throw core::FormatError(
        "io::raster#unknown_unit",
        "{}: expected elevations in metres, feet or kilometres, got {} in the unit \"{}\"; "
        "give a map of elevations",
        path, quantity == nullptr ? "numbers" : text::printable(quantity), text::printable(unit));
  metres = *known;
}

void ElevationRaster::Impl::move_to_globe(std::vector<double>& east, std::vector<double>& north,
                                          int row) const {
  if (!to_globe) return;
  if (OCTTransform(to_globe.get(), static_cast<int>(east.size()), east.data(), north.data(), nullptr) == 0)
    throw core::FormatError("io::raster#no_image", "{}: row {} has pixels without a place on the globe: {}",
                            path, row + 1, Quiet::message());
}

ElevationRaster::ElevationRaster(const std::string& path) : impl_(std::make_unique<Impl>()) {
  static_cast<void>(format_of(path));
  const Quiet quiet;
  impl_->path = path;
  const std::string_view driver = GDALGetDriverShortName(driver_of(path));
  const bool is_ascii = driver == "AAIGrid";
  if (is_ascii) {
    check_head(path);
    check_counts(path);
  }
  const char* all_digits[] = {"DATATYPE=Float64", nullptr};
  impl_->dataset.reset(GDALOpenEx(path.c_str(), GDAL_OF_RASTER | GDAL_OF_READONLY, drivers.data(),
                                  is_ascii ? all_digits : nullptr, nullptr));
  if (!impl_->dataset || GDALGetRasterCount(impl_->dataset.get()) < 1)
    throw core::FormatError("io::raster#not_read", "{}: expected a raster of elevations, but {}{}", path,
                            Quiet::message().empty() ? "it has no band" : Quiet::message(),
                            driver == "XYZ" ? "; points that are no grid want the header "
                                              "latitude_deg,longitude_deg,elevation_m, or x_m,y_m,z_m"
                                            : "");
  if (driver == "XYZ") check_grid(path, n_columns(), n_rows());
  if (is_ascii) check_numbers(path, static_cast<double>(n_columns()) * n_rows());
  if (GDALGetGeoTransform(impl_->dataset.get(), impl_->transform.data()) != CE_None)
    throw core::FormatError(
        "io::raster#no_georeference",
        "{}: expected a raster with a georeference, found none; is its .tfw or .prj beside "
        "it?",
        path);
  impl_->set_system();
  impl_->set_units();
}

ElevationRaster::~ElevationRaster() = default;

bool ElevationRaster::is_on_globe() const { return impl_->to_globe != nullptr; }
int ElevationRaster::n_columns() const { return GDALGetRasterXSize(impl_->dataset.get()); }
int ElevationRaster::n_rows() const { return GDALGetRasterYSize(impl_->dataset.get()); }
double ElevationRaster::width() const { return n_columns() * std::abs(impl_->transform[1]); }
double ElevationRaster::height() const { return n_rows() * std::abs(impl_->transform[5]); }

void ElevationRaster::visit(const std::function<void(const Pixel&, int row)>& visit) const {
  const Quiet quiet;
  const GDALRasterBandH band = impl_->band();
  int has_no_data = 0;
  const double no_data = GDALGetRasterNoDataValue(band, &has_no_data),
               scale = GDALGetRasterScale(band, nullptr), offset = GDALGetRasterOffset(band, nullptr);
  const auto n = static_cast<std::size_t>(n_columns());
  std::vector<double> values(n), east(n), north(n);
  for (int row = 0; row < n_rows(); ++row) {
    if (GDALRasterIO(band, GF_Read, 0, row, n_columns(), 1, values.data(), n_columns(), 1, GDT_Float64, 0,
                     0) != CE_None)
      throw core::FormatError("io::raster#cut_off",
                              "{}: expected {} rows of elevations, found {}: {}; is the file cut off?",
                              impl_->path, n_rows(), row, Quiet::message());
    for (std::size_t i = 0; i < n; ++i)
      GDALApplyGeoTransform(impl_->transform.data(), static_cast<double>(i) + 0.5, row + 0.5, &east[i],
                            &north[i]);
    impl_->move_to_globe(east, north, row);
    for (std::size_t i = 0; i < n; ++i) {
      // Texts of 32-bit numbers agree to their digits.
      const bool is_hole = std::isnan(values[i]) ||
                           (has_no_data != 0 && std::abs(values[i] - no_data) <= 1e-6 * std::abs(no_data));
      const double metres = (values[i] * scale + offset) * impl_->metres;
      visit({east[i], north[i], is_hole ? std::numeric_limits<double>::quiet_NaN() : metres}, row);
    }
  }
}

}  // namespace lodestone::io::raster
