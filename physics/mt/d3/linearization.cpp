// SPDX-License-Identifier: Apache-2.0
// Symbols: A = K + iωμ₀M, u the total circulation, f = Lu the fields of stations, δM = D δρ. A δu = −iωμ₀ δM
// ∘ u and δf = L δu; with A = Aᵀ the adjoint is A λ = Lᵀc and the gradient Dᵀ Re(−iωμ₀ λ ∘ u). Responses
// follow from the fields of both polarizations at their station, on every rank.
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/fem/edge_operator.hpp"
#include "physics/mt/d3/simulation_impl.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace lodestone::physics::mt::d3 {

namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;
using Eigen::VectorXcd;

class SimulationLinearization final : public core::Linearization {
 public:
  SimulationLinearization(std::shared_ptr<const Simulation::Impl> impl, Eigen::Index size_in,
                          Eigen::VectorXd value, std::map<int, BandModel> models,
                          std::map<int, core::SparseRows> derivatives, FieldTable fields,
                          std::vector<SolvedJob> solved)
      : core::Linearization(size_in, std::move(value)),
        impl_(std::move(impl)),
        models_(std::move(models)),
        derivatives_(std::move(derivatives)),
        fields_(std::move(fields)),
        solved_(std::move(solved)) {}
  [[nodiscard]] std::size_t bytes() const override;

 private:
  MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override;
  MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override;
  MatrixXd do_jacobian() const override;
  core::JacobianRows do_local_jacobian() const override;

  /// The slopes of a response with respect to the fields of a station.
  struct SlopesAt {
    int station;
    StationFields of_fields;
  };
  /// Returns those of the station above and of the station below in its ratio, which may be the same.
  [[nodiscard]] std::array<SlopesAt, 2> slopes(const ResponseKey& key) const {
    const TransferFunctions transfer = impl_->transfer_functions(fields_, key);
    return {SlopesAt{key.station, transfer.slopes(key.element)},
            SlopesAt{impl_->reference_of(key), transfer.slopes_of_reference(key.element)}};
  }
  /// Calls work(slope, row of the tables of fields) for the fields that a response depends on.
  template <class Work>
  void for_each_slope(const ResponseKey& key, const Work& work) const {
    for (const auto& [station, of_fields] : slopes(key)) {
      for (int p = 0; p < n_polarizations; ++p) {
        const int unit = impl_->unit_of(key.frequency, static_cast<Polarization>(p));
        for (int c = 0; c < n_channels; ++c) {
          if (of_fields[p][c] != 0.0)
            work(of_fields[p][c], impl_->row_of(unit, station, static_cast<Channel>(c)));
        }
      }
    }
  }
  /// Sources of the products of a job: columns are those of each unit in turn.
  [[nodiscard]] linalg::PairBlock forward_sources(const SolvedJob& solved,
                                                  const MatrixXd& mass_changes) const;
  /// Lᵀ times the rows of a unit in `weights`, which has the rows of tables of fields.
  void add_adjoint_sources(const SolvedJob& solved, int unit, const MatrixXcd& weights,
                           Eigen::Index first_column, linalg::PairBlock& sources) const;
  /// Weights of fields for directions of the outputs, Re Σ weight·δf. shapes: (n_out, k) → (table rows, k).
  [[nodiscard]] MatrixXcd field_weights(const core::ConstMatrixRef& directions) const;
  /// True where both polarizations of every frequency are jobs together.
  [[nodiscard]] bool is_whole_on_a_rank() const;
  [[nodiscard]] MatrixXd jacobian_by_products() const;
  /// A response, and its slopes with respect to the fields of one station.
  struct KeySlopes {
    Eigen::Index key;
    StationFields of_fields;
  };
  [[nodiscard]] std::vector<std::vector<KeySlopes>> slopes_by_station(int frequency) const;
  /// Gradients of each field at a station. shapes: (n_in, polarizations·channels).
  struct ChannelGradients {
    MatrixXd real, imaginary;
  };
  [[nodiscard]] ChannelGradients channel_gradients(const SolvedJob& solved, const linalg::EdgeSolver& solver,
                                                   const Receiver& receiver) const;
  /// Rows of the Jacobian of one job, which has both polarizations. shapes: (its rows, n_in).
  [[nodiscard]] core::JacobianRows job_rows(const SolvedJob& solved) const;

  std::shared_ptr<const Simulation::Impl> impl_;
  std::map<int, BandModel> models_;              ///< by band
  std::map<int, core::SparseRows> derivatives_;  ///< ∂M/∂ρ, or ∂σ/∂ρ of cells on a relief
  FieldTable fields_;
  std::vector<SolvedJob> solved_;  ///< in the order of `own_jobs`
};

std::size_t SimulationLinearization::bytes() const {
  std::size_t total =
      core::Linearization::bytes() + static_cast<std::size_t>(fields_.size()) * sizeof(Complex);
  for (const auto& [band, derivative] : derivatives_)
    total += static_cast<std::size_t>(derivative.nonZeros()) * (sizeof(double) + sizeof(int));
  for (const auto& [band, model] : models_)
    total +=
        static_cast<std::size_t>(model.masses.size() + model.cell_conductivities.size()) * sizeof(double);
  for (const SolvedJob& job : solved_) {
    for (const VectorXcd& field : job.circulations)
      total += static_cast<std::size_t>(field.size()) * sizeof(Complex);
  }
  return total;
}

/// Sets a source and its divergence, which is made of the parts that have one.
void set_source(const fem::EdgeGrid& grid, VectorXcd with_divergence, VectorXcd without, Eigen::Index column,
                linalg::PairBlock& sources) {
  fem::clear_boundary_edges(grid, with_divergence);
  VectorXcd divergence = fem::gradient_transposed(grid, with_divergence);
  fem::clear_boundary_nodes(grid, divergence);
  sources.nodes.col(column) = divergence;
  if (without.size() > 0) {
    fem::clear_boundary_edges(grid, without);
    with_divergence += without;
  }
  sources.edges.col(column) = with_divergence;
}

linalg::PairBlock SimulationLinearization::forward_sources(const SolvedJob& solved,
                                                           const MatrixXd& mass_changes) const {
  const BandProblem& band = impl_->band_of(*solved.job);
  const fem::EdgeGrid& grid = *band.grid;
  const Eigen::Index k = mass_changes.cols(), n_units = std::ssize(solved.circulations);
  const Complex factor(0.0, -impl_->omega_of(solved.job->frequency) * mu0);
  linalg::PairBlock sources(grid, n_units * k);
  for (Eigen::Index unit = 0; unit < n_units; ++unit) {
    for (Eigen::Index column = 0; column < k; ++column)
      set_source(grid, factor * band.mass_change_times(mass_changes.col(column), solved.circulations[unit]),
                 {}, unit * k + column, sources);
  }
  return sources;
}

MatrixXd SimulationLinearization::do_jvp(const core::ConstMatrixRef& directions) const {
  const Eigen::Index k = directions.cols();
  MatrixXcd changes = MatrixXcd::Zero(fields_.size(), k);
  impl_->for_each_job([&](std::size_t index) {
    const SolvedJob& solved = solved_[index];
    const Job& job = *solved.job;
    const BandProblem& band = impl_->band_of(job);
    const auto solver = impl_->solver_of(job, models_.at(job.band), std::ssize(job.units) * k);
    const linalg::PairBlock sources = forward_sources(solved, derivatives_.at(job.band) * directions);
    const linalg::PairBlock solution =
        impl_->solve(job, *solver, sources, impl_->options.product_divergence_tolerance);
    for (Eigen::Index column = 0; column < sources.edges.cols(); ++column) {
      const VectorXcd change = linalg::circulation(*band.grid, solution, column);
      for (int station = 0; station < std::ssize(impl_->stations); ++station) {
        for (int c = 0; c < n_channels; ++c) {
          const auto channel = static_cast<Channel>(c);
          changes(impl_->row_of(job.units[column / k], station, channel), column % k) =
              band.receivers[station].measure(channel, impl_->omega_of(job.frequency), change);
        }
      }
    }
  });
  impl_->share(changes);
  MatrixXd result(size_out(), k);
  const auto& keys = impl_->layout.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Eigen::RowVectorXcd change = Eigen::RowVectorXcd::Zero(k);
    for_each_slope(keys[i], [&](Complex slope, Eigen::Index row) { change += slope * changes.row(row); });
    result.row(2 * static_cast<Eigen::Index>(i)) = change.real();
    result.row(2 * static_cast<Eigen::Index>(i) + 1) = change.imag();
  }
  return result;
}

MatrixXcd SimulationLinearization::field_weights(const core::ConstMatrixRef& directions) const {
  MatrixXcd weights = MatrixXcd::Zero(fields_.size(), directions.cols());
  const auto& keys = impl_->layout.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Eigen::Index at = 2 * static_cast<Eigen::Index>(i);
    const Eigen::RowVectorXcd of_response = directions.row(at) - Complex(0.0, 1.0) * directions.row(at + 1);
    for_each_slope(keys[i],
                   [&](Complex slope, Eigen::Index row) { weights.row(row) += slope * of_response; });
  }
  return weights;
}

void SimulationLinearization::add_adjoint_sources(const SolvedJob& solved, int unit, const MatrixXcd& weights,
                                                  Eigen::Index first_column,
                                                  linalg::PairBlock& sources) const {
  const BandProblem& band = impl_->band_of(*solved.job);
  const double w = impl_->omega_of(solved.job->frequency);
  for (Eigen::Index column = 0; column < weights.cols(); ++column) {
    VectorXcd electric = VectorXcd::Zero(band.grid->n_edges()),
              magnetic = electric;  // loops have no divergence
    for (int station = 0; station < std::ssize(impl_->stations); ++station) {
      for (int c = 0; c < n_channels; ++c) {
        const auto channel = static_cast<Channel>(c);
        const Complex weight = weights(impl_->row_of(unit, station, channel), column);
        if (weight == 0.0) continue;
        band.receivers[station].add_row(channel, w, weight,
                                        c < static_cast<int>(Channel::h_x) ? electric : magnetic);
      }
    }
    set_source(*band.grid, std::move(electric), std::move(magnetic), first_column + column, sources);
  }
}

MatrixXd SimulationLinearization::do_vjp(const core::ConstMatrixRef& directions) const {
  const MatrixXcd weights = field_weights(directions);
  const Eigen::Index k = directions.cols();
  std::vector<MatrixXd> of_job(solved_.size());
  impl_->for_each_job([&](std::size_t index) {
    const SolvedJob& solved = solved_[index];
    const Job& job = *solved.job;
    const BandProblem& band = impl_->band_of(job);
    const fem::EdgeGrid& grid = *band.grid;
    const Complex factor(0.0, -impl_->omega_of(job.frequency) * mu0);
    const auto solver = impl_->solver_of(job, models_.at(job.band), std::ssize(job.units) * k);
    linalg::PairBlock sources(grid, std::ssize(job.units) * k);
    for (Eigen::Index i = 0; i < std::ssize(job.units); ++i)
      add_adjoint_sources(solved, job.units[i], weights, i * k, sources);
    const linalg::PairBlock adjoint =
        impl_->solve(job, *solver, sources, impl_->options.product_divergence_tolerance);
    MatrixXd of_masses = MatrixXd::Zero(derivatives_.at(job.band).rows(), k);
    for (Eigen::Index column = 0; column < sources.edges.cols(); ++column)
      of_masses.col(column % k) += (factor * band.mass_products(linalg::circulation(grid, adjoint, column),
                                                                solved.circulations[column / k]))
                                       .real();
    of_job[index] = derivatives_.at(job.band).transpose() * of_masses;
  });
  MatrixXd result = MatrixXd::Zero(size_in(), k);
  for (const MatrixXd& part : of_job) result += part;
  core::sum_in_rank_order(impl_->comm, result);
  return result;
}

bool SimulationLinearization::is_whole_on_a_rank() const {
  return std::ssize(impl_->units) >= n_polarizations * core::size_of(impl_->comm);
}

/// Returns the keys of a frequency that depend on each station, with the slopes.
std::vector<std::vector<SimulationLinearization::KeySlopes>> SimulationLinearization::slopes_by_station(
    int frequency) const {
  std::vector<std::vector<KeySlopes>> result(impl_->stations.size());
  const auto& keys = impl_->layout.keys();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].frequency != frequency) continue;
    for (const auto& [station, of_fields] : slopes(keys[i]))
      result[station].push_back({static_cast<Eigen::Index>(i), of_fields});
  }
  return result;
}

SimulationLinearization::ChannelGradients SimulationLinearization::channel_gradients(
    const SolvedJob& solved, const linalg::EdgeSolver& solver, const Receiver& receiver) const {
  const Job& job = *solved.job;
  const BandProblem& band = impl_->band_of(job);
  const double w = impl_->omega_of(job.frequency);
  const Complex factor(0.0, -w * mu0);
  linalg::PairBlock sources(*band.grid, n_channels);
  for (int c = 0; c < n_channels; ++c) {
    VectorXcd row = VectorXcd::Zero(band.grid->n_edges());
    receiver.add_row(static_cast<Channel>(c), w, 1.0, row);
    const bool is_loop = c >= static_cast<int>(Channel::h_x);
    const VectorXcd none = VectorXcd::Zero(is_loop ? row.size() : 0);
    set_source(*band.grid, is_loop ? none : row, is_loop ? row : none, c, sources);
  }
  const linalg::PairBlock adjoint =
      impl_->solve(job, solver, sources, impl_->options.product_divergence_tolerance);
  const core::SparseRows& derivative = derivatives_.at(job.band);
  MatrixXcd of_masses(derivative.rows(), n_polarizations * n_channels);
  for (int c = 0; c < n_channels; ++c) {
    const VectorXcd field = factor * linalg::circulation(*band.grid, adjoint, c);
    for (int p = 0; p < n_polarizations; ++p)
      of_masses.col(p * n_channels + c) = band.mass_products(field, solved.circulations[p]);
  }
  return {derivative.transpose() * MatrixXd(of_masses.real()),
          derivative.transpose() * MatrixXd(of_masses.imag())};
}

/// By functionals: one adjoint field per station and channel serves both polarizations and all responses.
core::JacobianRows SimulationLinearization::job_rows(const SolvedJob& solved) const {
  const Job& job = *solved.job;
  const BandProblem& band = impl_->band_of(job);
  const auto by_station = slopes_by_station(job.frequency);
  const auto n_stations = std::ranges::count_if(by_station, [](const auto& list) { return !list.empty(); });
  const auto solver = impl_->solver_of(job, models_.at(job.band), n_stations * n_channels);
  core::JacobianRows result;
  std::map<Eigen::Index, Eigen::Index> place;  // of a key among the rows
  for (const auto& list : by_station) {
    for (const KeySlopes& each : list) {
      if (!place.emplace(each.key, std::ssize(result.rows)).second) continue;
      result.rows.push_back(2 * each.key);
      result.rows.push_back(2 * each.key + 1);
    }
  }
  result.values = MatrixXd::Zero(std::ssize(result.rows), size_in());
  for (std::size_t station = 0; station < by_station.size(); ++station) {
    if (by_station[station].empty()) continue;
    const ChannelGradients of = channel_gradients(solved, *solver, band.receivers[station]);
    for (const auto& [key, slope] : by_station[station]) {
      VectorXcd row = VectorXcd::Zero(size_in());
      for (int i = 0; i < n_polarizations * n_channels; ++i)
        row += slope[i / n_channels][i % n_channels] *
               (of.real.col(i) + Complex(0.0, 1.0) * of.imaginary.col(i));
      result.values.row(place[key]) += row.real();
      result.values.row(place[key] + 1) += row.imag();
    }
  }
  return result;
}

/// For polarizations on different ranks, which no rank has the rows of.
MatrixXd SimulationLinearization::jacobian_by_products() const {
  constexpr Eigen::Index block = 16;
  MatrixXd jacobian(size_out(), size_in());
  for (Eigen::Index first = 0; first < size_out(); first += block) {
    const Eigen::Index n = std::min(block, size_out() - first);
    MatrixXd directions = MatrixXd::Zero(size_out(), n);
    directions.middleRows(first, n).setIdentity();
    jacobian.middleRows(first, n) = do_vjp(directions).transpose();
  }
  return jacobian;
}

core::JacobianRows SimulationLinearization::do_local_jacobian() const {
  if (!is_whole_on_a_rank()) return every_row(jacobian_by_products());
  std::vector<core::JacobianRows> of_job(solved_.size());
  impl_->for_each_job([&](std::size_t index) { of_job[index] = job_rows(solved_[index]); });
  core::JacobianRows result;
  for (const auto& part : of_job) result.rows.insert(result.rows.end(), part.rows.begin(), part.rows.end());
  result.values.resize(std::ssize(result.rows), size_in());
  Eigen::Index first = 0;
  for (auto& part : of_job) {
    result.values.middleRows(first, part.values.rows()) = part.values;
    first += part.values.rows();
  }
  return result;
}

MatrixXd SimulationLinearization::do_jacobian() const {
  if (!is_whole_on_a_rank()) return jacobian_by_products();
  MatrixXd jacobian(size_out(), size_in());
  const core::JacobianRows block = do_local_jacobian();
  jacobian(block.rows, Eigen::all) = block.values;
  std::vector<int> owner(static_cast<std::size_t>(size_out()));
  for (std::size_t i = 0; i < impl_->layout.keys().size(); ++i)
    owner[2 * i] = owner[2 * i + 1] =
        impl_->units[impl_->unit_of(impl_->layout.keys()[i].frequency, Polarization::x)].owner;
  core::share_rows(impl_->comm, owner, jacobian);
  return jacobian;
}

}  // namespace

std::unique_ptr<core::Linearization> linearization_of(std::shared_ptr<const Simulation::Impl> impl,
                                                      const Eigen::VectorXd& resistivity) {
  auto models = impl->band_models(resistivity);
  std::map<int, core::SparseRows> derivatives;
  for (const auto& [index, band] : impl->bands) derivatives[index] = band->derivative(resistivity);
  std::vector<SolvedJob> solved;
  FieldTable fields = impl->fields(models, &solved);
  Eigen::VectorXd value = impl->outputs(fields);
  return std::make_unique<SimulationLinearization>(std::move(impl), resistivity.size(), std::move(value),
                                                   std::move(models), std::move(derivatives),
                                                   std::move(fields), std::move(solved));
}

}  // namespace lodestone::physics::mt::d3
