// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/dtypes.hpp"

#include <fmt/ranges.h>

#include <string_view>
#include <vector>

namespace lodestone::engine {

std::string DTypes::text() const {
  std::vector<std::string_view> names;
  for (int i = 0; i < core::n_dtypes; ++i) {
    if (contains(static_cast<DType>(i))) names.push_back(core::name_of(static_cast<DType>(i)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace lodestone::engine
