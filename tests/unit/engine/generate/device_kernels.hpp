// SPDX-License-Identifier: Apache-2.0
// Kernels' texts as code of a CUDA device, compiled by NVRTC; no device is needed.
#pragma once

#include "engine/core/error.hpp"
#include "engine/generate/emit.hpp"

#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace lodestone::tests {

/// Texts of kernels that are compiled together, each with a function that a device launches.
class DeviceKernels {
 public:
  /// Adds the text of an expression; returns the name of its launch, whose arguments are the number of rows,
  /// their length, and the places of operands, numbers and outputs. `is_one`: as of `kernel_text`. Of single
  /// elements a thread takes up to 16 bytes of an operand at once, where their addresses let it, of rows one.
  std::string add(const engine::Expr& expr, const std::vector<bool>& is_one) {
    using From = engine::Expr::Value::From;
    std::vector<Operand> in(expr.loads.size() + expr.numbers.size());
    std::vector<std::size_t> out;
    for (const auto& [from, dtype, of, per_row] : expr.values) {
      if (from == From::load) in[of] = {core::size_of(dtype), is_one[of]};
      if (from == From::number) in[expr.loads.size() + of] = {core::size_of(dtype), true};
    }
    for (const auto& [value, shape] : expr.stores) out.push_back(core::size_of(expr.values[value].dtype));
    return add(engine::kernel_text(expr, is_one), in, out, expr.row > 1);
  }
  /// The bytes of an element, and whether all places see one.
  struct Operand {
    std::size_t bytes = 0;
    bool is_one = false;
  };
  std::string add(const std::string& kernel, const std::vector<Operand>& in,
                  const std::vector<std::size_t>& out, bool has_rows) {
    constexpr std::string_view scope = "lodestone::engine::scalar";
    const std::size_t at = kernel.find(scope);
    if (at == std::string::npos)
      throw core::InvalidArgument("tests#no_kernel", "expected a kernel's text, got {}", kernel);
    const std::string own = fmt::format("{}::k{}", scope, n_), name = fmt::format("launch_{}", n_++);
    std::string text = kernel;
    text.replace(at, scope.size(), own);
    const std::string function = fmt::format("{}_{}", name, engine::kernel_name);
    text.replace(text.find(engine::kernel_name), std::string_view(engine::kernel_name).size(), function);
    std::size_t most = 1;
    for (const Operand& each : in) most = std::max(most, each.bytes);
    for (const std::size_t each : out) most = std::max(most, each);
    const std::size_t at_once = has_rows ? 1 : std::min<std::size_t>(8, 16 / most);
    std::string test = fmt::format("{0} > 1 && row + {0} <= n", at_once), ones, begin, end;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto [bytes, is_one] = in[i];
      if (is_one) {
        ones += fmt::format("  Piece<{0}> c{1}; c{1}.read(at.in[{1}], 0);\n", bytes, i);
        continue;
      }
      begin += fmt::format("      Piece<{0}> x{1}; x{1}.read(here.in[{1}], row);\n", bytes * at_once, i);
      test += fmt::format(" && Piece<{}>::fits(here.in[{}])", bytes * at_once, i);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      begin += fmt::format("      Piece<{0}> y{1}; y{1}.take(here.out[{1}]);\n", out[i] * at_once, i);
      test += fmt::format(" && Piece<{}>::fits(here.out[{}])", out[i] * at_once, i);
      end += fmt::format("      y{0}.write(at.out[{0}], row);\n", i);
    }
    text_ += fmt::format(
        R"({0}
struct {1}_places {{ TilePlace in[{2}], out[{3}]; }};
extern "C" __global__ void {1}(std::int64_t n, std::int64_t length, {1}_places at) {{
{10}  const std::int64_t step = std::int64_t(gridDim.x) * blockDim.x * {4};
  for (std::int64_t row = (std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x) * {4}; row < n; row += step) {{
    {1}_places here = at;
    if ({5}) {{
{6}      {7}::{8}(0, {4}, length, here.in, here.out);
{9}    }} else {{
      for (std::int64_t i = row; i < n && i < row + {4}; ++i) {7}::{8}(i, 1, length, at.in, at.out);
    }}
  }}
}}
)",
        text, name, in.size(), out.size(), at_once, test, begin, own, function, end, ones);
    return name;
  }

  /// Compiles them for sm_90 with the arithmetic of the processor. Returns NVRTC's errors, nothing without.
  std::string compile() {
    constexpr std::array options{
        "-std=c++20",     "-arch=sm_90",      "--fmad=false", "--prec-div=true",
        "--ftz=false",    "--prec-sqrt=true", "-w",           "--device-as-default-execution-space",
        "--device-int128"};
    const std::string text = engine::whole_text(pieces + text_);
    nvrtcProgram program = nullptr;
    if (nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != NVRTC_SUCCESS)
      return "NVRTC made no program";
    const nvrtcResult result = nvrtcCompileProgram(program, options.size(), options.data());
    std::size_t size = 0;
    nvrtcGetProgramLogSize(program, &size);
    std::string log(size, ' ');
    nvrtcGetProgramLog(program, log.data());
    if (result == NVRTC_SUCCESS) {
      nvrtcGetCUBINSize(program, &size);
      code_.resize(size);
      nvrtcGetCUBIN(program, code_.data());
    }
    nvrtcDestroyProgram(&program);
    return result == NVRTC_SUCCESS ? "" : log;
  }

  [[nodiscard]] const std::vector<char>& code() const { return code_; }

 private:
  /// Text of the elements that a thread reads and writes at once, in registers.
  static constexpr const char* pieces = R"(
template <int bytes> struct Word;
template <> struct Word<16> { using type = uint4; };
template <> struct Word<8> { using type = uint2; };
template <> struct Word<4> { using type = unsigned; };
template <> struct Word<2> { using type = unsigned short; };
template <> struct Word<1> { using type = unsigned char; };
template <int bytes> struct Piece {
  using Type = typename Word<bytes>::type;
  alignas(16) unsigned char own[bytes];
  static bool fits(const TilePlace& at) { return reinterpret_cast<std::uint64_t>(at.data) % bytes == 0; }
  void take(TilePlace& at) { at.data = own; }
  void read(TilePlace& at, std::int64_t row) {
    const Type word = *reinterpret_cast<const Type*>(at.data + row * at.bytes_per_row);
    ::memcpy(own, &word, bytes);
    take(at);
  }
  void write(const TilePlace& at, std::int64_t row) const {
    Type word;
    ::memcpy(&word, own, bytes);
    *reinterpret_cast<Type*>(at.data + row * at.bytes_per_row) = word;
  }
};
)";
  int n_ = 0;
  std::string text_;
  std::vector<char> code_;
};

}  // namespace lodestone::tests
