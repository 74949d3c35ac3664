// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/simulation.hpp"

#include "engine/core/blas_setup.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/mt/d2/simulation_impl.hpp"
#include "physics/mt/resistivity_range.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

namespace lodestone::physics::mt::d2 {

namespace {

std::unique_ptr<linalg::SymmetricSolver> make_solver(SystemSolver solver, int order,
                                                     const ModeOperator& problem) {
  if (solver == SystemSolver::petsc) return linalg::make_petsc_solver(problem.pattern());
  return order == 1 ? linalg::make_line_solver(problem.pattern(), problem.line_size())
                    : linalg::make_condensed_line_solver(problem.pattern(), problem.line_size());
}

}  // namespace

ModeProblem::ModeProblem(Mode mode, const BandMesh& band, SystemSolver system_solver, const Survey& survey)
    : problem(mode, band), solver(make_solver(system_solver, band.order, problem)) {
  for (const Station& station : survey.stations) receivers.emplace_back(band, station);
}

Simulation::Impl::Impl(MPI_Comm comm_in, mesh::Earth earth_in, Survey survey_in, MeshSet meshes_in)
    : comm(comm_in),
      rank(core::rank_of(comm_in)),
      earth(std::move(earth_in)),
      survey(std::move(survey_in)),
      meshes(std::move(meshes_in)) {
  mesh::require_section(earth, "mt::d2::Simulation");
  survey.validate();
  make_jobs();
  share_jobs();
  make_problems();
}

namespace {

/// errors: InvalidArgument when a field along or across strike has no such element.
Element predicted_element(Datum datum) {
  constexpr Elements predicted{Element::zxy, Element::zyx, Element::tzy};
  const DatumRule& rule = rule_of(datum);
  if (!predicted.contains(rule.needs) || !rule.needs.single()) {
    throw core::InvalidArgument("mt::d2::Simulation",
                                "expected data of Zxy, Zyx or Tzy, which a 2-D earth determines, but got {}",
                                rule.name);
  }
  return element_of(rule);
}

}  // namespace

void Simulation::Impl::make_jobs() {
  std::vector<int> band_of(survey.frequencies_hz.size(), -1);
  for (std::size_t band = 0; band < meshes.bands.size(); ++band) {
    for (const int frequency : meshes.bands[band].frequencies) band_of.at(frequency) = static_cast<int>(band);
  }
  std::map<std::pair<int, Mode>, Job> by_frequency;
  for (std::size_t row = 0; row < survey.keys.size(); ++row) {
    const DatumKey& key = survey.keys[row];
    if (band_of[key.frequency] < 0) {
      throw core::InvalidArgument("mt::d2::Simulation",
                                  "no mesh for {} Hz; design the meshes for this survey",
                                  survey.frequencies_hz[key.frequency]);
    }
    const Element element = predicted_element(key.quantity);
    Job& job = by_frequency[{key.frequency, mode_of(key.quantity)}];
    job.band = band_of[key.frequency];
    job.frequency = key.frequency;
    job.mode = mode_of(key.quantity);
    const std::pair<int, Transfer> transfer{key.station,
                                            is_tipper(element) ? Transfer::tipper : Transfer::impedance};
    const auto found = std::find(job.transfers.begin(), job.transfers.end(), transfer);
    job.keys.emplace_back(static_cast<int>(row), static_cast<int>(found - job.transfers.begin()));
    if (found == job.transfers.end()) job.transfers.push_back(transfer);
  }
  for (auto& [key, job] : by_frequency) jobs.push_back(std::move(job));
}

void Simulation::Impl::share_jobs() {
  // Largest job first to the rank with the least work so far; a factorization costs (rows)³ per line.
  const auto cost = [this](const Job& job) {
    const auto& [mesh, order] = std::tie(meshes.bands[job.band].mesh, meshes.bands[job.band].order);
    const double rows = order * (job.mode == Mode::te ? mesh.n_z() : mesh.n_earth() + mesh.n_sea());
    return rows * rows * (rows + 60.0) * order * mesh.n_y();
  };
  std::vector<std::size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cost(jobs[a]) > cost(jobs[b]); });
  const int n_ranks = core::size_of(comm);
  if (n_ranks > static_cast<int>(jobs.size())) {
    core::log::warning("{} ranks share {} (frequency, mode) pairs: {} ranks stay idle", n_ranks, jobs.size(),
                       n_ranks - static_cast<int>(jobs.size()));
  }
  std::vector<double> load(n_ranks, 0.0);
  owner_of_output.assign(survey.keys.size(), 0);
  for (const std::size_t index : order) {
    Job& job = jobs[index];
    job.owner = static_cast<int>(std::min_element(load.begin(), load.end()) - load.begin());
    load[job.owner] += cost(job);
    for (const auto& [row, transfer] : job.keys) owner_of_output[row] = job.owner;
    if (job.owner == rank) own_jobs.push_back(&job);
  }
}

void Simulation::Impl::make_problems() {
  const core::ScopedTimer timer("mt2d/set up");
  core::prepare_blas();
  std::vector<std::function<void()>> parts;
  for (const Job* job : own_jobs) {
    const BandMesh& band = meshes.bands[job->band];
    if (const auto [place, is_new] = problems.try_emplace({job->band, job->mode}); is_new)
      parts.emplace_back([this, &band, mode = job->mode, &made = place->second] {
        made = std::make_unique<ModeProblem>(mode, band, meshes.solver, survey);
      });
    if (const auto [place, is_new] = averages.try_emplace(job->band); is_new)
      parts.emplace_back(
          [this, &band, &made = place->second] { made = std::make_unique<CellAverages>(earth, band.mesh); });
  }
  core::parallel_for(std::ssize(parts), [&](std::ptrdiff_t i) { parts[i](); });
}

double Simulation::Impl::omega_of(const Job& job) const {
  return omega(survey.frequencies_hz[job.frequency]);
}

namespace {
const char* solve_region(Eigen::Index n_right_hand_sides) {
  return n_right_hand_sides == 1 ? "mt2d/solve one" : "mt2d/solve many";
}
}  // namespace

SolvedJob Simulation::Impl::solve(const Job& job, const Eigen::VectorXd& resistivity) const {
  const ModeProblem& parts = problem_of(job);
  const CellAverages& average = averages_of(job);
  const double w = omega_of(job);
  SolvedJob solved;
  solved.job = &job;
  std::vector<Complex> matrix;
  {
    const core::ScopedTimer timer("mt2d/assemble");
    solved.properties = job.mode == Mode::te ? average.strike_conductivity(resistivity)
                                             : average.section_resistivity(resistivity);
    matrix = parts.problem.matrix(w, solved.properties);
  }
  {
    const core::ScopedTimer timer("mt2d/factorize");
    solved.factors = parts.solver->factorize(matrix);
    core::Timeline::global().add_work("mt2d/factorize", solved.factors->flops(),
                                      16.0 * solved.factors->entries());
    ++counts.factorizations;
  }
  solved.field = parts.problem.field(solve_with(solved, parts.problem.right_hand_side(w, solved.properties)));
  if (!solved.field.allFinite()) {
    throw core::SolverError(
        "mt::d2::Simulation",
        "the field at {} Hz is not finite; are the resistivities within {:g} … {:g} ohm m?",
        survey.frequencies_hz[job.frequency], least_resistivity_ohm_m, largest_resistivity_ohm_m);
  }
  for (const auto& [station, transfer] : job.transfers) {
    solved.transfers.push_back(
        parts.receivers[station].evaluate(transfer, parts.problem, w, solved.properties, solved.field));
  }
  return solved;
}

void Simulation::Impl::count(const SolvedJob& solved, Eigen::Index n_right_hand_sides) const {
  ++counts.solve_calls;
  counts.right_hand_sides += n_right_hand_sides;
  const double entries = solved.factors->entries();
  core::Timeline::global().add_work(solve_region(n_right_hand_sides),
                                    16.0 * entries * static_cast<double>(n_right_hand_sides), 32.0 * entries);
}

Eigen::MatrixXcd Simulation::Impl::solve_with(const SolvedJob& solved,
                                              const Eigen::MatrixXcd& right_hand_sides) const {
  const core::ScopedTimer timer(solve_region(right_hand_sides.cols()));
  count(solved, right_hand_sides.cols());
  return solved.factors->solve(right_hand_sides);
}

Eigen::MatrixXcd Simulation::Impl::adjoints_with(const SolvedJob& solved, Eigen::MatrixXcd sources) const {
  const core::ScopedTimer timer(solve_region(sources.rows()));
  count(solved, sources.rows());
  return solved.factors->solve_rows(std::move(sources));
}

void Simulation::Impl::write_outputs(const SolvedJob& solved, Eigen::MatrixXd& outputs) const {
  for (const auto& [row, transfer] : solved.job->keys) {
    outputs(row, 0) =
        value_of(rule_of(survey.keys[row].quantity), solved.transfers[transfer].value, omega_of(*solved.job));
  }
}

Eigen::VectorXd Simulation::Impl::respond(const Eigen::VectorXd& resistivity,
                                          std::vector<SolvedJob>* solved) const {
  Eigen::MatrixXd outputs = Eigen::MatrixXd::Zero(std::ssize(survey.keys), 1);
  if (solved != nullptr) solved->resize(own_jobs.size());
  std::string failure;
  try {
    core::parallel_for(std::ssize(own_jobs), [&](std::ptrdiff_t i) {
      SolvedJob one = solve(*own_jobs[i], resistivity);
      write_outputs(one, outputs);
      if (solved != nullptr) (*solved)[i] = std::move(one);
    });
  } catch (const core::SolverError& error) {
    failure = error.what();
  }
  core::throw_together(comm, failure);
  core::share_rows(comm, owner_of_output, outputs);
  return outputs.col(0);
}

Simulation::Simulation(MPI_Comm comm, mesh::Earth earth, Survey survey, MeshSet meshes)
    : impl_(std::make_shared<Impl>(comm, std::move(earth), std::move(survey), std::move(meshes))) {}
Simulation::~Simulation() = default;

Eigen::Index Simulation::size_in() const { return impl_->earth.grid.n_cells(); }
Eigen::Index Simulation::size_out() const { return static_cast<Eigen::Index>(impl_->survey.keys.size()); }
int Simulation::communicator_id() const { return static_cast<int>(MPI_Comm_c2f(impl_->comm)); }
const Survey& Simulation::survey() const { return impl_->survey; }
const MeshSet& Simulation::meshes() const { return impl_->meshes; }
SolveCounts Simulation::counts() const {
  return {impl_->counts.factorizations, impl_->counts.solve_calls, impl_->counts.right_hand_sides};
}

/// Numbers in the factors of one system: whole lines, or what nested dissection fills in (31/4 n log2 n for L
/// and U of a square mesh). source: George 1973, doi:10.1137/0710032.
double Simulation::Impl::estimated_entries(const ModeOperator& problem) const {
  const double n = problem.n_unknowns();
  return meshes.solver == SystemSolver::petsc ? 31.0 / 4.0 * n * std::log2(n) : n * problem.line_size();
}

double Simulation::estimated_bytes() const {
  double total = 0.0;
  for (const Job* job : impl_->own_jobs) {
    const ModeOperator& problem = impl_->problem_of(*job).problem;
    total += 16.0 * impl_->estimated_entries(problem);  // a linearization keeps every factorization
    total += 8.0 * static_cast<double>(size_in()) * static_cast<double>(job->keys.size());
  }
  return total;
}

namespace {

void check_resistivities(const Eigen::VectorXd& resistivity, int n_z, int n_y) {
  Eigen::Index worst = 0;
  if (const double least = resistivity.minCoeff(&worst); !(least > 0.0)) {
    throw core::InvalidArgument(
        "mt::d2::Simulation", "expected positive resistivities, got {} ohm m in row {}, column {} of {} × {}",
        least, worst / n_y, worst % n_y, n_z, n_y);
  }
}

}  // namespace

Eigen::VectorXd Simulation::do_value(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid.n_z(), impl_->earth.grid.n_y());
  return impl_->respond(x, nullptr);
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid.n_z(), impl_->earth.grid.n_y());
  return linearization_of(impl_, x);
}

}  // namespace lodestone::physics::mt::d2
