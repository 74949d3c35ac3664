// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the table includes the backends only through it.
// Each backend puts its kernels into the rows; called once by the table, after the rows.
#pragma once

namespace lodestone::engine {
class OpTable;
void register_reference_kernels(OpTable& table);
void register_cpu_kernels(OpTable& table);
}  // namespace lodestone::engine
