// SPDX-License-Identifier: Apache-2.0
// Component inversion_mt: the forward side of a two-dimensional problem, simulated once.
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/mt/forward.hpp"

using namespace lodestone;
namespace mt = physics::mt;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    const auto grid = physics::mesh::TensorGrid::section({-1000.0, 0.0, 1000.0}, {0.0, 500.0, 2000.0});
    mt::Observations data{.survey = mt::full_survey({{"a", 0.0}}, {10.0}, {mt::datum("log10_rho_xy")})};
    data.value = Eigen::VectorXd::Constant(1, 2.0);
    data.sigma = Eigen::VectorXd::Constant(1, 0.05);
    data.reason = {mt::MaskReason::kept};
    data.interpolated = {0};
    const auto simulations = std::make_shared<const inversion::mt::Simulations<inversion::mt::Sections>>(
        comm, physics::mesh::Earth{grid}, inversion::mt::ForwardOptions{});
    const inversion::Forward forward = inversion::mt::forward(simulations, data);
    const Eigen::VectorXd model = Eigen::VectorXd::Constant(grid.n_cells(), 2.0);
    const double predicted = forward.results.design(model)->value(Eigen::VectorXd::Constant(4, 100.0))[0];
    return std::abs(predicted - 2.0) < 0.01 ? 0 : 1;
  });
}
