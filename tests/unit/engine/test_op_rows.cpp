// SPDX-License-Identifier: Apache-2.0
// Generated from the op table: a new row is tested by being there. LODESTONE_OP_SAMPLES draws more, LODESTONE_OP_SEED others.
#include "engine/check/check_op.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/graph/tuple.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"

#include <cstdlib>

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

TEST_CASE("every op: kernels agree with the reference, derivatives with differences, batches with loops", "[engine]") {
  int n_checks = 0;
  for (const OpInfo& row : OpTable::global().rows()) {
    const OpCheckResult result = check_op(row.name, options());
    INFO(row.name << "\n" << result.report);
    CHECK(result.passed);
    CHECK(result.n_checks > 0);
    n_checks += result.n_checks;
  }
  WARN(n_checks << " checks of " << OpTable::global().rows().size() << " ops, seed " << options().seed);
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

}  // namespace

TEST_CASE("every op: a planted wrong derivative is found", "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    if (!row.derivative.exists()) continue;
    OpInfo& mutated = op_named(row.name);
    const Derivative right = mutated.derivative;
    for (const bool forward : {true, false}) {
      mutated.derivative = right;
      if (forward) {
        mutated.derivative.jvp = [right](const RuleArgs& args, std::span<const Tensor> tangents) {
          return wrong(right.jvp(args, tangents));
        };
      } else if (right.pull_back) {
        mutated.derivative.pull_back = [right](const RuleArgs& args, const Tensor& cotangent, const std::vector<bool>& wanted) {
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
}

TEST_CASE("every op: has a reference kernel or is a view, a formula, and a derivative or the reason why not", "[engine]") {
  for (const OpInfo& row : OpTable::global().rows()) {
    INFO(row.name);
    CHECK_FALSE(row.formula.empty());
    CHECK((row.derivative.exists() || !row.derivative.why_none.empty()));
    CHECK(static_cast<bool>(row.batch));
    CHECK(static_cast<bool>(row.sample));
    for (int i = 0; i < core::n_dtypes && row.view == nullptr && !row.decompose && !row.run; ++i) {
      if (row.dtypes.contains(static_cast<DType>(i))) CHECK(row.kernels[0][static_cast<std::size_t>(i)].run != nullptr);
    }
  }
}
