// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what the compiler does to a program, step by step.
#pragma once

#include "engine/compile/donation.hpp"
#include "engine/compile/level.hpp"
#include "engine/compile/rewrite.hpp"

#include <exception>

namespace lodestone::engine {

/// A step of the compiler, for inputs with such strides, and outputs that may take the memory of inputs. It
/// gives a program with the same bits, which is verified as every program.
struct Pass {
  std::string_view name;
  Stage gives;
  Program (*run)(const Program& program, std::span<const Strides> inputs, std::span<const Donor> donors);
  bool follows_budget = false;  ///< runs, with a budget, on what recomputation gives, if that then fits
};

/// Returns the passes of a level, in their order.
[[nodiscard]] std::span<const Pass> passes_of(Level level);

/// Passes over a fault of a part of the compiler, with a warning the first time: a fault costs time and no
/// result. Call it where the error is caught. errors: that error, with `LODESTONE_COMPILE=must` in the
/// environment.
void forgive(std::string_view part, const std::exception& error);

/// Returns a program after the passes; none where there are none. `inputs`: strides of what it will run on.
/// `donors`: outputs that may take the memory of inputs. A pass that fails, by whatever exception, is a fault
/// of the compiler, not of the user: then none of them counts, the program runs as it was recorded, and the
/// fault is forgiven. errors: those of lowering the program as it is.
[[nodiscard]] std::optional<Program> after(const Program& program, std::span<const Strides> inputs,
                                           std::span<const Pass> passes, std::span<const Donor> donors = {});

/// Returns a program after the liberties of fast mode, with their numbers; none where that fails, as above.
[[nodiscard]] std::optional<Rewritten> with_liberties(const Program& program);

/// Returns a program as the passes of a level leave it at a stage; none where none of them comes before it.
[[nodiscard]] std::optional<Program> at_stage(const Program& program, std::span<const Strides> inputs,
                                              Level level, Stage stage);

}  // namespace lodestone::engine
