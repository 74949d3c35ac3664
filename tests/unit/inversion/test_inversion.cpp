// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/store.hpp"
#include "inversion/run_estimate.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

using namespace lodestone;
using inversion::Inversion;
using inversion::Problem;
using physics::mesh::Earth;
using physics::mesh::TensorGrid;

namespace {

constexpr Eigen::Index n_layers = 6;

/// Returns means over ever more layers, mildly nonlinear.
core::MapPtr depth_means() {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(n_layers, n_layers);
  for (Eigen::Index row = 0; row < n_layers; ++row) a.row(row).head(row + 1).setConstant(1.0 / (row + 1.0));
  return core::compose(core::pointwise(
                           "bend", n_layers, [](double x) { return x + 0.05 * x * x; },
                           [](double x) { return 1.0 + 0.1 * x; }),
                       core::affine(a, Eigen::VectorXd::Zero(n_layers)));
}

Eigen::VectorXd truth() { return Eigen::VectorXd::LinSpaced(n_layers, 1.0, 3.0); }

Problem layers(core::MapPtr map = depth_means()) {
  core::DataSetParts data{.observed = map->value(truth()),
                          .sigma = Eigen::VectorXd::Constant(n_layers, 0.02)};
  data.reason.assign(n_layers, 0);
  data.reason[2] = 1;
  data.reasons = {"used", "listed"};
  Problem problem(Earth{TensorGrid::layers(10.0, 1.2, n_layers)}, core::DataSet(std::move(data)),
                  inversion::fixed(std::move(map)));
  problem.start = problem.reference = Eigen::VectorXd::Constant(n_layers, 2.0);
  problem.roughness = {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 10.0};
  return problem;
}

}  // namespace

TEST_CASE("inversion: layers are fitted, all data predicted, and the ending says so", "[inversion]") {
  const Problem problem = layers();
  const inversion::Outcome out = Inversion(MPI_COMM_SELF, problem).minimize();
  CHECK(out.ending.code == core::ExitCode::ok);
  CHECK(out.ending.rms <= 1.01);
  CHECK(out.predicted.size() == n_layers);
  CHECK(std::abs(out.predicted[2] - problem.data.observed()[2]) < 0.2);  // not used, but predicted
  CHECK((out.model.values - truth()).norm() < 0.5 * (problem.start - truth()).norm());
  CHECK(out.start == problem.start);
  CHECK(out.history.front().stage == "cells");
  CHECK_FALSE(out.findings.prior);
  CHECK_FALSE(out.findings.uncertainty);
}

TEST_CASE("inversion: data that the maps of the results do not return have no prediction", "[inversion]") {
  Problem problem = layers();
  const core::MapPtr all = depth_means();
  problem.forward.results.design = [all](const Eigen::VectorXd&) {
    return core::compose(core::select(n_layers, {0, 1, 3, 4, 5}), all);
  };
  problem.forward.result_rows = {0, 1, 3, 4, 5};
  const inversion::Outcome out = Inversion(MPI_COMM_SELF, problem).minimize();
  CHECK(out.ending.rms <= 1.01);
  REQUIRE(out.predicted.size() == n_layers);
  CHECK(std::isnan(out.predicted[2]));
  CHECK(std::abs(out.predicted[3] - problem.data.observed()[3]) < 0.2);
  problem.forward.result_rows = {0, 1, 2, 3, 4};
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { problem.check(); }),
             tests::HasId("no_prediction", {"row 5"}));
  problem.forward.result_rows = {n_layers};
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { problem.check(); }), tests::HasId("row_outside"));
}

TEST_CASE("inversion: a start model without responses leaves no outcome", "[inversion]") {
  const core::MapPtr cut = core::pointwise(
      "cut", n_layers,
      [](double x) {
        if (x == 2.0) throw core::SolverError("tests#singular", "singular at {}", x);
        return x;
      },
      [](double) { return 1.0; });
  CHECK_THAT(tests::error_of<core::SolverError>(
                 [&] { static_cast<void>(Inversion(MPI_COMM_SELF, layers(cut)).minimize()); }),
             tests::HasId("no_model", {"the start model has no responses", "singular at 2", "--dry-run"}));
}

TEST_CASE("inversion: a rule of stopping that is given leaves the others of its method", "[inversion]") {
  const inversion::Method gauss_newton = inversion::GaussNewtonOptions{.stop = {.target_rms = 1.2}},
                          descent = inversion::DescentOptions{.stop = {.target_rms = 1.3}},
                          pairs = inversion::AlternatingOptions{.stop = {.target_rms = 1.4}};
  const auto rules = [](const inversion::Method& method) {
    const inversion::StopRules stop = inversion::stop_rules(method);
    return std::tuple(stop.max_iterations, stop.target_rms, stop.min_rms_drop, stop.patience);
  };
  CHECK(rules(gauss_newton) == std::tuple(15, 1.2, 0.01, 2));
  CHECK(rules(descent) == std::tuple(100, 1.3, 0.005, 4));
  CHECK(rules(pairs) == std::tuple(13, 1.4, 0.01, 2));
}

TEST_CASE("inversion: a run stopped after an iteration resumes to the same bits", "[inversion]") {
  const inversion::GaussNewtonOptions options{.stop = {.max_iterations = 4, .target_rms = 0.1},
                                              .lambda = inversion::Occam{.sufficient_drop = 1.0}};
  const inversion::Outcome whole = Inversion(MPI_COMM_SELF, layers(), options).minimize();
  REQUIRE(whole.history.size() > 2);
  const core::StorePtr store = core::memory_store();
  {
    Problem first = layers();
    first.about.configuration = "[run]\ntitle = \"a\"\n";
    Inversion run(MPI_COMM_SELF, first, options);
    run.keep(store);
    int n_asked = 0;
    run.set_stop([&]() -> std::optional<inversion::optimize::StopReason> {
      return ++n_asked > 1 ? std::optional(inversion::optimize::StopReason::interrupted) : std::nullopt;
    });
    const inversion::Outcome stopped = run.minimize();
    CHECK(stopped.was_stopped());
    CHECK(stopped.predicted.size() == 0);
  }
  Problem renamed = layers();
  renamed.about.configuration = "[run]\ntitle = \"b\"\n";
  Inversion again(MPI_COMM_SELF, renamed, options);
  again.keep(store);
  const inversion::Outcome resumed = again.minimize();
  CHECK(resumed.model.values == whole.model.values);
  CHECK(resumed.history.size() == whole.history.size());

  Problem other = renamed;
  other.start[0] = 1.0;
  Inversion changed(MPI_COMM_SELF, other, options);
  CHECK_THROWS_AS(changed.keep(store), core::ConfigError);
}

TEST_CASE("inversion: a run resumes on the earth and the areas of cells it began with alone", "[inversion]") {
  const inversion::GaussNewtonOptions options{.stop = {.max_iterations = 1, .target_rms = 0.1}};
  const core::StorePtr store = core::memory_store();
  {
    Inversion run(MPI_COMM_SELF, layers(), options);
    run.keep(store);
    static_cast<void>(run.minimize());
  }
  const auto refusal = [&](const Problem& problem) {
    return tests::error_of<core::ConfigError>(
        [&] { Inversion(MPI_COMM_SELF, problem, options).keep(store); });
  };
  Problem risen = layers();
  risen.earth.surface = physics::mesh::Surface(-5.0);
  CHECK_THAT(refusal(risen), tests::HasId("other_earth", {"surface"}));
  Problem torn = layers();
  torn.roughness.areas.of_cell.assign(static_cast<std::size_t>(torn.start.size()), 1);
  torn.roughness.areas.of_cell[0] = 2;
  CHECK_THAT(refusal(torn), tests::HasId("other_earth", {"areas of cells"}));
  Problem held = layers();
  held.reference[0] += 0.5;
  CHECK_THAT(refusal(held), tests::HasId("other_earth", {"reference model"}));
  Inversion(MPI_COMM_SELF, layers(), options).keep(store);
}

namespace {

/// Returns layers whose responses at the final accuracy are 1.5 errors larger than those of the iterations.
Problem layers_on_coarse_meshes() {
  const core::MapPtr coarse = depth_means(),
                     fine = core::compose(core::affine(Eigen::MatrixXd::Identity(n_layers, n_layers),
                                                       Eigen::VectorXd::Constant(n_layers, 0.03)),
                                          coarse);
  Problem problem = layers(fine);
  problem.forward.iterations.design = [coarse](const Eigen::VectorXd&) { return coarse; };
  problem.forward.last_steps = problem.forward.results;
  return problem;
}

}  // namespace

TEST_CASE("inversion: a target that is missed at the final accuracy alone is reached there by last steps",
          "[inversion]") {
  Problem problem = layers_on_coarse_meshes();
  const inversion::Outcome out = Inversion(MPI_COMM_SELF, problem).minimize();
  CHECK(out.ending.code == core::ExitCode::ok);
  CHECK(out.ending.place.id == "target_reached");
  CHECK(out.ending.rms <= 1.01);
  CHECK(out.history.front().stage == "cells");
  CHECK(out.history.back().stage == "final");
  const auto first = std::ranges::find(out.history, "final", &inversion::optimize::StagedRecord::stage);
  REQUIRE(first != out.history.begin());
  CHECK(first->iteration == std::prev(first)->iteration);  // the start of a stage is the last model before
  CHECK(std::prev(first)->rms <= 1.0);                     // on the iterations' meshes
  CHECK(first->rms > 1.01);
  CHECK(out.history.back().iteration > first->iteration);
  CHECK(out.history.back().rms == Approx(out.ending.rms).epsilon(1e-9));
  CHECK_THAT(out.ending.text, Catch::Contains(fmt::format("{:.4f}", out.ending.rms)));

  problem.forward.last_steps = {};
  const inversion::Outcome missed = Inversion(MPI_COMM_SELF, problem).minimize();
  CHECK(missed.ending.place.id == "final_above_target");
  CHECK(missed.history.back().stage == "cells");
}

TEST_CASE("inversion: a run killed after any of its steps, the last ones too, resumes to the same bits",
          "[inversion]") {
  const inversion::Outcome whole = Inversion(MPI_COMM_SELF, layers_on_coarse_meshes()).minimize();
  REQUIRE(whole.history.back().stage == "final");
  const int n_rows = static_cast<int>(whole.history.size());
  for (int most = 1; most <= n_rows; ++most) {
    const core::StorePtr store = core::memory_store();
    Inversion run(MPI_COMM_SELF, layers_on_coarse_meshes());
    run.keep(store);
    int n_asked = 0;
    run.set_stop([&]() -> std::optional<inversion::optimize::StopReason> {
      return ++n_asked >= most ? std::optional(inversion::optimize::StopReason::interrupted) : std::nullopt;
    });
    CHECK(run.minimize().was_stopped());
    Inversion again(MPI_COMM_SELF, layers_on_coarse_meshes());
    again.keep(store);
    const inversion::Outcome resumed = again.minimize();
    CHECK(resumed.model.values == whole.model.values);
    CHECK(resumed.predicted == whole.predicted);
    CHECK(resumed.history.size() == whole.history.size());
    CHECK(resumed.history.back().stage == "final");
    CHECK(resumed.ending.place.id == whole.ending.place.id);
  }
}

TEST_CASE("inversion: further unknowns are estimated beside the cells", "[inversion]") {
  // The last datum is F(m) + s, as a static shift of one station
  const core::MapPtr map = depth_means();
  Problem problem = layers(map);
  core::DataSetParts data = problem.data.parts();
  data.observed[n_layers - 1] += 0.3;
  problem.data = core::DataSet(std::move(data));
  const auto with_shift = [](core::MapPtr of_cells) {
    const Eigen::Index m = of_cells->size_out();
    Eigen::MatrixXd spread = Eigen::MatrixXd::Zero(m + 1, m + 1);
    spread.topLeftCorner(m, m).setIdentity();
    spread.col(m).tail(2).setOnes();
    return core::compose(core::affine(spread, Eigen::VectorXd::Zero(m + 1)),
                         core::parallel({std::move(of_cells), core::select(1, {0})}));
  };
  problem.forward.iterations.with_further = problem.forward.results.with_further = with_shift;
  problem.further = {.n = 1, .sigma = 0.3};
  const inversion::Outcome out = Inversion(MPI_COMM_SELF, problem).minimize();
  CHECK(out.ending.code == core::ExitCode::ok);
  REQUIRE(out.further.size() == 1);
  CHECK(out.further[0] > 0.05);
  CHECK(out.further[0] < 0.6);
  CHECK(out.predicted.size() == n_layers);
}

TEST_CASE("inversion: the posterior and the samples of a model are found on request", "[inversion]") {
  Inversion run(MPI_COMM_SELF, layers());
  const core::StorePtr samples = core::memory_store();
  run.assess({.posterior = true, .ensemble = inversion::EnsembleOptions{.n_samples = 3}}, samples);
  const inversion::Outcome out = run.minimize();
  REQUIRE(out.findings.uncertainty);
  REQUIRE(out.findings.uncertainty->posterior);
  CHECK(out.findings.uncertainty->posterior->n_data == 5.0);
  CHECK((out.findings.uncertainty->posterior->deviation_decades.array() <=
         out.findings.uncertainty->posterior->prior_deviation_decades.array() + 1e-12)
            .all());
  REQUIRE(out.findings.uncertainty->ensemble);
  CHECK(out.findings.uncertainty->ensemble->n_samples == 3);
  CHECK(samples->exists());
}

TEST_CASE("inversion: problems whose parts do not fit are refused", "[inversion]") {
  Problem problem = layers();
  const auto make = [&] { static_cast<void>(Inversion(MPI_COMM_SELF, problem)); };
  problem.start.resize(2);
  CHECK_THAT(tests::error_of<core::ShapeError>(make), tests::HasId("wrong_size"));
  problem = layers();
  problem.free_cells.clear();
  CHECK_THAT(tests::error_of<core::InvalidArgument>(make), tests::HasId("no_cell"));
  problem = layers();
  problem.further.n = 1;
  CHECK_THAT(tests::error_of<core::InvalidArgument>(make), tests::HasId("no_further"));
  problem = layers();
  problem.forward.results.design = {};
  CHECK_THAT(tests::error_of<core::InvalidArgument>(make), tests::HasId("no_map"));
}

TEST_CASE("inversion: the certificate follows the outcome, and a stop leaves the outcome as it was",
          "[inversion]") {
  Problem problem = layers();
  int n_made = 0;
  problem.forward.certificate = [&](const Eigen::VectorXd& model, const inversion::CertificateTerms& terms) {
    ++n_made;
    CHECK(model.size() == n_layers);
    if (terms.stop()) return inversion::Certified{.stopped = true};
    inversion::NamedTable table{.name = "certificate", .title = "Accuracy"};
    table.table.add_numbers("passed", "", {1.0});
    return inversion::Certified{.table = table};
  };
  Inversion run(MPI_COMM_SELF, problem);
  const inversion::Outcome before = run.minimize();
  CHECK(n_made == 0);
  CHECK(before.table("certificate") == nullptr);
  inversion::Outcome after = before;
  CHECK(run.certify(after));
  CHECK(n_made == 1);
  REQUIRE(after.table("certificate") != nullptr);
  CHECK(after.model.values == before.model.values);

  run.set_stop([] { return std::optional(inversion::optimize::StopReason::time_limit); });
  inversion::Outcome stopped = before;
  CHECK_FALSE(run.certify(stopped));
  CHECK(stopped.table("certificate") == nullptr);
  CHECK(stopped.about.facts.size() == before.about.facts.size());
}

TEST_CASE("inversion: a certificate that is off leaves its reason among the facts", "[inversion]") {
  Problem problem = layers();
  problem.forward.certificate = [](const Eigen::VectorXd&, const inversion::CertificateTerms&) {
    return inversion::Certified{.note = "needs 5 GB"};
  };
  Inversion run(MPI_COMM_SELF, problem);
  inversion::Outcome out = run.minimize();
  CHECK(run.certify(out));
  CHECK(out.tables.empty());
  REQUIRE_FALSE(out.about.facts.empty());
  CHECK(out.about.facts.back().second == "needs 5 GB");
}

TEST_CASE("inversion: the cost counts what follows the iterations in time and memory", "[inversion]") {
  Problem problem = layers();
  problem.forward.last_steps = problem.forward.results;
  problem.forward.cost = [](const inversion::Unknowns&, const Eigen::VectorXd&) {
    return inversion::ForwardCost{.iterations = {.forward_s = 1.0, .jacobian_s = 2.0, .bytes = 1e9},
                                  .redesign_s = 0.5,
                                  .at_final_accuracy = {.forward_s = 7.0, .jacobian_s = 9.0, .bytes = 300e9},
                                  .responses_bytes = 400e9,
                                  .certificate_s = 21.0,
                                  .certificate_bytes = 500e9};
  };
  const std::string cost = inversion::cost_in_words(Inversion(MPI_COMM_SELF, problem));
  CHECK_THAT(cost, Catch::Contains("final responses:      about 7.0 s") &&
                       Catch::Contains("last steps:           about ") &&
                       Catch::Contains("certificate:          about 21 s") && Catch::Contains("about 500.") &&
                       Catch::Contains("600.") && Catch::Contains("all together"));
}

TEST_CASE("inversion: a run whose matrices the machine cannot hold is refused, with its size",
          "[inversion]") {
  const Inversion run(MPI_COMM_SELF, layers());
  CHECK_NOTHROW(inversion::require_memory(run, 1e9));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { inversion::require_memory(run, 100.0); }),
             tests::HasId("too_large", {"1 rank(s)", "matrix_free"}));
  const Inversion by_products(
      MPI_COMM_SELF, layers(),
      inversion::GaussNewtonOptions{.space = inversion::optimize::SystemSpace::matrix_free});
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { inversion::require_memory(by_products, 10.0); }),
             tests::HasId("too_large", {"fewer cells or data"}));

  Problem problem = layers();
  problem.forward.cost = [](const inversion::Unknowns&, const Eigen::VectorXd&) {
    return inversion::ForwardCost{.iterations = {.forward_s = 1.0, .bytes = 1e18}};
  };
  CHECK_THAT(inversion::cost_in_words(Inversion(MPI_COMM_SELF, problem)),
             Catch::Contains("too much for 1 rank(s)"));
}

TEST_CASE("inversion: the cost without a Jacobian counts products and the memory of a subspace",
          "[inversion]") {
  Problem problem = layers();
  problem.forward.cost = [](const inversion::Unknowns&, const Eigen::VectorXd&) {
    return inversion::ForwardCost{
        .iterations = {.forward_s = 1.0, .jacobian_s = 2e4, .bytes = 100e9, .product_s = 3.0}};
  };
  const auto cost_of = [&](double jacobian_bytes) {
    return inversion::cost_in_words(
        Inversion(MPI_COMM_SELF, problem, inversion::GaussNewtonOptions{.jacobian_bytes = jacobian_bytes}));
  };
  CHECK_THAT(cost_of(1.0), Catch::Contains("solved without a Jacobian") &&
                               Catch::Contains("about 55.0 s") &&  // 17 products, 4 runs
                               Catch::Contains("17 products of 3.0 s") && Catch::Contains("about 300."));
  CHECK_THAT(cost_of(1e9), Catch::Contains("solved with a Jacobian") &&
                               Catch::Contains("Jacobian 20000.0 s") && Catch::Contains("about 200."));
  CHECK_THAT(inversion::cost_in_words(Inversion(
                 MPI_COMM_SELF, layers(),
                 inversion::GaussNewtonOptions{.space = inversion::optimize::SystemSpace::matrix_free})),
             Catch::Contains("17 products"));
}

TEST_CASE("inversion: the cost of a map without a rule of its own is timed and told", "[inversion]") {
  Inversion run(MPI_COMM_SELF, layers(), inversion::GaussNewtonOptions{.stop = {.max_iterations = 7}});
  const std::string cost = inversion::cost_in_words(run);
  const core::DataSet& data = run.problem().data;
  for (const std::string& part :
       {fmt::format("= {}", n_layers), fmt::format("{} of {}", data.n_used(), data.size()),
        std::string("7 iterations")})
    CHECK_THAT(cost, Catch::Contains(part));
  CHECK(cost.find("samples") == std::string::npos);
  run.assess({.ensemble = inversion::EnsembleOptions{.n_samples = 30}});
  CHECK_THAT(inversion::cost_in_words(run), Catch::Contains("30 samples"));
}
