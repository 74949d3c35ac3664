// SPDX-License-Identifier: Apache-2.0
#include "engine/tile/tile_program.hpp"

#include "engine/backend/cpu/philox.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/tile/strided_walk.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <type_traits>

namespace lodestone::engine::cpu_backend {
namespace {

using From = Expr::Value::From;

// The slots of a tile fit in the nearest cache beside parts of the operands. Shorter tiles would make calls
// of loops count, longer ones save nothing.
constexpr std::size_t bytes_of_slots = 16384;
constexpr std::int64_t shortest_tile = 64, longest_tile = 2048;

}  // namespace

TileProgram::TileProgram(Expr expr, ExprFn generated) : expr_(std::move(expr)), generated_(generated) {
  place_values();
  join_words();
  for (const Expr::Code& code : expr_.codes) ns_ += code.body->ns;
  for (const Expr::Reduce& each : expr_.reduces) ns_ += each.body->ns;
  note_order();
}

/// Notes when operands are read for the last time, and outputs written.
void TileProgram::note_order() {
  last_read_.resize(expr_.loads.size(), 0);
  for (std::size_t id = 0; id < expr_.values.size(); ++id) {
    for (const ExprId in : expr_.inputs_of(static_cast<ExprId>(id))) {
      if (expr_.values[in].from == From::load) last_read_[expr_.values[in].of] = id;
    }
  }
}

bool TileProgram::writes_over(std::size_t operand, std::size_t output) const {
  const IntList& from = expr_.loads[operand].from;
  return from == IntList::counting(from.size()) &&
         core::size_of(expr_.dtype_of_load(operand)) == size_of_output(output) &&
         last_read_[operand] <= expr_.stores[output].value;
}

/// Joins words whose steps are the same stretch of a key: they are made together.
void TileProgram::join_words() {
  for (std::uint16_t i = 0; i < expr_.words.size(); ++i) {
    const Expr::Words& each = expr_.words[i];
    const auto& [from, dtype, of, per_row] = expr_.values[each.out];
    const auto is_same = [&](const Stretch& other) {
      const Expr::Words& words = other.of_first;
      return other.words.size() < static_cast<std::size_t>(longest_step_of_words) &&
             words.load == each.load && words.step == each.step && words.per_key == each.per_key &&
             words.first / words.step == each.first / each.step && other.dtype == dtype &&
             other.per_row == per_row;
    };
    const auto known = std::ranges::find_if(stretches_, is_same);
    if (known != stretches_.end()) {
      known->words.push_back(i);
      continue;
    }
    stretches_.push_back({each, dtype, per_row, {i}});
    ns_ += per_row ? 0.0
                   : ns_per_byte_of_words * static_cast<double>(core::size_of(dtype)) *
                         static_cast<double>(each.step);
  }
}

std::size_t TileProgram::n_places() const {
  return first_of_words() + expr_.words.size() + slots_.size() + expr_.stores.size();
}

std::int64_t TileProgram::n_rows() const {
  const ExprId first = expr_.stores[0].value;
  return expr_.count_of(first) / (expr_.values[first].per_row ? 1 : expr_.row);
}

/// Returns the bytes that a value has in a row.
std::size_t TileProgram::bytes_per_row(const Expr::Value& value) const {
  return core::size_of(value.dtype) * static_cast<std::size_t>(value.per_row ? 1 : expr_.row);
}

/// Gives each result the place of an output or a slot, which is free again after the last use.
void TileProgram::place_values() {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  const std::size_t n = expr_.values.size(), first_slot = first_of_words() + expr_.words.size();
  std::vector<std::size_t> place(n), slot(n, none), output(n, none), last_use(n, 0);
  for (std::size_t i = 0; i < expr_.stores.size(); ++i) output[expr_.stores[i].value] = i;
  for (std::size_t id = 0; id < n; ++id) {
    for (const ExprId in : expr_.inputs_of(static_cast<ExprId>(id))) last_use[in] = id;
  }
  std::vector<bool> is_free;
  for (std::size_t id = 0; id < n; ++id) {
    const Expr::Value& value = expr_.values[id];
    if (value.from == From::load) place[id] = value.of;
    if (value.from == From::number) place[id] = expr_.loads.size() + value.of;
    if (value.from == From::words) place[id] = first_of_words() + value.of;
    const std::span<const ExprId> inputs = expr_.inputs_of(static_cast<ExprId>(id));
    if (inputs.empty()) continue;
    if (output[id] == none) {
      const std::size_t bytes = bytes_per_row(value);
      std::size_t at = 0;
      while (at < slots_.size() && !(is_free[at] && slots_[at] == bytes)) ++at;
      if (at == slots_.size()) {
        slots_.push_back(bytes);
        is_free.push_back(true);
      }
      is_free[at] = false;
      slot[id] = at;
      place[id] = first_slot + at;
    }
    for (const ExprId in : inputs) {
      if (slot[in] != none && last_use[in] == id) is_free[slot[in]] = true;
    }
  }
  for (std::size_t id = 0; id < n; ++id) {
    if (output[id] != none) place[id] = first_slot + slots_.size() + output[id];
  }
  for (std::size_t id = 0; id < n; ++id) add_step(static_cast<ExprId>(id), place);
}

/// Adds what computes a value, if anything does.
void TileProgram::add_step(ExprId id, const std::vector<std::size_t>& place) {
  const std::span<const ExprId> inputs = expr_.inputs_of(id);
  if (inputs.empty()) return;
  const auto& [from, dtype, of, per_row] = expr_.values[id];
  Step step{.out = static_cast<PlaceId>(place[id]), .per_row = per_row, .has_rows = per_row};
  if (from == From::code) {
    step.fn = expr_.codes[of].body->fn();
  } else {
    step.combine = expr_.reduces[of].body->fn;
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    step.in[k] = static_cast<PlaceId>(place[inputs[k]]);
    step.is_spread[k] = !per_row && expr_.values[inputs[k]].per_row;
    step.has_rows = step.has_rows || step.is_spread[k];
  }
  steps_.push_back(step);
}

/// Returns the rows of a tile, where those of operands that are copied take so many bytes each beside slots.
std::int64_t TileProgram::tile(std::size_t bytes_of_loads) const {
  std::size_t bytes = bytes_of_loads;
  for (const std::size_t size : slots_) bytes += size;
  const auto n = static_cast<std::int64_t>(bytes_of_slots / std::max<std::size_t>(bytes, 1));
  const std::int64_t unit = rows_of_unit();
  return std::clamp(n / unit * unit, unit, std::max(longest_tile / expr_.row, unit));
}

/// Returns the rows that a tile has or a multiple of them: one, or some elements.
std::int64_t TileProgram::rows_of_unit() const { return expr_.row == 1 ? shortest_tile : 1; }

/// Tiles of one call, on one thread.
class TileProgram::Run {
 public:
  /// Without a block it only measures.
  Run(const TileProgram& program, const KernelCall& call, std::byte* block)
      : program_(program), call_(call), layout_(block) {
    places_ = layout_.array<TilePlace>(static_cast<std::int64_t>(program.n_places()));
    copies_ = layout_.array<Copy>(std::ssize(call.in));
    keys_ = layout_.array<StridedWalk>(std::ssize(program.stretches_));
    place_loads();
    place_others();
    place_words();
  }
  [[nodiscard]] std::size_t bytes() const { return layout_.bytes(); }

  void run(std::int64_t first, std::int64_t last) const {
    const bool is_one_tile = program_.generated_ != nullptr && n_copies_ == 0 && program_.stretches_.empty();
    const std::int64_t n = is_one_tile ? last - first : tile_;
    for (std::int64_t at = first; at < last; at += n) run_tile(at, std::min(n, last - at));
  }
  /// Writes n rows of the first output to a place of their own.
  void run_to(std::byte* to, std::int64_t first, std::int64_t n) const {
    const Expr& expr = program_.expr_;
    TilePlace& place = places_[program_.n_places() - expr.stores.size()];
    const auto size = static_cast<std::int64_t>(program_.bytes_per_row(expr.values[expr.stores[0].value]));
    for (std::int64_t i = 0; i < n; i += tile_) {
      place = {to + i * size, 0, 1};
      run_tile(first + i, std::min(tile_, n - i));
    }
  }

 private:
  /// An operand that is copied into a tile, because its elements lie otherwise.
  struct Copy {
    StridedWalk walk;
    const std::byte* from;
    std::byte* to;
    std::int64_t elements_per_row;
    StridedWalk::Repetition repetition;
    std::int64_t at = 0, n = 0;  ///< the elements in the tile

    /// Brings n elements from `first` on into the tile, unless the same are there.
    void copy(std::int64_t first, std::int64_t n_wanted) {
      const auto [period, block] = repetition;
      const bool is_there = period > 0 && n_wanted <= n && first % period == at % period &&
                            first / block == at / block && first % block + n_wanted <= block &&
                            at % block + n <= block;
      if (is_there) return;
      walk.copy(from, first, n_wanted, to);
      at = first;
      n = n_wanted;
    }
  };

  void set(std::size_t number, const TilePlace& place) const {
    if (places_ != nullptr) places_[number] = place;
  }
  [[nodiscard]] StridedWalk walk(std::size_t load) const {
    const auto& [from, shape] = program_.expr_.loads[load];
    return {call_.in[load], from, shape};
  }
  void place_loads() {
    const std::int64_t row = program_.expr_.row;
    std::size_t bytes = 0;
    for (const Expr::Value& value : program_.expr_.values) {
      if (value.from == From::words) bytes += program_.bytes_per_row(value);
      if (value.from != From::load) continue;
      const StridedWalk at = walk(value.of);
      const auto of_row = static_cast<std::int64_t>(program_.bytes_per_row(value));
      if (at.is_one()) {
        set(value.of, {call_.in[value.of].data, 0, 0});
      } else if (at.is_dense()) {
        set(value.of, {call_.in[value.of].data, of_row, 1});
      } else {
        bytes += static_cast<std::size_t>(of_row);
      }
    }
    const std::int64_t unit = program_.rows_of_unit();  // small arrays need small tiles
    tile_ = std::min(program_.tile(bytes), (program_.n_rows() + unit - 1) / unit * unit);
    for (const Expr::Value& value : program_.expr_.values) {
      if (value.from != From::load) continue;
      const StridedWalk at = walk(value.of);
      if (at.is_one() || at.is_dense()) continue;
      std::byte* const to =
          layout_.array<std::byte>(tile_ * static_cast<std::int64_t>(program_.bytes_per_row(value)));
      set(value.of, {to, 0, 1});
      if (copies_ != nullptr)
        copies_[n_copies_++] = {at, call_.in[value.of].data, to, value.per_row ? 1 : row, at.repetition()};
    }
  }
  void place_others() {
    const Expr& expr = program_.expr_;
    std::size_t number = expr.loads.size();
    for (const auto& each : expr.numbers) set(number++, {const_cast<std::byte*>(each.data()), 0, 0});
    for (const Expr::Words& each : expr.words) {
      const std::size_t of_row = program_.bytes_per_row(expr.values[each.out]);
      set(number++, {layout_.array<std::byte>(tile_ * static_cast<std::int64_t>(of_row)), 0, 1});
    }
    for (const std::size_t size : program_.slots_)
      set(number++, {layout_.array<std::byte>(tile_ * static_cast<std::int64_t>(size)), 0, 1});
    for (std::size_t i = 0; i < expr.stores.size(); ++i) {
      const auto of_row = program_.bytes_per_row(expr.values[expr.stores[i].value]);
      set(number++, {call_.out[i].data, static_cast<std::int64_t>(of_row), 1});
    }
  }

  void place_words() {
    if (keys_ == nullptr) return;
    for (std::size_t i = 0; i < program_.stretches_.size(); ++i) {
      const std::uint16_t load = program_.stretches_[i].of_first.load;
      const Shape& shape = program_.expr_.loads[load].shape;
      set(load, {call_.in[load].data, 0, 0});  // no value: steps of fewer inputs look there all the same
      keys_[i] = StridedWalk(call_.in[load], IntList::counting(shape.rank()), shape);
    }
  }

  /// Makes the random words of n elements from `first` on, key by key.
  void make_words(std::size_t number, std::int64_t first, std::int64_t n) const {
    const auto& [words, dtype, per_row, each] = program_.stretches_[number];
    const std::int64_t n_keys = program_.expr_.loads[words.load].shape.count() / 3;
    first += words.first / words.step;
    for (std::int64_t done = 0; done < n;) {
      const std::int64_t of_key = n_keys == 1 ? first + n : words.per_key / words.step;
      const std::int64_t key = (first + done) / of_key, at = (first + done) % of_key;
      const std::int64_t n_here = std::min(n - done, of_key - at);
      std::array<std::uint64_t, 3> numbers;
      keys_[number].copy(call_.in[words.load].data, 3 * key, 3, reinterpret_cast<std::byte*>(numbers.data()));
      std::array<WordLane, longest_step_of_words> lanes;
      for (std::size_t i = 0; i < each.size(); ++i) {
        std::byte* const to = places_[program_.first_of_words() + each[i]].data;
        lanes[i] = {program_.expr_.words[each[i]].first % words.step,
                    to + done * static_cast<std::int64_t>(core::size_of(dtype))};
      }
      fill_words(dtype, numbers.data(), at, words.step, n_here, std::span(lanes).first(each.size()));
      done += n_here;
    }
  }

  /// Computes some rows.
  void run_tile(std::int64_t first, std::int64_t n) const {
    for (std::size_t i = 0; i < n_copies_; ++i) {
      Copy& each = copies_[i];
      each.copy(first * each.elements_per_row, n * each.elements_per_row);
    }
    for (std::size_t i = 0; i < program_.stretches_.size(); ++i) {
      const std::int64_t n_of_row = program_.stretches_[i].per_row ? 1 : program_.expr_.row;
      make_words(i, first * n_of_row, n * n_of_row);
    }
    if (program_.generated_ != nullptr)
      return program_.generated_(first, n, program_.expr_.row, places_,
                                 places_ + program_.n_places() - call_.out.size());
    if (program_.expr_.row > 1) return run_rows(first, n);
    Plane plane{1, n};
    for (const Step& step : program_.steps_) {
      const PlaneInputs in = inputs_of(step, first, plane);
      step.fn(plane, at(step.out, first), in);
    }
  }

  void run_rows(std::int64_t first, std::int64_t n) const {
    const std::int64_t row = program_.expr_.row;
    for (const Step& step : program_.steps_) {
      Plane plane{1, n * row};
      const PlaneInputs in = inputs_of(step, first, plane);
      if (step.combine != nullptr) {
        step.combine(in[0], n, row, at(step.out, first));
      } else {
        if (step.has_rows) set_rows(plane, step, n);
        step.fn(plane, at(step.out, first), in);
      }
    }
  }

  [[nodiscard]] std::byte* at(PlaceId id, std::int64_t first) const {
    return places_[id].data + first * places_[id].bytes_per_row;
  }
  /// Returns what a step takes, and notes in its loops how far the elements are apart.
  [[nodiscard]] PlaneInputs inputs_of(const Step& step, std::int64_t first, Plane& plane) const {
    PlaneInputs in;
    for (std::size_t k = 0; k < Plane::most_inputs; ++k) {
      in[k] = at(step.in[k], first);
      plane.step[k] = places_[step.in[k]].step;
    }
    return in;
  }

  /// Sets the loops of a step that has one element for each row, or takes such an operand: row by row.
  void set_rows(Plane& plane, const Step& step, std::int64_t n) const {
    const std::int64_t row = program_.expr_.row;
    plane.rows = step.per_row ? 1 : n;
    plane.length = step.per_row ? n : row;
    for (std::size_t k = 0; k < Plane::most_inputs; ++k) {
      plane.row_step[k] = step.is_spread[k] ? plane.step[k] : plane.step[k] * row;
      if (step.is_spread[k]) plane.step[k] = 0;
    }
  }

  const TileProgram& program_;
  const KernelCall& call_;
  Layout layout_;
  TilePlace* places_;
  Copy* copies_;
  StridedWalk* keys_;  ///< by stretch
  std::size_t n_copies_ = 0;
  std::int64_t tile_ = 0;  ///< rows
};

// The run of a thread stands in front of its arrays.
std::size_t TileGuest::bytes() const {
  return Scratch::aligned(sizeof(TileProgram::Run)) + TileProgram::Run(program_, call_, nullptr).bytes();
}

void TileGuest::start() const {
  static_assert(std::is_trivially_destructible_v<TileProgram::Run>);
  new (own()) TileProgram::Run(program_, call_, own() + Scratch::aligned(sizeof(TileProgram::Run)));
}

void TileReader::read(std::int64_t first, std::int64_t n, std::byte* to) const {
  const std::int64_t row = program_.expr_.row;
  std::launder(reinterpret_cast<const TileProgram::Run*>(own()))->run_to(to, first / row, n / row);
}

void TileWriter::take(std::int64_t first, std::int64_t n) const {
  const std::int64_t row = program_.expr_.row;
  std::launder(reinterpret_cast<const TileProgram::Run*>(own()))->run(first / row, (first + n) / row);
}

/// Returns the units that threads share.
std::int64_t TileProgram::n_units() const { return (n_rows() + rows_of_unit() - 1) / rows_of_unit(); }

double TileProgram::ns_of_unit() const { return ns_ * static_cast<double>(rows_of_unit() * expr_.row); }

double TileProgram::ns_of_all() const { return ns_ * static_cast<double>(n_rows() * expr_.row); }

namespace {

/// Returns the call of one of several programs.
KernelCall call_of(const TilePart& part, const KernelCall& all) {
  return {all.op,
          all.attrs,
          all.in.subspan(part.first_in, part.n_in()),
          all.out.subspan(part.first_out, part.n_out()),
          all.scratch,
          all.where};
}

}  // namespace

Workspace TileProgram::workspace(const KernelCall& call) {
  Workspace result;
  for_each_part(call.attrs_of<TileAttrs>().programs, [&](const TilePart& part) {
    const std::size_t bytes = Run(part.program, call_of(part, call), nullptr).bytes();
    result.per_thread = std::max(result.per_thread, bytes);
  });
  return result;
}

void TileProgram::run(const KernelCall& call) {
  const TilePrograms& programs = call.attrs_of<TileAttrs>().programs;
  double least = programs[0]->ns_of_unit();
  for (const TileProgramPtr& each : programs) least = std::min(least, each->ns_of_unit());
  // Units count as often as they cost what the cheapest ones do.
  const auto n_of_unit = [inverse = least > 0.0 ? 1.0 / least : 0.0](const TileProgram& program) {
    return std::max<Dim>(1, static_cast<Dim>(program.ns_of_unit() * inverse + 0.5));
  };
  Dim n = 0;
  double ns = 0.0;
  for (const TileProgramPtr& each : programs) {
    n += each->n_units() * n_of_unit(*each);
    ns += each->ns_of_all();
  }
  share(n, ns, [&](Dim first, Dim last) {
    Dim begin = 0;  // of the units of a program among those of all
    for_each_part(programs, [&](const TilePart& part) {
      const TileProgram& program = part.program;
      const Dim n_here = n_of_unit(program), n_units = program.n_units();
      const Dim from = std::max<Dim>(first - begin, 0) / n_here,
                end = std::min((last - begin) / n_here, n_units);
      if (from < end) {
        const KernelCall own = call_of(part, call);
        const Dim unit = program.rows_of_unit();
        Run(program, own, call.scratch.of_this_thread())
            .run(from * unit, std::min(program.n_rows(), end * unit));
      }
      begin += n_units * n_here;
    });
  });
}

Kernel TileProgram::kernel() {
  const auto writes_over = [](const Attrs* attrs, std::size_t operand, std::size_t output) {
    bool result = false;
    for_each_part(attrs_as<TileAttrs>(*attrs).programs, [&](const TilePart& part) {
      const std::size_t in = operand - part.first_in, out = output - part.first_out;  // large if before it
      if (in < part.n_in() && out < part.n_out()) result = part.program.writes_over(in, out);
    });
    return result;
  };
  return {.name = "cpu.tiles", .run = run, .writes_over = writes_over, .workspace = workspace};
}

// ---- Several programs ------------------------------------------------------------------------------------

std::string attr_text(const TilePrograms& programs) {
  std::string text;
  for (const TileProgramPtr& each : programs) text += (text.empty() ? "" : " | ") + each->expr().text();
  return text;
}

std::uint64_t attr_hash(const TilePrograms& programs) {
  std::uint64_t hash = programs.size();
  for (const TileProgramPtr& each : programs) hash = engine::detail::mixed(hash, each->expr().hash());
  return hash;
}

bool attr_equals(const TilePrograms& a, const TilePrograms& b) {
  return std::ranges::equal(
      a, b, [](const TileProgramPtr& one, const TileProgramPtr& other) { return attr_equals(one, other); });
}

bool put_on_line(TilePrograms& programs, const TilePrograms& of_second, const Line& line) {
  if (programs.size() != of_second.size()) return false;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    if (!put_on_line(programs[i], of_second[i], line)) return false;
  }
  return true;
}

}  // namespace lodestone::engine::cpu_backend
