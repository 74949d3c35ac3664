// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/aval.hpp"

#include <fmt/format.h>

namespace lodestone::engine {

std::string Aval::text() const {
  if (kind == Kind::tuple) return "tuple";
  return fmt::format("{}{}{}{}", kind == Kind::handle ? "handle of " : "", core::name_of(dtype), shape.text(),
                     device == default_device() ? "" : " on " + device.text());
}

}  // namespace lodestone::engine
