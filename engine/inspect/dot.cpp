// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/dot.hpp"

#include "engine/core/json_text.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/inspect/modules.hpp"

#include <fmt/format.h>

#include <map>

namespace lodestone::engine {
namespace {

std::string node_of(const Program& program, std::size_t number) {
  const Instruction& each = program.instructions()[number];
  const std::string result = each.n_results > 0 ? program.values()[each.first_result].aval.text() : "";
  return fmt::format("    i{} [label={}];\n", number,
                     core::json_quoted(fmt::format("{}\n{}\n{}", each.op->title_of(each.attrs.get()), result,
                                                   place_of(each))));
}

/// Returns the name of the node that makes a value.
std::string source_of(const Program& program, ValueId id) {
  const Value& value = program.values()[id];
  const char kind = value.from == Value::From::result ? 'i' : value.from == Value::From::input ? 'x' : 'c';
  return fmt::format("{}{}", kind, value.of);
}

std::string edges_of(const Program& program) {
  std::string text;
  for (std::size_t i = 0; i < program.instructions().size(); ++i) {
    for (const ValueId id : program.operands(program.instructions()[i]))
      text += fmt::format("  {} -> i{};\n", source_of(program, id), i);
  }
  for (std::size_t i = 0; i < program.outputs().size(); ++i)
    text += fmt::format("  y{} [shape=plaintext, label=\"result {}\"];\n  {} -> y{};\n", i, i,
                        source_of(program, program.outputs()[i]), i);
  return text;
}

}  // namespace

std::string dot(const Program& program, const std::vector<std::string>& input_names) {
  std::string text = "digraph program {\n  node [shape=box, fontname=\"monospace\"];\n";
  for (std::size_t i = 0; i < program.n_inputs(); ++i)
    text += fmt::format("  x{} [shape=plaintext, label={}];\n", i, core::json_quoted(input_names[i]));
  for (const Value& each : program.values()) {
    if (each.from == Value::From::constant)
      text += fmt::format("  c{} [shape=plaintext, label=\"constant {}\"];\n", each.of, each.aval.text());
  }
  const std::vector<std::string> modules = modules_of(program, input_names);
  std::map<std::string, std::string> of_module;
  for (std::size_t i = 0; i < modules.size(); ++i) of_module[modules[i]] += node_of(program, i);
  std::size_t n_boxes = 0;
  for (const auto& [module, nodes] : of_module) {
    if (module.empty())
      text += nodes;
    else
      text += fmt::format("  subgraph cluster_{} {{\n    label={};\n{}  }}\n", n_boxes++,
                          core::json_quoted(module), nodes);
  }
  return text + edges_of(program) + "}\n";
}

}  // namespace lodestone::engine
