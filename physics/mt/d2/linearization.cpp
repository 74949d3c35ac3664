// SPDX-License-Identifier: Apache-2.0
// Symbols: A u = b the discrete problem, F a transfer function, g = ∂F/∂u, λ = A⁻¹ g (A = Aᵀ), p a cell
// property. dF/dp = direct part − λᵀ (∂A/∂p) u; b depends on p only through the fixed surface values, which
// are part of u here.
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/mt/d2/simulation_impl.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace lodestone::physics::mt::d2 {

namespace {

using Eigen::MatrixXcd;
using Eigen::MatrixXd;

/// Adds terms in the order of their numbers, whichever comes first, so that the number of threads does not
/// change a bit of the sum.
class OrderedSum {
 public:
  OrderedSum(Eigen::Index rows, Eigen::Index cols) : sum_(MatrixXd::Zero(rows, cols)) {}
  void add(std::ptrdiff_t number, MatrixXd term) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(number, std::move(term));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
         first = waiting_.erase(first), ++next_)
      sum_ += first->second;
  }
  [[nodiscard]] MatrixXd take() { return std::move(sum_); }

 private:
  std::mutex mutex_;
  MatrixXd sum_;
  std::map<std::ptrdiff_t, MatrixXd> waiting_;
  std::ptrdiff_t next_ = 0;
};

class SimulationLinearization final : public core::Linearization {
 public:
  SimulationLinearization(std::shared_ptr<const Simulation::Impl> impl, Eigen::VectorXd resistivity,
                          Eigen::VectorXd value, std::vector<SolvedJob> solved)
      : core::Linearization(resistivity.size(), std::move(value)),
        impl_(std::move(impl)),
        resistivity_(std::move(resistivity)),
        solved_(std::move(solved)) {}
  [[nodiscard]] std::size_t bytes() const override {
    double numbers = 0.0;
    for (const SolvedJob& job : solved_)
      numbers += job.factors->entries() + static_cast<double>(job.field.size());
    return static_cast<std::size_t>(numbers * sizeof(Complex)) + core::Linearization::bytes();
  }

 private:
  MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override;
  MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override;
  MatrixXd do_jacobian() const override;
  core::JacobianRows do_local_jacobian() const override;
  core::JacobianRows do_local_rows(const core::SparseRows* left,
                                   const core::Linearization* inner) const override;

  /// Returns Σ_f combination(f, k)·g_f on the unknowns. shapes: combination (n_transfers, k) → (k,
  /// n_unknowns).
  [[nodiscard]] MatrixXcd gradients(const SolvedJob& solved, const MatrixXcd& combination) const;
  /// Returns the derivative of Σ_f combination(f, k)·F_f with respect to each cell property. → per property
  /// (k, n_cells).
  [[nodiscard]] std::vector<MatrixXcd> property_derivatives(const SolvedJob& solved,
                                                            const MatrixXcd& combination) const;
  /// Returns the derivatives by parameters from those by cells. shapes: (k, n_cells) each → (k,
  /// n_parameters).
  [[nodiscard]] MatrixXd to_parameters(const SolvedJob& solved, const std::vector<MatrixXd>& weights) const;
  /// Returns the rows of left J that combine responses of this job alone. → (rows.size(), n_parameters).
  [[nodiscard]] MatrixXd job_rows(const SolvedJob& solved, const core::SparseRows& left,
                                  const std::vector<Eigen::Index>& rows) const;
  /// Returns the rows of `left` by job of the simulation, rows without entries with the first one; nothing
  /// where a row combines jobs, or there are none.
  [[nodiscard]] std::optional<std::vector<std::vector<Eigen::Index>>> rows_by_job(
      const core::SparseRows& left) const;
  [[nodiscard]] core::SparseRows every_response() const;
  /// Returns the change of the transfer functions of a job for k changes of its properties. → (n_transfers,
  /// k).
  [[nodiscard]] MatrixXcd transfer_changes(const SolvedJob& solved,
                                           const std::vector<MatrixXd>& property_changes) const;

  std::shared_ptr<const Simulation::Impl> impl_;
  Eigen::VectorXd resistivity_;
  std::vector<SolvedJob> solved_;  ///< this rank's jobs, in the order of `own_jobs`
};

MatrixXcd SimulationLinearization::gradients(const SolvedJob& solved, const MatrixXcd& combination) const {
  const ModeOperator& problem = impl_->problem_of(*solved.job).problem;
  MatrixXcd result = MatrixXcd::Zero(combination.cols(), problem.n_unknowns());
  for (std::size_t f = 0; f < solved.transfers.size(); ++f) {
    const auto row = combination.row(static_cast<Eigen::Index>(f)).transpose();
    for (const auto& [node, weight] : solved.transfers[f].gradient) {
      if (const int unknown = problem.unknown_of(node); unknown >= 0) result.col(unknown) += weight * row;
    }
  }
  return result;
}

std::vector<MatrixXcd> SimulationLinearization::property_derivatives(const SolvedJob& solved,
                                                                     const MatrixXcd& combination) const {
  const ModeOperator& problem = impl_->problem_of(*solved.job).problem;
  const double omega = impl_->omega_of(*solved.job);
  const MatrixXcd adjoint = impl_->adjoints_with(solved, gradients(solved, combination));
  const core::ScopedTimer timer("mt2d/sensitivities");
  std::vector<MatrixXcd> result;
  for (int p = 0; p < problem.n_properties(); ++p) {
    MatrixXcd& derivative = result.emplace_back(combination.cols(), problem.n_cells());
    for (int cell = 0; cell < problem.n_cells(); ++cell) {
      const auto change = problem.element_derivative(cell, p, omega, solved.properties, solved.field, true);
      const auto& nodes = problem.cell_nodes(cell);
      auto column = derivative.col(cell);
      column.setZero();
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        if (const int unknown = problem.unknown_of(nodes[a]); unknown >= 0)
          column.noalias() -= change[a] * adjoint.col(unknown);
      }
    }
    for (std::size_t f = 0; f < solved.transfers.size(); ++f) {
      for (const auto& [cell, local, weight] : solved.transfers[f].direct) {
        const auto change =
            problem.element_derivative(cell, p, omega, solved.properties, solved.field, false);
        derivative.col(cell) +=
            weight * change[local] * combination.row(static_cast<Eigen::Index>(f)).transpose();
      }
      if (p > 0) continue;
      for (const auto& [cell, weight] : solved.transfers[f].property)
        derivative.col(cell) += weight * combination.row(static_cast<Eigen::Index>(f)).transpose();
    }
  }
  return result;
}

MatrixXd SimulationLinearization::to_parameters(const SolvedJob& solved,
                                                const std::vector<MatrixXd>& weights) const {
  const core::ScopedTimer timer("mt2d/cells to parameters");
  MatrixXd result = MatrixXd::Zero(weights[0].rows(), size_in());
  const CellAverages& averages = impl_->averages_of(*solved.job);
  if (solved.job->mode == Mode::te) {
    averages.add_strike_transposed(resistivity_, weights, result);
  } else {
    averages.add_section_transposed(resistivity_, weights, result);
  }
  return result;
}

MatrixXd SimulationLinearization::job_rows(const SolvedJob& solved, const core::SparseRows& left,
                                           const std::vector<Eigen::Index>& rows) const {
  struct Entry {
    Eigen::Index row, transfer;
    double re, im;  ///< factors of the parts of the transfer function
  };
  std::vector<Entry> entries;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t first = entries.size();
    for (core::SparseRows::InnerIterator at(left, rows[row]); at; ++at) {
      const Eigen::Index transfer = impl_->place_of_response[at.col() / 2].second;
      if (entries.size() == first || entries.back().transfer != transfer)
        entries.push_back({static_cast<Eigen::Index>(row), transfer, 0.0, 0.0});
      (at.col() % 2 == 0 ? entries.back().re : entries.back().im) = at.value();
    }
  }
  const auto n = static_cast<Eigen::Index>(solved.transfers.size());
  std::vector<MatrixXd> weights;
  for (const MatrixXcd& derivative : property_derivatives(solved, MatrixXcd::Identity(n, n))) {
    MatrixXd& of_cells = weights.emplace_back(MatrixXd::Zero(std::ssize(rows), derivative.cols()));
    for (Eigen::Index cell = 0; cell < of_cells.cols(); ++cell) {
      for (const auto& [row, transfer, re, im] : entries) {
        const Complex of_transfer = derivative(transfer, cell);
        of_cells(row, cell) += re * of_transfer.real() + im * of_transfer.imag();
      }
    }
  }
  return to_parameters(solved, weights);
}

std::optional<std::vector<std::vector<Eigen::Index>>> SimulationLinearization::rows_by_job(
    const core::SparseRows& left) const {
  if (impl_->jobs.empty()) return {};
  std::vector<std::vector<Eigen::Index>> result(impl_->jobs.size());
  for (Eigen::Index row = 0; row < left.rows(); ++row) {
    int job = -1;
    for (core::SparseRows::InnerIterator at(left, row); at; ++at) {
      const int of_entry = impl_->place_of_response[at.col() / 2].first;
      if (job >= 0 && of_entry != job) return {};
      job = of_entry;
    }
    result[std::max(job, 0)].push_back(row);
  }
  return result;
}

core::JacobianRows SimulationLinearization::do_local_rows(const core::SparseRows* left,
                                                          const core::Linearization* inner) const {
  if (left == nullptr) {
    const core::SparseRows whole = every_response();
    return do_local_rows(&whole, inner);
  }
  const auto by_job = rows_by_job(*left);
  if (!by_job) return core::Linearization::do_local_rows(left, inner);
  const auto rows_of = [&](const SolvedJob& solved) -> const std::vector<Eigen::Index>& {
    return (*by_job)[solved.job - impl_->jobs.data()];
  };
  core::JacobianRows block;
  std::vector<Eigen::Index> first;
  for (const SolvedJob& solved : solved_) {
    first.push_back(std::ssize(block.rows));
    block.rows.insert(block.rows.end(), rows_of(solved).begin(), rows_of(solved).end());
  }
  block.values.resize(std::ssize(block.rows), inner == nullptr ? size_in() : inner->size_in());
  core::parallel_for(std::ssize(solved_), [&](std::ptrdiff_t i) {
    if (rows_of(solved_[i]).empty()) return;
    MatrixXd rows = job_rows(solved_[i], *left, rows_of(solved_[i]));
    if (inner != nullptr) rows = inner->row_product(std::move(rows));
    block.values.middleRows(first[i], rows.rows()) = rows;
  });
  return block;
}

core::SparseRows SimulationLinearization::every_response() const {
  core::SparseRows identity(size_out(), size_out());
  identity.setIdentity();
  return identity;
}

core::JacobianRows SimulationLinearization::do_local_jacobian() const {
  return do_local_rows(nullptr, nullptr);
}

MatrixXd SimulationLinearization::do_jacobian() const {
  MatrixXd jacobian(size_out(), size_in());
  {
    const core::JacobianRows block = do_local_jacobian();
    jacobian(block.rows, Eigen::all) = block.values;
  }
  const core::ScopedTimer timer("mt2d/share jacobian");
  core::share_rows(impl_->comm, impl_->owner_of_output, jacobian);
  return jacobian;
}

MatrixXd SimulationLinearization::do_vjp(const core::ConstMatrixRef& directions) const {
  OrderedSum sum(size_in(), directions.cols());
  core::parallel_for(std::ssize(solved_), [&](std::ptrdiff_t i) {
    const SolvedJob& solved = solved_[i];
    MatrixXcd combination =
        MatrixXcd::Zero(static_cast<Eigen::Index>(solved.transfers.size()), directions.cols());
    for (Eigen::Index f = 0; f < combination.rows(); ++f) {  // of Re F and of Im F
      const Eigen::Index row = 2 * solved.job->responses[f];
      combination.row(f).real() = directions.row(row);
      combination.row(f).imag() = -directions.row(row + 1);
    }
    std::vector<MatrixXd> weights;
    for (const MatrixXcd& derivative : property_derivatives(solved, combination))
      weights.emplace_back(derivative.real());
    sum.add(i, to_parameters(solved, weights).transpose());
  });
  MatrixXd result = sum.take();
  core::sum_in_rank_order(impl_->comm, result);
  return result;
}

MatrixXcd SimulationLinearization::transfer_changes(const SolvedJob& solved,
                                                    const std::vector<MatrixXd>& property_changes) const {
  const ModeOperator& problem = impl_->problem_of(*solved.job).problem;
  const double omega = impl_->omega_of(*solved.job);
  const Eigen::Index k = property_changes[0].cols();
  MatrixXcd rhs = MatrixXcd::Zero(problem.n_unknowns(), k);
  for (int p = 0; p < problem.n_properties(); ++p) {
    for (int cell = 0; cell < problem.n_cells(); ++cell) {
      const auto change = problem.element_derivative(cell, p, omega, solved.properties, solved.field, true);
      for (Eigen::Index a = 0; a < change.size(); ++a) {
        if (const int row = problem.unknown_of(problem.cell_nodes(cell)[a]); row >= 0)
          rhs.row(row) -= change[a] * property_changes[p].row(cell);
      }
    }
  }
  const MatrixXcd field_change = impl_->solve_with(solved, rhs);
  MatrixXcd result = MatrixXcd::Zero(static_cast<Eigen::Index>(solved.transfers.size()), k);
  for (std::size_t f = 0; f < solved.transfers.size(); ++f) {
    auto row = result.row(static_cast<Eigen::Index>(f));
    for (const auto& [node, weight] : solved.transfers[f].gradient) {
      if (const int unknown = problem.unknown_of(node); unknown >= 0)
        row += weight * field_change.row(unknown);
    }
    for (const auto& [cell, local, weight] : solved.transfers[f].direct) {
      for (int p = 0; p < problem.n_properties(); ++p) {
        row += weight *
               problem.element_derivative(cell, p, omega, solved.properties, solved.field, false)[local] *
               property_changes[p].row(cell);
      }
    }
    for (const auto& [cell, weight] : solved.transfers[f].property)
      row += weight * property_changes[0].row(cell);
  }
  return result;
}

MatrixXd SimulationLinearization::do_jvp(const core::ConstMatrixRef& directions) const {
  MatrixXd result = MatrixXd::Zero(size_out(), directions.cols());
  const MatrixXd changes = directions;
  core::parallel_for(std::ssize(solved_), [&](std::ptrdiff_t i) {
    const SolvedJob& solved = solved_[i];
    const CellAverages& averages = impl_->averages_of(*solved.job);
    const MatrixXcd change = transfer_changes(solved, solved.job->mode == Mode::te
                                                          ? averages.strike_change(resistivity_, changes)
                                                          : averages.section_change(resistivity_, changes));
    for (Eigen::Index f = 0; f < change.rows(); ++f) {
      const Eigen::Index row = 2 * solved.job->responses[f];
      result.row(row) = change.row(f).real();
      result.row(row + 1) = change.row(f).imag();
    }
  });
  core::share_rows(impl_->comm, impl_->owner_of_output, result);
  return result;
}

}  // namespace

std::unique_ptr<core::Linearization> linearization_of(std::shared_ptr<const Simulation::Impl> impl,
                                                      const Eigen::VectorXd& resistivity) {
  std::vector<SolvedJob> solved;
  Eigen::VectorXd outputs = impl->respond(resistivity, &solved);
  return std::make_unique<SimulationLinearization>(std::move(impl), resistivity, std::move(outputs),
                                                   std::move(solved));
}

}  // namespace lodestone::physics::mt::d2
