// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/parameter_maps.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;
using inversion::optimize::GaussNewton;
using inversion::optimize::StopReason;

namespace {

/// 30 frequencies of log10 ρₐ and phase over three layers, with noise, and a column of 40 cells to explain
/// them.
struct Sounding {
  static constexpr Eigen::Index n_cells = 40;
  std::vector<double> edges = mesh::geometric_edges_m(20.0, 1.2, n_cells - 1);
  std::vector<double> frequencies = [] {
    std::vector<double> f;
    for (int i = 0; i < 30; ++i) f.push_back(std::pow(10.0, 3.0 - 0.2 * i));
    return f;
  }();
  std::vector<mt::Datum> quantities{mt::Datum::log10_rho_xy, mt::Datum::phase_xy};
  Eigen::VectorXd truth = Eigen::VectorXd::NullaryExpr(n_cells, [this](Eigen::Index i) {
    const double depth = edges[static_cast<std::size_t>(i)];
    return depth < 400.0 ? 2.0 : depth < 2000.0 ? 1.0 : 3.0;
  });
  core::MapPtr forward = [this] {
    std::vector<double> thickness;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) thickness.push_back(edges[i + 1] - edges[i]);
    return mt::d1::data_map(thickness, mt::full_survey({{"a"}}, frequencies, quantities));
  }();
  Eigen::VectorXd sigma =
      (Eigen::VectorXd(60) << Eigen::VectorXd::Constant(30, 0.02), Eigen::VectorXd::Constant(30, 0.02))
          .finished();
  Eigen::VectorXd observed =
      forward->value(truth) + (sigma.array() * tests::random_matrix(60, 1, 11).col(0).array()).matrix();

  [[nodiscard]] inversion::objective::DataMisfit misfit() const {
    Eigen::VectorXd turn = Eigen::VectorXd::Zero(60);
    turn.tail(30).setConstant(mt::rule_of(mt::Datum::phase_xy).turn);
    return inversion::objective::DataMisfit(
        core::DataSet({.observed = observed, .sigma = sigma, .turn = turn}));
  }
  [[nodiscard]] std::shared_ptr<inversion::objective::Regularization> regularization(
      double reference = 2.0) const {
    std::vector<double> z = edges;
    z.push_back(edges.back() + 1.2 * (edges.back() - edges[edges.size() - 2]));
    const mesh::TensorGrid column = mesh::TensorGrid::section({0.0, 1000.0}, z);
    return std::make_shared<inversion::objective::Regularization>(
        inversion::prior::roughness_operator(column,
                                             {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 20.0}),
        Eigen::VectorXd::Constant(n_cells, reference));
  }
};

}  // namespace

TEST_CASE("layered earth: Occam reaches rms 1 in a few iterations and is smoother than the truth") {
  const Sounding sounding;
  const auto regularization = sounding.regularization();
  const auto summary = GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 20},
                                                   .lambda = inversion::optimize::Occam{.tolerance = 0.02}})
                           .minimize({sounding.forward, sounding.misfit(), regularization},
                                     Eigen::VectorXd::Constant(40, 2.0));
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= 1.0);
  CHECK(summary.rms > 0.97);
  CHECK(summary.roughness < regularization->cost(sounding.truth));
  CHECK(summary.history.size() <= 15);
  // The conductor is found where it is.
  CHECK(summary.model[mesh::TensorGrid::section({0.0, 1.0}, sounding.edges).row_of(1000.0)] ==
        Approx(1.0).margin(0.3));
  CHECK(summary.model[0] == Approx(2.0).margin(0.2));
}

TEST_CASE("layered earth: no start model and no small change gives a smoother model at the target") {
  const Sounding sounding;
  const auto regularization = sounding.regularization();
  const inversion::optimize::Objective objective{sounding.forward, sounding.misfit(), regularization};
  const inversion::optimize::GaussNewtonOptions options{
      .stop = {.max_iterations = 30},
      .lambda = inversion::optimize::Occam{.tolerance = 0.01, .min_roughness_drop = 0.001}};
  const auto best =
      GaussNewton(MPI_COMM_SELF, options).minimize(objective, Eigen::VectorXd::Constant(40, 2.0));
  for (const double start : {0.5, 3.5}) {
    const auto other =
        GaussNewton(MPI_COMM_SELF, options).minimize(objective, Eigen::VectorXd::Constant(40, start));
    INFO(other.brief());
    CHECK(other.roughness > 0.9 * best.roughness);
    CHECK(other.roughness < 1.1 * best.roughness);
  }
  for (std::uint64_t seed = 20; seed < 40; ++seed) {
    const Eigen::VectorXd changed =
        best.model + 0.02 * regularization->apply_root(tests::random_matrix(40, 1, seed)).col(0) *
                         std::sqrt(best.roughness) / std::sqrt(40.0);
    const bool at_target = objective.misfit.rms(sounding.forward->value(changed)) <= best.rms;
    CHECK_FALSE((at_target && regularization->cost(changed) < 0.98 * best.roughness));
  }
}

TEST_CASE("layered earth: with bounds by transform the model stays inside them and still fits") {
  const Sounding sounding;
  const auto bounded = core::compose(sounding.forward, inversion::objective::bounds_map(40, 0.7, 3.3));
  const Eigen::VectorXd reference =
      inversion::objective::unbounded(Eigen::VectorXd::Constant(40, 2.0), 0.7, 3.3);
  const auto summary =
      GaussNewton(MPI_COMM_SELF, {.stop = {.max_iterations = 20}})
          .minimize({bounded, sounding.misfit(), sounding.regularization(reference[0])}, reference);
  INFO(summary.brief());
  CHECK(summary.rms <= 1.0);
  const Eigen::VectorXd m = inversion::objective::bounds_map(40, 0.7, 3.3)->value(summary.model);
  CHECK(m.minCoeff() > 0.7);
  CHECK(m.maxCoeff() < 3.3);
}
