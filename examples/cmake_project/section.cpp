// SPDX-License-Identifier: Apache-2.0
// What this shows: a section from a folder of EDI files, with its result.h5, ParaView files and report.
//
// Equation: the smoothest section whose responses fit TE data to 1.2 of their errors
//
// Sample run: section data/samtex/edi_kim_eto out/kim_eto [MAX_ITERATIONS]
#include "io/run/program.hpp"
using namespace lodestone;
namespace mt = physics::mt;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [&](MPI_Comm comm) {
    const auto stations = io::survey::read(argc > 1 ? argv[1] : "data/samtex/edi_kim_eto");
    const auto profile = io::geodesy::profile(stations, {.azimuth_deg = 329.5, .origin = "kim438"});
    const auto observed = mt::select(stations, profile, {.data = mt::rho_and_phase, .modes = {mt::Mode::te}});
    const auto problem = inversion::mt::problem(comm, observed, {.dimension = 2, .grid = {.n_columns = 120}});
    const int most = argc > 3 ? std::stoi(argv[3]) : 20;
    inversion::Inversion run(
        comm, problem, inversion::GaussNewtonOptions{.stop = {.max_iterations = most, .target_rms = 1.2}});
    run.add(inversion::iteration_table);
    return io::run::write(comm, argc > 2 ? argv[2] : "out/kim_eto", run, run.minimize());
  });
}
