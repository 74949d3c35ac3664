// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace lodestone::engine {

/// A count of owners inside the object: one word instead of a control block, and readable, which is how
/// buffers find out that they may be reused.
class Counted {
 public:
  Counted() = default;
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  void retain() const noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns true for the last owner, who deletes.
  [[nodiscard]] bool release() const noexcept { return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  [[nodiscard]] std::uint32_t n_owners() const noexcept { return owners_.load(std::memory_order_acquire); }
  [[nodiscard]] bool has_one_owner() const noexcept { return owners_.load(std::memory_order_acquire) == 1; }

 protected:
  ~Counted() = default;

 private:
  mutable std::atomic<std::uint32_t> owners_{0};
};

/// Deletes the object for its last owner. Types that own each other in long chains have an overload without
/// recursion.
template <class T>
void destroy(T* object) noexcept {
  delete object;
}

/// Owner of a `Counted` object; made by `new`, destroyed by the last owner.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->retain();
  }
  Shared(const Shared& other) noexcept : Shared(other.object_) {}
  Shared(Shared&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Shared() {
    if (object_ != nullptr && object_->release()) destroy(object_);
  }
  [[nodiscard]] T* get() const noexcept { return object_; }
  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  [[nodiscard]] T* operator->() const noexcept { return object_; }
  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
  friend bool operator==(const Shared& a, const Shared& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

/// A place for one owned object that threads may fill at once: the first object stays.
template <class T>
class SetOnce {
 public:
  SetOnce() = default;
  ~SetOnce() {
    if (T* object = get(); object != nullptr && object->release()) destroy(object);
  }
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;
  [[nodiscard]] T* get() const noexcept { return object_.load(std::memory_order_acquire); }
  /// Keeps the object if there is none yet, and returns the one that is kept.
  T* keep(const Shared<T>& object) noexcept {
    T* kept = nullptr;
    if (!object_.compare_exchange_strong(kept, object.get(), std::memory_order_acq_rel)) return kept;
    object->retain();
    return object.get();
  }

 private:
  std::atomic<T*> object_{nullptr};
};

}  // namespace lodestone::engine
