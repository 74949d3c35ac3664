// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/launch_table.hpp"

#include "engine/compile/control_run.hpp"
#include "engine/dispatch/kernel_run.hpp"

#include <memory>

namespace lodestone::engine {

struct LaunchTable::Call {
  void (*run)(const KernelCall&);
  KernelCall call;
  std::unique_ptr<ControlRun> control = {};  ///< set: it runs, not a kernel
};

LaunchTable::LaunchTable(const Lowered& lowered, std::span<std::byte* const> blocks) : lowered_(lowered) {
  const auto in_block = [&](const Source& source) {
    return source.in == Source::In::block ? blocks[source.of] + source.bytes : nullptr;
  };
  for (const Access& each : lowered.accesses)
    views_.push_back({in_block(each.source), each.aval, each.strides});
  for (const Launch& each : lowered.launches) {
    const std::span<const View> all = std::span(views_).subspan(each.first_access, each.n_in + each.n_out);
    const bool has_scratch = each.workspace.shared + each.workspace.per_thread > 0;
    const Scratch scratch(has_scratch ? in_block(each.scratch) : nullptr, each.workspace, lowered.n_threads);
    calls_.push_back(
        {each.run,
         {*each.op, each.attrs, all.first(each.n_in), all.subspan(each.n_in), scratch, each.where}});
    if (each.control != nullptr)
      calls_.back().control = std::make_unique<ControlRun>(*each.control, scratch.shared());
  }
  for (std::uint32_t i = 0; i < lowered.held.size(); ++i) {
    const Value& value = lowered.program->values()[lowered.held[i].value];
    if (value.from == Value::From::constant) hold(i, lowered.program->constants()[value.of]);
  }
}

LaunchTable::~LaunchTable() = default;

void LaunchTable::replace_attrs(std::uint32_t launch, const Attrs& attrs) {
  calls_[launch].call.attrs = &attrs;
}

void LaunchTable::pack(std::uint32_t launch, void (*by)(const KernelCall&, std::byte* to), std::byte* to) {
  KernelCall& call = calls_[launch].call;
  by(call, to);
  call.packed = to;
}
void LaunchTable::forget_packed(std::uint32_t launch) { calls_[launch].call.packed = nullptr; }

void LaunchTable::run(std::uint32_t launch) const {
  const Call& each = calls_[launch];
  if (each.control != nullptr) return each.control->run(each.call.in, each.call.out);
  try {
    each.run(each.call);
  } catch (const core::ShapeError& error) {
    rethrow_with_place(error, each.call.op, *each.call.out[0].aval, each.call.where);
  }
}

std::span<const View> LaunchTable::results(std::uint32_t launch) const { return calls_[launch].call.out; }

}  // namespace lodestone::engine
