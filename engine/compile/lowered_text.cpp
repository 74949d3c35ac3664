// SPDX-License-Identifier: Apache-2.0
// Launches as text.
#include "engine/compile/packing.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/op_info.hpp"

namespace lodestone::engine {
namespace {

std::string text_of(const Source& source) {
  return fmt::format("{} {} at {}", source.in == Source::In::block ? "block" : "array", source.of,
                     source.bytes);
}

}  // namespace

std::string text(const Lowered& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    const auto operands = plan.operands_of(launch);
    text += fmt::format("{}: {} {}", i, launch.op->title_of(launch.attrs), at_line(launch.where));
    for (std::size_t k = 0; k < operands.size(); ++k)
      text += fmt::format("{} {} {}",
                          k == launch.n_in ? " ->"
                          : k == 0         ? ""
                                           : ",",
                          operands[k].aval->text(), text_of(operands[k].source));
    text += "\n";
  }
  return text;
}

std::string text(const PackedOperands& packed) {
  std::string text;
  for (const PackedOperand& each : packed.all)
    text += fmt::format("launch {} finds array {} packed\n", each.launch, each.held);
  for (const Block& each : packed.blocks)
    text += fmt::format("packed arrays take {} bytes on {}\n", each.bytes, each.device.text());
  return text;
}

}  // namespace lodestone::engine
