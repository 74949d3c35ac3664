// SPDX-License-Identifier: Apache-2.0
// Generated from the op table: a new row is tested by being there. LODESTONE_OP_SAMPLES draws more,
// LODESTONE_OP_SEED others.
#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "engine/testing/check_op.hpp"
#include "engine/testing/kernel_bounds.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <string_view>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

OpCheckOptions options() {
  OpCheckOptions result;
  if (const char* samples = std::getenv("LODESTONE_OP_SAMPLES")) result.n_samples = std::atoi(samples);
  if (const char* seed = std::getenv("LODESTONE_OP_SEED")) result.seed = std::strtoull(seed, nullptr, 10);
  return result;
}

}  // namespace

TEST_CASE(
    "every op: kernels keep to the shape rule and agree with the reference, derivatives with differences, "
    "batches with loops",
    "[engine]") {
  int n_checks = 0, n_refused = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    const OpCheckResult result = check_op(row.name, options());
    INFO(row.name << "\n" << result.report);
    CHECK(result.passed);
    CHECK(result.n_checks > 0);
    CHECK((row.n_inputs <= 0 || result.n_refused > 0));
    n_checks += result.n_checks;
    n_refused += result.n_refused;
  }
  WARN(n_checks << " checks and " << n_refused << " refused calls of " << OpTable::global().rows().size()
                << " ops, seed " << options().seed);
}

namespace {

/// A tangent that is wrong by one in a thousand, in every element of a tuple.
Tensor wrong(const Tensor& tangent) {
  if (!tangent.is_valid()) return tangent;
  if (tangent.aval().kind != Kind::tuple) return core::is_float(tangent.dtype()) ? tangent * 1.001 : tangent;
  Tensors elements = elements_of(tangent);
  for (Tensor& each : elements) each = wrong(each);
  return tuple(elements);
}

/// A batch in the wrong order, truths inverted, in every element of a tuple.
Tensor disturbed(const Tensor& batches) {
  if (batches.aval().kind != Kind::tuple)
    return batches.dtype() == DType::b8 ? logical_not(batches) : flip(batches, 0);
  Tensors elements = elements_of(batches);
  for (Tensor& each : elements) each = disturbed(each);
  return tuple(elements);
}

/// Returns what the right row gives, for inputs or with an output whose items are in the wrong order.
Tensor wrong_batch(const OpInfo& right, const RuleArgs& args, const std::vector<bool>& batched) {
  const Tensor result = record_batch({right, args.in, args.out, args.attrs, args.where}, batched);
  if (result.aval().kind != Kind::handle) return disturbed(result);
  Tensors inputs(args.in.begin(), args.in.end());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (batched[i] && inputs[i].aval().kind == Kind::array) inputs[i] = flip(inputs[i], 0);
  }
  return record_batch({right, inputs, args.out, args.attrs, args.where}, batched);
}

}  // namespace

TEST_CASE("every op: a planted wrong derivative is found", "[engine]") {
  std::string without_differences;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (!row.derivative.exists()) continue;
    if (!row.dtypes.contains(DType::f64) && !row.dtypes.contains(DType::c128) &&
        !row.dtypes.contains(DType::b8)) {
      without_differences += row.name;
      continue;
    }
    OpInfo& mutated = op_named(row.name);
    const Derivative right = mutated.derivative;
    for (const bool forward : {true, false}) {
      mutated.derivative = right;
      if (forward) {
        mutated.derivative.jvp = [right](const RuleArgs& args, std::span<const Tensor> tangents) {
          return wrong(right.jvp(args, tangents));
        };
      } else if (right.pull_back) {
        mutated.derivative.pull_back = [right](const RuleArgs& args, const Tensor& cotangent,
                                               const std::vector<bool>& wanted) {
          Tensors result = right.pull_back(args, cotangent, wanted);
          for (Tensor& each : result) each = wrong(each);
          return result;
        };
      } else {
        mutated.derivative.vjp = [right](const RuleArgs& args, const Tensor& cotangent, std::size_t which) {
          return wrong(right.vjp(args, cotangent, which));
        };
      }
      const bool passed = check_op(row.name, {.n_samples = 4}).passed;
      mutated.derivative = right;
      INFO(row.name << (forward ? " jvp" : " vjp"));
      CHECK_FALSE(passed);
    }
  }
  CHECK(without_differences == "widening_dot_general");  // test_onednn.cpp has their derivatives
}

TEST_CASE("every op: a planted wrong batch rule is found", "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.n_inputs == 0) continue;  // never batched
    OpInfo& mutated = op_named(row.name);
    const OpInfo right = row;
    mutated.batch = [&right](const RuleArgs& args, const std::vector<bool>& batched) {
      return wrong_batch(right, args, batched);
    };
    const bool passed = check_op(row.name, {.n_samples = 4}).passed;
    mutated.batch = right.batch;
    INFO(row.name);
    CHECK_FALSE(passed);
  }
}

namespace {

using RunKernel = void (*)(const KernelCall&);
std::array<RunKernel, core::n_dtypes> right_kernels;
void right_kernel(const KernelCall& call) {
  right_kernels[static_cast<std::size_t>((call.in.empty() ? call.out[0] : call.in[0]).aval->dtype)](call);
}

/// Returns true if the kernel runs in the memory of the check, where a fault does no other damage.
bool is_checked(const KernelCall& call) {
  return std::string_view(call.where.file_name()).ends_with("kernel_bounds.cpp");
}

void writes_too_much(const KernelCall& call) {
  right_kernel(call);
  const View& out = call.out.back();
  if (is_checked(call)) out.data[out.aval->bytes()] ^= std::byte{1};
}
void writes_before(const KernelCall& call) {
  right_kernel(call);
  if (is_checked(call)) call.out.back().data[-1] ^= std::byte{1};
}
void leaves_the_last(const KernelCall& call) {
  const View& out = call.out.back();
  std::byte unused{};
  std::byte& last = out.count() > 0 ? out.data[out.aval->bytes() - 1] : unused;
  const std::byte before = last;
  right_kernel(call);
  if (is_checked(call)) last = before;
}
void reads_too_much(const KernelCall& call) {
  right_kernel(call);
  if (!is_checked(call) || call.out[0].count() == 0 || call.in.empty() || call.in[0].count() == 0) return;
  std::int64_t past = 1;  // one element behind the last of the first input
  for (int axis = 0; axis < call.in[0].shape().rank(); ++axis)
    past += std::max<std::int64_t>((*call.in[0].strides)[axis], 0) * (call.in[0].shape()[axis] - 1);
  call.out[0].data[0] ^=
      call.in[0].data[past * static_cast<std::int64_t>(core::size_of(call.in[0].aval->dtype))];
}

}  // namespace

TEST_CASE(
    "every op: a kernel that writes past its output or not all of it, or reads past its input, is found",
    "[engine]") {
  int n_kernels = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    OpInfo& mutated = op_named(row.name);
    for (auto& of_backend : mutated.kernels) {
      const auto right = of_backend;
      for (std::size_t i = 0; i < right.size(); ++i) right_kernels[i] = right[i].run;
      if (row.run || std::all_of(right_kernels.begin(), right_kernels.end(),
                                 [](RunKernel run) { return run == nullptr; }))
        continue;
      ++n_kernels;
      for (const RunKernel planted : {writes_too_much, writes_before, leaves_the_last, reads_too_much}) {
        if (planted == reads_too_much && row.n_inputs == 0) continue;
        for (Kernel& each : of_backend) each.run = each.run == nullptr ? nullptr : planted;
        const OpCheckResult result = check_op(row.name, {.n_samples = 4});
        of_backend = right;
        INFO(row.name << " " << result.report);
        CHECK(result.report.find("kernel") != std::string::npos);
      }
    }
  }
  CHECK(n_kernels > 100);
}

namespace {

using Measure = Workspace (*)(const KernelCall&);
std::array<Measure, core::n_dtypes> right_workspaces;
bool has_asked = false;
/// A workspace without its last bytes.
Workspace too_small(const KernelCall& call) {
  Workspace workspace =
      right_workspaces[static_cast<std::size_t>((call.in.empty() ? call.out : call.in)[0].aval->dtype)](call);
  if (!is_checked(call)) return workspace;
  has_asked = has_asked || workspace.shared + workspace.per_thread > 0;
  for (std::size_t* bytes : {&workspace.shared, &workspace.per_thread})
    *bytes -= std::min<std::size_t>(*bytes, 8);
  return workspace;
}

ViewRule right_view;
std::optional<Look> forgets_the_offset(const Aval& in, const Look& look, const Attrs* attrs,
                                       const Aval& out) {
  return right_view(in, {0, look.strides}, attrs, out);
}
std::optional<Look> forgets_the_strides(const Aval& in, const Look& look, const Attrs* attrs,
                                        const Aval& out) {
  return right_view(in, {look.offset, contiguous_strides(in.shape)}, attrs, out);
}

}  // namespace

TEST_CASE("every op: a kernel that asks for less scratch than it works in is found", "[engine]") {
  int n_kernels = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    OpInfo& mutated = op_named(row.name);
    for (auto& of_backend : mutated.kernels) {
      const auto right = of_backend;
      for (std::size_t i = 0; i < right.size(); ++i) right_workspaces[i] = right[i].workspace;
      if (std::all_of(right_workspaces.begin(), right_workspaces.end(),
                      [](Measure measure) { return measure == nullptr; }))
        continue;
      has_asked = false;  // extrema need some for long rows only
      for (Kernel& each : of_backend) each.workspace = each.workspace == nullptr ? nullptr : too_small;
      const OpCheckResult result = check_op(row.name, {.n_samples = 8});
      of_backend = right;
      if (!has_asked) continue;
      ++n_kernels;
      INFO(row.name << " " << result.report);
      CHECK(result.report.find("outside its workspace") != std::string::npos);
    }
  }
  CHECK(n_kernels > 20);
}

TEST_CASE("every op: a view that forgets offset or strides of its input is found", "[engine]") {
  int n_views = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.view == nullptr) continue;
    ++n_views;
    OpInfo& mutated = op_named(row.name);
    right_view = row.view;
    for (const ViewRule planted : {forgets_the_offset, forgets_the_strides}) {
      mutated.view = planted;
      const OpCheckResult result = check_op(row.name, {.n_samples = 4});
      mutated.view = right_view;
      INFO(row.name << " " << result.report);
      CHECK(result.report.find("view") != std::string::npos);
    }
  }
  CHECK(n_views == 7);
}

TEST_CASE("every op: a shape rule that refuses without a reason is found", "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    OpInfo& mutated = op_named(row.name);
    const auto right = mutated.infer;
    bool refused = false;
    mutated.infer = [right, &refused](const InferArgs& args) -> Aval {
      try {
        return right(args);
      } catch (const core::Error&) {
        refused = true;
        throw core::ShapeError(args.op.name, "these inputs do not fit {}", at_line(args.where));
      }
    };
    const OpCheckResult vague = check_op(row.name, {.n_samples = 4});
    CHECK((!refused || vague.report.find("lacks") != std::string::npos));
    mutated.infer = right;
  }
}

TEST_CASE("a shape rule with an element too many is found, for the kernel then reads one that is not there",
          "[engine]") {
  const std::vector<double> values{1, 2, 3};
  for (const char* name : {"negative", "exp", "add", "less", "equal", "remainder"}) {
    OpInfo& mutated = op_named(name);
    const bool is_integral = !mutated.dtypes.contains(DType::f64);
    const Tensor x = cast(Tensor::from(values, {3}), is_integral ? DType::i32 : DType::f64).eval();
    const Tensors inputs(static_cast<std::size_t>(mutated.n_inputs), x);
    const auto right = mutated.infer;
    mutated.infer = [right](const InferArgs& args) {
      Aval aval = right(args);
      ++aval.shape[0];
      return aval;
    };
    const std::string found =
        out_of_bounds(record(mutated, inputs, {}, std::source_location::current()), mutated, nullptr, inputs);
    mutated.infer = right;
    INFO(name);
    CHECK_THAT(found, Catch::Contains("no element of an input"));
    CHECK(
        out_of_bounds(record(mutated, inputs, {}, std::source_location::current()), mutated, nullptr, inputs)
            .empty());
  }
}

TEST_CASE("every op: has a reference kernel or is a view, a formula, and a derivative or the reason why not",
          "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    INFO(row.name);
    CHECK_FALSE(row.formula.empty());
    CHECK((row.derivative.exists() || !row.derivative.why_none.empty()));
    CHECK((can_batch(row) || row.n_inputs == 0));
    CHECK(static_cast<bool>(row.sample));
    for (int i = 0; i < core::n_dtypes && row.view == nullptr && !row.decompose && !row.run; ++i) {
      if (row.dtypes.contains(static_cast<DType>(i)))
        CHECK(row.kernels[static_cast<std::size_t>(Backend::reference)][static_cast<std::size_t>(i)].run !=
              nullptr);
    }
  }
}
