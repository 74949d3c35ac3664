// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <sys/resource.h>

namespace lodestone::test {

/// A folder that vanishes at the end of a test.
class OutputFolder {
 public:
  OutputFolder();
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::size_t n_entries() const;

 private:
  std::filesystem::path path_;
};

/// Counts how often a word stands in a text.
[[nodiscard]] std::size_t occurrences(const std::string& text, const std::string& word);

/// While in scope no file can grow beyond `bytes`: writing fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

std::string slurp(const std::filesystem::path& path);
/// Deletes one array of an HDF5 file, which an older program would not have written.
void remove_from_hdf5(const std::filesystem::path& path, const std::string& name);

struct SyntheticOptions {
  int n_stations = 36, n_frequencies = 20, n_columns = 100, n_rows = 64;
  double hill_m = 0.0;          ///< height of a hill in the middle of the profile
  bool with_impedance = false;  ///< impedances and tipper instead of log10 ρₐ and phase
};

/// Returns a result as a run along a 719 km profile would leave it: two conductors, a resistive block, data
/// of the columns below each station with noise, some masked and interpolated data.
inversion::Outcome synthetic_result(const SyntheticOptions& options = {});
/// Returns a result as a run over a grid of 5 × 5 sites, about 4 km apart, would leave it. Impedances and
/// tippers of 8 periods have noise; some are masked. A conductor lies in the north-east, a resistive block in
/// the south-west, and padding around both.
inversion::Outcome synthetic_volume(double hill_m = 0.0);
/// Returns an outcome of another physics: densities of five layers and seven data without sites or periods.
inversion::Outcome layers_of_density();

}  // namespace lodestone::test
