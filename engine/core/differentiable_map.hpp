// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::core {

using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd>;
using ConstVectorRef = Eigen::Ref<const Eigen::VectorXd>;

/// A sparse matrix stored row by row, as Jacobians of cheap maps are.
using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

/// Some rows of a Jacobian.
struct JacobianRows {
  std::vector<Eigen::Index> rows;  ///< which, each once, in any order
  Eigen::MatrixXd values;          ///< (rows.size(), n_in)
};

/// A map F frozen at one point x: its value and its derivative J = dF/dx. Owns the fields and factorizations
/// at x; immutable.
///
/// collective: every member, over the communicator of the map that made it.
class Linearization {
 public:
  virtual ~Linearization() = default;
  Linearization(const Linearization&) = delete;
  Linearization& operator=(const Linearization&) = delete;

  [[nodiscard]] Eigen::Index size_in() const { return size_in_; }
  [[nodiscard]] Eigen::Index size_out() const { return value_.size(); }
  /// Returns F(x), shape (n_out).
  [[nodiscard]] const Eigen::VectorXd& value() const { return value_; }
  /// Returns J V for k directions at once. shapes: V (n_in, k) → (n_out, k). errors: ShapeError.
  [[nodiscard]] Eigen::MatrixXd jvp(const ConstMatrixRef& directions) const;
  /// Returns Jᵀ W for k directions at once. shapes: W (n_out, k) → (n_in, k). errors: ShapeError.
  [[nodiscard]] Eigen::MatrixXd vjp(const ConstMatrixRef& directions) const;
  /// Returns W J for k rows at once: the `vjp` of rows that lie in memory as those of a Jacobian do. shapes:
  /// W (k, n_out) → (k, n_in). errors: ShapeError.
  [[nodiscard]] Eigen::MatrixXd row_product(Eigen::MatrixXd rows) const;
  /// Returns the dense J, shape (n_out, n_in), on every rank.
  [[nodiscard]] Eigen::MatrixXd jacobian() const;
  /// Returns the rows of J that this rank holds. Every row is held by at least one rank; a row that several
  /// hold (all of them, in a serial map) has the same bits there. errors of all five: SolverError when the
  /// result is not finite, here and below perhaps on one rank only.
  [[nodiscard]] JacobianRows local_jacobian() const;
  /// Returns J as a sparse matrix, of maps for which this costs no more than a few passes over the outputs;
  /// nothing for others. All ranks return the same. shapes: (n_out, n_in). errors: ShapeError when a map
  /// gives another shape, SolverError when an entry is not finite.
  [[nodiscard]] std::optional<SparseRows> sparse_jacobian() const;
  /// Returns the rows of left J J_inner that this rank holds; either factor may be absent. Every row is held
  /// by at least one rank, also a row that combines outputs of several ranks. Without `left` these are the
  /// rows of `local_jacobian`. `left` is the same on all ranks; `inner` must be serial, and ranks take
  /// products with it by themselves. shapes: left (n_rows, n_out) → rows in 0 … n_rows − 1. errors:
  /// ShapeError, SolverError.
  [[nodiscard]] JacobianRows local_rows(const SparseRows& left, const Linearization& inner) const {
    return finite_rows(&left, &inner);
  }
  [[nodiscard]] JacobianRows local_rows(const SparseRows& left) const { return finite_rows(&left, nullptr); }
  [[nodiscard]] JacobianRows local_rows(const Linearization& inner) const {
    return finite_rows(nullptr, &inner);
  }
  /// Returns the memory held on this rank in bytes, an estimate that the engine counts for a simulation in a
  /// graph.
  /// The default: the value alone. Not collective.
  [[nodiscard]] virtual std::size_t bytes() const {
    return static_cast<std::size_t>(value_.size()) * sizeof(double);
  }

 protected:
  Linearization(Eigen::Index size_in, Eigen::VectorXd value) : size_in_(size_in), value_(std::move(value)) {}
  /// Returns a Jacobian that is whole on this rank, as `do_local_jacobian` gives it.
  [[nodiscard]] static JacobianRows every_row(Eigen::MatrixXd jacobian);
  /// Returns `part.local_rows` of the factors that are not null, `part.local_jacobian` without any, for a map
  /// made of others. They are not searched for NaN: the map that returns rows to a caller does it, once.
  [[nodiscard]] static JacobianRows rows_of(const Linearization& part, const SparseRows* left = nullptr,
                                            const Linearization* inner = nullptr);
  /// The default without `left` takes `local_jacobian` at once; with `left` it multiplies the whole Jacobian,
  /// and every rank holds every row. Override where ranks compute rows of their own, or where rows come in
  /// blocks, so that each goes through `inner` while it is in cache. An absent factor is null; at least one
  /// is present.
  virtual JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const;

 private:
  virtual Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const = 0;
  virtual Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const = 0;
  /// The default turns the rows and calls `vjp`; override where columns of the rows can be taken as they are.
  virtual Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const;
  /// The default calls `vjp` in blocks of unit vectors; override where cheaper.
  virtual Eigen::MatrixXd do_jacobian() const;
  /// The default gives every row on every rank; override where ranks compute rows of their own.
  virtual JacobianRows do_local_jacobian() const;
  /// The default has none.
  virtual std::optional<SparseRows> do_sparse_jacobian() const { return {}; }
  [[nodiscard]] JacobianRows finite_rows(const SparseRows* left, const Linearization* inner) const;

  Eigen::Index size_in_;
  Eigen::VectorXd value_;
};

/// The contract between unknowns and data: a forward solver, a transform, a decoder … Real f64 vectors,
/// replicated on every rank.
///
/// A new physics derives from this class, and inversion, learned priors, checkpoints and output work with it.
class DifferentiableMap {
 public:
  virtual ~DifferentiableMap() = default;

  [[nodiscard]] virtual Eigen::Index size_in() const = 0;
  [[nodiscard]] virtual Eigen::Index size_out() const = 0;
  /// Returns a short name for messages, e.g. "mt::d2::Simulation".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Identifies the communicator the members are collective over; 0 = serial.
  [[nodiscard]] virtual int communicator_id() const { return 0; }

  /// Returns F(x). shapes: x (n_in) → (n_out). errors: ShapeError; InvalidArgument when x is not finite,
  /// SolverError when F(x) is not. collective.
  [[nodiscard]] Eigen::VectorXd value(const ConstVectorRef& x) const;
  /// Returns F and its derivative at x. errors and collective as `value`.
  [[nodiscard]] std::unique_ptr<Linearization> linearize(const ConstVectorRef& x) const;

 private:
  void check(const ConstVectorRef& x) const;
  /// The default linearizes and takes the value.
  virtual Eigen::VectorXd do_value(const ConstVectorRef& x) const;
  virtual std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const = 0;
};

using MapPtr = std::shared_ptr<const DifferentiableMap>;

}  // namespace lodestone::core
