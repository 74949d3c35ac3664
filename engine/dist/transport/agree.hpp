// SPDX-License-Identifier: Apache-2.0
// Small on purpose: two functions for all transports.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <string_view>
#include <vector>

namespace lodestone::engine {

/// Checks that all ranks of a group are about to do the same, which the texts describe. `place`: where, for
/// messages. `number`: that of the messages, one for all calls of the group. Texts are compared whole; up to
/// 200 bytes of them are told. collective over the ranks, in their order. errors: InvalidArgument on all of
/// them, with the first text that differs; those of `Transport::test`.
void agree(Transport& transport, std::span<const int> ranks, std::uint64_t number, std::string_view text,
           std::string_view place);

/// Returns on all ranks whether `here` is true on one of them, for decisions that follow clocks or signals.
/// collective over all ranks. errors: those of `Transport::test`. cost: log2 of the ranks messages, one after
/// the other.
[[nodiscard]] bool any_rank(Transport& transport, bool here);

}  // namespace lodestone::engine
