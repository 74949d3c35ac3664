// SPDX-License-Identifier: Apache-2.0
// The 2-D magnetotelluric simulation at the size of a long profile: 36 stations, 20 frequencies, TE and TM,
// 100 × 64 parameter cells. Sample run: bench_physics_mt2d        (half a minute; `mpirun -n 2
// bench_physics_mt2d` shares the frequencies)
#include "benchmarks/long_profile.hpp"
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/linalg/symmetric_solver.hpp"
#include "physics/mt/d2/cell_averages.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/mode_operator.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;

namespace {

struct Sizes {
  double largest = 0.0, total = 0.0;
};
Sizes unknowns(const mt::d2::MeshSet& meshes) {
  Sizes sizes;
  for (const auto& band : meshes.bands) {
    for (const mt::Mode mode : {mt::Mode::te, mt::Mode::tm}) {
      const double n = mt::d2::ModeOperator(mode, band).n_unknowns();
      sizes.largest = std::max(sizes.largest, n);
      sizes.total += n * static_cast<double>(band.frequencies.size());
    }
  }
  return sizes;
}

void forward_case(bench::Results& results, MPI_Comm comm, mt::d2::Accuracy accuracy,
                  const std::string& name) {
  const auto section = bench::long_section();
  mt::d2::MeshSet meshes;
  results.add_timed(name, "mesh design", [&] {
    meshes = mt::d2::design_meshes(section, bench::long_survey(), mt::d2::design_options(accuracy));
  });
  const Sizes sizes = unknowns(meshes);
  results.add({name, "unknowns of the largest problem", "", sizes.largest, {}, {}, {}});
  results.add({name, "unknowns, all frequencies and modes", "", sizes.total, {}, {}, {}});
  const auto simulation = mt::d2::data_map(comm, section.earth, bench::long_survey(), std::move(meshes));
  results.add_timed(name, "forward", [&] { (void)simulation->value(section.values); });
}

void jacobian_case(bench::Results& results, MPI_Comm comm, const bench::MachineRates& rates) {
  const std::string name = "linearize and Jacobian, iteration accuracy";
  const auto section = bench::long_section();
  const auto simulation =
      mt::d2::data_map(comm, section.earth, bench::long_survey(),
                       mt::d2::design_meshes(section, bench::long_survey(),
                                             mt::d2::design_options(mt::d2::Accuracy::iteration)));
  std::unique_ptr<core::Linearization> linearization;
  results.add_timed(name, "linearize", [&] { linearization = simulation->linearize(section.values); });
  (void)linearization->local_jacobian();  // the first one waits for fresh memory pages
  results.add_timed(name, "Jacobian (2880 × 6400)", [&] { (void)linearization->local_jacobian(); });
  const auto totals =
      bench::best_totals(5, [&] { (void)simulation->linearize(section.values)->local_jacobian(); });
  results.add_profile(name, totals, rates.zgemm_flops_per_s, rates.copy_bytes_per_s);
}

struct SolverCase {
  std::string name;
  mt::d2::Accuracy accuracy;
  mt::Mode mode;
  int refinements = 0;  ///< refinements of the designed mesh
};

/// Measures both direct solvers on the matrix of one mode and frequency in the middle of the band.
void solver_case(bench::Results& results, const SolverCase& task) {
  const auto section = bench::long_section();
  const auto survey = bench::long_survey();
  const auto meshes = mt::d2::design_meshes(section, survey, mt::d2::design_options(task.accuracy));
  auto band = meshes.bands[meshes.bands.size() / 2];
  for (int i = 0; i < task.refinements; ++i) band.mesh = band.mesh.refined();
  const mt::d2::ModeOperator problem(task.mode, band);
  const mt::d2::CellAverages averages(section.earth, band.mesh);
  const Eigen::MatrixXd properties = task.mode == mt::Mode::te ? averages.strike_conductivity(section.values)
                                                               : averages.section_resistivity(section.values);
  const auto values = problem.matrix(mt::omega(survey.frequencies_hz[band.frequencies.front()]), properties);
  const Eigen::MatrixXcd rhs = Eigen::MatrixXcd::Random(problem.n_unknowns(), bench::n_stations);

  const auto lines = (band.order == 1 ? linalg::make_line_solver : linalg::make_condensed_line_solver)(
      problem.pattern(), problem.line_size());
  const auto petsc = linalg::make_petsc_solver(problem.pattern());
  std::unique_ptr<linalg::Factorization> line_factors, petsc_factors;
  Eigen::MatrixXcd line_solution, petsc_solution;
  const double line_factorize = bench::best_cpu_seconds(3, [&] { line_factors = lines->factorize(values); });
  const double petsc_factorize =
      bench::best_cpu_seconds(3, [&] { petsc_factors = petsc->factorize(values); });
  const double line_solve = bench::best_cpu_seconds(3, [&] { line_solution = line_factors->solve(rhs); });
  const double petsc_solve = bench::best_cpu_seconds(3, [&] { petsc_solution = petsc_factors->solve(rhs); });
  const std::string peer = "PETSc sequential LU, nested dissection, same matrix";
  results.add({task.name, "unknowns", "", static_cast<double>(problem.n_unknowns()), {}, {}, {}});
  results.add({task.name, "unknowns per line", "", static_cast<double>(problem.line_size()), {}, {}, {}});
  results.add({task.name, "factorize", "s CPU", line_factorize, {}, peer, petsc_factorize});
  results.add({task.name, "solve 36 right-hand sides", "s CPU", line_solve, {}, peer, petsc_solve});
  results.add(
      {task.name, "numbers in the factors", "", line_factors->entries(), {}, peer, petsc_factors->entries()});
  results.add({task.name,
               "relative difference of the solutions",
               "",
               (line_solution - petsc_solution).norm() / petsc_solution.norm(),
               1e-8,
               {},
               {}});
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  session.start<PetscScope>();
  return session.run([&] {
    bench::Results results;
    const bench::MachineRates rates = bench::measure_rates();
    results.add({"machine, one core", "zgemm 512", "GFLOP/s", 1e-9 * rates.zgemm_flops_per_s, {}, {}, {}});
    results.add({"machine, one core", "copy", "GB/s", 1e-9 * rates.copy_bytes_per_s, {}, {}, {}});
    forward_case(results, mpi.world(), mt::d2::Accuracy::iteration, "forward, iteration accuracy");
    forward_case(results, mpi.world(), mt::d2::Accuracy::standard, "forward, standard accuracy");
    jacobian_case(results, mpi.world(), rates);
    for (const auto& [mode, word] : {std::pair{mt::Mode::te, "TE"}, std::pair{mt::Mode::tm, "TM"}}) {
      solver_case(results, {fmt::format("line solver, {}, iteration accuracy", word),
                            mt::d2::Accuracy::iteration, mode});
      solver_case(results, {fmt::format("line solver, {}, standard accuracy", word),
                            mt::d2::Accuracy::standard, mode});
      solver_case(results,
                  {fmt::format("line solver, {}, cells halved", word), mt::d2::Accuracy::standard, mode, 1});
      solver_case(results, {fmt::format("line solver, {}, cells quartered", word), mt::d2::Accuracy::standard,
                            mode, 2});
    }
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=physics");
    return 0;
  });
}
