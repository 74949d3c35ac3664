// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/transport/agree.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace lodestone::engine {
namespace {

/// A text with its place as they are sent: cut off, with a number of all of the text.
struct Note {
  std::uint64_t hash = 0;
  std::array<char, 200> text{};

  Note() = default;
  Note(std::string_view what, std::string_view place) : hash(std::hash<std::string_view>{}(what)) {
    const std::string whole = fmt::format("{} {}", what, place);
    std::copy_n(whole.begin(), std::min(whole.size(), text.size() - 1), text.begin());
  }
  [[nodiscard]] Strided elements() { return {reinterpret_cast<std::byte*>(this), {sizeof(Note)}, {1}, 1}; }
};

/// The answer of the first rank: whether all agree, and else who does not.
struct Answer {
  std::int32_t other = -1;  ///< the first rank that has another text
  Note text, of_other;
  [[nodiscard]] Strided elements() { return {reinterpret_cast<std::byte*>(this), {sizeof(Answer)}, {1}, 1}; }
};

Answer answer_to(Note& own, std::span<const int> ranks, std::vector<Note>& notes) {
  Answer answer;
  for (std::size_t i = 0; i < notes.size() && answer.other < 0; ++i) {
    if (notes[i].hash == own.hash) continue;
    answer = {ranks[i + 1], own, notes[i]};
  }
  return answer;
}

}  // namespace

void agree(Transport& transport, std::span<const int> ranks, std::uint64_t number, std::string_view text,
           std::string_view place) {
  if (ranks.size() < 2) return;
  Note own(text, place);
  Answer answer;
  if (transport.rank() != ranks[0]) {
    const Message question{ranks[0], own.elements()}, reply{ranks[0], answer.elements()};
    transport.exchange({&question, 1}, {&reply, 1}, number);
  } else {
    std::vector<Note> notes(ranks.size() - 1);
    std::vector<Message> messages;
    for (std::size_t i = 0; i < notes.size(); ++i) messages.push_back({ranks[i + 1], notes[i].elements()});
    transport.exchange({}, messages, number);
    answer = answer_to(own, ranks, notes);
    for (Message& message : messages) message.elements = answer.elements();
    transport.exchange(messages, {}, number);
  }
  if (answer.other >= 0)
    throw core::InvalidArgument("agree#other_collective",
                                "expected that rank {} does the same as rank {}, which does {}; it does {}",
                                answer.other, ranks[0], answer.text.text.data(), answer.of_other.text.data());
}

bool any_rank(Transport& transport, bool here) {
  constexpr std::uint64_t number = 0x616e7972616e6b;  // a name among numbers of groups
  const int n = transport.size(), rank = transport.rank();
  std::uint8_t known = here ? 1 : 0;
  for (int step = 1; step < n; step *= 2) {  // then each has the answers of 2 step ranks before it
    std::uint8_t sent = known, received = 0;
    const auto byte = [](std::uint8_t& of) {
      return Strided{reinterpret_cast<std::byte*>(&of), {1}, {1}, 1};
    };
    const Message send{(rank + step) % n, byte(sent)}, receive{(rank + n - step) % n, byte(received)};
    transport.exchange({&send, 1}, {&receive, 1}, number);
    known |= received;
  }
  return known != 0;
}

}  // namespace lodestone::engine
