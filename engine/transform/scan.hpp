// SPDX-License-Identifier: Apache-2.0
// Inside of the transforms.
#pragma once

namespace lodestone::engine {
class OpTable;
void register_scan(OpTable& table);
}  // namespace lodestone::engine
