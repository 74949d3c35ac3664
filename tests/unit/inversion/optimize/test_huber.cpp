// SPDX-License-Identifier: Apache-2.0
// Huber's norm: its figures, and what it does to a run whose data have gross errors.
#include "engine/core/error.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using inversion::objective::DataMisfit;

namespace {

DataMisfit huber_misfit(const Eigen::VectorXd& observed, double sigma, double threshold) {
  return DataMisfit(
      core::DataSet({.observed = observed, .sigma = Eigen::VectorXd::Constant(observed.size(), sigma)}),
      threshold);
}

/// Curved data, five of them off by 30 errors.
struct SpoiltProblem : tests::CurvedProblem {
  Eigen::VectorXd spoilt = observed;
  SpoiltProblem() {
    for (const int i : {2, 11, 17, 23, 38}) spoilt[i] += 30.0 * sigma;
  }
  [[nodiscard]] inversion::optimize::Objective with(double threshold, const Eigen::VectorXd& data) const {
    return {map, huber_misfit(data, sigma, threshold), tests::line_roughness(n)};
  }
};

}  // namespace

TEST_CASE("Huber: the norm is a parabola up to the threshold and a line beyond, and the weights follow it") {
  const Eigen::VectorXd observed = (Eigen::VectorXd(3) << 0.5, -4.0, 1.0).finished();
  const DataMisfit misfit = huber_misfit(observed, 0.5, 1.5);  // residuals 1, −8, 2
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(3);
  CHECK(misfit.rms(zero) == Approx(std::sqrt((1.0 + (3.0 * 8.0 - 2.25) + (3.0 * 2.0 - 2.25)) / 3.0)));
  const Eigen::VectorXd weights = misfit.root_weights(zero).cwiseAbs2();
  CHECK(weights[0] == 1.0);
  CHECK(weights[1] == Approx(1.5 / 8.0));
  CHECK(weights[2] == Approx(0.75));
  const DataMisfit plain = huber_misfit(observed, 0.5, 0.0);
  CHECK(plain.rms(zero) == Approx(std::sqrt(69.0 / 3.0)));
  CHECK((plain.root_weights(zero).array() == 1.0).all());
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(huber_misfit(observed, 0.5, -1.0)); }),
      tests::HasId("wrong_threshold", {"-1"}));
}

TEST_CASE("Huber: the weighted residuals are the gradient of the norm") {
  const Eigen::VectorXd observed = 3.0 * tests::random_matrix(12, 1, 1).col(0);
  const DataMisfit misfit = huber_misfit(observed, 0.7, 1.5);
  const Eigen::VectorXd at = tests::random_matrix(12, 1, 2).col(0),
                        along = tests::random_matrix(12, 1, 3).col(0);
  const auto half_sum = [&](double t) { return 6.0 * std::pow(misfit.rms(at + t * along), 2); };
  const Eigen::VectorXd pull =
      misfit.root_weights(at).cwiseAbs2().cwiseProduct(misfit.weights()).cwiseProduct(misfit.residual(at));
  CHECK((half_sum(1e-5) - half_sum(-1e-5)) / 2e-5 == Approx(-pull.dot(along)).epsilon(1e-7));
}

TEST_CASE("Huber: data within the threshold give the bits of least squares") {
  const SpoiltProblem problem;
  const auto plain = inversion::optimize::GaussNewton(MPI_COMM_SELF)
                         .minimize(problem.with(0.0, problem.observed), Eigen::VectorXd::Zero(problem.n));
  const auto huber = inversion::optimize::GaussNewton(MPI_COMM_SELF)
                         .minimize(problem.with(1e6, problem.observed), Eigen::VectorXd::Zero(problem.n));
  CHECK((huber.model - plain.model).norm() < 1e-12 * plain.model.norm());
}

TEST_CASE("Huber: gross errors no longer bend the model, whatever the optimizer") {
  const SpoiltProblem problem;
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.n);
  const auto distance = [&](const inversion::optimize::InversionSummary& summary) {
    return (summary.model - problem.truth).norm();
  };
  const auto run = [&](inversion::optimize::Optimizer&& optimizer, double threshold) {
    return optimizer.minimize(problem.with(threshold, problem.spoilt), start);
  };
  const double target =
      3.3;  // Huber's norm of five residuals of 30 errors alone is √(5·(90 − 2.25)/40) = 3.3
  const inversion::optimize::GaussNewtonOptions options{.stop = {.max_iterations = 20, .target_rms = target}};
  const double bent = distance(run(inversion::optimize::GaussNewton(MPI_COMM_SELF, options), 0.0));
  const auto robust = run(inversion::optimize::GaussNewton(MPI_COMM_SELF, options), 1.5);
  INFO(robust.brief());
  CHECK(distance(robust) < 0.5 * bent);
  for (const auto method :
       {inversion::optimize::DescentMethod::nlcg, inversion::optimize::DescentMethod::lbfgs}) {
    const auto descent = run(
        inversion::optimize::Descent(MPI_COMM_SELF, {.method = method, .stop = {.target_rms = target}}), 1.5);
    INFO(descent.brief());
    CHECK(distance(descent) < 0.5 * bent);
  }
  const auto clean =
      inversion::optimize::GaussNewton(MPI_COMM_SELF).minimize(problem.with(0.0, problem.observed), start);
  CHECK(distance(clean) < bent);
}
