// SPDX-License-Identifier: Apache-2.0
// A dry run tells what a function will need before it runs: memory to the byte, work, and time.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/core/words.hpp"
#include "engine/inspect/machine_rates.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/record/function.hpp"

namespace lodestone::engine {

/// The source of the times of launches.
enum class Times : std::uint8_t {
  none,     ///< launches have none
  kernels,  ///< each kind of launch runs a few times here; rates serve where it is too large or refuses
  rates     ///< those of a machine; nothing of the function runs. Rates of this one may have to be measured
};
constexpr auto words(Times) {
  return core::Words<Times>{{Times::none, "none"}, {Times::kernels, "kernels"}, {Times::rates, "rates"}};
}

struct DryRunOptions {
  Level level = Level::O1;  ///< as in `CompileOptions`
  std::size_t budget = 0;   ///< likewise
  Times times = Times::kernels;
  std::size_t most_timed_bytes = std::size_t{1} << 30;  ///< operands of a kernel that is timed
  /// Rates that are taken, for as many threads as the process has. Null: those of this machine. Where none
  /// are kept yet, they are measured when they are first needed, which takes up to five seconds and half a
  /// gigabyte (`rates_of_this_machine`).
  std::shared_ptr<const MachineRates> machine = nullptr;
};

/// The needs of a call of a compiled function, those of branches, loops and calls in it included.
/// Simulations, solvers and functions that contain one are counted; what they need inside of them is not.
struct DryRun {
  /// Bytes in use at the fullest moment, each array with the size that the arena gives it.
  struct Memory {
    std::size_t arguments = 0;   ///< and numbers that the host feeds
    std::size_t parameters = 0;  ///< cells that training changes along their gradients
    std::size_t state = 0;       ///< other cells: moments, statistics, random keys
    std::size_t constants = 0;   ///< captured arrays and numbers, and those that constants were made of;
                                 ///< other programs may share them
    std::size_t block = 0;       ///< all that lives and dies within a call
    std::size_t results = 0;     ///< arrays that leave, new values of cells without the place of the old ones
    /// The part of the block in which the launch with the largest workspace works.
    std::size_t workspace = 0;
    [[nodiscard]] std::size_t cells() const { return parameters + state; }
    [[nodiscard]] std::size_t total() const { return arguments + cells() + constants + block + results; }
  };
  Memory peak;
  std::int64_t n_instructions = 0;  ///< as recorded, views among them
  std::int64_t n_launches = 0;      ///< kernels that a call runs
  std::int64_t n_functions = 0;     ///< calls of what no kernel computes
  std::int64_t n_by_rates = 0;      ///< launches whose time is that of rates
  std::int64_t n_untimed = 0;       ///< launches whose time is not in `ops`
  int n_threads = 1;                ///< on which a launch may run
  std::string machine;              ///< whose rates were taken; empty: no one's
  std::vector<OpProfile> ops;       ///< by op, the longest first, else those that move most

  /// Returns the sum over the launches, s; 0 where none was timed.
  [[nodiscard]] double seconds() const { return total_of(ops).seconds; }
  /// Returns memory, work and the table of the ops, for people.
  [[nodiscard]] std::string text() const;
  /// Returns the same numbers as one JSON object.
  [[nodiscard]] std::string json() const;
};

/// Records f for arguments of these abstract values and makes its plan, but does not run it: no array of it
/// is made but constants. Cells may hold tensors that nobody has asked for yet; they stay so. The memory is
/// that of a call of `compile(f)` from the second on, when cells own their arrays; nothing else that the
/// program holds is in it. The time is the sum of those of its kernels. Each kind of these runs a few times
/// on arrays of numbers between 1/4 and 3/4, or its time follows from rates. Rates fit where times are asked
/// for, for as many threads. Where kernels are timed, they are those of this processor. errors: those of f;
/// those of `rates_of_this_machine` where these are needed; InvalidArgument inside of a transform, for other
/// rates, and with the line where f reads values of arguments or cells.
[[nodiscard]] DryRun dry_run(const Function& f, std::span<const Aval> arguments,
                             const DryRunOptions& options = {},
                             std::source_location where = std::source_location::current());

}  // namespace lodestone::engine
