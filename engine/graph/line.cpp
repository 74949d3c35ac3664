// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/line.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace lodestone::engine {
namespace {

/// Returns a whole number that a type holds, and all those below it.
template <std::floating_point T>
std::optional<Dim> whole(T value) {
  constexpr T most = static_cast<T>(std::int64_t{1} << std::numeric_limits<T>::digits);
  if (!(std::abs(value) <= most) || value != std::trunc(value)) return std::nullopt;
  return static_cast<Dim>(value);
}

template <std::floating_point T>
bool put_whole_on_line(T& number, T of_second, const Line& line) {
  if (std::memcmp(&number, &of_second, sizeof number) == 0) return true;
  const std::optional<Dim> first = whole(number), second = whole(of_second);
  const std::optional<Dim> result = first && second ? line.at(*first, *second) : std::nullopt;
  if (!result || !whole(static_cast<T>(*result))) return false;
  number = static_cast<T>(*result);
  return true;
}

template <class T>
bool put_one_on_line(T& number, T of_second, const Line& line) {
  if constexpr (std::is_floating_point_v<T>) {
    return put_whole_on_line(number, of_second, line);
  } else {
    return put_on_line(number, of_second, line);
  }
}

}  // namespace

bool put_on_line(IntList& list, const IntList& of_second, const Line& line) {
  bool fits = list.size() == of_second.size();
  for (int i = 0; fits && i < list.size(); ++i) fits = put_on_line(list[i], of_second[i], line);
  return fits;
}

bool put_on_line(double& number, double of_second, const Line& line) {
  return put_whole_on_line(number, of_second, line);
}

bool put_on_line(std::span<std::byte> number, std::span<const std::byte> of_second, DType dtype,
                 const Line& line) {
  const std::size_t size = core::size_of(dtype);
  if (std::memcmp(number.data(), of_second.data(), size) == 0) return true;
  bool fits = false;  // numbers of other dtypes must be the same
  core::visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      T first, second;
      std::memcpy(&first, number.data(), size);
      std::memcpy(&second, of_second.data(), size);
      fits = put_one_on_line(first, second, line);
      std::memcpy(number.data(), &first, size);
    }
  });
  return fits;
}

}  // namespace lodestone::engine
