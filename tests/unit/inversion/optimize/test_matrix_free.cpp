// SPDX-License-Identifier: Apache-2.0
// Steps by products with single vectors, against the systems made from all rows of J.
#include "engine/core/error.hpp"
#include "inversion/optimize/matrix_free.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/alternating_fixtures.hpp"
#include "tests/unit/inversion/counted_map.hpp"

using namespace lodestone;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::MatrixFreeSystem;
using inversion::optimize::StopReason;
using inversion::optimize::SystemSpace;

namespace {

/// 40 data of 30 unknowns, one of them masked, at a model apart from the reference.
struct LinearStep {
  static constexpr Eigen::Index n = 30, n_data = 40;
  std::shared_ptr<tests::CountedMap> map = std::make_shared<tests::CountedMap>(
      core::affine(tests::random_matrix(n_data, n, 1), Eigen::VectorXd::Ones(n_data)));
  inversion::optimize::Objective objective;
  Eigen::VectorXd model = tests::random_matrix(n, 1, 3).col(0);
  core::Team team{MPI_COMM_SELF};

  LinearStep() : objective{map, misfit(), tests::line_roughness(n, 0.5)} {}
  static inversion::objective::DataMisfit misfit() {
    std::vector<int> reason(n_data, 0);
    reason[7] = 1;
    return tests::masked_misfit(tests::random_matrix(n_data, 1, 2).col(0), 0.1, reason);
  }
  [[nodiscard]] MatrixFreeSystem system(MatrixFreeSystem::Terms terms) const {
    return {team,  map->linearize(model), objective.misfit, *objective.regularization,
            model, std::move(terms)};
  }
  [[nodiscard]] std::unique_ptr<inversion::optimize::DenseSystem> expected() const {
    const auto plain = core::affine(tests::random_matrix(n_data, n, 1), Eigen::VectorXd::Ones(n_data));
    return make_dense_system(SystemSpace::data, team, *plain->linearize(model), objective, model);
  }
};

GaussNewtonOptions without_jacobian() { return {.space = SystemSpace::matrix_free}; }

}  // namespace

TEST_CASE("matrix-free: solved to the end, one subspace gives jumps and creeping steps of every lambda") {
  const LinearStep problem;
  const auto expected = problem.expected();
  const MatrixFreeSystem system = problem.system({.forcing = 1e-10, .max_steps = 60});
  for (const double lambda : {1e4, 100.0, 1.0, 30.0}) {
    const Eigen::VectorXd jump = *expected->jump(lambda), creep = *expected->creep(lambda);
    CHECK((*system.jump(lambda) - jump).norm() < 1e-7 * jump.norm());
    CHECK((*system.creep(lambda) - creep).norm() < 1e-7 * creep.norm());
    CHECK(system.linear_rms(lambda) == Approx(expected->linear_rms(lambda)).epsilon(1e-7));
  }
  CHECK(system.n_steps() < LinearStep::n);
  CHECK_FALSE(system.jump(-1.0));
  CHECK_FALSE(system.creep(0.0));
  CHECK(std::isinf(system.linear_rms(-1.0)));
}

TEST_CASE("matrix-free: the error of a step is bounded by the forcing, and its products are counted") {
  const LinearStep problem;
  const auto expected = problem.expected();
  int n_reported = 0;
  const MatrixFreeSystem system =
      problem.system({.forcing = 0.1, .max_steps = 15, .on_step = [&](int step) { n_reported = step; }});
  CHECK(problem.map->counts.n_vjp == 2);  // of the residual and of the present model
  CHECK(problem.map->counts.n_jvp == 1);
  for (const double lambda : {1e4, 300.0}) {
    // (AᵀA + λK) e = ρ, so that λ‖R e‖ ≤ ‖ρ‖ in the metric of the covariance
    const Eigen::VectorXd error = *system.jump(lambda) - *expected->jump(lambda);
    const double rough = (problem.objective.regularization->roughness() * error).norm();
    CHECK(rough <= 0.1 * system.gradient_norm(lambda) / lambda);
    CHECK(rough > 1e-6 * system.gradient_norm(lambda) / lambda);  // no step too many
  }
  CHECK(n_reported == system.n_steps());
  CHECK(system.n_steps() < 15);
  CHECK(problem.map->counts.n_jvp == 1 + system.n_steps());
  CHECK(problem.map->counts.n_vjp == 2 + system.n_steps());
  const Eigen::Index n_products = problem.map->counts.n_products();
  CHECK(system.jump(2e4));  // a larger λ asks for nothing new
  CHECK(problem.map->counts.n_products() == n_products);
}

TEST_CASE("matrix-free: a curvature far above the others does not end a solve") {
  LinearStep problem;
  // The mean of the model has ten thousand times the curvature of all else.
  const auto map = core::affine(tests::random_matrix(LinearStep::n_data, LinearStep::n, 1) +
                                    Eigen::MatrixXd::Constant(LinearStep::n_data, LinearStep::n, 100.0),
                                Eigen::VectorXd::Ones(LinearStep::n_data));
  problem.map = std::make_shared<tests::CountedMap>(map);
  problem.model.array() -= problem.model.mean();
  const auto expected = make_dense_system(SystemSpace::data, problem.team, *map->linearize(problem.model),
                                          problem.objective, problem.model);
  const MatrixFreeSystem system = problem.system({.forcing = 0.1, .max_steps = 30});
  for (const double lambda : {100.0, 1.0}) {
    INFO(lambda << ", " << system.n_steps());
    CHECK(system.linear_rms(lambda) < 1.5 * expected->linear_rms(lambda));
  }
  CHECK(system.n_steps() < LinearStep::n);
}

TEST_CASE("matrix-free: further unknowns follow the directions of the others and cost one more") {
  LinearStep problem;
  constexpr Eigen::Index n_further = 10, n_cells = LinearStep::n - n_further;
  problem.objective.regularization = std::make_shared<inversion::objective::Regularization>(
      inversion::prior::with_further_unknowns(tests::line_roughness(n_cells, 0.5)->roughness(),
                                              Eigen::VectorXd::LinSpaced(n_further, 0.1, 30.0)),
      Eigen::VectorXd::Zero(LinearStep::n));
  const auto expected = problem.expected();
  const auto steps_for = [&](Eigen::Index n, double lambda) {
    const MatrixFreeSystem system = problem.system({.forcing = 1e-10, .max_steps = 60, .n_further = n});
    const Eigen::VectorXd jump = *expected->jump(lambda), creep = *expected->creep(lambda);
    CHECK((*system.jump(lambda) - jump).norm() < 1e-7 * jump.norm());
    CHECK(system.linear_rms(lambda) == Approx(expected->linear_rms(lambda)).epsilon(1e-7));
    const int n_steps = system.n_steps();
    CHECK((*system.creep(lambda) - creep).norm() < 1e-7 * creep.norm());
    return n_steps;
  };
  for (const double lambda : {100.0, 1.0, 0.01}) {
    const int n_with = steps_for(n_further, lambda), n_without = steps_for(0, lambda);
    INFO(lambda << ": " << n_with << " " << n_without);
    CHECK(n_with <= n_cells + 1);
    CHECK(n_with < n_without);
  }
}

TEST_CASE("matrix-free: columns of unknowns beside a simulation ask it for nothing") {
  const auto simulation = std::make_shared<tests::CountedMap>(
      core::affine(tests::random_matrix(5, 4, 1), Eigen::VectorXd::Ones(5)));
  const auto both = core::parallel({simulation, core::select(2, {1, 0})});
  const auto at = both->linearize(Eigen::VectorXd::Ones(6));
  Eigen::MatrixXd units = Eigen::MatrixXd::Zero(6, 2);
  units.bottomRows(2).setIdentity();
  const Eigen::MatrixXd columns = at->jvp(units);
  CHECK(simulation->counts.n_jvp == 0);
  CHECK(columns.topRows(5).isZero(0.0));
  CHECK(columns.bottomRows(2) == Eigen::Matrix2d{{0.0, 1.0}, {1.0, 0.0}});
  units(3, 1) = 1.0;
  static_cast<void>(at->jvp(units));
  CHECK(simulation->counts.n_jvp == 2);
}

TEST_CASE("matrix-free: steps end at their number, and never leave the model worse than it was") {
  const LinearStep problem;
  const MatrixFreeSystem system = problem.system({.forcing = 1e-12, .max_steps = 3});
  const auto objective = [&](const Eigen::VectorXd& model, double lambda) {
    const double rms = problem.objective.misfit.rms(problem.map->value(model));
    return static_cast<double>(problem.objective.misfit.n_kept()) * rms * rms +
           lambda * problem.objective.regularization->cost(model);
  };
  for (const double lambda : {1e5, 10.0, 1e-3}) {
    CHECK(objective(*system.jump(lambda), lambda) < objective(problem.model, lambda));
    CHECK(system.linear_rms(lambda) ==
          Approx(problem.objective.misfit.rms(problem.map->value(*system.jump(lambda)))).epsilon(1e-10));
  }
  CHECK(system.n_steps() == 3);
}

TEST_CASE("matrix-free: the forcing follows the fall of the gradient within its bounds") {
  using inversion::optimize::next_forcing;
  CHECK(next_forcing({}, 1.0, 0.3) == 0.3);
  CHECK(next_forcing({1.0, 10.0, 0.3}, 4.0, 0.3) == Approx(0.9 * 0.16));
  CHECK(next_forcing({1.0, 10.0, 0.3}, 20.0, 0.3) == 0.3);
  CHECK(next_forcing({1.0, 10.0, 0.3}, 0.1, 0.3) == 0.01);
  CHECK(next_forcing({1.0, 10.0, 0.8}, 0.1, 0.9) == Approx(0.9 * 0.64));  // safeguard
  const auto read = inversion::optimize::forcing_state(inversion::optimize::memory_of({2.0, 3.0, 0.25}));
  REQUIRE(read);
  CHECK(read->lambda == 2.0);
  CHECK(read->gradient_norm == 3.0);
  CHECK(read->forcing == 0.25);
  CHECK_FALSE(inversion::optimize::forcing_state(Eigen::MatrixXd::Ones(2, 1)));
}

TEST_CASE("matrix-free Gauss-Newton: every state resumes to the same bits, with cooling as with a search") {
  const tests::CurvedProblem problem;
  for (const bool cools : {false, true}) {
    GaussNewtonOptions options = without_jacobian();
    options.inner = {.max_steps = 6, .forcing = 0.5};
    if (cools) options.lambda = inversion::optimize::Cooling{};
    const GaussNewton gauss_newton(MPI_COMM_SELF, options);
    const auto witness = std::make_shared<tests::Witness>();
    const auto summary = gauss_newton.minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n),
                                               {.directives = {witness}});
    CHECK(summary.reason == StopReason::target_reached);
    CHECK(witness->states.size() > 3);
    CHECK(witness->states.back().memory.size() == 3);
    CHECK(tests::difference_of_resumed(*witness, summary, [&](const auto& state) {
            return gauss_newton.resume(problem.objective(), state);
          }).empty());
  }
}

TEST_CASE("matrix-free Gauss-Newton: codes of a learned prior are found through their decoder") {
  const tests::SectionProblem problem;
  const auto coded = problem.coded();
  const auto counted = std::make_shared<tests::CountedMap>(core::compose(problem.forward, problem.map));
  const Eigen::VectorXd start = Eigen::VectorXd::Zero(problem.map->size_in());
  const auto run = [&](const core::MapPtr& map, SystemSpace space) {
    return GaussNewton(MPI_COMM_SELF, {.space = space})
        .minimize({map, problem.objective().misfit, coded.at(start)}, start, {.reweigh = coded.reweigh()});
  };
  const auto with = run(core::compose(problem.forward, problem.map), SystemSpace::data),
             without = run(counted, SystemSpace::matrix_free);
  INFO(with.brief() << "\n" << without.brief());
  CHECK(without.reason == with.reason);
  CHECK(without.rms == Approx(with.rms).epsilon(0.05));
  CHECK(counted->counts.n_products() > 0);
}

TEST_CASE("matrix-free Gauss-Newton: a product that fails ends the run with the last good model") {
  const tests::CurvedProblem problem;
  const auto counted = std::make_shared<tests::CountedMap>(problem.map);
  counted->counts.fails_at = 4;
  const auto summary = GaussNewton(MPI_COMM_SELF, without_jacobian())
                           .minimize(problem.objective(counted), Eigen::VectorXd::Zero(problem.n));
  CHECK(summary.reason == StopReason::failed);
  CHECK_THAT(summary.message, Catch::Contains("tests::CountedLinearization"));
  CHECK(summary.usable());
}

TEST_CASE(
    "system: a Jacobian that fits into memory is taken, one that does not is left, and the log says so") {
  using inversion::optimize::system_bytes;
  const auto bytes = system_bytes(1000.0, 50.0, {.max_steps = 9});
  CHECK(bytes.with_jacobian == 8.0 * (2 * 1000 * 50 + 2 * 50 * 50));
  CHECK(bytes.matrix_free == 8.0 * 10 * (3 * 1000 + 50));
  const auto of_codes = system_bytes(1000.0, 50.0, {}, 9000.0);  // J of the cells beside that of the codes
  CHECK(of_codes.with_jacobian == 8.0 * 50 * (9000 + 1000));
  CHECK(system_bytes(1000.0, 50.0, {}, 100.0).with_jacobian == bytes.with_jacobian);
  const tests::CurvedProblem problem;
  const double needed = system_bytes(tests::CurvedProblem::n, tests::CurvedProblem::n_data, {}).with_jacobian;
  for (const bool fits : {true, false}) {
    const GaussNewtonOptions options{.stop = {.max_iterations = 2},
                                     .jacobian_bytes = fits ? 1.01 * needed : 0.99 * needed};
    inversion::optimize::InversionSummary summary;
    tests::Capture out(STDOUT_FILENO);
    summary =
        GaussNewton(MPI_COMM_SELF, options).minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n));
    const std::string log = out.text();
    CHECK((summary.history.back().n_jacobian > 0) == fits);
    CHECK((log.find("solved without a Jacobian") == std::string::npos) == fits);
    CHECK((log.find("GB") == std::string::npos) == fits);
  }
}

TEST_CASE(
    "system: a Jacobian that costs more than the products of a step is left, and the log gives both prices") {
  const tests::CurvedProblem problem;
  for (const double products : {0.0, 31.0, 31.5}) {
    const GaussNewtonOptions options{.stop = {.max_iterations = 2}, .jacobian_products = products};
    tests::Capture out(STDOUT_FILENO);
    const auto summary =
        GaussNewton(MPI_COMM_SELF, options).minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n));
    const std::string log = out.text();
    CHECK((summary.history.back().n_jacobian > 0) == (products <= 31.0));
    CHECK((log.find("cost as much as 32 products, steps without it take at most 31") == std::string::npos) ==
          (products <= 31.0));
  }
}

TEST_CASE("matrix-free Gauss-Newton: options without sense are refused, and all rows where they are needed") {
  const auto refusal = [](const GaussNewtonOptions& options) {
    return tests::error_of<core::InvalidArgument>([&] { GaussNewton(MPI_COMM_SELF, options); });
  };
  CHECK_THAT(refusal({.inner = {.max_steps = 0}}), tests::HasId("wrong_inner_steps", {"0"}));
  CHECK_THAT(refusal({.inner = {.forcing = 1.0}}), tests::HasId("wrong_inner_steps", {"1"}));
  CHECK_THAT(refusal({.jacobian_bytes = -1.0}), tests::HasId("wrong_jacobian_bytes", {"-1"}));
  const LinearStep problem;
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(make_dense_system(SystemSpace::matrix_free, problem.team,
                                                   *problem.map->linearize(problem.model), problem.objective,
                                                   problem.model));
             }),
             tests::HasId("needs_rows", {"matrix_free"}));
}
