// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one declaration for each transform with ops of its own.
// The rows of the transforms; called once, by engine/dispatch.
#pragma once

namespace lodestone::engine {
class OpTable;
void register_external(OpTable& table);
void register_implicit(OpTable& table);
void register_calls(OpTable& table);
void register_custom(OpTable& table);
void register_control(OpTable& table);
void register_scan(OpTable& table);
}  // namespace lodestone::engine
