// SPDX-License-Identifier: Apache-2.0
// When forward maps follow the model, and when they no longer do.
#include "engine/core/error.hpp"
#include "inversion/optimize/redesign.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/fixtures.hpp"

using namespace lodestone;
using inversion::optimize::GaussNewton;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::IterationRecord;
using inversion::optimize::RedesignView;

namespace {

/// Returns rows of models with these rms.
std::vector<IterationRecord> rows_of(const std::vector<double>& rms) {
  std::vector<IterationRecord> rows;
  for (const double each : rms) rows.push_back({.iteration = static_cast<int>(rows.size()), .rms = each});
  return rows;
}

/// Tests whether a redesign precedes the iteration that follows these models.
bool redesigns(const inversion::optimize::Redesign& redesign, const std::vector<double>& rms) {
  const auto rows = rows_of(rms);
  const Eigen::VectorXd model = Eigen::VectorXd::Zero(1);
  return redesign(RedesignView{model, static_cast<int>(rms.size()), rows}) != nullptr;
}

inversion::objective::Design identity_for_all() {
  return [](const Eigen::VectorXd& model) {
    return core::affine(Eigen::MatrixXd::Identity(model.size(), model.size()), model);
  };
}

/// A map that is a little off, each model in its own way, as a mesh made for it; the models it was made for.
struct Designs {
  const tests::CurvedProblem& problem;
  std::vector<Eigen::VectorXd> models{};
  [[nodiscard]] core::MapPtr operator()(const Eigen::VectorXd& model) {
    models.push_back(model);
    const Eigen::VectorXd error =
        Eigen::VectorXd::Constant(problem.n_data, 0.02 * model.sum() / static_cast<double>(problem.n));
    return core::compose(core::affine(Eigen::MatrixXd::Identity(problem.n_data, problem.n_data), error),
                         problem.map);
  }
};

}  // namespace

TEST_CASE("redesign: the start keeps its map, every later model gets one of its own") {
  const auto redesign = inversion::optimize::redesign_each_iteration(identity_for_all());
  CHECK_FALSE(redesigns(redesign, {9.0}));
  CHECK(redesigns(redesign, {9.0, 5.0}));
  CHECK(redesigns(redesign, {9.0, 1.0, 1.0}));
}

TEST_CASE("redesign: maps follow the model where the rms has fallen by a share since the last map") {
  const auto redesign = inversion::optimize::redesign_as_rms_falls(0.5, identity_for_all());
  CHECK_FALSE(redesigns(redesign, {9.0}));
  CHECK_FALSE(redesigns(redesign, {9.0, 5.0}));
  CHECK(redesigns(redesign, {9.0, 4.0}));
  CHECK_FALSE(redesigns(redesign, {9.0, 4.0, 3.0}));
  CHECK_FALSE(redesigns(redesign, {9.0, 4.0, 5.0}));
  CHECK(redesigns(redesign, {9.0, 4.0, 3.0, 1.9}));
  CHECK_THROWS_AS(inversion::optimize::redesign_as_rms_falls(1.0, identity_for_all()), core::InvalidArgument);
}

TEST_CASE("redesign: the first model near the target gets the last map, whatever the rms does then") {
  const auto redesign = inversion::optimize::redesign_until_near(1.5, identity_for_all());
  CHECK_FALSE(redesigns(redesign, {9.0}));
  CHECK(redesigns(redesign, {9.0, 5.0, 2.0}));
  CHECK(redesigns(redesign, {9.0, 5.0, 1.5}));
  CHECK_FALSE(redesigns(redesign, {9.0, 5.0, 1.5, 1.2}));
  CHECK_FALSE(redesigns(redesign, {9.0, 5.0, 1.5, 3.0}));
  CHECK_FALSE(redesigns(redesign, {1.4, 1.3}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] {
               static_cast<void>(inversion::optimize::redesign_until_near(0.0, identity_for_all()));
             }),
             tests::HasId("wrong_rms", {"0"}));
}

TEST_CASE("redesign: a run that was stopped before or behind the last redesign goes on bit by bit") {
  const tests::CurvedProblem problem;
  const GaussNewtonOptions options{.stop = {.max_iterations = 8, .target_rms = 0.6},
                                   .lambda = inversion::optimize::Occam{.sufficient_drop = 0.2}};
  const double near_rms = 1.3 * options.stop.target_rms;
  const auto witness = std::make_shared<tests::Witness>();
  Designs designs{problem};
  GaussNewton whole(MPI_COMM_SELF, options);
  const auto expected =
      whole.minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n),
                     {.directives = {witness},
                      .redesign = inversion::optimize::redesign_until_near(near_rms, std::ref(designs))});
  const auto first_near =
      std::ranges::find_if(expected.history, [&](const IterationRecord& row) { return row.rms <= near_rms; });
  const auto n_before = static_cast<std::size_t>(first_near - expected.history.begin());
  INFO(expected.brief());
  REQUIRE(n_before >= 2);                           // it was redesigned on the way,
  REQUIRE(expected.history.size() > n_before + 2);  // and had time to be redesigned again
  CHECK(designs.models.size() == n_before);         // from the second iteration to the first near model
  CHECK(tests::same_bits(expected.design_model, witness->states[n_before].model));
  CHECK(tests::difference_of_resumed(*witness, expected, [&](inversion::optimize::InversionState state) {
          Designs again{problem};
          return GaussNewton(MPI_COMM_SELF, options)
              .resume(problem.objective(), std::move(state),
                      {.redesign = inversion::optimize::redesign_until_near(near_rms, std::ref(again))});
        }).empty());
}

TEST_CASE("redesign: where a model at the target has to be confirmed, the map made for it decides") {
  const tests::CurvedProblem problem;
  const GaussNewtonOptions options{.stop = {.max_iterations = 8, .target_rms = 1.2},
                                   .lambda = inversion::optimize::Occam{.smooth_at_target = false}};
  const auto run = [&](bool confirm, double error_of_first) {
    const auto redesign = [&](const RedesignView& view) -> core::MapPtr {
      const auto n_reached = std::ranges::count_if(
          view.history, [&](const IterationRecord& row) { return row.rms <= options.stop.target_rms; });
      const Eigen::VectorXd error =
          Eigen::VectorXd::Constant(problem.n_data, n_reached == 1 ? error_of_first : 0.0);
      return core::compose(core::affine(Eigen::MatrixXd::Identity(problem.n_data, problem.n_data), error),
                           problem.map);
    };
    return GaussNewton(MPI_COMM_SELF, options)
        .minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n),
                  {.redesign = redesign, .confirm = confirm});
  };
  const auto plain = run(false, 0.0), confirmed = run(true, 0.0), missed = run(true, 5.0 * problem.sigma);
  using inversion::optimize::StopReason;
  REQUIRE(plain.reason == StopReason::target_reached);
  CHECK(confirmed.reason == StopReason::target_reached);
  CHECK(confirmed.history.size() == plain.history.size());
  CHECK(tests::same_bits(confirmed.model, plain.model));
  CHECK(missed.history.size() > plain.history.size());
}
