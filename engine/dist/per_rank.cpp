// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/per_rank.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/record/trace.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"

#include <algorithm>
#include <optional>

namespace lodestone::engine {
namespace {

/// The mesh axes along which a value is each rank's own, a bit per axis; none for numbers, which fit to all.
using OwnAxes = std::optional<unsigned>;

/// Returns true for what is made of numbers in the code alone, which no rank has otherwise.
bool is_literal(const Node& node) {
  if (node.is_zero || (node.op != nullptr && node.op->n_inputs == 0)) return true;
  if (node.op == nullptr || node.inputs.size() == 0) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const NodePtr& input) { return is_literal(*input); });
}

/// The axes along which a value is own: once of an array, per element of a tuple.
using Held = std::vector<OwnAxes>;

/// Follows along which axes of a mesh the values of a function are own, and checks that they do not mix.
class OwnCheck {
 public:
  explicit OwnCheck(const DeviceMesh& mesh) : mesh_(mesh) {}

  /// Checks a function of values that are the same on all ranks, and gives such.
  void run(const Trace& trace) const {
    const std::vector<OwnAxes> results = follow(trace, std::vector<OwnAxes>(trace.inputs().size(), 0U));
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].value_or(0) != 0)
        throw core::InvalidArgument("per_rank#own_output",
                                    "expected output {} to be the same on the ranks along the axes that do "
                                    "not occur in its layout, got {}; name them there, or use a collective",
                                    i, text(results[i]));
    }
  }

 private:
  using Step = Trace::Step;
  [[nodiscard]] std::string text(const OwnAxes& axes) const {
    if (axes.value_or(0) == 0) return "the same on all ranks";
    std::string names;
    for (int axis = 0; axis < mesh_.n_axes(); ++axis) {
      if ((*axes >> axis & 1U) != 0)
        names += (names.empty() ? "" : ", ") + mesh_.axes()[static_cast<std::size_t>(axis)].name;
    }
    return "each rank's own along " + names;
  }

  /// Returns where the outputs of a function are own, for inputs that are arrays.
  [[nodiscard]] std::vector<OwnAxes> follow(const Trace& trace, const std::vector<OwnAxes>& inputs) const {
    std::vector<Held> found;
    for (const OwnAxes& each : inputs) found.push_back({each});
    const auto at = [&](Trace::Slot slot, const Tensor& tensor) -> Held {
      if (slot >= 0) return found[static_cast<std::size_t>(slot)];
      return {is_literal(tensor.node()) ? OwnAxes() : OwnAxes(0U)};
    };
    for (const Step& step : trace.steps()) {
      std::vector<Held> in;
      const auto slots = trace.slots_of(step);
      for (std::size_t i = 0; i < slots.size(); ++i) in.push_back(at(slots[i], step.in[i]));
      found.push_back(after(step, in));
    }
    std::vector<OwnAxes> outputs;
    for (std::size_t i = 0; i < trace.outputs().size(); ++i)
      outputs.push_back(at(trace.output_slots()[i], trace.outputs()[i])[0]);
    return outputs;
  }

  /// Returns where the result of a step is own. errors: InvalidArgument where its inputs do not fit.
  [[nodiscard]] Held after(const Step& step, const std::vector<Held>& in) const {
    if (step.op->name == "get")
      return {in[0][static_cast<std::size_t>(step.args().as<ElementAttrs>().index)]};
    std::vector<OwnAxes> arrays;
    for (const Held& each : in) arrays.push_back(each[0]);
    if (step.op->name == "tuple") return arrays;
    if (step.op->name == "call") return follow(step.args().as<CallAttrs>().body.trace(), arrays);
    if (step.op->name == "custom") return follow(step.args().as<CustomAttrs>().body.trace(), arrays);
    if (step.op->name == "cond") return after_branches(step, arrays);
    if (step.op->name == "scan") return after_loop(step, arrays);
    OwnAxes common;
    for (const OwnAxes& each : arrays) common = agreed(common, each, step);
    const std::optional<Crossing> crossing = crossing_of(step.attrs.get(), *step.op);
    if (crossing) return {across(*crossing, common, step)};
    return Held(step.op->results ? avals_of(step.out).size() : 1, common);
  }

  [[nodiscard]] Held after_branches(const Step& step, const std::vector<OwnAxes>& in) const {
    const auto& [yes, no] = step.args().as<CondAttrs>();
    const std::vector<OwnAxes> inputs(in.begin() + 1, in.end());
    const std::vector<OwnAxes> if_true = follow(yes.trace(), inputs), if_false = follow(no.trace(), inputs);
    if (in[0].value_or(0) != 0 && step.op->runs_when_recorded(step.attrs.get()))
      throw core::InvalidArgument("per_rank#own_predicate",
                                  "expected a predicate that is the same on all ranks where branches have "
                                  "collectives, got one that is {} {}",
                                  text(in[0]), at_line(step.where));
    Held result;
    for (std::size_t i = 0; i < if_true.size(); ++i) {
      const OwnAxes both = agreed(if_true[i], if_false[i], step);
      result.push_back(in[0].value_or(0) == 0 ? both : agreed(in[0], both, step));
    }
    return result;
  }

  /// A carry of numbers becomes what the first step makes of it.
  [[nodiscard]] Held after_loop(const Step& step, std::vector<OwnAxes> in) const {
    const auto& attrs = step.args().as<LoopAttrs>();
    for (;;) {
      std::vector<OwnAxes> out = follow(attrs.body.trace(), in);
      bool is_fixed = true;
      for (std::size_t i = 0; i < attrs.n_carry; ++i) {
        out[i] = agreed(in[i], out[i], step);
        is_fixed = is_fixed && out[i] == in[i];
        in[i] = out[i];
      }
      if (is_fixed) return out;
    }
  }

  /// Returns where a result of two values is own. errors: InvalidArgument where they mix.
  [[nodiscard]] OwnAxes agreed(const OwnAxes& a, const OwnAxes& b, const Step& step) const {
    if (a && b && *a != *b)
      throw core::InvalidArgument(
          "per_rank#mixed",
          "expected operands of {} that ranks hold in one way, got one that is {} and "
          "one that is {}; use as_own, own_piece or a collective {}",
          step.op->name, text(a), text(b), at_line(step.where));
    return a ? a : b;
  }

  [[nodiscard]] OwnAxes across(const Crossing& crossing, const OwnAxes& in, const Step& step) const {
    unsigned axes = 0;
    for (const Dim axis : crossing.group->axes())
      axes |= 1U << mesh_.axis_named(crossing.group->mesh().axes()[static_cast<std::size_t>(axis)].name);
    if (crossing.group->mesh().ranks() != mesh_.ranks())
      throw core::InvalidArgument("per_rank#other_mesh",
                                  "expected collectives on the mesh {}, got {} along {} {}", mesh_.text(),
                                  step.op->name, crossing.group->name(), at_line(step.where));
    if (in && (*in & axes) != (crossing.takes_own ? axes : 0U))
      throw core::InvalidArgument("per_rank#wrong_holder", "expected an input of {} that is {}{}, got {} {}",
                                  step.op->name, crossing.takes_own ? "" : "not ", text(axes), text(in),
                                  at_line(step.where));
    return crossing.gives_own ? in.value_or(0) | axes : in.value_or(0) & ~axes;
  }

  const DeviceMesh& mesh_;
};

/// A function of pieces with what makes the pieces and the whole.
struct PerRank {
  World world;
  DeviceMesh mesh;
  std::vector<MeshLayout> in, out;
  Function f;
  std::source_location where;

  [[nodiscard]] Tensors operator()(const Tensors& whole) const {
    check_count("inputs", in.size(), whole.size());
    Tensors pieces;
    for (std::size_t i = 0; i < in.size(); ++i) pieces.push_back(piece_of(whole[i], in[i]));
    Tensors results = f(pieces);
    check_count("outputs", out.size(), results.size());
    for (std::size_t i = 0; i < out.size(); ++i) results[i] = whole_of(results[i], out[i]);
    return results;
  }

 private:
  void check_count(std::string_view what, std::size_t expected, std::size_t got) const {
    if (expected != got)
      throw core::InvalidArgument("per_rank#wrong_count", "expected {} {}, one per layout, got {} {}",
                                  expected, what, got, at_line(where));
  }

  [[nodiscard]] GroupPtr group_along(const DeviceMesh& of, const IntList& axes) const {
    return std::make_shared<const Group>(world, of, axes);
  }

  [[nodiscard]] Tensor piece_of(const Tensor& whole, const MeshLayout& layout) const {
    check_layout(layout, whole.shape(), mesh);
    for (const Terms how : layout.terms) {
      if (how != Terms::no)
        throw core::InvalidArgument("per_rank#input_of_terms",
                                    "expected inputs that are cut or whole, got {} {}", text_of(layout, mesh),
                                    at_line(where));
    }
    Tensor piece = whole;
    for (int axis = 0; axis < whole.rank(); ++axis) {
      const auto& [axes, grain] = layout.cuts[static_cast<std::size_t>(axis)];
      if (!axes.empty()) piece = own_piece({piece, where}, group_along(mesh, axes), axis, grain);
    }
    return piece;
  }

  [[nodiscard]] Tensor whole_of(const Tensor& piece, const MeshLayout& layout) const {
    check_layout(layout, piece.shape(), mesh);
    Tensor whole = with_terms_combined(piece, layout);
    for (int axis = 0; axis < whole.rank(); ++axis) {
      const auto& [axes, grain] = layout.cuts[static_cast<std::size_t>(axis)];
      if (axes.empty()) continue;
      const GroupPtr group = group_along(mesh, axes);
      whole = all_gather({whole, where}, group,
                         {axis, extent_of_all(*group, whole.dim(axis), grain, where), grain});
    }
    return whole;
  }

  [[nodiscard]] Tensor with_terms_combined(const Tensor& piece, const MeshLayout& layout) const {
    IntList axes;
    Terms how = Terms::no;
    for (int axis = 0; axis < mesh.n_axes(); ++axis) {
      const Terms each = layout.terms[static_cast<std::size_t>(axis)];
      if (each == Terms::no) continue;
      if (how != Terms::no && each != how)
        throw core::InvalidArgument("per_rank#two_combinations",
                                    "expected terms that combine in one way, got {} {}",
                                    text_of(layout, mesh), at_line(where));
      how = each;
      axes.push_back(axis);
    }
    if (how == Terms::no) return piece;
    std::vector<MeshAxis> one_term_each = mesh.axes();
    for (MeshAxis& axis : one_term_each) axis.shards = axis.size;
    return all_reduce({piece, where}, group_along(DeviceMesh(one_term_each, mesh.ranks()), axes), how);
  }
};

}  // namespace

Function per_rank(const World& world, const DeviceMesh& mesh, std::vector<MeshLayout> in,
                  std::vector<MeshLayout> out, Function f, std::source_location where) {
  const PerRank g{world, mesh, std::move(in), std::move(out), std::move(f), where};
  return [g](const Tensors& whole) {
    std::vector<Aval> avals;
    for (const Tensor& each : whole) avals.push_back(each.aval());
    const Trace trace = Trace::without_values(g, avals, g.where);
    OwnCheck(g.mesh).run(trace);
    return trace.values(whole);
  };
}

}  // namespace lodestone::engine
