// SPDX-License-Identifier: Apache-2.0
#include "io/geodesy/profile.hpp"

#include "engine/core/error.hpp"
#include "io/geodesy/projection.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::geodesy {
namespace {

using physics::mt::Profile;
using physics::mt::StationData;

std::vector<GeoPoint> places_of(const std::vector<StationData>& stations) {
  std::vector<GeoPoint> points;
  for (const StationData& station : stations) {
    const physics::mt::Station& site = station.site;
    if (!std::isfinite(site.latitude_deg) || !std::isfinite(site.longitude_deg)) {
      throw core::FormatError(
          "io::geodesy::profile#no_coordinates",
          "{}: expected latitude and longitude of station {}, found none; add them to the "
          "file or leave it out of the list",
          station.path, site.name);
    }
    points.push_back({site.latitude_deg, site.longitude_deg});
  }
  return points;
}

Projection projection_of(const std::string& name, const std::vector<GeoPoint>& points) {
  if (name == "local") return Projection(points);
  return name == "utm" ? Projection::utm(points) : Projection::from_definition(name);
}

Profile as_placed(const std::vector<StationData>& stations) {
  std::vector<double> y_m;
  for (const StationData& station : stations) {
    if (!std::isfinite(station.site.y_m)) {
      throw core::InvalidArgument(
          "io::geodesy::profile#not_on_line",
          "expected all stations along one line, but {} of {} has no place on the one "
          "of {}; read files of one kind",
          station.site.name, station.path, stations.front().path);
    }
    y_m.push_back(station.site.y_m);
  }
  return physics::mt::profile_along(std::move(y_m));
}

}  // namespace

Profile profile(const std::vector<StationData>& stations, const physics::mt::ProfileOptions& options) {
  if (stations.empty())
    throw core::InvalidArgument("io::geodesy::profile#no_station",
                                "expected at least one station, found none");
  if (std::isfinite(stations.front().site.y_m)) return as_placed(stations);
  const std::vector<GeoPoint> places = places_of(stations);
  const Projection projection = projection_of(options.projection, places);
  std::vector<std::string> names;
  for (const StationData& station : stations) names.push_back(station.site.name);
  Profile out = physics::mt::make_profile(names, projection.to_plane(places), options);
  const GeoPoint origin = projection.to_geographic({out.origin}).front();
  out.origin_latitude_deg = origin.latitude_deg;
  out.origin_longitude_deg = origin.longitude_deg;
  out.projection = projection.definition();
  return out;
}

}  // namespace lodestone::io::geodesy
