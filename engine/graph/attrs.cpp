// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/attrs.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/node.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace lodestone::engine::detail {
namespace {

/// Returns the name of a type as it stands in the code.
std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : type.name();
}

}  // namespace

std::string attr_text(const Bytes& value) {
  std::string text;
  for (const std::byte each : value) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

void throw_wrong_attrs(std::string_view op, const std::type_info& expected, const Attrs* got,
                       const std::source_location& where) {
  throw core::InvalidArgument(std::string(op) + "#wrong_attributes",
                              "expected attributes of type {}, got {}; record the op by its own function {}",
                              name_of(expected), got == nullptr ? "none" : name_of(got->tag()),
                              at_line(where));
}

}  // namespace lodestone::engine::detail
