// SPDX-License-Identifier: Apache-2.0
// Symbols: u the circulation of the total field, u₀ that of layers, w_B what the boundary carries beyond it.
// With M₀ the masses of the layers (K + iωμ₀M₀)u₀ = 0, and A w = −iωμ₀(M − M₀)u₀ − K w_B inside.
#include "physics/mt/d3/simulation.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/fem/edge_operator.hpp"
#include "physics/mt/d3/cost.hpp"
#include "physics/mt/d3/extrapolation.hpp"
#include "physics/mt/d3/simulation_impl.hpp"
#include "physics/mt/ranges.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace lodestone::physics::mt::d3 {

namespace {

/// Returns the resistivities of a layer of cells. shape: (n_x, n_y).
Eigen::MatrixXd resistivity_of(const fem::EdgeGrid& grid, int layer, const Eigen::VectorXd& conductivities) {
  return Eigen::MatrixXd::NullaryExpr(grid.n(0), grid.n(1), [&](Eigen::Index i, Eigen::Index j) {
    return 1.0 / conductivities[grid.cell(static_cast<int>(i), static_cast<int>(j), layer)];
  });
}

}  // namespace

BandProblem::BandProblem(const mesh::Earth& earth, const BandMesh& band, const std::vector<Station>& stations,
                         const Eigen::VectorXd& design_resistivity)
    : grid(std::make_shared<const fem::EdgeGrid>(band.grid)),
      ground(band.ground()),
      averages(earth, band.grid),
      layered_resistivity(d3::layered_resistivity(earth.grid, design_resistivity)) {
  if (band.has_relief()) {
    relief = std::make_shared<const fem::ReliefOperator>(fem::ReliefGrid(band.grid, band.node_z_m));
    cell_averages.emplace(earth, relief->grid(), ground);
  } else {
    layered_masses = averages.masses(layered_resistivity);
  }
  const Eigen::VectorXd cells = relief != nullptr ? cell_averages->conductivities(design_resistivity)
                                                  : averages.cell_conductivities(design_resistivity);
  const Eigen::MatrixXd below = resistivity_of(*grid, ground, cells);
  const auto water = relief != nullptr ? water_on(earth, relief->grid(), ground) : Water();
  const auto interpolation = band.is_linear ? Interpolation::linear : Interpolation::cubic;
  for (const Station& station : stations) {
    if (relief != nullptr)
      receivers.emplace_back(relief->grid(), ground, station, below, water, interpolation);
    else
      receivers.emplace_back(*grid, ground, station, below, interpolation);
  }
}

core::SparseRows BandProblem::derivative(const Eigen::VectorXd& resistivity) const {
  return relief != nullptr ? cell_averages->derivative(resistivity) : averages.mass_derivative(resistivity);
}

Eigen::VectorXcd BandProblem::mass_change_times(const Eigen::VectorXd& change,
                                                const Eigen::VectorXcd& circulation) const {
  if (relief != nullptr) return fem::product(relief->mass_matrix(change), circulation);
  return change.cwiseProduct(circulation);
}

Eigen::VectorXcd BandProblem::mass_products(const Eigen::VectorXcd& u, const Eigen::VectorXcd& v) const {
  return relief != nullptr ? relief->cell_products(u, v) : Eigen::VectorXcd(u.cwiseProduct(v));
}

Simulation::Impl::Impl(MPI_Comm comm_in, mesh::Earth earth_in, ResponseLayout layout_in,
                       std::vector<Station> stations_in, std::vector<double> frequencies_in,
                       MeshSet meshes_in, const SimulationOptions& options_in)
    : comm(comm_in),
      rank(core::rank_of(comm_in)),
      earth(std::move(earth_in)),
      layout(std::move(layout_in)),
      stations(std::move(stations_in)),
      references(references_of(stations)),
      frequencies_hz(std::move(frequencies_in)),
      meshes(std::move(meshes_in)),
      options(options_in),
      warned(frequencies_hz.size()) {
  check();
  make_units();
  share_units();
  make_bands();
  make_boundaries();
}

void Simulation::Impl::check() const {
  require_volume(earth, "mt::d3::Simulation");
  for (const BandMesh& band : meshes.bands) {
    if (!band.has_relief() && (!earth.surface.is_flat() || earth.sea))
      throw core::InvalidArgument("mt::d3::Simulation#level_mesh",
                                  "expected meshes whose nodes follow the surface between {} m and {} m{}, "
                                  "got level ones; design the "
                                  "meshes for this earth",
                                  earth.surface.highest_m(), earth.surface.lowest_m(),
                                  earth.sea ? " and fill the sea" : "");
  }
  if (meshes.design_resistivity_ohm_m.size() != earth.grid.n_cells())
    throw core::ShapeError("mt::d3::Simulation#wrong_design", "expected meshes designed for {} cells, got {}",
                           earth.grid.n_cells(), meshes.design_resistivity_ohm_m.size());
  Survey survey{stations, frequencies_hz, {}};
  for (const auto& [element, frequency, station] : layout.keys())
    survey.keys.push_back({real_part_of(element), frequency, station});
  survey.validate();
}

double Simulation::Impl::omega_of(int frequency) const { return omega(frequencies_hz[frequency]); }

void Simulation::Impl::make_units() {
  std::vector<int> band_of(frequencies_hz.size(), -1);
  for (std::size_t band = 0; band < meshes.bands.size(); ++band) {
    for (const int frequency : meshes.bands[band].frequencies) band_of.at(frequency) = static_cast<int>(band);
  }
  std::set<int> frequencies;
  for (const ResponseKey& key : layout.keys()) frequencies.insert(key.frequency);
  first_unit_.assign(frequencies_hz.size(), -1);
  for (const int frequency : frequencies) {
    if (band_of[frequency] < 0)
      throw core::InvalidArgument("mt::d3::Simulation#no_mesh",
                                  "no mesh for {} Hz; design the meshes for this survey",
                                  frequencies_hz[frequency]);
    first_unit_[frequency] = static_cast<int>(units.size());
    for (const Polarization polarization : {Polarization::x, Polarization::y})
      units.push_back({.band = band_of[frequency], .frequency = frequency, .polarization = polarization});
  }
}

int Simulation::Impl::unit_of(int frequency, Polarization polarization) const {
  return first_unit_[frequency] + static_cast<int>(polarization);
}

void Simulation::Impl::share_units() {
  const int n_ranks = core::size_of(comm), n_units = static_cast<int>(units.size());
  if (n_ranks > n_units)
    core::log::warning(core::log::Id("mt::d3::simulation#idle_ranks"),
                       "{} ranks share {} (frequency, polarization) pairs: {} ranks stay idle", n_ranks,
                       n_units, n_ranks - n_units);
  std::vector<double> work;
  for (const Unit& unit : units) work.push_back(static_cast<double>(meshes.bands[unit.band].grid.n_edges()));
  const std::vector<int> owners = owners_of(work, n_ranks);
  std::vector<int> own;
  for (int unit = 0; unit < n_units; ++unit) {
    units[unit].owner = owners[unit];
    if (owners[unit] == rank) own.push_back(unit);
  }
  std::ranges::stable_sort(own, std::ranges::greater(), [&](int unit) { return work[unit]; });
  for (const int unit : own) {
    const bool is_same = !own_jobs.empty() && own_jobs.back().frequency == units[unit].frequency;
    if (!is_same) own_jobs.push_back({units[unit].band, units[unit].frequency, {}});
    own_jobs.back().units.push_back(unit);
  }
}

void Simulation::Impl::make_bands() {
  const core::ScopedTimer timer("mt3d/set up");
  for (const Job& job : own_jobs) {
    auto& band = bands[job.band];
    if (band == nullptr)
      band = std::make_unique<const BandProblem>(earth, meshes.bands[job.band], stations,
                                                 meshes.design_resistivity_ohm_m);
  }
}

void Simulation::Impl::make_boundaries() {
  const core::ScopedTimer timer("mt3d/boundary");
  std::vector<int> own;
  for (const Job& job : own_jobs) own.insert(own.end(), job.units.begin(), job.units.end());
  core::parallel_for(std::ssize(own), [&](std::ptrdiff_t i) {
    Unit& unit = units[own[i]];
    const BandProblem& band = *bands.at(unit.band);
    const double w = omega_of(unit.frequency);
    if (band.relief != nullptr) {
      const Eigen::VectorXd cells = band.cell_averages->conductivities(meshes.design_resistivity_ohm_m);
      unit.boundary = boundary_field(band.relief->grid(), cells, w, unit.polarization);
      unit.boundary_source = -band.relief->curl_curl(unit.boundary);
      fem::clear_boundary_edges(*band.grid, unit.boundary_source);
      return;
    }
    unit.layered = layered_field(*band.grid, band.layered_masses, w, unit.polarization);
    unit.boundary = boundary_difference(earth, meshes.design_resistivity_ohm_m, band.layered_resistivity,
                                        *band.grid, w, unit.polarization);
    unit.boundary_source = -fem::curl_curl(*band.grid, unit.boundary);
    fem::clear_boundary_edges(*band.grid, unit.boundary_source);
  });
}

std::map<int, BandModel> Simulation::Impl::band_models(const Eigen::VectorXd& resistivity) const {
  const core::ScopedTimer timer("mt3d/averages");
  std::map<int, BandModel> models;
  for (const auto& [index, band] : bands) {
    if (band->relief != nullptr)
      models[index] = {{}, band->cell_averages->conductivities(resistivity)};
    else
      models[index] = {band->averages.masses(resistivity), band->averages.cell_conductivities(resistivity)};
  }
  return models;
}

linalg::EdgeSolverKind Simulation::Impl::solver_kind(const Job& job, Eigen::Index n_right_hand_sides) const {
  return options.solver != linalg::EdgeSolverKind::automatic
             ? options.solver
             : linalg::choose_edge_solver(*band_of(job).grid, n_right_hand_sides,
                                          band_of(job).relief != nullptr,
                                          options.memory_bytes / n_jobs_at_once());
}

std::unique_ptr<linalg::EdgeSolver> Simulation::Impl::solver_of(const Job& job, const BandModel& model,
                                                                Eigen::Index n_right_hand_sides) const {
  const BandProblem& band = band_of(job);
  const double scale = omega_of(job.frequency) * mu0;
  const linalg::EdgeSolverKind kind = solver_kind(job, n_right_hand_sides);
  ++counts.set_ups;
  if (band.relief != nullptr)
    return linalg::make_edge_solver(
        kind, linalg::relief_system(band.relief, scale * model.cell_conductivities, band.ground));
  return linalg::make_edge_solver(
      kind, {band.grid, scale * model.masses, scale * model.cell_conductivities, band.ground});
}

void Simulation::Impl::log_fallback(const Job& job, const std::string& solver,
                                    const linalg::EdgeSolveReport& report) const {
  const std::string text = fmt::format(
      "at {:.4g} Hz the {} solver went on with {}: {} iterations, residual {:.1e}",
      frequencies_hz[job.frequency], solver, report.fallback, report.iterations, report.true_residual);
  const bool is_usual = report.fallback == core::word(linalg::CycleReal::twice);
  const bool is_first = !is_usual && !warned[static_cast<std::size_t>(job.frequency)].exchange(true);
  if (is_first)
    core::log::warning(core::log::Id("mt::d3::simulation#fallback"), "{}", text);
  else
    core::log::debug("{}", text);
}

linalg::PairBlock Simulation::Impl::solve(const Job& job, const linalg::EdgeSolver& solver,
                                          const linalg::PairBlock& sources,
                                          double divergence_tolerance) const {
  linalg::PairBlock solution;
  const linalg::EdgeSolveOptions solve_options{.tolerance = options.tolerance,
                                               .divergence_tolerance = divergence_tolerance};
  try {
    for (const auto& report : solver.solve(solution, sources, solve_options)) {
      ++counts.right_hand_sides;
      counts.iterations += report.iterations;
      if (report.fallback.empty()) continue;
      ++counts.fallbacks;
      log_fallback(job, solver.name(), report);
    }
  } catch (const core::SolverError& error) {
    throw core::SolverError(error.place(), "at {:.4g} Hz: {}", frequencies_hz[job.frequency], error.what());
  }
  return solution;
}

SolvedJob Simulation::Impl::solve_fields(const Job& job, const BandModel& model) const {
  const BandProblem& band = band_of(job);
  const fem::EdgeGrid& grid = *band.grid;
  linalg::PairBlock sources(grid, std::ssize(job.units));
  const auto solver = solver_of(job, model, std::ssize(job.units));
  const Complex factor(0.0, -omega_of(job.frequency) * mu0);
  for (std::size_t i = 0; i < job.units.size(); ++i) {
    const Unit& unit = units[job.units[i]];
    Eigen::VectorXcd source;
    if (band.relief != nullptr)  // no layered field: the boundary carries all of it
      source = Complex(0.0, -1.0) * linalg::mass_times(solver->system(), unit.boundary);
    else
      source = factor * (model.masses - band.layered_masses).cwiseProduct(unit.layered);
    fem::clear_boundary_edges(grid, source);
    Eigen::VectorXcd divergence = fem::gradient_transposed(grid, source);
    fem::clear_boundary_nodes(grid, divergence);
    sources.edges.col(static_cast<Eigen::Index>(i)) = source + unit.boundary_source;
    sources.nodes.col(static_cast<Eigen::Index>(i)) = divergence;
  }
  const linalg::PairBlock solution = solve(job, *solver, sources, options.divergence_tolerance);
  SolvedJob solved{&job, {}};
  for (std::size_t i = 0; i < job.units.size(); ++i) {
    const Unit& unit = units[job.units[i]];
    solved.circulations.push_back(linalg::circulation(grid, solution, static_cast<Eigen::Index>(i)) +
                                  unit.boundary);
    if (band.relief == nullptr) solved.circulations.back() += unit.layered;
  }
  return solved;
}

int Simulation::Impl::n_jobs_at_once() const {
  return std::ssize(own_jobs) >= core::threads() ? core::threads() : 1;
}

void Simulation::Impl::for_each_job(const std::function<void(std::size_t)>& work) const {
  core::Worded failure;
  try {
    if (n_jobs_at_once() > 1) {
      core::parallel_for(std::ssize(own_jobs), [&](std::ptrdiff_t i) { work(static_cast<std::size_t>(i)); });
    } else {
      for (std::size_t i = 0; i < own_jobs.size(); ++i) work(i);
    }
  } catch (const core::SolverError& error) {
    failure = core::worded(error);
  }
  core::throw_together(comm, failure);
}

void Simulation::Impl::share(Eigen::MatrixXcd& table) const {
  if (core::size_of(comm) == 1) return;
  std::vector<int> owner;
  for (const Unit& unit : units)
    owner.insert(owner.end(), static_cast<std::size_t>(2 * n_channels) * stations.size(), unit.owner);
  Eigen::MatrixXd parts(2 * table.rows(), table.cols());
  for (Eigen::Index row = 0; row < table.rows(); ++row) {
    parts.row(2 * row) = table.row(row).real();
    parts.row(2 * row + 1) = table.row(row).imag();
  }
  core::share_rows(comm, owner, parts);
  for (Eigen::Index row = 0; row < table.rows(); ++row) {
    table.row(row).real() = parts.row(2 * row);
    table.row(row).imag() = parts.row(2 * row + 1);
  }
}

FieldTable Simulation::Impl::fields(const std::map<int, BandModel>& models,
                                    std::vector<SolvedJob>* solved) const {
  Eigen::MatrixXcd table = Eigen::MatrixXcd::Zero(row_of(static_cast<int>(units.size()), 0, Channel::e_x), 1);
  if (solved != nullptr) solved->resize(own_jobs.size());
  for_each_job([&](std::size_t index) {
    const Job& job = own_jobs[index];
    SolvedJob one = solve_fields(job, models.at(job.band));
    for (std::size_t i = 0; i < job.units.size(); ++i) {
      for (int station = 0; station < std::ssize(stations); ++station) {
        for (int c = 0; c < n_channels; ++c) {
          const auto channel = static_cast<Channel>(c);
          table(row_of(job.units[i], station, channel), 0) =
              band_of(job).receivers[station].measure(channel, omega_of(job.frequency), one.circulations[i]);
        }
      }
    }
    if (solved != nullptr) (*solved)[index] = std::move(one);
  });
  share(table);
  return table.col(0);
}

StationFields Simulation::Impl::fields_at(const FieldTable& table, int frequency, int station) const {
  StationFields result;
  for (int p = 0; p < n_polarizations; ++p) {
    const int unit = unit_of(frequency, static_cast<Polarization>(p));
    for (int c = 0; c < n_channels; ++c) result[p][c] = table[row_of(unit, station, static_cast<Channel>(c))];
  }
  return result;
}

TransferFunctions Simulation::Impl::transfer_functions(const FieldTable& table,
                                                       const ResponseKey& key) const {
  return {fields_at(table, key.frequency, key.station), fields_at(table, key.frequency, reference_of(key))};
}

Eigen::VectorXd Simulation::Impl::outputs(const FieldTable& table) const {
  Eigen::VectorXd result(layout.size());
  for (std::size_t k = 0; k < layout.keys().size(); ++k) {
    const auto& [element, frequency, station] = layout.keys()[k];
    const TransferFunctions transfer = transfer_functions(table, layout.keys()[k]);
    if (!transfer.is_determined())
      throw core::SolverError(
          "mt::d3::Simulation#parallel_fields",
          "the magnetic fields of both polarizations are parallel at station {} and {:.4g} Hz, "
          "where they determine no impedance; leave this station out",
          stations[reference_of(layout.keys()[k])].name, frequencies_hz[frequency]);
    const Complex value = transfer.value(element);
    result[2 * static_cast<Eigen::Index>(k)] = value.real();
    result[2 * static_cast<Eigen::Index>(k) + 1] = value.imag();
  }
  return result;
}

Simulation::Simulation(MPI_Comm comm, mesh::Earth earth, ResponseLayout layout, std::vector<Station> stations,
                       std::vector<double> frequencies_hz, MeshSet meshes, const SimulationOptions& options)
    : impl_(std::make_shared<Impl>(comm, std::move(earth), std::move(layout), std::move(stations),
                                   std::move(frequencies_hz), std::move(meshes), options)) {}
Simulation::~Simulation() = default;

Eigen::Index Simulation::size_in() const { return impl_->earth.grid.n_cells(); }
Eigen::Index Simulation::size_out() const { return impl_->layout.size(); }
/// As in two dimensions: one more than the handle, −1 for the rank's own communicator.
int Simulation::communicator_id() const {
  return impl_->comm == MPI_COMM_SELF ? -1 : static_cast<int>(MPI_Comm_c2f(impl_->comm)) + 1;
}
const ResponseLayout& Simulation::layout() const { return impl_->layout; }
const MeshSet& Simulation::meshes() const { return impl_->meshes; }
SolveCounts Simulation::counts() const {
  return {impl_->counts.set_ups, impl_->counts.right_hand_sides, impl_->counts.iterations,
          impl_->counts.fallbacks};
}

double Simulation::estimated_bytes() const {
  double kept = 0.0, largest = 0.0;
  for (const Job& job : impl_->own_jobs) {
    const fem::EdgeGrid& grid = *impl_->band_of(job).grid;
    kept += kept_bytes(grid) * static_cast<double>(job.units.size());
    const Eigen::Index n = std::ssize(job.units);
    const bool has_relief = impl_->band_of(job).relief != nullptr;
    largest = std::max(largest, linalg::cost_of(impl_->solver_kind(job, n), grid, n, has_relief).bytes);
  }
  for (const auto& [index, band] : impl_->bands)
    kept += 100.0 * static_cast<double>(band->grid->n_edges());  // ∂M/∂ρ
  return kept + largest * impl_->n_jobs_at_once();
}

std::shared_ptr<const Simulation> Simulation::companion() const {
  return std::make_shared<const Simulation>(impl_->comm, impl_->earth, impl_->layout, impl_->stations,
                                            impl_->frequencies_hz, companions(impl_->meshes), impl_->options);
}
MPI_Comm Simulation::comm() const { return impl_->comm; }

namespace {

void check_resistivities(const Eigen::VectorXd& resistivity, const mesh::TensorGrid& grid) {
  Eigen::Index worst = 0;
  if (const double least = resistivity.minCoeff(&worst); !(least > 0.0))
    throw core::InvalidArgument(
        "mt::d3::Simulation#resistivity_not_positive",
        "expected positive resistivities, got {} ohm m in layer {}, row {} and column {} of {} × {} × {}",
        least, worst / grid.n_columns(), worst % grid.n_columns() / grid.n_x(), worst % grid.n_x(),
        grid.n_z(), grid.n_y(), grid.n_x());
}

}  // namespace

Eigen::VectorXd Simulation::do_value(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid);
  return impl_->outputs(impl_->fields(impl_->band_models(x), nullptr));
}

std::unique_ptr<core::Linearization> Simulation::do_linearize(const core::ConstVectorRef& x) const {
  check_resistivities(x, impl_->earth.grid);
  return linearization_of(impl_, x);
}

SimulationOptions solving_options(Accuracy accuracy) {
  if (accuracy != Accuracy::iteration) return {};
  return {.tolerance = 1e-5, .divergence_tolerance = 1e-5, .product_divergence_tolerance = 1e-6};
}

std::shared_ptr<const Simulation> simulation_of(MPI_Comm comm, mesh::Earth earth, const Survey& survey,
                                                MeshSet meshes, const SimulationOptions& options) {
  return std::make_shared<const Simulation>(comm, std::move(earth), needed_responses(survey), survey.stations,
                                            survey.frequencies_hz, std::move(meshes), options);
}

core::MapPtr response_map(std::shared_ptr<const Simulation> simulation) {
  if (!simulation->meshes().is_extrapolated) return simulation;
  return extrapolated(simulation->comm(), simulation, simulation->companion());
}

core::MapPtr data_map(std::shared_ptr<const Simulation> simulation, const Survey& survey) {
  return mt::data_map(response_map(simulation), simulation->layout(), survey);
}

core::MapPtr data_map(MPI_Comm comm, mesh::Earth earth, const Survey& survey, MeshSet meshes,
                      const SimulationOptions& options) {
  return data_map(simulation_of(comm, std::move(earth), survey, std::move(meshes), options), survey);
}

}  // namespace lodestone::physics::mt::d3
