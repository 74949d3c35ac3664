// SPDX-License-Identifier: Apache-2.0
#include "engine/state/tensor_io.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::engine {

Aval aval_of(const core::ArraySource& source, const std::string& name, Device device) {
  const core::ArrayInfo info = source.info(name);
  if (info.shape.size() > static_cast<std::size_t>(Shape::max_size)) {
    throw core::FormatError("engine::read_tensor#too_many_axes",
                            "{}: expected array \"{}\" with at most {} axes, got {}; reshape it",
                            source.location(), name, Shape::max_size, info.shape.size());
  }
  return {Shape(std::span<const Dim>(info.shape)), info.dtype, device};
}

Tensor tensor_of(std::span<const std::byte> bytes, const Aval& aval, const core::ArraySource& source,
                 const std::string& name) {
  if (aval.dtype == DType::b8) {
    const auto wrong = std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
    if (wrong != bytes.end()) {
      throw core::FormatError(
          "engine::read_tensor#wrong_boolean",
          "{}: expected 0 or 1 in the booleans of \"{}\", got {} at {}; the file is damaged",
          source.location(), name, std::to_integer<int>(*wrong), wrong - bytes.begin());
    }
  }
  return Tensor::from_bytes(bytes, aval);
}

Tensor read_tensor(const core::ArraySource& source, const std::string& name, Device device) {
  const Aval aval = aval_of(source, name, device);
  std::vector<std::byte> bytes(aval.bytes());
  source.read(name, 0, bytes);
  return tensor_of(bytes, aval, source, name);
}

}  // namespace lodestone::engine
