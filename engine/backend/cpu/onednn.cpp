// SPDX-License-Identifier: Apache-2.0
#include "engine/backend/cpu/onednn.hpp"

#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/core/error.hpp"

#include <omp.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <string_view>

namespace lodestone::engine::cpu_backend::onednn {
namespace {

dnnl_cpu_isa_t widest_allowed() {
  switch (isa()) {
    case Isa::base:
      return dnnl_cpu_isa_sse41;
    case Isa::avx2:
      return dnnl_cpu_isa_avx2;
    case Isa::avx512:
      break;
  }
  return dnnl_cpu_isa_all;
}

std::atomic<std::int64_t> runs{0};

dnnl_stream_t stream_of_this_thread() {
  thread_local const dnnl::stream stream(processor());
  return stream.get();
}

}  // namespace

bool is_wanted() {
  const char* value = std::getenv("LODESTONE_ONEDNN");
  const std::string_view word = value == nullptr ? "on" : value;
  if (word != "on" && word != "off")
    throw core::InvalidArgument("onednn#unknown_word", "expected LODESTONE_ONEDNN=on or off, got \"{}\"",
                                word);
  return word == "on";
}

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}
OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

const dnnl::engine& processor() {
  static const dnnl::engine engine = [] {
    dnnl_set_max_cpu_isa(widest_allowed());
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}

dnnl::memory array(const dnnl::memory::desc& desc) { return {desc, processor(), DNNL_MEMORY_NONE}; }

void run(const dnnl::primitive& primitive, std::initializer_list<Operand> operands) {
  std::array<dnnl_exec_arg_t, 4> args{};
  std::size_t n = 0;
  for (const Operand& each : operands) args.at(n++) = {each.number, each.array.get()};
  const dnnl_status_t status =
      dnnl_primitive_execute(primitive.get(), stream_of_this_thread(), static_cast<int>(n), args.data());
  runs.fetch_add(1, std::memory_order_relaxed);
  if (status != dnnl_success)
    throw core::DeviceError(
        "onednn#failed",
        "expected oneDNN to run a kernel, got its status {}; LODESTONE_ONEDNN=off goes without it",
        static_cast<int>(status));
}

dnnl::primitive_attr with_own_workspace() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace lodestone::engine::cpu_backend::onednn

bool lodestone::engine::cpu_backend::uses_onednn() { return onednn::is_wanted(); }
std::int64_t lodestone::engine::cpu_backend::n_onednn_runs() {
  return onednn::runs.load(std::memory_order_relaxed);
}
