// SPDX-License-Identifier: Apache-2.0
// What this shows: one program that reads a folder of EDI files, places and selects data, and inverts them.
// Equation:        the smoothest section whose responses fit TE data to their errors
// Sample runs:     03_invert_line data/samtex/edi_kim_eto
//                  03_invert_line nowhere    a folder that is not there
// Builds on:       02_layered_earth
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/inversion.hpp"
#include "inversion/mt/forward.hpp"
#include "io/geodesy/profile.hpp"
#include "io/survey/read.hpp"
#include "io/vtk/cells.hpp"
#include "physics/mt/grid_design.hpp"
#include "physics/mt/selection.hpp"

using namespace lodestone;
namespace mesh = physics::mesh;
namespace mt = physics::mt;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [&](MPI_Comm comm) {
    const auto stations = io::survey::read(argc > 1 ? argv[1] : "data/samtex/edi_kim_eto");
    const auto profile = io::geodesy::profile(stations, {.azimuth_deg = 329.5});
    const mt::ObservedData data = mt::select(stations, profile,
                                             {.data = {mt::datum("log10_rho_xy"), mt::datum("phase_xy")},
                                              .min_period_s = 0.01,
                                              .max_period_s = 100.0})
                                      .observed_data();

    const mesh::Earth earth{mt::design_grid(
        data, {.n_columns = 60, .n_layers = 36, .first_layer_m = 20.0, .layer_factor = 1.25})};
    const auto simulations =
        std::make_shared<const inversion::mt::Simulations>(comm, earth, inversion::mt::ForwardOptions{});
    inversion::Problem problem(earth, mt::data_set(data), inversion::mt::forward(simulations, data));
    problem.start = problem.reference = Eigen::VectorXd::Constant(earth.grid.n_cells(), 2.0);
    problem.roughness = {
        .horizontal_weight = 0.3, .depth_weight_exponent = 1.0, .horizontal_depth_exponent = -1.0};

    inversion::Inversion run(comm, problem,
                             inversion::GaussNewtonOptions{.max_iterations = 8, .target_rms = 8.0});
    run.add(inversion::iteration_table());
    const inversion::Outcome outcome = run.minimize();
    if (core::rank_of(comm) == 0) io::vtk::write_model_vtu("line.vtu", {earth, {}, outcome.model});
    return outcome.ending.code == core::ExitCode::ok ? 0 : 1;
  });
}
