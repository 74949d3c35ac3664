// SPDX-License-Identifier: Apache-2.0
// What rows say of themselves: their class, where the axes of their output come from, and so how they are
// batched. That it is true, `check_op` shows for every row; here, that it would find what is not.
#include "engine/graph/op_table.hpp"
#include "engine/testing/check_op.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <string>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Makes a map of axes wrong; returns whether it did, in a way that the elements of the sample can show.
using MapFault = bool (*)(AxisMap& map, const AxisArgs& args);

/// The axes of each input in reverse order.
bool exchanges_axes(AxisMap& map, const AxisArgs& args) {
  const AxisMap right = map;
  for (AxisMap::Input& input : map.inputs) {
    for (int k = 0; k < input.from.size() / 2; ++k)
      std::swap(input.from[k], input.from[input.from.size() - 1 - k]);
  }
  bool is_seen = false;
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    for (int k = 0; k < args.out.shape.rank(); ++k) {
      const Dim now = map.inputs[i].from[k];
      is_seen = is_seen || (now >= 0 && now != right.inputs[i].from[k] && args.out.shape[k] > 1);
    }
  }
  return is_seen;
}

/// An axis that must be whole as one that comes from an axis of the same extent.
bool takes_whole_for_free(AxisMap& map, const AxisArgs& args) {
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    auto& [from, reduced] = map.inputs[i];
    for (int k = 0; k < from.size(); ++k) {
      if (from[k] != AxisMap::whole || args.out.shape[k] < 2) continue;
      for (Dim axis = 0; axis < args.in[i].shape.rank(); ++axis) {
        const bool fits = args.in[i].shape[static_cast<int>(axis)] == args.out.shape[k] &&
                          !from.contains(axis) && !reduced.contains(axis);
        if (!fits) continue;
        from[k] = axis;
        return true;
      }
    }
  }
  return false;
}

/// An axis that one of several inputs, or the input of a movement, is said not to have.
bool forgets_an_axis(AxisMap& map, const AxisArgs& args) {
  for (int k = 0; k < args.out.shape.rank(); ++k) {
    Dim& from = map.inputs.back().from[k];
    const bool others_have_it = std::any_of(map.inputs.begin(), map.inputs.end() - 1,
                                            [&](const auto& input) { return input.from[k] >= 0; });
    if (from < 0 || args.out.shape[k] < 2 || !(map.inputs.size() == 1 || others_have_it)) continue;
    from = AxisMap::added;
    return true;
  }
  return false;
}

/// An axis of the first input that must be whole as one that is summed over.
bool sums_over_whole(AxisMap& map, const AxisArgs& args) {
  const auto& [from, reduced] = map.inputs[0];
  for (Dim axis = 0; axis < args.in[0].shape.rank(); ++axis) {
    if (args.in[0].shape[static_cast<int>(axis)] < 2 || from.contains(axis) || reduced.contains(axis))
      continue;
    for (AxisMap::Input& input : map.inputs)
      input.reduced.push_back(&input == &map.inputs[0] ? axis : AxisMap::added);
    return true;
  }
  return false;
}

/// Maxima where sums are meant, and sums where extrema are.
bool combines_otherwise(AxisMap& map, const AxisArgs& args) {
  const Dim axis = map.n_reduced() == 0 ? -1 : map.inputs[0].reduced[0];
  map.combine = map.combine == Combine::sum ? Combine::max : Combine::sum;
  return axis >= 0 && args.in[0].shape[static_cast<int>(axis)] > 1;
}

/// Counts the rows of which a fault was found, against its axes or its class. Every row that it can be
/// planted into must be among them.
int n_found(MapFault plant, bool (*can_show)(const OpInfo&)) {
  int n = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if ((!row.axes && !row.is_axis_by_axis()) || row.n_inputs == 0 || !can_show(row)) continue;
    OpInfo& mutated = op_named(row.name);
    const OpInfo right = row;
    bool was_planted = false;
    mutated.axes = [&](const AxisArgs& args) {
      AxisMap map = right.axis_map(args);
      if (args.out.count() == 0 || !plant(map, args)) return right.axis_map(args);
      was_planted = true;
      return map;
    };
    mutated.stacks = right.stacks || right.is_axis_by_axis();
    const OpCheckResult result = check_op(row.name, {.n_samples = 4});
    mutated.axes = right.axes;
    mutated.stacks = right.stacks;
    if (!was_planted) continue;
    INFO(row.name);
    CHECK(result.report.find("said to be") != std::string::npos);
    ++n;
  }
  return n;
}

}  // namespace

TEST_CASE("every op: a wrong statement of its axes is found", "[engine]") {
  const auto any = [](const OpInfo&) { return true; };
  CHECK(n_found(exchanges_axes, any) > 90);
  // One part that is concatenated, or one beside empty ones, does come from there.
  CHECK(n_found(takes_whole_for_free, [](const OpInfo& row) { return row.n_inputs > 0; }) > 15);
  CHECK(n_found(forgets_an_axis, [](const OpInfo& row) {
          return row.n_inputs != 1 || row.op_class == OpClass::movement;
        }) > 30);
  CHECK(n_found(sums_over_whole, any) > 15);
  CHECK(n_found(combines_otherwise, any) > 5);
}

TEST_CASE("every op: a class that is not its own is found", "[engine]") {
  const auto is_found = [](const OpInfo& row, OpClass planted) {
    OpInfo& mutated = op_named(row.name);
    const OpClass right = mutated.op_class;
    const auto axes = mutated.axes;
    if (row.is_axis_by_axis()) mutated.axes = [](const AxisArgs& args) { return axis_by_axis(args); };
    mutated.op_class = planted;
    const OpCheckResult result = check_op(row.name, {.n_samples = 4});
    mutated.op_class = right;
    mutated.axes = axes;
    return result.report.find("it is said to be " + std::string(name_of(planted))) != std::string::npos;
  };
  for (const char* name : {"exp", "add", "sin", "sum", "softmax", "cumulative_sum", "conv", "cholesky"}) {
    INFO(name);
    CHECK(is_found(op_named(name), OpClass::movement));
  }
  for (const char* name : {"sum", "argmax", "softmax", "cumulative_sum", "conv", "max_pool", "cholesky",
                           "random_bits", "slice", "concatenate", "gather", "dot_general"}) {
    INFO(name);
    CHECK(is_found(op_named(name), OpClass::elementwise));
  }
}

TEST_CASE("every op: has a class, and says what it knows of the axes of arrays", "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    const bool holds_code = row.op_class == OpClass::control || row.op_class == OpClass::external;
    INFO(row.name);
    CHECK((row.axes || row.is_axis_by_axis() || row.n_inputs == 0 || holds_code));
  }
}

TEST_CASE("every op: batches follow from axes and attributes, but for fewer than 20 rules by hand",
          "[engine]") {
  std::string by_hand;
  int n = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.batch) by_hand += " " + row.name;
    n += row.batch ? 1 : 0;
  }
  WARN(n << " of " << OpTable::global().rows().size() << " rows have a batching rule by hand:" << by_hand);
  CHECK(n < 20);
}
