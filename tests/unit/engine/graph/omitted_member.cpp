// SPDX-License-Identifier: Apache-2.0
// Not to be compiled, for fields() omits the last member; with ALL_MEMBERS it names all and compiles.
#include "engine/graph/attrs.hpp"

namespace lodestone::tests {

struct WindowAttrs {
  engine::IntList window, stride;
  double value = 0.0;
  bool reverse = false;
  static auto fields() {
    using engine::Field;
#ifdef ALL_MEMBERS
    return std::tuple{Field{"window", &WindowAttrs::window}, Field{"stride", &WindowAttrs::stride},
                      Field{"value", &WindowAttrs::value}, Field{"reverse", &WindowAttrs::reverse}};
#else
    return std::tuple{Field{"window", &WindowAttrs::window}, Field{"stride", &WindowAttrs::stride},
                      Field{"value", &WindowAttrs::value}};
#endif
  }
};

engine::AttrsPtr window() { return engine::make_attrs(WindowAttrs{}); }

}  // namespace lodestone::tests
