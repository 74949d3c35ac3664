// SPDX-License-Identifier: Apache-2.0
// Launches as text.
#include "engine/compile/lower.hpp"
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
    const auto operands = std::span(plan.accesses).subspan(launch.first_access, launch.n_in + launch.n_out);
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

}  // namespace lodestone::engine
