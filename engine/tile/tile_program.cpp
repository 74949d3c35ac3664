// SPDX-License-Identifier: Apache-2.0
#include "engine/tile/tile_program.hpp"

#include "engine/backend/cpu/share.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/tile/strided_walk.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::engine::cpu_backend {
namespace {

using From = Expr::Value::From;

// The slots of a tile fit in the nearest cache beside parts of the operands. Shorter tiles would make calls
// of loops count, longer ones save nothing.
constexpr std::size_t bytes_of_slots = 16384;
constexpr std::int64_t shortest_tile = 64, longest_tile = 2048;

}  // namespace

TileProgram::TileProgram(Expr expr) : expr_(std::move(expr)) {
  place_values();
  for (const Expr::Code& code : expr_.codes) ns_ += code.body->ns;
  note_order();
}

/// Notes when operands are read for the last time, and outputs written.
void TileProgram::note_order() {
  last_read_.resize(expr_.loads.size(), 0);
  writer_.resize(expr_.stores.size(), 0);
  for (std::size_t i = 0; i < expr_.codes.size(); ++i) {
    const Expr::Code& code = expr_.codes[i];
    for (const ExprId in : std::span(code.in).first(static_cast<std::size_t>(code.body->n_inputs))) {
      if (expr_.values[in].from == From::load) last_read_[expr_.values[in].of] = i;
    }
    for (std::size_t k = 0; k < expr_.stores.size(); ++k) {
      if (expr_.stores[k].value == code.out) writer_[k] = i;
    }
  }
}

bool TileProgram::writes_over(std::size_t operand, std::size_t output) const {
  const auto is_it = [&](const Expr::Value& value) {
    return value.from == From::load && value.of == operand;
  };
  const DType dtype = std::ranges::find_if(expr_.values, is_it)->dtype,
              result = expr_.values[expr_.stores[output].value].dtype;
  const IntList& from = expr_.loads[operand].from;
  return from == IntList::counting(from.size()) && core::size_of(dtype) == core::size_of(result) &&
         last_read_[operand] <= writer_[output];
}

std::size_t TileProgram::n_places() const {
  return expr_.loads.size() + expr_.numbers.size() + slots_.size() + expr_.stores.size();
}

/// Gives each result the place of an output or a slot, which is free again after the last use.
void TileProgram::place_values() {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const std::size_t n = expr_.values.size(), first_slot = expr_.loads.size() + expr_.numbers.size();
  std::vector<std::size_t> place(n), slot(n, none), output(n, none), last_use(n, 0);
  for (std::size_t i = 0; i < expr_.stores.size(); ++i) output[expr_.stores[i].value] = i;
  for (std::size_t i = 0; i < expr_.codes.size(); ++i) {
    for (const ExprId in :
         std::span(expr_.codes[i].in).first(static_cast<std::size_t>(expr_.codes[i].body->n_inputs)))
      last_use[in] = i;
  }
  for (std::size_t id = 0; id < n; ++id) {
    const auto& [from, dtype, of] = expr_.values[id];
    if (from != From::code) place[id] = from == From::load ? of : expr_.loads.size() + of;
  }
  std::vector<bool> is_free;
  for (std::size_t i = 0; i < expr_.codes.size(); ++i) {
    const Expr::Code& code = expr_.codes[i];
    const auto inputs = std::span(code.in).first(static_cast<std::size_t>(code.body->n_inputs));
    if (output[code.out] == none) {
      const std::size_t size = core::size_of(expr_.values[code.out].dtype);
      std::size_t at = 0;
      while (at < slots_.size() && !(is_free[at] && slots_[at] == size)) ++at;
      if (at == slots_.size()) {
        slots_.push_back(size);
        is_free.push_back(true);
      }
      is_free[at] = false;
      slot[code.out] = at;
      place[code.out] = first_slot + at;
    }
    for (const ExprId in : inputs) {
      if (slot[in] != none && last_use[in] == i) is_free[slot[in]] = true;
    }
  }
  for (std::size_t id = 0; id < n; ++id) {
    if (output[id] != none) place[id] = first_slot + slots_.size() + output[id];
  }
  for (const Expr::Code& code : expr_.codes) {
    Step step{code.body->fn(), static_cast<PlaceId>(place[code.out]), {}};
    for (std::size_t k = 0; k < static_cast<std::size_t>(code.body->n_inputs); ++k)
      step.in[k] = static_cast<PlaceId>(place[code.in[k]]);
    steps_.push_back(step);
  }
}

/// Returns the elements of a tile, where those of operands that are copied take so many bytes beside slots.
std::int64_t TileProgram::tile(std::size_t bytes_of_loads) const {
  std::size_t bytes = bytes_of_loads;
  for (const std::size_t size : slots_) bytes += size;
  const auto n = static_cast<std::int64_t>(bytes_of_slots / std::max<std::size_t>(bytes, 1));
  return std::clamp(n / shortest_tile * shortest_tile, shortest_tile, longest_tile);
}

/// Tiles of one call, on one thread.
class TileProgram::Run {
 public:
  /// Without a block it only measures.
  Run(const TileProgram& program, const KernelCall& call, std::byte* block)
      : program_(program), call_(call), layout_(block) {
    places_ = layout_.array<Place>(static_cast<std::int64_t>(program.n_places()));
    copies_ = layout_.array<Copy>(std::ssize(call.in));
    place_loads();
    place_others();
  }
  [[nodiscard]] std::size_t bytes() const { return layout_.bytes(); }

  void run(std::int64_t first, std::int64_t last) const {
    for (std::int64_t at = first; at < last; at += tile_) run_tile(at, std::min(tile_, last - at));
  }

 private:
  /// An array, by the address of its first element, and how far the next tile and element are.
  struct Place {
    std::byte* data;
    std::int64_t bytes_per_element, step;
  };
  /// An operand that is copied into a tile, because its elements lie otherwise.
  struct Copy {
    StridedWalk walk;
    const std::byte* from;
    std::byte* to;
  };

  void set(std::size_t number, const Place& place) const {
    if (places_ != nullptr) places_[number] = place;
  }
  void place_loads() {
    const auto& loads = program_.expr_.loads;
    std::size_t bytes = 0;
    const auto walk = [&](std::size_t i) { return StridedWalk(call_.in[i], loads[i].from, loads[i].shape); };
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const StridedWalk at = walk(i);
      const auto size = static_cast<std::int64_t>(core::size_of(call_.in[i].aval->dtype));
      const bool is_one = at.is_one();
      if (is_one || at.is_dense()) {
        set(i, {call_.in[i].data, is_one ? 0 : size, is_one ? 0 : 1});
      } else {
        bytes += static_cast<std::size_t>(size);
      }
    }
    const std::int64_t n = call_.out[0].count();  // small arrays need small tiles
    tile_ = std::min(program_.tile(bytes), (n + shortest_tile - 1) / shortest_tile * shortest_tile);
    for (std::size_t i = 0; i < loads.size(); ++i) {
      const StridedWalk at = walk(i);
      if (at.is_one() || at.is_dense()) continue;
      const auto size = static_cast<std::int64_t>(core::size_of(call_.in[i].aval->dtype));
      std::byte* const to = layout_.array<std::byte>(tile_ * size);
      set(i, {to, 0, 1});
      if (copies_ != nullptr) copies_[n_copies_++] = {at, call_.in[i].data, to};
    }
  }
  void place_others() {
    const Expr& expr = program_.expr_;
    std::size_t number = expr.loads.size();
    for (const auto& each : expr.numbers) set(number++, {const_cast<std::byte*>(each.data()), 0, 0});
    for (const std::size_t size : program_.slots_)
      set(number++, {layout_.array<std::byte>(tile_ * static_cast<std::int64_t>(size)), 0, 1});
    for (const View& each : call_.out)
      set(number++, {each.data, static_cast<std::int64_t>(core::size_of(each.aval->dtype)), 1});
  }

  void run_tile(std::int64_t first, std::int64_t n) const {
    for (std::size_t i = 0; i < n_copies_; ++i)
      copies_[i].walk.copy(copies_[i].from, first, n, copies_[i].to);
    Plane plane{1, n};
    const auto at = [&](PlaceId id) { return places_[id].data + first * places_[id].bytes_per_element; };
    for (const Step& step : program_.steps_) {
      PlaneInputs in;
      for (std::size_t k = 0; k < Plane::most_inputs; ++k) {
        in[k] = at(step.in[k]);
        plane.step[k] = places_[step.in[k]].step;
      }
      step.fn(plane, at(step.out), in);
    }
  }

  const TileProgram& program_;
  const KernelCall& call_;
  Layout layout_;
  Place* places_;
  Copy* copies_;
  std::size_t n_copies_ = 0;
  std::int64_t tile_ = 0;
};

Workspace TileProgram::workspace(const KernelCall& call) {
  return {.per_thread = Run(*call.attrs_of<TileAttrs>().program, call, nullptr).bytes()};
}

void TileProgram::run(const KernelCall& call) {
  const TileProgram& program = *call.attrs_of<TileAttrs>().program;
  const std::int64_t n = call.out[0].count(), unit = shortest_tile;
  share((n + unit - 1) / unit, program.ns_ * static_cast<double>(n), [&](Dim first, Dim last) {
    Run(program, call, call.scratch.of_this_thread()).run(first * unit, std::min(n, last * unit));
  });
}

Kernel TileProgram::kernel() {
  const auto writes_over = [](const Attrs* attrs, std::size_t operand, std::size_t output) {
    return attrs_as<TileAttrs>(*attrs).program->writes_over(operand, output);
  };
  return {.name = "cpu.tiles", .run = run, .writes_over = writes_over, .workspace = workspace};
}

}  // namespace lodestone::engine::cpu_backend
