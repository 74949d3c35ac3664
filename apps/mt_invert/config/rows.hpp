// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/config/table.hpp"
#include "engine/core/words.hpp"
#include "physics/mt/ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace lodestone::mt_invert::config {

/// The numbers that a key takes; of a list, each of its numbers.
struct Limits {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool above_least = false, below_most = false;  ///< the end itself is excluded
  bool or_zero = false;                          ///< zero as well
  std::string_view units = "";

  [[nodiscard]] bool hold(double value) const;
  /// Returns them in words: "at least 0", "more than 0 and at most 1"; empty without limits.
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] constexpr Limits at_least(double least) { return {.least = least}; }
[[nodiscard]] constexpr Limits above(double least) { return {.least = least, .above_least = true}; }
[[nodiscard]] constexpr Limits within(double least, double most) { return {.least = least, .most = most}; }
/// Returns limits of a share: more than 0 and at most `most`.
[[nodiscard]] constexpr Limits share(double most = 1.0) {
  return {.least = 0.0, .most = most, .above_least = true};
}
// Ranges of what a configuration states. They are far wider than any survey needs, and narrow enough for
// every product and power of the numbers within them to be finite.

/// Returns limits of a positive number that is at most `most`.
[[nodiscard]] constexpr Limits positive(double most) {
  return {.least = 0.0, .most = most, .above_least = true};
}
/// Returns limits of a weight that may vanish.
[[nodiscard]] constexpr Limits weights() { return {.least = 1e-12, .most = 1e12, .or_zero = true}; }
/// Returns limits of a weight that must not vanish.
[[nodiscard]] constexpr Limits nonzero_weights() { return {.least = 1e-6, .most = 1e6}; }
/// Returns limits of a factor between steps: more than 1.
[[nodiscard]] constexpr Limits factors() { return {.least = 1.0, .most = 100.0, .above_least = true}; }
/// Returns limits of a length.
[[nodiscard]] constexpr Limits lengths() { return {.least = 1e-3, .most = 1e8, .units = " m"}; }
/// Returns limits of a length that 0 leaves to the program.
[[nodiscard]] constexpr Limits lengths_or_zero(double most = 1e8) {
  return {.least = 1e-3, .most = most, .or_zero = true, .units = " m"};
}
/// Returns limits of a coordinate.
[[nodiscard]] constexpr Limits places() {
  return {
      .least = -physics::mt::largest_coordinate_m, .most = physics::mt::largest_coordinate_m, .units = " m"};
}
/// Returns limits of a frequency.
[[nodiscard]] constexpr Limits frequencies() {
  return {
      .least = physics::mt::least_frequency_hz, .most = physics::mt::largest_frequency_hz, .units = " Hz"};
}
/// Returns limits of the end of a band of frequencies: 0 as well.
[[nodiscard]] constexpr Limits frequencies_or_zero() {
  Limits limits = frequencies();
  limits.or_zero = true;
  return limits;
}
/// Returns limits of a period.
[[nodiscard]] constexpr Limits periods() {
  return {.least = 1.0 / physics::mt::largest_frequency_hz,
          .most = 1.0 / physics::mt::least_frequency_hz,
          .units = " s"};
}
/// Returns limits of the end of a band of periods: 0 as well.
[[nodiscard]] constexpr Limits periods_or_zero() {
  Limits limits = periods();
  limits.or_zero = true;
  return limits;
}
/// Returns limits of an angle in degrees.
[[nodiscard]] constexpr Limits angles() { return {.least = -360.0, .most = 360.0}; }
/// Returns what a resistivity given from outside may be.
[[nodiscard]] constexpr Limits resistivities() {
  return {.least = physics::mt::least_resistivity_ohm_m,
          .most = physics::mt::largest_resistivity_ohm_m,
          .units = " ohm m"};
}

/// One key of a table: its name, the values it takes, its meaning, and the member that holds its value.
template <class T>
struct Row {
  std::string key, kind, meaning;
  std::function<void(ConfigTable&, const Row&, T&)> read;
  std::function<std::optional<core::Options::Value>(T)> value;
  std::string usual_in_words = "";  ///< the default on the page; empty: the value of an untouched struct
  std::string needed = "";          ///< the setting without which the key has no effect; empty: none
  std::function<bool(const T&)> applies = {};
  bool is_required = false, is_echoed = true;  ///< echoed: also while the key is absent

  /// Makes a key without which its table is refused.
  [[nodiscard]] Row required() && {
    is_required = true;
    return std::move(*this);
  }
  /// States on the page what an absent key stands for.
  [[nodiscard]] Row usually(std::string words) && {
    usual_in_words = std::move(words);
    return std::move(*this);
  }
  /// Likewise where no value expresses it: an absent key is absent from the values in force too.
  [[nodiscard]] Row otherwise(std::string words) && {
    is_echoed = false;
    return std::move(*this).usually(std::move(words));
  }
  /// Names the setting that the key needs. Where the rows before have not brought it, the key is refused.
  [[nodiscard]] Row needs(std::string setting, std::function<bool(const T&)> is_set = {}) && {
    needed = std::move(setting);
    applies = std::move(is_set);
    return std::move(*this);
  }
};

/// The keys of a table in the order of the values in force.
template <class T>
using Rows = std::vector<Row<T>>;

/// Makes rows that need the same setting.
template <class T, std::same_as<Row<T>>... More>
[[nodiscard]] Rows<T> needing(const std::string& setting,
                              const std::type_identity_t<std::function<bool(const T&)>>& is_set, Row<T> first,
                              More... more) {
  Rows<T> rows{std::move(first), std::move(more)...};
  for (Row<T>& each : rows) each = std::move(each).needs(setting, is_set);
  return rows;
}
/// Joins parts of a table.
template <class T, std::same_as<Rows<T>>... More>
[[nodiscard]] Rows<T> joined(Rows<T> rows, const More&... more) {
  (rows.insert(rows.end(), more.begin(), more.end()), ...);
  return rows;
}

namespace detail {

using Value = core::Options::Value;

template <class V>
inline constexpr bool is_optional = false;
template <class V>
inline constexpr bool is_optional<std::optional<V>> = true;
template <class V>
inline constexpr bool is_list = false;
template <class V>
inline constexpr bool is_list<std::vector<V>> = true;

/// Returns a value as TOML has it; none for an empty optional.
template <class V>
std::optional<Value> toml_of(const V& value) {
  if constexpr (is_optional<V>) {
    return value ? toml_of(*value) : std::nullopt;
  } else if constexpr (core::HasWords<V>) {
    return std::string(core::word(value));
  } else if constexpr (std::integral<V> && !std::same_as<V, bool>) {
    return static_cast<std::int64_t>(value);
  } else if constexpr (std::constructible_from<Value, V>) {
    return value;
  } else {
    std::vector<std::string> texts;
    for (const auto each : value) texts.emplace_back(core::word(each));
    return texts;
  }
}

/// Returns the value of a member that was read as TOML; words were checked.
template <class V>
V from_toml(const Value& value) {
  if constexpr (is_optional<V>) {
    return from_toml<typename V::value_type>(value);
  } else if constexpr (core::HasWords<V>) {
    return core::find_word<V>(std::get<std::string>(value)).value();
  } else if constexpr (std::integral<V> && !std::same_as<V, bool>) {
    return static_cast<V>(std::get<std::int64_t>(value));
  } else if constexpr (std::constructible_from<Value, V>) {
    return std::get<V>(value);
  } else {
    V result;
    for (const std::string& each : std::get<std::vector<std::string>>(value))
      result.push_back(core::find_word<typename V::value_type>(each).value());
    return result;
  }
}

/// The values that a key takes: of the type of `example`, numbers within limits, and texts out of `words` if
/// there are any.
struct Takes {
  Value example;
  Limits limits;
  std::vector<std::string> words;
};
template <class V>
Takes taken_by(const Limits& limits) {
  if constexpr (is_optional<V>) {
    return taken_by<typename V::value_type>(limits);
  } else if constexpr (core::HasWords<V>) {
    return {std::string(), limits, core::all_words<V>()};
  } else if constexpr (is_list<V> && !std::constructible_from<Value, V>) {
    return {std::vector<std::string>(), limits, core::all_words<typename V::value_type>()};
  } else {
    return {*toml_of(V{}), limits, {}};
  }
}
/// Returns what a key takes as the page names it.
[[nodiscard]] std::string text_of(const Takes& takes);
/// Returns the value of a key. errors: ConfigError where it is absent, of another type, none of the words, or
/// empty; a list of words may be empty.
[[nodiscard]] Value value_at(const ConfigTable& table, const std::string& key, const Takes& takes);
/// Checks the numbers of a key. errors: ConfigError at the key for a number outside the limits.
void check(const ConfigTable& table, const std::string& key, const Limits& limits, const Value& value);
/// Returns whether a value is a list without items.
[[nodiscard]] bool is_empty_list(const Value& value);
/// Returns whether a value is an empty text or list, which stands for none while its key is absent.
[[nodiscard]] bool is_empty(const Value& value);

}  // namespace detail

/// The way to a member of a member.
template <class T, class V>
struct Path {
  std::function<V&(T&)> follow;
};
template <class T, class M, class V>
[[nodiscard]] Path<T, V> at(M T::*outer, V M::*inner) {
  return {[outer, inner](T& from) -> V& { return from.*outer.*inner; }};
}
template <class T, class M, class N, class V>
[[nodiscard]] Path<T, V> at(M T::*first, N M::*second, V N::*third) {
  return {[first, second, third](T& from) -> V& { return from.*first.*second.*third; }};
}

/// Makes the row of a key whose value is a member.
template <class T, class V>
[[nodiscard]] Row<T> row(std::string key, Path<T, V> path, const Limits& limits, std::string meaning) {
  const detail::Takes takes = detail::taken_by<V>(limits);
  const auto value = [path](T from) { return detail::toml_of(path.follow(from)); };
  const auto read = [path, value, takes](ConfigTable& table, const Row<T>& row, T& to) {
    const bool is_given = table.has(row.key);
    if (is_given || row.is_required)
      path.follow(to) = detail::from_toml<V>(detail::value_at(table, row.key, takes));
    const std::optional<detail::Value> now = value(to);
    if (!now) return;
    if (is_given || row.is_echoed) detail::check(table, row.key, takes.limits, *now);
    if (is_given || (row.is_echoed && !detail::is_empty(*now))) table.keep(row.key, *now);
  };
  return {std::move(key), detail::text_of(takes), std::move(meaning), read, value};
}
template <class T, class V>
[[nodiscard]] Row<T> row(std::string key, Path<T, V> path, std::string meaning) {
  return row(std::move(key), std::move(path), Limits{}, std::move(meaning));
}
template <class T, class V>
[[nodiscard]] Row<T> row(std::string key, V T::*member, const Limits& limits, std::string meaning) {
  return row(std::move(key), Path<T, V>{[member](T& from) -> V& { return from.*member; }}, limits,
             std::move(meaning));
}
template <class T, class V>
[[nodiscard]] Row<T> row(std::string key, V T::*member, std::string meaning) {
  return row(std::move(key), member, Limits{}, std::move(meaning));
}

/// Makes the row of a path, or of a list of paths: the member holds it as the program opens it, the values in
/// force as it was written.
template <class T, class V>
[[nodiscard]] Row<T> path_row(std::string key, V T::*member, std::string meaning) {
  Row<T> result = row(std::move(key), member, std::move(meaning));
  result.kind = std::same_as<V, std::string> ? "path" : "list of paths";
  result.is_echoed = false;
  result.read = [member, read = result.read](ConfigTable& table, const Row<T>& row, T& to) {
    read(table, row, to);
    if (table.has(row.key)) to.*member = table.resolved(to.*member);
  };
  return result;
}

/// Reads the keys of a table into a struct that holds the defaults. errors: ConfigError with file:line.
template <class T>
[[nodiscard]] T read(ConfigTable table, const Rows<T>& rows, T usual) {
  for (const Row<T>& each : rows) {
    if (!each.applies || each.applies(usual))
      each.read(table, each, usual);
    else
      table.refuse_unless(each.needed, each.key);
  }
  return usual;
}

/// Refuses the keys of these rows, which need a setting that is not chosen. Keys that the rows of the chosen
/// method have too are accepted.
template <class T, class Chosen = T>
void refuse(const ConfigTable& table, const Rows<T>& rows, const std::string& needed,
            const Rows<Chosen>& chosen = {}) {
  for (const Row<T>& each : rows) {
    if (std::ranges::count(chosen, each.key, &Row<Chosen>::key) == 0) table.refuse_unless(needed, each.key);
  }
}

}  // namespace lodestone::mt_invert::config
