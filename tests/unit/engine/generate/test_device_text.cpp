// SPDX-License-Identifier: Apache-2.0
// The text of kernels compiles for devices, too. Built where the CUDA toolkit is; no device is needed.
#include "engine/dialect/kernel.hpp"
#include "engine/generate/emit.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/row_expressions.hpp"

#include <nvrtc.h>

#include <array>
#include <map>
#include <set>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

/// Returns the errors of a compilation for sm_90, with the arithmetic of the processor; nothing without any.
std::string errors_of(const std::string& text) {
  constexpr std::array options{
      "-std=c++20",     "-arch=sm_90",      "--fmad=false", "--prec-div=true",
      "--ftz=false",    "--prec-sqrt=true", "-w",           "--device-as-default-execution-space",
      "--device-int128"};
  nvrtcProgram program = nullptr;
  REQUIRE(nvrtcCreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const nvrtcResult result = nvrtcCompileProgram(program, options.size(), options.data());
  std::size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, ' ');
  nvrtcGetProgramLog(program, log.data());
  nvrtcDestroyProgram(&program);
  return result == NVRTC_SUCCESS ? "" : log;
}

/// Splits the texts of several kernels.
std::vector<std::string> kernels_in(const std::string& text) {
  constexpr std::string_view begin = "namespace lodestone::engine::scalar {";
  std::vector<std::string> result;
  for (std::size_t at = text.find(begin); at != std::string::npos;) {
    const std::size_t next = text.find(begin, at + begin.size());
    result.push_back(text.substr(at, next - at));
    at = next;
  }
  return result;
}

}  // namespace

TEST_CASE("text: every row that has text compiles for sm_90, on each of its dtypes", "[engine]") {
  std::map<DType, std::string> kernels;  // by dtype of the first operand, so that few files are compiled
  std::set<std::string_view> rows;
  int n = 0;
  tests::for_each_case([&](const tests::RowCase& each) {
    const Tensor right = record(each.op, each.in, each.attrs, std::source_location::current());
    const Expr expr = tests::expr_of(each, right.dtype());
    if (!has_text(expr)) return;
    std::string text = kernel_text(expr, tests::are_one(each.in));
    const auto rename = [&](std::string_view from, const std::string& to) {
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, from.size(), to);
    };
    rename("namespace lodestone::engine::scalar {",
           fmt::format("namespace lodestone::engine::scalar::k{} {{", n));
    rename(kernel_name, fmt::format("{}_{}_{}", kernel_name, each.op.name, n));
    kernels[each.in[0].dtype()] += text;
    rows.insert(each.op.name);
    ++n;
  });
  for (const auto& [dtype, text] : kernels) {
    INFO(core::name_of(dtype));
    CHECK(errors_of(whole_text(text)) == "");
  }
  CHECK(kernels.size() == 9);
  CHECK(n > 250);
  CHECK(rows.size() > 50);
}

TEST_CASE("text: kernels of random programs compile for sm_90", "[engine]") {
  int n = 0;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64, DType::i8,
                            DType::u8, DType::b8}) {
    for (std::uint64_t seed = 2000; seed < 2008; ++seed) {
      const tests::RandomProgram random(dtype, seed, false);
      const auto plan = tests::plan_of(random.function(), random.inputs(), Level::O1);
      for (const std::string& kernel : kernels_in(plan->generated_text())) {
        INFO(kernel);
        CHECK(errors_of(whole_text(kernel)) == "");
        ++n;
      }
    }
  }
  CHECK(n > 30);
  CHECK_FALSE(errors_of(whole_text("#error planted\n")).empty());
}

TEST_CASE("text: a kernel that a user wrote compiles for sm_90", "[engine]") {
  const Compiled gelu =
      kernel("gelu(x[n, k], b[k]) -> y[n, k]: t = x + b; y = 0.5 * t * (1 + erf(t * 0.7071067811865476))");
  const Tensors inputs{ones({4, 3}), ones({3})};
  const std::vector<std::string> kernels =
      kernels_in(tests::plan_of(gelu, inputs, Level::O1)->generated_text());
  REQUIRE(kernels.size() == 1);
  CHECK(errors_of(whole_text(kernels[0])) == "");
}

TEST_CASE("text: rows that are combined compile for sm_90, short and long ones", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor total = sum(in[0], Axes{-1}, Keep::yes), rest = in[0] - total;
    return {rest - max(rest, Axes{-1}, Keep::yes) * min(rest, Axes{-1}, Keep::yes), total};
  };
  for (const DType dtype :
       {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64, DType::i8, DType::u8}) {
    for (const Dim row : {5, 100}) {
      INFO(core::name_of(dtype) << ", rows of " << row);
      const Tensors inputs{tests::drawn({6, row}, 1, dtype)};
      const std::vector<std::string> kernels =
          kernels_in(tests::plan_of(f, inputs, Level::O1)->generated_text());
      REQUIRE(kernels.size() == 1);
      CHECK(kernels[0].find("cpu_backend::combine_block") != std::string::npos);
      CHECK(errors_of(whole_text(kernels[0])) == "");
    }
  }
}
