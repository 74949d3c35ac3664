// SPDX-License-Identifier: Apache-2.0
// The dense algebra of one Gauss–Newton step in data space: 6400 cells, 2600 data, a Jacobian of random
// numbers. Sample run: bench_inversion
#include "benchmarks/results.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/optimize/system.hpp"
#include "inversion/prior/roughness.hpp"

using namespace lodestone;

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    constexpr Eigen::Index n_data = 2600;
    const std::string name = "Gauss-Newton step, 6400 cells, 2600 data";
    bench::Results results;
    const bench::MachineRates rates = bench::measure_rates();
    results.add({"machine, one core", "dgemm 512", "GFLOP/s", 1e-9 * rates.dgemm_flops_per_s, {}, {}, {}});

    std::vector<double> y;
    for (int i = 0; i <= 100; ++i) y.push_back(7.9e3 * i);
    const physics::mesh::TensorGrid grid =
        physics::mesh::TensorGrid::section(std::move(y), physics::mesh::geometric_edges_m(2.0, 1.146, 64));
    const Eigen::VectorXd start = Eigen::VectorXd::Constant(grid.n_cells(), 2.0);
    const auto roughness = inversion::prior::roughness_operator(grid, {});
    std::unique_ptr<inversion::objective::Regularization> regularization;
    results.add_timed(name, "root of the covariance, once per run", [&] {
      regularization = std::make_unique<inversion::objective::Regularization>(roughness, start);
    });
    const auto forward =
        core::affine(Eigen::MatrixXd::Random(n_data, grid.n_cells()), Eigen::VectorXd::Random(n_data));
    const inversion::objective::DataMisfit misfit(
        core::DataSet({.observed = Eigen::VectorXd::Random(n_data), .sigma = Eigen::VectorXd::Ones(n_data)}));
    const core::Team team(mpi.world());
    const auto linearization = forward->linearize(start);
    const auto totals = bench::best_totals(3, [&] {
      const inversion::optimize::DataSpaceSystem system(team, *linearization, misfit, *regularization, start);
      (void)system.jump(system.scale());
    });
    results.add_profile(name, totals, rates.dgemm_flops_per_s, rates.copy_bytes_per_s);
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=inversion");
    return 0;
  });
}
