// SPDX-License-Identifier: Apache-2.0
// Pairs of steps of the cells and of the codes of subdomains.
#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/inversion/alternating_fixtures.hpp"

#include <Eigen/Dense>

#include <limits>

using namespace lodestone;
using Catch::Matchers::Contains;
using inversion::optimize::Alternating;
using inversion::optimize::AlternatingOptions;
using inversion::optimize::StopReason;
using tests::SectionProblem;

namespace {

Eigen::VectorXd zero_codes(const SectionProblem& problem) {
  return problem.map->value(problem.map->encode(problem.reference()));
}

/// Returns the largest difference to the nearest model that the decoders make, found with next to no say of
/// the codes' prior.
double distance_from_decoded(const SectionProblem& problem, const Eigen::VectorXd& model) {
  const Eigen::VectorXd codes = problem.map->encode(model, {.sigma_decades = 1e-4, .max_iterations = 200});
  return (problem.map->value(codes) - model).lpNorm<Eigen::Infinity>();
}

/// Rows of the roughness that touch one column of the region and nothing else are times √inside_weight, those
/// between two of its columns times √(1/6).
Eigen::MatrixXd coded_rows(const SectionProblem& problem, double inside_weight) {
  Eigen::MatrixXd rows(problem.roughness());
  for (Eigen::Index row = 0; row < rows.rows(); ++row) {
    bool any_outside = false;
    Eigen::Index leftmost = 99, rightmost = -1;
    for (Eigen::Index cell = 0; cell < SectionProblem::n; ++cell) {
      if (rows(row, cell) == 0.0) continue;
      const Eigen::Index column = cell % SectionProblem::n_columns;
      any_outside = any_outside || column < 1 || column > 4 || cell / SectionProblem::n_columns < 2;
      leftmost = std::min(leftmost, column);
      rightmost = std::max(rightmost, column);
    }
    if (!any_outside) rows.row(row) *= std::sqrt(leftmost == rightmost ? inside_weight : 1.0 / 6.0);
  }
  return rows;
}

}  // namespace

TEST_CASE(
    "alternating: one pair is two Gauss-Newton steps, of all cells and of the codes of what they gave, with "
    "roughness inside or without") {
  const double inside_weight = GENERATE(0.0, 0.7);
  constexpr Eigen::Index n = SectionProblem::n;
  const Eigen::MatrixXd l = 0.5 * tests::random_matrix(6, 2, 8);
  const Eigen::VectorXd mean = Eigen::VectorXd::LinSpaced(6, 1.5, 2.5);
  const SectionProblem problem(inversion::prior::gaussian_decoder(mean, l * l.transpose()));
  const double pixel_lambda = 20.0, code_lambda = 3.0, weight = 1.0 / (problem.sigma * problem.sigma);
  const AlternatingOptions options{.stop = {.max_iterations = 1, .target_rms = 1e-3},
                                   .pixel_lambda = pixel_lambda,
                                   .code_lambda = code_lambda,
                                   .max_halvings = 0,
                                   .encode = {.max_iterations = 0}};
  const auto summary = Alternating(MPI_COMM_SELF, options, problem.coded(inside_weight))
                           .minimize(problem.objective(), problem.reference());
  REQUIRE(summary.history.size() == 2);
  CHECK(summary.history[1].kind == inversion::optimize::StepKind::pair);
  CHECK(summary.history[1].n_jacobian == 2);
  CHECK(summary.history[1].lambda == pixel_lambda);
  CHECK(summary.history[1].step == 1.0);

  const auto jacobian = [](const Eigen::VectorXd& m) {
    return Eigen::MatrixXd(SectionProblem::kernels() * m.unaryExpr(&SectionProblem::slope).asDiagonal());
  };
  const auto response = [](const Eigen::VectorXd& m) {
    return Eigen::VectorXd(SectionProblem::kernels() * m.unaryExpr(&SectionProblem::bent));
  };
  const Eigen::VectorXd start = problem.reference();
  const Eigen::MatrixXd r(problem.roughness()), j = jacobian(start);
  const Eigen::VectorXd pixels =
      start + (weight * j.transpose() * j + pixel_lambda * r.transpose() * r)
                  .ldlt()
                  .solve(weight * j.transpose() * (problem.observed - response(start)));
  Eigen::MatrixXd by_code = Eigen::MatrixXd::Zero(n, 8);  // column s of the region: cells = mean + L w
  Eigen::VectorXd w(8), decoded = pixels;
  for (Eigen::Index s = 0; s < 4; ++s) {
    Eigen::VectorXi cells(6);
    for (int i = 0; i < 6; ++i) cells[i] = static_cast<int>((2 + i) * SectionProblem::n_columns + 1 + s);
    by_code(cells, Eigen::seqN(2 * s, 2)) = l;
    w.segment(2 * s, 2) = l.householderQr().solve(Eigen::VectorXd(pixels(cells)) - mean);
    decoded(cells) = mean + l * w.segment(2 * s, 2);
  }
  const double code_weight = problem.coded().code_weights()[0];
  const Eigen::MatrixXd rows = coded_rows(problem, inside_weight), jv = jacobian(decoded) * by_code,
                        rv = rows * by_code;
  const Eigen::MatrixXd hessian =
      weight * jv.transpose() * jv +
      code_lambda * (rv.transpose() * rv + code_weight * Eigen::MatrixXd::Identity(8, 8));
  const Eigen::VectorXd descent =
      weight * jv.transpose() * (problem.observed - response(decoded)) -
      code_lambda * (rv.transpose() * rows * (decoded - problem.reference()) + code_weight * w);
  const Eigen::VectorXd expected = decoded + by_code * hessian.ldlt().solve(descent);
  CHECK((expected - decoded).norm() > 0.05);
  CHECK((pixels - start).norm() > 0.5);
  CHECK((summary.model - expected).norm() < 1e-9 * expected.norm());
}

TEST_CASE("alternating: roughness inside subdomains makes them smoother, at the same target") {
  const SectionProblem problem(inversion::prior::gaussian_decoder(Eigen::VectorXd::Constant(6, 2.0),
                                                                  0.25 * Eigen::MatrixXd::Identity(6, 6)));
  const auto roughness_inside = [&](const Eigen::VectorXd& model) {
    double sum = 0.0;
    for (const auto& column : problem.map->regions()[0].subdomains) {
      const Eigen::VectorXd cells = model(column);
      sum += (cells.tail(5) - cells.head(5)).squaredNorm();
    }
    return sum;
  };
  double rougher = std::numeric_limits<double>::infinity();
  for (const double inside_weight : {0.0, 1.0, 10.0}) {
    const auto summary = Alternating(MPI_COMM_SELF, {}, problem.coded(inside_weight))
                             .minimize(problem.objective(), zero_codes(problem));
    INFO(inside_weight << ": " << summary.brief());
    CHECK(summary.reason == StopReason::target_reached);
    CHECK(roughness_inside(summary.model) < 0.8 * rougher);  // 0.089, 0.057, 0.020
    rougher = roughness_inside(summary.model);
  }
}

TEST_CASE("alternating: every pair fits better, decodes its subdomains, and the last one is at the target") {
  const SectionProblem problem;
  const auto witness = std::make_shared<tests::Witness>();
  Alternating alternating(MPI_COMM_SELF, {}, problem.coded());
  const auto summary =
      alternating.minimize(problem.objective(), zero_codes(problem), {.directives = {witness}});
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.rms <= 1.0);
  CHECK(summary.rms > 0.8);
  REQUIRE(summary.history.size() > 2);
  for (std::size_t i = 1; i < summary.history.size(); ++i) {
    CHECK(summary.history[i].rms < summary.history[i - 1].rms);
    CHECK(summary.history[i].kind == inversion::optimize::StepKind::pair);
    CHECK(distance_from_decoded(problem, witness->states[i].model) < 1e-6);  // 1e-8 of all of them
  }
  const auto cells =
      inversion::optimize::GaussNewton(MPI_COMM_SELF).minimize(problem.objective(), problem.reference());
  CHECK(distance_from_decoded(problem, cells.model) > 0.3);  // 0.60: what is not decoded is seen as such, ...
  Eigen::VectorXd hardly_polished = summary.model;
  hardly_polished[problem.map->regions()[0].subdomains[0][0]] += 0.01;
  CHECK(distance_from_decoded(problem, hardly_polished) >
        1e-3);  // ... be it one cell off by a hundredth: 0.0066
  CHECK(witness->n_progress > 0);
}

TEST_CASE("alternating: a truth that the decoder can draw is recovered better than by the cells alone") {
  const SectionProblem problem;
  const auto pairs =
      Alternating(MPI_COMM_SELF, {}, problem.coded()).minimize(problem.objective(), problem.reference());
  const auto cells =
      inversion::optimize::GaussNewton(MPI_COMM_SELF).minimize(problem.objective(), problem.reference());
  REQUIRE(pairs.reason == StopReason::target_reached);
  REQUIRE(cells.reason == StopReason::target_reached);
  const auto error_of = [&](const Eigen::VectorXd& model) {
    double sum = 0.0;
    for (const auto& column : problem.map->regions()[0].subdomains)
      sum += (model - problem.truth)(column).squaredNorm();
    return std::sqrt(sum);
  };
  CHECK(error_of(pairs.model) < 0.5 * error_of(cells.model));
}

TEST_CASE(
    "alternating: a start at lambdas ten times off, either way, ends at the target with nearly the same "
    "section") {
  const SectionProblem problem;
  const auto run = [&](double factor) {
    const AlternatingOptions options{.pixel_lambda = 3e4 * factor, .code_lambda = 500.0 * factor};
    auto summary = Alternating(MPI_COMM_SELF, options, problem.coded())
                       .minimize(problem.objective(), zero_codes(problem));
    INFO(factor << ": " << summary.brief());
    CHECK(summary.reason == StopReason::target_reached);
    CHECK(summary.history.size() <= 8);  // 7, 7 and 8: the rule for λ catches up within a pair
    CHECK(summary.history[1].lambda == options.pixel_lambda);
    return summary;
  };
  const auto as_given = run(1.0);
  for (const double factor : {0.1, 10.0}) {
    const auto off = run(factor);
    CHECK(off.rms == Approx(as_given.rms).epsilon(0.005));                 // 0.931 to 0.933
    CHECK((off.model - as_given.model).lpNorm<Eigen::Infinity>() < 0.03);  // 0.014 decades
    CHECK((as_given.model - problem.truth).lpNorm<Eigen::Infinity>() >
          0.1);  // 0.41: small beside what the noise does
  }
}

// 0.6 is far below the errors, and pairs get there. How far they get at all is another matter: the cells
// outside are those of a section of cells that fits, for small λ the smoothest one, and beside these the
// codes of this problem reach no less than 0.294. Joint steps know no such place.
TEST_CASE(
    "alternating: without noise the misfit falls far below the errors, to what codes reach beside cells that "
    "fitted without them, joint "
    "steps go on") {
  SectionProblem problem;
  problem.observed = problem.forward->value(problem.truth);
  const inversion::prior::CodedRoughness coded = problem.coded();
  const auto pairs = [&](double target) {
    return Alternating(MPI_COMM_SELF, {.stop = {.max_iterations = 20, .target_rms = target}}, coded)
        .minimize(problem.objective(), zero_codes(problem));
  };
  const auto near = pairs(0.6), end = pairs(0.01);
  INFO(near.brief() << "; " << end.brief());
  CHECK(near.reason == StopReason::target_reached);
  CHECK(near.history.size() <= 10);
  CHECK(end.reason == StopReason::stagnated);
  CHECK(end.rms == Approx(0.297).margin(0.01));
  inversion::optimize::GaussNewton joint(MPI_COMM_SELF, {.stop = {.max_iterations = 20, .target_rms = 0.01}});
  const Eigen::VectorXd start = problem.map->encode(problem.reference());
  const auto summary = joint.minimize(
      {core::compose(problem.forward, problem.map), problem.objective().misfit, coded.at(start)}, start,
      {.reweigh = coded.reweigh()});
  INFO("joint: " << summary.brief());
  CHECK(summary.rms < 0.1 * end.rms);
}

TEST_CASE("alternating: a masked datum never matters, nor does its response") {
  const SectionProblem problem;
  const auto run = [&](double value, double response) {
    std::vector<int> reason(SectionProblem::n_data, 0);
    reason[7] = 1;
    Eigen::VectorXd observed = problem.observed, bias = Eigen::VectorXd::Zero(SectionProblem::n_data);
    observed[7] = value;
    Eigen::MatrixXd of_datum = Eigen::MatrixXd::Identity(SectionProblem::n_data, SectionProblem::n_data);
    of_datum(7, 7) = bias[7] = response;
    const inversion::optimize::Objective objective{
        core::compose(core::affine(of_datum, bias), problem.forward),
        tests::masked_misfit(observed, problem.sigma, reason), problem.objective().regularization};
    return Alternating(MPI_COMM_SELF, {.stop = {.target_rms = 0.5}}, problem.coded())
        .minimize(objective, zero_codes(problem));
  };
  const auto one = run(0.0, 1.0), other = run(std::numeric_limits<double>::quiet_NaN(), 1e3);
  CHECK(one.history.size() > 2);
  CHECK(tests::same_bits(one.model, other.model));
  CHECK(one.rms == other.rms);
}

TEST_CASE("alternating: a resumed run ends bit by bit as the whole one, λ given or not") {
  const SectionProblem problem;
  for (const double lambda : {0.0, 100.0}) {
    const AlternatingOptions options{
        .stop = {.max_iterations = 5, .target_rms = 0.3}, .pixel_lambda = lambda, .code_lambda = lambda};
    const auto witness = std::make_shared<tests::Witness>();
    Alternating whole(MPI_COMM_SELF, options, problem.coded());
    const auto expected = whole.minimize(problem.objective(), zero_codes(problem), {.directives = {witness}});
    INFO(expected.brief());
    REQUIRE(expected.history.size() > 3);
    CHECK(tests::difference_of_resumed(*witness, expected, [&](inversion::optimize::InversionState state) {
            return Alternating(MPI_COMM_SELF, options, problem.coded())
                .resume(problem.objective(), std::move(state));
          }).empty());
  }
}

TEST_CASE(
    "alternating: data that no model explains end it as stagnated, with the last pair that fitted better") {
  SectionProblem problem;
  problem.observed += 5.0 * tests::random_matrix(SectionProblem::n_data, 1, 9).col(0);
  problem.sigma = 1e-3;
  const auto summary = Alternating(MPI_COMM_SELF, {.stop = {.max_iterations = 100}}, problem.coded())
                           .minimize(problem.objective(), zero_codes(problem));
  INFO(summary.brief());
  CHECK(summary.reason == StopReason::stagnated);
  CHECK(summary.history.size() < 50);
  CHECK(summary.rms == Approx(problem.objective().misfit.rms(problem.forward->value(summary.model))));
}

TEST_CASE("alternating: failed trials shorten the step, and a run whose trials all fail says why") {
  const SectionProblem problem;
  const auto fake = std::make_shared<tests::FakeMap>(problem.forward);
  fake->spoil_forward = [](Eigen::VectorXd&, int call) {
    if (call == 2) throw core::SolverError("tests::FakeMap", "no convergence");
  };
  const auto summary =
      Alternating(MPI_COMM_SELF, {}, problem.coded()).minimize(problem.objective(fake), zero_codes(problem));
  CHECK(summary.reason == StopReason::target_reached);
  CHECK(summary.history[1].n_forward >= 4);
  fake->n_value = fake->n_linearize = 0;
  fake->spoil_forward = [](Eigen::VectorXd&, int call) {
    if (call > 1) throw core::SolverError("tests::FakeMap", "no convergence");
  };
  const auto failed =
      Alternating(MPI_COMM_SELF, {}, problem.coded()).minimize(problem.objective(fake), zero_codes(problem));
  CHECK(failed.reason == StopReason::failed);
  CHECK_THAT(failed.message, Contains("no convergence"));
  CHECK(tests::same_bits(failed.model, zero_codes(problem)));
}

TEST_CASE("alternating: options without sense and objectives of other cells are refused") {
  const SectionProblem problem;
  const auto with = [&](const AlternatingOptions& options) {
    return Alternating(MPI_COMM_SELF, options, problem.coded());
  };
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(with({.pixel_lambda = -1.0})); }),
             tests::HasId("wrong_lambdas", {"pixel_lambda", "-1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(with({.decay = 0.0})); }),
             tests::HasId("wrong_decay", {"decay", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { static_cast<void>(with({.decay = 1.5})); }),
             tests::HasId("wrong_decay", {"decay", "1.5"}));
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(with({.stop = {.patience = 0}})); }),
      tests::HasId("wrong_iterations", {"patience", "0"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(with({.encode = {.sigma_decades = 0.0}})); }),
             tests::HasId("wrong_encode_options", {"sigma_decades", "0"}));
  const tests::CurvedProblem other;
  CHECK_THAT(tests::error_of<core::ShapeError>(
                 [&] { static_cast<void>(with({}).minimize(other.objective(), Eigen::VectorXd::Zero(30))); }),
             tests::HasId("wrong_cells", {"48", "30"}));
  const auto none = std::make_shared<const inversion::prior::SubdomainMap>(
      SectionProblem::n, std::vector<inversion::prior::Region>{});
  CHECK_THAT(tests::error_of<core::InvalidArgument>([&] {
               static_cast<void>(Alternating(
                   MPI_COMM_SELF, {},
                   inversion::prior::CodedRoughness(none, problem.roughness(), problem.reference())));
             }),
             tests::HasId("no_subdomain"));
}

TEST_CASE("alternating: pairs without a Jacobian take the steps of those with one", "[inversion]") {
  using inversion::optimize::SystemSpace;
  const SectionProblem problem;
  const auto run = [&](SystemSpace space) {
    const AlternatingOptions options{.stop = {.max_iterations = 1, .target_rms = 0.1},
                                     .pixel_lambda = 20.0,  // the scale by which one is chosen differs
                                     .code_lambda = 3.0,
                                     .space = space,
                                     .inner = {.max_steps = 100, .forcing = 1e-9}};
    return Alternating(MPI_COMM_SELF, options, problem.coded())
        .minimize(problem.objective(), zero_codes(problem));
  };
  const auto free = run(SystemSpace::matrix_free), dense = run(SystemSpace::automatic);
  INFO(free.brief() << "; " << dense.brief());
  REQUIRE(free.history.size() == dense.history.size());
  CHECK(free.history.back().n_jacobian == 0);
  CHECK(dense.history.back().n_jacobian > 0);
  CHECK(free.rms == Approx(dense.rms).epsilon(1e-3));
  CHECK((free.model - dense.model).lpNorm<Eigen::Infinity>() < 1e-2);
}
