// SPDX-License-Identifier: Apache-2.0
#pragma once

// Private to io/result: names shared by writer and reader (docs/result-file.md).

#include "inversion/prior/findings.hpp"
#include "inversion/uncertainty/findings.hpp"
#include "io/hdf5/file.hpp"
#include "physics/mesh/earth.hpp"

#include <Eigen/Core>

#include <optional>
#include <string>

namespace lodestone::io::run::layout {

inline constexpr const char* result_format = "lodestone result";
inline constexpr const char* section_format = "lodestone section";
inline constexpr const char* responses_format = "lodestone responses";
inline constexpr const char* version = "1";

/// Attributes of the root that say what the file is.
void write_header(hdf5::Hdf5Sink& sink, const std::string& format);
/// errors: FormatError when the file is of none of these formats or of a newer version.
void require_format(const hdf5::Hdf5Source& source, const std::string& path,
                    const std::vector<std::string>& formats);

void write_scalar(hdf5::Hdf5Sink& sink, const std::string& name, double value, const std::string& units = {});
[[nodiscard]] double read_scalar(const hdf5::Hdf5Source& source, const std::string& name);

/// A vector with its units.
void write_values(hdf5::Hdf5Sink& sink, const std::string& name, std::span<const double> values,
                  const std::string& units);
/// Row-major cell values as (n_rows, n_columns).
void write_cells(hdf5::Hdf5Sink& sink, const std::string& name, const Eigen::VectorXd& values, int n_rows,
                 int n_columns, const std::string& units);
[[nodiscard]] Eigen::VectorXd read_values(const hdf5::Hdf5Source& source, const std::string& name);

void write_learned_prior(hdf5::Hdf5Sink& sink, const inversion::prior::PriorFindings& prior,
                         const physics::mesh::TensorGrid& grid);
/// Nothing where the file has none. errors: FormatError when parts do not fit the grid or each other.
[[nodiscard]] std::optional<inversion::prior::PriorFindings> read_learned_prior(
    const hdf5::Hdf5Source& source, const physics::mesh::TensorGrid& grid);

void write_uncertainty(hdf5::Hdf5Sink& sink, const inversion::uncertainty::Uncertainty& uncertainty,
                       const physics::mesh::TensorGrid& grid);
/// Reads the group "uncertainty", if any.
[[nodiscard]] std::optional<inversion::uncertainty::Uncertainty> read_uncertainty(
    const hdf5::Hdf5Source& source, const physics::mesh::TensorGrid& grid);

}  // namespace lodestone::io::run::layout
