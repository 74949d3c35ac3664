// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "physics/mt/transform.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_section.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;

namespace {

double gap(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).cwiseAbs().maxCoeff() / b.cwiseAbs().maxCoeff();
}

/// Counts the ranks that hold each row.
Eigen::VectorXd n_holders(const core::JacobianRows& block, Eigen::Index n_rows) {
  Eigen::VectorXd result = Eigen::VectorXd::Zero(n_rows);
  result(block.rows).setOnes();
  core::sum_in_rank_order(MPI_COMM_WORLD, result);
  return result;
}

}  // namespace

TEST_CASE("2-D simulation: values and derivatives do not depend on the number of ranks", "[physics][mt]") {
  const auto together = tests::small_simulation(MPI_COMM_WORLD, true),
             alone = tests::small_simulation(MPI_COMM_SELF, true);
  const Eigen::VectorXd resistivity = tests::small_section(true).values;
  CHECK(gap(together->value(resistivity), alone->value(resistivity)) < 1e-9);
  const auto ours = together->linearize(resistivity), reference = alone->linearize(resistivity);
  CHECK(gap(ours->jacobian(), reference->jacobian()) < 1e-9);
  const Eigen::MatrixXd v = Eigen::MatrixXd::Constant(together->size_in(), 2, 0.3),
                        w = Eigen::MatrixXd::Constant(together->size_out(), 3, 0.7);
  CHECK(gap(ours->jvp(v), reference->jvp(v)) < 1e-9);
  CHECK(gap(ours->vjp(w), reference->vjp(w)) < 1e-9);
}

TEST_CASE("2-D simulation: every row of the Jacobian is on one rank, with the bits of the dense Jacobian",
          "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_WORLD, true);
  const auto linearization = simulation->linearize(tests::small_section(true).values);
  const auto block = linearization->local_jacobian();
  CHECK(n_holders(block, simulation->size_out()) == Eigen::VectorXd::Ones(simulation->size_out()));
  CHECK(block.values == linearization->jacobian()(block.rows, Eigen::all));
}

TEST_CASE("2-D simulation: rows behind logarithms and under static shifts stay on their ranks",
          "[physics][mt]") {
  const auto survey = tests::small_survey();
  const auto f = [](double v) { return std::exp(v); };
  const auto simulation = tests::small_simulation(MPI_COMM_WORLD, false);
  const auto logarithmic = core::compose(simulation, core::pointwise("exp", simulation->size_in(), f, f));
  const auto map = physics::mt::data_map(
      logarithmic, simulation->layout(), survey,
      physics::mt::static_shifts(survey, {physics::mt::Mode::te, physics::mt::Mode::tm}));
  Eigen::VectorXd x = Eigen::VectorXd::Constant(map->size_in(), 0.1);
  x.head(simulation->size_in()) = tests::small_section(false).values.array().log();
  const auto linearization = map->linearize(x);
  const auto block = linearization->local_jacobian();
  Eigen::VectorXd expected = Eigen::VectorXd::Ones(map->size_out());
  expected.tail(map->size_out() - std::ssize(survey.keys)).setConstant(core::size_of(MPI_COMM_WORLD));
  CHECK(n_holders(block, map->size_out()) == expected);
  CHECK(gap(block.values, linearization->jacobian()(block.rows, Eigen::all)) < 1e-12);
}

TEST_CASE("2-D data map: rows of permuted data stay on one rank each and are the product of both Jacobians",
          "[physics][mt]") {
  auto survey = tests::small_survey();  // phases, log10 ρₐ, both parts of impedances and tippers
  std::reverse(survey.keys.begin(), survey.keys.end());
  survey.keys.erase(survey.keys.begin() + 5, survey.keys.begin() + 11);
  const Eigen::VectorXd resistivity = tests::small_section(true).values;
  const auto simulation = tests::small_simulation(MPI_COMM_WORLD, true);
  const auto responses = simulation->linearize(resistivity);
  const Eigen::MatrixXd expected =
      physics::mt::Transform(survey, simulation->layout()).linearize(responses->value())->jacobian() *
      responses->jacobian();
  const auto data = physics::mt::d2::data_map(simulation, survey)->linearize(resistivity);
  const auto block = data->local_jacobian();
  CHECK(n_holders(block, expected.rows()) == Eigen::VectorXd::Ones(expected.rows()));
  const Eigen::MatrixXd ours = expected(block.rows, Eigen::all);
  CHECK((block.values - ours).rowwise().norm().cwiseQuotient(ours.rowwise().norm()).maxCoeff() < 1e-12);
  CHECK(gap(data->jacobian(), expected) < 1e-12);
  const auto alone =
      physics::mt::d2::data_map(tests::small_simulation(MPI_COMM_SELF, true), survey)->linearize(resistivity);
  CHECK(gap(data->jacobian(), alone->jacobian()) < 1e-9);
}

TEST_CASE(
    "2-D simulation: rows through a map before it stay on their ranks and do not depend on their number",
    "[physics][mt]") {
  const auto through = [](MPI_Comm comm) {
    const auto simulation = tests::small_simulation(comm, true);
    const Eigen::VectorXd resistivity = tests::small_section(true).values;
    const Eigen::MatrixXd slopes = Eigen::MatrixXd::NullaryExpr(
        resistivity.size(), 5,
        [](Eigen::Index i, Eigen::Index j) { return std::sin(1.0 + static_cast<double>(3 * i + j)); });
    const auto linearization =
        core::compose(simulation, core::affine(slopes, resistivity))->linearize(Eigen::VectorXd::Zero(5));
    const auto block = linearization->local_jacobian();
    CHECK(gap(block.values, linearization->jacobian()(block.rows, Eigen::all)) < 1e-12);
    return block;
  };
  const auto ours = through(MPI_COMM_WORLD), all = through(MPI_COMM_SELF);
  const Eigen::Index n_data = std::ssize(all.rows);
  CHECK(n_holders(ours, n_data) == Eigen::VectorXd::Ones(n_data));
  Eigen::MatrixXd expected(n_data, 5);
  expected(all.rows, Eigen::all) = all.values;
  CHECK(gap(ours.values, expected(ours.rows, Eigen::all)) < 1e-9);
}

TEST_CASE("2-D simulation: surplus ranks stay idle and get the same answer", "[physics][mt]") {
  // One frequency, one mode: one job for any number of ranks.
  const auto section = tests::small_section(false);
  const auto survey = physics::mt::full_survey({{"a", 0.0}}, {1.0}, {physics::mt::Datum::zxy_re});
  const auto meshes = physics::mt::d2::design_meshes(
      section, survey, physics::mt::d2::design_options(physics::mt::d2::Accuracy::iteration));
  const auto together = physics::mt::d2::data_map(MPI_COMM_WORLD, section.earth, survey, meshes);
  const auto alone = physics::mt::d2::data_map(MPI_COMM_SELF, section.earth, survey, meshes);
  CHECK(together->value(section.values) == alone->value(section.values));
}

TEST_CASE("2-D simulation: an error on every rank is the same error on every rank", "[physics][mt]") {
  const auto together = tests::small_simulation(MPI_COMM_WORLD, false);
  Eigen::VectorXd resistivity = tests::small_section(false).values;
  resistivity[0] = 0.0;
  CHECK_THROWS(together->value(resistivity));
  CHECK(core::size_of(MPI_COMM_WORLD) >= 1);
}
