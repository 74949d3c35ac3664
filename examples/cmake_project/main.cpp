// SPDX-License-Identifier: Apache-2.0
// What this shows: a new physics written outside Lodestone is checked and inverted with what Lodestone has.
// Equation:        data = gravity ∘ exp10 (log10 of the thickness of each column of a sedimentary basin)
// Sample run:      basin
#include "basin_gravity.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/random.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <cmath>
#include <memory>

namespace core = lodestone::core;
namespace inversion = lodestone::inversion;

namespace {

constexpr Eigen::Index n_columns = 40, n_stations = 30;
constexpr double profile_length_m = 40e3;
constexpr double noise_mgal = 0.1;

core::MapPtr make_gravity() {
  return std::make_shared<basin::BasinGravity>(basin::BasinOptions{
      .station_y_m = Eigen::VectorXd::LinSpaced(n_stations, 0.0, profile_length_m),
      .column_y_m = Eigen::VectorXd::LinSpaced(n_columns, 500.0, profile_length_m - 500.0),
  });
}

/// Returns a basin 2 km deep in the middle and 200 m at its rims, as log10 thickness.
Eigen::VectorXd true_model() {
  return Eigen::VectorXd::NullaryExpr(n_columns, [](Eigen::Index j) {
    const double from_middle = (static_cast<double>(j) + 0.5) / static_cast<double>(n_columns) - 0.5;
    return std::log10(200.0 + 1800.0 * std::exp(-30.0 * from_middle * from_middle));
  });
}

Eigen::VectorXd measured(const core::DifferentiableMap& forward) {
  const core::Philox random(7);
  Eigen::VectorXd data = forward.value(true_model());
  for (Eigen::Index i = 0; i < data.size(); ++i)
    data[i] += noise_mgal * random.normal(static_cast<std::uint64_t>(i));
  return data;
}

/// Returns differences between neighbours, and a little of each value so that the operator is invertible.
Eigen::SparseMatrix<double> roughness() {
  Eigen::SparseMatrix<double> result(2 * n_columns - 1, n_columns);
  for (Eigen::Index j = 0; j + 1 < n_columns; ++j) {
    result.insert(j, j) = -1.0;
    result.insert(j, j + 1) = 1.0;
  }
  for (Eigen::Index j = 0; j < n_columns; ++j) result.insert(n_columns - 1 + j, j) = 0.01;
  return result;
}

void require_right_derivatives(const core::DifferentiableMap& map, const Eigen::VectorXd& model) {
  const auto derivative = core::check_derivative(map, model);
  const auto adjoint = core::check_adjoint(map, model);
  core::log::info("Taylor order {:.2f}, adjoint gap {:.1e}", derivative.figure, adjoint.figure);
  if (!derivative.passed || !adjoint.passed)
    throw core::SolverError(map.name(), "wrong derivatives:\n{}{}", derivative.report, adjoint.report);
}

int run(const core::MpiScope& mpi) {
  // 1. The physics, and what is to be found: the logarithm keeps thicknesses positive
  const auto forward = core::compose(make_gravity(), inversion::objective::exp10_map(n_columns));
  const Eigen::VectorXd start = Eigen::VectorXd::Constant(n_columns, 3.0);
  require_right_derivatives(*forward, start);

  // 2. Data, and what a good basin is
  const inversion::objective::DataMisfit misfit(core::DataSet(
      {.observed = measured(*forward), .sigma = Eigen::VectorXd::Constant(n_stations, noise_mgal)}));
  const auto smooth = std::make_shared<const inversion::objective::Regularization>(roughness(), start);

  // 3. The smoothest basin that fits
  inversion::optimize::GaussNewton optimizer(mpi.world(), {.stop = {.max_iterations = 20}});
  const auto summary = optimizer.minimize({forward, misfit, smooth}, start);
  const double error = (summary.model - true_model()).cwiseAbs().mean();
  core::log::info("{}; mean error of log10 thickness {:.3f}", summary.brief(), error);
  const bool found = summary.usable() && summary.rms < 1.1 && error < 0.1;
  return static_cast<int>(found ? core::ExitCode::ok : core::ExitCode::not_converged);
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] { return run(mpi); });
}
