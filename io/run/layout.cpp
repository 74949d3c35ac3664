// SPDX-License-Identifier: Apache-2.0
#include "io/run/layout.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::io::run::layout {

namespace mesh = physics::mesh;

namespace {

constexpr const char* draped = "surface";
constexpr const char* level = "datum";

}  // namespace

void write_header(hdf5::Hdf5Sink& sink, const std::string& format) {
  sink.attribute("", "format", format);
  sink.attribute("", "format_version", version);
}

void require_format(const hdf5::Hdf5Source& source, const std::string& path,
                    const std::vector<std::string>& formats) {
  const std::string got =
      source.has_attribute("", "format") ? source.attribute("", "format") : "no attribute 'format'";
  if (std::find(formats.begin(), formats.end(), got) == formats.end()) {
    throw core::FormatError("io::read_result", "{}: expected a '{}' file, got {}; is it the right file?",
                            path, fmt::join(formats, "' or '"), got);
  }
  const std::string given =
      source.has_attribute("", "format_version") ? source.attribute("", "format_version") : "none";
  if (given != version) {
    throw core::FormatError(
        "io::read_result",
        "{}: expected format version {}, got {}; read it with the program version that wrote it", path,
        version, given);
  }
}

void write_scalar(hdf5::Hdf5Sink& sink, const std::string& name, double value, const std::string& units) {
  sink.write(name, {core::DType::f64, {}}, std::as_bytes(std::span(&value, 1)));
  if (!units.empty()) {
    sink.attribute(name, "units", units);
  }
}

double read_scalar(const hdf5::Hdf5Source& source, const std::string& name) {
  const std::vector<double> values = core::read_doubles(source, name);
  if (values.size() != 1) {
    throw core::FormatError("io::read_result", "array '{}': expected one number, got {}", name,
                            values.size());
  }
  return values[0];
}

void write_values(hdf5::Hdf5Sink& sink, const std::string& name, std::span<const double> values,
                  const std::string& units) {
  core::write_vector(sink, name, values);
  if (!units.empty()) {
    sink.attribute(name, "units", units);
  }
}

void write_cells(hdf5::Hdf5Sink& sink, const std::string& name, const Eigen::VectorXd& values, int n_rows,
                 int n_columns, const std::string& units) {
  sink.write(name, {core::DType::f64, {n_rows, n_columns}},
             std::as_bytes(std::span(values.data(), static_cast<std::size_t>(values.size()))));
  sink.attribute(name, "units", units);
}

Eigen::VectorXd read_values(const hdf5::Hdf5Source& source, const std::string& name) {
  const std::vector<double> values = core::read_doubles(source, name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

void write_grid(hdf5::Hdf5Sink& sink, const mesh::Section2D& section) {
  const auto& grid = section.grid;
  write_values(sink, "model/y_edges_m", grid.y_edges_m(), "m");
  write_values(sink, "model/z_edges_m", grid.z_edges_m(), "m");
  sink.attribute("model/z_edges_m", "measured_from",
                 grid.reference() == mesh::DepthReference::surface ? draped : level);
  write_values(sink, "model/surface_y_m", section.surface.y_m(), "m");
  write_values(sink, "model/surface_z_m", section.surface.z_m(), "m");
  if (!section.sea) return;
  write_scalar(sink, "model/sea_level_m", section.sea->level_m, "m");
  write_scalar(sink, "model/sea_resistivity_ohm_m", section.sea->resistivity_ohm_m, "ohm m");
}

mesh::TensorGrid read_grid(const hdf5::Hdf5Source& source) {
  const std::string reference = source.attribute("model/z_edges_m", "measured_from");
  if (reference != draped && reference != level) {
    throw core::FormatError("io::read_result",
                            "model/z_edges_m@measured_from: expected '{}' or '{}', got '{}'", draped, level,
                            reference);
  }
  return mesh::TensorGrid::section(
      core::read_doubles(source, "model/y_edges_m"), core::read_doubles(source, "model/z_edges_m"),
      reference == draped ? mesh::DepthReference::surface : mesh::DepthReference::datum);
}

mesh::SurfaceLine read_surface(const hdf5::Hdf5Source& source) {
  return {core::read_doubles(source, "model/surface_y_m"), core::read_doubles(source, "model/surface_z_m")};
}

std::optional<mesh::Sea> read_sea(const hdf5::Hdf5Source& source) {
  if (!source.contains("model/sea_level_m")) return {};
  return mesh::Sea{read_scalar(source, "model/sea_level_m"),
                   read_scalar(source, "model/sea_resistivity_ohm_m")};
}

}  // namespace lodestone::io::run::layout
