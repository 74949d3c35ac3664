// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the table of ops includes no collective.
// The rows of the collectives; called once, by engine/dispatch.
#pragma once

namespace lodestone::engine {
class OpTable;
void register_collectives(OpTable& table);
}  // namespace lodestone::engine
