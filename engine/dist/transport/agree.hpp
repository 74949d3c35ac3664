// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one function for all transports.
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

}  // namespace lodestone::engine
