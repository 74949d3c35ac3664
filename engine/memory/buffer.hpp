// SPDX-License-Identifier: Apache-2.0
// Small on purpose: tensors hold buffers without the arena they come from.
#pragma once

#include "engine/memory/arena.hpp"
#include "engine/memory/shared.hpp"

namespace lodestone::engine {

/// A block of device memory, shared by the tensors that view it; goes back to its arena with the last of
/// them.
class Buffer final : public Counted {
 public:
  Buffer(Device device, std::size_t bytes)
      : arena_(Arena::of(device)), bytes_(bytes), data_(arena_.allocate(bytes)) {}
  ~Buffer() { arena_.free(data_, bytes_); }
  /// Returns the bytes, for kernels and for `Tensor::data`, which waits for the device first.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Arena& arena_;
  std::size_t bytes_;
  std::byte* data_;
};
using BufferPtr = Shared<Buffer>;

}  // namespace lodestone::engine
