// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/aval.hpp"
#include "engine/memory/shared.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace lodestone::engine {

/// The parameters of an op beside its inputs: axes, an exponent, a sub-graph. Immutable, printed field by
/// field.
class Attrs : public Counted {
 public:
  virtual ~Attrs() = default;
  [[nodiscard]] virtual std::string text() const = 0;  ///< "axes=[0, 1]"
};
using AttrsPtr = Shared<const Attrs>;

/// A member of an attribute struct under the name it is printed by.
template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::*member;
};
template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;

namespace detail {
inline std::string attr_text(const IntList& value) { return value.text(); }
inline std::string attr_text(DType value) { return std::string(core::name_of(value)); }
inline std::string attr_text(Device value) { return value.text(); }
inline std::string attr_text(const std::string& value) { return fmt::format("\"{}\"", value); }
template <class T>
requires std::is_arithmetic_v<T> std::string attr_text(T value) { return fmt::format("{}", value); }

template <class T>
class AttrsOf final : public Attrs {
 public:
  template <class From>
  explicit AttrsOf(std::in_place_t, From&& fields) : value(std::forward<From>(fields)) {}
  [[nodiscard]] std::string text() const override {
    std::string result;
    const auto append = [&](const auto& field) {
      result +=
          fmt::format("{}{}={}", result.empty() ? "" : ", ", field.name, attr_text(value.*field.member));
    };
    std::apply([&](const auto&... field) { (append(field), ...); }, T::fields());
    return result;
  }
  const T value;
};
}  // namespace detail

/// Attributes from a struct that lists its members: `static auto fields() { return std::tuple{Field{"axes",
/// &ReduceAttrs::axes}}; }`
template <class T>
[[nodiscard]] AttrsPtr make_attrs(T&& fields) {
  return AttrsPtr(new detail::AttrsOf<std::remove_cvref_t<T>>(std::in_place, std::forward<T>(fields)));
}
/// Returns the struct given to `make_attrs<T>`. The code of an op uses only its own type.
template <class T>
[[nodiscard]] const T& attrs_as(const Attrs& attrs) {
  return static_cast<const detail::AttrsOf<T>&>(attrs).value;
}

}  // namespace lodestone::engine
