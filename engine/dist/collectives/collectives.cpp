// SPDX-License-Identifier: Apache-2.0
// Rows of the collectives. x input, y output, r a rank of the group; own values are summed over ranks in
// inner products, same ones count once.
#include "engine/dist/collectives/collectives.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/dist/collectives/register.hpp"
#include "engine/dist/layout/patterns.hpp"
#include "engine/dist/transport/moves.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

// ---- Ops -------------------------------------------------------------------------------------------------

/// The terms of this rank's shards lie along axis `shards`.
Tensor reduced(const Tensor& x, const GroupPtr& group, Terms how, std::source_location where,
               int shards = 0) {
  static const OpInfo& op = op_named("all_reduce");
  return record(op, {x}, make_attrs(CombineAttrs{group, shards, how}), where);
}
Tensor owned(const Tensor& x, const GroupPtr& group, std::source_location where) {
  static const OpInfo& op = op_named("as_own");
  return record(op, {x}, make_attrs(OwnAttrs{group}), where);
}
Tensor with_pieces(std::string_view name, const Tensor& x, const PiecesAttrs& attrs,
                   std::source_location where) {
  return record(op_named(name), {x}, make_attrs(attrs), where);
}

/// Returns x repeated along one more axis, as the terms are that it is a cotangent of.
Tensor repeated_like(const Tensor& terms, int shards, const Tensor& x) {
  const Shape one = x.shape().inserted(shards, 1), all = x.shape().inserted(shards, terms.dim(shards));
  return broadcast_to(reshape(x, one), all);
}
Tensor as_one_term(const Located& x, const GroupPtr& group) {
  if (group->n_own_shards() == 1) return reshape(x, x.tensor.shape().inserted(0, 1));
  throw core::InvalidArgument("collectives#many_shards",
                              "expected one shard per rank of the group {}, got {} on rank {}; give a term "
                              "for each of them {}",
                              group->name(), group->n_own_shards(), group->transport().rank(),
                              at_line(x.where));
}

// ---- Shapes ----------------------------------------------------------------------------------------------

void expect_shards(const InferArgs& args, const Group& group, int axis) {
  check_axis(args, axis);
  if (args.aval(0).shape[axis] != group.n_own_shards())
    throw core::ShapeError(args.op.name + "#wrong_shards",
                           "expected the terms of {} shards along axis {}, got {} {}", group.n_own_shards(),
                           axis, args.aval(0).text(), at_line(args.where));
}

void expect_extent(const InferArgs& args, int axis, Dim extent) {
  check_axis(args, axis);
  if (args.aval(0).shape[axis] != extent)
    throw core::ShapeError(args.op.name + "#wrong_extent", "expected {} elements along axis {}, got {} {}",
                           extent, axis, args.aval(0).text(), at_line(args.where));
}

Aval with_extent(Aval aval, int axis, Dim extent) {
  aval.shape[axis] = extent;
  return aval;
}

Aval infer_all_reduce(const InferArgs& args) {
  const auto& [group, shards, how] = args.as<CombineAttrs>();
  expect_shards(args, *group, shards);
  if (how != Terms::sum && core::is_complex(args.aval(0).dtype))
    throw core::InvalidArgument(args.op.name + "#no_order", "expected real numbers to compare, got {} {}",
                                args.aval(0).text(), at_line(args.where));
  Aval result = args.aval(0);
  result.shape = result.shape.erased(shards);
  return result;
}

Aval infer_all_gather(const InferArgs& args) {
  const auto& attrs = args.as<PiecesAttrs>();
  expect_extent(args, attrs.axis, own_extent(*attrs.group, attrs.extent, attrs.grain));
  return with_extent(args.aval(0), attrs.axis, attrs.extent);
}

Aval infer_own_piece(const InferArgs& args) {
  const auto& attrs = args.as<PiecesAttrs>();
  expect_extent(args, attrs.axis, attrs.extent);
  return with_extent(args.aval(0), attrs.axis, own_extent(*attrs.group, attrs.extent, attrs.grain));
}

Aval infer_reduce_scatter(const InferArgs& args) {
  const auto& attrs = args.as<ScatterAttrs>();
  expect_shards(args, *attrs.group, attrs.shards);
  expect_extent(args, attrs.axis + (attrs.axis < attrs.shards ? 0 : 1), attrs.extent);
  Aval result = args.aval(0);
  result.shape = result.shape.erased(attrs.shards);
  return with_extent(result, attrs.axis, own_extent(*attrs.group, attrs.extent, attrs.grain));
}

Aval infer_exchange(const InferArgs& args) {
  const auto& attrs = args.as<ExchangeAttrs>();
  if (attrs.is_back && !numbers.contains(args.aval(0).dtype))
    throw core::InvalidArgument("exchange#no_sum", "expected numbers to move back and add up, got {} {}",
                                args.aval(0).text(), at_line(args.where));
  const Box &from = attrs.is_back ? attrs.after() : attrs.before(),
            &to = attrs.is_back ? attrs.before() : attrs.after();
  if (!(args.aval(0).shape == from.shape))
    throw core::ShapeError("exchange#wrong_shape", "expected the elements {} of a tensor, got {} {}",
                           from.text(), args.aval(0).text(), at_line(args.where));
  Aval result = args.aval(0);
  result.shape = to.shape;
  return result;
}

// ---- Derivatives -----------------------------------------------------------------------------------------

/// Returns 1 where a term is the largest or smallest one, else 0, and how many there are: same.
std::pair<Tensor, Tensor> winners(R args) {
  const auto& [group, shards, how] = args.as<CombineAttrs>();
  const Tensor best = repeated_like(args.in[0], shards, owned(args.out, group, args.where));
  const Tensor wins = cast(equal(args.in[0], best), args.out.dtype());
  return {wins, reduced(wins, group, Terms::sum, args.where, shards)};
}

Derivative derivative_of_all_reduce() {
  Derivative result;
  result.formula = "the sum of dx over the group; of extrema the mean of dx over the terms that attain y";
  result.jvp = [](R args, std::span<const Tensor> tangents) {
    const auto& [group, shards, how] = args.as<CombineAttrs>();
    if (how == Terms::sum) return args.again(tangents);
    const auto [wins, n] = winners(args);
    return reduced(wins * tangents[0], group, Terms::sum, args.where, shards) / n;
  };
  result.vjp = [](R args, const Tensor& cotangent, std::size_t) {
    const auto& [group, shards, how] = args.as<CombineAttrs>();
    if (how == Terms::sum) return repeated_like(args.in[0], shards, owned(cotangent, group, args.where));
    const auto [wins, n] = winners(args);
    return wins * repeated_like(args.in[0], shards, owned(cotangent / n, group, args.where));
  };
  return result;
}

/// Returns a cotangent that is a rank's own as the term of its first shard.
Tensor as_terms(const Tensor& own, const Group& group) {
  const Tensor term = reshape(own, own.shape().inserted(0, 1));
  if (group.n_own_shards() == 1) return term;
  const Shape others = own.shape().inserted(0, group.n_own_shards() - 1);
  const Tensor parts[] = {term, zeros(others, own.dtype(), own.device())};
  return concatenate(parts, 0);
}

Tensor adjoint_of_as_own(R args, const Tensor& cotangent, std::size_t) {
  const GroupPtr& group = args.as<OwnAttrs>().group;
  return reduced(as_terms(cotangent, *group), group, Terms::sum, args.where);
}

Tensor adjoint_of_all_gather(R args, const Tensor& cotangent, std::size_t) {
  const auto& attrs = args.as<PiecesAttrs>();
  if (attrs.is_same) return with_pieces("own_piece", cotangent, attrs, args.where);
  const Tensor terms = as_terms(cotangent, *attrs.group);
  return reduce_scatter_shards({terms, args.where}, attrs.group, attrs.axis, attrs.grain);
}

Tensor adjoint_of_own_piece(R args, const Tensor& cotangent, std::size_t) {
  PiecesAttrs attrs = args.as<PiecesAttrs>();
  attrs.is_same = true;
  return with_pieces("all_gather", cotangent, attrs, args.where);
}

Tensor adjoint_of_reduce_scatter(R args, const Tensor& cotangent, std::size_t) {
  const auto& [group, shards, axis, extent, grain] = args.as<ScatterAttrs>();
  const Tensor whole = with_pieces("all_gather", cotangent, {group, axis, extent, grain, false}, args.where);
  return repeated_like(args.in[0], shards, whole);
}

Tensor adjoint_of_exchange(R args, const Tensor& cotangent, std::size_t) {
  ExchangeAttrs attrs = args.as<ExchangeAttrs>();
  attrs.is_back = !attrs.is_back;
  return record(args.op, {cotangent}, make_attrs(attrs), args.where);
}

// ---- Rows ------------------------------------------------------------------------------------------------

OpInfo row_of(std::string name, std::string formula) {
  OpInfo row;
  row.name = std::move(name);
  row.formula = std::move(formula);
  row.dtypes = any_computed;
  row.op_class = OpClass::external;
  row.runs_when_recorded = [](const Attrs*) { return true; };
  return row;
}

AxisMap axes_of_reduce_scatter(const AxisArgs& args) {
  const auto& attrs = args.as<ScatterAttrs>();
  AxisMap map = without_axes(args, {attrs.shards});
  map.labels[static_cast<std::size_t>(attrs.axis)].kind = Label::Kind::whole;
  map.set(0, attrs.axis + (attrs.axis >= attrs.shards ? 1 : 0), {});
  return map;
}

/// Axes along which every box is the whole tensor are free.
AxisMap axes_of_exchange(const AxisArgs& args) {
  const RouteStep& step = *args.as<ExchangeAttrs>().step;
  Axes moved;
  for (int axis = 0; axis < args.out.shape.rank(); ++axis) {
    const auto is_whole = [&](const auto& each) {
      return each.box.first[axis] == 0 && each.box.shape[axis] == args.out.shape[axis];
    };
    if (!std::ranges::all_of(step.from, is_whole) || !std::ranges::all_of(step.to, is_whole) ||
        !std::ranges::all_of(step.moves, is_whole))
      moved.push_back(axis);
  }
  return axis_by_axis(args, moved);
}

void register_sums(OpTable& table) {
  OpInfo row = row_of("all_reduce", "Σ_r x_r, or the extremum, over all shards of a group");
  row.dtypes = numbers;
  row.infer = infer_all_reduce;
  row.run = run_all_reduce;
  row.derivative = derivative_of_all_reduce();
  row.axes = [](const AxisArgs& args) { return without_axes(args, {args.as<CombineAttrs>().shards}); };
  row.stacks = true;
  row.sample = sample_all_reduce;
  table.add(std::move(row));

  row = row_of("as_own", "x, each rank's own");
  row.runs_when_recorded = nullptr;  // it sends nothing
  row.infer = [](const InferArgs& args) { return args.aval(0); };
  row.run = [](R args) { return args.in[0]; };
  row.derivative = linear("dx", adjoint_of_as_own);
  row.axes = [](const AxisArgs& args) { return axis_by_axis(args); };
  row.stacks = true;
  row.sample = sample_as_own;
  table.add(std::move(row));

  row = row_of("reduce_scatter", "this rank's piece of Σ_r x_r over all shards of a group");
  row.dtypes = numbers;
  row.infer = infer_reduce_scatter;
  row.run = run_reduce_scatter;
  row.derivative = linear("the piece of Σ_r dx_r", adjoint_of_reduce_scatter);
  row.axes = axes_of_reduce_scatter;
  row.stacks = true;
  row.sample = sample_reduce_scatter;
  table.add(std::move(row));
}

void register_moves(OpTable& table) {
  const auto along_other_axes = [](const AxisArgs& args) {
    return axis_by_axis(args, {args.as<PiecesAttrs>().axis});
  };
  OpInfo row = row_of("all_gather", "(x₀, x₁, …), the pieces of a group along an axis");
  row.infer = infer_all_gather;
  row.run = run_all_gather;
  row.derivative = linear("(dx₀, dx₁, …)", adjoint_of_all_gather);
  row.axes = along_other_axes;
  row.stacks = true;
  row.sample = sample_pieces;
  table.add(std::move(row));

  row = row_of("own_piece", "this rank's piece of x along an axis");
  row.runs_when_recorded = nullptr;  // it sends nothing
  row.infer = infer_own_piece;
  row.run = run_own_piece;
  row.derivative = linear("this rank's piece of dx", adjoint_of_own_piece);
  row.axes = along_other_axes;
  row.stacks = true;
  row.sample = sample_pieces;
  table.add(std::move(row));

  row = row_of("exchange", "boxes of x moved within a group, or back, where they add up");
  row.dtypes = any_stored;
  row.infer = infer_exchange;
  row.run = run_exchange;
  row.derivative = linear("boxes of dx", adjoint_of_exchange);
  row.axes = axes_of_exchange;
  row.stacks = true;
  row.sample = sample_exchange;
  row.title = [](const Attrs& attrs) {
    const auto pattern = pattern_of(*attrs_as<ExchangeAttrs>(attrs).step);
    return std::string(pattern == Pattern::slice ? "exchange" : core::word(pattern));
  };
  table.add(std::move(row));
}

}  // namespace

// ---- Attributes ------------------------------------------------------------------------------------------

std::string attr_text(const StepPtr& step) { return fmt::format("{} moves", step->moves.size()); }
std::uint64_t attr_hash(const StepPtr& step) {
  std::uint64_t hash = step->moves.size();
  for (const Move& move : step->moves) hash = detail::mixed(hash, detail::attr_hash(move.box.first));
  return hash;
}
bool attr_equals(const StepPtr& a, const StepPtr& b) { return *a == *b; }

namespace {

/// Changes all boxes of a step.
bool change_boxes(StepPtr& step, auto&& change) {
  RouteStep other = *step;
  for (Holding& each : other.from) change(each.box);
  for (Holding& each : other.to) change(each.box);
  for (Move& each : other.moves) change(each.box);
  step = std::make_shared<const RouteStep>(std::move(other));
  return true;
}

}  // namespace

bool fit_member(StepPtr& step, const AxisRole&, const NewAxis& axis) {
  return change_boxes(step, [&](Box& box) {
    box = {box.first.inserted(0, 0), box.shape.inserted(0, axis.extent)};
  });
}
bool fit_member(StepPtr& step, const AxisRole&, const NewExtents& extents) {
  return change_boxes(step, [&](Box& box) {
    for (int axis = 0; axis < box.rank(); ++axis) {
      if (extents.result[axis] != NewExtents::unchanged) box.shape[axis] = extents.result[axis];
    }
  });
}

std::optional<Crossing> crossing_of(const Attrs* attrs, const OpInfo& op) {
  const auto is = [&](const std::type_info& type) { return attrs != nullptr && attrs->tag() == type; };
  if (is(typeid(CombineAttrs))) return Crossing{attrs_as<CombineAttrs>(*attrs).group.get(), true, false};
  if (is(typeid(OwnAttrs))) return Crossing{attrs_as<OwnAttrs>(*attrs).group.get(), false, true};
  if (is(typeid(ScatterAttrs))) return Crossing{attrs_as<ScatterAttrs>(*attrs).group.get(), true, true};
  if (is(typeid(ExchangeAttrs))) return Crossing{attrs_as<ExchangeAttrs>(*attrs).group.get(), true, true};
  if (!is(typeid(PiecesAttrs))) return {};
  const auto& pieces = attrs_as<PiecesAttrs>(*attrs);
  const bool is_gathered = op.name == "all_gather";
  return Crossing{pieces.group.get(), is_gathered, !is_gathered || !pieces.is_same};
}

const Box& ExchangeAttrs::before() const {
  const Box* box = box_of_rank(step->from, group->transport().rank());
  if (box == nullptr)
    throw core::InvalidArgument("exchange#no_box", "expected a box before the moves for rank {}, got none",
                                group->transport().rank());
  return *box;
}
const Box& ExchangeAttrs::after() const {
  const Box* box = box_of_rank(step->to, group->transport().rank());
  if (box == nullptr)
    throw core::InvalidArgument("exchange#no_box", "expected a box after the moves for rank {}, got none",
                                group->transport().rank());
  return *box;
}

void register_collectives(OpTable& table) {
  register_sums(table);
  register_moves(table);
}

// ---- Functions -------------------------------------------------------------------------------------------

Tensor all_reduce_shards(const Located& x, const GroupPtr& group, Terms how) {
  if (how != Terms::sum && how != Terms::max && how != Terms::min)
    throw core::InvalidArgument("all_reduce#wrong_terms", "expected sum, max or min, got \"{}\" {}",
                                core::word(how), at_line(x.where));
  return reduced(x.tensor, group, how, x.where);
}

Tensor all_reduce(const Located& x, const GroupPtr& group, Terms how) {
  return all_reduce_shards({as_one_term(x, group), x.where}, group, how);
}

Tensor as_own(const Located& x, const GroupPtr& group) { return owned(x.tensor, group, x.where); }

Tensor all_gather(const Located& x, const GroupPtr& group, const CutAxis& cut) {
  return with_pieces("all_gather", x.tensor, {group, cut.axis, cut.extent, cut.grain, true}, x.where);
}

Tensor all_gather_own(const Located& x, const GroupPtr& group, const CutAxis& cut) {
  return with_pieces("all_gather", x.tensor, {group, cut.axis, cut.extent, cut.grain, false}, x.where);
}

Tensor own_piece(const Located& x, const GroupPtr& group, int axis, Dim grain) {
  const int counted = counted_axis("own_piece", axis, x.tensor.rank(), x.where);
  return with_pieces("own_piece", x.tensor, {group, counted, x.tensor.dim(counted), grain, true}, x.where);
}

Tensor reduce_scatter_shards(const Located& x, const GroupPtr& group, int axis, Dim grain) {
  const int counted = counted_axis("reduce_scatter", axis, x.tensor.rank() - 1, x.where);
  static const OpInfo& op = op_named("reduce_scatter");
  const ScatterAttrs attrs{group, 0, counted, x.tensor.dim(counted + 1), grain};
  return record(op, {x.tensor}, make_attrs(attrs), x.where);
}

Tensor reduce_scatter(const Located& x, const GroupPtr& group, int axis, Dim grain) {
  const int counted = counted_axis("reduce_scatter", axis, x.tensor.rank(), x.where);
  return reduce_scatter_shards({as_one_term(x, group), x.where}, group, counted, grain);
}

Tensor exchange(const Located& x, const GroupPtr& group, const StepPtr& step) {
  static const OpInfo& op = op_named("exchange");
  if (step->combine != Terms::no)
    throw core::InvalidArgument("exchange#terms",
                                "expected a step that moves boxes, got one that combines terms {}",
                                at_line(x.where));
  return record(op, {x.tensor}, make_attrs(ExchangeAttrs{group, step, false}), x.where);
}

Tensor all_to_all(const Located& x, const GroupPtr& group, const CutAxis& from, const CutAxis& to) {
  Shape whole = x.tensor.shape();
  const int rank = whole.rank();
  whole[counted_axis("all_to_all", from.axis, rank, x.where)] = from.extent;
  whole[counted_axis("all_to_all", to.axis, rank, x.where)] = to.extent;
  const std::vector<Box> before = boxes_of_pieces(*group, whole, from.axis, from.grain),
                         after = boxes_of_pieces(*group, whole, to.axis, to.grain);
  std::vector<Holding> have, want;
  for (std::size_t i = 0; i < before.size(); ++i) {
    have.push_back({group->ranks()[i], before[i]});
    want.push_back({group->ranks()[i], after[i]});
  }
  return exchange(x, group, std::make_shared<const RouteStep>(step_between(have, want)));
}

Tensor permute(const Located& x, const GroupPtr& group, int by) {
  const int n = group->size();
  const Shape row = x.tensor.shape().inserted(0, 1);
  std::vector<Holding> have, want;
  for (int i = 0; i < n; ++i) {
    Box of_this = Box::whole(row), of_source = Box::whole(row);
    of_this.first[0] = i;
    of_source.first[0] = ((i - by) % n + n) % n;
    have.push_back({group->ranks()[static_cast<std::size_t>(i)], of_this});
    want.push_back({group->ranks()[static_cast<std::size_t>(i)], of_source});
  }
  const auto step = std::make_shared<const RouteStep>(step_between(have, want));
  return reshape(exchange({reshape(x, row), x.where}, group, step), x.tensor.shape());
}

}  // namespace lodestone::engine
