// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/cells.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/relaid.hpp"
#include "engine/dist/parallelize.hpp"
#include "engine/graph/attr_values.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

/// The tensor of which this rank keeps a piece, in a cell of its own: there it is replaced in place.
struct Kept {
  Variable piece;
  Placement place;
  World world;
};
using KeptPtr = std::shared_ptr<const Kept>;
[[maybe_unused]] std::string attr_text(const KeptPtr& kept) { return kept->piece.name(); }
[[maybe_unused]] std::uint64_t attr_hash(const KeptPtr& kept) {
  return std::hash<std::string>{}(kept->piece.name());
}
[[maybe_unused]] bool attr_equals(const KeptPtr& a, const KeptPtr& b) { return a == b; }

struct PieceAttrs {
  KeptPtr kept;
  static auto fields() { return std::tuple{Field{"kept", &PieceAttrs::kept}}; }
};

/// A row outside of the table: nothing records it but `kept_piece`.
const OpInfo& row_of_pieces() {
  static const OpInfo row = [] {
    OpInfo made;
    made.name = "kept_piece";
    made.dtypes = any_stored;
    made.run = [](const RuleArgs& args) -> Tensor {
      const Kept& kept = *args.as<PieceAttrs>().kept;
      throw core::InvalidArgument("parallelize#cut_cell",
                                  "expected a cell whose elements are here, but \"{}\" is cut as {} over the "
                                  "ranks of {}; read gathered(variable), on all of them",
                                  kept.piece.name(), text_of(kept.place.layout, kept.place.mesh),
                                  kept.place.mesh.text());
    };
    return made;
  }();
  return row;
}

/// Returns what is known of a piece; null for a tensor that is whole.
const Kept* piece_of(const Tensor& value) {
  if (value.node().op != &row_of_pieces()) return nullptr;
  return attrs_as<PieceAttrs>(value.node().attrs.get()).kept.get();
}

std::uint64_t number_of_move(Transport& transport) {
  constexpr std::uint64_t moves_of_cells = 0x63656c6c73;  // a name among numbers of groups
  return detail::mixed(moves_of_cells, transport.next_number(moves_of_cells) + 1);
}

/// Returns the box of this rank in another placement.
Tensor moved(const Kept& from, const Shape& shape, const Placement& to, const World& world) {
  const Tensor piece = from.piece.value();
  return relaid(*world, route(from.place, to, shape), piece, piece.dtype(), number_of_move(*world));
}

/// Returns a tensor that stands for all of which a rank has a piece.
Tensor stand_in(const Variable& cell, const Variable& piece, const Placement& place, const World& world) {
  NodePtr node(new Node);
  node->op = &row_of_pieces();
  node->attrs = make_attrs(PieceAttrs{std::make_shared<const Kept>(Kept{piece, place, world})});
  node->aval = cell.aval();
  node->thread = thread_number();
  return Tensor(std::move(node));
}

/// Returns the piece of this rank of what a cell holds, in memory of its own.
Tensor piece_in(const Variable& cell, const Placement& place, const World& world) {
  const Tensor value = cell.value();
  if (const Kept* known = piece_of(value)) return moved(*known, value.shape(), place, world);
  const Box box = box_of(place.layout, value.shape(), place.mesh, world->rank());
  Tensor piece = value;
  for (int axis = 0; axis < value.rank(); ++axis) piece = slice(piece, axis, box.first[axis], box.end(axis));
  return Tensor::from_bytes(without_gaps({piece})[0].bytes(), piece.aval());
}

}  // namespace

bool is_in_pieces(const Placement& place, const Shape& shape) {
  return std::ranges::any_of(
             place.layout.cuts,
             [&](const Cut& cut) { return !cut.axes.empty() && place.mesh.size_along(cut.axes) > 1; }) &&
         shape.rank() > 0;
}

Variable cell_of_piece(const Variable& cell, const Placement& place, const World& world) {
  const Tensor value = cell.value();
  if (!is_in_pieces(place, value.shape())) return cell;
  if (const Kept* known = piece_of(value)) {
    if (known->world == world && known->place.mesh == place.mesh &&
        same_places(known->place.layout, place.layout, value.shape(), place.mesh))
      return known->piece;
  }
  const Variable piece(cell.name(), piece_in(cell, place, world), Variable::Role::state);
  cell.assign(stand_in(cell, piece, place, world));
  return piece;
}

void renew_piece(const Variable& cell, const Variable& piece, const Placement& place, const World& world) {
  const Kept* known = piece_of(cell.value());
  if (piece == cell) {
    if (known != nullptr) cell.assign(gathered(cell));
  } else if (known == nullptr || !(known->piece == piece)) {
    piece.assign(piece_in(cell, place, world));
    cell.assign(stand_in(cell, piece, place, world));
  }
}

Tensor gathered(const Tensor& piece, const Placement& place, const Shape& whole, const World& world) {
  const Placement all{whole_layout(whole.rank(), place.mesh), place.mesh};
  return relaid(*world, route(place, all, whole), piece, piece.dtype(), number_of_move(*world));
}

Tensor gathered(const Variable& variable, std::source_location) {
  const Tensor value = variable.value();
  const Kept* known = piece_of(value);
  if (known == nullptr) return value;
  const Placement whole{whole_layout(value.rank(), known->place.mesh), known->place.mesh};
  return moved(*known, value.shape(), whole, known->world);
}

}  // namespace lodestone::engine
