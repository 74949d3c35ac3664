// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/data_space.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

#include <cmath>

using namespace lodestone;

namespace {

constexpr Eigen::Index n_model = 50, n_data = 600;  // three blocks of data

/// J as given, F = 0.
class FixedJacobian final : public core::Linearization {
 public:
  explicit FixedJacobian(Eigen::MatrixXd jacobian)
      : Linearization(jacobian.cols(), Eigen::VectorXd::Zero(jacobian.rows())), jacobian_(std::move(jacobian)) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override { return jacobian_ * directions; }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override { return jacobian_.transpose() * directions; }
  Eigen::MatrixXd do_jacobian() const override { return jacobian_; }
  Eigen::MatrixXd jacobian_;
};

}  // namespace

TEST_CASE("data space: jump and creeping step are the solutions of the normal equations in model space") {
  const Eigen::MatrixXd a = tests::random_matrix(n_data, n_model, 1);
  const auto map = core::affine(a, Eigen::VectorXd::Ones(n_data));
  const auto regularization = tests::line_roughness(n_model, 0.5);
  const Eigen::VectorXd observed = tests::random_matrix(n_data, 1, 2).col(0);
  const inversion::DataMisfit misfit = tests::plain_misfit(observed, 0.1);
  const Eigen::VectorXd m = tests::random_matrix(n_model, 1, 3).col(0);
  const inversion::Team team(MPI_COMM_SELF);
  const inversion::DataSpaceSystem system(team, *map->linearize(m), misfit, *regularization, m);
  const Eigen::MatrixXd inverse_covariance =
      Eigen::MatrixXd(regularization->roughness()).transpose() * Eigen::MatrixXd(regularization->roughness());
  for (const double lambda : {1e-1, 10.0, 1e4}) {
    const Eigen::VectorXd expected = (a.transpose() * a / 0.01 + lambda * inverse_covariance)
                                         .ldlt()
                                         .solve(a.transpose() * (observed - Eigen::VectorXd::Ones(n_data)) / 0.01 +
                                                lambda * inverse_covariance * regularization->reference());
    const auto model = system.jump(lambda);
    REQUIRE(model);
    CHECK((*model - expected).norm() < 1e-7 * expected.norm());
    CHECK(system.linear_rms(lambda) == Approx(misfit.rms(map->value(expected))).epsilon(1e-9));
    const Eigen::VectorXd change =
        (a.transpose() * a / 0.01 + lambda * inverse_covariance).ldlt().solve(a.transpose() * (observed - map->value(m)) / 0.01);
    const auto crept = system.creep(lambda);
    REQUIRE(crept);
    CHECK((*crept - m - change).norm() < 1e-7 * change.norm());
  }
  const Eigen::MatrixXd g = 100.0 * a * inverse_covariance.inverse() * a.transpose();
  CHECK(system.mean_diagonal() == Approx(g.diagonal().mean()).epsilon(1e-10));
  CHECK_FALSE(system.jump(-1e9));
  CHECK_FALSE(system.creep(-1e9));
  CHECK(std::isinf(system.linear_rms(-1e9)));
}

TEST_CASE("data space: masked data do not enter, whatever their rows hold") {
  Eigen::MatrixXd a = tests::random_matrix(20, 10, 1);
  const auto regularization = tests::line_roughness(10);
  const Eigen::VectorXd m = Eigen::VectorXd::Zero(10), observed = tests::random_matrix(20, 1, 2).col(0);
  std::vector<std::uint8_t> kept(20, 1);
  kept[3] = kept[19] = 0;
  const inversion::DataMisfit misfit(observed, Eigen::VectorXd::Ones(20), kept, std::vector<std::uint8_t>(20, 0));
  const inversion::Team team(MPI_COMM_SELF);
  const auto model_of = [&] {
    const FixedJacobian linearization(a);
    return *inversion::DataSpaceSystem(team, linearization, misfit, *regularization, m).jump(1.0);
  };
  const Eigen::VectorXd before = model_of();
  a.row(3).setConstant(1e6);
  a.row(19).setConstant(-1e300);
  CHECK((model_of() - before).norm() == 0.0);
  a(4, 4) += 1e-3;
  CHECK((model_of() - before).norm() > 0.0);
}
