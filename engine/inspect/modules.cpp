// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/modules.hpp"

#include "engine/graph/op_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace lodestone::engine {
namespace {

/// The module that a value belongs to, and whether it is a cell of it.
struct Origin {
  std::string module;
  bool is_cell = false;
};

/// Returns what stands before the last point: "encoder.0" of "encoder.0.weight".
std::string module_of_cell(const std::string& name) {
  const std::size_t point = name.rfind('.');
  return point == std::string::npos ? "" : name.substr(0, point);
}

/// Returns that of the first cell among the operands, or else of the first operand with a module.
Origin origin_of(std::span<const ValueId> operands, const std::vector<Origin>& of_value) {
  const auto is_cell = [&](ValueId id) { return of_value[id].is_cell && !of_value[id].module.empty(); };
  const auto has_module = [&](ValueId id) { return !of_value[id].module.empty(); };
  auto found = std::ranges::find_if(operands, is_cell);
  if (found == operands.end()) found = std::ranges::find_if(operands, has_module);
  return found == operands.end() ? Origin() : of_value[*found];
}

}  // namespace

std::vector<std::string> modules_of(const Program& program, const std::vector<std::string>& input_names) {
  std::vector<Origin> of_value(program.values().size());
  for (std::size_t i = 0; i < input_names.size(); ++i)
    of_value[i] = {module_of_cell(input_names[i]), input_names[i].find('.') != std::string::npos};
  std::vector<std::string> modules;
  for (const Instruction& each : program.instructions()) {
    Origin origin = origin_of(program.operands(each), of_value);
    origin.is_cell = origin.is_cell && each.op->view != nullptr;
    modules.push_back(origin.module);
    for (std::uint32_t i = 0; i < each.n_results; ++i) of_value[each.first_result + i] = origin;
  }
  return modules;
}

std::string place_of(const Instruction& instruction) {
  return fmt::format("{}:{}", std::filesystem::path(instruction.where.file_name()).filename().string(),
                     instruction.where.line());
}

}  // namespace lodestone::engine
