// SPDX-License-Identifier: Apache-2.0
// Each rank also inverts alone (MPI_COMM_SELF): the shared run must give the numbers of the lonely one.
#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "inversion/optimize/descent.hpp"
#include "inversion/optimize/system.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using inversion::optimize::GaussNewton;
using inversion::optimize::StopReason;

namespace {

/// Three and a half blocks of data over a bent map.
struct WideProblem {
  static constexpr Eigen::Index n = 60, n_data = 900;
  core::MapPtr map =
      core::compose(core::affine(tests::random_matrix(n_data, n, 1), Eigen::VectorXd::Zero(n_data)),
                    core::pointwise(
                        "bend", n, [](double v) { return v + 0.3 * std::sin(v); },
                        [](double v) { return 1.0 + 0.3 * std::cos(v); }));
  Eigen::VectorXd observed =
      map->value(Eigen::VectorXd::LinSpaced(n, 0.0, 3.0)) + 0.5 * tests::random_matrix(n_data, 1, 2).col(0);
  inversion::optimize::Objective objective{map, tests::plain_misfit(observed, 0.45),
                                           tests::line_roughness(n)};
};

/// A x over all ranks; each holds the rows that are dealt to it and may fail to make them.
class SharedAffine final : public core::Linearization {
 public:
  SharedAffine(Eigen::MatrixXd a, const Eigen::VectorXd& x, bool fails)
      : Linearization(a.cols(), a * x), a_(std::move(a)), fails_(fails) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override { return a_ * directions; }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return a_.transpose() * directions;
  }
  core::JacobianRows do_local_jacobian() const override {
    if (fails_) throw core::SolverError("tests::SharedAffine#no_memory", "no memory for these rows");
    core::JacobianRows block;
    const int n_ranks = core::size_of(MPI_COMM_WORLD), rank = core::rank_of(MPI_COMM_WORLD);
    for (Eigen::Index row = a_.rows() - 1; row >= 0; --row) {
      if ((row / 3) % n_ranks == rank) block.rows.push_back(row);
    }
    block.values = a_(block.rows, Eigen::all);
    return block;
  }
  Eigen::MatrixXd a_;
  bool fails_;
};

double distance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) { return (a - b).norm() / b.norm(); }

}  // namespace

TEST_CASE("Gauss-Newton: any number of ranks gives the model of one rank, in either space and without J") {
  const WideProblem problem;
  for (const auto space : {inversion::optimize::SystemSpace::data, inversion::optimize::SystemSpace::model,
                           inversion::optimize::SystemSpace::matrix_free}) {
    const inversion::optimize::GaussNewtonOptions options{.stop = {.max_iterations = 6}, .space = space};
    const auto shared =
        GaussNewton(MPI_COMM_WORLD, options).minimize(problem.objective, Eigen::VectorXd::Zero(problem.n));
    const auto alone =
        GaussNewton(MPI_COMM_SELF, options).minimize(problem.objective, Eigen::VectorXd::Zero(problem.n));
    CHECK(distance(shared.model, alone.model) < 1e-12);
    CHECK(shared.rms == Approx(alone.rms).epsilon(1e-12));
    CHECK(shared.lambda == Approx(alone.lambda).epsilon(1e-12));
    CHECK(shared.reason == alone.reason);
    REQUIRE(shared.history.size() == alone.history.size());
    CHECK(shared.history.size() > 2);
  }
}

TEST_CASE("descent: any number of ranks gives the bits of one rank") {
  const WideProblem problem;
  for (const auto method :
       {inversion::optimize::DescentMethod::nlcg, inversion::optimize::DescentMethod::lbfgs}) {
    const inversion::optimize::DescentOptions options{.method = method,
                                                      .stop = {.max_iterations = 12, .target_rms = 0.1}};
    const auto shared = inversion::optimize::Descent(MPI_COMM_WORLD, options)
                            .minimize(problem.objective, Eigen::VectorXd::Zero(problem.n));
    const auto alone = inversion::optimize::Descent(MPI_COMM_SELF, options)
                           .minimize(problem.objective, Eigen::VectorXd::Zero(problem.n));
    CHECK(tests::same_bits(shared.model, alone.model));
    CHECK(shared.history.size() == alone.history.size());
    CHECK(shared.history.size() == 13);
  }
}

TEST_CASE("descent: a linearization that fails on one rank is rejected, or ends the run, on all of them") {
  const WideProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  const int first_bad = 2;
  int last_bad = 2;
  fake->before_linearize = [&](int call) {
    if (last && call >= first_bad && call <= last_bad)
      throw core::SolverError("tests::FakeMap", "zero pivot on the last rank");
  };
  inversion::optimize::Objective objective = problem.objective;
  objective.forward = fake;
  const inversion::optimize::DescentOptions options{.stop = {.max_iterations = 3, .target_rms = 0.1}};
  const auto rejected = inversion::optimize::Descent(MPI_COMM_WORLD, options)
                            .minimize(objective, Eigen::VectorXd::Zero(problem.n));
  REQUIRE(rejected.history.size() == 4);
  CHECK(rejected.history[1].n_forward == 2);
  fake->n_linearize = 0;
  last_bad = 100;
  const auto failed = inversion::optimize::Descent(MPI_COMM_WORLD, options)
                          .minimize(objective, Eigen::VectorXd::Zero(problem.n));
  CHECK(failed.reason == StopReason::failed);
  CHECK(failed.history.size() == 1);
}

TEST_CASE("normal equations: in either space the model of a lambda has the same bits on every rank") {
  const WideProblem problem;
  const Eigen::VectorXd m = Eigen::VectorXd::Constant(problem.n, 0.5);
  const auto linearization = problem.map->linearize(m);
  const core::Team team(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  for (const auto space : {inversion::optimize::SystemSpace::data, inversion::optimize::SystemSpace::model}) {
    const auto system =
        inversion::optimize::make_dense_system(space, team, *linearization, problem.objective, m);
    const auto model = system->jump(3.0);
    REQUIRE(model);
    Eigen::MatrixXd of_root = *model;
    team.broadcast(of_root);
    CHECK((of_root.array() == model->array()).all());
    const auto alone =
        inversion::optimize::make_dense_system(space, self, *linearization, problem.objective, m);
    CHECK(distance(*model, *alone->jump(3.0)) < 1e-13);
    CHECK(system->linear_rms(3.0) == Approx(alone->linear_rms(3.0)).epsilon(1e-12));
  }
}

TEST_CASE(
    "normal equations: rows that stay on their ranks give the model of a whole Jacobian, masked rows do not "
    "enter") {
  constexpr Eigen::Index n = 60, n_data = 900;
  const Eigen::MatrixXd a = tests::random_matrix(n_data, n, 1);
  const Eigen::VectorXd m = Eigen::VectorXd::Constant(n, 0.5),
                        observed = tests::random_matrix(n_data, 1, 2).col(0);
  std::vector<int> reason(n_data, 0);
  for (std::size_t i = 0; i < reason.size(); i += 7) reason[i] = 1;
  const inversion::optimize::Objective objective{nullptr, tests::masked_misfit(observed, 1.0, reason),
                                                 tests::line_roughness(n, 0.2)};
  const auto whole = core::affine(a, Eigen::VectorXd::Zero(n_data))->linearize(m);
  const SharedAffine shared(a, m, false);
  const core::Team team(MPI_COMM_WORLD), self(MPI_COMM_SELF);
  for (const auto space : {inversion::optimize::SystemSpace::data, inversion::optimize::SystemSpace::model}) {
    const auto system = inversion::optimize::make_dense_system(space, team, shared, objective, m);
    const auto expected = inversion::optimize::make_dense_system(space, self, *whole, objective, m);
    CHECK(distance(*system->jump(3.0), *expected->jump(3.0)) < 1e-12);
    CHECK(distance(*system->creep(3.0), *expected->creep(3.0)) < 1e-12);
  }
}

TEST_CASE("normal equations: rows that fail on one rank are the same error on all of them") {
  constexpr Eigen::Index n = 60, n_data = 90;
  const Eigen::VectorXd m = Eigen::VectorXd::Zero(n);
  const inversion::optimize::Objective objective{
      nullptr, tests::plain_misfit(Eigen::VectorXd::Ones(n_data), 0.1), tests::line_roughness(n)};
  const SharedAffine shared(tests::random_matrix(n_data, n, 1), m,
                            core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1);
  const core::Team team(MPI_COMM_WORLD);
  CHECK_THAT(tests::error_of<core::SolverError>([&] {
               static_cast<void>(inversion::optimize::make_dense_system(
                   inversion::optimize::SystemSpace::data, team, shared, objective, m));
             }),
             Catch::Predicate<core::Error>([](const core::Error& error) {
               return std::string(error.what()).find("tests::SharedAffine") != std::string::npos;
             }));
}

TEST_CASE("Gauss-Newton: a trial that fails on one rank is rejected on all of them") {
  const WideProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  fake->spoil_forward = [last](Eigen::VectorXd&, int call) {
    if (last && call == 2) throw core::SolverError("tests::FakeMap", "no memory on the last rank");
  };
  inversion::optimize::Objective objective = problem.objective;
  objective.forward = fake;
  const auto summary = GaussNewton(MPI_COMM_WORLD, {.stop = {.max_iterations = 3}})
                           .minimize(objective, Eigen::VectorXd::Zero(problem.n));
  CHECK(summary.history.size() > 1);
  CHECK(summary.reason != StopReason::failed);
  Eigen::MatrixXd of_root = summary.model;
  core::Team(MPI_COMM_WORLD).broadcast(of_root);
  CHECK((of_root.array() == summary.model.array()).all());
}

TEST_CASE("Gauss-Newton: a linearization that fails on one rank ends the run on all of them") {
  const WideProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.map);
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  fake->before_linearize = [last](int call) {
    if (last && call == 2) throw core::SolverError("tests::FakeMap", "zero pivot on the last rank");
  };
  inversion::optimize::Objective objective = problem.objective;
  objective.forward = fake;
  GaussNewton gauss_newton(MPI_COMM_WORLD, {.stop = {.target_rms = 0.1}});
  const auto redesign = [&](const inversion::optimize::RedesignView& view) {
    return view.iteration < 2 ? fake : nullptr;  // no trial before a redesign is kept
  };
  const auto summary =
      gauss_newton.minimize(objective, Eigen::VectorXd::Zero(problem.n), {.redesign = redesign});
  CHECK(summary.reason == StopReason::failed);
  CHECK(summary.history.size() == 2);
}

TEST_CASE("Gauss-Newton: a stop asked on one rank stops all of them after the same iteration") {
  const WideProblem problem;
  const bool last = core::rank_of(MPI_COMM_WORLD) == core::size_of(MPI_COMM_WORLD) - 1;
  int n_asked = 0;
  GaussNewton gauss_newton(MPI_COMM_WORLD, {.stop = {.target_rms = 0.1}});
  const auto stop = [&]() -> std::optional<StopReason> {
    ++n_asked;
    return last && n_asked == 2 ? std::optional(StopReason::interrupted) : std::nullopt;
  };
  const auto summary =
      gauss_newton.minimize(problem.objective, Eigen::VectorXd::Zero(problem.n), {.stop = stop});
  CHECK(summary.reason == StopReason::interrupted);
  CHECK(summary.history.size() == 2);
}
