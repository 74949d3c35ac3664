// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: weights that a plan only reads, in the order that their kernels want, packed once.
#pragma once

#include "engine/compile/donation.hpp"
#include "engine/compile/launch_table.hpp"

namespace lodestone::engine {

/// An operand of a launch that is packed before it runs.
struct PackedOperand {
  std::uint32_t launch;
  std::uint32_t held;  ///< number of the held tensor that it is
  Source place;        ///< in the blocks of the list
  void (*pack)(const KernelCall&, std::byte* to);
};

/// The packed operands of a plan, and the memory that they lie in.
struct PackedOperands {
  std::vector<PackedOperand> all;
  std::vector<Block> blocks;
};

/// Finds the operands that kernels pack and that runs may find unchanged: inputs without gaps whose memory no
/// output takes, and constants. Launches of bodies pack theirs whenever they run.
[[nodiscard]] PackedOperands packed_operands(const Lowered& plan, std::span<const Donor> donors);

/// Returns the operands, one per line, and the bytes that they take.
[[nodiscard]] std::string text(const PackedOperands& packed);

/// The packed operands in one memory. An operand that two runs in a row find there is packed, once; the
/// kernel packs what changes from run to run by itself.
class PackedMemory {
 public:
  /// Makes launches find what is packed for these tensors, and returns how many it has packed now. `blocks`:
  /// addresses of the blocks of the list.
  std::int64_t update(const PackedOperands& operands, const Tensors& held, LaunchTable& launches,
                      std::span<std::byte* const> blocks);
  /// Forgets what is packed.
  void clear() { seen_.clear(); }

 private:
  struct Seen {
    std::uint64_t identity = 0;
    bool is_packed = false;
  };
  std::vector<Seen> seen_;  ///< by operand
};

}  // namespace lodestone::engine
