// SPDX-License-Identifier: Apache-2.0
// Component models_study: one inversion of the impedances of a half-space, in cells.
#include "engine/core/mpi/mpi_scope.hpp"
#include "models/study/study.hpp"

using namespace lodestone;
namespace study = models::study;

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm) {
    const study::Domain domain(study::light_cells);
    const study::SyntheticSurvey survey{.n_stations = 2, .n_frequencies = 2};
    const Eigen::VectorXd truth = Eigen::VectorXd::Constant(domain.grid().n_cells(), 2.0);
    const Eigen::VectorXd impedances =
        study::true_impedances(domain.section(truth), survey, physics::mt::d2::Accuracy::iteration);
    const study::SyntheticData data = study::noisy_data(survey, impedances, 0.0, 1);
    const bool is_half_space = (data.clean.array() - 2.0).abs().minCoeff() < 0.01;
    return is_half_space && data.misfit().rms(data.clean) < 1e-9 ? 0 : 1;
  });
}
