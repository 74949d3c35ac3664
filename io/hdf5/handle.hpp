// SPDX-License-Identifier: Apache-2.0
#pragma once

// Private to io/hdf5: owning handles, errors and types of the HDF5 C library.

#include "engine/core/array_io.hpp"

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace lodestone::io::hdf5 {

/// Owns one HDF5 identifier.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, -1);
      close_ = other.close_;
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool valid() const { return id_ >= 0; }
  void reset() {
    if (id_ >= 0) {
      close_(std::exchange(id_, -1));
    }
  }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// Keeps HDF5 from printing its error stack while in scope (errors are ours to report), and restores the
/// printer of other users of the library. Only one thread is in such a scope at a time: the library is not
/// made for several.
class QuietErrors {
 public:
  QuietErrors() : one_thread_(mutex_) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  inline static std::recursive_mutex mutex_;
  std::scoped_lock<std::recursive_mutex> one_thread_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// Returns the cause of the last failure of HDF5 on this thread.
[[nodiscard]] std::string last_error();

/// Returns the type of one element in memory; complex numbers are compounds {r, i}.
[[nodiscard]] Handle memory_type(core::DType dtype);

/// Returns a fixed-length, zero-padded UTF-8 string type.
[[nodiscard]] Handle text_type(std::size_t width);

}  // namespace lodestone::io::hdf5
