// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/parts.hpp"

#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

const OpInfo& concatenate_op() {
  static const OpInfo& op = op_named("concatenate");
  return op;
}

/// Returns whether the parts of a concatenation of this shape lie one behind the other.
bool is_row_after_row(const Shape& shape, int axis) {
  return std::all_of(shape.begin(), shape.begin() + axis, [](Dim extent) { return extent == 1; });
}

/// The place of a value in another.
struct Standing {
  ValueId whole;
  std::int64_t offset = 0;
};

}  // namespace

std::size_t put_parts_in_place(const Program& program, const FreeResults& results,
                               std::vector<std::uint32_t>& roots, std::vector<Look>& looks) {
  std::vector<Standing> standing;
  for (ValueId id = 0; id < roots.size(); ++id) standing.push_back({id});
  std::size_t n_parts = 0;
  for (std::uint32_t number = 0; number < program.instructions().size(); ++number) {
    const Instruction& each = program.instructions()[number];
    const ValueId whole = each.first_result;
    if (each.op != &concatenate_op() ||
        !is_row_after_row(program.values()[whole].aval.shape, attrs_as<AxisAttrs>(*each.attrs).axis))
      continue;
    const std::span<const ValueId> operands = program.operands(each);
    std::int64_t offset = 0;
    for (const ValueId operand : operands) {
      const ValueId root = roots[operand];
      const Aval &aval = program.values()[operand].aval, &of_root = program.values()[root].aval;
      const auto looks_there = [&](ValueId other) { return roots[other] == root; };
      const bool is_whole_root = looks[operand].offset == 0 && looks[operand].is_contiguous(aval.shape) &&
                                 aval.count() == of_root.count() && aval.dtype == of_root.dtype;
      if (results.is_free[root] && standing[root].whole == root && is_whole_root && aval.count() > 0 &&
          results.segment[program.values()[root].of] == results.segment[number] &&
          std::ranges::count_if(operands, looks_there) == 1) {
        standing[root] = {whole, offset};
        ++n_parts;
      }
      offset += aval.count();
    }
  }
  if (n_parts == 0) return 0;
  for (ValueId id = static_cast<ValueId>(roots.size()); id-- > 0;) {  // a whole comes after its parts
    const Standing& outer = standing[standing[id].whole];
    standing[id] = {outer.whole, standing[id].offset + outer.offset};
  }
  for (ValueId id = 0; id < roots.size(); ++id) {
    looks[id].offset += standing[roots[id]].offset;
    roots[id] = standing[roots[id]].whole;
  }
  return n_parts;
}

bool stands_in_place(const Lowered& plan, const Launch& launch, std::size_t operand) {
  if (launch.op != &concatenate_op()) return false;
  const std::span<const Access> all = plan.operands_of(launch);
  const Access &part = all[operand], &whole = all[launch.n_in];
  if (!is_row_after_row(whole.aval->shape, attrs_as<AxisAttrs>(*launch.attrs).axis)) return false;
  std::ptrdiff_t before = 0;
  for (const Access& each : all.first(operand)) before += static_cast<std::ptrdiff_t>(each.aval->bytes());
  return part.source.in == whole.source.in && part.source.of == whole.source.of &&
         part.source.bytes == whole.source.bytes + before &&
         same_steps(part.aval->shape, *part.strides, contiguous_strides(part.aval->shape));
}

double bytes_moved(const Lowered& plan, const Launch& launch) {
  double bytes = 0.0;
  for (const Access& each : plan.operands_of(launch)) bytes += bytes_of_elements(*each.aval, *each.strides);
  for (std::size_t i = 0; i < launch.n_in; ++i) {
    const auto of_part = static_cast<double>(plan.operands_of(launch)[i].aval->bytes());
    if (stands_in_place(plan, launch, i)) bytes -= 2.0 * of_part;
  }
  return bytes;
}

}  // namespace lodestone::engine
