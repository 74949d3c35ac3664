// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/pictures.hpp"

#include "engine/compile/cluster.hpp"
#include "engine/compile/passes.hpp"
#include "engine/core/error.hpp"
#include "engine/core/html_page.hpp"
#include "engine/core/markup.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/inspect/dot.hpp"
#include "engine/inspect/memory_pieces.hpp"
#include "engine/inspect/modules.hpp"
#include "engine/inspect/planned_function.hpp"

#include <map>

namespace lodestone::engine {
namespace {

/// Lines of instructions in the modules that they belong to.
struct Branch {
  std::map<std::string, Branch> parts;
  std::vector<std::string> lines;
  std::size_t n_instructions = 0, bytes = 0;  ///< sums, parts included
};

void add(Branch& root, const std::string& module, std::string line, std::size_t bytes) {
  Branch* at = &root;
  for (std::size_t begin = 0; !module.empty() && begin <= module.size();) {
    const std::size_t end = std::min(module.find('.', begin), module.size());
    ++at->n_instructions;
    at->bytes += bytes;
    at = &at->parts[module.substr(begin, end - begin)];
    begin = end + 1;
  }
  ++at->n_instructions;
  at->bytes += bytes;
  at->lines.push_back(std::move(line));
}

std::string html_of(const Branch& branch) {
  std::string text;
  if (!branch.lines.empty()) {
    text += "<pre>";
    for (const std::string& each : branch.lines) text += each + "\n";
    text += "</pre>\n";
  }
  for (const auto& [name, part] : branch.parts)
    text += fmt::format(
        "<details><summary>{}: {} instruction(s), {:.3g} MB of results</summary>\n{}</details>\n",
        core::escaped(name), part.n_instructions, 1e-6 * static_cast<double>(part.bytes), html_of(part));
  return text;
}

std::size_t bytes_of_results(const Program& program, const Instruction& each) {
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < each.n_results; ++i) {
    const Aval& aval = program.values()[each.first_result + i].aval;
    if (aval.kind == Kind::array && each.op->view == nullptr) bytes += aval.bytes();
  }
  return bytes;
}

/// Returns by instruction why elementwise ops behind it do not run with it.
std::map<std::uint32_t, std::string> refusals(const Program& rewritten, std::span<const Strides> inputs) {
  std::vector<RefusedMerge> refused;
  static_cast<void>(clustered(rewritten, inputs, {}, &refused));
  std::map<std::uint32_t, std::string> result;
  for (const RefusedMerge& each : refused) {
    const ValueId user = rewritten.instructions()[each.user].first_result;
    std::string& text = result[each.producer];
    text += fmt::format("{}apart from %{}: {}", text.empty() ? "" : "; ", user, each.why);
  }
  return result;
}

/// Returns by instruction "2048 bytes until %20": results, and the instruction that uses them last.
std::vector<std::string> lifetimes_of(const Program& program) {
  std::vector<std::string> result(program.instructions().size());
  std::vector<std::string> last_use(program.values().size(), "nobody needs");
  for (const Instruction& each : program.instructions()) {
    for (const ValueId id : program.operands(each))
      last_use[id] = fmt::format("until %{}", each.first_result);
  }
  for (const ValueId id : program.outputs()) last_use[id] = "to the end";
  for (std::size_t i = 0; i < result.size(); ++i) {
    const Instruction& each = program.instructions()[i];
    const bool is_view = each.op->view != nullptr;
    if (each.n_results > 0 && !is_view)
      result[i] = fmt::format("{} bytes {}", bytes_of_results(program, each), last_use[each.first_result]);
  }
  return result;
}

std::string tree_of(const Program& program, const std::vector<std::string>& names,
                    const std::map<std::uint32_t, std::string>& notes) {
  const std::vector<std::string> modules = modules_of(program, names);
  const std::vector<std::string> lifetimes = lifetimes_of(program);
  Branch root;
  for (std::uint32_t i = 0; i < modules.size(); ++i) {
    const Instruction& each = program.instructions()[i];
    std::string line = fmt::format("{}  <i>{}  {}</i>", core::escaped(program.text(each)),
                                   core::escaped(place_of(each)), lifetimes[i]);
    if (const auto note = notes.find(i); note != notes.end())
      line += fmt::format("  <b>{}</b>", core::escaped(note->second));
    add(root, modules[i], std::move(line), bytes_of_results(program, each));
  }
  return html_of(root);
}

void add_program(core::HtmlPage& page, const std::string& id, const std::string& heading,
                 const Program& program, const std::vector<std::string>& names,
                 const std::map<std::uint32_t, std::string>& notes = {}) {
  page.heading(id, heading);
  page.paragraph(fmt::format("{} instructions.", program.instructions().size()));
  page.html(tree_of(program, names, notes));
}

void add_stages(core::HtmlPage& page, const PlannedFunction& function,
                const std::vector<std::string>& names) {
  const Plan& plan = *function.plan;
  add_program(page, "recorded", "Recorded", plan.program(), names);
  const auto rewritten = at_stage(plan.program(), function.strides, function.level, Stage::rewritten);
  if (!rewritten) return;
  add_program(page, "rewritten", "Rewritten", *rewritten, names, refusals(*rewritten, function.strides));
  add_program(page, "running", "Running", plan.running(), names);
}

}  // namespace

std::string page(const Function& f, std::span<const Aval> arguments, const PictureOptions& options,
                 std::source_location where) {
  const PlannedFunction function = planned_function(f, arguments, options.level, where);
  const Lowered& lowered = function.plan->lowered();
  core::HtmlPage page;
  add_stages(page, function, function.input_names(options.cells));
  page.heading("planned", "Planned");
  page.html("<pre>" + core::escaped(text(lowered) + text(function.plan->packed())) + "</pre>\n");
  page.heading("memory", "Memory");
  for (std::uint32_t i = 0; i < lowered.blocks.size(); ++i) {
    const Block& block = lowered.blocks[i];
    page.paragraph(
        fmt::format("Block on {}: {} bytes, {} of them in use at the fullest launch. Launches go "
                    "from left to right, bytes upwards.",
                    block.device.text(), block.bytes, block.most_alive));
    page.html(memory_picture(lowered, i));
  }
  return page.text(options.title,
                   fmt::format("{} instructions as recorded, {} launches",
                               function.plan->program().instructions().size(), lowered.launches.size()));
}

std::string dot(const Function& f, std::span<const Aval> arguments, Stage stage,
                const PictureOptions& options, std::source_location where) {
  const PlannedFunction function = planned_function(f, arguments, options.level, where);
  const auto names = function.input_names(options.cells);
  if (stage >= Stage::running) return dot(function.plan->running(), names);
  const auto program = at_stage(function.plan->program(), function.strides, options.level, stage);
  return dot(program ? *program : function.plan->program(), names);
}

}  // namespace lodestone::engine
