// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/layout/redistribute.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace lodestone::engine {
namespace {

/// A box that one or several ranks hold, and the parts of it that others want.
struct Piece {
  struct Demand {
    std::size_t to;  ///< number among the boxes to be had
    Box box;
    int copy = 0;   ///< place of the receiver among those that hold the same as it does
    int round = 0;  ///< number of earlier demands of the same copy
  };
  Box box;
  int part;
  std::vector<const Holding*> holders;
  std::vector<Demand> demands;
};

std::vector<Piece> pieces_of(const std::vector<Holding>& from) {
  const auto key = [](const Holding& each) {
    return std::tuple(each.part, std::vector<Dim>(each.box.first.begin(), each.box.first.end()),
                      std::vector<Dim>(each.box.shape.begin(), each.box.shape.end()));
  };
  std::map<decltype(key(from[0])), Piece> pieces;  // in an order that hangs on boxes alone
  for (const Holding& each : from) {
    if (each.box.is_empty()) continue;
    Piece& piece = pieces.try_emplace(key(each), Piece{each.box, each.part, {}, {}}).first->second;
    piece.holders.push_back(&each);
  }
  std::vector<Piece> result;
  for (auto& [_, piece] : pieces) result.push_back(std::move(piece));
  return result;
}

/// Makes the moves of a step.
class Mover {
 public:
  explicit Mover(RouteStep& step) : step_(step), pieces_(pieces_of(step.from)) {
    for (const Piece& piece : pieces_) {
      for (std::size_t i = 0; i < piece.holders.size(); ++i)
        copy_of_[piece.holders[i]->rank] = static_cast<int>(i);
    }
  }

  void run() {
    for (std::size_t to = 0; to < step_.to.size(); ++to) want(to);
    for (Piece& piece : pieces_) serve(piece);
    std::sort(step_.moves.begin(), step_.moves.end(), [](const Move& a, const Move& b) {
      return std::tuple(a.to, a.part, a.from) < std::tuple(b.to, b.part, b.from);
    });
  }

 private:
  /// Notes what a box to be had takes of each piece; what its rank holds itself is kept.
  void want(std::size_t to) {
    const Holding& target = step_.to[to];
    const bool combines = step_.combine != Terms::no;
    std::int64_t found = 0;
    for (Piece& piece : pieces_) {
      if (!combines && piece.part != target.part) continue;
      const Box box = intersection(piece.box, target.box);
      if (box.is_empty()) continue;
      found += box.count();
      const bool has_it = std::any_of(piece.holders.begin(), piece.holders.end(),
                                      [&](const Holding* each) { return each->rank == target.rank; });
      if (has_it) {
        step_.moves.push_back({target.rank, target.rank, box, piece.part});
      } else {
        piece.demands.push_back({to, box, copy_of_[target.rank]});
      }
    }
    const std::int64_t wanted = target.box.count() * (combines ? step_.n_parts : 1);
    if (found != wanted)
      throw core::InvalidArgument("redistribute#not_held",
                                  "expected ranks that hold each of the {} elements of {} for rank {} once, "
                                  "found {}",
                                  wanted, target.box.text(), target.rank, found);
  }

  /// Chooses who sends what is wanted of a piece, the largest box first. Copies come in turn and are served
  /// by the holder that is as many copies behind the first: where each axis of a mesh cuts or copies, all of
  /// this stays in groups of the ranks that differ along one axis.
  void serve(Piece& piece) {
    std::map<int, int> rounds;
    for (Piece::Demand& demand : piece.demands) demand.round = rounds[demand.copy]++;
    std::stable_sort(piece.demands.begin(), piece.demands.end(), [](const auto& a, const auto& b) {
      return std::tuple(-a.box.count(), a.round) < std::tuple(-b.box.count(), b.round);
    });
    std::vector<std::int64_t> sent(piece.holders.size());
    for (const Piece::Demand& demand : piece.demands) {
      const Holding& target = step_.to[demand.to];
      std::size_t best = 0;
      const auto key = [&](std::size_t i) {
        return std::tuple(piece.holders[i]->node != target.node, sent[i], std::cmp_not_equal(i, demand.copy));
      };
      for (std::size_t i = 1; i < sent.size(); ++i) {
        if (key(i) < key(best)) best = i;
      }
      sent[best] += demand.box.count();
      step_.moves.push_back({piece.holders[best]->rank, target.rank, demand.box, piece.part});
    }
  }

  RouteStep& step_;
  std::vector<Piece> pieces_;
  std::map<int, int> copy_of_;
};

bool has_terms(const MeshLayout& layout) {
  return std::any_of(layout.terms.begin(), layout.terms.end(), [](Terms how) { return how != Terms::no; });
}

/// Returns the mesh axes along which a layout is partial.
IntList axes_of_terms(const MeshLayout& layout) {
  IntList axes;
  for (std::size_t axis = 0; axis < layout.terms.size(); ++axis) {
    if (layout.terms[axis] != Terms::no) axes.push_back(static_cast<Dim>(axis));
  }
  return axes;
}

/// Returns the way in which all terms of a layout combine.
Terms combination_of(const MeshLayout& layout, const DeviceMesh& mesh) {
  Terms result = Terms::no;
  for (const Terms how : layout.terms) {
    if (how == Terms::no) continue;
    if (result != Terms::no && how != result)
      throw core::InvalidArgument("redistribute#two_combinations",
                                  "expected terms that combine in one way, got {}; combine along one mesh "
                                  "axis first",
                                  text_of(layout, mesh));
    result = how;
  }
  return result;
}

std::vector<Holding> holdings_of(const Placement& place, const Shape& shape) {
  const IntList axes = axes_of_terms(place.layout);
  std::vector<Holding> result;
  for (const int rank : place.mesh.ranks())
    result.push_back({rank, box_of(place.layout, shape, place.mesh, rank), place.mesh.index_along(rank, axes),
                      place.mesh.node_of(rank)});
  return result;
}

/// Returns the axis along which the largest of n pieces of a box is smallest.
int shared_axis(const Box& box, Dim n) {
  const auto largest = [&](int axis) {
    return static_cast<double>((box.shape[axis] + n - 1) / n) / static_cast<double>(box.shape[axis]);
  };
  int best = 0;
  for (int axis = 1; axis < box.rank(); ++axis) {
    if (largest(axis) < largest(best)) best = axis;
  }
  return best;
}

/// Returns boxes of which each element is in one only, where ranks that are to have equal boxes get a part
/// each.
std::vector<Holding> without_copies(const std::vector<Holding>& to) {
  std::vector<Holding> result = to;
  std::vector<bool> done(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (done[i]) continue;
    std::vector<std::size_t> equal;
    for (std::size_t j = i; j < to.size(); ++j) {
      if (to[j].box == to[i].box) equal.push_back(j);
    }
    const auto n = std::ssize(equal);
    for (std::ptrdiff_t k = 0; k < n; ++k) {
      const std::size_t at = equal[static_cast<std::size_t>(k)];
      done[at] = true;
      Box& box = result[at].box;
      // A scalar has no parts: each of its ranks combines all terms.
      if (n == 1 || box.is_empty() || box.rank() == 0) continue;
      const int axis = shared_axis(box, n);
      const Dim extent = box.shape[axis], begin = k * extent / n;
      box.first[axis] += begin;
      box.shape[axis] = (k + 1) * extent / n - begin;
    }
  }
  return result;
}

}  // namespace

std::map<int, Traffic> traffic_of(const RouteStep& step) {
  std::map<int, Traffic> result;
  for (const Move& move : step.moves) {
    if (move.from == move.to) continue;
    result[move.from].sent += move.box.count();
    result[move.to].received += move.box.count();
  }
  return result;
}

RouteStep step_between(std::vector<Holding> from, std::vector<Holding> to, Terms combine) {
  RouteStep step{std::move(from), std::move(to), {}, combine, 1};
  std::set<int> parts;
  for (const Holding& each : step.from) parts.insert(each.part);
  if (combine != Terms::no) step.n_parts = static_cast<int>(parts.size());
  Mover(step).run();
  return step;
}

std::vector<RouteStep> route(const Placement& from, const Placement& to, const Shape& shape) {
  check_layout(from.layout, shape, from.mesh);
  check_layout(to.layout, shape, to.mesh);
  std::vector<Holding> have = holdings_of(from, shape), want = holdings_of(to, shape);
  if (!has_terms(to.layout) && has_terms(from.layout)) {
    const Terms how = combination_of(from.layout, from.mesh);
    RouteStep first = step_between(std::move(have), without_copies(want), how);
    for (Holding& each : first.to) each.part = 0;
    bool is_done = true;
    for (std::size_t i = 0; i < want.size(); ++i) is_done = is_done && first.to[i].box == want[i].box;
    if (is_done) return {std::move(first)};
    RouteStep second = step_between(first.to, std::move(want));
    return {std::move(first), std::move(second)};
  }
  const bool is_same_sum = from.layout.terms == to.layout.terms && from.mesh.axes() == to.mesh.axes();
  if (has_terms(to.layout) && !is_same_sum)
    throw core::InvalidArgument(
        "redistribute#other_terms",
        "expected a destination without terms, or with those of the source {}, got {}",
        text_of(from.layout, from.mesh), text_of(to.layout, to.mesh));
  return {step_between(std::move(have), std::move(want))};
}

}  // namespace lodestone::engine
