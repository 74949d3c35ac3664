// SPDX-License-Identifier: Apache-2.0
// Small on purpose: loops of kernels, and what merges them, share it.
// The function of one element of an op, as a loop and as text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lodestone::engine {

/// Two loops over a row-major output without gaps: `rows` rows of `length` elements, and how far an input's
/// elements and rows are apart.
struct Plane {
  static constexpr std::size_t most_inputs = 3;
  std::int64_t rows, length;
  std::array<std::int64_t, most_inputs> step{}, row_step{};
};
using PlaneInputs = std::array<const std::byte*, Plane::most_inputs>;
/// Runs a plane from the first elements of output and inputs. The output may be the place of an input whose
/// elements lie as those of the output do.
using PlaneFn = void (*)(const Plane& plane, std::byte* out, const PlaneInputs& in);

/// The function that an elementwise kernel applies to each element of one dtype.
struct LoopBody {
  PlaneFn (*fn)();  ///< returns the loop for the instruction set in use
  int n_inputs;
  double ns;              ///< per element, roughly
  std::string_view text;  ///< function as C++: of x, or a and b, or c, a and b; T is their type, To that of
                          ///< the result
  /// For a function of x that vectorizes for usual arguments only: the condition, and the same function of
  /// those, as C++.
  struct Usual {
    std::string_view condition, text;
  };
  Usual usual = {};
};

/// The function that a reduction applies to each row of up to `longest` elements of one dtype.
struct RowBody {
  /// Combines n elements to one, for each of some rows which lie one behind the other.
  void (*fn)(const std::byte* x, std::int64_t n_rows, std::int64_t n, std::byte* out);
  std::int64_t longest;
  double ns;               ///< per element, roughly
  std::string_view text;   ///< function that combines two elements a and b, as C++
  std::string_view start;  ///< value that is combined with those of a row in the end, as C++; T: its type
};

/// An array as tiles see it: the address of its first element, and how far the next row and element are. A
/// row is one element where none are combined.
struct TilePlace {
  std::byte* data;
  std::int64_t bytes_per_row, step;
};
/// Computes the outputs of an expression from row `first` of the space on, n of them with `length` elements
/// each. `in`: operands, numbers, then random words. An output may be the place of an operand whose elements
/// lie as its own do.
using ExprFn = void (*)(std::int64_t first, std::int64_t n, std::int64_t length, const TilePlace* in,
                        const TilePlace* out);

}  // namespace lodestone::engine
