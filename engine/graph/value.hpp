// SPDX-License-Identifier: Apache-2.0
// Small on purpose: nodes hold opaque values whose classes live in other rooms.
// Inside of the engine: values of nodes that are not arrays.
#pragma once

#include "engine/memory/arena.hpp"
#include "engine/memory/shared.hpp"

namespace lodestone::engine {

/// The value of a node of `Kind::handle` or `Kind::tuple`: a factorization, a linearized simulation, several
/// tensors. Its bytes, an estimate, count as memory of the device while it lives. It is deleted with the last
/// node that holds it.
class Opaque : public Counted {
 public:
  /// Reserves these bytes. errors: DeviceError when the device's budget has no room.
  Opaque(Device device, std::size_t bytes) : arena_(Arena::of(device)), bytes_(bytes) { arena_.hold(bytes); }
  virtual ~Opaque() { arena_.release(bytes_); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// False: the type is known, the value is not yet.
  [[nodiscard]] virtual bool is_evaluated() const { return true; }

 private:
  Arena& arena_;
  std::size_t bytes_;
};
using OpaquePtr = Shared<Opaque>;

}  // namespace lodestone::engine
