// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/dist/searched_layouts.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/record/trace.hpp"
#include "engine/record/tuple.hpp"

#include <random>

namespace lodestone::tests {

/// Returns the program of a function of such inputs.
inline engine::Program program_of(const engine::Function& f, const engine::Tensors& inputs) {
  const std::vector<engine::Aval> avals = engine::avals_of(inputs);
  return engine::Program::of(engine::Trace::without_values(f, avals, std::source_location::current()));
}

/// Returns a layout in which each mesh axis cuts a random axis of a tensor, or none.
inline engine::MeshLayout random_cuts(const engine::Shape& shape, const engine::DeviceMesh& mesh,
                                      std::mt19937_64& random) {
  engine::MeshLayout layout = engine::whole_layout(shape.rank(), mesh);
  for (int axis = 0; axis < mesh.n_axes() && shape.rank() > 0; ++axis) {
    if (random() % 4 == 0) continue;
    engine::Cut& cut = layout.cuts[random() % layout.cuts.size()];
    cut.axes.push_back(axis);
    cut.grain = 1 + static_cast<engine::Dim>(random() % 2);
  }
  return layout;
}

/// Returns a program with a table for a random set of pins of inputs, outputs and values between them.
/// Inputs come whole, outputs leave whole.
inline engine::CutProgram randomly_cut(const engine::Program& program, const engine::DeviceMesh& mesh,
                                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  engine::LayoutTask task;
  for (engine::ValueId id = 0; id < program.values().size(); ++id) {
    const engine::Aval& aval = program.values()[id].aval;
    const std::uint64_t one_of = id < program.n_inputs() ? 2 : 8;
    if (aval.kind == engine::Kind::array && random() % one_of == 0)
      task.pins.push_back({id, random_cuts(aval.shape, mesh, random), "random"});
  }
  std::vector<engine::MeshLayout> in, out;
  for (engine::ValueId id = 0; id < program.n_inputs(); ++id)
    in.push_back(engine::whole_layout(program.values()[id].aval.shape.rank(), mesh));
  for (const engine::ValueId id : program.outputs())
    out.push_back(engine::whole_layout(program.values()[id].aval.shape.rank(), mesh));
  return {program, engine::propagate(program, mesh, task), in, out, mesh};
}

/// Returns likewise a program whose table is searched: every second input is a cell, few values are pinned.
/// errors: InvalidArgument if the price of the search is below what is counted.
inline engine::CutProgram searched_cut(const engine::Program& program, const engine::DeviceMesh& mesh,
                                       std::uint64_t seed) {
  std::mt19937_64 random(seed);
  engine::SearchTask task;
  task.n_results = program.outputs().size();
  engine::CutProgram cut{program, {}, {}, {}, mesh};
  for (engine::ValueId id = 0; id < program.values().size(); ++id) {
    const engine::Aval& aval = program.values()[id].aval;
    if (id < program.n_inputs() && random() % 2 == 0) task.layouts.held_in_pieces.push_back(id);
    if (aval.kind == engine::Kind::array && random() % 16 == 0)
      task.layouts.pins.push_back({id, random_cuts(aval.shape, mesh, random), "random"});
  }
  const engine::SearchedTable found = searched(program, mesh, task);
  cut.table = found.table;
  for (const engine::ValueId id : program.outputs())
    cut.outputs.push_back(engine::whole_layout(program.values()[id].aval.shape.rank(), mesh));
  for (engine::ValueId id = 0; id < program.n_inputs(); ++id)
    cut.inputs.push_back(engine::whole_layout(program.values()[id].aval.shape.rank(), mesh));
  engine::CutProgram in_pieces = cut;
  for (const engine::ValueId id : task.layouts.held_in_pieces) in_pieces.inputs[id] = cut.table.values[id];
  for (const engine::PinnedValue& pin : task.layouts.pins) {
    if (pin.value < program.n_inputs()) in_pieces.inputs[pin.value] = pin.layout;
  }
  if (price_of(in_pieces) > found.found.choice.cost * (1.0 + 1e-12) + 1e-6)
    throw core::InvalidArgument("test#price", "counted {}, searched {}", price_of(in_pieces),
                                found.found.choice.cost);
  return cut;
}

/// Returns the bytes of tensors, one after the other.
inline std::vector<std::byte> bytes_of(const engine::Tensors& tensors) {
  std::vector<std::byte> all;
  for (const engine::Tensor& each : engine::without_gaps(tensors)) {
    const auto bytes = each.bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

}  // namespace lodestone::tests
