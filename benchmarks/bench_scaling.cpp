// SPDX-License-Identifier: Apache-2.0
// Forward runs and Jacobians (each rank its rows, as inversions use them) of the long profile, forward runs
// and products of a volume, to be run on one rank, on several, and on several threads (benchmarks/run.py sets
// them side by side). Sample run: mpirun -n 2 bench_scaling (threads: OMP_NUM_THREADS=2 bench_scaling)
#include "benchmarks/long_profile.hpp"
#include "benchmarks/results.hpp"
#include "benchmarks/volume_scaling.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <sys/resource.h>
#include <vector>

using namespace lodestone;
using namespace lodestone::physics;

namespace {

/// The largest memory a process of this communicator has held, GB.
double peak_gb(MPI_Comm comm) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  double peak = 1e-6 * static_cast<double>(usage.ru_maxrss);
  MPI_Allreduce(MPI_IN_PLACE, &peak, 1, MPI_DOUBLE, MPI_MAX, comm);
  return peak;
}

struct Case {
  std::string name;
  mt::d2::Accuracy accuracy;
  std::optional<double> forward_target, jacobian_target;  ///< seconds on one rank
};

void measure(bench::Results& results, MPI_Comm comm, const Case& task) {
  const auto section = bench::long_section();
  const auto survey = bench::long_survey();
  const auto simulation =
      mt::d2::data_map(comm, section.earth, survey,
                       mt::d2::design_meshes(section, survey, mt::d2::design_options(task.accuracy)));
  const auto& x = section.values;
  results.add({task.name,
               "forward",
               "s",
               bench::seconds_together(comm, [&] { (void)simulation->value(x); }),
               task.forward_target,
               {},
               {}});
  results.add({task.name,
               "forward and Jacobian (2880 × 6400)",
               "s",
               bench::seconds_together(comm, [&] { (void)simulation->linearize(x)->local_jacobian(); }),
               task.jacobian_target,
               {},
               {}});
  results.add({task.name, "largest memory of a rank so far", "GB", peak_gb(comm), 1.5, {}, {}});
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  session.start<PetscScope>();
  return session.run([&] {
    bench::Results results;
    measure(results, mpi.world(), {"iteration accuracy", mt::d2::Accuracy::iteration, {}, {}});
    measure(results, mpi.world(), {"standard accuracy", mt::d2::Accuracy::standard, 2.0, 5.0});
    bench::measure_volume_scaling(results, mpi.world());
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=scaling");
    return 0;
  });
}
