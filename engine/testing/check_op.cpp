// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/check_op.hpp"

#include "engine/core/error.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/dispatch/kernel_table.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/testing/cut_run_join.hpp"
#include "engine/testing/difference.hpp"
#include "engine/testing/kernel_bounds.hpp"
#include "engine/testing/refusals.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lodestone::engine {
namespace {

using Numbers = std::vector<std::complex<double>>;

double norm(const Numbers& x) {
  double total = 0.0;
  for (const auto& each : x) total += std::norm(each);
  return std::sqrt(total);
}

double norm(const Tensors& tensors) {
  double total = 0.0;
  for (const Tensor& each : tensors) total = std::hypot(total, norm(numbers_of(each)));
  return total;
}

/// Returns Re Σ conj(a) b over all tensors.
double inner(const Tensors& a, const Tensors& b) {
  double total = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Numbers left = numbers_of(a[i]), right = numbers_of(b[i]);
    for (std::size_t k = 0; k < left.size(); ++k) total += (std::conj(left[k]) * right[k]).real();
  }
  return total;
}

/// One draw of an op, as a function of its floating-point inputs.
class Case {
 public:
  Case(const OpInfo& op, Sample sample) : op_(op), sample_(std::move(sample)) {
    for (std::size_t i = 0; i < sample_.inputs.size(); ++i) {
      const auto& constants = sample_.constants;
      const bool is_constant = std::find(constants.begin(), constants.end(), i) != constants.end();
      if (core::is_float(sample_.inputs[i].dtype()) && !is_constant) variables_.push_back(i);
    }
  }
  [[nodiscard]] Tensor call(const Tensors& inputs) const {
    const Tensor out = record(op_, sample_.prepare ? sample_.prepare(inputs) : inputs, sample_.attrs,
                              std::source_location::current());
    return sample_.finish ? sample_.finish(out) : out;
  }
  [[nodiscard]] Tensor call() const { return call(sample_.inputs); }
  /// Returns the inputs of the op itself, evaluated.
  [[nodiscard]] Tensors arguments() const {
    Tensors result = sample_.prepare ? sample_.prepare(sample_.inputs) : sample_.inputs;
    eval(result);
    return result;
  }
  [[nodiscard]] const AttrsPtr& attrs() const { return sample_.attrs; }
  [[nodiscard]] const Tensors& inputs() const { return sample_.inputs; }
  [[nodiscard]] Tensors variables() const {
    Tensors result;
    for (const std::size_t i : variables_) result.push_back(sample_.inputs[i]);
    return result;
  }
  [[nodiscard]] Function function() const {
    return [this](const Tensors& variables) -> Tensors {
      Tensors all = sample_.inputs;
      for (std::size_t k = 0; k < variables_.size(); ++k) all[variables_[k]] = variables[k];
      return {call(all)};
    };
  }
  [[nodiscard]] std::string text() const {
    std::vector<std::string> inputs;
    for (const Tensor& input : sample_.inputs) inputs.push_back(input.aval().text());
    return fmt::format("{}({}) {}", op_.name, fmt::join(inputs, ", "),
                       sample_.attrs ? sample_.attrs->text() : "");
  }

 private:
  const OpInfo& op_;
  Sample sample_;
  std::vector<std::size_t> variables_;
};

class Checker {
 public:
  Checker(const OpInfo& op, const OpCheckOptions& options) : op_(op), options_(options) {}

  OpCheckResult run() {
    for (int i = 0; i < core::n_dtypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (!op_.dtypes.contains(dtype)) continue;
      for (int n = 0; n < options_.n_samples; ++n) {
        Sampler sampler(dtype, options_.seed * 1000003 + static_cast<std::uint64_t>(1000 * i + n));
        const Case each(op_, op_.sample(sampler));
        try {
          check(each, sampler);
        } catch (const core::Error& error) {
          expect(false, each, fmt::format("a check was refused: {}", error.what()));
        }
      }
    }
    return result_;
  }

 private:
  void check(const Case& each, Sampler& sampler) {
    if (!bounds(each)) return;  // what else runs might crash
    refusals(each);
    kernels(each);
    if (!axes(each)) return;  // batches follow from them
    batching(each);
    const DType dtype = sampler.dtype();
    if ((dtype == DType::f64 || dtype == DType::c128 || dtype == DType::b8) && op_.derivative.exists())
      derivatives(each, sampler);
  }

  void expect(bool holds, const Case& which, const std::string& what) {
    ++result_.n_checks;
    if (holds) return;
    result_.passed = false;
    result_.report += fmt::format("{}: {} (seed {})\n", which.text(), what, options_.seed);
  }

  bool bounds(const Case& each) {
    const Tensors inputs = each.arguments();
    const std::string broken = out_of_bounds(
        record(op_, inputs, each.attrs(), std::source_location::current()), op_, each.attrs().get(), inputs);
    expect(broken.empty(), each, broken);
    return broken.empty();
  }

  void refusals(const Case& each) {
    const Refusals found = refusals_of(op_, each.arguments(), each.attrs());
    result_.n_refused += found.n_refused;
    expect(found.unclear.empty(), each, found.unclear);
  }

  void kernels(const Case& each) {
    const Tensor fast = each.call().eval();
    Tensor slow;
    {
      const ReferenceOnly reference;
      slow = each.call().eval();
    }
    expect(difference(fast, slow) <= agreement(fast.dtype()), each,
           fmt::format("kernel and reference differ by {:.2e}", difference(fast, slow)));
  }

  bool axes(const Case& each) {
    Sampler choices(DType::f64, options_.seed);
    const std::string wrong = cut_run_join(op_, each.arguments(), each.attrs(), choices, 2).fault;
    expect(wrong.empty(), each, wrong);
    return wrong.empty();
  }

  void batching(const Case& each) {
    if (!can_batch(op_)) return;
    constexpr Dim size = 3;
    for (std::size_t mask = 1; mask < (std::size_t{1} << std::min<std::size_t>(each.inputs().size(), 3));
         ++mask) {
      std::vector<bool> batched;
      Tensors stacked;
      for (std::size_t i = 0; i < each.inputs().size(); ++i) {
        batched.push_back(((mask >> i) & 1) != 0);
        stacked.push_back(batched.back() ? stack_of(each.inputs()[i], size) : each.inputs()[i]);
      }
      const Tensor together =
          vmap([&](const Tensors& x) -> Tensors { return {each.call(x)}; }, batched)(stacked)[0];
      for (Dim n = 0; n < size; ++n) {
        Tensors alone;
        for (std::size_t i = 0; i < stacked.size(); ++i)
          alone.push_back(batched[i] ? squeeze(slice(stacked[i], 0, n, n + 1), 0) : stacked[i]);
        const double gap = difference(squeeze(slice(together, 0, n, n + 1), 0), each.call(alone));
        expect(gap <= agreement(together.dtype()), each,
               fmt::format("batched and one by one differ by {:.2e}", gap));
      }
    }
  }

  /// x and two variations of it along a new axis 0: smaller floats (a definite matrix stays definite); other
  /// elements reversed.
  static Tensor stack_of(const Tensor& x, Dim size) {
    Tensors parts;
    for (Dim n = 0; n < size; ++n) {
      const bool is_float = floats.contains(x.dtype());
      const Tensor varied = is_float                  ? x * (1.0 - 0.1 * static_cast<double>(n))
                            : n == 0 || x.rank() == 0 ? x
                                                      : flip(x, static_cast<int>((n - 1) % x.rank()));
      parts.push_back(expand_dims(varied, 0));
    }
    return concatenate(parts, 0);
  }

  void derivatives(const Case& each, Sampler& sampler) {
    const Tensors at = each.variables();
    const DType out = each.call().dtype();  // differences need all digits
    if (at.empty() || (out != DType::f64 && out != DType::c128) || each.call().count() == 0) return;
    taylor(each, each.function(), at, sampler, "jvp");
    adjoint(each, each.function(), at, sampler, "vjp");
    // Second order: the same of the gradient of Σ Re(conj(w) f).
    const Tensors weights = directions(sampler, {each.call()});
    const Function gradient = [&](const Tensors& x) { return linearize(each.function(), x).vjp(weights); };
    if (!op_.derivative.why_no_second.empty())
      return expect(refuses(gradient, at), each, "expected the second derivative to be refused");
    taylor(each, gradient, at, sampler, "jvp of vjp");
    adjoint(each, gradient, at, sampler, "vjp of vjp");
  }

  static Tensors directions(Sampler& sampler, const Tensors& like) {
    Tensors result;
    for (const Tensor& each : like)
      result.push_back(copy_to(sampler.tensor(each.shape(), -1.0, 1.0, each.dtype()), each.device()));
    return result;
  }

  static bool refuses(const Function& gradient, const Tensors& at) {
    try {
      static_cast<void>(linearize(gradient, at).jvp(at));
    } catch (const core::InvalidArgument&) {
      return true;
    }
    return false;
  }

  void taylor(const Case& each, const Function& f, const Tensors& at, Sampler& sampler,
              const std::string& what) {
    const Tensors along = directions(sampler, at);
    const Linearized linearized = linearize(f, at);
    const Tensors slope = linearized.jvp(along);
    const double scale = std::max({norm(linearized.value()), norm(slope), 1e-30});
    double best_order = 0.0, last = -1.0, largest = 0.0;
    for (double h = 0x1p-8; h > 0x1p-18; h /= 4.0) {
      Tensors moved, remainder;
      for (std::size_t i = 0; i < at.size(); ++i) moved.push_back(at[i] + h * along[i]);
      const Tensors there = f(moved);
      for (std::size_t i = 0; i < there.size(); ++i)
        remainder.push_back(there[i] - linearized.value()[i] - h * slope[i]);
      const double size = norm(remainder) / scale;
      largest = std::max(largest, size / h);
      if (last > 0.0 && size > 1e-14) best_order = std::max(best_order, std::log2(last / size) / 2.0);
      last = size;
    }
    expect(best_order >= options_.min_order || largest < 1e-9, each,
           fmt::format("{}: the Taylor remainder falls with order {:.2f} (largest {:.1e})", what, best_order,
                       largest));
  }

  void adjoint(const Case& each, const Function& f, const Tensors& at, Sampler& sampler,
               const std::string& what) {
    const Linearized linearized = linearize(f, at);
    const Tensors v = directions(sampler, at), w = directions(sampler, linearized.value());
    const Tensors jv = linearized.jvp(v), jw = linearized.vjp(w);
    const double size = norm(w) * norm(jv) + norm(jw) * norm(v);
    const double gap = std::abs(inner(w, jv) - inner(jw, v)) / std::max(size, 1e-30);
    expect(gap <= options_.max_adjoint_gap, each, fmt::format("{}: adjoint gap {:.1e}", what, gap));
  }

  const OpInfo& op_;
  OpCheckOptions options_;
  OpCheckResult result_;
};

}  // namespace

OpCheckResult check_op(std::string_view name, const OpCheckOptions& options) {
  return Checker(op_named(name), options).run();
}

}  // namespace lodestone::engine
