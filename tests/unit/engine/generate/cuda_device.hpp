// SPDX-License-Identifier: Apache-2.0
// A CUDA device through its driver, whose library is opened at run time: programs start without one.
#pragma once

#include "engine/core/error.hpp"
#include "engine/graph/loop_body.hpp"
#include "tests/unit/engine/generate/device_kernels.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace lodestone::tests {

/// Calls a function of the driver by the name that its library has. errors: DeviceError.
#define LODESTONE_NAME(function) #function
#define LODESTONE_NAME_OF(function) LODESTONE_NAME(function)
#define LODESTONE_CALL(function, ...)            \
  CudaDevice::check(LODESTONE_NAME_OF(function), \
                    CudaDevice::symbol<decltype(&::function)>(LODESTONE_NAME_OF(function))(__VA_ARGS__))

/// The first CUDA device of the machine, in its primary context. Not thread safe.
class CudaDevice {
 public:
  /// Returns it; null without a driver or a device.
  [[nodiscard]] static CudaDevice* first() {
    static const bool is_there = [] {
      int n = 0;
      const auto start = symbol<decltype(&::cuInit)>("cuInit");
      const auto count = symbol<decltype(&::cuDeviceGetCount)>("cuDeviceGetCount");
      return start != nullptr && start(0) == CUDA_SUCCESS && count(&n) == CUDA_SUCCESS && n > 0;
    }();
    if (!is_there) return nullptr;
    static CudaDevice device;
    return &device;
  }

  /// Memory of the device.
  class Memory {
   public:
    explicit Memory(std::size_t bytes) : bytes_(bytes) { LODESTONE_CALL(cuMemAlloc, &address_, bytes); }
    ~Memory() { symbol<decltype(&::cuMemFree)>(LODESTONE_NAME_OF(cuMemFree))(address_); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void write(std::span<const std::byte> from) {
      LODESTONE_CALL(cuMemcpyHtoD, address_, from.data(), from.size());
    }
    void read(std::span<std::byte> to) const { LODESTONE_CALL(cuMemcpyDtoH, to.data(), address_, to.size()); }
    void fill(unsigned char byte) { LODESTONE_CALL(cuMemsetD8, address_, byte, bytes_); }
    /// Copies other memory of its size, after what was launched before.
    void copy(const Memory& from) {
      LODESTONE_CALL(cuMemcpyDtoDAsync, address_, from.address_, bytes_, nullptr);
    }
    /// Returns the place of rows of so many bytes, and of elements of so many.
    [[nodiscard]] engine::TilePlace place(std::size_t row, std::size_t element) const {
      return {reinterpret_cast<std::byte*>(address_), static_cast<std::int64_t>(row),
              static_cast<std::int64_t>(element)};
    }

   private:
    std::size_t bytes_;
    CUdeviceptr address_ = 0;
  };

  /// Makes compiled kernels those that `launch` finds.
  void load(const DeviceKernels& kernels) {
    if (module_ != nullptr) LODESTONE_CALL(cuModuleUnload, module_);
    module_ = nullptr;
    LODESTONE_CALL(cuModuleLoadData, &module_, kernels.code().data());
  }
  /// Computes n rows of `length` elements. `places`: those of operands and numbers, then those of outputs.
  void launch(const std::string& name, std::int64_t n, std::int64_t length,
              std::span<const engine::TilePlace> places) {
    constexpr unsigned threads = 256;
    CUfunction function = nullptr;
    LODESTONE_CALL(cuModuleGetFunction, &function, module_, name.c_str());
    std::array<void*, 3> arguments{&n, &length, const_cast<engine::TilePlace*>(places.data())};
    const std::int64_t most =
        std::int64_t{blocks_per_processor} * n_processors_;  // threads go on to further rows
    const auto blocks = static_cast<unsigned>(std::min((n + threads - 1) / threads, most));
    LODESTONE_CALL(cuLaunchKernel, function, blocks, 1, 1, threads, 1, 1, 0, nullptr, arguments.data(),
                   nullptr);
  }
  /// Returns the seconds that the device takes for work that is launched.
  template <class Work>
  [[nodiscard]] double seconds(const Work& work) {
    float milliseconds = 0.0F;
    LODESTONE_CALL(cuEventRecord, begin_, nullptr);
    work();
    LODESTONE_CALL(cuEventRecord, end_, nullptr);
    LODESTONE_CALL(cuEventSynchronize, end_);
    LODESTONE_CALL(cuEventElapsedTime, &milliseconds, begin_, end_);
    return milliseconds * 1e-3;
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  CudaDevice() {
    CUdevice device = 0;
    CUcontext context = nullptr;
    std::array<char, 256> name{};
    LODESTONE_CALL(cuDeviceGet, &device, 0);
    LODESTONE_CALL(cuDeviceGetName, name.data(), static_cast<int>(name.size()), device);
    LODESTONE_CALL(cuDevicePrimaryCtxRetain, &context, device);
    LODESTONE_CALL(cuCtxSetCurrent, context);
    LODESTONE_CALL(cuEventCreate, &begin_, CU_EVENT_DEFAULT);
    LODESTONE_CALL(cuEventCreate, &end_, CU_EVENT_DEFAULT);
    LODESTONE_CALL(cuDeviceGetAttribute, &n_processors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    name_ = name.data();
  }
  /// Returns a function of the driver; null without a driver.
  template <class Function>
  [[nodiscard]] static Function symbol(const char* name) {
    static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library, name));
  }
  static void check(const char* function, CUresult result) {
    if (result != CUDA_SUCCESS)
      throw core::DeviceError("tests::CudaDevice#refused", "expected {} to succeed, got error {}", function,
                              static_cast<int>(result));
  }

  static constexpr int blocks_per_processor = 8;  // as many as run at a time
  CUmodule module_ = nullptr;
  int n_processors_ = 0;
  CUevent begin_ = nullptr, end_ = nullptr;
  std::string name_;
};

#undef LODESTONE_CALL
#undef LODESTONE_NAME_OF
#undef LODESTONE_NAME

}  // namespace lodestone::tests
