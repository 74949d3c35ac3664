// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/memory_arrays.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <functional>
#include <limits>

using namespace lodestone;
using inversion::optimize::InversionState;

namespace {

InversionState some_state() {
  InversionState state;
  state.iteration = 1;
  state.lambda = 0.1 + 1e-17;
  state.creep_lambda = 0.3;
  state.n_stagnated = 1;
  state.model = tests::random_matrix(7, 1, 4).col(0);
  state.history = {{.rms = 9.0, .n_forward = 1},
                   {.iteration = 1,
                    .kind = inversion::optimize::StepKind::creep,
                    .lambda = 0.1,
                    .rms = 3.1,
                    .roughness = 2.0,
                    .step = 0.5,
                    .rms_at_start = 9.0,
                    .n_forward = 4,
                    .n_jacobian = 1,
                    .seconds = 1.5}};
  return state;
}

}  // namespace

TEST_CASE("state: written and read back, every bit is there") {
  InversionState state = some_state();
  for (const bool redesigned : {false, true}) {
    if (redesigned) {
      state.design_iteration = 1;
      state.design_model = tests::random_matrix(7, 1, 5).col(0);
      state.memory = tests::random_matrix(7, 4, 6);
    }
    tests::MemoryArrays arrays;
    inversion::optimize::write_state(arrays, state);
    const InversionState back = inversion::optimize::read_state(arrays);
    CHECK(back.iteration == 1);
    CHECK(back.lambda == state.lambda);
    CHECK(back.creep_lambda == 0.3);
    CHECK(back.n_stagnated == 1);
    CHECK((back.model.array() == state.model.array()).all());
    REQUIRE(back.memory.cols() == state.memory.cols());
    CHECK((back.memory.array() == state.memory.array()).all());
    CHECK(back.design_iteration == state.design_iteration);
    CHECK(back.design_model.size() == state.design_model.size());
    REQUIRE(back.history.size() == 2);
    CHECK(back.history[1].iteration == 1);
    CHECK(back.history[0].kind == inversion::optimize::StepKind::start);
    CHECK(back.history[1].kind == inversion::optimize::StepKind::creep);
    CHECK(back.history[1].lambda == 0.1);
    CHECK(back.history[1].rms == 3.1);
    CHECK(back.history[1].roughness == 2.0);
    CHECK(back.history[1].step == 0.5);
    CHECK(back.history[1].rms_at_start == 9.0);
    CHECK(back.history[1].n_forward == 4);
    CHECK(back.history[1].n_jacobian == 1);
    CHECK(back.history[1].seconds == 1.5);
  }
}

TEST_CASE("state: a checkpoint of another layout is refused") {
  tests::MemoryArrays arrays;
  CHECK_THROWS_AS(inversion::optimize::read_state(arrays), core::FormatError);
  inversion::optimize::write_state(arrays, some_state());
  core::write_matrix(arrays, "state/history", Eigen::MatrixXd::Zero(2, 4));
  CHECK_THAT(
      tests::error_of<core::FormatError>([&] { static_cast<void>(inversion::optimize::read_state(arrays)); }),
      tests::HasId("wrong_layout", {"2 x 4"}));
}

TEST_CASE("state: what no run writes is refused with the name of the array") {
  static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  InversionState state = some_state();
  state.design_iteration = 1;
  state.design_model = state.model;
  const auto refusal = [&](const std::function<void(InversionState&)>& change,
                           const std::function<void(tests::MemoryArrays&)>& replace = {}) {
    InversionState changed = state;
    if (change) change(changed);
    tests::MemoryArrays arrays;
    inversion::optimize::write_state(arrays, changed);
    if (replace) replace(arrays);
    return tests::error_of<core::FormatError>(
        [&] { static_cast<void>(inversion::optimize::read_state(arrays)); });
  };
  CHECK_THAT(refusal([](auto& s) { s.design_model.resize(0); }),
             tests::HasId("missing_array", {"state/design_model"}));
  CHECK_THAT(refusal([](auto& s) { s.design_model.conservativeResize(1); }),
             tests::HasId("other_size", {"state/design_model", "7", "1"}));
  CHECK_THAT(refusal([](auto& s) { s.model[3] = nan; }), tests::HasId("not_finite", {"state/model", "3"}));
  CHECK_THAT(refusal([](auto& s) { s.memory = Eigen::MatrixXd::Constant(7, 1, nan); }),
             tests::HasId("impossible", {"memory"}));
  CHECK_THAT(refusal([](auto& s) { s.model[3] = -1e308; }), tests::HasId("impossible", {"model"}));
  CHECK_THAT(refusal([](auto& s) { s.creep_lambda = 1e308; }), tests::HasId("impossible", {"lambda"}));
  CHECK_THAT(refusal([](auto& s) { s.history[1].step = 1e308; }), tests::HasId("impossible", {"row 1"}));
  CHECK_THAT(refusal([](auto& s) { s.iteration = 2; }), tests::HasId("impossible", {"iteration 2"}));
  CHECK_THAT(refusal([](auto& s) { s.n_stagnated = -1; }), tests::HasId("impossible"));
  CHECK_THAT(refusal([](auto& s) { s.design_iteration = 40; }), tests::HasId("impossible", {"40"}));
  CHECK_THAT(refusal([](auto& s) { s.lambda = -1.0; }), tests::HasId("impossible", {"lambda"}));
  CHECK_THAT(refusal([](auto& s) { s.history[0].rms = nan; }), tests::HasId("impossible", {"row 0"}));
  const auto in_history = [&](Eigen::Index column, double value) {
    return refusal({}, [&](auto& arrays) {
      Eigen::MatrixXd history = core::read_matrix(arrays, "state/history");
      history(1, column) = value;
      core::write_matrix(arrays, "state/history", history);
    });
  };
  for (const Eigen::Index count : {0, 1, 7, 8}) {
    CHECK_THAT(in_history(count, -std::numeric_limits<double>::infinity()),
               tests::HasId("impossible", {"row 1"}));
    CHECK_THAT(in_history(count, 0.5), tests::HasId("impossible", {"row 1"}));
  }
  CHECK_THAT(in_history(1, 5.0), tests::HasId("impossible", {"row 1"}));
  CHECK_THAT(
      refusal({},
              [](auto& arrays) { core::write_matrix(arrays, "state/model", Eigen::MatrixXd::Zero(7, 1)); }),
      tests::HasId("other_array", {"state/model"}));
}
