// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/lambda_search.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

using namespace lodestone;
using inversion::optimize::LambdaSearchOptions;
using inversion::optimize::search_lambda;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("lambda search: above the target it finds the smallest rms in a few runs, from either side") {
  const auto valley = [](double lambda) { return 2.0 + 0.4 * std::pow(std::log10(lambda) - 1.3, 2); };
  for (const double start : {1e3, 10.0, 0.1}) {
    const auto result = search_lambda(valley, start, {.current_rms = 5.0});
    CHECK_FALSE(result.target_reached);
    CHECK(result.trials[result.best].rms < 2.05);
    CHECK(result.trials.size() <= 7);
  }
}

TEST_CASE("lambda search: when the target can be reached, the largest lambda that does is taken") {
  // Two branches at the target: below λ = 1 the rms grows again.
  const auto valley = [](double lambda) { return 0.8 + 0.2 * std::pow(std::log10(lambda), 2); };
  for (const double start : {300.0, 1.0, 0.3, 1e-2}) {
    const auto result = search_lambda(valley, start, {.current_rms = 3.0});
    REQUIRE(result.target_reached);
    const double rms = result.trials[result.best].rms;
    CHECK(rms <= 1.0);
    CHECK(std::log10(result.trials[result.best].lambda) == Approx(1.0).margin(0.1));
    CHECK(result.trials.size() <= 9);
  }
}

TEST_CASE("lambda search: a first trial just below the target is enough") {
  const auto result = search_lambda([](double) { return 0.995; }, 7.0, {.current_rms = 0.999});
  CHECK(result.trials.size() == 1);
  CHECK(result.trials[result.best].lambda == Approx(7.0));
}

TEST_CASE("lambda search: a first trial that is low enough ends it above the target, and only the first") {
  const auto falling = [](double lambda) { return 2.0 + 0.5 * std::log10(lambda); };
  CHECK(search_lambda(falling, 10.0, {.target_rms = 1.0, .current_rms = 9.0, .sufficient_rms = 3.0})
            .trials.size() == 1);
  CHECK(search_lambda(falling, 10.0, {.target_rms = 1.0, .current_rms = 9.0, .sufficient_rms = 2.4})
            .trials.size() > 2);
}

TEST_CASE(
    "lambda search: at the target it ends as soon as a larger lambda is not worth a run, and takes the "
    "largest tried") {
  const auto flat = [](double) { return 0.9; };  // whatever λ: the search would only run out
  LambdaSearchOptions options{.target_rms = 1.0, .current_rms = 1.02};
  CHECK(search_lambda(flat, 1.0, options).trials.size() == 10);
  std::size_t asked = 0;
  options.suffices = [&](std::size_t trial) {
    asked = trial;
    return trial >= 2;
  };
  const auto result = search_lambda(flat, 1.0, options);
  CHECK(result.trials.size() == 3);
  CHECK(result.best == 2);
  CHECK(asked == 2);
}

TEST_CASE("lambda search: where any model at the target will do it is content with less") {
  const auto curve = [](double lambda) { return 0.7 + 0.3 * std::log10(lambda); };  // at the target at λ = 10
  const LambdaSearchOptions quick{.target_rms = 1.0, .current_rms = 5.0, .any_at_target = true},
      precise{.target_rms = 1.0, .current_rms = 5.0};
  const auto rough = search_lambda(curve, 0.5, quick), polished = search_lambda(curve, 0.5, precise);
  CHECK(rough.target_reached);
  CHECK(rough.trials[rough.best].rms >= 0.9);
  CHECK(polished.trials[polished.best].rms >= 0.96);
  CHECK(rough.trials.size() < polished.trials.size());
}

TEST_CASE("lambda search: rejected trials send it to larger lambda") {
  const auto cliff = [](double lambda) {
    return lambda < 50.0 ? infinity : 1.5 + 0.1 * std::log10(lambda / 50.0);
  };
  const auto result = search_lambda(cliff, 1.0, {.current_rms = 4.0});
  CHECK(result.trials[result.best].rms < 1.7);
  const auto hopeless =
      search_lambda([](double) { return std::nan(""); }, 1.0, {.current_rms = 4.0, .max_trials = 6});
  CHECK(hopeless.trials.size() == 6);
  CHECK_FALSE(std::isfinite(hopeless.trials[hopeless.best].rms));
}

TEST_CASE("lambda search: where trials are far above the present rms it climbs to one that helps") {
  // A ripple among steps that are far too long; only large λ keep them short.
  const auto wild = [](double lambda) {
    const double x = std::log10(lambda);
    return x < 3.0 ? 27.0 + 3.0 * std::cos(4.0 * x) : 2.0 + 20.0 * std::pow(10.0, 3.0 - x);
  };
  const auto result = search_lambda(wild, 50.0, {.current_rms = 2.24});
  CHECK(result.trials[result.best].rms < 2.24);
  CHECK(result.trials.size() <= 10);
  // The search ends soon where a larger λ leads to a worse model, as to a reference that does not fit.
  const auto rising = [](double lambda) { return 3.0 + 0.1 * std::log10(lambda); };
  CHECK(search_lambda(rising, 50.0, {.current_rms = 2.24, .max_trials = 30}).trials.size() < 30);
}

TEST_CASE("lambda search: it never runs more trials than allowed, and a flat curve ends it at once") {
  int n = 0;
  const auto falling = [&](double lambda) {
    ++n;
    return 2.0 + lambda;
  };
  (void)search_lambda(falling, 1e8, {.current_rms = 1e9, .max_trials = 4});
  CHECK(n == 4);
  CHECK(search_lambda([](double) { return 2.0; }, 1.0, {.current_rms = 3.0}).trials.size() <= 3);
}
