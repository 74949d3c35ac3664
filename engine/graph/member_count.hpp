// SPDX-License-Identifier: Apache-2.0
// Small on purpose: a count that any aggregate has.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace lodestone::engine {
namespace detail {

/// Stands for a value of any type in a list that is tried out.
struct AnyValue {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): it stands where a T is expected
};

template <class T, std::size_t... which>
[[nodiscard]] consteval bool takes(std::index_sequence<which...>) {
  return requires { T{(static_cast<void>(which), AnyValue{})...}; };
}

inline constexpr std::size_t most_members = 16;

}  // namespace detail

/// Returns the number of members of an aggregate: the length of the longest braced list that initializes it.
/// A base counts as one member, an array of C as its elements.
template <class T, std::size_t n = detail::most_members>
[[nodiscard]] consteval std::size_t member_count() {
  static_assert(std::is_aggregate_v<T>, "only the members of an aggregate can be counted");
  static_assert(!detail::takes<T>(std::make_index_sequence<detail::most_members + 1>{}),
                "there are more members than are counted: raise most_members");
  if constexpr (n == 0 || detail::takes<T>(std::make_index_sequence<n>{})) {
    return n;
  } else {
    return member_count<T, n - 1>();
  }
}

}  // namespace lodestone::engine
