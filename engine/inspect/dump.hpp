// SPDX-License-Identifier: Apache-2.0
// Dumps keep what a function computed, instruction by instruction, so that two of them can be compared.
#pragma once

#include "engine/compile/level.hpp"
#include "engine/core/array_io.hpp"
#include "engine/inspect/statistics.hpp"
#include "engine/record/function.hpp"
#include "engine/record/variable.hpp"

#include <string>

namespace lodestone::engine {

struct DumpOptions {
  Level level = Level::O0;                ///< on other levels only what leaves a cluster is seen
  bool arrays = false;                    ///< whole arrays as well, under "arrays/<value>"
  std::vector<NamedVariable> cells = {};  ///< names of modules and their variables (`Stateful::variables`)
};

/// A value that was computed. Its number is that in the recorded program, whatever the level.
struct DumpedValue {
  std::int64_t value = 0;
  std::string op, module, place, aval;  ///< as recorded; of an input "input", its name, "" and its type
  ArrayStatistics statistics;
};

/// Runs f once on a level with these arguments and the values of its cells, none of which changes. Of each
/// value, inputs among them, it writes number of elements, min, max, mean, L2 norm, counts of NaN and
/// infinities, and a checksum. errors: those of f and of the sink; InvalidArgument with the line where f
/// reads values of its arguments or cells, and inside of a transform.
void dump(const Function& f, const Tensors& arguments, core::ArraySink& sink, const DumpOptions& options = {},
          std::source_location where = std::source_location::current());

/// Reads the values of a dump in recorded order. errors: FormatError for what is no dump.
[[nodiscard]] std::vector<DumpedValue> dumped_values(const core::ArraySource& source);

/// Returns the name of the array of a value, where whole arrays were dumped.
[[nodiscard]] std::string array_of_value(std::int64_t value);

}  // namespace lodestone::engine
