// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/donation.hpp"

#include "engine/compile/control_plan.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::engine {
namespace {

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

std::span<const Access> inputs_of(const Lowered& lowered, const Launch& launch) {
  return std::span(lowered.accesses).subspan(launch.first_access, launch.n_in);
}
std::span<const Access> outputs_of(const Lowered& lowered, const Launch& launch) {
  return std::span(lowered.accesses).subspan(launch.first_access + launch.n_in, launch.n_out);
}
bool is_of(const Access& access, std::uint32_t held) {
  return access.source.in == Source::In::held && access.source.of == held;
}

/// Returns whether oneDNN may compute a launch: it may refuse to when a part of the output is written.
bool may_be_by_onednn(const Launch& launch, const Access& in, const Access& out) {
  const DType dtype = in.aval->dtype;
  return &launch.op->kernel(out.aval->device, dtype) == &launch.op->kernel_of(Backend::onednn, dtype);
}

/// Returns whether a kernel may throw: for indices out of range, for matrices without a factorization, for
/// extents that a library does not take, and because a library refuses.
bool may_fail(const Lowered& lowered, const Launch& launch) {
  if (launch.control != nullptr) {
    return std::ranges::any_of(launch.control->bodies(), [](const ControlPlan::BodyPtr& body) {
      const auto fails = [&](const Launch& inside) { return may_fail(body->lowered(), inside); };
      return std::ranges::any_of(body->lowered().launches, fails);
    });
  }
  const std::span<const Access> in = inputs_of(lowered, launch), out = outputs_of(lowered, launch);
  if (launch.op->checks_values || may_be_by_onednn(launch, (in.empty() ? out : in)[0], out[0])) return true;
  const auto is_large = [](const Access& each) {
    return each.aval->count() > std::numeric_limits<std::int32_t>::max();
  };
  switch (launch.op->op_class) {
    case OpClass::elementwise:
    case OpClass::reduction:
    case OpClass::window:
    case OpClass::scan:
    case OpClass::random:
    case OpClass::movement:
      return false;
    case OpClass::product:
      return std::ranges::any_of(in, is_large) || std::ranges::any_of(out, is_large);
    default:
      return true;
  }
}

/// Returns the first launch from which on nothing can fail, functions included.
std::uint32_t first_safe_launch(const Lowered& lowered) {
  const std::uint32_t last_start = lowered.segments.back().first_launch;
  auto first = static_cast<std::uint32_t>(lowered.launches.size());
  while (first > last_start && !may_fail(lowered, lowered.launches[first - 1])) --first;
  return first;
}

/// Returns whether somebody else may keep a tensor: a function that takes it, or the caller.
bool leaves(const Lowered& lowered, std::uint32_t held) {
  const auto looks_at_it = [&](const Given& each) { return each.held == held; };
  return std::ranges::any_of(lowered.outputs, looks_at_it) ||
         std::ranges::any_of(lowered.segments, [&](const Segment& each) {
           return each.call && std::ranges::any_of(each.call->operands, looks_at_it);
         });
}

/// Returns whether a launch that writes an output may do so in the place of this input.
bool writes_in_place(const Lowered& lowered, const Launch& launch, std::uint32_t input,
                     std::uint32_t output) {
  const std::span<const Access> in = inputs_of(lowered, launch);
  const std::span<const Access> out = outputs_of(lowered, launch);
  const auto reads = [&](const Access& each) { return is_of(each, input); };
  const auto writes = [&](const Access& each) { return is_of(each, output); };
  const auto read = std::ranges::find_if(in, reads), written = std::ranges::find_if(out, writes);
  const auto from = static_cast<std::size_t>(read - in.begin()),
             to = static_cast<std::size_t>(written - out.begin());
  const bool may = launch.control != nullptr ? launch.control->writes_over(from, to)
                                             : launch.op->kernel(written->aval->device, in[0].aval->dtype)
                                                   .may_write_over(launch.attrs, from, to);
  return may && std::ranges::count_if(in, reads) == 1 && read->source.bytes == 0 &&
         read->aval->bytes() == written->aval->bytes() &&
         same_steps(read->aval->shape, *read->strides, *written->strides);
}

/// The launches that are last to read and first to write what is held.
struct Uses {
  std::vector<std::uint32_t> last_read, writer;  ///< by held tensor
  explicit Uses(const Lowered& lowered)
      : last_read(lowered.held.size(), never), writer(lowered.held.size(), never) {
    const auto note = [](std::vector<std::uint32_t>& list, std::span<const Access> of, std::uint32_t launch) {
      for (const Access& each : of) {
        if (each.source.in == Source::In::held) list[each.source.of] = launch;
      }
    };
    const auto n = static_cast<std::uint32_t>(lowered.launches.size());
    for (std::uint32_t i = 0; i < n; ++i) note(last_read, inputs_of(lowered, lowered.launches[i]), i);
    for (std::uint32_t i = n; i-- > 0;) note(writer, outputs_of(lowered, lowered.launches[i]), i);
  }
};

bool replaces(const Program& program, const Lowered& lowered, const Donor& donor, const Uses& uses) {
  const auto& [input, output] = donor;
  const Given& out = lowered.outputs[output];
  const Aval& before = program.values()[input].aval;
  const std::uint32_t writer = uses.writer[out.held], last_read = uses.last_read[input];
  const bool is_whole =
      lowered.held[out.held].value == out.value && before == program.values()[out.value].aval;
  if (!is_whole || writer == never || !lowered.looks[input].is_contiguous(before.shape)) return false;
  return last_read == never || last_read < writer ||
         (last_read == writer && writes_in_place(lowered, lowered.launches[writer], input, out.held));
}

}  // namespace

bool replaces(const Program& program, const Lowered& lowered, const Donor& donor) {
  return replaces(program, lowered, donor, Uses(lowered));
}

std::vector<Donation> donations(const Program& program, const Lowered& lowered,
                                std::span<const Donor> donors) {
  const Uses uses(lowered);
  const std::uint32_t first_safe = first_safe_launch(lowered);
  std::vector<bool> is_taken(lowered.held.size(), false);
  std::vector<Donation> result;
  for (const Donor& each : donors) {
    const std::uint32_t held = lowered.outputs[each.output].held;
    if (is_taken[held] || !replaces(program, lowered, each, uses)) continue;
    if (uses.writer[held] < first_safe || leaves(lowered, each.input)) continue;
    is_taken[held] = true;
    result.push_back({each.input, held});
  }
  return result;
}

}  // namespace lodestone::engine
