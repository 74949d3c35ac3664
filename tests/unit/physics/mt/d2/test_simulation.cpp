// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/parallel.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/small_section.hpp"
#include "tests/support/thread_count.hpp"

#include <algorithm>
#include <numbers>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using Catch::Matchers::Contains;

namespace {

const std::vector<Datum> responses{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx,
                                   Datum::phase_yx};

Eigen::VectorXd predict(const mesh::Model& section, const Survey& survey,
                        const d2::MeshDesignOptions& options = {}) {
  return d2::data_map(MPI_COMM_SELF, section.earth, survey, d2::design_meshes(section, survey, options))
      ->value(section.values);
}

/// Returns the largest deviations from a layered earth, in per cent of ρₐ and degrees.
d2::ResponseError against_layers(const Survey& survey, const Eigen::VectorXd& ours,
                                 const d1::LayeredEarth& earth) {
  d2::ResponseError worst;
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& key = survey.keys[i];
    const double frequency = survey.frequencies_hz[key.frequency], value = ours[static_cast<Eigen::Index>(i)];
    const auto z = mode_of(key.quantity) == Mode::te ? d1::layered_impedance(earth, frequency)
                                                     : -d1::layered_impedance(earth, frequency);
    if (is_phase(key.quantity)) {
      worst.phase_deg = std::max(worst.phase_deg, deg_per_rad * std::abs(value - std::arg(z)));
    } else {
      worst.rho_a_percent =
          std::max(worst.rho_a_percent,
                   100.0 * std::abs(std::pow(10.0, value) / apparent_resistivity_ohm_m(z, frequency) - 1.0));
    }
  }
  return worst;
}

mesh::Model layers(std::vector<double> edges, const std::vector<double>& resistivity,
                   mesh::Surface surface = mesh::Surface()) {
  mesh::TensorGrid grid = mesh::TensorGrid::section({-1000.0, 0.0, 1000.0}, std::move(edges));
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    cells.segment(grid.index(iz, 0), grid.n_y()).setConstant(resistivity[iz]);
  return mesh::resistivity_model({std::move(grid), std::move(surface)}, std::move(cells));
}

}  // namespace

TEST_CASE("half-space: apparent resistivity equals resistivity at every frequency and station",
          "[physics][mt]") {
  const auto survey = full_survey({{"a", -4321.0}, {"b", 12.3}}, {100.0, 1.0, 0.01}, responses);
  const auto worst = against_layers(survey, predict(layers({0.0, 1000.0}, {100.0}), survey), {{100.0}, {}});
  CHECK(worst.rho_a_percent < 0.2);
  CHECK(worst.phase_deg < 0.1);
}

TEST_CASE("solver: PETSc's responses and derivatives over relief are those of the line solvers to 1e-9",
          "[physics][mt]") {
  mesh::Model section = layers({0.0, 500.0, 2500.0, 9000.0}, {100.0, 5.0, 1000.0},
                               mesh::SurfaceLine({-600.0, 0.0, 700.0}, {0.0, -250.0, 80.0}));
  section.values[2] = 40.0;
  const auto survey = full_survey({{"a", -400.0}, {"b", 150.0}, {"c", 900.0}}, {30.0, 1.0}, responses);
  const tests::ThreadCount two(2);  // PETSc's calls wait for each other
  for (const int order : {1, 2}) {
    d2::MeshDesignOptions options = d2::design_options(d2::Accuracy::iteration);
    options.order = order;
    const auto simulation = [&](d2::SystemSolver solver) {
      options.solver = solver;
      return d2::simulation_of(MPI_COMM_SELF, section.earth, survey,
                               d2::design_meshes(section, survey, options));
    };
    const auto lines = simulation(d2::SystemSolver::lines)->linearize(section.values);
    const auto by_petsc = simulation(d2::SystemSolver::petsc);
    const auto petsc = by_petsc->linearize(section.values);
    const double difference = (petsc->value() - lines->value()).cwiseAbs().maxCoeff();
    CHECK(difference < 1e-9);
    CHECK(difference > 0.0);  // else it was not another solver
    const Eigen::MatrixXd jacobian = lines->jacobian();
    CHECK((petsc->jacobian() - jacobian).norm() < 1e-9 * jacobian.norm());
    CHECK(by_petsc->counts().factorizations == 4);
    CHECK(by_petsc->estimated_bytes() > 0.0);
  }
}

TEST_CASE("linearization: a Jacobian kept in place of large factors gives the same products to rounding",
          "[physics][mt]") {
  const mesh::Model section = tests::small_section(true);
  const Survey survey = tests::small_survey();
  const auto linearized = [&](double most_kept_bytes) {
    const auto meshes = d2::design_meshes(section, survey, d2::design_options(d2::Accuracy::iteration));
    return d2::Simulation(MPI_COMM_SELF, section.earth, needed_responses(survey), survey.stations,
                          survey.frequencies_hz, meshes, most_kept_bytes)
        .linearize(section.values);
  };
  const auto factors = linearized(1e9), rows = linearized(0.0);
  CHECK(rows->bytes() < 0.1 * static_cast<double>(factors->bytes()));
  CHECK(rows->value() == factors->value());
  const Eigen::MatrixXd jacobian = factors->jacobian();
  const auto agree = [](const Eigen::MatrixXd& ours, const Eigen::MatrixXd& expected) {
    return (ours - expected).norm() < 1e-12 * expected.norm();
  };
  CHECK(agree(rows->jacobian(), jacobian));
  const Eigen::MatrixXd right = Eigen::MatrixXd::Identity(rows->size_in(), 3).array() + 0.2,
                        left = Eigen::MatrixXd::Identity(rows->size_out(), 2).array() - 0.1;
  CHECK(agree(rows->jvp(right), jacobian * right));
  CHECK(agree(rows->vjp(left), jacobian.transpose() * left));
  core::SparseRows transform(2, rows->size_out());  // of one response each, then of two
  transform.insert(0, 1) = 2.0;
  transform.insert(1, 2) = -1.0;
  transform.insert(1, 3) = 0.5;
  for (const bool across : {false, true}) {
    if (across) transform.coeffRef(1, rows->size_out() - 1) = 3.0;
    const core::JacobianRows ours = rows->local_rows(transform), theirs = factors->local_rows(transform);
    CHECK(ours.rows == theirs.rows);
    CHECK(agree(ours.values, theirs.values));
  }
}

TEST_CASE("section: a determinant is the geometric mean of both modes, with the derivative of both",
          "[physics][mt]") {
  const mesh::Model section = tests::small_section(true);
  const auto stations = tests::small_survey().stations;
  const auto map_of = [&](const std::vector<Datum>& quantities) {
    const Survey survey = full_survey(stations, {1.0, 10.0}, quantities);
    auto meshes = d2::design_meshes(section, survey, d2::design_options(d2::Accuracy::iteration));
    return d2::data_map(MPI_COMM_SELF, section.earth, survey, std::move(meshes));
  };
  const auto modes = map_of({Datum::log10_rho_xy, Datum::log10_rho_yx})->linearize(section.values);
  const auto effective = map_of({datum("log10_rho_det")})->linearize(section.values);
  REQUIRE(effective->size_out() == 6);
  const auto mean = [](const auto& both) { return (0.5 * (both.topRows(6) + both.bottomRows(6))).eval(); };
  CHECK((effective->value() - mean(modes->value())).norm() < 1e-12 * modes->value().norm());
  const Eigen::MatrixXd expected = mean(modes->jacobian());
  CHECK((effective->jacobian() - expected).norm() < 1e-12 * expected.norm());
}

TEST_CASE("layered earth: both modes agree with the Wait recursion", "[physics][mt]") {
  const auto survey = full_survey({{"a", 0.0}}, {100.0, 10.0, 1.0, 0.1, 0.01}, responses);
  const auto worst =
      against_layers(survey, predict(layers({0.0, 500.0, 2500.0, 9000.0}, {100.0, 5.0, 1000.0}), survey),
                     {{100.0, 5.0, 1000.0}, {500.0, 2000.0}});
  CHECK(worst.rho_a_percent < 0.3);
  CHECK(worst.phase_deg < 0.15);
}

TEST_CASE(
    "datum: interfaces above the bottom of a valley get lines where they are, and the plateau sees them",
    "[physics][mt]") {
  // 100 ohm m down to z = 200 m over 1 ohm m; a valley 500 m deep begins 8 km from the station, far beyond
  // what it hears.
  const mesh::TensorGrid grid = mesh::TensorGrid::section({-10000.0, 5200.0, 12000.0}, {0.0, 200.0, 2000.0},
                                                          mesh::DepthReference::datum);
  Eigen::VectorXd resistivity(4);
  resistivity << 100.0, 100.0, 1.0, 1.0;
  const mesh::Model section =
      mesh::resistivity_model({grid, mesh::SurfaceLine({5000.0, 5500.0}, {0.0, 500.0})}, resistivity);
  const auto survey = full_survey({{"plateau", -3000.0}}, {100.0, 10.0, 1.0}, responses);
  for (const auto& band : d2::design_meshes(section, survey).bands) {
    double nearest = 1e300;
    for (int iz = 0; iz <= band.mesh.n_z(); ++iz)
      nearest = std::min(nearest, std::abs(band.mesh.z(iz, 0) - 200.0));
    CHECK(nearest < 1e-6);
  }
  const auto worst = against_layers(survey, predict(section, survey), {{100.0, 1.0}, {200.0}});
  CHECK(worst.rho_a_percent < 0.5);
  CHECK(worst.phase_deg < 0.2);
}

TEST_CASE("perfect conductor: a bottom row of 1e-5 ohm m is a boundary, not meshed", "[physics][mt]") {
  const auto survey = full_survey({{"a", 0.0}}, {1.0, 0.01}, responses);
  const auto section = layers({0.0, 5000.0, 6000.0}, {10.0, 1e-5});
  const auto meshes = d2::design_meshes(section, survey);
  for (const auto& band : meshes.bands) {
    CHECK(band.perfect_conductor_below);
    CHECK(band.mesh.z(band.mesh.n_z(), 0) == Approx(5000.0));
  }
  const auto worst = against_layers(survey, predict(section, survey), {{10.0, 1e-5}, {5000.0}});
  CHECK(worst.rho_a_percent < 0.3);
  CHECK(worst.phase_deg < 0.15);
}

TEST_CASE("thin layers: the mesh need not follow them", "[physics][mt]") {
  // Forty layers of 25 m, alternately 10 and 1000 ohm m: far thinner than a cell at 0.1 Hz.
  std::vector<double> edges{0.0}, resistivity, thickness;
  for (int i = 0; i < 40; ++i) {
    edges.push_back(edges.back() + 25.0);
    resistivity.push_back(i % 2 == 0 ? 10.0 : 1000.0);
    thickness.push_back(25.0);
  }
  edges.push_back(5000.0);
  resistivity.push_back(100.0);
  const auto survey = full_survey({{"a", 0.0}}, {0.1, 0.001}, responses);
  const auto worst =
      against_layers(survey, predict(layers(edges, resistivity), survey), {resistivity, thickness});
  CHECK(worst.rho_a_percent < 0.3);
  CHECK(worst.phase_deg < 0.15);
}

TEST_CASE("smooth layers: small contrasts that add up to a large one get the lines of one", "[physics][mt]") {
  // 0.05 decades from row to row: from 1000 to 100 ohm m within 20 rows, and back after 20 more.
  std::vector<double> edges{0.0}, resistivity, thickness;
  for (int i = 0; i < 60; ++i) {
    resistivity.push_back(std::pow(10.0, 3.0 - 0.05 * std::min({i, 20, 60 - i})));
    thickness.push_back(50.0 * std::pow(1.15, i));
    edges.push_back(edges.back() + thickness.back());
  }
  edges.push_back(edges.back() + 5000.0);
  resistivity.push_back(1000.0);
  const auto survey = full_survey({{"a", 0.0}}, {10.0, 1.0, 0.1, 0.01}, responses);
  // Without lines of their own they were off by 2.9 % and 0.93°, in iterations by 6.3 % and 1.9°.
  for (const auto& [accuracy, bound] : {std::pair{Accuracy::standard, d2::ResponseError{1.0, 0.3}},
                                        std::pair{Accuracy::iteration, d2::ResponseError{5.0, 1.5}}}) {
    const auto worst =
        against_layers(survey, predict(layers(edges, resistivity), survey, d2::design_options(accuracy)),
                       {resistivity, thickness});
    INFO(core::word(accuracy));
    CHECK(worst.rho_a_percent < bound.rho_a_percent);
    CHECK(worst.phase_deg < bound.phase_deg);
  }
}

TEST_CASE(
    "contact: the current crosses it unchanged, so E of TM jumps by the ratio of resistivities, on coarse "
    "meshes too",
    "[physics][mt]") {
  for (const double right : {1000.0, 12.0}) {  // two decades, and a contact too weak for cells of its own
    const mesh::TensorGrid grid = mesh::TensorGrid::section({-5000.0, 0.0, 5000.0}, {0.0, 3000.0, 20000.0});
    Eigen::VectorXd resistivity(4);
    resistivity << 10.0, right, 50.0, 50.0;
    const mesh::Model section = mesh::resistivity_model({grid}, resistivity);
    const auto survey =
        full_survey({{"left", -2.0}, {"right", 2.0}}, {10.0, 0.1}, {Datum::log10_rho_yx, Datum::phase_yx});
    const Eigen::VectorXd of_iterations =
        predict(section, survey, d2::design_options(d2::Accuracy::iteration));
    const Eigen::VectorXd of_standard = predict(section, survey);
    for (int frequency = 0; frequency < 2; ++frequency) {
      const double jump = of_iterations[2 * frequency + 1] - of_iterations[2 * frequency];
      CHECK(jump == Approx(2.0 * std::log10(right / 10.0))
                        .epsilon(0.1));  // the limit; stations stand 2 m from the contact
    }
    CHECK((of_iterations - of_standard).head(4).lpNorm<Eigen::Infinity>() < 0.025);  // decades
  }
}

TEST_CASE("topography: a level surface at another height changes nothing", "[physics][mt]") {
  const auto survey = full_survey({{"a", 300.0}}, {1.0}, responses);
  const auto low = predict(layers({0.0, 500.0, 900.0}, {100.0, 10.0}), survey);
  const auto high = predict(layers({0.0, 500.0, 900.0}, {100.0, 10.0}, mesh::Surface(-1234.0)), survey);
  CHECK((low - high).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("symmetry: a mirrored section gives mirrored impedances and a tipper of opposite sign",
          "[physics][mt]") {
  const auto section = [](double left, double right) {
    mesh::TensorGrid grid = mesh::TensorGrid::section({-3000.0, -400.0, 400.0, 3000.0}, {0.0, 800.0, 2000.0});
    Eigen::VectorXd cells(6);
    cells << left, 100.0, right, 100.0, 100.0, 100.0;
    return mesh::resistivity_model({grid}, cells);
  };
  const auto survey =
      full_survey({{"a", -900.0}, {"b", 900.0}}, {1.0}, {Datum::zxy_re, Datum::zyx_im, Datum::tzy_re});
  const auto one = predict(section(3.0, 300.0), survey), other = predict(section(300.0, 3.0), survey);
  for (int quantity = 0; quantity < 3; ++quantity) {  // the graded lines are not mirrored exactly, hence 1e-3
    const double sign = quantity == 2 ? -1.0 : 1.0;
    CHECK(one[2 * quantity] == Approx(sign * other[2 * quantity + 1]).epsilon(1e-3));
  }
  CHECK(std::abs(one[4]) > 0.01);
}

TEST_CASE(
    "linearization: k directions cost one factorization per frequency and mode and one call with k "
    "right-hand sides",
    "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, false);
  const auto section = tests::small_section(false);
  const auto jobs = 4;  // two frequencies, two modes
  const auto linearization = simulation->linearize(section.values);
  const auto after_field = simulation->counts();
  CHECK(after_field.factorizations == jobs);
  CHECK(after_field.solve_calls == jobs);
  CHECK(after_field.right_hand_sides == jobs);
  const int k = 5;
  const Eigen::MatrixXd v = Eigen::MatrixXd::Random(simulation->size_in(), k),
                        w = Eigen::MatrixXd::Random(simulation->size_out(), k);
  (void)linearization->jvp(v);
  (void)linearization->vjp(w);
  const auto after_products = simulation->counts();
  CHECK(after_products.factorizations == jobs);
  CHECK(after_products.solve_calls == 3 * jobs);
  CHECK(after_products.right_hand_sides == jobs + 2 * k * jobs);
  (void)linearization->jacobian();
  const auto after_jacobian = simulation->counts();
  CHECK(after_jacobian.factorizations == jobs);
  CHECK(after_jacobian.solve_calls == 4 * jobs);
  // Complex adjoint fields serve real and imaginary part, resistivity and phase: 3 stations × (TE impedance,
  // tipper, TM impedance) × 2 frequencies.
  CHECK(after_jacobian.right_hand_sides - after_products.right_hand_sides == 18);
}

TEST_CASE(
    "2-D simulation: rows through a map before it are the product with its derivative, for any number of "
    "threads",
    "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, true);
  const auto resistivity = tests::small_section(true).values;
  const auto linearization = simulation->linearize(resistivity);
  const Eigen::MatrixXd slopes = Eigen::MatrixXd::Random(simulation->size_in(), 5);
  const auto inner = core::affine(slopes, resistivity)->linearize(Eigen::VectorXd::Zero(5));
  const auto through = [&](int n_threads) {
    const tests::ThreadCount set(n_threads);
    return linearization->local_rows(*inner);
  };
  const auto block = through(1);
  const Eigen::MatrixXd expected = linearization->jacobian()(block.rows, Eigen::all) * slopes;
  CHECK((block.values - expected).norm() < 1e-12 * expected.norm());
  for (const int n_threads : {2, 3}) CHECK(through(n_threads).values == block.values);
}

TEST_CASE("2-D data map: its Jacobian is the product of those of the transform and of the simulation",
          "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, true);
  Survey survey = tests::small_survey();  // phases, log10 ρₐ, both parts of impedances and tippers
  std::reverse(survey.keys.begin(), survey.keys.end());
  survey.keys.erase(survey.keys.begin() + 5, survey.keys.begin() + 11);
  std::swap(survey.keys[3], survey.keys[40]);
  const auto at_x = simulation->linearize(tests::small_section(true).values);
  const Eigen::MatrixXd expected =
      Transform(survey, simulation->layout()).linearize(at_x->value())->jacobian() * at_x->jacobian();
  const auto composed = d2::data_map(simulation, survey)->linearize(tests::small_section(true).values);
  const auto scaled_gap = [&](const Eigen::MatrixXd& ours, const Eigen::MatrixXd& theirs) {
    return (ours - theirs).rowwise().norm().cwiseQuotient(theirs.rowwise().norm()).maxCoeff();
  };
  const long before = simulation->counts().right_hand_sides;
  const auto block = composed->local_jacobian();
  CHECK(simulation->counts().right_hand_sides - before == 18);  // as the simulation's own Jacobian
  REQUIRE(std::ssize(block.rows) == expected.rows());
  CHECK(scaled_gap(block.values, expected(block.rows, Eigen::all)) < 1e-12);
  CHECK(scaled_gap(composed->jacobian(), expected) < 1e-12);
  const Eigen::MatrixXd slopes = Eigen::MatrixXd::Random(simulation->size_in(), 5);
  const auto inner =
      core::affine(slopes, tests::small_section(true).values)->linearize(Eigen::VectorXd::Zero(5));
  const auto through = composed->local_rows(*inner);
  CHECK(scaled_gap(through.values, expected(through.rows, Eigen::all) * slopes) < 1e-12);
  for (const int n_threads : {2, 3}) {
    const tests::ThreadCount set(n_threads);
    CHECK(composed->local_jacobian().values == block.values);
    CHECK(composed->local_rows(*inner).values == through.values);
  }
}

TEST_CASE("2-D simulation: rows that combine frequencies are made of the whole Jacobian", "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, false);
  const auto at_x = simulation->linearize(tests::small_section(false).values);
  core::SparseRows left(2, simulation->size_out());
  for (int column = 0; column < left.cols(); ++column) left.insert(0, column) = 0.1 * column;
  const auto block = at_x->local_rows(left);
  REQUIRE(block.rows.size() == 2);
  const Eigen::MatrixXd expected = left * at_x->jacobian();
  CHECK((block.values - expected(block.rows, Eigen::all)).norm() < 1e-12 * expected.norm());
}

TEST_CASE("2-D simulation: any number of threads gives the same bits", "[physics][mt]") {
  const auto section = tests::small_section(true);
  const auto resistivity = section.values;
  const auto responses_with = [&](int n_threads) {
    const tests::ThreadCount set(n_threads);
    const auto simulation = tests::small_simulation(MPI_COMM_SELF, true);
    const auto linearization = simulation->linearize(resistivity);
    const Eigen::MatrixXd v = Eigen::MatrixXd::Constant(simulation->size_in(), 2, 0.3),
                          w = Eigen::MatrixXd::Constant(simulation->size_out(), 3, 0.7);
    const auto block = linearization->local_jacobian();
    CHECK(simulation->counts().factorizations == 4);  // two frequencies, two modes
    return std::vector<Eigen::MatrixXd>{simulation->value(resistivity), linearization->jacobian(),
                                        block.values, linearization->jvp(v), linearization->vjp(w)};
  };
  const auto expected = responses_with(1);
  for (const int n_threads : {2, 3}) CHECK(responses_with(n_threads) == expected);
}

TEST_CASE("2-D simulation: a failure on several threads is the error of one thread", "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, false);
  Eigen::VectorXd resistivity = tests::small_section(false).values;
  resistivity.setConstant(1e-300);
  const auto message_with = [&](int n_threads) {
    const tests::ThreadCount set(n_threads);
    return tests::message_of<core::SolverError>([&] { (void)simulation->value(resistivity); });
  };
  const std::string expected = message_with(1);
  CHECK_THAT(expected, Contains("linalg"));
  CHECK(message_with(2) == expected);
}

TEST_CASE("certificate: passes on the default meshes and fails on coarse ones without padding",
          "[physics][mt]") {
  const auto section = tests::small_section(false);
  const auto survey = full_survey({{"a", -1800.0}, {"b", 600.0}}, {10.0, 1.0}, responses);
  const auto good = d2::certify(MPI_COMM_SELF, section, survey, {}, {0.5, 0.2});
  INFO(good.table());
  CHECK(good.passed);
  REQUIRE(good.rows.size() == 4);

  d2::MeshDesignOptions coarse;
  coarse.coarsen = 4.0;
  coarse.side_padding = 0.01;
  coarse.air_height = 0.01;
  const auto bad = d2::certify(MPI_COMM_SELF, section, survey, coarse, {0.5, 0.2});
  INFO(bad.table());
  CHECK_FALSE(bad.passed);
  CHECK_FALSE(bad.rows[2].passed);
  CHECK_FALSE(bad.rows[3].passed);
  CHECK_THAT(bad.table(), Contains("FAILED"));
  CHECK(good.rows[0].tolerance.rho_a_percent == 0.5);
  CHECK(good.note.empty());
}

TEST_CASE("certificate: within its limits of work and memory it measures fewer periods, or none, and says so",
          "[physics][mt]") {
  const auto section = tests::small_section(false);
  const auto survey = full_survey({{"a", -1800.0}, {"b", 600.0}}, {10.0, 3.0, 1.0, 0.3}, responses);
  const d2::MeshDesignOptions rules = d2::design_options(d2::Accuracy::iteration);
  const d2::MeshSet meshes = d2::design_meshes(section, survey, rules);
  const auto all = d2::cost_of_certificate(meshes, survey, {});
  CHECK(all.frequencies == std::vector<int>{0, 1, 2, 3});
  CHECK(all.work > 3.0 * d2::work_of(meshes, survey));
  const d2::CertificateLimits half{.work = 0.6 * all.all_work};
  const auto some = d2::cost_of_certificate(meshes, survey, half);
  CHECK(some.frequencies.size() == 2);
  CHECK(some.work <= half.work);

  const auto whole = d2::certify(MPI_COMM_SELF, section, survey, rules, {2.0, 0.57});
  const auto fewer = d2::certify(MPI_COMM_SELF, section, survey, rules, {2.0, 0.57}, half);
  REQUIRE(fewer.rows.size() == 4);
  CHECK_THAT(fewer.note, Contains("2 of 4 periods"));
  CHECK_THAT(fewer.table(), Contains("2 of 4 periods"));
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(fewer.rows[k].worst.rho_a_percent <= whole.rows[k].worst.rho_a_percent);

  const auto none = d2::certify(MPI_COMM_SELF, section, survey, rules, {2.0, 0.57}, {.bytes = 1.0});
  CHECK(none.rows.empty());
  CHECK_FALSE(none.passed);
  CHECK_FALSE(none.stopped);
  CHECK_THAT(none.note, Contains("4 periods need"));
  CHECK(d2::cost_of_certificate(meshes, survey, {.bytes = 1.0}).n_too_large == 4);
}

TEST_CASE("certificate: a request to stop ends it between periods", "[physics][mt]") {
  const auto section = tests::small_section(false);
  const auto survey = full_survey({{"a", -1800.0}}, {10.0, 1.0}, responses);
  int n_asked = 0;
  const int n_threads = core::threads();
  core::set_threads(1);  // one period at a time
  const d2::CertificateLimits limits{.stop = [&] { return ++n_asked > 1; }};
  const auto stopped = d2::certify(MPI_COMM_SELF, section, survey,
                                   d2::design_options(d2::Accuracy::iteration), {2.0, 0.57}, limits);
  CHECK(stopped.stopped);
  CHECK(stopped.rows.empty());
  CHECK(n_asked == 2);
  CHECK(core::threads() == 1);
  core::set_threads(n_threads);
}

TEST_CASE("simulation: refuses bad resistivities, surveys and meshes with what was expected",
          "[physics][mt]") {
  const auto simulation = tests::small_simulation(MPI_COMM_SELF, false);
  Eigen::VectorXd resistivity = tests::small_section(false).values;
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { (void)simulation->value(resistivity.head(5)); }),
             tests::HasId("wrong_unknowns", {"mt::d2::Simulation", "12", "5"}));
  resistivity[6] = -1.0;
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)simulation->value(resistivity); }),
             tests::HasId("resistivity_not_positive", {"-1", "1", "2"}));
  const auto section = tests::small_section(false);
  auto survey = tests::small_survey();
  survey.stations[1].y_m = survey.stations[0].y_m;
  CHECK_THROWS_AS(d2::design_meshes(section, survey), core::InvalidArgument);
  auto meshes = d2::design_meshes(section, tests::small_survey());
  meshes.bands.pop_back();
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               (void)d2::simulation_of(MPI_COMM_SELF, section.earth, tests::small_survey(), meshes);
             }),
             tests::HasId("no_mesh", {"1 Hz"}));
}

TEST_CASE("2-D simulation: responses and data that a section does not determine are refused",
          "[physics][mt]") {
  const auto section = tests::small_section(false);
  const auto meshes = d2::design_meshes(section, tests::small_survey());
  const auto refusal = [&](std::vector<ResponseKey> keys) {
    return tests::error_of<core::Error>([&] {
      const Survey survey = tests::small_survey();
      (void)d2::Simulation(MPI_COMM_SELF, section.earth, ResponseLayout(keys), survey.stations,
                           survey.frequencies_hz, meshes);
    });
  };
  CHECK_THAT(refusal({{Element::zxy, 0, 0}, {Element::zyy, 1, 2}}), tests::HasId("not_predicted", {"Zyy"}));
  CHECK_THROWS_AS(
      d2::Simulation(MPI_COMM_SELF, section.earth, ResponseLayout({{Element::zxy, 2, 0}}),
                     tests::small_survey().stations, tests::small_survey().frequencies_hz, meshes),
      core::ShapeError);
  const auto survey = full_survey(tests::small_survey().stations, {1.0, 10.0}, {datum("tzx_re")});
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { (void)d2::data_map(MPI_COMM_SELF, section.earth, survey, meshes); }),
             tests::HasId("not_predicted", {"tzx_re"}));
}

TEST_CASE("2-D simulation: an earth of other axes, or under a map, is refused", "[physics][mt]") {
  const mesh::TensorGrid layers = mesh::TensorGrid::layers(10.0, 1.2, 5);
  const mesh::Model one = mesh::resistivity_model({layers}, Eigen::VectorXd::Constant(5, 100.0));
  const auto refusal = [](const auto& action) { return tests::error_of<core::InvalidArgument>(action); };
  CHECK_THAT(refusal([&] { (void)d2::design_meshes(one, tests::small_survey()); }),
             tests::HasId("not_a_section", {"1"}));
  CHECK_THAT(refusal([&] { (void)d2::simulation_of(MPI_COMM_SELF, one.earth, tests::small_survey(), {}); }),
             tests::HasId("not_a_section", {"1"}));
  mesh::Model section = tests::small_section(false);
  section.earth.surface = mesh::Surface({0.0, 1.0}, {0.0, 1.0}, Eigen::Matrix2d::Zero());
  CHECK_THAT(refusal([&] { (void)d2::design_meshes(section, tests::small_survey()); }),
             tests::HasId("is_a_map", {"2"}));
}
