// SPDX-License-Identifier: Apache-2.0
// These functions send the messages of this rank, and combine those that it receives.
#include "engine/core/error.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/dist/collectives/shard_tree.hpp"
#include "engine/dist/transport/moves.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"
#include "engine/record/record.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

/// Sums of as many bytes are made by every rank, of what all the others have sent it.
constexpr std::size_t bytes_for_all = 2048;

std::size_t item_of(const Tensor& x) { return core::size_of(x.dtype()); }

/// Returns the elements of an evaluated tensor, which stay as they are.
std::byte* data_of(const Tensor& x) { return const_cast<std::byte*>(x.bytes().data()); }

/// Returns a new array like this one with other extents.
Tensor array_like(const Tensor& x, const Shape& shape) { return new_array({shape, x.dtype(), x.device()}); }

/// Returns a description on which all ranks of a group must agree; own extents are no part of it.
std::string text_of(R args, const Tensor& x, const std::string& rest) {
  return fmt::format("{} of {} {}", args.op.name, core::name_of(x.dtype()), rest);
}

/// Adds a message about elements; no message is sent about none.
void add(std::vector<Message>& messages, int peer, const Strided& elements) {
  if (elements.bytes() > 0) messages.push_back({peer, elements});
}

/// Terms of this rank's shards, combined to the largest subtrees.
std::map<ShardRange, Tensor> own_subtrees(const Group& group, Terms how, const Tensor& x, const Shape& item) {
  const ShardRange range = group.shards_of(group.index());
  const auto shard = [&](ShardRange of) {
    if (of.second - of.first > 1) return Tensor();
    const int at = of.first - range.first;
    return reshape(slice(x, 0, at, at + 1), item);
  };
  std::map<ShardRange, Tensor> result;
  for (const ShardRange& each : subtrees_in(range, group.n_shards()))
    result[each] = combined_in_tree(how, each, shard).eval();
  return result;
}

/// Returns this rank's piece of the terms of all shards. x [shards of this rank, …], whose items have these
/// pieces; collective.
Tensor combined_piece(const Group& group, Terms how, const Tensor& x, const Shape& item,
                      const std::vector<Box>& pieces, std::uint64_t number) {
  const Box whole = Box::whole(item);
  const std::map<ShardRange, Tensor> own = own_subtrees(group, how, x, item);
  const Box& piece = pieces[static_cast<std::size_t>(group.index())];
  std::map<ShardRange, Tensor> terms;
  std::vector<Message> send, receive;
  for (int i = 0; i < group.size(); ++i) {
    const int peer = group.ranks()[static_cast<std::size_t>(i)];
    for (const ShardRange& each : subtrees_in(group.shards_of(i), group.n_shards())) {
      Tensor& term = terms[each] = array_like(x, piece.shape);
      if (i != group.index()) add(receive, peer, box_in(term.node().data(), item_of(x), piece, piece));
    }
    for (const auto& [range, tensor] : own) {
      const Strided part = box_in(data_of(tensor), item_of(x), whole, pieces[static_cast<std::size_t>(i)]);
      if (i == group.index()) {
        copy(part, box_in(terms[range].node().data(), item_of(x), piece, piece));
      } else {
        add(send, peer, part);
      }
    }
  }
  group.transport().exchange(send, receive, number);
  const auto known = [&](ShardRange range) {
    const auto found = terms.find(range);
    return found == terms.end() ? Tensor() : found->second;
  };
  return combined_in_tree(how, {0, group.n_shards()}, known).eval();
}

/// Puts the pieces of all ranks into an array; collective.
void gather(const Group& group, const Tensor& own, const std::vector<Box>& pieces, const Box& whole,
            std::byte* out, std::uint64_t number) {
  const auto index = static_cast<std::size_t>(group.index());
  const Strided mine = box_in(data_of(own), item_of(own), pieces[index], pieces[index]);
  copy(mine, box_in(out, item_of(own), whole, pieces[index]));
  std::vector<Message> send, receive;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i == index) continue;
    add(send, group.ranks()[i], mine);
    add(receive, group.ranks()[i], box_in(out, item_of(own), whole, pieces[i]));
  }
  group.transport().exchange(send, receive, number);
}

/// Adds what came back from other ranks to the elements that it was made of, rank by rank. Elements that
/// went to one rank only come back as they are.
void add_back(const Tensor& out, const Box& box, const std::vector<Move>& moves,
              const std::vector<Tensor>& came) {
  std::memset(out.node().data(), 0, out.aval().bytes());
  bool is_disjoint = true;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      is_disjoint = is_disjoint && intersection(moves[i].box, moves[j].box).is_empty();
  }
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Box& part = moves[i].box;
    const Strided place = box_in(out.node().data(), item_of(out), box, part);
    Tensor sum = came[i];
    if (!is_disjoint) {
      const Tensor before = array_like(out, part.shape);
      copy(place, box_in(before.node().data(), item_of(out), part, part));
      sum = before + came[i];
    }
    copy(box_in(data_of(sum), item_of(out), part, part), place);
  }
}

Tensor run_back(R args, const ExchangeAttrs& attrs, std::uint64_t number) {
  const Tensor& x = args.in[0];
  Transport& transport = attrs.group->transport();
  const Box &from = attrs.after(), &to = attrs.before();
  std::vector<Move> moves;
  std::vector<Tensor> came;
  std::vector<Message> send, receive;
  for (const Move& move : attrs.step->moves) {
    const bool is_sent = move.to == transport.rank(), is_received = move.from == transport.rank();
    const Strided there = is_sent ? box_in(data_of(x), item_of(x), from, move.box) : Strided{};
    if (is_received) {
      moves.push_back(move);
      came.push_back(array_like(x, move.box.shape));
      const Strided here = box_in(came.back().node().data(), item_of(x), move.box, move.box);
      if (is_sent) {
        copy(there, here);
      } else {
        add(receive, move.to, here);
      }
    } else if (is_sent) {
      add(send, move.from, there);
    }
  }
  transport.exchange(send, receive, number);
  const Tensor out = array_like(x, to.shape);
  add_back(out, to, moves, came);
  return out;
}

}  // namespace

std::vector<Box> boxes_of_pieces(const Group& group, const Shape& whole, int axis, Dim grain) {
  const std::vector<Dim> ends = boundaries(whole[axis], group.size(), group.n_shards(), grain);
  std::vector<Box> boxes(static_cast<std::size_t>(group.size()), Box::whole(whole));
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i].first[axis] = ends[i];
    boxes[i].shape[axis] = ends[i + 1] - ends[i];
  }
  return boxes;
}

Dim own_extent(const Group& group, Dim extent, Dim grain) {
  return boxes_of_pieces(group, {extent}, 0, grain)[static_cast<std::size_t>(group.index())].shape[0];
}

Dim extent_of_all(const Group& group, Dim own, Dim grain, const std::source_location& where) {
  const std::uint64_t number = group.begin(fmt::format("extents of pieces of {}", grain), where);
  std::vector<Dim> extents(static_cast<std::size_t>(group.size()), own);
  const auto place = [](Dim& extent) {
    return Strided{reinterpret_cast<std::byte*>(&extent), {1}, {1}, sizeof(Dim)};
  };
  std::vector<Message> send, receive;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (std::cmp_equal(i, group.index())) continue;
    send.push_back({group.ranks()[i], place(own)});
    receive.push_back({group.ranks()[i], place(extents[i])});
  }
  group.transport().exchange(send, receive, number);
  const Dim extent = std::accumulate(extents.begin(), extents.end(), Dim{0});
  const Dim expected = own_extent(group, extent, grain);
  if (own != expected)
    throw core::ShapeError("per_rank#wrong_piece",
                           "expected a piece of {} of the {} elements of an axis that {} cuts, got {} {}",
                           expected, extent, group.name(), own, at_line(where));
  return extent;
}

Tensor run_all_reduce(R args) {
  const auto& [group, shards, how] = args.as<CombineAttrs>();
  const Tensor x = move_axis(args.in[0], shards, 0);
  const Shape item = x.shape().erased(0);
  const std::uint64_t number =
      group->begin(text_of(args, x, fmt::format("{} {}", item.text(), core::word(how))), args.where);
  const Shape flat{item.count()};
  const auto size = static_cast<std::size_t>(group->size());
  // Few bytes go to all ranks at once: one way for a message instead of two.
  if (size == 1 || static_cast<std::size_t>(item.count()) * item_of(x) <= bytes_for_all)
    return reshape(combined_piece(*group, how, x, flat, std::vector<Box>(size, Box::whole(flat)), number),
                   item)
        .eval();
  // Elements are shared evenly, wherever the boundaries of shards are.
  const std::vector<Dim> ends = boundaries(item.count(), group->size(), group->size());
  std::vector<Box> pieces;
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) pieces.push_back({{ends[i]}, {ends[i + 1] - ends[i]}});
  const Tensor piece = combined_piece(*group, how, x, flat, pieces, number);
  const Tensor out = array_like(x, item);
  gather(*group, piece, pieces, Box::whole(flat), out.node().data(), number);
  return out;
}

Tensor run_all_gather(R args) {
  const auto& attrs = args.as<PiecesAttrs>();
  const Tensor& x = args.in[0];
  Shape whole = x.shape();
  whole[attrs.axis] = attrs.extent;
  const std::uint64_t number = attrs.group->begin(
      text_of(args, x, fmt::format("{} along axis {}", whole.text(), attrs.axis)), args.where);
  const Tensor out = array_like(x, whole);
  gather(*attrs.group, x, boxes_of_pieces(*attrs.group, whole, attrs.axis, attrs.grain), Box::whole(whole),
         out.node().data(), number);
  return out;
}

Tensor run_own_piece(R args) {
  const auto& attrs = args.as<PiecesAttrs>();
  const Box box = boxes_of_pieces(*attrs.group, args.in[0].shape(), attrs.axis,
                                  attrs.grain)[static_cast<std::size_t>(attrs.group->index())];
  return slice(args.in[0], attrs.axis, box.first[attrs.axis], box.end(attrs.axis));
}

Tensor run_reduce_scatter(R args) {
  const auto& attrs = args.as<ScatterAttrs>();
  const Tensor x = move_axis(args.in[0], attrs.shards, 0);
  const Shape item = x.shape().erased(0);
  const std::uint64_t number = attrs.group->begin(
      text_of(args, x, fmt::format("{} along axis {}", item.text(), attrs.axis)), args.where);
  return combined_piece(*attrs.group, Terms::sum, x, item,
                        boxes_of_pieces(*attrs.group, item, attrs.axis, attrs.grain), number);
}

Tensor run_exchange(R args) {
  const auto& attrs = args.as<ExchangeAttrs>();
  const Tensor& x = args.in[0];
  const std::uint64_t number = attrs.group->begin(
      text_of(args, x, fmt::format("{} moves{}", attrs.step->moves.size(), attrs.is_back ? " back" : "")),
      args.where);
  if (attrs.is_back) return run_back(args, attrs, number);
  const Tensor out = array_like(x, attrs.after().shape);
  run_moves(attrs.group->transport(), *attrs.step, number, x.bytes(), {out.node().data(), out.aval().bytes()},
            item_of(x));
  return out;
}

}  // namespace lodestone::engine
