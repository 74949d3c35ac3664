// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/parallelize.hpp"

#include "engine/compile/recorded_function.hpp"
#include "engine/core/error.hpp"
#include "engine/dist/cells.hpp"
#include "engine/dist/explain.hpp"
#include "engine/dist/pins.hpp"
#include "engine/dist/searched_layouts.hpp"
#include "engine/record/host_state.hpp"
#include "engine/record/state_scope.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"

#include <algorithm>
#include <optional>

namespace lodestone::engine {
namespace {

/// Returns the function that an instruction calls, always and once; null: none.
const Subgraph* called_by(const Instruction& each) {
  if (each.op->name == "call") return &attrs_as<CallAttrs>(*each.attrs).body;
  if (each.op->name == "custom") return &attrs_as<CustomAttrs>(*each.attrs).body;
  return nullptr;
}

/// Returns what an instruction does on these operands, recorded anew.
using Rerecord = std::function<Tensors(std::size_t instruction, const Tensors& in)>;

Tensors as_it_was(const Instruction& each, const Tensors& in) {
  const Tensor result = record(*each.op, in, each.attrs, each.where);
  return each.op->results ? elements_of(result, each.where) : Tensors{result};
}

/// Records a program anew on other inputs.
Tensors recorded_again(const Program& program, const Tensors& inputs, const Rerecord& rerecord) {
  Tensors values(program.values().size());
  for (ValueId id = 0; id < values.size(); ++id) {
    const Value& value = program.values()[id];
    if (value.from == Value::From::input) values[id] = inputs[value.of];
    if (value.from == Value::From::constant) values[id] = program.constants()[value.of];
  }
  for (std::size_t i = 0; i < program.instructions().size(); ++i) {
    const Instruction& each = program.instructions()[i];
    Tensors in;
    for (const ValueId id : program.operands(each)) in.push_back(values[id]);
    std::ranges::copy(rerecord(i, in), values.begin() + each.first_result);
  }
  Tensors outputs;
  for (const ValueId id : program.outputs()) outputs.push_back(values[id]);
  return outputs;
}

Program rewritten(const Program& program, const Rerecord& rerecord, std::source_location where) {
  std::vector<Aval> avals;
  for (ValueId id = 0; id < program.n_inputs(); ++id) avals.push_back(program.values()[id].aval);
  const auto again = [&](const Tensors& inputs) { return recorded_again(program, inputs, rerecord); };
  return Program::of(Trace::without_values(again, avals, where));
}

/// Returns a program without calls, so that layouts pass through what they do.
Program without_calls(Program program, std::source_location where) {
  const auto open = [&](std::size_t i, const Tensors& in) {
    const Instruction& each = program.instructions()[i];
    const Subgraph* body = called_by(each);
    return body != nullptr ? (*body)(in) : as_it_was(each, in);
  };
  while (std::ranges::any_of(program.instructions(),
                             [](const Instruction& each) { return called_by(each) != nullptr; }))
    program = rewritten(program, open, where);
  return program;
}

/// Returns whether an operand is cut where a composite needs all of it, as a batch norm does of a batch.
bool needs_whole_of_cut(const Program& program, const LayoutTable& table, const DeviceMesh& mesh,
                        std::size_t i) {
  const Instruction& each = program.instructions()[i];
  if (!each.op->decompose) return false;
  const AxisMap map = axis_map_of(program, each);
  const auto operands = program.operands(each);
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const std::vector<Cut>& cuts = table.values[operands[k]].cuts;
    for (std::size_t axis = 0; axis < std::min(cuts.size(), map.inputs[k].size()); ++axis) {
      const int label = map.inputs[k][axis].label;
      const bool can_be_cut =
          label >= 0 && map.labels[static_cast<std::size_t>(label)].kind != Label::Kind::whole;
      if (mesh.shards_along(cuts[axis].axes) > 1 && !can_be_cut) return true;
    }
  }
  return false;
}

/// Replaces composites that would gather what is cut by the ops that they consist of, whose sums can be cut.
/// Depends on layouts alone, so that bits do not depend on the number of ranks. Returns whether there were
/// some.
bool decompose_where_cut(Program& program, const LayoutTable& table, const DeviceMesh& mesh,
                         std::source_location where) {
  std::vector<bool> opens;
  for (std::size_t i = 0; i < program.instructions().size(); ++i)
    opens.push_back(needs_whole_of_cut(program, table, mesh, i));
  if (std::ranges::find(opens, true) == opens.end()) return false;
  const auto open = [&](std::size_t i, const Tensors& in) {
    const Instruction& each = program.instructions()[i];
    if (!opens[i]) return as_it_was(each, in);
    const Tensor out = record(*each.op, in, each.attrs, each.where);
    const Tensor result = each.op->decompose({*each.op, in, out, each.attrs, each.where});
    return each.op->results ? elements_of(result, each.where) : Tensors{result};
  };
  program = rewritten(program, open, where);
  return true;
}

/// Recordings that are kept at a time; beyond them the oldest goes.
constexpr std::size_t most_entries = 8;

/// A cell of the function with the one that holds what this rank has of it: a piece, or all.
struct CutCell {
  Variable whole, own;
  Placement place;
};

/// A recorded function as ranks run it, and the calls that it is for.
struct Entry {
  std::vector<Aval> arguments;  ///< as on one machine
  GivenAs given = GivenAs::whole;
  std::vector<HostChoice> choices;
  std::vector<CutCell> cells;
  std::vector<Feed> feeds;
  std::vector<PinnedValue> pins;
  std::vector<Pin> named;  ///< the layouts of what has a name
  std::shared_ptr<const CutProgram> cut;
  Compiled run;

  [[nodiscard]] bool fits(std::span<const Aval> avals, GivenAs how) const {
    return given == how && std::ranges::equal(arguments, avals) &&
           std::ranges::all_of(choices, [](const HostChoice& each) { return each.now() == each.then; });
  }
};

/// Returns the layouts of inputs: pieces of cells, and of arguments that are given so; all else whole.
std::vector<MeshLayout> layouts_of_inputs(const RecordedFunction& recorded, const LayoutTable& table,
                                          const DeviceMesh& mesh, GivenAs given) {
  std::vector<MeshLayout> result;
  for (ValueId id = 0; id < recorded.program.n_inputs(); ++id) {
    const bool is_cell = id >= recorded.n_arguments() && id < recorded.n_arguments() + recorded.read.size();
    const bool is_piece = is_cell || (given == GivenAs::pieces && id < recorded.n_arguments());
    result.push_back(is_piece ? table.values[id]
                              : whole_layout(recorded.program.values()[id].aval.shape.rank(), mesh));
  }
  return result;
}

/// Returns the layouts of outputs: a cell keeps its own, all else is whole.
std::vector<MeshLayout> layouts_of_outputs(const RecordedFunction& recorded, const LayoutTable& table,
                                           const DeviceMesh& mesh) {
  const Program& program = recorded.program;
  const std::size_t first = program.outputs().size() - recorded.assigned.size();
  std::vector<MeshLayout> result;
  for (std::size_t i = 0; i < program.outputs().size(); ++i) {
    const ValueId id = program.outputs()[i];
    result.push_back(i < first ? whole_layout(program.values()[id].aval.shape.rank(), mesh)
                               : table.values[id]);
  }
  for (const auto& [input, output] : recorded.donors()) result[output] = table.values[input];
  return result;
}

/// Returns the cells that a function reads, then those that it only assigns, with their pieces.
std::vector<CutCell> cut_cells(const RecordedFunction& recorded, const CutProgram& cut, const World& world) {
  std::vector<CutCell> result;
  const auto add = [&](const Variable& cell, const MeshLayout& layout) {
    const Placement place{layout, cut.mesh};
    result.push_back({cell, cell_of_piece(cell, place, world), place});
  };
  for (std::size_t i = 0; i < recorded.read.size(); ++i)
    add(recorded.read[i], cut.inputs[recorded.n_arguments() + i]);
  const std::size_t first = cut.outputs.size() - recorded.assigned.size();
  for (std::size_t i = 0; i < recorded.assigned.size(); ++i) {
    if (std::ranges::find(recorded.read, recorded.assigned[i]) == recorded.read.end())
      add(recorded.assigned[i], cut.outputs[first + i]);
  }
  return result;
}

/// Returns a function of arguments and numbers of the host that reads and assigns the cells of this rank.
Function function_of_rank(const RecordedFunction& recorded, const std::vector<CutCell>& cells, Function cut) {
  Variables read, assigned;
  for (std::size_t i = 0; i < recorded.read.size(); ++i) read.push_back(cells[i].own);
  for (const Variable& each : recorded.assigned)
    assigned.push_back(
        std::ranges::find_if(cells, [&](const CutCell& cell) { return cell.whole == each; })->own);
  const auto n = static_cast<std::ptrdiff_t>(recorded.n_arguments());
  return [read, assigned, n, cut = std::move(cut)](const Tensors& given) {
    Tensors inputs(given.begin(), given.begin() + n);
    for (const Variable& each : read) inputs.push_back(each.value());
    inputs.insert(inputs.end(), given.begin() + n, given.end());
    Tensors outputs = cut(inputs);
    const std::size_t n_results = outputs.size() - assigned.size();
    for (std::size_t i = 0; i < assigned.size(); ++i) assigned[i].assign(outputs[n_results + i]);
    outputs.resize(n_results);
    return outputs;
  };
}

}  // namespace

class Parallelized::State {
 public:
  State(Function f, World world, DeviceMesh mesh, ParallelOptions options, std::source_location where)
      : f_(std::move(f)),
        world_(std::move(world)),
        mesh_(std::move(mesh)),
        options_(std::move(options)),
        where_(where) {}

  [[nodiscard]] Tensors call(const Tensors& arguments, const std::source_location& where) {
    if (StateScope::is_open() || std::ranges::any_of(arguments, may_be_followed)) return f_(arguments);
    if (!find_entry(avals_of(arguments), GivenAs::whole, where)) return f_(arguments);
    return run(*latest_, arguments, where);
  }

  [[nodiscard]] Tensors call_with_pieces(const Tensors& pieces, const std::vector<Shape>& whole,
                                         const std::source_location& where) {
    std::vector<Aval> avals = avals_of(pieces);
    if (whole.size() != pieces.size())
      throw core::InvalidArgument("parallelize#wrong_pieces",
                                  "expected a shape of all for each of {} pieces, got {} {}", pieces.size(),
                                  whole.size(), at_line(where));
    for (std::size_t i = 0; i < avals.size(); ++i) avals[i].shape = whole[i];
    if (StateScope::is_open() || std::ranges::any_of(pieces, may_be_followed) ||
        !find_entry(avals, GivenAs::pieces, where))
      throw core::InvalidArgument("parallelize#followed_pieces",
                                  "expected a call outside of transforms, which see whole tensors alone {}",
                                  at_line(where));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const Shape expected = box_of(latest_->cut->inputs[i], whole[i], mesh_, world_->rank()).shape;
      if (!(pieces[i].shape() == expected))
        throw core::ShapeError("parallelize#wrong_piece", "expected a piece {} of input {}, {}, got {} {}",
                               expected.text(), i, whole[i].text(), pieces[i].shape().text(), at_line(where));
    }
    return run(*latest_, pieces, where);
  }

  [[nodiscard]] std::string explain() const { return latest_ ? explained(*latest_->cut, latest_->pins) : ""; }
  [[nodiscard]] std::vector<Pin> pins() const { return latest_ ? latest_->named : std::vector<Pin>(); }
  [[nodiscard]] CompileStats stats() const { return latest_ ? latest_->run.stats() : CompileStats(); }

 private:
  /// Finds or makes what runs for such arguments. Returns false if there can be none.
  [[nodiscard]] bool find_entry(std::vector<Aval> avals, GivenAs given, const std::source_location& where) {
    auto entry = std::ranges::find_if(entries_, [&](const auto& each) { return each->fits(avals, given); });
    if (entry == entries_.end()) {
      std::shared_ptr<const Entry> made = entry_for(std::move(avals), given, where);
      if (!made) return false;
      if (entries_.size() == most_entries) entries_.erase(entries_.begin());
      entry = entries_.insert(entries_.end(), std::move(made));
    }
    latest_ = *entry;
    return true;
  }

  /// Records the function and cuts it. Null: it captured what a transform may follow.
  [[nodiscard]] std::shared_ptr<const Entry> entry_for(std::vector<Aval> avals, GivenAs given,
                                                       const std::source_location& where) const {
    const HostStateScope host;
    std::optional<RecordedFunction> recorded = recorded_function(f_, avals, where);
    if (!recorded) return {};
    recorded->program = without_calls(std::move(recorded->program), where);
    const auto task_now = [&] {
      LayoutTask task = task_of(*recorded, mesh_, options_, given);
      if (options_.search != Search::none) pin_known_cells(*recorded, task);
      return task;
    };
    LayoutTask task = task_now();
    LayoutTable table = table_for(*recorded, task);
    while (decompose_where_cut(recorded->program, table, mesh_, where)) {
      task = task_now();
      table = table_for(*recorded, task);
    }
    std::vector<Pin> named = pins_of(*recorded, table, mesh_, options_);
    std::vector<MeshLayout> in = layouts_of_inputs(*recorded, table, mesh_, given),
                            out = layouts_of_outputs(*recorded, table, mesh_);
    const auto cut = std::make_shared<const CutProgram>(
        CutProgram{std::move(recorded->program), std::move(table), std::move(in), std::move(out), mesh_});
    check_same_program(*cut, *world_, where_);
    std::vector<CutCell> cells = cut_cells(*recorded, *cut, world_);
    Function of_rank = function_of_rank(*recorded, cells, partition(cut, world_));
    return std::make_shared<const Entry>(Entry{
        std::move(avals), given, host.choices(), std::move(cells), recorded->feeds, task.pins,
        std::move(named), cut,
        compile(std::move(of_rank),
                {.level = options_.level, .breaks = Breaks::refused, .budget = options_.budget}, where_)});
  }

  /// Pins cells as an earlier recording has cut them, so that they do not move between inputs of other
  /// shapes.
  void pin_known_cells(const RecordedFunction& recorded, LayoutTask& task) const {
    for (std::size_t i = 0; i < recorded.read.size(); ++i) {
      const auto value = static_cast<ValueId>(recorded.n_arguments() + i);
      if (std::ranges::find(task.pins, value, &PinnedValue::value) != task.pins.end()) continue;
      for (const auto& entry : entries_) {
        const auto cell = std::ranges::find(entry->cells, recorded.read[i], &CutCell::whole);
        if (cell == entry->cells.end()) continue;
        task.pins.push_back({value, cell->place.layout, "cut already"});
        break;
      }
    }
  }

  [[nodiscard]] LayoutTable table_for(const RecordedFunction& recorded, const LayoutTask& task) const {
    if (options_.search == Search::none) return propagate(recorded.program, mesh_, task);
    const std::size_t n_results = recorded.program.outputs().size() - recorded.assigned.size();
    return searched(recorded.program, mesh_, {task, n_results, options_.memory_bytes, options_.move_bytes})
        .table;
  }

  [[nodiscard]] Tensors run(const Entry& entry, const Tensors& arguments,
                            const std::source_location& where) const {
    Tensors inputs = without_gaps(arguments);
    for (const auto& [whole, own, place] : entry.cells) renew_piece(whole, own, place, world_);
    for (const Feed& each : entry.feeds) inputs.push_back(each.value());
    return entry.run(inputs, where);
  }

  const Function f_;
  const World world_;
  const DeviceMesh mesh_;
  const ParallelOptions options_;
  const std::source_location where_;
  std::vector<std::shared_ptr<const Entry>> entries_;
  std::shared_ptr<const Entry> latest_;
};

Tensors Parallelized::operator()(const Tensors& inputs, std::source_location where) const {
  return state_->call(inputs, where);
}

Tensors Parallelized::of_pieces(const Tensors& pieces, const std::vector<Shape>& whole,
                                std::source_location where) const {
  return state_->call_with_pieces(pieces, whole, where);
}

std::string Parallelized::explain() const { return state_->explain(); }

std::vector<Pin> Parallelized::pins() const { return state_->pins(); }

CompileStats Parallelized::stats() const { return state_->stats(); }

Parallelized parallelize(Function f, const World& world, const DeviceMesh& mesh, ParallelOptions options,
                         std::source_location where) {
  if (!f)
    throw core::InvalidArgument("parallelize#no_function", "expected a function, got none {}",
                                at_line(where));
  const double least = std::min(options.memory_bytes, options.move_bytes);
  const bool has_limits = options.memory_bytes != 0.0 || options.move_bytes != 0.0;
  if (!(least >= 0.0) || (has_limits && options.search == Search::none))
    throw core::InvalidArgument(
        "parallelize#search_options",
        "expected memory_bytes and move_bytes of a search, at least 0, got {} and {} {}; "
        "set .search = Search::automatic, or leave them out",
        options.memory_bytes, options.move_bytes,
        options.search == Search::none ? "without a search" : "of a search");
  return Parallelized(
      std::make_shared<Parallelized::State>(std::move(f), world, mesh, std::move(options), where));
}

}  // namespace lodestone::engine
