// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>

using namespace lodestone;
using inversion::objective::Regularization;
using inversion::optimize::GaussNewton;
using inversion::prior::RoughnessNorm;
using inversion::prior::RoughnessNormOptions;
using inversion::prior::RoughnessOptions;
using physics::mesh::TensorGrid;

namespace {

std::vector<double> uniform_edges(double length, int n) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(length * i / n);
  return edges;
}

double norm_of(RoughnessNorm norm, double v, double eps) {
  return norm == RoughnessNorm::l2   ? v * v
         : norm == RoughnessNorm::l1 ? 2 * eps * (std::hypot(v, eps) - eps)
                                     : eps * eps * v * v / (v * v + eps * eps);
}

/// A block one decade above its surroundings, seen through 90 blurred and noisy averages.
struct BlockProblem {
  TensorGrid grid = TensorGrid::section(uniform_edges(14e3, 14), uniform_edges(10e3, 10));
  Eigen::VectorXd truth =
      cells([](double y, double z) { return y > 4e3 && y < 9e3 && z > 3e3 && z < 7e3 ? 3.0 : 2.0; });
  core::MapPtr forward = blur();
  double sigma = 0.02;
  Eigen::VectorXd observed = forward->value(truth) + sigma * tests::random_matrix(90, 1, 5).col(0);
  RoughnessOptions options{.smallness_length_m = 1e6};

  template <class F>
  [[nodiscard]] Eigen::VectorXd cells(F&& f) const {
    Eigen::VectorXd m(grid.n_cells());
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      for (int iy = 0; iy < grid.n_y(); ++iy)
        m[grid.index(iz, iy)] = f(grid.y_centre_m(iy), grid.z_centre_m(iz));
    }
    return m;
  }
  [[nodiscard]] core::MapPtr blur() const {
    const core::Philox random(17);
    Eigen::MatrixXd a(90, grid.n_cells());
    for (Eigen::Index i = 0; i < a.rows(); ++i) {
      const auto k = static_cast<std::uint64_t>(2 * i);
      const double y0 = 14e3 * random.uniform(k), z0 = 10e3 * random.uniform(k + 1);
      a.row(i) = cells([&](double y, double z) {
        return std::exp(-(std::pow(y - y0, 2) + std::pow(z - z0, 2)) / (2 * 1.2e3 * 1.2e3));
      });
      a.row(i) /= a.row(i).sum();
    }
    return core::affine(a, Eigen::VectorXd::Zero(90));
  }
  [[nodiscard]] inversion::optimize::InversionSummary invert(const RoughnessNormOptions& norm) const {
    const Eigen::VectorXd reference = Eigen::VectorXd::Constant(grid.n_cells(), 2.0);
    const auto roughness = inversion::prior::roughness_operator(grid, options);
    const auto gradient = inversion::prior::scaled_gradient(grid, options);
    GaussNewton optimizer(
        MPI_COMM_SELF, {.stop = {.max_iterations = 40},
                        .lambda = inversion::optimize::Occam{.tolerance = 0.01, .min_roughness_drop = 1e-3}});
    const auto reweigh = [&](const core::ConstVectorRef& m) {
      return std::make_shared<const Regularization>(
          inversion::prior::reweighted(roughness, gradient * (m - reference), norm), reference);
    };
    return optimizer.minimize({forward, tests::plain_misfit(observed, sigma),
                               std::make_shared<Regularization>(roughness, reference)},
                              reference, {.reweigh = reweigh});
  }
  /// Counts cells whose value is neither that of the block nor that of its surroundings within a fifth of the
  /// contrast.
  [[nodiscard]] static long n_between(const Eigen::VectorXd& model) {
    return ((model.array() - 2.5).abs() < 0.3).count();
  }
};

}  // namespace

TEST_CASE("roughness norms: the weighted square touches the norm and lies above it", "[inversion]") {
  Eigen::SparseMatrix<double> one(1, 1);
  one.insert(0, 0) = 1.0;
  for (const auto norm : {RoughnessNorm::l2, RoughnessNorm::l1, RoughnessNorm::minimum_gradient_support}) {
    for (const double v : {0.0, 0.05, -0.4, 2.0}) {
      const double root =
          inversion::prior::reweighted(one, Eigen::VectorXd::Constant(1, v), {norm, 0.1}).coeff(0, 0);
      const double above_v =
          norm_of(norm, v, 0.1) - root * root * v * v;  // the square is ω u² + this constant
      CHECK(above_v >= -1e-15);
      for (const double u : {-1.0, -0.05, 0.0, 0.02, 0.3, 5.0})
        CHECK(root * root * u * u + above_v >= norm_of(norm, u, 0.1) - 1e-12);
    }
  }
}

TEST_CASE(
    "roughness norms: gradients are decades over a distance of depth + z0 and do not depend on the cells",
    "[inversion]") {
  for (const int n : {5, 40}) {
    const TensorGrid grid = TensorGrid::section(uniform_edges(9e3, n), uniform_edges(6e3, n));
    Eigen::VectorXd ramp(grid.n_cells());
    for (int iz = 0; iz < n; ++iz) {
      for (int iy = 0; iy < n; ++iy) ramp[grid.index(iz, iy)] = 2e-4 * grid.y_centre_m(iy);
    }
    const Eigen::VectorXd v = inversion::prior::scaled_gradient(grid, {.depth_weight_z0_m = 500.0}) * ramp;
    CHECK(v[0] == Approx(2e-4 * (grid.z_centre_m(0) + 500.0)));
    CHECK(v[n * (n - 1) - 1] == Approx(2e-4 * (grid.z_centre_m(n - 1) + 500.0)));
    CHECK(v.tail(grid.n_cells()).norm() == 0.0);
    CHECK(v.size() == inversion::prior::roughness_operator(grid, {}).rows());
  }
}

TEST_CASE(
    "roughness norms: a block comes back sharper with l1 and minimum gradient support than with l2, at the "
    "same rms",
    "[inversion]") {
  const BlockProblem problem;
  const auto l2 = problem.invert({RoughnessNorm::l2});
  const auto l1 = problem.invert({RoughnessNorm::l1, 0.1});
  const auto mgs = problem.invert({RoughnessNorm::minimum_gradient_support, 0.5});
  for (const auto* summary : {&l2, &l1, &mgs}) {
    INFO(summary->brief());
    CHECK(summary->rms == Approx(1.0).margin(0.02));
  }
  const auto error = [&](const auto& summary) {
    return (summary.model - problem.truth).norm() / std::sqrt(140.0);
  };
  INFO("cells between: l2 " << problem.n_between(l2.model) << ", l1 " << problem.n_between(l1.model)
                            << ", mgs " << problem.n_between(mgs.model) << "; errors " << error(l2) << " "
                            << error(l1) << " " << error(mgs));
  CHECK(2 * problem.n_between(l1.model) <= problem.n_between(l2.model));
  CHECK(2 * problem.n_between(mgs.model) <= problem.n_between(l2.model));
  CHECK(error(l1) < 0.8 * error(l2));
  CHECK(error(mgs) < 0.8 * error(l2));
}

TEST_CASE("roughness norms: a resumed run takes the trajectory of the whole one", "[inversion]") {
  const BlockProblem problem;
  const Eigen::VectorXd reference = Eigen::VectorXd::Constant(problem.grid.n_cells(), 2.0);
  const auto roughness = inversion::prior::roughness_operator(problem.grid, problem.options);
  const auto gradient = inversion::prior::scaled_gradient(problem.grid, problem.options);
  const inversion::optimize::Objective objective{problem.forward,
                                                 tests::plain_misfit(problem.observed, problem.sigma),
                                                 std::make_shared<Regularization>(roughness, reference)};
  struct Keep final : inversion::optimize::Directive {
    std::vector<inversion::optimize::InversionState> states;
    void on_iteration(const inversion::optimize::IterationView& view) override {
      states.push_back(view.state);
    }
  };
  const auto kept = std::make_shared<Keep>();
  GaussNewton optimizer(MPI_COMM_SELF, {.stop = {.max_iterations = 5}});
  const auto reweigh = [&](const core::ConstVectorRef& m) {
    return std::make_shared<const Regularization>(
        inversion::prior::reweighted(roughness, gradient * (m - reference), {RoughnessNorm::l1, 0.1}),
        reference);
  };
  const auto whole = optimizer.minimize(objective, reference, {.directives = {kept}, .reweigh = reweigh});
  REQUIRE(kept->states.size() > 3);
  const auto resumed = optimizer.resume(objective, kept->states[2], {.reweigh = reweigh});
  CHECK(resumed.model == whole.model);
  CHECK(resumed.history.size() == whole.history.size());
  CHECK(resumed.roughness == whole.roughness);
}

TEST_CASE("roughness norms: order 2 and an epsilon of zero are refused", "[inversion]") {
  const TensorGrid grid = TensorGrid::section(uniform_edges(1.0, 3), uniform_edges(1.0, 3));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(inversion::prior::scaled_gradient(grid, {.order = 2})); }),
             tests::HasId("wrong_order", {"2"}));
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] {
        static_cast<void>(inversion::prior::reweighted(inversion::prior::roughness_operator(grid, {}),
                                                       Eigen::VectorXd::Zero(21), {RoughnessNorm::l1, 0.0}));
      }),
      tests::HasId("wrong_epsilon", {"0"}));
  CHECK_THROWS_AS(inversion::prior::reweighted(inversion::prior::roughness_operator(grid, {}),
                                               Eigen::VectorXd::Zero(3), {}),
                  core::ShapeError);
}
