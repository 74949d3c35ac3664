// SPDX-License-Identifier: Apache-2.0
// What rows say of themselves: their class, where the axes of their output come from, and so how they are
// batched. That it is true, `check_op` shows for every row; here, that it would find what is not.
#include "engine/graph/op_table.hpp"
#include "engine/testing/check_op.hpp"
#include "engine/testing/cut_run_join.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Makes a map of axes wrong; returns whether it did, in a way that the elements of a sample can show.
using MapFault = bool (*)(AxisMap& map, const AxisArgs& args);

/// Applies a change to the first access of an array for which it returns true.
template <class Change>
bool change_access(AxisMap& map, const AxisArgs& args, Change&& change) {
  for (std::size_t i = 0; i < map.inputs.size(); ++i) {
    for (AxisAccess& each : map.inputs[i]) {
      if (args.in[i].kind == Kind::array && each.extent > 1 && change(each)) return true;
    }
  }
  return false;
}

Label& label_of(AxisMap& map, Dim label) { return map.labels[static_cast<std::size_t>(label)]; }
bool is_long(AxisMap& map, int label) { return label >= 0 && label_of(map, label).extent > 1; }

/// The axes of the first result in reverse order.
bool exchanges_axes(AxisMap& map, const AxisArgs&) {
  const IntList right = map.outputs[0];
  for (int k = 0; k < right.size(); ++k) map.outputs[0][k] = right[right.size() - 1 - k];
  for (int k = 0; k < right.size(); ++k) {
    const Label& label = label_of(map, right[k]);
    bool is_used = false;
    for (std::size_t i = 0; i < map.inputs.size(); ++i)
      is_used = is_used || map.depends_on(i, static_cast<int>(right[k]));
    if (map.outputs[0][k] != right[k] && label.extent > 1 && label.kind == Label::Kind::free && is_used)
      return true;
  }
  return false;
}

/// A label that must be whole as one that may be cut.
bool cuts_a_whole_label(AxisMap& map, const AxisArgs&) {
  for (const Dim each : map.outputs[0]) {
    Label& label = label_of(map, each);
    if (label.kind != Label::Kind::whole || label.extent < 2) continue;
    label.kind = Label::Kind::free;
    return true;
  }
  return false;
}

/// An axis that is a label as one that is needed whole.
bool forgets_an_axis(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    const bool is_label =
        each.how == AxisAccess::How::same && label_of(map, each.label).kind != Label::Kind::whole;
    if (is_label) each = {.extent = each.extent};
    return is_label;
  });
}

/// An axis that is needed whole as one that is summed over.
bool sums_over_whole(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    if (each.how != AxisAccess::How::whole && each.how != AxisAccess::How::indexed) return false;
    const Dim extent = each.extent;
    each = same_as(map.add(Label::Kind::reduced, extent));
    each.extent = extent;
    return true;
  });
}

/// Maxima where sums are meant, and sums where extrema are.
bool combines_otherwise(AxisMap& map, const AxisArgs&) {
  map.combine = map.combine == Combine::sum ? Combine::max : Combine::sum;
  return std::ranges::any_of(
      map.labels, [](const Label& each) { return each.kind == Label::Kind::reduced && each.extent > 1; });
}

bool reduces_a_free_label(AxisMap& map, const AxisArgs&) {
  for (const Dim each : map.outputs[0]) {
    Label& label = label_of(map, each);
    if (label.kind != Label::Kind::free || label.extent < 2) continue;
    label.kind = Label::Kind::reduced;
    return true;
  }
  return false;
}

bool frees_a_reduced_label(AxisMap& map, const AxisArgs&) {
  for (Label& label : map.labels) {
    if (label.kind != Label::Kind::reduced || label.extent < 2) continue;
    label.kind = Label::Kind::free;
    return true;
  }
  return false;
}

bool shifts_an_offset(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    each.offset += each.is_sampled() ? 1 : 0;
    return each.is_sampled() && is_long(map, each.label);
  });
}

bool takes_another_stride(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    each.stride += each.is_sampled() ? 1 : 0;
    return each.is_sampled() && is_long(map, each.label);
  });
}

bool forgets_a_window(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    const bool is_seen = is_long(map, each.label) && (is_long(map, each.window) || each.n_window > 1);
    each.window = -1;
    each.n_window = 1;
    return is_seen;
  });
}

bool takes_another_dilation(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    each.dilation += 1;
    return is_long(map, each.label) && is_long(map, each.window);
  });
}

bool turns_an_access_round(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    if (!each.is_sampled() || !is_long(map, each.label) || each.stride < 2) return false;
    each.how = each.how == AxisAccess::How::affine ? AxisAccess::How::inverse : AxisAccess::How::affine;
    return true;
  });
}

bool loses_a_grain(AxisMap& map, const AxisArgs&) {
  for (Label& label : map.labels) {
    if (std::exchange(label.grain, 1) > 1) return true;
  }
  return false;
}

bool takes_other_rows(AxisMap& map, const AxisArgs& args) {
  return change_access(map, args, [&](AxisAccess& each) {
    each.stride *= 2;
    return each.how == AxisAccess::How::blocks;
  });
}

/// Returns the first fault that cutting shows in a row, over dtypes.
std::string fault_of(const OpInfo& row) {
  std::string fault;
  for (int i = 0; i < core::n_dtypes && fault.empty(); ++i) {
    if (row.dtypes.contains(static_cast<DType>(i)))
      fault = cut_run_join(row, static_cast<DType>(i), 7, 120).fault;
  }
  return fault;
}

/// Counts the rows in which a fault was found. Every row that it can be planted into must be among them.
int n_found(MapFault plant) {
  int n = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if ((!row.axes && !row.is_axis_by_axis()) || row.n_inputs == 0) continue;
    OpInfo& mutated = op_named(row.name);
    const OpInfo right = row;
    bool was_planted = false;
    mutated.axes = [&](const AxisArgs& args) {
      AxisMap map = right.axis_map(args);
      if (args.out.count() == 0 || !plant(map, args)) return right.axis_map(args);
      was_planted = true;
      return map;
    };
    const std::string fault = fault_of(mutated);
    mutated.axes = right.axes;
    if (!was_planted) continue;
    INFO(row.name);
    CHECK(fault.find("said to be") != std::string::npos);
    ++n;
  }
  return n;
}

}  // namespace

TEST_CASE("every op: parts of free labels join to the whole, those of reduced ones combine to it",
          "[engine]") {
  int n_comparisons = 0, n_pairs = 0, n_rows = 0;
  std::string exact;
  for (const OpInfo& row : OpTable::global().rows()) {
    if ((!row.axes && !row.is_axis_by_axis()) || row.n_inputs == 0) continue;
    bool differs = false;
    ++n_rows;
    for (int i = 0; i < core::n_dtypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (!row.dtypes.contains(dtype)) continue;
      const CutCheck check = cut_run_join(row, dtype, 1, 200);
      INFO(row.name << " " << core::name_of(dtype) << ": " << check.fault);
      CHECK(check.fault.empty());
      CHECK(check.n_comparisons >= 40);
      n_comparisons += check.n_comparisons;
      ++n_pairs;
      differs = differs || check.differs;
    }
    if (!differs && !row.is_exact_when_cut()) exact += " " + row.name;
  }
  WARN(n_comparisons << " comparisons of " << n_pairs << " pairs of " << n_rows
                     << " rows and a dtype; parts of free labels never differed by a bit, though it is not "
                        "promised, of"
                     << exact);
  CHECK(n_comparisons >= 20000);
}

TEST_CASE("every op: has a map of its axes, but for at most 12 that are needed whole", "[engine]") {
  std::string without;
  int n = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.axes || row.is_axis_by_axis()) continue;
    without += " " + row.name;
    ++n;
  }
  WARN(n << " of " << OpTable::global().rows().size() << " rows have no map:" << without);
  CHECK(n <= 12);
}

TEST_CASE("every op: a wrong statement of its axes, or a wrong way from labels to places, is found",
          "[engine]") {
  struct Fault {
    std::string_view name;
    MapFault plant;
    int least;  // rows that it is planted into
  };
  constexpr std::array faults{Fault{"exchanged axes", exchanges_axes, 90},
                              Fault{"a whole label cut", cuts_a_whole_label, 15},
                              Fault{"an axis forgotten", forgets_an_axis, 100},
                              Fault{"a sum over what is whole", sums_over_whole, 8},
                              Fault{"another combination", combines_otherwise, 8},
                              Fault{"a free label reduced", reduces_a_free_label, 100},
                              Fault{"a reduced label free", frees_a_reduced_label, 8},
                              Fault{"another offset", shifts_an_offset, 9},
                              Fault{"another stride", takes_another_stride, 9},
                              Fault{"no window", forgets_a_window, 5},
                              Fault{"another dilation", takes_another_dilation, 3},
                              Fault{"an access turned round", turns_an_access_round, 4},
                              Fault{"no grain", loses_a_grain, 1},
                              Fault{"other rows", takes_other_rows, 1}};
  std::string text;
  int n_all = 0;
  for (const Fault& each : faults) {
    const int n = n_found(each.plant);
    INFO(each.name);
    CHECK(n >= each.least);
    text += fmt::format("; {}: {}", each.name, n);
    n_all += n;
  }
  WARN(n_all << " planted faults found" << text);
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

TEST_CASE("every op: batches follow from axes and attributes, but for at most 15 rules by hand", "[engine]") {
  std::string by_hand;
  int n = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.batch) by_hand += " " + row.name;
    n += row.batch ? 1 : 0;
  }
  WARN(n << " of " << OpTable::global().rows().size() << " rows have a batching rule by hand:" << by_hand);
  CHECK(n <= 15);
}
