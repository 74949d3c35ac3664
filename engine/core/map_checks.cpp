// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_checks.hpp"

#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace lodestone::core {
namespace {

constexpr double noise_step = 1e-8;  // so small that only the noise of F is left in the remainder
constexpr double noise_margin =
    50.0;  // remainders this far above the noise change the order by less than 0.03

std::uint64_t stream_of(int direction, bool outputs) {
  return 2 * static_cast<std::uint64_t>(direction) + (outputs ? 1 : 0);
}

Eigen::VectorXd random_vector(const Philox& random, const ConstVectorRef& scale) {
  Eigen::VectorXd result(scale.size());
  for (Eigen::Index i = 0; i < result.size(); ++i)
    result[i] = scale[i] * random.normal(static_cast<std::uint64_t>(i));
  return result;
}

/// Each unknown moves in proportion to its own size, so that mixed units are all felt and positive unknowns
/// stay positive.
Eigen::VectorXd unknown_scale(const ConstVectorRef& x) {
  const double rms = x.size() == 0 ? 0.0 : x.norm() / std::sqrt(static_cast<double>(x.size()));
  const double fallback = rms > 0.0 ? rms : 1.0;
  return x.unaryExpr([fallback](double value) { return value != 0.0 ? std::abs(value) : fallback; });
}

/// Weights outputs of different units alike, within three decades so that rounding of weak outputs is not
/// blown up.
Eigen::VectorXd output_scale(const Eigen::VectorXd& value) {
  const double largest = value.size() == 0 ? 0.0 : value.cwiseAbs().maxCoeff();
  if (largest == 0.0) return Eigen::VectorXd::Ones(value.size());
  return value.unaryExpr([largest](double entry) { return 1.0 / std::max(std::abs(entry), 1e-3 * largest); });
}

/// Taylor remainders along one direction and the order read from them.
struct TaylorLine {
  std::vector<double> steps, remainders;
  double order = 0.0;
  bool linear = false;
  bool readable = false;  ///< some remainders stand clear of the noise
};

class TaylorTest {
 public:
  TaylorTest(const DifferentiableMap& map, const ConstVectorRef& x, const MapCheckOptions& options)
      : map_(map), x_(x), options_(options), at_x_(map.linearize(x)) {}

  TaylorLine along(const Eigen::VectorXd& direction) const {
    const Eigen::VectorXd slope = at_x_->jvp(direction);
    const double scale = at_x_->value().norm();
    const double noise =
        std::max(remainder(direction, slope, noise_step), std::numeric_limits<double>::epsilon() * scale);
    TaylorLine line;
    for (int i = 0; i < options_.n_steps; ++i) {
      line.steps.push_back(std::ldexp(options_.first_step, -i));
      line.remainders.push_back(remainder(direction, slope, line.steps.back()));
    }
    const double moved = (map_.value(x_ + line.steps.front() * direction) - at_x_->value()).norm();
    const double predicted = line.steps.front() * slope.norm();
    // The second condition keeps a wrong derivative from hiding behind a large constant.
    line.linear = line.remainders.front() <= options_.linear_remainder * std::max(scale, moved) &&
                  line.remainders.front() <= 1e-3 * std::max(moved, predicted);
    for (std::size_t i = 0; i + 1 < line.steps.size(); ++i) {
      if (line.remainders[i + 1] < noise_margin * noise) break;
      line.order = std::log2(line.remainders[i] / line.remainders[i + 1]);
      line.readable = true;
    }
    return line;
  }

 private:
  double remainder(const Eigen::VectorXd& direction, const Eigen::VectorXd& slope, double step) const {
    return (map_.value(x_ + step * direction) - at_x_->value() - step * slope).norm();
  }

  const DifferentiableMap& map_;
  Eigen::VectorXd x_;
  const MapCheckOptions& options_;
  std::unique_ptr<Linearization> at_x_;
};

std::string table_of(const TaylorLine& line) {
  std::string text = fmt::format("{:>12} {:>14} {:>7}\n", "step", "remainder", "order");
  for (std::size_t i = 0; i < line.steps.size(); ++i) {
    const std::string order =
        i == 0 || line.remainders[i] <= 0.0
            ? "-"
            : fmt::format("{:.3f}", std::log2(line.remainders[i - 1] / line.remainders[i]));
    fmt::format_to(std::back_inserter(text), "{:>12.4e} {:>14.6e} {:>7}\n", line.steps[i], line.remainders[i],
                   order);
  }
  const char* verdict = line.linear     ? "linear"
                        : line.readable ? "order read at the smallest step above the noise"
                                        : "all remainders are noise";
  return text + fmt::format("{}: {:.3f}\n", verdict, line.order);
}

double relative_difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  const double size = std::max(a.norm(), b.norm());
  return size > 0.0 ? (a - b).norm() / size : 0.0;
}

/// Returns |wᵀ(J v) − vᵀ(Jᵀ w)| over the sum of the sizes of the terms added.
double dot_gap(const ConstVectorRef& v, const ConstVectorRef& w, const ConstVectorRef& jv,
               const ConstVectorRef& jtw) {
  const double size = std::max((w.array() * jv.array()).abs().sum(), (v.array() * jtw.array()).abs().sum());
  return size > 0.0 ? std::abs(w.dot(jv) - v.dot(jtw)) / size : 0.0;
}

/// `row_product` against `vjp`, and the rows through a map of the directions v against J v.
double chain_gap(const Linearization& at_x, const Eigen::MatrixXd& v, const Eigen::MatrixXd& w,
                 const Eigen::MatrixXd& jv, const Eigen::MatrixXd& jtw) {
  const auto directions =
      affine(v, Eigen::VectorXd::Zero(v.rows()))->linearize(Eigen::VectorXd::Zero(v.cols()));
  const JacobianRows through = at_x.local_rows(*directions);
  return std::max(relative_difference(at_x.row_product(w.transpose()).transpose(), jtw),
                  relative_difference(through.values, jv(through.rows, Eigen::all)));
}

/// Returns a few combinations of outputs, as of data that combine components. shapes: (3, n_out).
SparseRows some_combinations(Eigen::Index n_out) {
  SparseRows left(3, n_out);
  for (Eigen::Index row = 0; row < left.rows() && n_out > 0; ++row) {
    left.coeffRef(row, row % n_out) += 1.0;
    left.coeffRef(row, (row * 7 + n_out / 2) % n_out) -= 0.5;
  }
  return left;
}

/// Compares the sparse Jacobian, where there is one, with the dense one. Does the same for rows with a factor
/// on the left, with and without an inner map of the directions v.
double left_gap(const Linearization& at_x, const Eigen::MatrixXd& jacobian, const Eigen::MatrixXd& v) {
  const auto sparse = at_x.sparse_jacobian();
  const double of_sparse = sparse ? relative_difference(sparse->toDense(), jacobian) : 0.0;
  const SparseRows left = some_combinations(at_x.size_out());
  const Eigen::MatrixXd product = left * jacobian;
  const JacobianRows rows = at_x.local_rows(left);
  const auto directions =
      affine(v, Eigen::VectorXd::Zero(v.rows()))->linearize(Eigen::VectorXd::Zero(v.cols()));
  const JacobianRows through = at_x.local_rows(left, *directions);
  return std::max({of_sparse, relative_difference(rows.values, product(rows.rows, Eigen::all)),
                   relative_difference(through.values, (product * v)(through.rows, Eigen::all))});
}

void require_directions(const char* component, const MapCheckOptions& options) {
  if (options.n_directions < 1 || options.n_steps < 2) {
    throw InvalidArgument(std::string(component) + "#wrong_options",
                          "expected at least 1 direction and 2 steps, got {} and {}", options.n_directions,
                          options.n_steps);
  }
}

}  // namespace

MapCheckResult check_derivative(const DifferentiableMap& map, const ConstVectorRef& x,
                                const MapCheckOptions& options) {
  require_directions("core::check_derivative", options);
  const TaylorTest test(map, x, options);
  const Eigen::VectorXd scale = unknown_scale(x);
  MapCheckResult result;
  result.passed = true;
  result.figure = std::numeric_limits<double>::infinity();
  result.report = fmt::format("Taylor test of {}\n", map.name());
  for (int direction = 0; direction < options.n_directions; ++direction) {
    const TaylorLine line =
        test.along(random_vector(Philox(options.seed, stream_of(direction, false)), scale));
    const double order = line.linear ? 2.0 : line.order;  // a remainder of zero counts as order 2
    result.passed = result.passed && (line.linear || (line.readable && line.order >= options.min_order));
    result.report += fmt::format("direction {}\n{}", direction + 1, table_of(line));
    if (order < result.figure) {  // the worst direction is the one reported
      result.figure = order;
      result.steps = line.steps;
      result.remainders = line.remainders;
    }
  }
  return result;
}

MapCheckResult check_adjoint(const DifferentiableMap& map, const ConstVectorRef& x,
                             const MapCheckOptions& options) {
  require_directions("core::check_adjoint", options);
  const auto at_x = map.linearize(x);
  const Eigen::VectorXd scale_in = unknown_scale(x), scale_out = output_scale(at_x->value());
  Eigen::MatrixXd v(map.size_in(), options.n_directions), w(map.size_out(), options.n_directions);
  for (int direction = 0; direction < options.n_directions; ++direction) {
    v.col(direction) = random_vector(Philox(options.seed, stream_of(direction, false)), scale_in);
    w.col(direction) = random_vector(Philox(options.seed, stream_of(direction, true)), scale_out);
  }
  const Eigen::MatrixXd jv = at_x->jvp(v), jtw = at_x->vjp(w), jacobian = at_x->jacobian();
  const JacobianRows local = at_x->local_jacobian();
  double dot = 0.0;
  for (int direction = 0; direction < options.n_directions; ++direction) {
    dot = std::max(dot, dot_gap(v.col(direction), w.col(direction), jv.col(direction), jtw.col(direction)));
  }
  const double dense =
      std::max(relative_difference(jacobian * v, jv), relative_difference(jacobian.transpose() * w, jtw));
  const double of_rows = relative_difference(local.values, jacobian(local.rows, Eigen::all));
  const double chain = chain_gap(*at_x, v, w, jv, jtw);
  const double of_left = left_gap(*at_x, jacobian, v);
  const double batch = std::max(relative_difference(at_x->jvp(v.rightCols(1)), jv.rightCols(1)),
                                relative_difference(at_x->vjp(w.rightCols(1)), jtw.rightCols(1)));
  MapCheckResult result;
  result.figure = std::max({dot, dense, of_rows, chain, of_left, batch});
  result.passed = result.figure <= options.max_adjoint_gap;
  result.report = fmt::format(
      "adjoint test of {}\n{:<36} {:.3e}\n{:<36} {:.3e}\n{:<36} {:.3e}\n{:<36} {:.3e}\n{:<36} {:.3e}\n{:<36} "
      "{:.3e}\n",
      map.name(), "dot products w'(Jv), v'(J'w)", dot, "dense Jacobian against jvp and vjp", dense,
      "own rows against the dense Jacobian", of_rows, "row products, rows of a chain", chain,
      "sparse Jacobian, factor on the left", of_left, "one direction against a batch", batch);
  return result;
}

}  // namespace lodestone::core
