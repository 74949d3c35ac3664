// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attr_values.hpp"
#include "engine/graph/axis_role.hpp"
#include "engine/graph/line.hpp"
#include "engine/graph/member_count.hpp"
#include "engine/memory/shared.hpp"

#include <fmt/format.h>

#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <utility>

namespace lodestone::engine {

class Attrs;
using AttrsPtr = Shared<const Attrs>;

/// The parameters of an op beside its inputs: axes, an exponent, a sub-graph. Immutable; printed, hashed and
/// compared field by field.
class Attrs : public Counted {
 public:
  virtual ~Attrs() = default;
  /// Returns the type of the struct that they were made from.
  [[nodiscard]] const std::type_info& tag() const { return *tag_; }
  [[nodiscard]] virtual std::string text() const = 0;    ///< "axes=[0, 1]"
  [[nodiscard]] virtual std::uint64_t hash() const = 0;  ///< equal for equal attributes
  /// Returns true for the same struct with the same members, numbers compared by their bits.
  [[nodiscard]] virtual bool equals(const Attrs& other) const = 0;
  /// Returns the attributes for a result and operands that have one more axis in front, or for arrays of
  /// other extents. The members change as their roles say; none where they cannot say it.
  [[nodiscard]] virtual AttrsPtr fit(const NewAxis& axis) const = 0;
  [[nodiscard]] virtual AttrsPtr fit(const NewExtents& extents) const = 0;
  /// Returns the attributes whose numbers lie on the lines through those of these attributes and of others;
  /// none where there are no such lines, or other members differ.
  [[nodiscard]] virtual AttrsPtr on_line(const Attrs& of_second, const Line& line) const = 0;

 protected:
  explicit Attrs(const std::type_info& tag) : tag_(&tag) {}

 private:
  const std::type_info* tag_;
};

/// A member of an attribute struct under the name it is printed by.
template <class Owner, class Member>
struct Field {
  std::string_view name;
  Member Owner::*member;
  AxisRole role = {};
};
template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;
template <class Owner, class Member>
Field(const char*, Member Owner::*, AxisRole) -> Field<Owner, Member>;

namespace detail {

/// Returns the members of a struct with `fields()` in one text, "axes=[0, 1], reverse=true".
template <class T>
[[nodiscard]] std::string fields_text(const T& value) {
  std::string result;
  const auto append = [&](const auto& field) {
    result += fmt::format("{}{}={}", result.empty() ? "" : ", ", field.name, attr_text(value.*field.member));
  };
  std::apply([&](const auto&... field) { (append(field), ...); }, T::fields());
  return result;
}
template <class T>
[[nodiscard]] std::uint64_t fields_hash(const T& value) {
  std::uint64_t hash = 0;
  std::apply([&](const auto&... field) { ((hash = mixed(hash, attr_hash(value.*field.member))), ...); },
             T::fields());
  return hash;
}
template <class T>
[[nodiscard]] bool fields_equal(const T& a, const T& b) {
  return std::apply(
      [&](const auto&... field) { return (attr_equals(a.*field.member, b.*field.member) && ...); },
      T::fields());
}

/// Members that are no numbers must be the same. Other types that contain numbers have a function beside
/// their definition.
template <class T>
requires(!std::is_arithmetic_v<T> && !std::is_base_of_v<IntList, T>) ||
    std::is_same_v<T, bool> [[nodiscard]] bool put_on_line(T& member, const T& of_second, const Line&) {
  return attr_equals(member, of_second);
}

template <class T>
class AttrsOf final : public Attrs {
 public:
  template <class From>
  explicit AttrsOf(std::in_place_t, From&& fields) : Attrs(typeid(T)), value(std::forward<From>(fields)) {}
  [[nodiscard]] std::string text() const override { return fields_text(value); }
  [[nodiscard]] std::uint64_t hash() const override { return fields_hash(value); }
  [[nodiscard]] bool equals(const Attrs& other) const override {
    return other.tag() == typeid(T) && fields_equal(value, static_cast<const AttrsOf&>(other).value);
  }
  [[nodiscard]] AttrsPtr fit(const NewAxis& axis) const override { return fitted(axis); }
  [[nodiscard]] AttrsPtr fit(const NewExtents& extents) const override { return fitted(extents); }
  [[nodiscard]] AttrsPtr on_line(const Attrs& of_second, const Line& line) const override {
    if (of_second.tag() != typeid(T)) return {};
    const T& second = static_cast<const AttrsOf&>(of_second).value;
    if (fields_equal(value, second)) return AttrsPtr(this);
    T copy = value;
    const bool fits = std::apply(
        [&](const auto&... field) {
          return (put_on_line(copy.*field.member, second.*field.member, line) && ...);
        },
        T::fields());
    return fits ? AttrsPtr(new AttrsOf(std::in_place, std::move(copy))) : AttrsPtr();
  }
  const T value;

 private:
  /// Returns a copy of which each member was changed; these attributes where no role is concerned.
  template <class Change>
  [[nodiscard]] AttrsPtr fitted(const Change& change) const {
    const auto any = [](const auto&... field) { return ((field.role.is != AxisRole::Is::plain) || ...); };
    if (!std::apply(any, T::fields())) return AttrsPtr(this);
    T copy = value;
    const auto all = [&](const auto&... field) {
      return (fit_member(copy.*field.member, field.role, change) && ...);
    };
    return std::apply(all, T::fields()) ? AttrsPtr(new AttrsOf(std::in_place, std::move(copy))) : AttrsPtr();
  }
};

[[noreturn]] void throw_wrong_attrs(std::string_view op, const std::type_info& expected, const Attrs* got,
                                    const std::source_location& where);
}  // namespace detail

/// Makes attributes from a struct that lists all its members: `static auto fields() { return
/// std::tuple{Field{"axes", &ReduceAttrs::axes}}; }`
template <class T>
[[nodiscard]] AttrsPtr make_attrs(T&& fields) {
  using Struct = std::remove_cvref_t<T>;
  static_assert(member_count<Struct>() == std::tuple_size_v<decltype(Struct::fields())>,
                "fields() must name every member of the attributes");
  return AttrsPtr(new detail::AttrsOf<Struct>(std::in_place, std::forward<T>(fields)));
}
/// Returns the struct given to `make_attrs<T>`. The code of an op uses only its own type. `op` and `where`:
/// for the message. errors: InvalidArgument for attributes of another type, and for none.
template <class T>
[[nodiscard]] const T& attrs_as(const Attrs* attrs, std::string_view op = "engine::attrs_as",
                                const std::source_location& where = std::source_location::current()) {
  if (attrs == nullptr || attrs->tag() != typeid(T)) detail::throw_wrong_attrs(op, typeid(T), attrs, where);
  return static_cast<const detail::AttrsOf<T>&>(*attrs).value;
}
template <class T>
[[nodiscard]] const T& attrs_as(const Attrs& attrs,
                                const std::source_location& where = std::source_location::current()) {
  return attrs_as<T>(&attrs, "engine::attrs_as", where);
}

}  // namespace lodestone::engine
