// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"

#include <memory>
#include <string>
#include <utility>

/// A map of which only products may be asked, shared by the tests of steps without a Jacobian.
namespace lodestone::tests {

/// Products with single vectors, as a map counts them.
struct Counts {
  Eigen::Index n_jvp = 0, n_vjp = 0;
  Eigen::Index fails_at = -1;  ///< the product that does not converge
  [[nodiscard]] Eigen::Index n_products() const { return n_jvp + n_vjp; }
};

/// A linearization without rows: only products.
class CountedLinearization final : public core::Linearization {
 public:
  CountedLinearization(std::unique_ptr<core::Linearization> inner, Counts& counts)
      : Linearization(inner->size_in(), inner->value()), inner_(std::move(inner)), counts_(counts) {}

 private:
  void check() const {
    if (counts_.n_products() == counts_.fails_at)
      throw core::SolverError("tests::CountedLinearization#no_convergence", "the product did not converge");
  }
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    check();
    counts_.n_jvp += directions.cols();
    return inner_->jvp(directions);
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    check();
    counts_.n_vjp += directions.cols();
    return inner_->vjp(directions);
  }
  Eigen::MatrixXd do_jacobian() const override {
    throw core::SolverError("tests::CountedLinearization#rows", "the Jacobian was asked for");
  }
  core::JacobianRows do_local_jacobian() const override { return {{}, do_jacobian()}; }

  std::unique_ptr<core::Linearization> inner_;
  Counts& counts_;
};

/// Counts the products of all its linearizations.
class CountedMap final : public core::DifferentiableMap {
 public:
  explicit CountedMap(core::MapPtr inner) : inner_(std::move(inner)) {}
  [[nodiscard]] Eigen::Index size_in() const override { return inner_->size_in(); }
  [[nodiscard]] Eigen::Index size_out() const override { return inner_->size_out(); }
  [[nodiscard]] std::string name() const override { return "tests::CountedMap"; }
  mutable Counts counts;

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override { return inner_->value(x); }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    return std::make_unique<CountedLinearization>(inner_->linearize(x), counts);
  }
  core::MapPtr inner_;
};

}  // namespace lodestone::tests
