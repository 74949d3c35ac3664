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

/// The derivatives of the responses of single jobs at one model.
class JobDerivatives {
 public:
  JobDerivatives(std::shared_ptr<const Simulation::Impl> impl, Eigen::VectorXd resistivity)
      : impl_(std::move(impl)), resistivity_(std::move(resistivity)) {}

  [[nodiscard]] const Simulation::Impl& impl() const { return *impl_; }
  [[nodiscard]] const Eigen::VectorXd& resistivity() const { return resistivity_; }

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
  /// Returns the rows of J of all responses of this job. → (2 n_transfers, n_parameters).
  [[nodiscard]] MatrixXd all_rows(const SolvedJob& solved) const;

 private:
  /// Returns Σ_f combination(f, k)·g_f on the unknowns. shapes: combination (n_transfers, k) → (k,
  /// n_unknowns).
  [[nodiscard]] MatrixXcd gradients(const SolvedJob& solved, const MatrixXcd& combination) const;

  std::shared_ptr<const Simulation::Impl> impl_;
  Eigen::VectorXd resistivity_;
};

/// Returns the rows of `left` by job of the simulation, rows without entries with the first one; nothing
/// where a row combines jobs, or there are none.
std::optional<std::vector<std::vector<Eigen::Index>>> rows_by_job(const Simulation::Impl& impl,
                                                                  const core::SparseRows& left) {
  if (impl.jobs.empty()) return {};
  std::vector<std::vector<Eigen::Index>> result(impl.jobs.size());
  for (Eigen::Index row = 0; row < left.rows(); ++row) {
    int job = -1;
    for (core::SparseRows::InnerIterator at(left, row); at; ++at) {
      const int of_entry = impl.place_of_response[at.col() / 2].first;
      if (job >= 0 && of_entry != job) return {};
      job = of_entry;
    }
    result[std::max(job, 0)].push_back(row);
  }
  return result;
}

/// A linearization that keeps the factors of its jobs.
class SimulationLinearization final : public core::Linearization {
 public:
  SimulationLinearization(JobDerivatives derivatives, Eigen::VectorXd value, std::vector<SolvedJob> solved)
      : core::Linearization(derivatives.resistivity().size(), std::move(value)),
        derivatives_(std::move(derivatives)),
        impl_(derivatives_.impl()),
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

  [[nodiscard]] core::SparseRows every_response() const;
  /// Returns the change of the transfer functions of a job for k changes of its properties. → (n_transfers,
  /// k).
  [[nodiscard]] MatrixXcd transfer_changes(const SolvedJob& solved,
                                           const std::vector<MatrixXd>& property_changes) const;

  JobDerivatives derivatives_;
  const Simulation::Impl& impl_;
  std::vector<SolvedJob> solved_;  ///< this rank's jobs, in the order of `own_jobs`
};

MatrixXcd JobDerivatives::gradients(const SolvedJob& solved, const MatrixXcd& combination) const {
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

std::vector<MatrixXcd> JobDerivatives::property_derivatives(const SolvedJob& solved,
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

MatrixXd JobDerivatives::to_parameters(const SolvedJob& solved, const std::vector<MatrixXd>& weights) const {
  const core::ScopedTimer timer("mt2d/cells to parameters");
  MatrixXd result = MatrixXd::Zero(weights[0].rows(), resistivity_.size());
  const CellAverages& averages = impl_->averages_of(*solved.job);
  if (solved.job->mode == Mode::te) {
    averages.add_strike_transposed(resistivity_, weights, result);
  } else {
    averages.add_section_transposed(resistivity_, weights, result);
  }
  return result;
}

MatrixXd JobDerivatives::job_rows(const SolvedJob& solved, const core::SparseRows& left,
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

MatrixXd JobDerivatives::all_rows(const SolvedJob& solved) const {
  const auto n = static_cast<Eigen::Index>(solved.transfers.size());
  std::vector<MatrixXd> weights;
  for (const MatrixXcd& derivative : property_derivatives(solved, MatrixXcd::Identity(n, n))) {
    MatrixXd& parts = weights.emplace_back(2 * n, derivative.cols());
    for (Eigen::Index f = 0; f < n; ++f) {
      parts.row(2 * f) = derivative.row(f).real();
      parts.row(2 * f + 1) = derivative.row(f).imag();
    }
  }
  return to_parameters(solved, weights);
}

core::JacobianRows SimulationLinearization::do_local_rows(const core::SparseRows* left,
                                                          const core::Linearization* inner) const {
  if (left == nullptr) {
    const core::SparseRows whole = every_response();
    return do_local_rows(&whole, inner);
  }
  const auto by_job = rows_by_job(impl_, *left);
  if (!by_job) return core::Linearization::do_local_rows(left, inner);
  const auto rows_of = [&](const SolvedJob& solved) -> const std::vector<Eigen::Index>& {
    return (*by_job)[solved.job - impl_.jobs.data()];
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
    MatrixXd rows = derivatives_.job_rows(solved_[i], *left, rows_of(solved_[i]));
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
  core::share_rows(impl_.comm, impl_.owner_of_output, jacobian);
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
    for (const MatrixXcd& derivative : derivatives_.property_derivatives(solved, combination))
      weights.emplace_back(derivative.real());
    sum.add(i, derivatives_.to_parameters(solved, weights).transpose());
  });
  MatrixXd result = sum.take();
  core::sum_in_rank_order(impl_.comm, result);
  return result;
}

MatrixXcd SimulationLinearization::transfer_changes(const SolvedJob& solved,
                                                    const std::vector<MatrixXd>& property_changes) const {
  const ModeOperator& problem = impl_.problem_of(*solved.job).problem;
  const double omega = impl_.omega_of(*solved.job);
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
  const MatrixXcd field_change = impl_.solve_with(solved, rhs);
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
    const CellAverages& averages = impl_.averages_of(*solved.job);
    const MatrixXcd change = transfer_changes(
        solved, solved.job->mode == Mode::te ? averages.strike_change(derivatives_.resistivity(), changes)
                                             : averages.section_change(derivatives_.resistivity(), changes));
    for (Eigen::Index f = 0; f < change.rows(); ++f) {
      const Eigen::Index row = 2 * solved.job->responses[f];
      result.row(row) = change.row(f).real();
      result.row(row + 1) = change.row(f).imag();
    }
  });
  core::share_rows(impl_.comm, impl_.owner_of_output, result);
  return result;
}

/// A linearization that keeps the rows of its Jacobian in place of factors.
class RowLinearization final : public core::Linearization {
 public:
  /// `rows`: of each job of this rank, those of its responses, real and imaginary part in turn.
  RowLinearization(std::shared_ptr<const Simulation::Impl> impl, Eigen::Index size_in, Eigen::VectorXd value,
                   std::vector<MatrixXd> rows)
      : core::Linearization(size_in, std::move(value)), impl_(std::move(impl)), rows_(std::move(rows)) {}
  [[nodiscard]] std::size_t bytes() const override {
    std::size_t numbers = 0;
    for (const MatrixXd& rows : rows_) numbers += static_cast<std::size_t>(rows.size());
    return numbers * sizeof(double) + core::Linearization::bytes();
  }

 private:
  /// Calls visit(row of J, its job's rows, place there) for all rows of this rank.
  template <class Visit>
  void for_rows(Visit visit) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      for (Eigen::Index row = 0; row < rows_[i].rows(); ++row)
        visit(2 * impl_->own_jobs[i]->responses[static_cast<std::size_t>(row / 2)] + row % 2, rows_[i], row);
    }
  }
  core::JacobianRows do_local_jacobian() const override {
    core::JacobianRows block;
    for_rows([&](Eigen::Index row, const MatrixXd&, Eigen::Index) { block.rows.push_back(row); });
    block.values.resize(std::ssize(block.rows), size_in());
    Eigen::Index next = 0;
    for (const MatrixXd& rows : rows_) {
      block.values.middleRows(next, rows.rows()) = rows;
      next += rows.rows();
    }
    return block;
  }
  MatrixXd do_jacobian() const override {
    MatrixXd jacobian(size_out(), size_in());
    for_rows(
        [&](Eigen::Index row, const MatrixXd& rows, Eigen::Index at) { jacobian.row(row) = rows.row(at); });
    core::share_rows(impl_->comm, impl_->owner_of_output, jacobian);
    return jacobian;
  }
  MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    MatrixXd result = MatrixXd::Zero(size_out(), directions.cols());
    for_rows([&](Eigen::Index row, const MatrixXd& rows, Eigen::Index at) {
      result.row(row).noalias() = rows.row(at) * directions;
    });
    core::share_rows(impl_->comm, impl_->owner_of_output, result);
    return result;
  }
  MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    MatrixXd result = MatrixXd::Zero(size_in(), directions.cols());
    for_rows([&](Eigen::Index row, const MatrixXd& rows, Eigen::Index at) {
      result.noalias() += rows.row(at).transpose() * directions.row(row);
    });
    core::sum_in_rank_order(impl_->comm, result);
    return result;
  }
  core::JacobianRows do_local_rows(const core::SparseRows* left,
                                   const core::Linearization* inner) const override;

  std::shared_ptr<const Simulation::Impl> impl_;
  std::vector<MatrixXd> rows_;  ///< in the order of `own_jobs`
};

core::JacobianRows RowLinearization::do_local_rows(const core::SparseRows* left,
                                                   const core::Linearization* inner) const {
  if (left == nullptr) {
    core::JacobianRows block = do_local_jacobian();
    if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
    return block;
  }
  const auto by_job = rows_by_job(*impl_, *left);
  if (!by_job) return core::Linearization::do_local_rows(left, inner);
  core::JacobianRows block;
  for (const Job* job : impl_->own_jobs) {
    const auto& rows = (*by_job)[static_cast<std::size_t>(job - impl_->jobs.data())];
    block.rows.insert(block.rows.end(), rows.begin(), rows.end());
  }
  block.values = MatrixXd::Zero(std::ssize(block.rows), size_in());
  Eigen::Index next = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (const Eigen::Index row :
         (*by_job)[static_cast<std::size_t>(impl_->own_jobs[i] - impl_->jobs.data())]) {
      for (core::SparseRows::InnerIterator at(*left, row); at; ++at) {
        const Eigen::Index transfer = impl_->place_of_response[static_cast<std::size_t>(at.col() / 2)].second;
        block.values.row(next) += at.value() * rows_[i].row(2 * transfer + at.col() % 2);
      }
      ++next;
    }
  }
  if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
  return block;
}

}  // namespace

std::unique_ptr<core::Linearization> linearization_of(std::shared_ptr<const Simulation::Impl> impl,
                                                      const Eigen::VectorXd& resistivity) {
  JobDerivatives derivatives(impl, resistivity);
  const std::size_t n_jobs = impl->own_jobs.size();
  if (!impl->keeps_factors()) {
    std::vector<MatrixXd> rows(n_jobs);
    Eigen::VectorXd outputs = impl->respond(resistivity, [&](std::ptrdiff_t i, SolvedJob&& solved) {
      rows[static_cast<std::size_t>(i)] = derivatives.all_rows(solved);
    });
    return std::make_unique<RowLinearization>(std::move(impl), resistivity.size(), std::move(outputs),
                                              std::move(rows));
  }
  std::vector<SolvedJob> solved(n_jobs);
  Eigen::VectorXd outputs = impl->respond(resistivity, [&](std::ptrdiff_t i, SolvedJob&& one) {
    solved[static_cast<std::size_t>(i)] = std::move(one);
  });
  return std::make_unique<SimulationLinearization>(std::move(derivatives), std::move(outputs),
                                                   std::move(solved));
}

}  // namespace lodestone::physics::mt::d2
