// SPDX-License-Identifier: Apache-2.0
// What this shows: a learned prior from 120 to 480 km, alternating steps of cells and of codes, uncertainty.
//
// Equation: data = F(m) with m = decoded codes in the region, and cells elsewhere
//
// Sample run: learned data/samtex/edi_kim_eto data/kim_eto_prior/vae.h5 out/learned [SAMPLES [ITERATIONS]]
#include "io/run/program.hpp"
using namespace lodestone;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [&](MPI_Comm comm) {
    const auto observed =
        io::survey::observe(argc > 1 ? argv[1] : "data/samtex/edi_kim_eto", {.azimuth_deg = 329.5});
    auto problem = inversion::mt::problem(
        comm, observed,
        {.grid = {.n_columns = 120, .n_layers = 64, .first_layer_m = 2.0, .layer_factor = 1.146}});
    const auto network = io::model::read_network(argc > 2 ? argv[2] : "data/kim_eto_prior/vae.h5");
    problem.prior = {.regions = {{.decoder = network, .y_m = {120e3, 480e3}}}};
    const int samples = argc > 4 ? std::stoi(argv[4]) : 50, most = argc > 5 ? std::stoi(argv[5]) : 13;
    inversion::Inversion run(comm, problem, inversion::AlternatingOptions{.stop = {.max_iterations = most}});
    run.assess({.posterior = true, .ensemble = inversion::EnsembleOptions{.n_samples = samples}});
    return io::run::write(comm, argc > 3 ? argv[3] : "out/learned", run, run.minimize());
  });
}
