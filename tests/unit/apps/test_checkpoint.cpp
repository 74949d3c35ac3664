// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/checkpoint.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::mt_invert;
namespace mt = physics::mt;

namespace {

method::RunInputs small_inputs() {
  method::RunInputs inputs;
  inputs.config_toml = "[inversion]\ntarget_rms = 1.0\nmax_iterations = 3\n";
  mt::Station station;
  station.name = "a";
  inputs.data.survey = mt::full_survey({station}, {1.0}, {mt::Quantity::zxy_re, mt::Quantity::zxy_im});
  inputs.data.value = Eigen::Vector2d(1.0, 2.0);
  inputs.data.sigma = Eigen::Vector2d(0.1, 0.1);
  inputs.data.mask = {mt::MaskReason::kept, mt::MaskReason::kept};
  inputs.data.interpolated = {0, 0};
  inputs.start = Eigen::Vector3d(2.0, 2.0, 2.0);
  return inputs;
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

TEST_CASE("checkpoint: the state comes back bit by bit", "[apps]") {
  const tests::TemporaryFolder folder;
  method::write_checkpoint(folder / "c.h5", small_inputs(), {small_state()});
  const auto [state, before] = method::read_checkpoint(folder / "c.h5", small_inputs());
  CHECK_FALSE(before);
  CHECK(state.iteration == 2);
  CHECK(state.lambda == 0.125);
  CHECK(state.model == small_state().model);
  REQUIRE(state.history.size() == 3);
  CHECK(state.history[2].rms == 1.5);
}

TEST_CASE("checkpoint: of the stage before it keeps how that ended", "[apps]") {
  const tests::TemporaryFolder folder;
  const inversion::optimize::InversionSummary summary{.reason = inversion::optimize::StopReason::stagnated,
                                                      .message = "no better",
                                                      .model = Eigen::Vector2d(0.1, 1.0 / 3.0),
                                                      .predicted = {},
                                                      .rms = 1.5,
                                                      .history = small_state().history};
  method::write_checkpoint(folder / "c.h5", small_inputs(), {small_state(), summary});
  const auto before = method::read_checkpoint(folder / "c.h5", small_inputs()).before;
  REQUIRE(before);
  CHECK(before->reason == inversion::optimize::StopReason::stagnated);
  CHECK(before->message == "no better");
  CHECK(before->model == summary.model);
  CHECK(before->rms == 1.5);
  CHECK(before->history.size() == 3);
}

TEST_CASE("checkpoint: other data or another start model are refused", "[apps]") {
  const tests::TemporaryFolder folder;
  method::write_checkpoint(folder / "c.h5", small_inputs(), {small_state()});
  const auto refusal = [&](const method::RunInputs& inputs) {
    return tests::message_of<core::ConfigError>(
        [&] { static_cast<void>(method::read_checkpoint(folder / "c.h5", inputs)); });
  };
  method::RunInputs changed = small_inputs();
  changed.data.value[1] = 2.5;
  CHECK_THAT(refusal(changed), Catch::Contains("values of data"));
  changed = small_inputs();
  changed.data.sigma[0] = 0.2;
  CHECK_THAT(refusal(changed), Catch::Contains("errors of data"));
  changed = small_inputs();
  changed.start[0] = 1.0;
  CHECK_THAT(refusal(changed), Catch::Contains("start model"));
  changed = small_inputs();
  changed.networks = "a: 4 subdomains\n";
  CHECK_THAT(refusal(changed), Catch::Contains("network of the learned prior"));
  changed = small_inputs();
  changed.config_toml = "[inversion]\ntarget_rms = 1.5\nmax_iterations = 9\n";
  CHECK_THAT(refusal(changed),
             Catch::Contains("inversion.target_rms: 1.0 → 1.5") && !Catch::Contains("max_iterations"));
}

TEST_CASE("checkpoint: differences of configurations are named by key, also in arrays of tables", "[apps]") {
  const std::string before =
      "[data]\nkind = \"impedance\"\n\n[[data.mask]]\nstation = \"a\"\n\n[[data.mask]]\nstation = \"b\"\n";
  const std::string after =
      "[data]\nkind = \"impedance\"\n\n[[data.mask]]\nstation = \"a\"\n\n[[data.mask]]\nstation = "
      "\"c\"\n\n[output]\nvtk = false\n";
  CHECK(method::config_difference(before, before).empty());
  CHECK(method::config_difference(before, after) == "data.mask[1].station: \"b\" → \"c\"");
}
