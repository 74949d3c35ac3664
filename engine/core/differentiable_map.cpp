// SPDX-License-Identifier: Apache-2.0
#include "engine/core/differentiable_map.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::core {
namespace {

constexpr Eigen::Index jacobian_block =
    64;  // unit vectors per vjp call: bounds memory, keeps multi-right-hand-side solves full

void expect_rows(const char* what, const ConstMatrixRef& directions, Eigen::Index rows) {
  if (directions.rows() != rows) {
    throw ShapeError(
        "core::Linearization#wrong_directions",
        "{}: expected directions of shape ({}, k), got ({}, {}); was the map made for other unknowns?", what,
        rows, directions.rows(), directions.cols());
  }
}

/// x − x is 0 or NaN; the sum takes a third of the time of `allFinite`.
bool all_finite(const Eigen::MatrixXd& x) { return (x - x).sum() == 0.0; }

void check_shape(const char* what, const Eigen::MatrixXd& result, Eigen::Index rows, Eigen::Index cols) {
  if (result.rows() != rows || result.cols() != cols) {
    throw ShapeError(
        "core::Linearization#wrong_result",
        "{}: expected a result of shape ({}, {}), the map gave ({}, {}); this is a fault in the map", what,
        rows, cols, result.rows(), result.cols());
  }
}

void check_finite(const char* what, const Eigen::MatrixXd& result) {
  if (!all_finite(result))
    throw SolverError("core::Linearization#not_finite",
                      "{}: expected finite numbers, the map gave NaN or infinity", what);
}

Eigen::MatrixXd checked(const char* what, Eigen::MatrixXd result, Eigen::Index rows, Eigen::Index cols) {
  check_shape(what, result, rows, cols);
  check_finite(what, result);
  return result;
}

void check_rows(const char* what, const std::vector<Eigen::Index>& rows, Eigen::Index size_out) {
  std::vector<bool> seen(static_cast<std::size_t>(size_out), false);
  for (const Eigen::Index row : rows) {
    if (row < 0 || row >= size_out || seen[static_cast<std::size_t>(row)]) {
      throw ShapeError("core::Linearization#wrong_rows",
                       "{}: expected distinct rows in 0 … {}, the map gave {}{}; this is a fault in the map",
                       what, size_out - 1, row, row >= 0 && row < size_out ? " twice" : "");
    }
    seen[static_cast<std::size_t>(row)] = true;
  }
}

Eigen::Index first_not_finite(const ConstVectorRef& x) {
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return i;
  }
  return -1;
}

void check_result(const DifferentiableMap& map, const ConstVectorRef& result) {
  if (result.size() != map.size_out()) {
    throw ShapeError(map.name() + "#wrong_outputs",
                     "expected {} outputs, the map gave {}; this is a fault in the map", map.size_out(),
                     result.size());
  }
  if (const Eigen::Index bad = first_not_finite(result); bad >= 0) {
    throw SolverError(
        map.name() + "#not_finite",
        "expected finite outputs, got {} at index {} of {}; are the unknowns in a sensible range?",
        result[bad], bad, result.size());
  }
}

}  // namespace

Eigen::MatrixXd Linearization::jvp(const ConstMatrixRef& directions) const {
  expect_rows("jvp", directions, size_in());
  return checked("jvp", do_jvp(directions), size_out(), directions.cols());
}

Eigen::MatrixXd Linearization::vjp(const ConstMatrixRef& directions) const {
  expect_rows("vjp", directions, size_out());
  return checked("vjp", do_vjp(directions), size_in(), directions.cols());
}

Eigen::MatrixXd Linearization::row_product(Eigen::MatrixXd rows) const {
  if (rows.cols() != size_out()) {
    throw ShapeError(
        "core::Linearization#wrong_directions",
        "row_product: expected rows of shape (k, {}), got ({}, {}); was the map made for other unknowns?",
        size_out(), rows.rows(), rows.cols());
  }
  const Eigen::Index n_rows = rows.rows();
  return checked("row_product", do_row_product(std::move(rows)), n_rows, size_in());
}

Eigen::MatrixXd Linearization::jacobian() const {
  return checked("jacobian", do_jacobian(), size_out(), size_in());
}

JacobianRows Linearization::local_jacobian() const { return finite_rows(nullptr, nullptr); }

std::optional<SparseRows> Linearization::sparse_jacobian() const {
  auto jacobian = do_sparse_jacobian();
  if (!jacobian) return jacobian;
  if (jacobian->rows() != size_out() || jacobian->cols() != size_in())
    throw ShapeError(
        "core::Linearization#wrong_result",
        "sparse_jacobian: expected a result of shape ({}, {}), the map gave ({}, {}); this is a fault "
        "in the map",
        size_out(), size_in(), jacobian->rows(), jacobian->cols());
  jacobian->makeCompressed();
  const Eigen::Map<const Eigen::VectorXd> entries(jacobian->valuePtr(), jacobian->nonZeros());
  if (!entries.allFinite())
    throw SolverError("core::Linearization#not_finite",
                      "sparse_jacobian: expected finite numbers, the map gave NaN or infinity");
  return jacobian;
}

JacobianRows Linearization::finite_rows(const SparseRows* left, const Linearization* inner) const {
  JacobianRows block = rows_of(*this, left, inner);
  check_finite(left == nullptr && inner == nullptr ? "local_jacobian" : "local_rows", block.values);
  return block;
}

JacobianRows Linearization::rows_of(const Linearization& part, const SparseRows* left,
                                    const Linearization* inner) {
  if (left != nullptr && left->cols() != part.size_out())
    throw ShapeError(
        "core::Linearization#wrong_left",
        "local_rows: expected a matrix of {} columns on the left, got {}; was it made for other data?",
        part.size_out(), left->cols());
  if (inner != nullptr && inner->size_out() != part.size_in())
    throw ShapeError("core::Linearization#wrong_inner_map",
                     "local_rows: expected an inner map of {} outputs, got one of {}", part.size_in(),
                     inner->size_out());
  const bool alone = left == nullptr && inner == nullptr;
  JacobianRows block = alone ? part.do_local_jacobian() : part.do_local_rows(left, inner);
  const char* what = alone ? "local_jacobian" : "local_rows";
  check_rows(what, block.rows, left == nullptr ? part.size_out() : left->rows());
  check_shape(what, block.values, std::ssize(block.rows),
              inner == nullptr ? part.size_in() : inner->size_in());
  return block;
}

JacobianRows Linearization::every_row(Eigen::MatrixXd jacobian) {
  JacobianRows block{std::vector<Eigen::Index>(static_cast<std::size_t>(jacobian.rows())),
                     std::move(jacobian)};
  std::iota(block.rows.begin(), block.rows.end(), Eigen::Index{0});
  return block;
}

Eigen::MatrixXd Linearization::do_row_product(Eigen::MatrixXd rows) const {
  return vjp(rows.transpose()).transpose();
}

JacobianRows Linearization::do_local_jacobian() const { return every_row(jacobian()); }

JacobianRows Linearization::do_local_rows(const SparseRows* left, const Linearization* inner) const {
  const auto product = [&] {
    const auto sparse = sparse_jacobian();
    return sparse ? Eigen::MatrixXd(*left * *sparse) : Eigen::MatrixXd(*left * jacobian());
  };
  JacobianRows block = left == nullptr ? rows_of(*this) : every_row(product());
  if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
  return block;
}

Eigen::MatrixXd Linearization::do_jacobian() const {
  Eigen::MatrixXd jacobian(size_out(), size_in());
  for (Eigen::Index first = 0; first < size_out(); first += jacobian_block) {
    const Eigen::Index count = std::min(jacobian_block, size_out() - first);
    Eigen::MatrixXd units = Eigen::MatrixXd::Zero(size_out(), count);
    units.middleRows(first, count).setIdentity();
    jacobian.middleRows(first, count) = vjp(units).transpose();
  }
  return jacobian;
}

void DifferentiableMap::check(const ConstVectorRef& x) const {
  if (x.size() != size_in())
    throw ShapeError(name() + "#wrong_unknowns",
                     "expected {} unknowns, got {}; does the model belong to this map?", size_in(), x.size());
  if (const Eigen::Index bad = first_not_finite(x); bad >= 0) {
    throw InvalidArgument(name() + "#unknowns_not_finite",
                          "expected finite unknowns, got {} at index {} of {}", x[bad], bad, x.size());
  }
}

Eigen::VectorXd DifferentiableMap::value(const ConstVectorRef& x) const {
  check(x);
  Eigen::VectorXd result = do_value(x);
  check_result(*this, result);
  return result;
}

std::unique_ptr<Linearization> DifferentiableMap::linearize(const ConstVectorRef& x) const {
  check(x);
  auto linearization = do_linearize(x);
  check_result(*this, linearization->value());
  if (linearization->size_in() != size_in()) {
    throw ShapeError(name() + "#wrong_linearization",
                     "expected a linearization of {} unknowns, the map gave {}; this is a fault in the map",
                     size_in(), linearization->size_in());
  }
  return linearization;
}

Eigen::VectorXd DifferentiableMap::do_value(const ConstVectorRef& x) const {
  return do_linearize(x)->value();
}

}  // namespace lodestone::core
