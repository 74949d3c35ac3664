// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/cluster.hpp"

#include "engine/compile/expr_loads.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/compile/hooked_kernel.hpp"
#include "engine/compile/live_bytes.hpp"
#include "engine/compile/number_of.hpp"
#include "engine/compile/schedule.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/program/rebuilt.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction

/// The arrays that a cluster computes: with so many elements or, where rows of them are combined, with one
/// for each row, too.
struct Space {
  std::int64_t count = 0;
  Dim row = 1;  ///< elements of a row; 1: none are combined
  friend bool operator==(const Space&, const Space&) = default;
};
/// Returns the space of two clusters together, if there is one.
std::optional<Space> joined(const Space& a, const Space& b) {
  if (a == b) return a;
  if ((a.row > 1) == (b.row > 1)) return std::nullopt;
  const Space &rows = a.row > 1 ? a : b, &other = a.row > 1 ? b : a;
  const bool fits = other.count == rows.count || other.count == rows.count / rows.row;
  return fits ? std::optional(rows) : std::nullopt;
}

/// Facts about an instruction, and the cluster it is in so far.
struct Part {
  const Kernel* kernel = nullptr;  ///< null: it stays alone
  Number region = 0;               ///< counts the functions and effects before it
  Number cluster = 0;              ///< the first instruction of its cluster
  Space space;                     ///< that of its cluster
  std::uint64_t visit = 0;
  std::vector<Number> users;
  std::optional<Number> reduction;  ///< reads what the cluster makes
};

/// Counts how many intervals hold a point, intervals of which come and go. source: Fenwick 1994,
/// doi:10.1002/spe.4380240306
class Intervals {
 public:
  explicit Intervals(std::size_t n) : sums_(n + 1, 0) {}
  /// Adds so many intervals [from, end).
  void add(Number from, Number end, int n) {
    if (from == end) return;
    change(from, n);
    change(end, -n);
  }
  [[nodiscard]] int at(Number point) const {
    int sum = 0;
    for (std::size_t i = std::size_t{point} + 1; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  void change(Number point, int n) {
    for (std::size_t i = std::size_t{point} + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += n;
  }
  std::vector<int> sums_;
};

/// A tree in which the parent of an instruction is the last of those that make its operands. So a path leads
/// from each to all below it.
class LastMakers {
 public:
  static constexpr Number none = std::numeric_limits<Number>::max();
  LastMakers() = default;
  /// `parents`: by instruction; `none` for a root.
  explicit LastMakers(const std::vector<Number>& parents) : first_(parents.size()), end_(parents.size()) {
    std::vector<Number> sizes(parents.size(), 1);
    for (std::size_t i = parents.size(); i-- > 0;) {
      if (parents[i] != none) sizes[parents[i]] += sizes[i];
    }
    std::vector<Number> next(parents.size());  // place of the next child
    Number next_root = 0;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      Number& place = parents[i] == none ? next_root : next[parents[i]];
      first_[i] = place;
      next[i] = place + 1;
      end_[i] = place += sizes[i];
    }
  }
  /// Returns whether a path leads from one to the other, as far as the tree knows.
  [[nodiscard]] bool leads(Number from, Number to) const {
    return first_[from] <= first_[to] && first_[to] < end_[from];
  }

 private:
  std::vector<Number> first_, end_;  // places of all below an instruction, itself first
};

/// Instructions of a cluster that run before their turn, since others need their cluster there.
struct Ahead {
  Number to, from;       ///< places of the first that needs it, and of the last member
  std::ptrdiff_t bytes;  ///< that live more in between
};

/// Merges instructions with those that make their operands, from the first one on.
class Clustering {
 public:
  Clustering(const Program& program, std::span<const Strides> inputs, const ClusterLimits& limits,
             std::vector<RefusedMerge>* refused);
  [[nodiscard]] Program run();

 private:
  // Facts.
  void look_at(Number number);
  [[nodiscard]] const Kernel* elementwise_kernel(const Instruction& each) const;
  [[nodiscard]] const Kernel* row_kernel(const Instruction& each) const;
  [[nodiscard]] bool is_dense(ValueId id) const;
  [[nodiscard]] std::optional<Number> producer(ValueId id) const;
  void see_through_views();
  [[nodiscard]] bool is_in(ValueId id, Number cluster) const;
  [[nodiscard]] bool is_in_either(Number number, Number a, Number b) const {
    return parts_[number].cluster == a || parts_[number].cluster == b;
  }
  [[nodiscard]] bool leaves(Number number, Number a, Number b) const;

  // Merging.
  void merge_with_producers(Number number);
  [[nodiscard]] std::string_view why_not_merge(Number a, Number b);
  [[nodiscard]] bool is_read_by_place(const Instruction& each, ValueId id) const;
  [[nodiscard]] bool fits(Number a, Number b) const;
  [[nodiscard]] std::vector<Number> makers(Number a, Number b) const;
  [[nodiscard]] std::optional<bool> seen_to_come_back(Number a, Number b,
                                                      std::span<const Number> users) const;
  [[nodiscard]] bool comes_back(Number a, Number b);
  [[nodiscard]] std::optional<Ahead> moved_ahead(Number a, Number b) const;
  void merge(Number a, Number b);
  void merge_with_operand(Number reduction);

  // The new program.
  [[nodiscard]] std::map<ValueId, ExprId> write(ExprWriter& writer, std::span<const Number> members,
                                                ExprLoads& loads) const;
  void fuse(Rebuilt& rebuilt, std::vector<Number> members) const;
  void make_fused(Instruction& made, std::optional<Number> reduction,
                  cpu_backend::TileProgramPtr program) const;

  const Program& program_;
  const std::span<const Strides> inputs_;
  const ClusterLimits limits_;
  LiveBytes lives_;
  std::vector<RefusedMerge>* const refused_;
  std::vector<Part> parts_;                   // by instruction
  std::vector<std::vector<Number>> members_;  // by cluster, ascending
  std::vector<bool> is_output_;               // by value
  std::vector<ValueId> same_as_;  // by value: what has its elements in the same order, before reshapes
  LastMakers last_makers_;
  Intervals spans_;  // from the first to the last member of each cluster
  std::uint64_t visit_ = 0;
};

Clustering::Clustering(const Program& program, std::span<const Strides> inputs, const ClusterLimits& limits,
                       std::vector<RefusedMerge>* refused)
    : program_(program),
      inputs_(inputs),
      limits_(limits),
      lives_(program),
      refused_(refused),
      parts_(program.instructions().size()),
      members_(program.instructions().size()),
      is_output_(program.values().size(), false),
      spans_(program.instructions().size()) {
  for (const ValueId id : program.outputs()) is_output_[id] = true;
  Number region = 0;
  for (Number i = 0; i < parts_.size(); ++i) {
    const Instruction& each = program.instructions()[i];
    const bool is_border = each.is_effect || each.op->run;
    region += is_border ? 1 : 0;
    parts_[i].region = region;
    parts_[i].cluster = i;
    members_[i] = {i};
    if (!is_border) look_at(i);
  }
  see_through_views();
}

/// Finds the kernel of an instruction that may be part of a cluster.
void Clustering::look_at(Number number) {
  const Instruction& each = program_.instructions()[number];
  if (each.op->view != nullptr || each.n_results != 1 || each.n_operands == 0) return;
  const Aval& out = program_.values()[each.first_result].aval;
  const Aval& first = program_.values()[program_.operands(each)[0]].aval;
  if (out.device.kind != Device::Kind::cpu || out.kind != Kind::array || out.count() == 0) return;
  Part& part = parts_[number];
  if (each.op->op_class == OpClass::elementwise) {
    const Kernel& kernel = each.op->kernel(out.device, first.dtype);
    if (has_expression(kernel)) part.kernel = &kernel;
    part.space = {out.count()};
  } else if (each.op->op_class == OpClass::reduction) {
    part.kernel = row_kernel(each);
    if (part.kernel != nullptr) part.space = {first.count(), first.count() / out.count()};
  }
}

/// Returns the kernel of a reduction of the last axes, each row of which is combined in the same way wherever
/// it lies, or null.
const Kernel* Clustering::row_kernel(const Instruction& each) const {
  if (each.n_operands != 1) return nullptr;
  const ValueId operand = program_.operands(each)[0];
  const Aval &in = program_.values()[operand].aval, &out = program_.values()[each.first_result].aval;
  const Kernel& kernel = each.op->kernel(in.device, in.dtype);
  const Dim row = in.count() / out.count();
  const AxisMap map = each.op->axis_map({std::span(&in, 1), out, each.attrs.get()});
  const bool are_last = map.sources(0) == IntList::counting(out.shape.rank());
  const bool fits = kernel.row_body != nullptr && are_last && row > 1 && row <= kernel.row_body->longest &&
                    is_dense(operand);
  return fits ? &kernel : nullptr;
}

/// Returns whether the elements of a value lie row-major, so that the order of adding them is known.
bool Clustering::is_dense(ValueId id) const {
  static const OpInfo& reshape = op_named("reshape");
  const Value* value = &program_.values()[id];
  while (value->from == Value::From::result) {
    const Instruction& each = program_.instructions()[value->of];
    if (each.op->view == nullptr) return true;
    if (each.op != &reshape) return false;
    value = &program_.values()[program_.operands(each)[0]];
  }
  const Strides& strides = value->from == Value::From::input
                               ? inputs_[value->of]
                               : program_.constants()[value->of].node().look.strides;
  return is_contiguous(value->aval.shape, strides);
}

/// Returns whether an array sees another one in the same order: each element once or, with more axes behind
/// it, as often as they have places.
bool is_same_or_spread(const Shape& from, const Shape& to) {
  if (from.count() == 1) return true;
  int axis = 0;
  while (axis < from.rank() && from[axis] == to[axis]) ++axis;
  return from.rank() == to.rank() &&
         std::all_of(from.begin() + axis, from.end(), [](Dim n) { return n == 1; });
}

/// Finds who uses what. What kernels of clusters give has no gaps, so that a reshape of it is nothing to do:
/// who uses that uses the other. The same holds for an array whose rows repeat one element each.
void Clustering::see_through_views() {
  static const OpInfo &reshape = op_named("reshape"), &broadcast = op_named("broadcast_to");
  for (ValueId id = 0; id < program_.values().size(); ++id) same_as_.push_back(id);
  std::vector<Number> last_makers(parts_.size(), LastMakers::none);
  for (Number i = 0; i < parts_.size(); ++i) {
    const Instruction& each = program_.instructions()[i];
    for (const ValueId id : program_.operands(each)) {
      const auto from = producer(same_as_[id]);
      if (!from) continue;
      const Shape &shape = program_.values()[id].aval.shape,
                  &seen = program_.values()[each.first_result].aval.shape;
      const bool is_spread = each.op == &broadcast && is_same_or_spread(shape, seen);
      if ((each.op == &reshape || is_spread) && parts_[*from].kernel != nullptr) {
        same_as_[each.first_result] = same_as_[id];
        if (is_output_[each.first_result]) is_output_[same_as_[id]] = true;
      } else {
        parts_[*from].users.push_back(i);
        last_makers[i] = last_makers[i] == LastMakers::none ? *from : std::max(last_makers[i], *from);
      }
    }
  }
  last_makers_ = LastMakers(last_makers);
}

std::optional<Number> Clustering::producer(ValueId id) const {
  const Value& value = program_.values()[id];
  return value.from == Value::From::result ? std::optional<Number>(value.of) : std::nullopt;
}

bool Clustering::is_in(ValueId id, Number cluster) const {
  const auto from = producer(same_as_[id]);
  return from && parts_[*from].kernel != nullptr && parts_[*from].cluster == cluster;
}

/// Returns whether an instruction of two clusters gives what others need, too.
bool Clustering::leaves(Number number, Number a, Number b) const {
  const auto is_outside = [&](Number user) { return !is_in_either(user, a, b); };
  return is_output_[program_.instructions()[number].first_result] ||
         std::ranges::any_of(parts_[number].users, is_outside);
}

void Clustering::merge_with_producers(Number number) {
  const Instruction& each = program_.instructions()[number];
  for (const ValueId id : program_.operands(each)) {
    const auto from = producer(same_as_[id]);
    if (!from || parts_[*from].kernel == nullptr) continue;
    const Number a = parts_[*from].cluster, b = parts_[number].cluster;
    if (a == b) continue;
    const std::string_view why_not = why_not_merge(a, b);
    if (why_not.empty())
      merge(a, b);
    else if (refused_ != nullptr)
      refused_->push_back({*from, number, why_not});
  }
}

/// Returns why two clusters stay apart; empty where they may be one, which then counts as if they were.
std::string_view Clustering::why_not_merge(Number a, Number b) {
  const auto device_of = [&](Number cluster) {
    return program_.values()[program_.instructions()[cluster].first_result].aval.device;
  };
  if (parts_[a].region != parts_[b].region) return "a function or an effect stands between them";
  if (!joined(parts_[a].space, parts_[b].space)) return "they make arrays of other sizes";
  if (!(device_of(a) == device_of(b))) return "they run on other devices";
  if (!fits(a, b)) return "one launch would have too many operands, outputs or steps, or repeat elements";
  if (comes_back(a, b)) return "what is between them needs the one and is needed by the other";
  if (const auto ahead = moved_ahead(a, b)) {
    if (ahead->bytes > 0 && lives_.is_most(ahead->to, ahead->from, ahead->bytes))
      return "what the one makes long before it is needed would raise the peak of memory";
    lives_.add(ahead->to, ahead->from, ahead->bytes);
  }
  return {};
}

/// Returns whether an elementwise instruction takes the element of a value at the place of the result, not
/// one that serves many places; reductions take all.
bool Clustering::is_read_by_place(const Instruction& each, ValueId id) const {
  return each.op->op_class == OpClass::reduction ||
         program_.values()[id].aval.count() == program_.values()[each.first_result].aval.count();
}

bool Clustering::fits(Number a, Number b) const {
  constexpr std::size_t codes_of_expression = 6;  // at most
  std::size_t n_codes = 0, n_outputs = 0;
  std::set<ValueId> operands;
  for (const Number cluster : {a, b}) {
    for (const Number number : members_[cluster]) {
      const Kernel* const kernel = parts_[number].kernel;
      n_codes += kernel != nullptr && kernel->expression != nullptr ? codes_of_expression : 1;
      n_outputs += leaves(number, a, b) ? 1 : 0;
      const Instruction& each = program_.instructions()[number];
      for (const ValueId id : program_.operands(each)) {
        if (is_in(id, a) || is_in(id, b)) {
          if (!is_read_by_place(each, id)) return false;
        } else if (!number_of(program_, id)) {
          operands.insert(id);
        }
      }
    }
  }
  return n_codes <= limits_.codes && n_outputs <= limits_.outputs && operands.size() <= limits_.operands &&
         !operands.empty();
}

/// Returns those outside of two clusters that make their operands.
std::vector<Number> Clustering::makers(Number a, Number b) const {
  std::vector<Number> result;
  for (const Number cluster : {a, b}) {
    for (const Number member : members_[cluster]) {
      for (const ValueId id : program_.operands(program_.instructions()[member])) {
        const auto from = producer(same_as_[id]);
        if (from && !is_in_either(*from, a, b)) result.push_back(*from);
      }
    }
  }
  return result;
}

/// Answers `comes_back` where that needs no search, which may go over all of the program. `users`: those
/// outside of the clusters who use what they make.
std::optional<bool> Clustering::seen_to_come_back(Number a, Number b, std::span<const Number> users) const {
  const std::vector<Number> makers = this->makers(a, b);
  if (users.empty() || makers.empty()) return false;
  const auto leads_to_maker = [&](Number user) {
    return std::ranges::any_of(makers, [&](Number maker) { return last_makers_.leads(user, maker); });
  };
  if (std::ranges::any_of(users, leads_to_maker)) return true;
  // Instructions use what comes before them, so that only another cluster leads from users to makers.
  const Number last_maker = std::ranges::max(makers);
  const auto spans = [&](Number cluster) {
    return members_[cluster].front() <= last_maker && last_maker < members_[cluster].back() ? 1 : 0;
  };
  const bool has_other = spans_.at(last_maker) > spans(a) + spans(b);
  return last_maker < std::ranges::min(users) && !has_other ? std::optional(false) : std::nullopt;
}

/// Returns whether a path leads from two clusters through others back to them. Instructions behind both
/// belong to no cluster yet, so that no path comes back from there.
bool Clustering::comes_back(Number a, Number b) {
  const Number last = std::max(members_[a].back(), members_[b].back());
  ++visit_;
  std::vector<Number> open;
  const auto go_on_from = [&](Number cluster) {
    for (const Number member : members_[cluster]) {
      for (const Number user : parts_[member].users) {
        if (user <= last) open.push_back(user);
      }
    }
  };
  const auto is_own = [&](Number number) { return is_in_either(number, a, b); };
  go_on_from(a);
  go_on_from(b);
  std::erase_if(open, is_own);
  if (const auto is_seen = seen_to_come_back(a, b, open)) return *is_seen;
  while (!open.empty()) {
    const Number cluster = parts_[open.back()].cluster;
    open.pop_back();
    if (is_own(cluster)) return true;
    if (parts_[cluster].visit == visit_) continue;
    parts_[cluster].visit = visit_;
    go_on_from(cluster);
  }
  return false;
}

/// Returns what it means for memory if two clusters run as one; nothing if no member leaves its turn.
std::optional<Ahead> Clustering::moved_ahead(Number a, Number b) const {
  const Number last = std::max(members_[a].back(), members_[b].back());
  Ahead result{last, last, 0};
  std::vector<Number> members;
  std::ranges::merge(members_[a], members_[b], std::back_inserter(members));
  for (const Number member : members) {
    for (const Number user : parts_[member].users)
      result.to = is_in_either(user, a, b) ? result.to : std::min(result.to, user);
  }
  if (result.to == last) return std::nullopt;
  const auto bytes_of = [&](ValueId id) {
    return static_cast<std::ptrdiff_t>(program_.values()[id].aval.bytes());
  };
  const auto is_freed = [&](ValueId root) {
    return lives_.first(root) < result.to && std::ranges::none_of(lives_.uses(root), [&](Number use) {
             return use > result.to && !is_in_either(use, a, b);
           });
  };
  std::set<ValueId> freed;
  for (auto member = std::ranges::lower_bound(members, result.to); member != members.end(); ++member) {
    const Instruction& each = program_.instructions()[*member];
    if (leaves(*member, a, b)) result.bytes += bytes_of(each.first_result);
    for (const ValueId id : program_.operands(each)) {
      const ValueId root = lives_.root(id);
      if (is_freed(root) && freed.insert(root).second) result.bytes -= bytes_of(root);
    }
  }
  return result;
}

void Clustering::merge(Number a, Number b) {
  const Number into = std::min(a, b), other = std::max(a, b);
  parts_[into].space = joined(parts_[a].space, parts_[b].space).value_or(parts_[a].space);
  for (const Number member : members_[other]) parts_[member].cluster = into;
  std::vector<Number> merged;
  std::ranges::merge(members_[into], members_[other], std::back_inserter(merged));
  for (const Number each : {into, other}) spans_.add(members_[each].front(), members_[each].back(), -1);
  spans_.add(merged.front(), merged.back(), 1);
  members_[into] = std::move(merged);
  members_[other].clear();
}

/// Lets a reduction read what a cluster makes, if nobody else needs that array: it is not stored.
void Clustering::merge_with_operand(Number reduction) {
  const Instruction& each = program_.instructions()[reduction];
  const ValueId operand = program_.operands(each)[0];
  const auto from = producer(same_as_[operand]);
  if (!from || parts_[*from].kernel == nullptr) return;
  Part& cluster = parts_[parts_[*from].cluster];
  const Aval &made = program_.values()[same_as_[operand]].aval, &seen = program_.values()[operand].aval;
  const bool is_free = cluster.region == parts_[reduction].region && cluster.space.row == 1 &&
                       !cluster.reduction && made.count() == seen.count() &&
                       parts_[*from].users == std::vector{reduction} && !is_output_[same_as_[operand]];
  if (!is_free || !can_reduce_what_is_made(*each.op, seen) || !fits(cluster.cluster, reduction)) return;
  cluster.reduction = reduction;
  merge(cluster.cluster, reduction);
}

/// Writes down what elementwise members compute; → the number of each one's result in the expression.
std::map<ValueId, ExprId> Clustering::write(ExprWriter& writer, std::span<const Number> members,
                                            ExprLoads& loads) const {
  std::map<ValueId, ExprId> expr_of;
  const auto value_of = [&](ValueId id, Number cluster, const IntList& from, const Shape& shape) {
    return is_in(id, cluster) ? expr_of.at(same_as_[id]) : loads.of(id, from, shape);
  };
  for (const Number number : members) {
    const Instruction& each = program_.instructions()[number];
    const Aval& out = program_.values()[each.first_result].aval;
    const auto& [kernel, cluster] = std::pair{parts_[number].kernel, parts_[number].cluster};
    if (kernel->row_body != nullptr) {
      const ValueId operand = program_.operands(each)[0];
      const Shape& shape = program_.values()[operand].aval.shape;
      writer.set_per_row(false);
      const ExprId in = value_of(operand, cluster, IntList::counting(shape.rank()), shape);
      expr_of[each.first_result] = writer.reduce(*kernel->row_body, in);
      continue;
    }
    writer.set_per_row(out.count() < parts_[cluster].space.count);
    std::vector<Aval> avals;
    for (const ValueId id : program_.operands(each)) avals.push_back(program_.values()[id].aval);
    const AxisMap map = each.op->axis_map({avals, out, each.attrs.get()});
    std::vector<ExprId> in;
    for (std::size_t i = 0; i < avals.size(); ++i) {
      in.push_back(value_of(program_.operands(each)[i], cluster, map.sources(i), out.shape));
    }
    expr_of[each.first_result] = append(writer, *kernel, each.attrs.get(), in, out.dtype);
  }
  return expr_of;
}

/// Adds the instruction that a cluster becomes.
void Clustering::fuse(Rebuilt& rebuilt, std::vector<Number> members) const {
  const Number cluster = members.front();
  const std::optional<Number> reduction = parts_[cluster].reduction;
  Instruction made = program_.instructions()[members.back()];
  if (reduction) std::erase(members, *reduction);
  ExprWriter writer(parts_[cluster].space.row);
  ExprLoads loads(program_, writer);
  std::vector<ValueId> given;  // by the old program
  const std::map<ValueId, ExprId> expr_of = write(writer, members, loads);
  if (reduction) {
    const ValueId operand = program_.operands(program_.instructions()[*reduction])[0];
    writer.store(expr_of.at(same_as_[operand]), program_.values()[operand].aval.shape);
    given.push_back(program_.instructions()[*reduction].first_result);
  }
  for (const Number number : members) {
    if (!leaves(number, cluster, cluster)) continue;
    given.push_back(program_.instructions()[number].first_result);
    writer.store(expr_of.at(given.back()), program_.values()[given.back()].aval.shape);
  }
  make_fused(made, reduction, std::make_shared<const cpu_backend::TileProgram>(writer.expr()));
  std::vector<Aval> results;
  for (const ValueId id : given) results.push_back(program_.values()[id].aval);
  std::vector<ValueId> operands;
  for (const ValueId id : loads.operands()) operands.push_back(rebuilt.of(id));
  const ValueId first = rebuilt.add(std::move(made), operands, results);
  for (std::uint32_t i = 0; i < given.size(); ++i) rebuilt.replace(given[i], first + i);
}

/// Gives an instruction the op of a cluster, with or without a reduction.
void Clustering::make_fused(Instruction& made, std::optional<Number> reduction,
                            cpu_backend::TileProgramPtr program) const {
  if (!reduction) {
    made.op = &fused_op();
    made.attrs = make_attrs(TileAttrs{{std::move(program)}});
    return;
  }
  const Instruction& each = program_.instructions()[*reduction];
  const auto aval = [&](ValueId id) { return program_.values()[id].aval; };
  made.op = &hooked_kernel_op();
  made.attrs = make_attrs(
      HookedAttrs{{each.op, each.attrs, {aval(program_.operands(each)[0])}, {aval(each.first_result)}},
                  {std::move(program), nullptr, true}});
}

Program Clustering::run() {
  for (Number i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kernel != nullptr) merge_with_producers(i);
  }
  for (Number i = 0; i < parts_.size(); ++i) {
    const bool is_alone = parts_[i].kernel == nullptr;
    if (is_alone && program_.instructions()[i].op->op_class == OpClass::reduction) merge_with_operand(i);
  }
  std::vector<Number> unit_of;
  for (const Part& each : parts_) unit_of.push_back(each.cluster);
  Rebuilt rebuilt(program_);
  for (const std::vector<Number>& unit : scheduled(program_, unit_of, same_as_)) {
    if (unit.size() == 1)
      rebuilt.copy(program_.instructions()[unit[0]]);
    else
      fuse(rebuilt, unit);
  }
  return rebuilt.program();
}

}  // namespace

Program clustered(const Program& program, std::span<const Strides> inputs, const ClusterLimits& limits,
                  std::vector<RefusedMerge>* refused) {
  return Clustering(program, inputs, limits, refused).run();
}

}  // namespace lodestone::engine
