// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/extrapolation.hpp"

#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"

#include <utility>

namespace lodestone::physics::mt::d3 {
namespace {

/// Combines what the two maps give.
template <class Numbers>
Numbers combined(const Numbers& fine, const Numbers& coarse) {
  return (4.0 * fine - coarse) / 3.0;
}

class ExtrapolatedLinearization final : public core::Linearization {
 public:
  ExtrapolatedLinearization(MPI_Comm comm, std::unique_ptr<core::Linearization> fine,
                            std::unique_ptr<core::Linearization> coarse)
      : Linearization(fine->size_in(), combined(fine->value(), coarse->value())),
        comm_(comm),
        fine_(std::move(fine)),
        coarse_(std::move(coarse)) {}
  [[nodiscard]] std::size_t bytes() const override {
    return core::Linearization::bytes() + fine_->bytes() + coarse_->bytes();
  }

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return combined(fine_->jvp(directions), coarse_->jvp(directions));
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return combined(fine_->vjp(directions), coarse_->vjp(directions));
  }
  Eigen::MatrixXd do_jacobian() const override { return combined(fine_->jacobian(), coarse_->jacobian()); }
  /// Ranks keep their rows where they hold the same rows of both; else all hold all.
  core::JacobianRows do_local_jacobian() const override {
    core::JacobianRows of_fine = rows_of(*fine_), of_coarse = rows_of(*coarse_);
    if (core::any_rank(comm_, of_fine.rows != of_coarse.rows)) return every_row(do_jacobian());
    of_fine.values = combined(of_fine.values, of_coarse.values);
    return of_fine;
  }

  MPI_Comm comm_;
  std::unique_ptr<core::Linearization> fine_, coarse_;
};

class ExtrapolatedMap final : public core::DifferentiableMap {
 public:
  ExtrapolatedMap(MPI_Comm comm, core::MapPtr fine, core::MapPtr coarse)
      : comm_(comm), fine_(std::move(fine)), coarse_(std::move(coarse)) {
    if (fine_ == nullptr || coarse_ == nullptr)
      throw core::InvalidArgument("mt::d3::extrapolated#no_map", "expected two maps, but one is absent");
    if (fine_->size_in() != coarse_->size_in() || fine_->size_out() != coarse_->size_out())
      throw core::ShapeError("mt::d3::extrapolated#wrong_size",
                             "expected two maps of {} inputs and {} outputs, the second has {} and {}",
                             fine_->size_in(), fine_->size_out(), coarse_->size_in(), coarse_->size_out());
  }
  [[nodiscard]] Eigen::Index size_in() const override { return fine_->size_in(); }
  [[nodiscard]] Eigen::Index size_out() const override { return fine_->size_out(); }
  [[nodiscard]] std::string name() const override { return "extrapolated " + fine_->name(); }
  [[nodiscard]] int communicator_id() const override { return fine_->communicator_id(); }

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    return combined(fine_->value(x), coarse_->value(x));
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    auto fine = fine_->linearize(x);
    return std::make_unique<ExtrapolatedLinearization>(comm_, std::move(fine), coarse_->linearize(x));
  }

  MPI_Comm comm_;
  core::MapPtr fine_, coarse_;
};

}  // namespace

core::MapPtr extrapolated(MPI_Comm comm, core::MapPtr fine, core::MapPtr coarse) {
  return std::make_shared<ExtrapolatedMap>(comm, std::move(fine), std::move(coarse));
}

}  // namespace lodestone::physics::mt::d3
