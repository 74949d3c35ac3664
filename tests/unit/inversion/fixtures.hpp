// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/map_algebra.hpp"
#include "engine/core/random.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Small problems shared by the inversion tests.
namespace lodestone::tests {

inline Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  const core::Philox random(seed);
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&](Eigen::Index i, Eigen::Index j) {
    return random.normal(static_cast<std::uint64_t>(j * rows + i));
  });
}

/// Returns first differences and a small smallness on a line of n cells.
inline std::shared_ptr<const inversion::objective::Regularization> line_roughness(
    Eigen::Index n, double reference = 0.0,
    double largest_factor = inversion::objective::Regularization::usual_largest_factor) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i + 1 < n; ++i) {
    entries.emplace_back(i, i, -1.0);
    entries.emplace_back(i, i + 1, 1.0);
  }
  for (int i = 0; i < n; ++i) entries.emplace_back(static_cast<int>(n) - 1 + i, i, 0.05);
  Eigen::SparseMatrix<double> roughness(2 * n - 1, n);
  roughness.setFromTriplets(entries.begin(), entries.end());
  return std::make_shared<inversion::objective::Regularization>(
      roughness, Eigen::VectorXd::Constant(n, reference), largest_factor);
}

inline inversion::objective::DataMisfit plain_misfit(const Eigen::VectorXd& observed, double sigma) {
  return inversion::objective::DataMisfit(
      core::DataSet({.observed = observed, .sigma = Eigen::VectorXd::Constant(observed.size(), sigma)}));
}

/// `reason`: 1 where a datum is masked.
inline inversion::objective::DataMisfit masked_misfit(const Eigen::VectorXd& observed, double sigma,
                                                      const std::vector<int>& reason) {
  return inversion::objective::DataMisfit(
      core::DataSet({.observed = observed,
                     .sigma = Eigen::VectorXd::Constant(observed.size(), sigma),
                     .reason = reason,
                     .reasons = {"used", "masked"}}));
}

/// A linearization with another value.
class SpoiltLinearization final : public core::Linearization {
 public:
  SpoiltLinearization(std::unique_ptr<core::Linearization> inner, Eigen::VectorXd value)
      : Linearization(inner->size_in(), std::move(value)), inner_(std::move(inner)) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return inner_->jvp(directions);
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return inner_->vjp(directions);
  }
  std::unique_ptr<core::Linearization> inner_;
};

/// A map whose calls are counted and whose behaviour can be spoilt.
class FakeMap final : public core::DifferentiableMap {
 public:
  explicit FakeMap(core::MapPtr inner) : inner_(std::move(inner)) {}
  [[nodiscard]] Eigen::Index size_in() const override { return inner_->size_in(); }
  [[nodiscard]] Eigen::Index size_out() const override { return inner_->size_out(); }
  [[nodiscard]] std::string name() const override { return "tests::FakeMap"; }

  mutable int n_value = 0, n_linearize = 0;
  [[nodiscard]] int n_forward() const { return n_value + n_linearize; }
  std::function<void(Eigen::VectorXd& value, int call)> spoil_value;    ///< spoils `value` alone; may throw
  std::function<void(Eigen::VectorXd& value, int call)> spoil_forward;  ///< spoils `linearize` as well
  std::function<void(int call)> before_linearize;                       ///< may throw

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    Eigen::VectorXd value = inner_->value(x);
    ++n_value;
    if (spoil_value) spoil_value(value, n_value);
    if (spoil_forward) spoil_forward(value, n_forward());
    return value;
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    ++n_linearize;
    if (before_linearize) before_linearize(n_linearize);
    auto linearization = inner_->linearize(x);
    if (!spoil_forward) return linearization;
    Eigen::VectorXd value = linearization->value();
    spoil_forward(value, n_forward());
    return std::make_unique<SpoiltLinearization>(std::move(linearization), std::move(value));
  }
  core::MapPtr inner_;
};

/// d_i = Σ_j A_ij·(m_j + ½ sin m_j), a mild nonlinear problem with noisy data of a smooth model.
struct CurvedProblem {
  static constexpr Eigen::Index n = 30, n_data = 40;
  Eigen::VectorXd truth = Eigen::VectorXd::NullaryExpr(
      n, [](Eigen::Index i) { return 1.0 + std::sin(0.2 * static_cast<double>(i)); });
  core::MapPtr map = core::compose(core::affine(random_matrix(n_data, n, 1), Eigen::VectorXd::Zero(n_data)),
                                   core::pointwise(
                                       "bend", n, [](double v) { return v + 0.5 * std::sin(v); },
                                       [](double v) { return 1.0 + 0.5 * std::cos(v); }));
  double sigma = 0.3;
  Eigen::VectorXd observed = map->value(truth) + sigma * random_matrix(n_data, 1, 2).col(0);

  [[nodiscard]] inversion::optimize::Objective objective(const core::MapPtr& forward = nullptr) const {
    return {forward ? forward : map, plain_misfit(observed, sigma), line_roughness(n)};
  }
};

/// Counts what a run reports.
struct Witness final : inversion::optimize::Directive {
  int n_iterations = 0, n_progress = 0;
  std::vector<inversion::optimize::InversionState> states;
  void on_iteration(const inversion::optimize::IterationView& view) override {
    ++n_iterations;
    states.push_back(view.state);
  }
  void on_progress(const std::string&) override { ++n_progress; }
};

inline bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() && (a.array() == b.array()).all();
}

/// Every state of a run, resumed by `again`, must end as the run did, bit by bit; says where it does not.
inline std::string difference_of_resumed(
    const Witness& witness, const inversion::optimize::InversionSummary& expected,
    const std::function<inversion::optimize::InversionSummary(inversion::optimize::InversionState)>& again) {
  for (const auto& state : witness.states) {
    const auto resumed = again(state);
    bool same = same_bits(resumed.model, expected.model) &&
                same_bits(resumed.predicted, expected.predicted) && resumed.reason == expected.reason &&
                resumed.lambda == expected.lambda && resumed.history.size() == expected.history.size();
    for (std::size_t i = 0; same && i < expected.history.size(); ++i)
      same = resumed.history[i].rms == expected.history[i].rms &&
             resumed.history[i].n_forward == expected.history[i].n_forward;
    if (!same) return "resumed from iteration " + std::to_string(state.iteration);
  }
  return {};
}

}  // namespace lodestone::tests
