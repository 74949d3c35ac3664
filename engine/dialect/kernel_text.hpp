// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: what the text of a kernel says.
#pragma once

#include "engine/record/tensor.hpp"

#include <bitset>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::engine {

/// The formulas of a kernel in single assignment.
struct KernelText {
  static constexpr std::size_t most_axes = 8;  // of all arrays together
  using AxisSet = std::bitset<most_axes>;
  using Reduction = Tensor (*)(const Tensor& x, const Axes& axes);  ///< keeps the axes, with extent 1
  using TermId = std::size_t;

  struct Array {
    std::string name;
    std::vector<int> axes;  ///< numbers of axes, in its own order
  };
  /// A value: what each kind needs of this is set.
  struct Term {
    enum class Is : std::uint8_t { argument, number, extent, op, reduction };
    Is is;
    AxisSet axes{};  ///< along which it is not one number
    double number = 0.0;
    std::size_t of = 0;  ///< number of the argument, or of the axis
    const OpInfo* op = nullptr;
    Reduction reduce = nullptr;
    AxisSet reduced{};
    std::vector<TermId> in{};
  };

  std::string name;
  std::vector<std::string> axes;
  std::vector<Array> arguments, results;
  std::vector<Term> terms;    ///< each behind those that it is made of
  std::vector<TermId> given;  ///< by result

  /// Returns "x[n, k]".
  [[nodiscard]] std::string signature(const Array& array) const;
};

/// Reads a text. errors: InvalidArgument with the column, counted from 1, what was expected and what came.
[[nodiscard]] KernelText parsed_kernel(std::string_view text);

}  // namespace lodestone::engine
