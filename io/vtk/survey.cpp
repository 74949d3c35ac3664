// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/survey.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "inversion/mt/tables.hpp"
#include "io/geodesy/profile.hpp"
#include "io/vtk/series.hpp"
#include "io/vtk/vtk_file.hpp"
#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <vtkCellArray.h>
#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPoints.h>
#include <vtkPolyData.h>
#include <vtkStringArray.h>
#include <vtkXMLPolyDataWriter.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>

namespace lodestone::io::vtk {
namespace {

namespace fs = std::filesystem;
namespace mesh = physics::mesh;
namespace mt = physics::mt;
using mt::Element;

constexpr int n_corners = 48;
constexpr double ellipse_part = 0.4;       // larger half axis over the usual distance of neighbours
constexpr double lone_ellipse_m = 1000.0;  // larger half axis where there are no neighbours

/// The places of stations in the coordinates of files, and the direction there that azimuths count from.
struct Places {
  std::vector<mesh::MapPlace> at{};
  double x_azimuth_deg = 0.0;  ///< azimuth of the second coordinate of the files
  double ellipse_m = lone_ellipse_m;
};

/// Returns 0.4 of the median distance of a station from its nearest neighbour.
double ellipse_size_m(const std::vector<mesh::MapPlace>& places) {
  std::vector<double> nearest;
  for (const mesh::MapPlace& here : places) {
    double least = INFINITY;
    for (const mesh::MapPlace& other : places) {
      const double distance = std::hypot(other.east_m - here.east_m, other.north_m - here.north_m);
      if (distance > 0.0) least = std::min(least, distance);
    }
    if (std::isfinite(least)) nearest.push_back(least);
  }
  if (nearest.empty()) return lone_ellipse_m;
  std::ranges::nth_element(nearest, nearest.begin() + std::ssize(nearest) / 2);
  return ellipse_part * nearest[nearest.size() / 2];
}

/// Returns z of a station, down from the level of the file or of the sea; 0 where neither is stated.
double depth_m(const mt::Station& site) {
  if (std::isfinite(site.z_m)) return site.z_m;
  return std::isfinite(site.elevation_m) ? -site.elevation_m : 0.0;
}

Places places_of(const std::vector<mt::StationData>& stations, const mt::ProfileOptions& options) {
  if (stations.empty())
    throw core::InvalidArgument("io::vtk::write_survey#no_station",
                                "expected at least one station to write, found none");
  const bool along_line = !stations.front().local_frame && std::isfinite(stations.front().site.y_m);
  const mt::Profile profile =
      along_line ? geodesy::profile(stations, options) : geodesy::map(stations, options);
  const mesh::Frame frame = inversion::mt::frame_of(profile, 0.0);
  Places places{.x_azimuth_deg = frame.is_on_map() ? 0.0 : profile.azimuth_deg - 90.0};
  for (std::size_t k = 0; k < stations.size(); ++k)
    places.at.push_back(
        place_in_file(frame, {profile.offset_m[k], profile.y_m[k], depth_m(stations[k].site)}));
  places.ellipse_m = ellipse_size_m(places.at);
  return places;
}

/// Stands where an impedance is missing: every number of the tensor is missing, too.
const mt::PhaseTensor no_tensor{
    .max = mt::not_given, .min = mt::not_given, .azimuth_deg = mt::not_given, .skew_deg = mt::not_given};

/// Returns the phase tensor of a row in its own axes, so that its azimuth counts from x.
mt::PhaseTensor tensor_of(const mt::StationRow& row) {
  const auto impedance = mt::impedance_of(row);
  return impedance ? mt::phase_tensor(*impedance).value_or(no_tensor) : no_tensor;
}

/// The values of a station at one period, in the axes of the files.
struct Reading {
  std::size_t station = 0;
  mt::StationRow row{};
  mt::PhaseTensor ellipse{};
};

/// The readings of one period.
struct Period {
  double seconds = 0.0;
  std::vector<Reading> readings{};
};

/// Returns the readings of all stations by period, the shortest first.
std::vector<Period> periods_of(const std::vector<mt::StationData>& stations, double x_azimuth_deg) {
  std::vector<Reading> all;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    for (const mt::StationRow& row : stations[k].rows) {
      all.push_back({k, mt::rotated(row, x_azimuth_deg), {}});
      all.back().ellipse = tensor_of(all.back().row);
    }
  }
  if (all.empty())
    throw core::InvalidArgument("io::vtk::write_survey#no_frequency",
                                "expected impedances or tippers, of which arrows and ellipses are made, but "
                                "the stations have other data alone");
  std::ranges::stable_sort(all, std::greater<>(), [](const Reading& r) { return r.row.frequency_hz; });
  std::vector<Period> periods;
  for (Reading& reading : all) {
    const double seconds = 1.0 / reading.row.frequency_hz;
    if (periods.empty() || seconds > periods.back().seconds * (1.0 + mt::same_frequency))
      periods.push_back({seconds, {}});
    periods.back().readings.push_back(std::move(reading));
  }
  return periods;
}

/// A number of a reading that files show.
struct Field {
  const char* name;
  double (*of)(const Reading&);
};
constexpr std::array<Field, 9> fields{{
    {"period_s", [](const Reading& r) { return 1.0 / r.row.frequency_hz; }},
    {"rho_xy_ohm_m",
     [](const Reading& r) {
       return mt::apparent_resistivity_ohm_m(r.row.values[Element::zxy], r.row.frequency_hz);
     }},
    {"phase_xy_deg", [](const Reading& r) { return mt::phase_deg(r.row.values[Element::zxy]); }},
    {"rho_yx_ohm_m",
     [](const Reading& r) {
       return mt::apparent_resistivity_ohm_m(r.row.values[Element::zyx], r.row.frequency_hz);
     }},
    {"phase_yx_deg", [](const Reading& r) { return mt::phase_deg(r.row.values[Element::zyx]); }},
    {"phi_max_deg", [](const Reading& r) { return r.ellipse.max_deg(); }},
    {"phi_min_deg", [](const Reading& r) { return r.ellipse.min_deg(); }},
    {"skew_beta_deg", [](const Reading& r) { return r.ellipse.skew_deg; }},
    {"ellipse_azimuth_deg", [](const Reading& r) { return r.ellipse.azimuth_deg; }},
}};

/// The stations of a survey and their places.
struct Survey {
  const std::vector<mt::StationData>& stations;
  Places places{};
};

/// Adds the names of the stations and the fields. shape: a value for each reading.
void add_fields(const Survey& survey, const std::vector<Reading>& readings, vtkDataSetAttributes& to) {
  const vtkNew<vtkStringArray> names;
  names->SetName("station");
  for (const Reading& reading : readings) names->InsertNextValue(survey.stations[reading.station].site.name);
  to.AddArray(names);
  std::vector<double> values(readings.size());
  for (const Field& field : fields) {
    std::ranges::transform(readings, values.begin(), field.of);
    add_array(to, field.name, values);
  }
}

void write_data(const fs::path& path, vtkPolyData& data) {
  const vtkNew<vtkXMLPolyDataWriter> writer;
  writer->SetInputData(&data);
  vtk::write(path, *writer);
}

/// Returns an induction arrow of Parkinson for each reading, which has no length without a tipper.
std::vector<double> arrows(const std::vector<Reading>& readings,
                           mt::InductionArrow mt::InductionArrows::*part) {
  std::vector<double> vectors;
  for (const Reading& reading : readings) {
    const auto both = mt::induction_arrows(reading.row, mt::ArrowConvention::parkinson);
    const mt::InductionArrow arrow = both ? (*both).*part : mt::InductionArrow{};
    vectors.insert(vectors.end(), {arrow.y, arrow.x, 0.0});
  }
  return vectors;
}

void write_points(const Survey& survey, const std::vector<Reading>& readings, const fs::path& path) {
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  const vtkNew<vtkCellArray> vertices;
  std::vector<double> elevation_m;
  for (const Reading& reading : readings) {
    const mesh::MapPlace& at = survey.places.at[reading.station];
    const vtkIdType id = points->InsertNextPoint(at.east_m, at.north_m, at.elevation_m);
    vertices->InsertNextCell(1, &id);
    elevation_m.push_back(at.elevation_m);
  }
  const vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  data->SetVerts(vertices);
  add_fields(survey, readings, *data->GetPointData());
  add_array(*data->GetPointData(), "elevation_m", elevation_m);
  add_vectors(*data->GetPointData(), "induction_real", arrows(readings, &mt::InductionArrows::real));
  add_vectors(*data->GetPointData(), "induction_imaginary",
              arrows(readings, &mt::InductionArrows::imaginary));
  write_data(path, *data);
}

/// Writes ellipses as level polygons at the stations. All have the same larger axis; the other is drawn to
/// scale.
void write_ellipses(const Survey& survey, const std::vector<Reading>& all, const fs::path& path) {
  const vtkNew<vtkPoints> points;
  points->SetDataTypeToDouble();
  const vtkNew<vtkCellArray> polygons;
  std::vector<Reading> readings;
  for (const Reading& reading : all) {
    const mt::PhaseTensor& ellipse = reading.ellipse;
    if (!std::isfinite(ellipse.max) || !(ellipse.max > 0.0)) continue;
    const mesh::MapPlace& at = survey.places.at[reading.station];
    const double azimuth_rad = ellipse.azimuth_deg / mt::deg_per_rad;
    const double cos = std::cos(azimuth_rad), sin = std::sin(azimuth_rad);
    std::array<vtkIdType, n_corners> corners{};
    for (int k = 0; k < n_corners; ++k) {
      const double angle = 2.0 * std::numbers::pi * k / n_corners;
      const double along = survey.places.ellipse_m * std::cos(angle),
                   across = survey.places.ellipse_m * ellipse.min / ellipse.max * std::sin(angle);
      corners[static_cast<std::size_t>(k)] = points->InsertNextPoint(
          at.east_m + along * sin + across * cos, at.north_m + along * cos - across * sin, at.elevation_m);
    }
    polygons->InsertNextCell(n_corners, corners.data());
    readings.push_back(reading);
  }
  const vtkNew<vtkPolyData> data;
  data->SetPoints(points);
  data->SetPolys(polygons);
  add_fields(survey, readings, *data->GetCellData());
  write_data(path, *data);
}

/// Writes one of the two kinds of files: all periods as one file, or a file each and the series.
template <class WriteOne>
void write_kind(const fs::path& path, const std::string& name, const std::vector<Period>& periods,
                const WriteOne& write_one) {
  if (path.extension() != ".pvd") {
    std::vector<Reading> all;
    for (const Period& period : periods)
      all.insert(all.end(), period.readings.begin(), period.readings.end());
    write_one(all, path);
    return;
  }
  std::vector<SeriesEntry> entries;
  for (const Period& period : periods) {
    const std::string file = fmt::format("{}_{:04}.vtp", name, entries.size());
    entries.push_back({period.seconds, file});
    write_one(period.readings, path.parent_path() / file);
  }
  write_pvd(path, entries);
}

}  // namespace

std::vector<std::string> write_survey(const std::string& path, const std::vector<mt::StationData>& stations,
                                      const mt::ProfileOptions& map) {
  const Survey survey{stations, places_of(stations, map)};
  const std::vector<Period> periods = periods_of(stations, survey.places.x_azimuth_deg);
  const fs::path file = path, folder = file.parent_path() / file.stem();
  const fs::path ellipses =
      file.parent_path() / (file.stem().string() + "_ellipses" + file.extension().string());
  const std::string prefix = file.stem().string() + "/";
  if (file.extension() == ".pvd") core::make_folder(folder);
  write_kind(file, prefix + "stations", periods,
             [&](const auto& readings, const fs::path& to) { write_points(survey, readings, to); });
  write_kind(ellipses, prefix + "ellipses", periods,
             [&](const auto& readings, const fs::path& to) { write_ellipses(survey, readings, to); });
  return {file.string(), ellipses.string()};
}

}  // namespace lodestone::io::vtk
