// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/aval.hpp"

#include <fmt/format.h>

namespace lodestone::engine {

std::string Aval::text() const {
  if (kind == Kind::tuple) return "tuple";
  return fmt::format("{}{}{}{}", kind == Kind::handle ? "handle of " : "", core::name_of(dtype), shape.text(),
                     device == default_device() ? "" : " on " + device.text());
}

double bytes_of_elements(const Aval& aval, const Strides& strides) {
  auto bytes = static_cast<double>(core::size_of(aval.dtype));
  for (int axis = 0; axis < aval.shape.rank(); ++axis)
    bytes *= strides[axis] == 0 ? 1.0 : static_cast<double>(aval.shape[axis]);
  return bytes;
}

}  // namespace lodestone::engine
