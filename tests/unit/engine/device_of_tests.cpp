// SPDX-License-Identifier: Apache-2.0
// LODESTONE_TEST_DEVICE=cpu:1 moves the tests to the second device, which has an arena of its own.
#include "engine/memory/device.hpp"

#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

using namespace lodestone::engine;

// The scope of the main thread, which lasts as long as the program.
[[maybe_unused]] const std::unique_ptr<DefaultDevice> scope = [] {
  const char* name = std::getenv("LODESTONE_TEST_DEVICE");
  return name != nullptr && std::string_view(name) == "cpu:1"
             ? std::make_unique<DefaultDevice>(Device{Device::Kind::cpu, 1})
             : nullptr;
}();

}  // namespace
