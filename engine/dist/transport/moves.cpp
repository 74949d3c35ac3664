// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/transport/moves.hpp"

#include <algorithm>

namespace lodestone::engine {

const Box* box_of_rank(const std::vector<Holding>& holdings, int rank) {
  const auto found =
      std::find_if(holdings.begin(), holdings.end(), [&](const Holding& each) { return each.rank == rank; });
  return found == holdings.end() ? nullptr : &found->box;
}

void run_moves(Transport& transport, const RouteStep& step, std::uint64_t number,
               std::span<const std::byte> from, std::span<std::byte> to, std::size_t item) {
  const int own = transport.rank();
  const Box *source = box_of_rank(step.from, own), *target = box_of_rank(step.to, own);
  // Nobody writes to what is sent.
  auto* const source_data = const_cast<std::byte*>(from.data());
  const auto place_of = [&](const Move& move) {
    const Dim part = step.combine == Terms::no ? 0 : move.part;
    return box_in(to.data() + part * target->count() * static_cast<Dim>(item), item, *target, move.box);
  };
  std::vector<Message> send, receive;
  for (const Move& move : step.moves) {
    if (move.from == own && move.to == own) {
      copy(box_in(source_data, item, *source, move.box), place_of(move));
    } else if (move.from == own) {
      send.push_back({move.to, box_in(source_data, item, *source, move.box)});
    } else if (move.to == own) {
      receive.push_back({move.from, place_of(move)});
    }
  }
  transport.exchange(send, receive, number);
}

}  // namespace lodestone::engine
