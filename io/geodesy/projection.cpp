// SPDX-License-Identifier: Apache-2.0
#include "io/geodesy/projection.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lodestone::io::geodesy {
namespace {

using physics::mt::PlanePoint;

constexpr double radians = std::numbers::pi / 180.0;

struct DestroyContext {
  void operator()(PJ_CONTEXT* c) const { proj_context_destroy(c); }
};
struct DestroyObject {
  void operator()(PJ* p) const { proj_destroy(p); }
};
using PjPointer = std::unique_ptr<PJ, DestroyObject>;

/// Returns true when both horizontal axes of a coordinate system count metres.
bool counts_metres(PJ_CONTEXT* context, const char* definition) {
  PjPointer crs(proj_create(context, definition));
  if (crs && proj_get_type(crs.get()) == PJ_TYPE_BOUND_CRS)
    crs.reset(proj_get_source_crs(context, crs.get()));
  if (!crs || proj_get_type(crs.get()) != PJ_TYPE_PROJECTED_CRS) return false;
  const PjPointer system(proj_crs_get_coordinate_system(context, crs.get()));
  if (!system) return false;
  for (const int axis : {0, 1}) {
    double factor = 0.0;
    if (proj_cs_get_axis_info(context, system.get(), axis, nullptr, nullptr, nullptr, &factor, nullptr,
                              nullptr, nullptr) == 0 ||
        factor != 1.0)
      return false;
  }
  return true;
}

/// Returns the mean of the directions on the sphere, so that surveys across the date line have one.
GeoPoint mean_of(const std::vector<GeoPoint>& points) {
  double x = 0.0, y = 0.0, z = 0.0;
  for (const auto& p : points) {
    if (!(std::abs(p.latitude_deg) <= 90.0) || !(std::abs(p.longitude_deg) <= 360.0)) {
      throw core::InvalidArgument(
          "io::geodesy::Projection#wrong_coordinates",
          "expected latitude and longitude in degrees, got ({}, {}); add them to the station's file",
          p.latitude_deg, p.longitude_deg);
    }
    x += std::cos(p.latitude_deg * radians) * std::cos(p.longitude_deg * radians);
    y += std::cos(p.latitude_deg * radians) * std::sin(p.longitude_deg * radians);
    z += std::sin(p.latitude_deg * radians);
  }
  if (points.empty())
    throw core::InvalidArgument("io::geodesy::Projection#no_point",
                                "expected at least one point to centre the projection on, found none");
  return {std::atan2(z, std::hypot(x, y)) / radians, std::atan2(y, x) / radians};
}

}  // namespace

struct Projection::Impl {
  std::unique_ptr<PJ_CONTEXT, DestroyContext> context;
  PjPointer transformation;
  std::string definition;

  explicit Impl(std::string text) : context(proj_context_create()), definition(std::move(text)) {
    proj_log_level(context.get(), PJ_LOG_NONE);
    proj_context_set_enable_network(context.get(), 0);
    const PjPointer raw(proj_create_crs_to_crs(context.get(), "EPSG:4326", definition.c_str(), nullptr));
    if (raw) transformation.reset(proj_normalize_for_visualization(context.get(), raw.get()));
    if (!transformation || !counts_metres(context.get(), definition.c_str())) {
      throw core::ConfigError(
          "io::geodesy::Projection#wrong_system",
          "expected a projected coordinate system in metres, for example \"EPSG:32733\" or "
          "\"+proj=tmerc … +type=crs\", got \"{}\"",
          definition);
    }
  }
};

Projection::Projection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Projection::~Projection() = default;
Projection::Projection(Projection&&) noexcept = default;
Projection& Projection::operator=(Projection&&) noexcept = default;

Projection::Projection(const std::vector<GeoPoint>& points) {
  const GeoPoint centre = mean_of(points);
  impl_ = std::make_unique<Impl>(fmt::format(
      "+proj=tmerc +lat_0={:.6f} +lon_0={:.6f} +k_0=1 +x_0=0 +y_0=0 +datum=WGS84 +units=m +no_defs +type=crs",
      centre.latitude_deg, centre.longitude_deg));
}

Projection Projection::utm(const std::vector<GeoPoint>& points) {
  const GeoPoint centre = mean_of(points);
  const int zone = static_cast<int>(std::floor((centre.longitude_deg + 180.0) / 6.0)) % 60 + 1;
  const int first_code = centre.latitude_deg < 0.0 ? 32700 : 32600;
  return from_definition(fmt::format("EPSG:{}", first_code + zone));
}

Projection Projection::from_definition(const std::string& definition) {
  return Projection(std::make_unique<Impl>(definition));
}

std::vector<PlanePoint> Projection::to_plane(const std::vector<GeoPoint>& points) const {
  std::vector<PlanePoint> out;
  for (const auto& p : points) {
    const PJ_COORD image = proj_trans(impl_->transformation.get(), PJ_FWD,
                                      proj_coord(p.longitude_deg, p.latitude_deg, 0.0, 0.0));
    if (!std::isfinite(image.xy.x) || !std::isfinite(image.xy.y)) {
      throw core::InvalidArgument(
          "io::geodesy::Projection#no_image",
          "the point at latitude {}, longitude {} has no image under {}; check the coordinates",
          p.latitude_deg, p.longitude_deg, impl_->definition);
    }
    out.push_back({image.xy.y, image.xy.x});
  }
  return out;
}

std::vector<GeoPoint> Projection::to_geographic(const std::vector<PlanePoint>& points) const {
  std::vector<GeoPoint> out;
  for (const auto& p : points) {
    const PJ_COORD image =
        proj_trans(impl_->transformation.get(), PJ_INV, proj_coord(p.east_m, p.north_m, 0.0, 0.0));
    if (!std::isfinite(image.xy.x) || !std::isfinite(image.xy.y)) {
      throw core::InvalidArgument("io::geodesy::Projection#outside",
                                  "the point {} m north, {} m east lies outside {}; check the coordinates",
                                  p.north_m, p.east_m, impl_->definition);
    }
    out.push_back({image.xy.y, image.xy.x});
  }
  return out;
}

const std::string& Projection::definition() const { return impl_->definition; }

void require_fit(const Projection& projection, const std::vector<GeoPoint>& points) {
  constexpr double step_deg = 1e-3, most_stretched = 0.03, most_turned_deg = 20.0;
  for (const GeoPoint& point : points) {
    const GeoPoint north{point.latitude_deg + (point.latitude_deg > 0.0 ? -step_deg : step_deg),
                         point.longitude_deg};
    const std::vector<PlanePoint> images = projection.to_plane({point, north});
    const double sign = north.latitude_deg > point.latitude_deg ? 1.0 : -1.0;
    const double to_north_m = sign * (images[1].north_m - images[0].north_m),
                 to_east_m = sign * (images[1].east_m - images[0].east_m);
    const double scale = std::hypot(to_north_m, to_east_m) / great_circle_distance_m(point, north);
    const double turned_deg = std::atan2(to_east_m, to_north_m) / radians;
    if (std::abs(scale - 1.0) <= most_stretched && std::abs(turned_deg) <= most_turned_deg) continue;
    throw core::ConfigError(
        "io::geodesy::Projection#does_not_fit",
        "expected a projection made for the place, got \"{}\", which at latitude {:g}, longitude {:g} "
        "stretches by a factor of {:.3g} and turns north by {:.3g} degrees; take that of the zone, or none, "
        "which gives the survey a plane of its own",
        projection.definition(), point.latitude_deg, point.longitude_deg, scale, turned_deg);
  }
}

double great_circle_distance_m(const GeoPoint& a, const GeoPoint& b) {
  constexpr double radius_m = 6371000.0;
  const double dlat = (b.latitude_deg - a.latitude_deg) * radians,
               dlon = (b.longitude_deg - a.longitude_deg) * radians;
  const double s = std::pow(std::sin(0.5 * dlat), 2) + std::cos(a.latitude_deg * radians) *
                                                           std::cos(b.latitude_deg * radians) *
                                                           std::pow(std::sin(0.5 * dlon), 2);
  return 2.0 * radius_m * std::asin(std::min(1.0, std::sqrt(s)));
}

}  // namespace lodestone::io::geodesy
