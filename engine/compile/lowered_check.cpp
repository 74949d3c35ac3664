// SPDX-License-Identifier: Apache-2.0
// Checks a lowered program by going over its launches and noting who has written each byte last.
#include "engine/compile/control_plan.hpp"
#include "engine/compile/parts.hpp"
#include "engine/core/error.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;
constexpr Number nobody = Piece::none;

struct Range {
  std::ptrdiff_t first, end;
  [[nodiscard]] bool meets(const Range& other) const { return first < other.end && other.first < end; }
};

/// Returns the bytes between the first and the last element of an operand.
Range range_of(const Access& access) {
  std::ptrdiff_t first = 0, last = 0;
  for (int axis = 0; axis < access.aval->shape.rank(); ++axis) {
    const std::ptrdiff_t way = (*access.strides)[axis] * (access.aval->shape[axis] - 1);
    (way < 0 ? first : last) += way;
  }
  const auto size = static_cast<std::ptrdiff_t>(core::size_of(access.aval->dtype));
  const std::ptrdiff_t start = access.source.bytes;
  if (access.aval->count() == 0) return {start, start};
  return {start + first * size, start + (last + 1) * size};
}

/// The bytes of a block, by who has written them last.
class Bytes {
 public:
  void write(const Range& range, Number writer) {
    if (range.first == range.end) return;
    cut(range.first);
    cut(range.end);
    parts_.erase(parts_.lower_bound(range.first), parts_.lower_bound(range.end));
    parts_[range.first] = {range.end, writer};
  }
  /// Returns who has written all of these bytes; nobody where that were several.
  [[nodiscard]] Number writer_of(const Range& range) const {
    auto part = parts_.upper_bound(range.first);
    if (part == parts_.begin()) return nobody;
    --part;
    const Number writer = part->second.writer;
    for (std::ptrdiff_t at = range.first; at < range.end; ++part) {
      const bool goes_on = part != parts_.end() && part->first <= at && part->second.end > at;
      if (!goes_on || part->second.writer != writer) return nobody;
      at = part->second.end;
    }
    return writer;
  }

 private:
  struct Part {
    std::ptrdiff_t end;
    Number writer;
  };
  /// Makes a part end, and the next begin, there.
  void cut(std::ptrdiff_t at) {
    auto part = parts_.lower_bound(at);
    if (part == parts_.begin() || (--part)->second.end <= at) return;
    parts_[at] = part->second;
    part->second.end = at;
  }
  std::map<std::ptrdiff_t, Part> parts_;  ///< by first byte
};

/// One walk over the launches. Writers are values, and behind their numbers launches that copied one.
class Walk {
 public:
  Walk(const Lowered& plan, std::span<const Donation> donations);
  void run();

 private:
  void check_patches() const;
  void run(Number number, const Segment& segment);
  void read(Number launch, std::size_t operand);
  void work(Number launch);
  void write(Number launch, std::size_t result, const Segment& segment);
  void check_overlaps(Number launch) const;
  [[nodiscard]] bool may_share(const Launch& launch, std::size_t in, std::size_t out) const;
  void call(const FunctionCall& call);
  void check_held(Number held, std::string_view user) const;

  template <class... Args>
  [[noreturn]] static void refuse(std::string_view id, fmt::format_string<Args...> text, Args&&... args) {
    throw core::InvalidArgument(
        core::Worded{fmt::format("[engine::Lowered] expected launches that find their operands, but {}; "
                                 "please report this fault of the compiler",
                                 fmt::format(text, std::forward<Args>(args)...)),
                     fmt::format("engine::Lowered#{}", id)});
  }
  [[nodiscard]] std::span<const Access> operands_of(const Launch& launch) const {
    return plan_.operands_of(launch);
  }
  [[nodiscard]] const Access& in(Number launch, std::size_t operand) const {
    return operands_of(plan_.launches[launch])[operand];
  }
  [[nodiscard]] const Access& out(Number launch, std::size_t result) const {
    return operands_of(plan_.launches[launch])[plan_.launches[launch].n_in + result];
  }
  [[nodiscard]] const Kernel& kernel_of(const Launch& launch) const {
    const auto operands = operands_of(launch);
    return launch.op->kernel(operands[launch.n_in].aval->device, operands[0].aval->dtype);
  }
  [[nodiscard]] Range scratch_of(const Launch& launch) const {
    const auto bytes = static_cast<std::ptrdiff_t>(Scratch::bytes_of(launch.workspace, plan_.n_threads));
    return {launch.scratch.bytes, launch.scratch.bytes + bytes};
  }
  void check_in_block(Number launch, Number block, const Range& range) const {
    if (block >= plan_.blocks.size() || range.first < 0 ||
        range.end > static_cast<std::ptrdiff_t>(plan_.blocks[block].bytes))
      refuse("beyond_block", "launch {} uses bytes {} to {} of block {}", launch, range.first, range.end,
             block);
  }

  const Lowered& plan_;
  const Number n_values_;
  std::vector<Bytes> blocks_;
  std::vector<std::ptrdiff_t> places_;  ///< by writer: its first byte
  std::vector<Number> copied_;          ///< by launch: the value that it copied
  std::vector<Number> memory_of_;       ///< by held tensor: that whose memory it has
  std::vector<Number> in_memory_;       ///< by memory: the held tensor that it has now
};

Walk::Walk(const Lowered& plan, std::span<const Donation> donations)
    : plan_(plan),
      n_values_(static_cast<Number>(plan.program->values().size())),
      blocks_(plan.blocks.size()),
      places_(n_values_ + plan.launches.size()),
      copied_(plan.launches.size(), nobody),
      in_memory_(plan.held.size(), nobody) {
  for (Number i = 0; i < plan.held.size(); ++i) {
    memory_of_.push_back(i);
    const bool is_given = plan.held[i].from == Held::From::input || plan.held[i].from == Held::From::constant;
    if (is_given) in_memory_[i] = i;
  }
  for (const Donation& each : donations) memory_of_[each.held] = each.input;
}

void Walk::run() {
  check_patches();
  Number next = 0;
  for (const Segment& segment : plan_.segments) {
    if (segment.first_launch != next) refuse("lost_launch", "launch {} is in no segment", next);
    for (; next < segment.end_launch; ++next) run(next, segment);
    if (segment.call) call(*segment.call);
    for (const Number each : segment.released) in_memory_[memory_of_[each]] = nobody;
  }
  if (next != plan_.launches.size()) refuse("lost_launch", "launch {} is in no segment", next);
  for (const Given& each : plan_.outputs) check_held(each.held, "the caller");
}

/// Checks that each operand in a held tensor is told where that is.
void Walk::check_patches() const {
  std::vector<std::vector<Number>> expected(plan_.held.size());
  for (Number i = 0; i < plan_.accesses.size(); ++i) {
    const Source& source = plan_.accesses[i].source;
    if (source.in == Source::In::held) expected[source.of].push_back(i);
  }
  for (Number i = 0; i < plan_.held.size(); ++i) {
    if (plan_.accesses_of[i] != expected[i])
      refuse("lost_patch", "array {} is not given to all operands that lie there", i);
  }
}

void Walk::run(Number number, const Segment& segment) {
  const Launch& launch = plan_.launches[number];
  for (std::size_t i = 0; i < launch.n_in; ++i) read(number, i);
  check_overlaps(number);
  work(number);
  for (std::size_t i = 0; i < launch.n_out; ++i) write(number, i, segment);
}

/// Checks that an operand is the value that the instruction names.
void Walk::read(Number launch, std::size_t operand) {
  const Access& access = in(launch, operand);
  const Instruction* const instruction = plan_.launches[launch].instruction;
  Number writer = nobody;
  if (access.source.in == Source::In::held) {
    check_held(access.source.of, fmt::format("launch {}", launch));
    writer = plan_.held[access.source.of].value;
  } else {
    const Range range = range_of(access);
    check_in_block(launch, access.source.of, range);
    writer = blocks_[access.source.of].writer_of(range);
    if (range.first == range.end) return;
  }
  if (writer == nobody)
    refuse("overwritten", "operand {} of launch {} has been written over", operand, launch);
  const Number root = writer < n_values_ ? plan_.roots[writer] : copied_[writer - n_values_];
  if (instruction == nullptr) {
    copied_[launch] = root;
    return;
  }
  const ValueId value = plan_.program->operands(*instruction)[operand];
  const auto size = static_cast<std::ptrdiff_t>(core::size_of(access.aval->dtype));
  const std::ptrdiff_t start = access.source.in == Source::In::held ? 0 : places_[writer];
  const std::ptrdiff_t offset =
      writer < n_values_ ? (plan_.looks[value].offset - plan_.looks[writer].offset) * size : 0;
  if (root != plan_.roots[value] || access.source.bytes != start + offset)
    refuse("wrong_place", "operand {} of launch {} lies {} bytes from where %{} does", operand, launch,
           access.source.bytes - start - offset, value);
}

/// Checks the workspace of a launch, and that nobody finds anything there afterwards.
void Walk::work(Number number) {
  const Launch& launch = plan_.launches[number];
  Workspace needed{launch.control == nullptr ? 0 : launch.control->bytes(), 0};
  if (launch.control == nullptr && kernel_of(launch).workspace != nullptr) {
    std::vector<View> views;
    for (const Access& each : operands_of(launch)) views.push_back({nullptr, each.aval, each.strides});
    const std::span<const View> all(views);
    needed = kernel_of(launch).workspace(
        {*launch.op, launch.attrs, all.first(launch.n_in), all.subspan(launch.n_in), {}, launch.where});
  }
  if (launch.workspace.shared < needed.shared || launch.workspace.per_thread < needed.per_thread)
    refuse("small_workspace", "launch {} needs {} and {} bytes per thread to work in, and has {} and {}",
           number, needed.shared, needed.per_thread, launch.workspace.shared, launch.workspace.per_thread);
  const Range range = scratch_of(launch);
  if (range.first == range.end) return;
  check_in_block(number, launch.scratch.of, range);
  blocks_[launch.scratch.of].write(range, nobody);
}

void Walk::write(Number launch, std::size_t result, const Segment& segment) {
  const Access& access = out(launch, result);
  const Instruction* const instruction = plan_.launches[launch].instruction;
  const Number writer =
      instruction == nullptr ? n_values_ + launch : instruction->first_result + static_cast<Number>(result);
  places_[writer] = access.source.bytes;
  if (access.source.in == Source::In::block) {
    check_in_block(launch, access.source.of, range_of(access));
    blocks_[access.source.of].write(range_of(access), writer);
    return;
  }
  const Number held = access.source.of;
  if (plan_.held[held].from == Held::From::launch && instruction != nullptr &&
      std::ranges::find(segment.made, held) == segment.made.end())
    refuse("no_memory", "array {}, which launch {} writes, has no memory by then", held, launch);
  in_memory_[memory_of_[held]] = held;
}

bool Walk::may_share(const Launch& launch, std::size_t in, std::size_t out) const {
  if (stands_in_place(plan_, launch, in)) return true;
  const Access &read = operands_of(launch)[in], &written = operands_of(launch)[launch.n_in + out];
  const bool may = launch.control != nullptr ? launch.control->writes_over(in, out)
                                             : kernel_of(launch).may_write_over(launch.attrs, in, out);
  return may && read.source.bytes == written.source.bytes && read.aval->bytes() == written.aval->bytes() &&
         same_steps(read.aval->shape, *read.strides, contiguous_strides(read.aval->shape));
}

/// Checks that no launch writes where it reads, unless its kernel allows that, nor where it works.
void Walk::check_overlaps(Number number) const {
  const Launch& launch = plan_.launches[number];
  const std::span<const Access> all = operands_of(launch);
  const auto memory = [&](const Access& each) {
    const bool is_held = each.source.in == Source::In::held;
    return std::pair(is_held, is_held ? memory_of_[each.source.of] : each.source.of);
  };
  const Range scratch = scratch_of(launch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Range range = range_of(all[i]);
    if (memory(all[i]) == std::pair(false, launch.scratch.of) && range.meets(scratch))
      refuse("overlap", "launch {} works where its operand {} lies", number, i);
    for (std::size_t k = std::max<std::size_t>(launch.n_in, i + 1); k < all.size(); ++k) {
      const bool meet = memory(all[i]) == memory(all[k]) && range.meets(range_of(all[k]));
      if (meet && (i >= launch.n_in || !may_share(launch, i, k - launch.n_in)))
        refuse("overlap", "launch {} writes result {} over its operand {}", number, k - launch.n_in, i);
    }
  }
}

void Walk::call(const FunctionCall& call) {
  for (const Given& each : call.operands) check_held(each.held, "a function");
  for (const Number each : call.results) in_memory_[memory_of_[each]] = each;
}

void Walk::check_held(Number held, std::string_view user) const {
  const Number now = in_memory_[memory_of_[held]];
  if (now == nobody) refuse("not_made", "{} uses array {}, which nobody has made by then", user, held);
  if (now != held) refuse("overwritten", "{} uses array {}, over which array {} lies", user, held, now);
}

}  // namespace

void verify(const Lowered& plan, std::span<const Donation> donations) { Walk(plan, donations).run(); }

}  // namespace lodestone::engine
