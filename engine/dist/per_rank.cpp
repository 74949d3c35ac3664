// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/per_rank.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/record/trace.hpp"

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

/// Checks along which axes of a mesh each value of a trace is own.
class OwnCheck {
 public:
  OwnCheck(const Trace& trace, const DeviceMesh& mesh) : trace_(trace), mesh_(mesh) {}

  void run() {
    found_.assign(trace_.inputs().size(), OwnAxes(0));
    for (const Trace::Step& step : trace_.steps()) found_.push_back(after(step));
    const auto outputs = trace_.output_slots();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const OwnAxes axes = of(outputs[i], trace_.outputs()[i]);
      if (axes.value_or(0) != 0)
        throw core::InvalidArgument("per_rank#own_output",
                                    "expected output {} to be the same on the ranks along the axes that do "
                                    "not occur in its layout, got {}; name them there, or use a collective",
                                    i, text(axes));
    }
  }

 private:
  [[nodiscard]] std::string text(const OwnAxes& axes) const {
    if (axes.value_or(0) == 0) return "the same on all ranks";
    std::string names;
    for (int axis = 0; axis < mesh_.n_axes(); ++axis) {
      if ((*axes >> axis & 1U) != 0)
        names += (names.empty() ? "" : ", ") + mesh_.axes()[static_cast<std::size_t>(axis)].name;
    }
    return "each rank's own along " + names;
  }

  [[nodiscard]] OwnAxes of(Trace::Slot slot, const Tensor& tensor) const {
    if (slot >= 0) return found_[static_cast<std::size_t>(slot)];
    return is_literal(tensor.node()) ? OwnAxes() : OwnAxes(0);
  }

  [[nodiscard]] unsigned axes_of(const Group& group, const Trace::Step& step) const {
    unsigned axes = 0;
    for (const Dim axis : group.axes())
      axes |= 1U << mesh_.axis_named(group.mesh().axes()[static_cast<std::size_t>(axis)].name);
    if (group.mesh().ranks() != mesh_.ranks())
      throw core::InvalidArgument("per_rank#other_mesh",
                                  "expected collectives on the mesh {}, got {} along {} {}", mesh_.text(),
                                  step.op->name, group.name(), at_line(step.where));
    return axes;
  }

  /// Returns where the result of a step is own. errors: InvalidArgument where its inputs do not fit.
  [[nodiscard]] OwnAxes after(const Trace::Step& step) const {
    const OwnAxes in = common(step);
    const std::optional<Crossing> crossing = crossing_of(step.attrs.get(), *step.op);
    if (!crossing) {
      if (step.op->op_class == OpClass::control && step.op->runs_when_recorded != nullptr &&
          step.op->runs_when_recorded(step.attrs.get()))
        throw core::InvalidArgument("per_rank#collective_inside",
                                    "expected collectives outside of branches, loops and calls, got one "
                                    "inside of {} {}",
                                    step.op->name, at_line(step.where));
      return in;
    }
    const unsigned axes = axes_of(*crossing->group, step);
    const unsigned expected = crossing->takes_own ? axes : 0;
    if (in && (*in & axes) != expected)
      throw core::InvalidArgument("per_rank#wrong_holder", "expected an input of {} that is {}, got {} {}",
                                  step.op->name, crossing->takes_own ? text(axes) : "not " + text(axes),
                                  text(in), at_line(step.where));
    return crossing->gives_own ? in.value_or(0) | axes : in.value_or(0) & ~axes;
  }

  [[nodiscard]] OwnAxes common(const Trace::Step& step) const {
    OwnAxes result;
    std::size_t first = 0;
    const auto slots = trace_.slots_of(step);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const OwnAxes each = of(slots[i], step.in[i]);
      if (each && !result) first = i;
      if (each && result && *each != *result)
        throw core::InvalidArgument("per_rank#mixed",
                                    "expected inputs of {} that ranks hold in one way, got input {} {} and "
                                    "input {} {}; use as_own, own_piece or a collective {}",
                                    step.op->name, first, text(result), i, text(each), at_line(step.where));
      if (each) result = each;
    }
    return result;
  }

  const Trace& trace_;
  const DeviceMesh& mesh_;
  std::vector<OwnAxes> found_;
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
    OwnCheck(trace, g.mesh).run();
    return trace.values(whole);
  };
}

}  // namespace lodestone::engine
