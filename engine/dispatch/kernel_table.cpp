// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch/kernel_table.hpp"

#include "engine/core/error.hpp"
#include "engine/record/rule_args.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace lodestone::engine {
namespace {

thread_local int reference_only_depth = 0;

constexpr std::array on_first_processor{Backend::onednn, Backend::processor, Backend::reference};
constexpr std::array on_other_processors{Backend::processor, Backend::reference};
constexpr std::array only_reference{Backend::reference};
constexpr std::array on_cuda{Backend::cuda};

/// Returns the first kernel in the order of the backends, or null.
const Kernel* found_kernel(const OpInfo& op, Device device, DType dtype) {
  for (const Backend backend : backends_of(device)) {
    if (const Kernel& kernel = op.kernel_of(backend, dtype); kernel.run != nullptr) return &kernel;
  }
  return nullptr;
}

/// Returns the names of the dtypes that have a kernel on a device.
std::vector<std::string_view> dtypes_on(const OpInfo& op, Device device) {
  std::vector<std::string_view> names;
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (found_kernel(op, device, dtype) != nullptr) names.push_back(core::name_of(dtype));
  }
  return names;
}

}  // namespace

std::span<const Backend> backends_of(Device device) {
  if (device.kind == Device::Kind::cuda) return on_cuda;
  if (reference_only_depth > 0) return only_reference;
  return device == cpu ? std::span<const Backend>(on_first_processor) : on_other_processors;
}

const Kernel& OpInfo::kernel(Device device, DType dtype) const {
  if (const Kernel* found = found_kernel(*this, device, dtype)) return *found;
  const auto dtypes_there = dtypes_on(*this, device);
  if (dtypes_there.empty())
    throw core::DeviceError(
        name + "#no_kernel_on_device",
        "expected a device that has a kernel for this op, got {}; copy its inputs to another", device.text());
  throw core::InvalidArgument(name + "#no_kernel_for_dtype",
                              "expected a dtype that has a kernel on {} ({}), got {}; cast the inputs first",
                              device.text(), fmt::join(dtypes_there, ", "), core::name_of(dtype));
}

bool OpInfo::has_kernel(const InferArgs& args) const {
  const Aval& first = args.aval(0);
  return found_kernel(*this, first.device, first.dtype) != nullptr && (accepts == nullptr || accepts(args));
}

ReferenceOnly::ReferenceOnly() { ++reference_only_depth; }
ReferenceOnly::~ReferenceOnly() { --reference_only_depth; }

}  // namespace lodestone::engine
