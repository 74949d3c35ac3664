// SPDX-License-Identifier: Apache-2.0
// A conductive block under sixteen stations, the impedance of each multiplied by a matrix of its own.
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/core/store.hpp"
#include "inversion/inversion.hpp"
#include "inversion/mt/recipe.hpp"
#include "physics/mt/transform.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace lodestone;
using namespace lodestone::inversion;
using physics::mt::datum;
using physics::mt::Datum;
using physics::mt::DistortionUnknowns;
using tests::error_of;
using tests::HasId;

namespace {

constexpr double share = 0.02;  // of the impedance, as its error; likewise of tippers
const core::Philox draws(5);

physics::mesh::Earth small_earth() {
  const std::vector<double> lines{-6000, -3000, -1500, 0, 1500, 3000, 6000};
  return {physics::mesh::TensorGrid(
      physics::mesh::Edges{.x_m = lines, .y_m = lines, .z_m = {0, 300, 700, 1300, 2400, 4500}})};
}

/// Returns log10 of ohm m: 10 ohm m in the block, 100 beside it.
Eigen::VectorXd block() {
  const physics::mesh::Cells cells = physics::mesh::cells(small_earth());
  Eigen::VectorXd values = Eigen::VectorXd::Constant(std::ssize(cells.centre), 2.0);
  for (std::size_t k = 0; k < cells.centre.size(); ++k) {
    const auto& [x_m, y_m, z_m] = cells.centre[k];
    if (std::abs(x_m) < 1500 && std::abs(y_m) < 1500 && z_m > 300 && z_m < 2400)
      values[static_cast<Eigen::Index>(k)] = 1.0;
  }
  return values;
}

physics::mt::Survey small_survey() {
  std::vector<physics::mt::Station> stations;
  for (const double x_m : {-2200.0, -700.0, 800.0, 2300.0}) {
    for (const double y_m : {-2300.0, -800.0, 700.0, 2200.0}) {
      stations.push_back({.name = std::to_string(stations.size()), .y_m = y_m, .x_m = x_m});
    }
  }
  return physics::mt::full_survey(
      std::move(stations), {100.0, 10.0, 1.0, 0.1},
      {datum("zxx_re"), datum("zxx_im"), Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im,
       datum("zyy_re"), datum("zyy_im"), datum("tzx_re"), datum("tzx_im"), Datum::tzy_re, Datum::tzy_im});
}

mt::ProblemOptions options_of(mt::DistortionOptions distortion) {
  return {.dimension = 3,
          .cells = small_earth().grid,
          .distortion = std::move(distortion),
          .forward = {.iteration = physics::mt::Accuracy::iteration,
                      .final_accuracy = physics::mt::Accuracy::iteration,
                      .iteration_coarsen = 2.0,
                      .redesign = Redesigning::never,
                      .certificate = mt::CertificateOf::none}};
}

Eigen::VectorXd true_entries() {
  return Eigen::VectorXd::NullaryExpr(64, [](Eigen::Index k) { return 0.2 * draws.normal(2 * k); });
}

/// Returns distorted data with noise of their errors, simulated on the meshes of the inversion.
physics::mt::Observations distorted_data() {
  physics::mt::Observations out;
  out.survey = small_survey();
  const physics::mt::Survey& survey = out.survey;
  const mt::Simulations<mt::Volumes> simulations(MPI_COMM_SELF, small_earth(), options_of({}).forward);
  const auto simulation = simulations.of_iterations(Eigen::VectorXd::Constant(block().size(), 2.0), survey);
  const Eigen::VectorXd resistivity = Eigen::pow(10.0, block().array());
  const Eigen::VectorXd clean = data_map(simulation, survey)->value(resistivity);
  Eigen::VectorXd x(resistivity.size() + 64);
  x << resistivity, true_entries();
  const auto n = std::ssize(survey.keys);
  out.value = physics::mt::data_map(simulation, simulation->layout(), survey, full_distortion(survey))
                  ->value(x)
                  .head(n);
  std::map<std::pair<int, int>, double> modulus;
  for (std::size_t k = 0; k < survey.keys.size(); ++k) {
    const auto& [quantity, frequency, station] = survey.keys[k];
    const double part = clean[static_cast<Eigen::Index>(k)];
    if (quantity == Datum::zxy_re || quantity == Datum::zxy_im) modulus[{frequency, station}] += part * part;
  }
  out.sigma = Eigen::VectorXd::NullaryExpr(n, [&](Eigen::Index k) {
    const auto& key = survey.keys[static_cast<std::size_t>(k)];
    return is_distorted(key.quantity) ? share * std::sqrt(modulus[{key.frequency, key.station}]) : share;
  });
  for (Eigen::Index k = 0; k < n; ++k)
    out.value[k] += out.sigma[k] * draws.normal(static_cast<std::uint64_t>(1000 + 2 * k));
  out.sigma_measured = out.sigma;
  out.reason.assign(survey.keys.size(), physics::mt::MaskReason::kept);
  out.interpolated.assign(survey.keys.size(), 0);
  out.absent.assign(survey.keys.size(), 0);
  std::vector<double> x_m, y_m;
  for (const physics::mt::Station& station : survey.stations) {
    x_m.push_back(station.x_m);
    y_m.push_back(station.y_m);
  }
  out.profile = physics::mt::map_along(x_m, y_m, 0.0);
  return out;
}

/// Returns the problem on coarse meshes that stay as they are: what is tested is the distortion.
Problem problem_of(mt::DistortionOptions distortion) {
  Problem problem = mt::problem(MPI_COMM_SELF, distorted_data(), options_of(std::move(distortion)));
  const core::MapPtr map = problem.forward.iterations.design(problem.start);
  problem.forward.iterations.design = [map](const Eigen::VectorXd&) { return map; };
  problem.forward.results = problem.forward.iterations;
  problem.forward.last_steps = {};
  return problem;
}

GaussNewtonOptions steps(int n, optimize::SystemSpace space = optimize::SystemSpace::matrix_free) {
  return {.stop = {.max_iterations = n, .target_rms = 1.02}, .space = space};
}

double rms(const Eigen::VectorXd& values) {
  return values.norm() / std::sqrt(static_cast<double>(values.size()));
}

}  // namespace

TEST_CASE(
    "distortion: matrices of a volume come back, and the model is nearer to the truth than without them",
    "[inversion]") {
  const Outcome with =
      Inversion(MPI_COMM_SELF, problem_of(mt::DistortionMatrixOptions{}), steps(6)).minimize();
  const Outcome without = Inversion(MPI_COMM_SELF, problem_of({}), steps(6)).minimize();
  const Outcome by_rows = Inversion(MPI_COMM_SELF, problem_of(mt::DistortionMatrixOptions{}),
                                    steps(6, optimize::SystemSpace::data))
                              .minimize();
  REQUIRE(with.further.size() == 64);
  const Eigen::VectorXd wrong = with.further - true_entries();
  const double near = rms(with.model.values - block()), far = rms(without.model.values - block());
  INFO("rms " << with.ending.rms << " and " << without.ending.rms << "; entries " << rms(true_entries())
              << ", of which wrong " << rms(wrong) << ", largest " << wrong.lpNorm<Eigen::Infinity>()
              << "; model " << near << " and " << far << ", start " << rms(with.start - block())
              << "; iterations " << with.history.size() << " " << without.history.size()
              << "; by rows: entries " << rms(by_rows.further - true_entries()) << ", apart from it model "
              << rms(with.model.values - by_rows.model.values) << ", entries "
              << rms(with.further - by_rows.further) << ", roughness " << with.history.back().roughness
              << " and " << by_rows.history.back().roughness);
  CHECK(with.ending.code == core::ExitCode::ok);
  CHECK(without.ending.rms > 1.5);
  CHECK(rms(wrong) < 0.04);  // the smoothest models at the target, by all rows of J 0.031
  CHECK(wrong.lpNorm<Eigen::Infinity>() < 0.08);
  CHECK(near < 0.5 * far);
  // Products with single vectors find the same model.
  CHECK(rms(with.model.values - by_rows.model.values) < 0.1 * near);
  CHECK(with.history.back().roughness == Approx(by_rows.history.back().roughness).epsilon(0.05));
  CHECK(rms(with.further - by_rows.further) < 0.02);
  REQUIRE(with.table("distortion") != nullptr);
  CHECK(with.table("distortion")->table.n_rows() == 16);
  CHECK(without.table("distortion") == nullptr);
}

TEST_CASE("distortion: a stopped run goes on to the same matrices", "[inversion]") {
  const Problem problem = problem_of(mt::DistortionMatrixOptions{});
  const Outcome whole = Inversion(MPI_COMM_SELF, problem, steps(2)).minimize();
  const core::StorePtr checkpoint = core::memory_store();
  Inversion first(MPI_COMM_SELF, problem, steps(1));
  first.keep(checkpoint);
  static_cast<void>(first.minimize());
  Inversion second(MPI_COMM_SELF, problem, steps(2));
  second.keep(checkpoint);
  const Outcome resumed = second.minimize();
  CHECK(resumed.history.size() == whole.history.size());
  CHECK((resumed.further - whole.further).norm() <= 1e-9 * whole.further.norm());
  CHECK((resumed.model.values - whole.model.values).norm() <= 1e-9 * whole.model.values.norm());
}

TEST_CASE("distortion: one step with the Jacobian is the step without it", "[inversion]") {
  const auto step = [](optimize::SystemSpace space) {
    GaussNewtonOptions options = steps(1, space);
    options.lambda_start = 30.0;
    options.inner = {.max_steps = 150, .forcing = 1e-6};
    return Inversion(MPI_COMM_SELF, problem_of(mt::DistortionMatrixOptions{}), options).minimize();
  };
  const Outcome products = step(optimize::SystemSpace::matrix_free),
                rows = step(optimize::SystemSpace::model);
  CHECK(rows.further.norm() > 0.1);
  CHECK((products.further - rows.further).norm() < 1e-4 * rows.further.norm());
  CHECK((products.model.values - rows.model.values).norm() < 1e-4 * (rows.model.values - rows.start).norm());
}

TEST_CASE("distortion: a descent finds the matrices as well", "[inversion]") {
  const optimize::DescentOptions descent{.stop = {.max_iterations = 40, .target_rms = 1.02}};
  const Outcome out = Inversion(MPI_COMM_SELF, problem_of(mt::DistortionMatrixOptions{}), descent).minimize();
  const Eigen::VectorXd wrong = out.further - true_entries();
  INFO("rms " << out.ending.rms << " after " << out.history.size() - 1 << "; entries " << rms(true_entries())
              << ", of which wrong " << rms(wrong));
  CHECK(out.ending.rms < 0.2 * out.history.front().rms);
  CHECK(rms(wrong) < 0.6 * rms(true_entries()));
}
