// SPDX-License-Identifier: Apache-2.0
// Our side of the comparison with other programs (peers.py): impedances and Jacobian of COMMEMI 2D-1, each
// mode and period by itself, with cells of several sizes. Prints one row per number; the case is "TE 0.1 s,
// cells × 1.4". Sample run: bench_peers
#include "apps/mt_invert/selftest/selftest.hpp"
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

using namespace lodestone;
using namespace lodestone::physics;

namespace {

constexpr const char* benchmark = "commemi2d1";
constexpr int repeats = 3;

using ByPlace = std::map<double, double>;  // y in m → apparent resistivity in ohm m
using Reference = std::map<std::pair<std::string, double>, ByPlace>;  // of mode and period in s

/// The apparent resistivities of the reference where it is judged.
Reference read_reference(const mt::benchmarks::PublishedModel& model) {
  const core::Table table = mt_invert::selftest::benchmark_table(benchmark);
  const auto& modes = table.texts("mode");
  const auto &y_m = table.numbers("y_m"), &period_s = table.numbers("period_s"),
             &rho_ohm_m = table.numbers("rho_a_ohm_m");
  Reference reference;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (!model.is_at_contact(y_m[i])) reference[{modes[i], period_s[i]}][y_m[i]] = rho_ohm_m[i];
  }
  return reference;
}

/// One mode and period, and the cells it is solved with.
struct Task {
  std::string mode;
  double period_s;
  const ByPlace& reference;
  double coarsen;
  [[nodiscard]] std::string name() const {
    return fmt::format("{} {:g} s, cells × {:g}", mode, period_s, coarsen);
  }
};

mt::Survey survey_of(const Task& task) {
  std::vector<mt::Station> stations;
  for (const auto& [y_m, ignored] : task.reference)
    stations.push_back({.name = fmt::format("y{:g}", y_m), .y_m = y_m});
  const std::vector<mt::Datum> te{mt::Datum::zxy_re, mt::Datum::zxy_im},
      tm{mt::Datum::zyx_re, mt::Datum::zyx_im};
  return mt::full_survey(std::move(stations), {1.0 / task.period_s}, task.mode == "TE" ? te : tm);
}

mt::d2::MeshSet meshes_of(const mesh::Model& section, const mt::Survey& survey, const Task& task) {
  auto options = mt::d2::design_options(mt::d2::Accuracy::standard);
  options.coarsen = task.coarsen;
  return mt::d2::design_meshes(section, survey, options);
}

/// Returns the largest relative deviation of apparent resistivity from the reference.
double deviation(const Task& task, const Eigen::VectorXd& impedances) {
  double worst = 0.0;
  Eigen::Index station = 0;
  for (const auto& [y_m, rho] : task.reference) {
    const mt::Complex z(impedances[station], impedances[station + impedances.size() / 2]);
    worst = std::max(worst, std::abs(mt::apparent_resistivity_ohm_m(z, 1.0 / task.period_s) / rho - 1.0));
    ++station;
  }
  return worst;
}

/// Measures all from the section to the impedances: mesh design, simulation, forward run.
void forward_case(bench::Results& results, MPI_Comm comm, const mesh::Model& section, const Task& task) {
  const auto survey = survey_of(task);
  Eigen::VectorXd impedances;
  const double seconds = bench::best_cpu_seconds(repeats, [&] {
    const auto simulation = mt::d2::data_map(comm, section.earth, survey, meshes_of(section, survey, task));
    impedances = simulation->value(section.values);
  });
  results.add({task.name(),
               "largest deviation of apparent resistivity",
               "%",
               100.0 * deviation(task, impedances),
               {},
               {},
               {}});
  results.add({task.name(), "model to impedances", "s CPU", seconds, {}, {}, {}});
}

/// Returns that earth on the parameter grid of the Jacobian, as in peer_simpeg.py: 30 columns of
/// 200 m, 20 rows of 125 m, the body on its lines.
mesh::Model in_cells() {
  std::vector<double> y, z;
  for (int i = 0; i <= 30; ++i) y.push_back(-3100.0 + 200.0 * i);
  for (int i = 0; i <= 20; ++i) z.push_back(125.0 * i);
  mesh::TensorGrid grid = mesh::TensorGrid::section(std::move(y), std::move(z), mesh::DepthReference::datum);
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      const double z_m = grid.z_centre_m(iz);
      if (std::abs(grid.y_centre_m(iy)) < 500.0 && z_m > 250.0 && z_m < 2250.0)
        resistivity[grid.index(iz, iy)] = 0.5;
    }
  }
  return mesh::resistivity_model({std::move(grid)}, std::move(resistivity));
}

/// Measures all from the section in cells to impedances and their derivatives.
void jacobian_case(bench::Results& results, MPI_Comm comm, const mesh::Model& section, const Task& task) {
  const auto survey = survey_of(task);
  Eigen::MatrixXd jacobian;
  const double seconds = bench::best_cpu_seconds(repeats, [&] {
    const auto simulation = mt::d2::data_map(comm, section.earth, survey, meshes_of(section, survey, task));
    jacobian = simulation->linearize(section.values)->jacobian();
  });
  results.add({task.name(), "model to Jacobian", "s CPU", seconds, {}, {}, {}});
  results.add({task.name(),
               "norm of dZ/d ln rho",
               "ohm",
               (jacobian * section.values.asDiagonal()).norm(),
               {},
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
    const auto model = mt_invert::selftest::benchmark_model(benchmark);
    const auto cells = in_cells();
    for (const auto& [problem, reference] : read_reference(model)) {
      for (const double coarsen : {0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.4, 2.8, 3.4, 4.0}) {
        const Task task{problem.first, problem.second, reference, coarsen};
        forward_case(results, mpi.world(), model.section, task);
        jacobian_case(results, mpi.world(), cells, task);
      }
    }
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=peers");
    return 0;
  });
}
