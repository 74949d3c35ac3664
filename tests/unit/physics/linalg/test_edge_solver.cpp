// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/edge_problem.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/thread_count.hpp"

#include <limits>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::linalg;
using tests::edge_problem;
using tests::EdgeProblemShape;
using tests::error_of;
using tests::HasId;

namespace {

using Kind = EdgeProblemShape::Kind;

double difference(const fem::EdgeGrid& grid, const PairBlock& a, const PairBlock& b) {
  const Eigen::VectorXcd u = circulation(grid, a, 0), v = circulation(grid, b, 0);
  return (u - v).norm() / v.norm();
}

EdgeSolveReport solved(const EdgeProblemShape& shape, const EdgeSolveOptions& options = {}) {
  const auto problem = edge_problem(shape);
  PairBlock x;
  return make_multigrid_edge_solver(problem.system)->solve(x, problem.right, options).front();
}

}  // namespace

TEST_CASE("edge solvers: multigrid and the factorization agree at every period", "[physics][linalg]") {
  for (const double period : {0.01, 10.0, 1e4}) {
    const auto problem = edge_problem({.period_s = period});
    PairBlock x, exact;
    const auto report = make_multigrid_edge_solver(problem.system)
                            ->solve(x, problem.right, {.divergence_tolerance = 1e-10})
                            .front();
    const auto reference = make_direct_edge_solver(problem.system)->solve(exact, problem.right).front();
    INFO(period);
    CHECK(report.ending == Ending::converged);
    CHECK(report.true_residual < 1e-8);
    CHECK(reference.true_residual < 1e-11);
    CHECK(reference.divergence < 1e-11);
    CHECK(difference(*problem.system.grid, x, exact) < 1e-6);
  }
}

TEST_CASE("edge solvers: algebraic multigrid agrees with the factorization, at every period and on a relief",
          "[physics][linalg]") {
  const auto shape =
      GENERATE(EdgeProblemShape{.period_s = 0.01}, EdgeProblemShape{.period_s = 1e4, .air = 1e-16},
               EdgeProblemShape{.contrast = 1e4}, EdgeProblemShape{.slope_deg = 30.0});
  const auto problem = edge_problem(shape);
  const EdgeSolveOptions exactly{.tolerance = 1e-10, .divergence_tolerance = 1e-10, .max_iterations = 300};
  PairBlock x, exact;
  const auto solver = make_edge_solver(EdgeSolverKind::ams, problem.system);
  const auto report = solver->solve(x, problem.right, exactly).front();
  (void)make_direct_edge_solver(problem.system)->solve(exact, problem.right);
  CHECK(solver->name() == "ams");
  CHECK(report.fallback.empty());
  CHECK(report.true_residual < 1e-10);
  CHECK(report.iterations > 8);
  CHECK(report.iterations <= 200);
  CHECK(difference(*problem.system.grid, x, exact) < 1e-6);
  CHECK(solver->bytes() > 0);
}

TEST_CASE("edge solvers: a cycle in single precision leads to a residual of 1e-12", "[physics][linalg]") {
  for (const double period : {0.1, 1e4}) {
    const auto report = solved(
        {.period_s = period}, {.tolerance = 1e-12, .divergence_tolerance = 1e-12, .real = CycleReal::single});
    CHECK(report.true_residual < 2e-12);
    CHECK(report.fallback.empty());
    CHECK(report.iterations < 30);
  }
}

TEST_CASE("edge solvers: both precisions of the cycle count the same iterations", "[physics][linalg]") {
  for (const double period : {0.1, 1e4}) {
    const int single = solved({.period_s = period}, {.real = CycleReal::single}).iterations;
    const int twice = solved({.period_s = period}, {.real = CycleReal::twice}).iterations;
    CHECK(std::abs(single - twice) <= 1);
  }
}

TEST_CASE("multigrid: iterations hardly depend on period, air, contrast, width of cells and layers",
          "[physics][linalg]") {
  const auto iterations = [](const EdgeProblemShape& shape) {
    const int n = solved(shape).iterations;
    CHECK(n >= 8);  // else the problem is none
    return n;
  };
  for (const double period : {0.01, 1.0, 100.0, 1e4}) CHECK(iterations({.period_s = period}) <= 20);
  for (const double air : {1e-6, 1e-16}) CHECK(iterations({.air = air}) <= 20);
  for (const double contrast : {10.0, 1e4}) CHECK(iterations({.contrast = contrast}) <= 20);
  for (const double ratio : {0.25, 4.0}) CHECK(iterations({.cell_y_over_x = ratio}) <= 25);
  for (const double layer : {1.0, 100.0}) CHECK(iterations({.first_layer_m = layer}) <= 20);
  CHECK(iterations({.kind = Kind::sea, .period_s = 100.0}) <= 25);
  CHECK(iterations({.kind = Kind::random}) <= 70);
  CHECK(iterations({.n_side = 28, .n_pad = 8, .n_earth = 20, .n_air = 8}) <= 20);
}

TEST_CASE("edge solvers: on level nodes a relief has the solution of the flat grid", "[physics][linalg]") {
  const auto flat = edge_problem({}), level = edge_problem({.slope_deg = 0.0});
  PairBlock x, y;
  const int of_flat = make_multigrid_edge_solver(flat.system)->solve(x, flat.right).front().iterations;
  const auto report = make_multigrid_edge_solver(level.system)->solve(y, level.right).front();
  CHECK(report.iterations == of_flat);
  CHECK(difference(*flat.system.grid, y, x) < 1e-6);
}

TEST_CASE("edge solvers: on slopes multigrid and the factorization agree at every period",
          "[physics][linalg]") {
  for (const double period : {0.01, 10.0, 1e4}) {
    const auto problem = edge_problem({.period_s = period, .slope_deg = 45.0});
    PairBlock x, exact;
    const auto report = make_multigrid_edge_solver(problem.system)
                            ->solve(x, problem.right, {.divergence_tolerance = 1e-10})
                            .front();
    const auto reference = make_direct_edge_solver(problem.system)->solve(exact, problem.right).front();
    INFO(period);
    CHECK(report.ending == Ending::converged);
    CHECK(report.fallback.empty());
    CHECK(reference.true_residual < 1e-11);
    CHECK(reference.divergence < 1e-11);
    CHECK(difference(*problem.system.grid, x, exact) < 1e-6);
  }
}

TEST_CASE("multigrid: iterations grow slowly with the slope of a relief at every period",
          "[physics][linalg]") {
  const auto iterations = [](double slope_deg, double period_s) {
    const auto report = solved({.period_s = period_s, .slope_deg = slope_deg});
    INFO(slope_deg << " degrees, " << period_s << " s");
    CHECK(report.fallback.empty());
    return report.iterations;
  };
  for (const double period : {0.1, 10.0, 1e3}) {
    CHECK(iterations(0.0, period) <= 20);
    CHECK(iterations(30.0, period) <= 25);
    CHECK(iterations(45.0, period) <= 32);
    const int steepest = iterations(60.0, period);
    CHECK(steepest <= 48);
    CHECK(steepest > 15);  // else the relief is none
  }
}

TEST_CASE("multigrid: threads change no bit of a solution", "[physics][linalg]") {
  const auto shape = GENERATE(EdgeProblemShape{}, EdgeProblemShape{.slope_deg = 30.0});
  const auto problem = edge_problem(shape);
  PairBlock one, more;
  (void)make_multigrid_edge_solver(problem.system)->solve(one, problem.right);
  for (const int n : {2, 3}) {
    const tests::ThreadCount threads(n);
    (void)make_multigrid_edge_solver(problem.system)->solve(more, problem.right);
    CHECK(one.edges == more.edges);
    CHECK(one.nodes == more.nodes);
  }
}

TEST_CASE("multigrid: many right-hand sides in threads are those one by one", "[physics][linalg]") {
  auto problem = edge_problem({});
  PairBlock three(*problem.system.grid, 3), x, alone;
  for (int column = 0; column < 3; ++column) {
    three.edges.col(column) = (column + 1.0) * problem.right.edges.col(0);
    three.nodes.col(column) = (column + 1.0) * problem.right.nodes.col(0);
  }
  const auto solver = make_multigrid_edge_solver(problem.system);
  (void)solver->solve(alone, problem.right);
  const tests::ThreadCount threads(3);
  (void)solver->solve(x, three);
  CHECK(x.edges.col(0) == alone.edges.col(0));
  CHECK((x.edges.col(2) - 3.0 * alone.edges.col(0)).norm() < 1e-6 * x.edges.col(2).norm());
}

TEST_CASE("multigrid: methods that end early hand on to the next, and the report names them",
          "[physics][linalg]") {
  const auto all = solved({}, {.max_iterations = 5, .real = CycleReal::single});
  CHECK(all.ending == Ending::converged);
  CHECK(all.fallback == "double, gmres");
  CHECK(all.iterations > 10);
  CHECK(all.iterations <= 15);
  CHECK(all.true_residual < 1e-8);
  const auto problem = edge_problem({});
  PairBlock x;
  CHECK_THAT(
      error_of<core::SolverError>([&] {
        (void)make_multigrid_edge_solver(problem.system)->solve(x, problem.right, {.max_iterations = 2});
      }),
      HasId("not_converged", {"multigrid", "8", "ams"}));
}

TEST_CASE("edge solvers: a true residual far above the tolerance is an error", "[physics][linalg]") {
  const auto problem = edge_problem({});
  PairBlock x;
  CHECK_THAT(error_of<core::SolverError>([&] {
               (void)make_direct_edge_solver(problem.system)->solve(x, problem.right, {.tolerance = 1e-18});
             }),
             HasId("not_converged", {"direct", "inaccurate", "1.0e-18"}));
}

TEST_CASE("multigrid: layers far thinner than cells are wide are relaxed in double precision",
          "[physics][linalg]") {
  const auto thin = solved({.first_layer_m = 0.1}),
             named = solved({.first_layer_m = 0.1}, {.real = CycleReal::twice});
  CHECK(thin.iterations == named.iterations);
  CHECK(thin.true_residual == named.true_residual);
  CHECK(thin.fallback.empty());
}

TEST_CASE("multigrid: air far higher than columns are wide is relaxed in double precision",
          "[physics][linalg]") {
  const auto tall = solved({.cell_m = 20.0}), named = solved({.cell_m = 20.0}, {.real = CycleReal::twice});
  CHECK(tall.iterations == named.iterations);
  CHECK(tall.true_residual == named.true_residual);
  CHECK(tall.fallback.empty());
  CHECK(tall.ending == Ending::converged);
}

TEST_CASE("edge solvers: without a source the field is zero, and NaN is an error", "[physics][linalg]") {
  auto problem = edge_problem({});
  problem.right.edges.setZero();
  problem.right.nodes.setZero();
  PairBlock x;
  const auto report = make_multigrid_edge_solver(problem.system)->solve(x, problem.right).front();
  CHECK(report.iterations == 0);
  CHECK(x.edges.isZero(0.0));
  problem.right.edges(3, 0) = std::numeric_limits<double>::quiet_NaN();
  const auto solver = make_multigrid_edge_solver(problem.system);
  CHECK_THAT(error_of<core::SolverError>([&] { (void)solver->solve(x, problem.right); }),
             HasId("not_finite"));
  problem.system.mass[7] = 0.0;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)make_direct_edge_solver(problem.system); }),
             HasId("mass_not_positive"));
  CHECK_THAT(error_of<core::InvalidArgument>([] {
               const auto grid = std::make_shared<const fem::EdgeGrid>(
                   std::array<std::vector<double>, 3>{{{0, 1, 2}, {0, 1}, {0, 1, 2}}});
               (void)make_multigrid_edge_solver(
                   {grid, Eigen::VectorXd::Ones(grid->n_edges()), Eigen::VectorXd::Ones(grid->n_cells())});
             }),
             HasId("too_few_cells", {"y"}));
}

TEST_CASE("edge solvers: the choice follows size, right-hand sides and memory", "[physics][linalg]") {
  const auto small = tests::edge_grid({}),
             large = tests::edge_grid({.n_side = 60, .n_pad = 10, .n_earth = 40});
  CHECK(choose_edge_solver(*small, 2, false, 1e10) == EdgeSolverKind::multigrid);
  CHECK(choose_edge_solver(*small, 500, false, 1e10) == EdgeSolverKind::direct);
  CHECK(choose_edge_solver(*small, 500, false, 1e6) == EdgeSolverKind::multigrid);
  CHECK(choose_edge_solver(*large, 500, false, 1e12) == EdgeSolverKind::multigrid);
  const auto bytes = [&](bool has_relief) {
    return linalg::cost_of(EdgeSolverKind::multigrid, *small, 2, has_relief).bytes;
  };
  CHECK(bytes(true) > 1.3 * bytes(false));
  const EdgeSolverCost algebraic = linalg::cost_of(EdgeSolverKind::ams, *large, 1, false);
  CHECK(linalg::fits_machine(algebraic, 2.1 * algebraic.bytes));
  CHECK_FALSE(linalg::fits_machine(algebraic, 1.9 * algebraic.bytes));
  CHECK(linalg::fits_machine(algebraic, 0.0));
}
