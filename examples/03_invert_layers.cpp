// SPDX-License-Identifier: Apache-2.0
// What this shows: a whole inversion in twenty lines: an earth, data with errors and a map between them make
// a problem, which one call solves. 05_invert_sounding takes the same parts one by one.
//
// Equation: min ½‖(d − F(m))/σ‖² + ½λ‖R (m − m_ref)‖², m = log10 resistivity of 30 layers
//
// Sample run: 03_invert_layers
//
// Builds on: 01_two_layers
#include "engine/core/log.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/inversion.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <cmath>

using namespace lodestone;
namespace mt = physics::mt;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    constexpr int n_layers = 30;
    const physics::mesh::Earth earth{physics::mesh::TensorGrid::layers(50.0, 1.2, n_layers)};
    const auto& depth_m = earth.grid.z_edges_m();
    std::vector<double> thickness_m;
    for (int i = 0; i + 1 < n_layers; ++i) thickness_m.push_back(depth_m[i + 1] - depth_m[i]);
    const mt::Survey survey = mt::full_survey({{"site"}}, {100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01},
                                              {mt::datum("log10_rho_xy"), mt::datum("phase_xy")});
    const core::MapPtr map = mt::d1::data_map(thickness_m, survey);
    Eigen::VectorXd truth = Eigen::VectorXd::Constant(n_layers, 2.0);
    truth.segment(8, 7).setConstant(1.0);  // 10 ohm m between 0.8 and 3.6 km

    const core::DataSet data(core::DataSetParts{.observed = map->value(truth),
                                                .sigma = Eigen::VectorXd::Constant(map->size_out(), 0.02)});
    inversion::Problem problem(earth, data, inversion::fixed(map));
    problem.start = problem.reference = Eigen::VectorXd::Constant(n_layers, 2.0);
    problem.roughness = {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 50.0};
    const inversion::Outcome outcome = inversion::Inversion(comm, problem).minimize();

    core::log::info("{}\n\n{:>10} {:>12} {:>12}", outcome.ending.text, "depth_m", "rho_ohm_m", "true_ohm_m");
    for (int i = 0; i < n_layers; i += 3)
      core::log::info("{:>10.0f} {:>12.1f} {:>12.1f}", earth.grid.z_centre_m(i),
                      std::pow(10.0, outcome.model.values[i]), std::pow(10.0, truth[i]));
    return static_cast<int>(outcome.ending.code);
  });
}
