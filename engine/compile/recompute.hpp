// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: less memory for more work, with the same bits.
#pragma once

#include "engine/compile/live_bytes.hpp"
#include "engine/compile/lower.hpp"
#include "engine/core/error.hpp"

#include <vector>

namespace lodestone::engine {

/// A budget that no choice of recomputation reaches: a matter of the caller, no fault of the compiler.
struct BudgetTooSmall : core::InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// The ways in which a program may forget values at its fullest moment and make them again behind it. It
/// refers to the program, which lives longer.
class Recomputation {
 public:
  /// A value that is there before and behind the fullest moment, made by a kernel without effect.
  struct Candidate {
    ValueId value;
    std::uint32_t instruction;
    std::size_t bytes;
    double work;  ///< rough time of its instruction and of what has to run again for it, ns
  };
  using Forgotten = std::vector<bool>;  ///< by candidate

  /// `level`: what is done to the functions of branches, loops and calls.
  Recomputation(const Program& program, std::span<const Strides> inputs, Level level = Level::O0);

  /// Returns the candidates in the order in which they are made.
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }
  /// Returns the program that makes each of these again, out of what lives at the fullest moment. Each is
  /// made before the first instruction behind that moment which needs it; what nobody needs is left out.
  [[nodiscard]] Program without(const Forgotten& forgotten) const;
  /// Returns the bytes of the blocks of its plan, or more than `most` where they are.
  [[nodiscard]] std::size_t block_bytes(const Program& program,
                                        std::size_t most = std::numeric_limits<std::size_t>::max()) const {
    return engine::block_bytes(program, inputs_, level_, most);
  }
  /// Returns the nanoseconds of a program's instructions, roughly.
  [[nodiscard]] static double work(const Program& program);
  /// Returns the choice with little work whose block has at most `budget` bytes. Segments of candidates that
  /// cost at most so much per byte are forgotten, each but for its last value; of lengths and costs on a
  /// grid, the best one that fits wins, and gives back what it can. errors: BudgetTooSmall that names the
  /// smallest budget for which there is such a choice. source: Chen, Xu, Zhang & Guestrin 2016,
  /// arXiv:1604.06174
  [[nodiscard]] Forgotten within(std::size_t budget) const;

 private:
  struct Item;
  struct Choice {
    Forgotten forgotten;
    double work;  ///< nanoseconds of the program without it
  };
  void find_candidates();
  [[nodiscard]] bool is_repeatable(const Instruction& each) const { return !each.is_effect && !each.op->run; }
  [[nodiscard]] bool is_made_again(ValueId id, const std::vector<bool>& missing) const;
  [[nodiscard]] std::vector<bool> missing(const Forgotten& forgotten) const;
  [[nodiscard]] std::vector<Item> items(const std::vector<bool>& missing) const;
  void leave_out_unneeded(std::vector<Item>& items, const std::vector<bool>& missing) const;
  [[nodiscard]] Forgotten in_segments(double most_work_per_byte, std::size_t bytes) const;
  [[nodiscard]] std::vector<Choice> choices() const;
  [[nodiscard]] std::size_t smallest(const std::vector<Choice>& choices) const;
  [[nodiscard]] Forgotten given_back(Forgotten forgotten, std::size_t budget) const;

  const Program& program_;
  std::vector<Strides> inputs_;
  Level level_;
  std::vector<double> work_;  // by instruction, ns
  LiveBytes lives_;
  std::uint32_t fullest_;
  std::vector<bool> is_gone_;  // by root: made before the fullest moment, needed up to it
  std::vector<Candidate> candidates_;
};

/// Returns a program with the same bits whose plan has blocks of at most `budget` bytes: the program itself
/// where that fits. `level`: as of `Recomputation`. errors: those of `Recomputation::within`.
[[nodiscard]] Program within_budget(Program program, std::span<const Strides> inputs, std::size_t budget,
                                    Level level = Level::O0);

}  // namespace lodestone::engine
