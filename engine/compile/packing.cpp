// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/packing.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns what the kernel of a launch packs.
Packing packing_of(const Lowered& plan, const Launch& launch, const Kernel& kernel) {
  std::vector<View> views;
  for (const Access& each : plan.operands_of(launch)) views.push_back({nullptr, each.aval, each.strides});
  const std::span<const View> all(views);
  return kernel.packing(
      {*launch.op, launch.attrs, all.first(launch.n_in), all.subspan(launch.n_in), {}, launch.where});
}

/// Returns bytes of a block on a device.
Source reserved(std::vector<Block>& blocks, Device device, std::size_t bytes) {
  auto block = std::ranges::find(blocks, device, &Block::device);
  if (block == blocks.end()) block = blocks.insert(block, {device, 0, 0});
  const auto first = static_cast<std::ptrdiff_t>(block->bytes);
  block->bytes = block->most_alive = block->bytes + detail::taken_by(bytes);
  return {Source::In::block, static_cast<std::uint32_t>(block - blocks.begin()), first};
}

}  // namespace

PackedOperands packed_operands(const Lowered& plan, std::span<const Donor> donors) {
  PackedOperands result;
  for (std::uint32_t number = 0; number < plan.launches.size(); ++number) {
    const Launch& launch = plan.launches[number];
    const std::span<const Access> operands = plan.operands_of(launch);
    if (launch.control != nullptr || launch.n_in == 0) continue;
    const Kernel& kernel = launch.op->kernel(operands[launch.n_in].aval->device, operands[0].aval->dtype);
    if (kernel.packing == nullptr) continue;
    const auto [operand, bytes] = packing_of(plan, launch, kernel);
    if (bytes == 0) continue;
    const Access& access = operands[operand];
    if (access.source.in != Source::In::held) continue;
    const Held& held = plan.held[access.source.of];
    const bool is_donor = std::ranges::find(donors, held.value, &Donor::input) != donors.end();
    const bool is_given = held.from == Held::From::constant || held.from == Held::From::input;
    if (is_given && !is_donor)
      result.all.push_back(
          {number, access.source.of, reserved(result.blocks, access.aval->device, bytes), kernel.pack});
  }
  return result;
}

std::int64_t PackedMemory::update(const PackedOperands& operands, const Tensors& held, LaunchTable& launches,
                                  std::span<std::byte* const> blocks) {
  std::int64_t n_packed = 0;
  seen_.resize(operands.all.size());
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const PackedOperand& each = operands.all[i];
    Seen& seen = seen_[i];
    const std::uint64_t identity = identity_of(held[each.held].node());
    if (seen.identity != identity) {
      seen = {identity, false};
      launches.forget_packed(each.launch);
    } else if (!seen.is_packed) {
      launches.pack(each.launch, each.pack, blocks[each.place.of] + each.place.bytes);
      seen.is_packed = true;
      ++n_packed;
    }
  }
  return n_packed;
}

}  // namespace lodestone::engine
