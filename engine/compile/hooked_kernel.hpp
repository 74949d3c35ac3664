// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the op that a product, a convolution, a norm or a reduction becomes together with
// elementwise ops which make its first operand, or which take its first result.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/tile/tile_program.hpp"

namespace lodestone::engine {

/// A use of an op by its kernel.
struct KernelUse {
  const OpInfo* op;
  AttrsPtr attrs;
  std::vector<Aval> operands, results;
};
[[nodiscard]] std::string attr_text(const KernelUse& value);
[[nodiscard]] std::uint64_t attr_hash(const KernelUse& value);
[[nodiscard]] bool attr_equals(const KernelUse& a, const KernelUse& b);
[[nodiscard]] bool put_on_line(KernelUse& use, const KernelUse& of_second, const Line& line);

/// The programs before and behind a kernel; either may be missing. The first output of `before` is the first
/// operand of the kernel; the first operand of `after` is the first result of the kernel.
struct Hooks {
  cpu_backend::TileProgramPtr before, after;
  bool keeps = true;  ///< the first result of the kernel is one of the op, too
};
[[nodiscard]] std::string attr_text(const Hooks& value);
[[nodiscard]] std::uint64_t attr_hash(const Hooks& value);
[[nodiscard]] bool attr_equals(const Hooks& a, const Hooks& b);
[[nodiscard]] bool put_on_line(Hooks& hooks, const Hooks& of_second, const Line& line);

struct HookedAttrs {
  KernelUse kernel;
  Hooks hooks;
  static auto fields() {
    return std::tuple{Field{"kernel", &HookedAttrs::kernel}, Field{"hooks", &HookedAttrs::hooks}};
  }
};

/// Returns the row of an op with these attributes. Its operands are those of the kernel but for the one that
/// is made, then those of `before`, then the others of `after`. Its results are those of the kernel, the
/// first only if it is kept; then the other outputs of `before`, then those of `after`. The kernel reads
/// elements while they are made, in the order in which it reads the array that is left out. It gives up its
/// own while they lie in the cache, rounded to their dtype: no bit changes.
[[nodiscard]] const OpInfo& hooked_kernel_op();

/// Returns the kernel that computes a use of an op.
[[nodiscard]] inline const Kernel& kernel_of(const KernelUse& use) {
  return use.op->kernel(use.results[0].device, use.operands[0].dtype);
}

/// Returns whether an op is a reduction whose kernel for such an operand can read what is made.
[[nodiscard]] bool can_reduce_what_is_made(const OpInfo& op, const Aval& operand);

}  // namespace lodestone::engine
