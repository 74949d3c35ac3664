// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mesh/tear.hpp"

#include <string>
#include <vector>

namespace lodestone::io::modem {

/// Smoothing between two areas of a covariance file, instead of none.
struct CovarianceException {
  int area = 0, other_area = 0;
  double smoothing = 0.0;
};

/// The content of a ModEM covariance file: smoothing by autoregression, and areas of cells.
struct Covariance {
  static constexpr int air = 0, sea = 9;  ///< areas that are fixed

  int n_x = 0, n_y = 0, n_z = 0;                     ///< cells north, east and down
  std::vector<double> x_smoothing{}, y_smoothing{};  ///< one number for each layer
  double z_smoothing = 0.0;
  int n_times = 1;  ///< repetitions of the smoothing
  std::vector<CovarianceException> exceptions{};
  std::vector<int> area{};  ///< (n_cells), in the order of a grid: (iz·n_y + iy)·n_x + ix

  [[nodiscard]] int area_of(int ix, int iy, int iz) const {
    return area[static_cast<std::size_t>((iz * n_y + iy) * n_x + ix)];
  }
};

/// Reads a covariance file: 16 lines of text, counts, smoothing, exceptions, and blocks of areas from north
/// to south. Layers without a block are area 1. errors: FileError, FormatError with file:line (too few or
/// too many numbers, smoothing outside 0…1, areas outside 0…9, layers that are none).
[[nodiscard]] Covariance read_covariance(const std::string& path);

/// Returns the areas of the cells. Between air or sea and others no roughness counts; an exception of
/// smoothing s changes that of its pair to s(1 − α²)/(α(1 − s²)), where α is the mean smoothing of the file:
/// the ratio of the links of two autoregressions x_{i+1} = α x_i + noise. Pairs that no exception names
/// count as elsewhere, as ModEM smooths across them. s and α stay below 0.999 in this formula;
/// where α is 0 an exception counts as none or as elsewhere.
[[nodiscard]] physics::mesh::Areas areas_of(const Covariance& covariance);

/// Writes such a file; layers alike follow each other in one block. Reading back gives the same numbers.
/// errors: FileError; ShapeError unless there is an area for each cell and smoothing for each layer.
void write_covariance(const std::string& path, const Covariance& covariance);

}  // namespace lodestone::io::modem
