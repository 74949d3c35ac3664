// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/lower.hpp"

#include "engine/compile/control_plan.hpp"
#include "engine/compile/parts.hpp"
#include "engine/graph/op_table.hpp"

#include <algorithm>
#include <numeric>

namespace lodestone::engine {
namespace {

constexpr std::uint32_t none = Piece::none;

/// Goes over a program once to see what looks at what, and once more to make launches.
class Lowering {
 public:
  Lowering(const Program& program, std::span<const Strides> inputs, Bodies& bodies, Leaving leaving);
  /// Lets parts of concatenations be written in place; returns their number.
  std::size_t join_parts();
  [[nodiscard]] Lowered run();

 private:
  enum class Kind : std::uint8_t { view, function, control, kernel };

  // These say what every value is.
  void look_at_values(std::span<const Strides> inputs);
  [[nodiscard]] Kind look_at_results(const Instruction& each);
  void find_uses();
  void hold_what_leaves();
  void hold_outputs();
  void hold(Held::From from, ValueId root);

  // Launches, one after the other.
  void lower(std::uint32_t number);
  void lower_kernel(const Instruction& each, std::uint32_t number);
  void lower_function(const Instruction& each);
  void lower_control(const Instruction& each, const std::shared_ptr<const ControlPlan>& control);
  void launch(const Kernel& kernel, const OpInfo& op, const Instruction& each, std::span<const Access> in,
              std::span<const Access> out);
  void add(Launch made, std::span<const Access> in, std::span<const Access> out);
  [[nodiscard]] Access access(ValueId id);
  [[nodiscard]] Access copied(const Access& from, const Instruction& each);
  void copy(const Access& from, const Access& to, const std::source_location& where);
  [[nodiscard]] Access result(ValueId id, std::uint32_t in_place_of = none);
  [[nodiscard]] std::uint32_t replaced_by(const Instruction& each, std::uint32_t number, ValueId id,
                                          const Kernel& kernel) const;
  [[nodiscard]] std::uint32_t add_piece(std::size_t bytes, Device device, std::uint32_t in_place_of = none);
  [[nodiscard]] Source in_piece(std::uint32_t piece) const { return {Source::In::block, piece, 0}; }
  void end_segment();

  // At the end.
  void leave();
  [[nodiscard]] std::source_location place_of(ValueId id) const;
  void find_accesses();
  void release();

  [[nodiscard]] Given given(ValueId id) const { return {held_of_[result_.roots[id]], id}; }
  [[nodiscard]] const Value& value(ValueId id) const { return program_.values()[id]; }
  [[nodiscard]] std::uint32_t next_launch() const {
    return static_cast<std::uint32_t>(result_.launches.size());
  }

  const Program& program_;
  Bodies& bodies_;
  const Leaving leaving_;
  Lowered result_;
  std::vector<Kind> kinds_;                                   // by instruction
  std::vector<std::shared_ptr<const ControlPlan>> controls_;  // by instruction, null for others
  std::vector<std::uint32_t> last_use_;                       // by root: instruction, or that which makes it
  std::vector<std::uint32_t> held_of_;                        // by root
  std::vector<std::uint32_t> piece_of_;                       // by root
  std::vector<std::uint32_t> segment_of_;                     // by instruction
  std::vector<bool> is_output_;                               // by root
  std::vector<Piece>& pieces_ = result_.pieces.pieces;
  std::vector<Device>& devices_ = result_.pieces.devices;
  Segment segment_;
};

Lowering::Lowering(const Program& program, std::span<const Strides> inputs, Bodies& bodies, Leaving leaving)
    : program_(program), bodies_(bodies), leaving_(leaving) {
  result_.program = &program;
  const std::size_t n = program.values().size();
  result_.looks.resize(n);
  result_.roots.resize(n);
  held_of_.resize(n, none);
  piece_of_.resize(n, none);
  is_output_.resize(n, false);
  last_use_.resize(n, 0);
  result_.n_threads = Scratch::threads_of_call();
  look_at_values(inputs);
}

Lowered Lowering::run() {
  find_uses();
  hold_what_leaves();
  for (std::uint32_t number = 0; number < program_.instructions().size(); ++number) lower(number);
  leave();
  end_segment();
  release();
  find_accesses();
  return std::move(result_);
}

// ---- Values ----------------------------------------------------------------------------------------------

std::size_t Lowering::join_parts() {
  FreeResults results{std::vector<bool>(program_.values().size(), false), {}};
  std::uint32_t segment = 0;
  for (std::uint32_t number = 0; number < kinds_.size(); ++number) {
    const Instruction& each = program_.instructions()[number];
    results.segment.push_back(segment);
    if (kinds_[number] == Kind::function) ++segment;
    const bool is_launched = kinds_[number] == Kind::kernel || kinds_[number] == Kind::control;
    for (std::uint32_t i = 0; i < each.n_results; ++i) results.is_free[each.first_result + i] = is_launched;
  }
  const auto keep = [&](ValueId id) { results.is_free[result_.roots[id]] = false; };
  std::ranges::for_each(program_.outputs(), keep);
  for (std::uint32_t number = 0; number < kinds_.size(); ++number) {
    if (kinds_[number] == Kind::function)
      std::ranges::for_each(program_.operands(program_.instructions()[number]), keep);
  }
  return put_parts_in_place(program_, results, result_.roots, result_.looks);
}

void Lowering::look_at_values(std::span<const Strides> inputs) {
  for (ValueId id = 0; id < program_.values().size(); ++id) {
    const Value& each = value(id);
    result_.roots[id] = id;
    if (each.from == Value::From::input) result_.looks[id] = {0, inputs[each.of]};
    if (each.from == Value::From::constant)
      result_.looks[id] = {0, program_.constants()[each.of].node().look.strides};
  }
  for (const Instruction& each : program_.instructions()) {
    controls_.emplace_back();
    kinds_.push_back(look_at_results(each));
  }
}

Lowering::Kind Lowering::look_at_results(const Instruction& each) {
  for (ValueId id = each.first_result; id < each.first_result + each.n_results; ++id)
    result_.looks[id] = Look::dense(value(id).aval.shape);
  if (each.op->view != nullptr && each.n_operands == 1) {
    const ValueId in = program_.operands(each)[0], out = each.first_result;
    const auto look = each.op->view(value(in).aval, result_.looks[in], each.attrs.get(), value(out).aval);
    if (look) {
      result_.looks[out] = *look;
      result_.roots[out] = result_.roots[in];
      return Kind::view;
    }
  }
  if (!each.op->run) return Kind::kernel;
  std::vector<Look> looks;
  for (const ValueId id : program_.operands(each)) looks.push_back(result_.looks[id]);
  controls_.back() = ControlPlan::of(program_, each, looks, bodies_);
  return controls_.back() == nullptr ? Kind::function : Kind::control;
}

void Lowering::find_uses() {
  for (std::uint32_t number = 0; number < program_.instructions().size(); ++number) {
    const Instruction& each = program_.instructions()[number];
    for (std::uint32_t i = 0; i < each.n_results; ++i) {
      if (kinds_[number] != Kind::view) last_use_[each.first_result + i] = number;
    }
    if (kinds_[number] == Kind::view) continue;
    for (const ValueId id : program_.operands(each)) last_use_[result_.roots[id]] = number;
  }
  if (leaving_ == Leaving::as_looks) return;
  const auto at_the_end = static_cast<std::uint32_t>(program_.instructions().size());
  for (const ValueId id : program_.outputs()) last_use_[result_.roots[id]] = at_the_end;
}

void Lowering::hold(Held::From from, ValueId root) {
  if (held_of_[root] != none) return;
  held_of_[root] = static_cast<std::uint32_t>(result_.held.size());
  result_.held.push_back({from, root});
}

void Lowering::hold_what_leaves() {
  const auto hold_all = [&](Value::From from, Held::From as) {
    for (ValueId id = 0; id < program_.values().size(); ++id) {
      if (value(id).from == from) hold(as, id);
    }
  };
  hold_all(Value::From::input, Held::From::input);
  hold_all(Value::From::constant, Held::From::constant);
  for (std::uint32_t number = 0; number < program_.instructions().size(); ++number) {
    const Instruction& each = program_.instructions()[number];
    if (kinds_[number] != Kind::function) continue;
    for (const ValueId id : program_.operands(each)) hold(Held::From::launch, result_.roots[id]);
    for (std::uint32_t i = 0; i < each.n_results; ++i) hold(Held::From::function, each.first_result + i);
  }
  hold_outputs();
}

/// Holds what outputs look at; or, where each has a place, what launches can write there.
void Lowering::hold_outputs() {
  for (const ValueId id : program_.outputs()) {
    const ValueId root = result_.roots[id];
    is_output_[root] = true;
    if (leaving_ == Leaving::as_looks || id == root) hold(Held::From::launch, root);
  }
}

// ---- Launches --------------------------------------------------------------------------------------------

void Lowering::lower(std::uint32_t number) {
  const Instruction& each = program_.instructions()[number];
  segment_of_.push_back(static_cast<std::uint32_t>(result_.segments.size()));
  if (kinds_[number] == Kind::kernel) lower_kernel(each, number);
  if (kinds_[number] == Kind::function) lower_function(each);
  if (kinds_[number] == Kind::control) lower_control(each, controls_[number]);
}

void Lowering::lower_kernel(const Instruction& each, std::uint32_t number) {
  const std::span<const ValueId> operands = program_.operands(each);
  const Aval& out = value(each.first_result).aval;
  const DType dtype = operands.empty() ? out.dtype : value(operands[0]).aval.dtype;
  const Kernel& kernel = each.op->kernel(out.device, dtype);
  std::vector<Access> in, results;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ValueId id = operands[i];
    const bool as_it_is =
        !kernel.wants_dense(each.attrs.get(), i) || result_.looks[id].is_contiguous(value(id).aval.shape);
    in.push_back(as_it_is ? access(id) : copied(access(id), each));
  }
  for (std::uint32_t i = 0; i < each.n_results; ++i) {
    const ValueId id = each.first_result + i;
    const bool may_replace = result_.roots[id] == id && held_of_[id] == none && piece_of_[id] == none;
    results.push_back(result(id, may_replace ? replaced_by(each, number, id, kernel) : std::uint32_t{none}));
  }
  launch(kernel, *each.op, each, in, results);
}

/// Adds the launch of a kernel, with the workspace that it needs.
void Lowering::launch(const Kernel& kernel, const OpInfo& op, const Instruction& each,
                      std::span<const Access> in, std::span<const Access> out) {
  const Attrs* attrs = &op == each.op ? each.attrs.get() : nullptr;
  Launch made{&op, attrs, kernel.run, 0, 0, 0, {}, {}, each.where, &op == each.op ? &each : nullptr};
  if (kernel.workspace != nullptr) {
    std::vector<View> views;
    for (const std::span<const Access> list : {in, out}) {
      for (const Access& operand : list) views.push_back({nullptr, operand.aval, operand.strides});
    }
    const std::span<const View> all(views);
    made.workspace =
        kernel.workspace({op, attrs, all.first(in.size()), all.subspan(in.size()), {}, each.where});
  }
  add(std::move(made), in, out);
}

/// Adds a launch with its operands and workspace. Whatever it touches lives until then.
void Lowering::add(Launch made, std::span<const Access> in, std::span<const Access> out) {
  made.first_access = static_cast<std::uint32_t>(result_.accesses.size());
  made.n_in = static_cast<std::uint32_t>(in.size());
  made.n_out = static_cast<std::uint32_t>(out.size());
  for (const std::span<const Access> list : {in, out}) {
    for (const Access& operand : list) {
      if (operand.source.in == Source::In::block) pieces_[operand.source.of].last = next_launch();
      result_.accesses.push_back(operand);
    }
  }
  const std::size_t bytes = Scratch::bytes_of(made.workspace, result_.n_threads);
  if (bytes > 0) made.scratch = in_piece(add_piece(bytes, (out.empty() ? in : out)[0].aval->device));
  result_.launches.push_back(std::move(made));
}

/// Adds the launch of an op whose functions run in its workspace.
void Lowering::lower_control(const Instruction& each, const std::shared_ptr<const ControlPlan>& control) {
  const std::span<const ValueId> operands = program_.operands(each);
  std::vector<Access> in, out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool has_gaps = !result_.looks[operands[i]].is_contiguous(value(operands[i]).aval.shape);
    const Access operand = access(operands[i]);
    in.push_back(has_gaps && control->takes_dense(i) ? copied(operand, each) : operand);
  }
  for (std::uint32_t i = 0; i < each.n_results; ++i) out.push_back(result(each.first_result + i));
  Launch made{each.op, each.attrs.get(), nullptr, 0, 0, 0, {control->bytes(), 0}, {}, each.where, &each};
  made.control = control;
  add(std::move(made), in, out);
}

Access Lowering::access(ValueId id) {
  const std::uint32_t root = result_.roots[id];
  const Look& look = result_.looks[id];
  const Aval& aval = value(id).aval;
  Source source =
      held_of_[root] == none ? in_piece(piece_of_[root]) : Source{Source::In::held, held_of_[root], 0};
  source.bytes = look.offset * static_cast<std::ptrdiff_t>(core::size_of(aval.dtype));
  return {source, &aval, &look.strides};
}

Access Lowering::copied(const Access& from, const Instruction& each) {
  result_.dense.push_back(contiguous_strides(from.aval->shape));
  const Access to{in_piece(add_piece(from.aval->bytes(), from.aval->device)), from.aval,
                  &result_.dense.back()};
  copy(from, to, each.where);
  return to;
}

void Lowering::copy(const Access& from, const Access& to, const std::source_location& where) {
  static const OpInfo& op = op_named("copy");
  const Kernel& kernel = op.kernel(from.aval->device, from.aval->dtype);
  Launch made{&op, nullptr, kernel.run, 0, 0, 0, {}, {}, where, nullptr};
  add(std::move(made), std::span(&from, 1), std::span(&to, 1));
  ++result_.n_copies;
}

/// Returns where a result is written: what is held, or a piece, new unless a part is there already.
Access Lowering::result(ValueId id, std::uint32_t in_place_of) {
  const ValueId root = result_.roots[id];
  if (held_of_[root] != none) {
    const bool is_made = std::ranges::find(segment_.made, held_of_[root]) != segment_.made.end();
    if (!is_made) segment_.made.push_back(held_of_[root]);
  } else if (piece_of_[root] == none) {
    const Aval& aval = value(root).aval;
    piece_of_[root] = add_piece(aval.bytes(), aval.device, in_place_of);
  }
  return access(id);
}

/// Returns the piece of an operand that nobody needs any more, or none: one that has the size of the result
/// and that the kernel may write over.
std::uint32_t Lowering::replaced_by(const Instruction& each, std::uint32_t number, ValueId id,
                                    const Kernel& kernel) const {
  const std::span<const ValueId> operands = program_.operands(each);
  const auto is_taken = [&](std::uint32_t piece) {  // by another result of this launch
    const auto is_other_launch = [&](const Piece& other) { return other.first != next_launch(); };
    const auto first = std::find_if(pieces_.rbegin(), pieces_.rend(), is_other_launch);
    return std::any_of(pieces_.rbegin(), first,
                       [&](const Piece& other) { return other.in_place_of == piece; });
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ValueId operand = operands[i];
    if (!kernel.may_write_over(each.attrs.get(), i, id - each.first_result)) continue;
    const std::uint32_t root = result_.roots[operand], piece = piece_of_[root];
    const Look& look = result_.looks[operand];
    const auto is_root = [&](ValueId other) { return result_.roots[other] == root; };
    const bool fits =
        piece != none && last_use_[root] == number && look.is_contiguous(value(operand).aval.shape) &&
        pieces_[piece].bytes == value(id).aval.bytes() &&
        value(operand).aval.bytes() == value(id).aval.bytes() && devices_[piece] == value(id).aval.device;
    if (fits && std::ranges::count_if(operands, is_root) == 1 && !is_taken(piece)) return piece;
  }
  return none;
}

std::uint32_t Lowering::add_piece(std::size_t bytes, Device device, std::uint32_t in_place_of) {
  pieces_.push_back({bytes, next_launch(), next_launch(), in_place_of});
  devices_.push_back(device);
  return static_cast<std::uint32_t>(pieces_.size() - 1);
}

void Lowering::lower_function(const Instruction& each) {
  FunctionCall call{&each, {}, {}};
  for (const ValueId id : program_.operands(each)) call.operands.push_back(given(id));
  for (std::uint32_t i = 0; i < each.n_results; ++i) call.results.push_back(held_of_[each.first_result + i]);
  segment_.call = std::move(call);
  end_segment();
}

void Lowering::end_segment() {
  segment_.end_launch = next_launch();
  result_.segments.push_back(std::exchange(segment_, {}));
  segment_.first_launch = next_launch();
}

// ---- At the end ------------------------------------------------------------------------------------------

/// Says where the outputs are, and brings those to their places that no launch has written there.
void Lowering::leave() {
  std::vector<bool> is_there(result_.held.size(), false);
  for (const ValueId id : program_.outputs()) {
    const std::uint32_t held = held_of_[id];
    const bool is_written = held != none && result_.held[held].from == Held::From::launch && !is_there[held];
    if (leaving_ == Leaving::as_looks || is_written) {
      result_.outputs.push_back(given(id));
      if (held != none) is_there[held] = true;
      continue;
    }
    const auto place = static_cast<std::uint32_t>(result_.held.size());
    is_output_[id] = true;
    result_.held.push_back({Held::From::launch, id});
    result_.dense.push_back(contiguous_strides(value(id).aval.shape));
    copy(access(id), {{Source::In::held, place, 0}, &value(id).aval, &result_.dense.back()}, place_of(id));
    result_.outputs.push_back({place, id});
  }
}

/// Returns the line that made a value; that of nowhere for inputs and constants.
std::source_location Lowering::place_of(ValueId id) const {
  const Value& each = value(id);
  return each.from == Value::From::result ? program_.instructions()[each.of].where : std::source_location();
}

void Lowering::release() {
  segment_of_.push_back(static_cast<std::uint32_t>(result_.segments.size() - 1));  // what comes at the end
  for (std::uint32_t number = 0; number < result_.held.size(); ++number) {
    const auto [from, root] = result_.held[number];
    const bool is_own = from == Held::From::launch || from == Held::From::function;
    if (is_own && !is_output_[root])
      result_.segments[segment_of_[last_use_[root]]].released.push_back(number);
  }
}

void Lowering::find_accesses() {
  result_.accesses_of.resize(result_.held.size());
  for (std::uint32_t i = 0; i < result_.accesses.size(); ++i) {
    const Source& source = result_.accesses[i].source;
    if (source.in == Source::In::held) result_.accesses_of[source.of].push_back(i);
  }
}

// ---- Places ----------------------------------------------------------------------------------------------

/// The pieces on one device.
struct PiecesThere {
  Device device;
  std::vector<Piece> pieces;
  std::vector<std::uint32_t> numbers;  ///< among all
};

/// Returns the pieces by device, in the order of their first ones.
std::vector<PiecesThere> by_device(const PlacedPieces& all) {
  std::vector<PiecesThere> result;
  std::vector<std::uint32_t> number_there(all.pieces.size());
  for (std::uint32_t i = 0; i < all.pieces.size(); ++i) {
    auto there = std::ranges::find(result, all.devices[i], &PiecesThere::device);
    if (there == result.end()) there = result.insert(there, {all.devices[i], {}, {}});
    number_there[i] = static_cast<std::uint32_t>(there->pieces.size());
    there->numbers.push_back(i);
    there->pieces.push_back(all.pieces[i]);
    std::uint32_t& before = there->pieces.back().in_place_of;
    if (before != none) before = number_there[before];
  }
  return result;
}

/// Places the pieces of each device in a block.
void find_places(Lowered& plan) {
  plan.pieces.places.resize(plan.pieces.pieces.size());
  for (const PiecesThere& there : by_device(plan.pieces)) {
    const MemoryPlan places = placed(there.pieces);
    verify(there.pieces, places);
    const auto block = static_cast<std::uint32_t>(plan.blocks.size());
    plan.blocks.push_back({there.device, places.bytes, places.most_alive});
    for (std::size_t i = 0; i < there.numbers.size(); ++i)
      plan.pieces.places[there.numbers[i]] = {Source::In::block, block,
                                              static_cast<std::ptrdiff_t>(places.offsets[i])};
  }
}

/// Finds places for the pieces, and tells the launches.
void place_pieces(Lowered& plan, const Lowered* like) {
  if (like != nullptr && like->pieces.have_room_for(plan.pieces)) {
    plan.pieces.places = like->pieces.places;
    plan.blocks = like->blocks;
  } else {
    find_places(plan);
  }
  const auto place = [&](Source& source) {
    if (source.in != Source::In::block) return;
    const Source& piece = plan.pieces.places[source.of];
    source = {Source::In::block, piece.of, piece.bytes + source.bytes};
  };
  for (Access& each : plan.accesses) place(each.source);
  for (Launch& each : plan.launches) {
    if (each.workspace.shared + each.workspace.per_thread > 0) place(each.scratch);
  }
}

std::size_t most_alive(const PlacedPieces& all) {
  std::size_t bytes = 0;
  for (const PiecesThere& there : by_device(all)) bytes += engine::most_alive(there.pieces);
  return bytes;
}

/// Lowers a program to launches on pieces that have no places yet.
Lowered in_pieces(const Program& program, std::span<const Strides> inputs, Level level, Leaving leaving) {
  Bodies bodies(level);
  Lowering by_parts(program, inputs, bodies, leaving);
  if (by_parts.join_parts() == 0) return by_parts.run();
  Lowered joined = by_parts.run(), apart = Lowering(program, inputs, bodies, leaving).run();
  return most_alive(joined.pieces) <= most_alive(apart.pieces) ? std::move(joined) : std::move(apart);
}

}  // namespace

bool PlacedPieces::have_room_for(const PlacedPieces& others) const {
  const auto fits = [](const Piece& large, const Piece& small) {
    return small.bytes <= large.bytes && small.first == large.first && small.last == large.last &&
           small.in_place_of == large.in_place_of;
  };
  return devices == others.devices && std::ranges::equal(pieces, others.pieces, fits);
}

Lowered lowered(const Program& program, std::span<const Strides> inputs, Level level, Leaving leaving,
                const Lowered* like) {
  Lowered plan = in_pieces(program, inputs, level, leaving);
  place_pieces(plan, like);
  return plan;
}

Lowered unplaced(const Program& program, std::span<const Strides> inputs, Level level) {
  Lowered plan = in_pieces(program, inputs, level, Leaving::as_looks);
  for (const PiecesThere& there : by_device(plan.pieces)) {
    const std::size_t bytes = most_alive(there.pieces);
    plan.blocks.push_back({there.device, bytes, bytes});
  }
  return plan;
}

std::size_t block_bytes(const Program& program, std::span<const Strides> inputs, Level level,
                        std::size_t most) {
  Lowered plan = unplaced(program, inputs, level);
  const auto bytes = [&] {
    return std::accumulate(plan.blocks.begin(), plan.blocks.end(), std::size_t{0},
                           [](std::size_t sum, const Block& each) { return sum + each.bytes; });
  };
  if (bytes() > most) return bytes();
  plan.blocks.clear();
  find_places(plan);
  return bytes();
}

}  // namespace lodestone::engine
