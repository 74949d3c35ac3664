// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/inspect/dry_run.hpp"
#include "engine/record/function.hpp"
#include "engine/record/variable.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::run {

/// A function of tensors and cells that is to be looked at, with arguments to run it on.
struct InspectedFunction {
  std::string title;
  engine::Function f;
  engine::Tensors arguments;
  std::vector<engine::NamedVariable> cells;
};

enum class DumpedArrays : std::uint8_t { none, all };

/// Writes into a folder what the compiler makes of a function (`step.html`, `step.dot`) and what it computes
/// (`values.h5`; with `DumpedArrays::all` whole arrays). Returns a text: the needs of the function, where its
/// numbers stop being finite, and whether both levels give the same bits. `needs`: how they are found.
/// errors: FileError; those of `engine::dry_run`.
[[nodiscard]] std::string write_inspection(const std::filesystem::path& folder,
                                           const InspectedFunction& function,
                                           DumpedArrays arrays = DumpedArrays::none,
                                           const engine::DryRunOptions& needs = {});

/// Returns what differs between two files that `write_inspection` has written. errors: FileError,
/// FormatError; InvalidArgument for other functions.
[[nodiscard]] std::string compare_values(const std::string& a, const std::string& b);

}  // namespace lodestone::io::run
