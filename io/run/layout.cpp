// SPDX-License-Identifier: Apache-2.0
#include "io/run/layout.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::io::run::layout {

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

}  // namespace lodestone::io::run::layout
