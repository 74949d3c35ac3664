// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/inspect/machine_rates.hpp"

namespace lodestone::tests {

/// Returns rates that nobody measured. A launch costs 1 µs. A pass of up to 1 MB takes 1 ns per 100 bytes, a
/// longer one 1 ns per 10. Every operation of f64 takes 1 ns, a division 4. Several threads divide all that,
/// for 2 µs.
inline engine::MachineRates made_up_rates(int n_threads = 1, std::string processor = "a processor") {
  engine::MachineRates rates;
  rates.machine = {std::move(processor), n_threads, "avx2", "of a test"};
  rates.launch_s = 1e-6;
  rates.alone.levels = {{1e6, 1e11}, {1e8, 1e10}};
  rates.alone.rates = {{"a / b f64", {{0.0, 2.5e8}}}};
  for (const char* kind : {"arithmetic", "function", "movement", "product", "reduction", "rows"})
    rates.alone.kinds[std::string(kind) + " f64"] = 1e9;
  if (n_threads == 1) return rates;
  rates.wake_s = 2e-6;
  rates.shared = rates.alone;
  for (auto& [bytes, bytes_per_s] : rates.shared.levels) bytes_per_s *= n_threads;
  rates.shared.rates["a / b f64"][0].per_s *= n_threads;
  for (auto& [kind, per_s] : rates.shared.kinds) per_s *= n_threads;
  return rates;
}

}  // namespace lodestone::tests
