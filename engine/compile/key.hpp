// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what a plan was made for.
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/record/host_state.hpp"

#include <optional>
#include <span>

namespace lodestone::engine {

/// Everything that decides on the plan of a call.
struct Key {
  struct Input {
    Aval aval;
    Strides strides;  ///< those of arrays; kernels may add in the order of memory
  };
  std::vector<Input> inputs;  ///< arguments, then cells
  std::size_t n_arguments = 0;
  std::string form;                 ///< all else that a function on trees was given
  int n_threads = 0;                ///< that workspaces have room for
  std::vector<HostChoice> choices;  ///< that the function met

  /// Returns the key of a call now; inputs are evaluated.
  [[nodiscard]] static Key of(std::span<const Tensor> inputs, std::size_t n_arguments, std::string form,
                              std::vector<HostChoice> choices);
  /// Returns true if threads, choices and these inputs, from input `first` on, are those of the key.
  [[nodiscard]] bool fits_process() const;
  [[nodiscard]] bool fits(std::span<const Tensor> inputs, std::size_t first) const;
  [[nodiscard]] std::vector<Strides> strides() const;

  /// Returns how the key of a call now differs first, in words; nothing if it does not.
  [[nodiscard]] std::optional<Recompile> difference(const Key& now, const std::source_location& where) const;

 private:
  [[nodiscard]] bool fits_choices() const;
};

}  // namespace lodestone::engine
