// SPDX-License-Identifier: Apache-2.0
// Rates of a machine, from which times of kernels follow that nobody has run there.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::engine {

struct LaunchWork;
struct WorkPart;

/// All that rates depend on.
struct MachineKey {
  std::string processor;     ///< as the system calls it
  int n_threads = 1;         ///< on which a launch may run
  std::string instructions;  ///< the widest set that kernels use: "avx512"
  std::string build;         ///< version, compiler, type, flags, BLAS and oneDNN of the build

  /// Returns that of this process. errors: those of `cpu_backend::isa`.
  [[nodiscard]] static MachineKey of_process();
  [[nodiscard]] std::string text() const;  ///< "AMD EPYC, 2 thread(s), avx512"
  friend auto operator<=>(const MachineKey&, const MachineKey&) = default;
};

/// Rates of kernels on one number of threads.
struct KernelRates {
  /// The rate of a pass over so many bytes, half of which are read and half written.
  struct Level {
    double bytes, bytes_per_s;
    friend bool operator==(const Level&, const Level&) = default;
  };
  /// The rate of operations where a kernel does so many per byte of its operands: narrow products and
  /// convolutions do few of them, and take longer for each.
  struct Rate {
    double per_byte, per_s;
    friend bool operator==(const Rate&, const Rate&) = default;
  };
  std::vector<Level> levels;                       ///< the smallest first
  std::map<std::string, std::vector<Rate>> rates;  ///< "conv f32"; the fewest operations per byte first
  std::map<std::string, double> kinds;             ///< operations per second, all in all: "window f32"

  /// Returns the time of a launch but for its own cost, s. It is the longer one of two: that of its
  /// operations, and that of its bytes at the rate of the first level that has room for them. Work without a
  /// rate takes that of its kind, and a dtype without rates that of the nearest real floating-point numbers.
  /// None: there is no such either.
  [[nodiscard]] std::optional<double> seconds(const LaunchWork& work) const;
  friend bool operator==(const KernelRates&, const KernelRates&) = default;

 private:
  [[nodiscard]] std::optional<double> per_s(const WorkPart& part) const;
};

struct MachineRates {
  MachineKey machine;
  double launch_s = 0.0;    ///< cost of a launch
  double wake_s = 0.0;      ///< cost of a loop on all threads, which look out for it; 0 for one thread
  KernelRates alone;        ///< on one thread
  KernelRates shared;       ///< on all threads, without the cost of the loop; empty for one
  bool is_complete = true;  ///< false: the time ended before all was measured once

  /// Returns the time of a launch, s, on one thread or shared, whichever takes less. None: it has no rate.
  [[nodiscard]] std::optional<double> seconds(const LaunchWork& work) const;
  /// Returns machine, costs, levels and the rates of kinds, for people.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const MachineRates&, const MachineRates&) = default;
};

}  // namespace lodestone::engine
