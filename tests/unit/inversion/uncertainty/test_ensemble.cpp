// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "inversion/uncertainty/posterior.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/memory_arrays.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

#include <array>

using namespace lodestone;
using namespace lodestone::inversion;
using Catch::Contains;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// N(mean, s² exp(−|i − j|/range)) as a regularization of λ = 1, and its root.
struct NormalPrior {
  NormalPrior(Index n, double mean_value, double deviation, double range)
      : mean(VectorXd::Constant(n, mean_value)) {
    const MatrixXd covariance = MatrixXd::NullaryExpr(n, n, [=](Index i, Index j) {
      return deviation * deviation * std::exp(-std::abs(static_cast<double>(i - j)) / range);
    });
    root = covariance.llt().matrixL();
    regularization = std::make_shared<objective::Regularization>(MatrixXd(root.inverse()).sparseView(), mean);
  }
  [[nodiscard]] VectorXd draw(std::uint64_t seed) const {
    return mean + root * tests::random_matrix(mean.size(), 1, seed).col(0);
  }
  VectorXd mean;
  MatrixXd root;
  std::shared_ptr<const objective::Regularization> regularization;
};

/// The minimum at λ = 1.
VectorXd minimum(const optimize::Objective& objective, const VectorXd& start) {
  const optimize::GaussNewtonOptions options{
      .stop = {.max_iterations = 20, .target_rms = 1e-9, .min_rms_drop = 1e-6},
      .lambda = optimize::Cooling{.factor = 1.0 + 1e-12},
      .lambda_start = 1.0};
  return optimize::GaussNewton(MPI_COMM_SELF, options).minimize(objective, start).model;
}

/// Counts the truths that lie between the 5th and 95th percentile.
Index n_covered(const uncertainty::EnsembleStatistics& s, const VectorXd& truth) {
  return ((truth.array() >= s.p5.array()) && (truth.array() <= s.p95.array())).count();
}

double gap(const MatrixXd& a, const MatrixXd& b) { return (a - b).norm() / b.norm(); }

}  // namespace

TEST_CASE("randomize-then-optimize: of a linear problem each sample is the draw of its posterior") {
  for (const auto& [n_data, n] : {std::pair<Index, Index>{30, 10}, {8, 20}}) {
    const auto map = core::affine(tests::random_matrix(n_data, n, 1), VectorXd::Ones(n_data));
    const optimize::Objective objective{map,
                                        tests::plain_misfit(tests::random_matrix(n_data, 1, 2).col(0), 0.3),
                                        tests::line_roughness(n, 0.5)};
    const MatrixXd a = tests::random_matrix(n_data, n, 1), r = objective.regularization->roughness();
    const VectorXd from = VectorXd::LinSpaced(n, -1.0, 1.0);  // linear: any start will do
    const VectorXd best =
        from + (a.transpose() * a / 0.09 + 2.0 * r.transpose() * r)
                   .ldlt()
                   .solve(a.transpose() * objective.misfit.residual(map->value(from)) / 0.3 -
                          2.0 * r.transpose() * objective.regularization->residual(from));
    const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
        MPI_COMM_SELF, objective, from, 2.0, {.n_samples = 6, .seed = 5});
    const uncertainty::Posterior posterior(MPI_COMM_SELF, objective, best, 2.0);
    CHECK(gap(ensemble.models, posterior.samples(5, 0, 6)) < 1e-9);
    CHECK(ensemble.n_unconverged() == 0);
    CHECK(ensemble.records[3].n_iterations == 1);  // its linearization keeps what it promised
  }
}

TEST_CASE(
    "randomize-then-optimize: a linear problem takes the least runs, one that ends no sample early the "
    "most") {
  const tests::CurvedProblem curved;
  const auto line = core::affine(tests::random_matrix(40, 30, 1), VectorXd::Zero(40));
  const auto counted = [&](const core::MapPtr& map, const uncertainty::EnsembleOptions& options) {
    const auto counting = std::make_shared<tests::FakeMap>(map);
    const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
        MPI_COMM_SELF, curved.objective(counting), curved.truth, 1.0, options);
    CHECK(ensemble.n_failed() == 0);
    return std::pair{counting->n_value, counting->n_linearize};
  };
  const uncertainty::EnsembleOptions usual{.n_samples = 5},
      tireless{.n_samples = 5, .max_iterations = 2, .tolerance = 1e-13};
  CHECK(counted(line, usual) ==
        std::pair{uncertainty::cost_of(usual).least.forward, uncertainty::cost_of(usual).least.jacobian});
  CHECK(counted(curved.map, tireless) ==
        std::pair{uncertainty::cost_of(tireless).most.forward, uncertainty::cost_of(tireless).most.jacobian});
  CHECK(uncertainty::cost_of(usual).least.forward == 6);
  CHECK(uncertainty::cost_of(usual).most.forward == 16);
  CHECK(uncertainty::cost_of(usual).most.jacobian == 11);
}

TEST_CASE("randomize-then-optimize: mean and covariance are those of the posterior within sampling error") {
  constexpr int n_samples = 2000;
  const auto map = core::affine(tests::random_matrix(7, 5, 1), VectorXd::Zero(7));
  const NormalPrior prior(5, 1.0, 0.7, 2.0);
  const optimize::Objective objective{map, tests::plain_misfit(map->value(prior.draw(3)), 0.4),
                                      prior.regularization};
  const VectorXd best = minimum(objective, prior.mean);
  const uncertainty::Ensemble ensemble =
      uncertainty::randomize_then_optimize(MPI_COMM_SELF, objective, best, 1.0, {.n_samples = n_samples});
  const uncertainty::Posterior posterior(MPI_COMM_SELF, objective, best, 1.0);
  const uncertainty::EnsembleStatistics s = uncertainty::statistics(ensemble.models);
  CHECK(((s.mean - best).array() / posterior.spread().posterior.array()).abs().maxCoeff() <
        4.0 / std::sqrt(n_samples));
  CHECK((s.deviation.array() / posterior.spread().posterior.array() - 1.0).abs().maxCoeff() <
        4.0 / std::sqrt(2.0 * n_samples));
}

TEST_CASE("90 % intervals of linear problems cover 85 to 95 % of truths drawn from the prior") {
  constexpr int n_truths = 200;
  const NormalPrior prior(6, 2.0, 0.6, 2.0);
  const auto map = core::affine(tests::random_matrix(4, 6, 1), VectorXd::Zero(4));
  Index by_ensemble = 0, by_posterior = 0;
  for (std::uint64_t seed = 0; seed < n_truths; ++seed) {
    const VectorXd truth = prior.draw(100 + seed);
    const optimize::Objective objective{
        map,
        tests::plain_misfit(map->value(truth) + 0.5 * tests::random_matrix(4, 1, 9000 + seed).col(0), 0.5),
        prior.regularization};
    const VectorXd best = minimum(objective, prior.mean);
    const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
        MPI_COMM_SELF, objective, best, 1.0, {.n_samples = 79, .seed = seed});
    by_ensemble += n_covered(uncertainty::statistics(ensemble.models), truth);
    const VectorXd deviation = uncertainty::Posterior(MPI_COMM_SELF, objective, best, 1.0).spread().posterior;
    by_posterior += ((truth - best).array().abs() <= 1.6449 * deviation.array()).count();
  }
  const double share = static_cast<double>(by_ensemble) / (6.0 * n_truths),
               linear = static_cast<double>(by_posterior) / (6.0 * n_truths);
  INFO("ensemble " << share << ", posterior " << linear);
  CHECK((share > 0.85 && share < 0.95));
  CHECK((linear > 0.85 && linear < 0.95));
}

TEST_CASE("90 % intervals of magnetotelluric soundings cover 85 to 95 % of truths drawn from the prior") {
  constexpr int n_truths = 24;
  constexpr Index n = 10;
  const NormalPrior prior(n, 2.0, 0.5, 2.0);
  std::vector<double> thickness, frequencies;
  for (Index i = 0; i + 1 < n; ++i) thickness.push_back(50.0 * std::pow(1.7, static_cast<double>(i)));
  for (int i = 0; i < 12; ++i) frequencies.push_back(std::pow(10.0, 3.0 - 0.4 * i));
  using enum physics::mt::Datum;
  const auto map = physics::mt::d1::data_map(
      thickness, physics::mt::full_survey({{"a"}}, frequencies, {log10_rho_xy, phase_xy}));
  Index covered = 0;
  int n_failed = 0, n_curved = 0;
  for (std::uint64_t seed = 0; seed < n_truths; ++seed) {
    const VectorXd truth = prior.draw(100 + seed);
    const optimize::Objective objective{
        map,
        tests::plain_misfit(map->value(truth) + 0.03 * tests::random_matrix(24, 1, 9000 + seed).col(0), 0.03),
        prior.regularization};
    const uncertainty::Ensemble ensemble =
        uncertainty::randomize_then_optimize(MPI_COMM_SELF, objective, minimum(objective, prior.mean), 1.0,
                                             {.n_samples = 39, .seed = seed, .max_iterations = 6});
    covered += n_covered(uncertainty::statistics(ensemble.models), truth);
    n_failed += ensemble.n_failed();
    for (const uncertainty::SampleRecord& record : ensemble.records)
      n_curved += record.n_iterations > 1 ? 1 : 0;
  }
  const double share = static_cast<double>(covered) / static_cast<double>(n * n_truths);
  INFO("covered " << share << ", failed " << n_failed);
  CHECK((share > 0.85 && share < 0.95));
  CHECK(n_failed <= n_truths);      // of 39 samples each
  CHECK(n_curved > 10 * n_truths);  // the problem is not linear
}

TEST_CASE(
    "randomize-then-optimize: of codes with a linear decoder it draws from the posterior of the codes") {
  const auto normal = prior::gaussian_decoder(VectorXd{{1.0, 2.0, 1.5}},
                                              MatrixXd{{1.0, 0.5, 0.2}, {0.5, 1.0, 0.5}, {0.2, 0.5, 1.0}});
  const physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0, 2.0, 3.0}, {0.0, 1.0, 2.0, 3.0});
  const auto map = std::make_shared<const prior::SubdomainMap>(
      9, std::vector<prior::Region>{{"region", normal, {{0, 3, 6}, {1, 4, 7}}}});
  const prior::CodedRoughness roughness(map, prior::roughness_operator(grid, {.smallness_length_m = 10.0}),
                                        VectorXd::Constant(9, 1.0));
  const auto forward = core::compose(core::affine(tests::random_matrix(5, 9, 1), VectorXd::Zero(5)), map);
  const objective::DataMisfit misfit = tests::plain_misfit(VectorXd::Ones(5), 0.3);
  const optimize::Objective objective{forward, misfit, roughness.at(VectorXd::Zero(9))};
  const VectorXd best = minimum(objective, VectorXd::Zero(9));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(uncertainty::randomize_then_optimize(MPI_COMM_SELF, objective, best, 1.0));
             }),
             tests::HasId("no_reweigh"));
  const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
      MPI_COMM_SELF, objective, best, 1.0, {.n_samples = 5}, {.reweigh = roughness.reweigh()});
  const MatrixXd expected = uncertainty::Posterior(MPI_COMM_SELF, objective, best, 1.0).samples(1, 0, 5);
  CHECK(gap(ensemble.models, expected) < 1e-6);
  CHECK(gap(uncertainty::mapped(*map, ensemble.models).col(2), map->value(expected.col(2))) < 1e-6);
}

TEST_CASE(
    "randomize-then-optimize: samples do not depend on which others were drawn, so that an ensemble is "
    "resumed bit by bit") {
  const tests::CurvedProblem problem;
  const optimize::Objective objective = problem.objective();
  const VectorXd start = VectorXd::Constant(problem.n, 1.0);
  const uncertainty::EnsembleOptions options{.n_samples = 7, .seed = 3};
  const uncertainty::Ensemble whole =
      uncertainty::randomize_then_optimize(MPI_COMM_SELF, objective, start, 1.0, options);
  int n_asked = 0;
  const uncertainty::Ensemble part = uncertainty::randomize_then_optimize(
      MPI_COMM_SELF, objective, start, 1.0, options, {.stop = [&]() -> std::optional<optimize::StopReason> {
        return ++n_asked > 3 ? std::optional(optimize::StopReason::interrupted) : std::nullopt;
      }});
  CHECK(part.stopped == optimize::StopReason::interrupted);
  REQUIRE(part.models.cols() == 3);
  tests::MemoryArrays file;
  uncertainty::write_ensemble(file, part);
  CHECK_THAT(uncertainty::describe_ensemble(file).at(0), Contains("3 samples") && Contains("seed 3"));
  int n_told = 0;
  const uncertainty::Ensemble resumed = uncertainty::randomize_then_optimize(
      MPI_COMM_SELF, objective, start, 1.0, options,
      {.progress = [&](const uncertainty::Ensemble& e) { n_told += e.records.back().number; }},
      uncertainty::read_ensemble(file));
  CHECK(n_told == 3 + 4 + 5 + 6);
  CHECK_FALSE(resumed.stopped);
  CHECK((resumed.models.array() == whole.models.array()).all());
  CHECK(resumed.records[1].rms == whole.records[1].rms);
  CHECK_THAT(whole.brief(), Contains("7 samples") && Contains("0 failed"));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(uncertainty::randomize_then_optimize(MPI_COMM_SELF, objective, start, 2.0,
                                                                      options, {}, part));
             }),
             tests::HasId("other_samples", {"lambda 2"}));
}

TEST_CASE("randomize-then-optimize: a sample whose forward runs fail is counted and left out") {
  const tests::CurvedProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  fake->spoil_value = [](VectorXd& value, int call) {
    if (call >= 2 && call <= 4) throw core::SolverError("tests::FakeMap", "zero pivot");
    if (call >= 5 && call <= 7) value[0] = std::numeric_limits<double>::quiet_NaN();
  };
  const VectorXd start = VectorXd::Constant(problem.n, 1.0);
  const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
      MPI_COMM_SELF, problem.objective(fake), start, 1.0, {.n_samples = 3, .seed = 3});
  CHECK(ensemble.n_failed() == 1);
  CHECK_THAT(ensemble.records[0].failure, Contains("inversion::Ensemble"));
  const uncertainty::Ensemble sound = uncertainty::randomize_then_optimize(
      MPI_COMM_SELF, problem.objective(), start, 1.0, {.n_samples = 3, .seed = 3});
  CHECK((ensemble.models.array() == sound.models.rightCols(2).array()).all());
}

TEST_CASE("ensemble: percentiles lie between order statistics") {
  const uncertainty::EnsembleStatistics s =
      uncertainty::statistics(VectorXd::LinSpaced(49, 48.0, 0.0).transpose());
  CHECK(s.p5[0] == Approx(1.5));
  CHECK(s.p50[0] == Approx(24.0));
  CHECK(s.p95[0] == Approx(46.5));
  CHECK(s.mean[0] == Approx(24.0));
  const uncertainty::EnsembleStatistics few =
      uncertainty::statistics((MatrixXd(1, 5) << 4.0, 0.0, 3.0, 1.0, 2.0).finished());
  CHECK(few.p5[0] == 0.0);
  CHECK(few.p95[0] == 4.0);
  CHECK(few.deviation[0] == Approx(std::sqrt(2.5)));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(uncertainty::statistics(MatrixXd::Zero(3, 1))); }),
             tests::HasId("too_few_samples", {"2", "1"}));
}

TEST_CASE("randomize-then-optimize: what cannot be is refused") {
  const tests::CurvedProblem problem;
  const VectorXd start = VectorXd::Zero(problem.n);
  optimize::Objective robust = problem.objective();
  robust.misfit = objective::DataMisfit(
      core::DataSet({.observed = problem.observed, .sigma = VectorXd::Ones(problem.n_data)}), 1.5);
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(uncertainty::randomize_then_optimize(MPI_COMM_SELF, robust, start, 1.0));
             }),
             tests::HasId("huber_misfit", {"1.5"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(
                   uncertainty::randomize_then_optimize(MPI_COMM_SELF, problem.objective(), start, -1.0));
             }),
             tests::HasId("wrong_lambda", {"-1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(uncertainty::randomize_then_optimize(MPI_COMM_SELF, problem.objective(),
                                                                      start, 1.0, {.n_samples = 0}));
             }),
             tests::HasId("wrong_options", {"n_samples", "0"}));
}
