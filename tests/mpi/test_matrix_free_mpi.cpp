// SPDX-License-Identifier: Apache-2.0
// Steps without a Jacobian over a 2-D simulation that the ranks share.
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_section.hpp"
#include "tests/unit/inversion/counted_map.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using inversion::optimize::GaussNewton;
using inversion::optimize::StopReason;
using inversion::optimize::SystemSpace;

TEST_CASE("matrix-free Gauss-Newton: a section is fitted as with a Jacobian, from products alone") {
  const auto section = tests::small_section(false);
  const core::MapPtr data =
      core::compose(tests::small_data_map(MPI_COMM_WORLD, false),
                    core::pointwise(
                        "exp10", section.earth.grid.n_cells(), [](double v) { return std::pow(10.0, v); },
                        [](double v) { return std::log(10.0) * std::pow(10.0, v); }));
  const auto counted = std::make_shared<tests::CountedMap>(data);
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(data->size_in(), 1.75);
  const Eigen::VectorXd truth = section.values.array().log10();
  Eigen::VectorXd observed = data->value(truth);
  const Eigen::VectorXd sigma = 0.02 * observed.cwiseAbs().array() + 1e-6;
  observed += sigma.cwiseProduct(tests::random_matrix(observed.size(), 1, 4).col(0));
  const inversion::objective::DataMisfit misfit(core::DataSet({.observed = observed, .sigma = sigma}));
  const auto regularization = std::make_shared<inversion::objective::Regularization>(
      inversion::prior::roughness_operator(section.earth.grid, {}), start);
  const auto with = GaussNewton(MPI_COMM_WORLD, {.space = SystemSpace::data})
                        .minimize({data, misfit, regularization}, start);
  const auto without = GaussNewton(MPI_COMM_WORLD, {.space = SystemSpace::matrix_free})
                           .minimize({counted, misfit, regularization}, start);
  INFO(with.brief() << "\n" << without.brief());
  CHECK(with.reason == StopReason::target_reached);
  CHECK(without.reason == StopReason::target_reached);
  // Both ends are at the target; how smooth they are depends on where drops of the roughness end a run. Here
  // the one from products is rougher by 19 %.
  CHECK(without.roughness < 1.25 * with.roughness);
  CHECK((without.model - with.model).norm() < 0.2 * (with.model - start).norm());
  for (const auto& row : without.history) CHECK(row.n_jacobian == 0);
  const auto n_iterations = std::ssize(without.history) - 1;
  CHECK(counted->counts.n_jvp <= n_iterations * 16);
  CHECK(counted->counts.n_vjp <= n_iterations * 17);
}
