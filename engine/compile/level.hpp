// SPDX-License-Identifier: Apache-2.0
// Small on purpose: options, passes and plans share it.
#pragma once

#include <cstdint>

namespace lodestone::engine {

/// Work that is done on a program before it runs. No level changes which function computes an element, nor
/// the order in which numbers are added: all of them give the bits of an eager run. Memory is planned for
/// whole steps on both. Budgets, symbolic axes and generated text are options (docs/decisions/017).
enum class Level : std::uint8_t {
  O0,  ///< every op as it was recorded
  O1   ///< ops that change nothing go; elementwise ops on arrays of one shape, and reductions, run as one
};

/// The bits of a compiled function: those of an eager run, or others where these take less time.
enum class Exactness : std::uint8_t {
  strict,
  fast  ///< takes the liberties of docs/engine/compile.md, each of which is counted and has a bound on its
        ///< error
};

enum class Stage : std::uint8_t {
  recorded,   ///< a program as it was recorded
  rewritten,  ///< without the ops that change nothing
  merged,     ///< elementwise ops and reductions as clusters, before these join kernels
  running,    ///< the program that a level has made of it
  planned,    ///< the launches that run it, with the places of operands and results
  generated   ///< clusters of that as C++, where they have such text
};

}  // namespace lodestone::engine
