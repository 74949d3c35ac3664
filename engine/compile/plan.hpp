// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compile/donation.hpp"
#include "engine/compile/generated.hpp"
#include "engine/compile/level.hpp"
#include "engine/compile/packing.hpp"

#include <atomic>
#include <memory>
#include <mutex>

namespace lodestone::engine {

/// Looks on while a plan runs. It is told of every instruction that a kernel or a function computes, in the
/// order in which they run; views show what was there before.
class Watcher {
 public:
  virtual ~Watcher() = default;
  /// The instruction is about to run.
  virtual void begin(const Instruction& instruction) { static_cast<void>(instruction); }
  /// The instruction has run. Its results, in order, are row-major, and valid during this call.
  virtual void end(const Instruction& instruction, std::span<const View> results) = 0;
};

/// A program that runs again and again: kernels, addresses and memory are decided once. A run looks nothing
/// up and asks for memory for its results only; all else lies in one block per device, which stays. The bits
/// are those of an eager run on every level. Threads may run a plan at once: each run has a block to itself.
class Plan {
 public:
  /// `inputs`: strides of what it will run on, because some kernels add in the order of memory. The number of
  /// threads is that of now. `donors`: outputs that may take the memory of inputs. `jit` makes functions of
  /// its clusters, and lives longer. `budget`: bytes that its blocks may take, 0 without a limit; within one,
  /// kernels pack weights in every run. errors: those of `OpInfo::kernel` and `within_budget`.
  Plan(Program program, std::span<const Strides> inputs, Level level = Level::O0,
       std::vector<Donor> donors = {}, HostJit& jit = HostJit::none(), std::size_t budget = 0);
  /// Makes a plan of what the level has made of the program already. `like`: a plan of the same function for
  /// larger arrays, whose memory runs of both share where it has room; null for none.
  Plan(Program program, std::optional<Program> optimized, std::span<const Strides> inputs, Level level,
       std::vector<Donor> donors, HostJit& jit, const Plan* like, bool packs = true);
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Returns the outputs, evaluated. Inputs are used where they are. `given_up`, one mark per donation: true
  /// where nobody but the caller holds the input, whose memory an output then takes. errors: InvalidArgument
  /// for other inputs than it was made for, or more threads; those of the kernels, with op and line, and of
  /// functions. `watcher`: is told of each instruction; null for nobody.
  [[nodiscard]] Tensors run(std::span<const Tensor> inputs, std::span<const std::uint8_t> given_up = {},
                            Watcher* watcher = nullptr) const;

  [[nodiscard]] const Program& program() const { return program_; }
  /// Returns the program that runs: what the level has made of the other.
  [[nodiscard]] const Program& running() const { return optimized_ ? *optimized_ : program_; }
  /// Returns the number of kernels that a run calls: one per instruction that runs but for views and
  /// functions, and one per copy; those of bodies as often as they run, of a branch those of the longer one.
  [[nodiscard]] std::int64_t n_launches() const;
  /// Returns the number of operands that a run copies first, because they have gaps.
  [[nodiscard]] std::int64_t n_copies() const;
  /// Returns the number of kernels that are functions made of text by now.
  [[nodiscard]] std::int64_t n_by_text() const { return generated_.n_ready(); }
  /// Returns the C++ of the clusters that have one.
  [[nodiscard]] std::string generated_text() const;
  /// Returns the strides of the inputs that it was made for.
  [[nodiscard]] std::vector<Strides> input_strides() const;
  /// Returns what a run does.
  [[nodiscard]] const Lowered& lowered() const { return lowered_; }
  [[nodiscard]] const std::vector<Donor>& donors() const { return donors_; }
  /// Returns those of the donors whose memory can be used.
  [[nodiscard]] const std::vector<Donation>& donations() const { return donations_; }
  /// Returns the weights that are packed once.
  [[nodiscard]] const PackedOperands& packed() const { return packed_; }
  /// Returns how often they have been packed.
  [[nodiscard]] std::int64_t n_packed() const { return n_packed_; }
  /// Returns the memory of a run beside its inputs and results.
  [[nodiscard]] std::vector<Block> all_blocks() const;
  /// Returns the bytes of it.
  [[nodiscard]] std::size_t block_bytes() const;
  /// Returns those of what lives at the fullest launch: no place in memory saves more.
  [[nodiscard]] std::size_t most_alive_bytes() const;

 private:
  struct Instance;
  struct Room;
  struct Memory;
  class Run;
  void check(std::span<const Tensor> inputs) const;
  [[nodiscard]] std::unique_ptr<Room> new_room() const;
  [[nodiscard]] std::unique_ptr<Room> take() const;

  std::uint64_t number_;
  Program program_;
  std::optional<Program> optimized_;
  Lowered lowered_;
  GeneratedLaunches generated_;
  PackedOperands packed_;
  std::vector<Donor> donors_;
  std::vector<Donation> donations_;
  std::vector<std::uint32_t> donation_of_;  ///< by held tensor; past the donations for none
  std::shared_ptr<Memory> memory_;
  mutable std::atomic<std::int64_t> n_packed_{0};
};

/// Makes a plan as `Plan` does. A fault of the compiler, met by the passes or found by the verifier, is
/// forgiven (`passes.hpp`): then it is a plan of the program as it was recorded, without donors. errors:
/// those of `Plan` that come from the program or the budget.
[[nodiscard]] std::shared_ptr<const Plan> plan_or_recorded(const Program& program,
                                                           std::span<const Strides> inputs, Level level,
                                                           std::vector<Donor> donors, HostJit& jit,
                                                           std::size_t budget = 0);

/// Returns what a level and a budget make of a program, where it is another; see `Plan`. Passes that let
/// values live longer run on what recomputation gives, where the result keeps to the budget.
[[nodiscard]] std::optional<Program> optimized(const Program& program, std::span<const Strides> inputs,
                                               Level level, std::span<const Donor> donors,
                                               std::size_t budget);

}  // namespace lodestone::engine
