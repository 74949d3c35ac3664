// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/simulation.hpp"

#include "engine/core/blas_setup.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/mt/d2/simulation_impl.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/transform.hpp"
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

ModeProblem::ModeProblem(Mode mode, const BandMesh& band, SystemSolver system_solver,
                         const std::vector<Station>& stations)
    : problem(mode, band), solver(make_solver(system_solver, band.order, problem)) {
  for (const Station& station : stations) receivers.emplace_back(band, station);
}

Simulation::Impl::Impl(MPI_Comm comm_in, mesh::Earth earth_in, ResponseLayout layout_in,
                       std::vector<Station> stations_in, std::vector<double> frequencies_in,
                       MeshSet meshes_in, double most_kept_bytes_in)
    : comm(comm_in),
      rank(core::rank_of(comm_in)),
      earth(std::move(earth_in)),
      layout(std::move(layout_in)),
      stations(std::move(stations_in)),
      frequencies_hz(std::move(frequencies_in)),
      meshes(std::move(meshes_in)),
      most_kept_bytes(most_kept_bytes_in) {
  mesh::require_section(earth, "mt::d2::Simulation");
  check_layout();
  make_jobs();
  share_jobs();
  make_problems();
}

void Simulation::Impl::check_layout() const {
  Survey survey{stations, frequencies_hz, {}};
  for (const auto& [element, frequency, station] : layout.keys()) {
    if (!predicted_elements.contains(element))
      throw core::InvalidArgument("mt::d2::Simulation#not_predicted",
                                  "expected responses that a 2-D earth determines, Zxy, Zyx and Tzy, got {}",
                                  rule_of(element).name);
    survey.keys.push_back({real_part_of(element), frequency, station});
  }
  survey.validate();
}

void Simulation::Impl::make_jobs() {
  std::vector<int> band_of(frequencies_hz.size(), -1);
  for (std::size_t band = 0; band < meshes.bands.size(); ++band) {
    for (const int frequency : meshes.bands[band].frequencies) band_of.at(frequency) = static_cast<int>(band);
  }
  std::map<std::pair<int, Mode>, Job> by_frequency;
  for (std::size_t k = 0; k < layout.keys().size(); ++k) {
    const auto& [element, frequency, station] = layout.keys()[k];
    if (band_of[frequency] < 0) {
      throw core::InvalidArgument("mt::d2::Simulation#no_mesh",
                                  "no mesh for {} Hz; design the meshes for this survey",
                                  frequencies_hz[frequency]);
    }
    const Mode mode = rule_of(element).mode;
    Job& job = by_frequency[{frequency, mode}];
    job.band = band_of[frequency];
    job.frequency = frequency;
    job.mode = mode;
    job.responses.push_back(static_cast<int>(k));
  }
  place_of_response.resize(layout.keys().size());
  for (auto& [key, job] : by_frequency) {
    for (std::size_t i = 0; i < job.responses.size(); ++i)
      place_of_response[job.responses[i]] = {static_cast<int>(jobs.size()), static_cast<int>(i)};
    jobs.push_back(std::move(job));
  }
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
    core::log::warning(core::log::Id("mt::d2::simulation#idle_ranks"),
                       "{} ranks share {} (frequency, mode) pairs: {} ranks stay idle", n_ranks, jobs.size(),
                       n_ranks - static_cast<int>(jobs.size()));
  }
  std::vector<double> load(n_ranks, 0.0);
  owner_of_output.assign(static_cast<std::size_t>(layout.size()), 0);
  for (const std::size_t index : order) {
    Job& job = jobs[index];
    job.owner = static_cast<int>(std::min_element(load.begin(), load.end()) - load.begin());
    load[job.owner] += cost(job);
    for (const int response : job.responses)
      owner_of_output[2 * response] = owner_of_output[2 * response + 1] = job.owner;
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
        made = std::make_unique<ModeProblem>(mode, band, meshes.solver, stations);
      });
    if (const auto [place, is_new] = averages.try_emplace(job->band); is_new)
      parts.emplace_back(
          [this, &band, &made = place->second] { made = std::make_unique<CellAverages>(earth, band.mesh); });
  }
  core::parallel_for(std::ssize(parts), [&](std::ptrdiff_t i) { parts[i](); });
}

double Simulation::Impl::omega_of(const Job& job) const { return omega(frequencies_hz[job.frequency]); }

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
    core::TimerTotals::global().add_work("mt2d/factorize", solved.factors->flops(),
                                         16.0 * solved.factors->entries());
    ++counts.factorizations;
  }
  solved.field = parts.problem.field(solve_with(solved, parts.problem.right_hand_side(w, solved.properties)));
  if (!solved.field.allFinite()) {
    throw core::SolverError(
        "mt::d2::Simulation#field_not_finite",
        "the field at {} Hz is not finite; are the resistivities within {:g} … {:g} ohm m?",
        frequencies_hz[job.frequency], least_resistivity_ohm_m, largest_resistivity_ohm_m);
  }
  for (const int response : job.responses) {
    const ResponseKey& key = layout.keys()[response];
    const Transfer transfer = is_tipper(key.element) ? Transfer::tipper : Transfer::impedance;
    solved.transfers.push_back(
        parts.receivers[key.station].evaluate(transfer, parts.problem, w, solved.properties, solved.field));
  }
  return solved;
}

void Simulation::Impl::count(const SolvedJob& solved, Eigen::Index n_right_hand_sides) const {
  ++counts.solve_calls;
  counts.right_hand_sides += n_right_hand_sides;
  const double entries = solved.factors->entries();
  core::TimerTotals::global().add_work(solve_region(n_right_hand_sides),
                                       16.0 * entries * static_cast<double>(n_right_hand_sides),
                                       32.0 * entries);
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
  for (std::size_t i = 0; i < solved.transfers.size(); ++i) {
    const Eigen::Index row = 2 * solved.job->responses[i];
    outputs(row, 0) = solved.transfers[i].value.real();
    outputs(row + 1, 0) = solved.transfers[i].value.imag();
  }
}

Eigen::VectorXd Simulation::Impl::respond(const Eigen::VectorXd& resistivity, const TakeSolved& take) const {
  Eigen::MatrixXd outputs = Eigen::MatrixXd::Zero(layout.size(), 1);
  core::Worded failure;
  try {
    core::parallel_for(std::ssize(own_jobs), [&](std::ptrdiff_t i) {
      SolvedJob one = solve(*own_jobs[i], resistivity);
      write_outputs(one, outputs);
      if (take) take(i, std::move(one));
    });
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  core::throw_together(comm, failure);
  core::share_rows(comm, owner_of_output, outputs);
  return outputs.col(0);
}

Simulation::Simulation(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
                       std::vector<double> frequencies_hz, MeshSet meshes, double most_kept_bytes)
    : impl_(std::make_shared<Impl>(comm, std::move(earth), std::move(layout), std::move(stations),
                                   std::move(frequencies_hz), std::move(meshes), most_kept_bytes)) {}
Simulation::~Simulation() = default;

Eigen::Index Simulation::size_in() const { return impl_->earth.grid.n_cells(); }
Eigen::Index Simulation::size_out() const { return impl_->layout.size(); }
/// Returns one more than the handle, since that of the world is 0 in Open MPI, the number of serial maps. The
/// rank's own communicator is known before MPI is started too.
int Simulation::id_of(MPI_Comm comm) {
  return comm == MPI_COMM_SELF ? -1 : static_cast<int>(MPI_Comm_c2f(comm)) + 1;
}
int Simulation::communicator_id() const { return id_of(impl_->comm); }
const ResponseLayout& Simulation::layout() const { return impl_->layout; }
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

double Simulation::Impl::estimated_factor_bytes() const {
  double entries = 0.0;
  for (const Job* job : own_jobs) entries += estimated_entries(problem_of(*job).problem);
  return 16.0 * entries;
}

double Simulation::estimated_bytes() const {
  double jacobian = 0.0, largest = 0.0;
  for (const Job* job : impl_->own_jobs) {
    const auto rows = 2.0 * static_cast<double>(job->responses.size());
    jacobian += 8.0 * static_cast<double>(size_in()) * rows;
    largest = std::max(largest, factor_bytes(impl_->meshes.bands[job->band].mesh,
                                             impl_->meshes.bands[job->band].order, impl_->meshes.solver));
  }
  const double all = impl_->estimated_factor_bytes();
  return jacobian + (impl_->keeps_factors() ? all : std::min(all, core::threads() * largest));
}

namespace {

void check_resistivities(const Eigen::VectorXd& resistivity, int n_z, int n_y) {
  Eigen::Index worst = 0;
  if (const double least = resistivity.minCoeff(&worst); !(least > 0.0)) {
    throw core::InvalidArgument(
        "mt::d2::Simulation#resistivity_not_positive",
        "expected positive resistivities, got {} ohm m in row {}, column {} of {} × {}", least, worst / n_y,
        worst % n_y, n_z, n_y);
  }
}

}  // namespace

Eigen::VectorXd Simulation::do_value(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid.n_z(), impl_->earth.grid.n_y());
  return impl_->respond(x, {});
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid.n_z(), impl_->earth.grid.n_y());
  return linearization_of(impl_, x);
}

std::shared_ptr<const Simulation> simulation_of(MPI_Comm comm, mesh::Earth earth, const Survey& survey,
                                                MeshSet meshes) {
  require_predictable(survey, Simulation::predicted_elements);
  return std::make_shared<const Simulation>(comm, std::move(earth),
                                            needed_responses(survey, Simulation::predicted_elements),
                                            survey.stations, survey.frequencies_hz, std::move(meshes));
}

core::MapPtr data_map(std::shared_ptr<const Simulation> simulation, const Survey& survey) {
  const ResponseLayout& layout = simulation->layout();
  return mt::data_map(std::move(simulation), layout, survey);
}

core::MapPtr data_map(MPI_Comm comm, mesh::Earth earth, const Survey& survey, MeshSet meshes) {
  return data_map(simulation_of(comm, std::move(earth), survey, std::move(meshes)), survey);
}

}  // namespace lodestone::physics::mt::d2
