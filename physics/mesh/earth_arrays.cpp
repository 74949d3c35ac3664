// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"

#include <cstddef>
#include <span>
#include <utility>

namespace lodestone::physics::mesh {
namespace {

std::string edges_name(Axis axis) { return std::string("model/") + std::string(name(axis)) + "_edges_m"; }

void write_lengths(core::ArraySink& sink, const std::string& name, const std::vector<double>& values) {
  core::write_vector(sink, name, values);
  sink.attribute(name, "units", "m");
}

void write_surface(core::ArraySink& sink, const Surface& surface) {
  write_lengths(sink, "model/surface_y_m", surface.y_m());
  if (!surface.is_map()) {
    write_lengths(sink, "model/surface_z_m", surface.profile().z_m());
    return;
  }
  write_lengths(sink, "model/surface_x_m", surface.x_m());
  core::write_matrix(sink, "model/surface_z_m", surface.z_m());
  sink.attribute("model/surface_z_m", "units", "m");
}

TensorGrid read_grid(const core::ArraySource& source) {
  const std::string z_name = edges_name(Axis::z);
  const auto reference = core::parse<DepthReference, core::FormatError>(
      source.attribute(z_name, "measured_from"),
      fmt::format("{}: {}@measured_from", source.location(), z_name));
  const auto edges = [&](Axis axis) {
    return source.contains(edges_name(axis)) ? core::read_doubles(source, edges_name(axis))
                                             : std::vector<double>{};
  };
  return TensorGrid(Edges{edges(Axis::x), edges(Axis::y), core::read_doubles(source, z_name)}, reference);
}

Surface read_surface(const core::ArraySource& source) {
  std::vector<double> y = core::read_doubles(source, "model/surface_y_m");
  if (!source.contains("model/surface_x_m"))
    return SurfaceLine(std::move(y), core::read_doubles(source, "model/surface_z_m"));
  return {core::read_doubles(source, "model/surface_x_m"), std::move(y),
          core::read_matrix(source, "model/surface_z_m")};
}

std::optional<Sea> read_sea(const core::ArraySource& source) {
  if (!source.contains("model/sea_level_m")) return {};
  return Sea{core::read_number(source, "model/sea_level_m"),
             core::read_number(source, "model/sea_resistivity_ohm_m")};
}

std::string values_name(const Property& property) {
  if (property.name.empty() || property.name.find('/') != std::string::npos)
    throw core::InvalidArgument("mesh::write#wrong_property_name",
                                "expected a property with a name that has no \"/\", got \"{}\"",
                                property.name);
  return "model/" + std::string(property.scale == Scale::log10 ? "log10_" : "") + property.name;
}

/// The shape of the values in a file is (n_z, n_y, n_x), of version 1 (n_z, n_y).
void check_shape(const core::ArraySource& source, const std::string& name, const TensorGrid& grid) {
  const std::vector<std::int64_t> got = source.info(name).shape;
  std::vector<std::int64_t> expected{grid.n_z(), grid.n_y(), grid.n_x()};
  if (got.size() == 2 && grid.n_x() == 1) expected.pop_back();
  if (got != expected)
    throw core::FormatError("mesh::read_earth#wrong_shape",
                            "{}: expected \"{}\" of shape ({}), as its grid, got ({}); write the file again",
                            source.location(), name, fmt::join(expected, ", "), fmt::join(got, ", "));
}

/// Returns the units of the quantity itself: files state "log10(ohm m)" for logarithms.
std::string units_of(const std::string& text, Scale scale) {
  constexpr std::string_view opening = "log10(";
  if (scale == Scale::linear || !text.starts_with(opening) || !text.ends_with(")")) return text;
  return text.substr(opening.size(), text.size() - opening.size() - 1);
}

}  // namespace

void write(core::ArraySink& sink, const Earth& earth) {
  for (const Axis axis : all_axes) {
    if (earth.grid.has(axis)) write_lengths(sink, edges_name(axis), earth.grid.edges_m(axis));
  }
  sink.attribute(edges_name(Axis::z), "measured_from", std::string(core::word(earth.grid.reference())));
  write_surface(sink, earth.surface);
  if (!earth.sea) return;
  core::write_number(sink, "model/sea_level_m", earth.sea->level_m, "m");
  core::write_number(sink, "model/sea_resistivity_ohm_m", earth.sea->resistivity_ohm_m, "ohm m");
}

void write(core::ArraySink& sink, const Model& model) {
  const TensorGrid& grid = model.earth.grid;
  if (model.values.size() != grid.n_cells())
    throw core::ShapeError("mesh::write#wrong_size", "expected {} values of {}, one per cell, got {}",
                           grid.n_cells(), model.property.name, model.values.size());
  const std::string name = values_name(model.property);
  write(sink, model.earth);
  write_cells(sink, name, grid, model.values, units_in_scale(model.property));
}

std::string units_in_scale(const Property& property) {
  return property.scale == Scale::log10 ? "log10(" + property.units + ")" : property.units;
}

void write_cells(core::ArraySink& sink, const std::string& name, const TensorGrid& grid,
                 const Eigen::VectorXd& values, const std::string& units) {
  if (values.size() != grid.n_cells())
    throw core::ShapeError("mesh::write_cells#wrong_size",
                           "expected {} values in \"{}\", one per cell, got {}", grid.n_cells(), name,
                           values.size());
  sink.write(name, {core::DType::f64, {grid.n_z(), grid.n_y(), grid.n_x()}},
             std::as_bytes(std::span(values.data(), static_cast<std::size_t>(values.size()))));
  if (!units.empty()) sink.attribute(name, "units", units);
}

Eigen::VectorXd read_cells(const core::ArraySource& source, const std::string& name, const TensorGrid& grid) {
  check_shape(source, name, grid);
  const std::vector<double> values = core::read_doubles(source, name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

void write(core::ArraySink& sink, const Frame& frame) {
  sink.attribute("frame", "projection", frame.projection);
  core::write_number(sink, "frame/origin_north_m", frame.origin_north_m, "m");
  core::write_number(sink, "frame/origin_east_m", frame.origin_east_m, "m");
  core::write_number(sink, "frame/azimuth_deg", frame.azimuth_deg, "degree");
  core::write_number(sink, "frame/elevation_m", frame.elevation_m, "m");
  if (frame.bends.empty()) return;
  Eigen::MatrixXd bends(std::ssize(frame.bends), 3);
  for (Eigen::Index k = 0; k < bends.rows(); ++k) {
    const Bend& bend = frame.bends[static_cast<std::size_t>(k)];
    bends.row(k) << bend.y_m, bend.north_m, bend.east_m;
  }
  core::write_matrix(sink, "frame/bends", bends);
  sink.attribute("frame/bends", "columns", "y_m, north_m, east_m");
  sink.attribute("frame/bends", "units", "m");
}

Frame read_frame(const core::ArraySource& source) {
  Frame frame{.projection = source.attribute("frame", "projection"),
              .origin_north_m = core::read_number(source, "frame/origin_north_m"),
              .origin_east_m = core::read_number(source, "frame/origin_east_m"),
              .azimuth_deg = core::read_number(source, "frame/azimuth_deg"),
              .elevation_m = core::read_number(source, "frame/elevation_m")};
  if (!source.contains("frame/bends")) return frame;
  const Eigen::MatrixXd bends = core::read_matrix(source, "frame/bends");
  if (bends.cols() != 3)
    throw core::FormatError("mesh::read_frame#wrong_shape",
                            "{}: expected 3 columns in \"frame/bends\", got {}", source.location(),
                            bends.cols());
  for (const auto& row : bends.rowwise()) frame.bends.push_back({row[0], row[1], row[2]});
  return frame;
}

Earth read_earth(const core::ArraySource& source) {
  try {
    return {read_grid(source), read_surface(source), read_sea(source)};
  } catch (const core::FormatError&) {
    throw;
  } catch (const core::Error& error) {  // edges or points that are not increasing
    throw core::FormatError("mesh::read_earth#wrong_grid", "{}: {}", source.location(), error.what());
  }
}

Model read_model(const core::ArraySource& source, const std::string& property) {
  Earth earth = read_earth(source);
  Scale scale = Scale::log10;
  std::string name = values_name({property, "", scale});
  if (!source.contains(name)) {
    scale = Scale::linear;
    name = values_name({property, "", scale});
  }
  if (!source.contains(name))
    throw core::FormatError("mesh::read_model#no_property",
                            "{}: expected \"model/log10_{}\" or \"model/{}\", but the file has neither",
                            source.location(), property, property);
  Eigen::VectorXd values = read_cells(source, name, earth.grid);
  return {std::move(earth),
          {property, units_of(source.attribute(name, "units"), scale), scale},
          std::move(values)};
}

}  // namespace lodestone::physics::mesh
