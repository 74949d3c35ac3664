// SPDX-License-Identifier: Apache-2.0
#include "engine/record/host_state.hpp"

#include <atomic>

namespace lodestone::engine {
namespace {
std::atomic<std::uint64_t> n_changes{0};
}

std::uint64_t host_state() { return n_changes.load(std::memory_order_acquire); }
void note_host_state_change() { n_changes.fetch_add(1, std::memory_order_acq_rel); }

}  // namespace lodestone::engine
