// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace lodestone::core {

/// A value that may be absent, used as `std::optional` is, which takes the room of a pointer where it is
/// absent: for large members that most objects lack. Copies own a value of their own.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(std::nullopt_t) {}
  template <class U>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, Boxed>) Boxed(U&& value)
      : value_(std::make_unique<T>(std::forward<U>(value))) {}
  Boxed(const std::optional<T>& value) : value_(value ? std::make_unique<T>(*value) : nullptr) {}
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) noexcept = default;
  /// Assigns to the value that there is, which may be the source itself, or makes one.
  template <class U>
  requires(std::convertible_to<U&&, T> && !std::same_as<std::remove_cvref_t<U>, Boxed>) Boxed& operator=(
      U&& value) {
    if (value_)
      *value_ = std::forward<U>(value);
    else
      value_ = std::make_unique<T>(std::forward<U>(value));
    return *this;
  }
  ~Boxed() = default;

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  [[nodiscard]] explicit operator bool() const { return has_value(); }
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T* operator->() { return value_.get(); }
  [[nodiscard]] const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }
  /// Makes a new value and returns it.
  template <class... Args>
  T& emplace(Args&&... args) {
    value_ = std::make_unique<T>(std::forward<Args>(args)...);
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace lodestone::core
