// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/parts.hpp"

#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"

#include <algorithm>
#include <limits>

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

/// The place of a value in another, and the instruction that writes the first of its parts.
struct Standing {
  ValueId whole;
  std::uint32_t first_written;
  std::int64_t offset = 0;
};

/// Returns the last instructions that read values, by root; past all where none does.
std::vector<std::uint32_t> last_reads(const Program& program, const std::vector<std::uint32_t>& roots) {
  std::vector<std::uint32_t> result(roots.size(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t number = 0; number < program.instructions().size(); ++number) {
    for (const ValueId id : program.operands(program.instructions()[number])) result[roots[id]] = number;
  }
  return result;
}

/// Finds the parts of concatenations.
class Parts {
 public:
  Parts(const Program& program, const FreeResults& results, const std::vector<std::uint32_t>& roots,
        const std::vector<Look>& looks)
      : program_(program),
        results_(results),
        roots_(roots),
        looks_(looks),
        last_reads_(last_reads(program, roots)) {
    for (ValueId id = 0; id < roots.size(); ++id) {
      const Value& value = program.values()[id];
      standing_.push_back({id, value.from == Value::From::result ? value.of : 0});
    }
  }
  void add(std::uint32_t number);
  [[nodiscard]] std::size_t n_parts() const { return n_parts_; }
  /// Returns for each root the outermost whole that it stands in, and where.
  [[nodiscard]] std::vector<Standing> outermost() const;

 private:
  [[nodiscard]] const Aval& aval(ValueId id) const { return program_.values()[id].aval; }
  /// Returns the root of the memory in which a value lies, as far as is known now.
  [[nodiscard]] ValueId memory_of(ValueId id) const {
    ValueId root = roots_[id];
    while (standing_[root].whole != root) root = standing_[root].whole;
    return root;
  }
  [[nodiscard]] bool may_stand(ValueId operand, std::uint32_t number) const;
  [[nodiscard]] bool takes_from_input(std::uint32_t first, std::uint32_t number) const;

  const Program& program_;
  const FreeResults& results_;
  const std::vector<std::uint32_t>& roots_;
  const std::vector<Look>& looks_;
  std::vector<std::uint32_t> last_reads_;
  std::vector<Standing> standing_;
  std::size_t n_parts_ = 0;
};

/// Returns whether an input like the whole is read between its first part and the rest: an output in its
/// place, such as a new cell or carry, could then no longer be written over it.
bool Parts::takes_from_input(std::uint32_t first, std::uint32_t number) const {
  const ValueId whole = program_.instructions()[number].first_result;
  if (results_.is_free[whole]) return false;
  for (ValueId id = 0; id < program_.n_inputs(); ++id) {
    if (aval(id) == aval(whole) && first <= last_reads_[id] && last_reads_[id] < number) return true;
  }
  return false;
}

bool Parts::may_stand(ValueId operand, std::uint32_t number) const {
  const ValueId root = roots_[operand];
  const Shape& shape = aval(operand).shape;
  const auto lies_there = [&](ValueId other) { return memory_of(other) == root; };
  const bool is_whole_root = looks_[operand].offset == 0 && looks_[operand].is_contiguous(shape) &&
                             shape.count() == aval(root).count() && aval(operand).dtype == aval(root).dtype;
  return results_.is_free[root] && standing_[root].whole == root && is_whole_root && shape.count() > 0 &&
         results_.segment[program_.values()[root].of] == results_.segment[number] &&
         std::ranges::count_if(program_.operands(program_.instructions()[number]), lies_there) == 1 &&
         !takes_from_input(standing_[root].first_written, number);
}

void Parts::add(std::uint32_t number) {
  const Instruction& each = program_.instructions()[number];
  const ValueId whole = each.first_result;
  std::int64_t offset = 0;
  for (const ValueId operand : program_.operands(each)) {
    if (may_stand(operand, number)) {
      Standing& part = standing_[roots_[operand]];
      part.whole = whole;
      part.offset = offset;
      standing_[whole].first_written = std::min(standing_[whole].first_written, part.first_written);
      ++n_parts_;
    }
    offset += aval(operand).count();
  }
}

std::vector<Standing> Parts::outermost() const {
  std::vector<Standing> result = standing_;
  for (std::size_t id = result.size(); id-- > 0;) {  // a whole comes after its parts
    const Standing& outer = result[result[id].whole];
    result[id].offset += outer.offset;
    result[id].whole = outer.whole;
  }
  return result;
}

}  // namespace

std::size_t put_parts_in_place(const Program& program, const FreeResults& results,
                               std::vector<std::uint32_t>& roots, std::vector<Look>& looks) {
  Parts parts(program, results, roots, looks);
  for (std::uint32_t number = 0; number < program.instructions().size(); ++number) {
    const Instruction& each = program.instructions()[number];
    const bool is_joined =
        each.op == &concatenate_op() && is_row_after_row(program.values()[each.first_result].aval.shape,
                                                         attrs_as<AxisAttrs>(*each.attrs).axis);
    if (is_joined) parts.add(number);
  }
  if (parts.n_parts() == 0) return 0;
  const std::vector<Standing> standing = parts.outermost();
  for (ValueId id = 0; id < roots.size(); ++id) {
    looks[id].offset += standing[roots[id]].offset;
    roots[id] = standing[roots[id]].whole;
  }
  return parts.n_parts();
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
