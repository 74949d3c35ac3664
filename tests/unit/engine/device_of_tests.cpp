// SPDX-License-Identifier: Apache-2.0
// LODESTONE_TEST_DEVICE=cpu:1 moves the tests to the second device, which has an arena of its own.
#include "engine/graph/aval.hpp"

#include <cstdlib>
#include <string_view>

namespace {

using namespace lodestone::engine;

[[maybe_unused]] const bool is_set = [] {
  const char* name = std::getenv("LODESTONE_TEST_DEVICE");
  if (name == nullptr || std::string_view(name) != "cpu:1") return false;
  set_default_device({Device::Kind::cpu, 1});
  return true;
}();

}  // namespace
