// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/system.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <Eigen/Dense>

#include <array>
#include <cmath>

using namespace lodestone;

namespace {

constexpr Eigen::Index n_model = 50, n_data = 600;  // three blocks of data

/// J as given, F = 0.
class FixedJacobian final : public core::Linearization {
 public:
  explicit FixedJacobian(Eigen::MatrixXd jacobian)
      : Linearization(jacobian.cols(), Eigen::VectorXd::Zero(jacobian.rows())),
        jacobian_(std::move(jacobian)) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return jacobian_ * directions;
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    return jacobian_.transpose() * directions;
  }
  Eigen::MatrixXd do_jacobian() const override { return jacobian_; }
  Eigen::MatrixXd jacobian_;
};

constexpr std::array spaces{inversion::optimize::SystemSpace::data, inversion::optimize::SystemSpace::model};

}  // namespace

TEST_CASE("normal equations: in either space, jump and creeping step are their solutions") {
  const Eigen::MatrixXd a = tests::random_matrix(n_data, n_model, 1);
  const auto map = core::affine(a, Eigen::VectorXd::Ones(n_data));
  const Eigen::VectorXd observed = tests::random_matrix(n_data, 1, 2).col(0);
  const inversion::optimize::Objective objective{map, tests::plain_misfit(observed, 0.1),
                                                 tests::line_roughness(n_model, 0.5)};
  const auto& regularization = *objective.regularization;
  const Eigen::VectorXd m = tests::random_matrix(n_model, 1, 3).col(0);
  const core::Team team(MPI_COMM_SELF);
  const Eigen::MatrixXd inverse_covariance =
      Eigen::MatrixXd(regularization.roughness()).transpose() * Eigen::MatrixXd(regularization.roughness());
  for (const auto space : spaces) {
    const auto system = inversion::optimize::make_dense_system(space, team, *map->linearize(m), objective, m);
    for (const double lambda : {1e-1, 10.0, 1e4}) {
      const Eigen::VectorXd expected =
          (a.transpose() * a / 0.01 + lambda * inverse_covariance)
              .ldlt()
              .solve(a.transpose() * (observed - Eigen::VectorXd::Ones(n_data)) / 0.01 +
                     lambda * inverse_covariance * regularization.reference());
      const auto model = system->jump(lambda);
      REQUIRE(model);
      CHECK((*model - expected).norm() < 1e-7 * expected.norm());
      CHECK(system->linear_rms(lambda) == Approx(objective.misfit.rms(map->value(expected))).epsilon(1e-9));
      const Eigen::VectorXd change = (a.transpose() * a / 0.01 + lambda * inverse_covariance)
                                         .ldlt()
                                         .solve(a.transpose() * (observed - map->value(m)) / 0.01);
      const auto crept = system->creep(lambda);
      REQUIRE(crept);
      CHECK((*crept - m - change).norm() < 1e-7 * change.norm());
    }
    const Eigen::MatrixXd g = 100.0 * a * inverse_covariance.inverse() * a.transpose();
    CHECK(system->scale() == Approx(g.diagonal().mean()).epsilon(1e-10));
    CHECK_FALSE(system->jump(-1e9));
    CHECK_FALSE(system->creep(-1e9));
    CHECK(std::isinf(system->linear_rms(-1e9)));
  }
}

TEST_CASE(
    "normal equations: data and model space give the same model, with more data than unknowns and with "
    "fewer") {
  const core::Team team(MPI_COMM_SELF);
  for (const auto& [data, cells] : {std::pair<Eigen::Index, Eigen::Index>{300, 40}, {40, 300}}) {
    const auto map = core::affine(tests::random_matrix(data, cells, 1), Eigen::VectorXd::Zero(data));
    const inversion::optimize::Objective objective{
        map, tests::plain_misfit(tests::random_matrix(data, 1, 2).col(0), 0.1), tests::line_roughness(cells)};
    const Eigen::VectorXd m = tests::random_matrix(cells, 1, 3).col(0);
    const auto linearization = map->linearize(m);
    const auto in_data = inversion::optimize::make_dense_system(inversion::optimize::SystemSpace::data, team,
                                                                *linearization, objective, m);
    const auto in_model = inversion::optimize::make_dense_system(inversion::optimize::SystemSpace::model,
                                                                 team, *linearization, objective, m);
    for (const double lambda : {1.0, 1e3}) {
      const Eigen::VectorXd expected = *in_data->jump(lambda);
      CHECK((*in_model->jump(lambda) - expected).norm() < 1e-8 * expected.norm());
      CHECK((*in_model->creep(lambda) - *in_data->creep(lambda)).norm() < 1e-8 * expected.norm());
      CHECK(in_model->linear_rms(lambda) == Approx(in_data->linear_rms(lambda)).epsilon(1e-8));
    }
  }
}

TEST_CASE("normal equations: a covariance that is solved by conjugate gradients gives the same model") {
  const core::Team team(MPI_COMM_SELF);
  for (const auto& [data, cells] : {std::pair<Eigen::Index, Eigen::Index>{60, 40}, {40, 60}}) {
    const auto map = core::affine(tests::random_matrix(data, cells, 1), Eigen::VectorXd::Zero(data));
    const auto misfit = tests::plain_misfit(tests::random_matrix(data, 1, 2).col(0), 0.1);
    const Eigen::VectorXd m = tests::random_matrix(cells, 1, 3).col(0);
    const auto linearization = map->linearize(m);
    for (const auto space : spaces) {
      const inversion::optimize::Objective factorized{map, misfit, tests::line_roughness(cells, 0.5)},
          iterated{map, misfit, tests::line_roughness(cells, 0.5, 1.0)};
      const auto expected = make_dense_system(space, team, *linearization, factorized, m),
                 system = make_dense_system(space, team, *linearization, iterated, m);
      const Eigen::VectorXd model = *expected->jump(3.0);
      CHECK((*system->jump(3.0) - model).norm() < 1e-7 * model.norm());
      CHECK((*system->creep(3.0) - *expected->creep(3.0)).norm() < 1e-7 * model.norm());
    }
  }
}

TEST_CASE("normal equations: chosen automatically, the smaller system is solved") {
  const core::Team team(MPI_COMM_SELF);
  for (const auto& [data, cells] : {std::pair<Eigen::Index, Eigen::Index>{30, 8}, {8, 30}}) {
    const auto map = core::affine(tests::random_matrix(data, cells, 1), Eigen::VectorXd::Zero(data));
    const inversion::optimize::Objective objective{map, tests::plain_misfit(Eigen::VectorXd::Ones(data), 0.1),
                                                   tests::line_roughness(cells)};
    const Eigen::VectorXd m = Eigen::VectorXd::Zero(cells);
    const auto system = inversion::optimize::make_dense_system(inversion::optimize::SystemSpace::automatic,
                                                               team, *map->linearize(m), objective, m);
    CHECK((dynamic_cast<const inversion::optimize::ModelSpaceSystem*>(system.get()) != nullptr) ==
          (cells < data));
  }
}

TEST_CASE("normal equations: masked data do not enter, whatever their rows hold") {
  const Eigen::MatrixXd a = tests::random_matrix(20, 10, 1);
  const Eigen::VectorXd m = Eigen::VectorXd::Zero(10), observed = tests::random_matrix(20, 1, 2).col(0);
  std::vector<int> reason(20, 0);
  reason[3] = reason[19] = 1;
  const inversion::optimize::Objective objective{nullptr, tests::masked_misfit(observed, 1.0, reason),
                                                 tests::line_roughness(10)};
  const core::Team team(MPI_COMM_SELF);
  for (const auto space : spaces) {
    const auto model_of = [&](const Eigen::MatrixXd& jacobian) {
      return *inversion::optimize::make_dense_system(space, team, FixedJacobian(jacobian), objective, m)
                  ->jump(1.0);
    };
    Eigen::MatrixXd spoilt = a;
    spoilt.row(3).setConstant(1e6);
    spoilt.row(19).setConstant(-1e300);
    CHECK((model_of(spoilt) - model_of(a)).norm() == 0.0);
    spoilt(4, 4) += 1e-3;
    CHECK((model_of(spoilt) - model_of(a)).norm() > 0.0);
  }
}
