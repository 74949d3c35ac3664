// SPDX-License-Identifier: Apache-2.0
// What this shows: a physics of one's own, a DC sounding, from a CSV file to result.h5 and report.
//
// Equation: log10 apparent resistivity = dc::Simulation(log10 resistivity of 42 layers)
//
// Sample run: sounding sounding.csv out/dc
#include "dc/simulation.hpp"
#include "io/run/program.hpp"
using namespace lodestone;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [&](MPI_Comm comm) {
    const std::string folder = argc > 2 ? argv[2] : "out/dc";
    const core::Table readings = io::csv::read_table(argc > 1 ? argv[1] : "sounding.csv");
    const physics::mesh::Earth earth{physics::mesh::TensorGrid::layers(1.5, 1.19, 42)};
    const auto map =
        std::make_shared<dc::Simulation>(dc::thickness_of(earth.grid.z_edges_m()), dc::survey_of(readings));
    inversion::Problem problem(earth, core::DataSet(readings, "log10_rho_a", "sigma"), inversion::fixed(map));
    problem.start = problem.reference = Eigen::VectorXd::Constant(42, 2.0);
    problem.roughness = {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 1.5};
    inversion::Inversion run(comm, problem, inversion::GaussNewtonOptions{});
    run.keep(io::hdf5::store(folder + "/checkpoint.h5"));  // resumes from it if it exists
    return io::run::write(comm, folder, run, run.minimize());
  });
}
