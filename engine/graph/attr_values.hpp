// SPDX-License-Identifier: Apache-2.0
// What attributes consist of. Each type of a member has `attr_text`, `attr_hash` and `attr_equals`, here or
// beside its own definition: numbers compare by their bits, lists and texts by value, functions and solvers
// by identity.
#pragma once

#include "engine/core/words.hpp"
#include "engine/graph/aval.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

namespace lodestone::engine::detail {

/// Returns the hash of a list whose parts before the last have this hash. Another word gives another hash.
[[nodiscard]] constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  const std::uint64_t product = (hash ^ word) * 0x9e3779b97f4a7c15;  // odd, so that no two words meet
  return product ^ (product >> 32);
}

template <class T>
requires std::is_arithmetic_v<T> std::string attr_text(T value) { return fmt::format("{}", value); }
template <class T>
requires std::is_arithmetic_v<T> std::uint64_t attr_hash(T value) {
  std::uint64_t bits = 0;
  static_assert(sizeof value <= sizeof bits);
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <class T>
requires std::is_arithmetic_v<T>
bool attr_equals(T a, T b) { return attr_hash(a) == attr_hash(b); }

inline std::string attr_text(DType value) { return std::string(core::name_of(value)); }
template <core::HasWords E>
std::string attr_text(E value) {
  return std::string(core::word(value));
}
template <class E>
requires std::is_enum_v<E> std::uint64_t attr_hash(E value) { return static_cast<std::uint64_t>(value); }
template <class E>
requires std::is_enum_v<E>
bool attr_equals(E a, E b) { return a == b; }

inline std::string attr_text(Device value) { return value.text(); }
inline std::uint64_t attr_hash(Device value) { return mixed(attr_hash(value.kind), value.index); }
inline bool attr_equals(Device a, Device b) { return a == b; }

inline std::string attr_text(const IntList& value) { return value.text(); }
inline std::uint64_t attr_hash(const IntList& value) {
  std::uint64_t hash = attr_hash(value.size());
  for (const Dim each : value) hash = mixed(hash, attr_hash(each));
  return hash;
}
inline bool attr_equals(const IntList& a, const IntList& b) { return a == b; }

using Bytes = std::array<std::byte, 16>;
std::string attr_text(const Bytes& value);  ///< two hexadecimal digits each
inline std::uint64_t attr_hash(const Bytes& value) {
  const auto [first, second] = std::bit_cast<std::array<std::uint64_t, 2>>(value);
  return mixed(mixed(0, first), second);
}
inline bool attr_equals(const Bytes& a, const Bytes& b) { return a == b; }

inline std::string attr_text(const std::string& value) { return fmt::format("\"{}\"", value); }
inline std::uint64_t attr_hash(const std::string& value) { return std::hash<std::string>{}(value); }
inline bool attr_equals(const std::string& a, const std::string& b) { return a == b; }

/// A function or a solver, by its name.
template <class T>
std::string attr_text(const std::shared_ptr<const T>& object) {
  if constexpr (requires { object->name(); }) {
    return attr_text(object->name());
  } else {
    return attr_text(object->name);
  }
}
template <class T>
std::uint64_t attr_hash(const std::shared_ptr<const T>& object) {
  return std::bit_cast<std::uintptr_t>(object.get());
}
template <class T>
bool attr_equals(const std::shared_ptr<const T>& a, const std::shared_ptr<const T>& b) {
  return a == b;
}

}  // namespace lodestone::engine::detail
