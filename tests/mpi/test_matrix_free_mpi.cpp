// SPDX-License-Identifier: Apache-2.0
// Steps without a Jacobian over a 2-D simulation that the ranks share.
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/small_section.hpp"
#include "tests/unit/inversion/counted_map.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>
#include <memory>
#include <optional>

using namespace lodestone;
using inversion::optimize::Cooling;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::StopReason;
using inversion::optimize::SystemSpace;

namespace {

/// Data of a small section with noise, the misfit and a roughness about a half-space.
struct SmallInversion {
  SmallInversion() {
    const auto section = tests::small_section(false);
    data =
        core::compose(tests::small_data_map(MPI_COMM_WORLD, false),
                      core::pointwise(
                          "exp10", section.earth.grid.n_cells(), [](double v) { return std::pow(10.0, v); },
                          [](double v) { return std::log(10.0) * std::pow(10.0, v); }));
    start = Eigen::VectorXd::Constant(data->size_in(), 1.75);
    const Eigen::VectorXd truth = section.values.array().log10();
    Eigen::VectorXd observed = data->value(truth);
    const Eigen::VectorXd sigma = 0.02 * observed.cwiseAbs().array() + 1e-6;
    observed += sigma.cwiseProduct(tests::random_matrix(observed.size(), 1, 4).col(0));
    misfit.emplace(core::DataSet({.observed = observed, .sigma = sigma}));
    regularization = std::make_shared<inversion::objective::Regularization>(
        inversion::prior::roughness_operator(section.earth.grid, {}), start);
  }
  [[nodiscard]] inversion::optimize::InversionSummary minimized(const core::MapPtr& map,
                                                                GaussNewtonOptions options) const {
    return GaussNewton(MPI_COMM_WORLD, options).minimize({map, *misfit, regularization}, start);
  }

  core::MapPtr data;
  Eigen::VectorXd start;
  std::optional<inversion::objective::DataMisfit> misfit;
  std::shared_ptr<inversion::objective::Regularization> regularization;
};

}  // namespace

TEST_CASE("matrix-free Gauss-Newton: a section is fitted as with a Jacobian, from products alone") {
  const SmallInversion problem;
  const auto counted = std::make_shared<tests::CountedMap>(problem.data);
  const auto with = problem.minimized(problem.data, {.space = SystemSpace::data});
  const auto without = problem.minimized(counted, {.space = SystemSpace::matrix_free});
  INFO(with.brief() << "\n" << without.brief());
  CHECK(with.reason == StopReason::target_reached);
  CHECK(without.reason == StopReason::target_reached);
  // Both ends are at the target; how smooth they are depends on where drops of the roughness end a run. Here
  // the one from products is rougher by 19 %.
  CHECK(without.roughness < 1.25 * with.roughness);
  CHECK((without.model - with.model).norm() < 0.2 * (with.model - problem.start).norm());
  for (const auto& row : without.history) CHECK(row.n_jacobian == 0);
  const auto n_iterations = std::ssize(without.history) - 1;
  CHECK(counted->counts.n_jvp <= n_iterations * 16);
  CHECK(counted->counts.n_vjp <= n_iterations * 17);
}

TEST_CASE("matrix-free Gauss-Newton: at one lambda both ways end at the same model") {
  const SmallInversion problem;
  const auto of = [&](SystemSpace space) {
    return problem.minimized(problem.data,
                             {.stop = {.max_iterations = 15, .target_rms = 0.01, .patience = 15},
                              .lambda = Cooling{.rate = 100},
                              .space = space,
                              .lambda_start = 3.0});
  };
  const auto with = of(SystemSpace::data), without = of(SystemSpace::matrix_free);
  INFO(with.brief() << "\n" << without.brief());
  REQUIRE(with.lambda == without.lambda);
  CHECK(without.rms == Approx(with.rms).epsilon(0.02));
  CHECK(without.roughness == Approx(with.roughness).epsilon(0.05));
  CHECK((without.model - with.model).norm() < 0.02 * (with.model - problem.start).norm());
}
