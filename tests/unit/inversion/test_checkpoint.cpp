// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/store.hpp"
#include "inversion/checkpoint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using inversion::RunInputs;

namespace {

core::DataSetParts small_data() {
  core::DataSetParts parts{.observed = Eigen::Vector2d(1.0, 2.0), .sigma = Eigen::Vector2d(0.1, 0.1)};
  parts.key.add_texts("site", {"a", "a"});
  parts.key.add_numbers("period_s", "s", {1.0, 2.0});
  return parts;
}

RunInputs small_inputs(core::DataSetParts data = small_data()) {
  return {.configuration = "[inversion]\ntarget_rms = 1.0\nmax_iterations = 3\n",
          .data = core::DataSet(std::move(data)),
          .start = Eigen::Vector3d(2.0, 2.0, 2.0)};
}

inversion::optimize::InversionState small_state() {
  inversion::optimize::InversionState state;
  state.iteration = 2;
  state.lambda = 0.125;
  state.model = Eigen::Vector3d(1.0, 1.0 / 3.0, -2.0);
  state.history = {{.iteration = 0, .rms = 5.0}, {.iteration = 1, .rms = 2.0}, {.iteration = 2, .rms = 1.5}};
  return state;
}

}  // namespace

TEST_CASE("checkpoint: the state comes back bit by bit", "[inversion]") {
  core::MemoryArrays arrays;
  inversion::write_checkpoint(arrays, small_inputs(), {small_state()});
  const auto [state, before, iterated] = inversion::read_checkpoint(arrays, small_inputs());
  CHECK_FALSE(before);
  CHECK_FALSE(iterated);
  CHECK(state.iteration == 2);
  CHECK(state.lambda == 0.125);
  CHECK(state.model == small_state().model);
  REQUIRE(state.history.size() == 3);
  CHECK(state.history[2].rms == 1.5);
  CHECK(inversion::describe_checkpoint(arrays) == "after iteration 2, rms 1.500");
}

TEST_CASE("checkpoint: of the stage before it keeps how that ended", "[inversion]") {
  core::MemoryArrays arrays;
  const inversion::optimize::InversionSummary summary{.reason = inversion::optimize::StopReason::stagnated,
                                                      .message = "no better",
                                                      .model = Eigen::Vector2d(0.1, 1.0 / 3.0),
                                                      .predicted = {},
                                                      .rms = 1.5,
                                                      .history = small_state().history};
  inversion::write_checkpoint(arrays, small_inputs(), {small_state(), summary});
  const auto before = inversion::read_checkpoint(arrays, small_inputs()).before;
  REQUIRE(before);
  CHECK(before->reason == inversion::optimize::StopReason::stagnated);
  CHECK(before->message == "no better");
  CHECK(before->model == summary.model);
  CHECK(before->rms == 1.5);
  CHECK(before->history.size() == 3);
}

TEST_CASE("checkpoint: of last steps it keeps how the iterations and the codes before them ended",
          "[inversion]") {
  core::MemoryArrays arrays;
  inversion::optimize::InversionSummary codes{.reason = inversion::optimize::StopReason::stagnated,
                                              .message = "no better",
                                              .model = Eigen::Vector2d(0.1, 1.0 / 3.0),
                                              .predicted = {},
                                              .history = small_state().history};
  inversion::optimize::InversionSummary iterated = codes;
  iterated.reason = inversion::optimize::StopReason::target_reached;
  iterated.model = Eigen::Vector3d(1.0, 2.0, 1.0 / 7.0);
  iterated.lambda = 0.3;
  inversion::write_checkpoint(arrays, small_inputs(), {small_state(), codes, iterated});
  const auto read = inversion::read_checkpoint(arrays, small_inputs());
  REQUIRE(read.before);
  REQUIRE(read.iterated);
  CHECK(read.before->model == codes.model);
  CHECK(read.iterated->model == iterated.model);
  CHECK(read.iterated->lambda == 0.3);
  CHECK(read.iterated->reason == inversion::optimize::StopReason::target_reached);
}

TEST_CASE("checkpoint: other data or another start model are refused", "[inversion]") {
  core::MemoryArrays arrays;
  inversion::write_checkpoint(arrays, small_inputs(), {small_state()});
  const auto refusal = [&](const RunInputs& inputs) {
    return tests::error_of<core::ConfigError>(
        [&] { static_cast<void>(inversion::read_checkpoint(arrays, inputs)); });
  };
  core::DataSetParts data = small_data();
  data.observed[1] = 2.5;
  CHECK_THAT(refusal(small_inputs(data)), tests::HasId("other_values"));
  data = small_data();
  data.sigma[0] = 0.2;
  CHECK_THAT(refusal(small_inputs(data)), tests::HasId("other_sigma"));
  data = small_data();
  data.reason = {0, 1};
  data.reasons = {"used", "masked"};
  CHECK_THAT(refusal(small_inputs(data)), tests::HasId("other_masks"));
  data = small_data();
  data.key = core::Table();
  CHECK_THAT(refusal(small_inputs(data)), tests::HasId("other_data"));
  RunInputs changed = small_inputs();
  changed.start[0] = 1.0;
  CHECK_THAT(refusal(changed), tests::HasId("other_start"));
  changed = small_inputs();
  changed.decoders = "a: 4 subdomains\n";
  CHECK_THAT(refusal(changed), tests::HasId("other_networks", {"a: 4"}));
  changed = small_inputs();
  changed.earth = "grid 1\nsurface 2\n";
  CHECK_THAT(refusal(changed), tests::HasId("other_earth", {"grid 1, surface 2"}));
  changed = small_inputs();
  changed.configuration = "[inversion]\ntarget_rms = 1.5\nmax_iterations = 9\n";
  CHECK_THAT(refusal(changed), tests::HasId("other_configuration", {"inversion.target_rms: 1.0 → 1.5"}) &&
                                   !tests::HasId("other_configuration", {"inversion.max_iterations"}));
}

TEST_CASE("checkpoint: differences of configurations are named by key, also in arrays of tables",
          "[inversion]") {
  const std::string before =
      "[data]\nkind = \"impedance\"\n\n[[data.mask]]\nstation = \"a\"\n\n[[data.mask]]\nstation = \"b\"\n";
  const std::string after =
      "[data]\nkind = \"impedance\"\n\n[[data.mask]]\nstation = \"a\"\n\n[[data.mask]]\nstation = "
      "\"c\"\n\n[output]\nvtk = false\n";
  CHECK(inversion::config_difference(before, before).empty());
  CHECK(inversion::config_difference(before, after) == "data.mask[1].station: \"b\" → \"c\"");
}
