// SPDX-License-Identifier: Apache-2.0
#include "inversion/ending.hpp"
#include "inversion/mt/forward.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/warnings.hpp"

using namespace lodestone;
using Catch::Matchers::Contains;
using core::ExitCode;
using inversion::optimize::StopReason;
using physics::mt::d2::Accuracy;

namespace {

inversion::Ending ending(StopReason reason, double rms, const inversion::mt::ForwardOptions& forward = {}) {
  inversion::optimize::InversionSummary summary;
  summary.reason = reason;
  summary.message = "why";
  summary.history.push_back({.iteration = 7});
  return inversion::judge(summary, rms, 2.0, way_to_agree(forward));
}

}  // namespace

TEST_CASE("ending: a target reached may be missed by 1 % at the final accuracy, not by more", "[inversion]") {
  for (const double rms : {0.5, 2.0, 2.0199}) {
    const auto done = ending(StopReason::target_reached, rms);
    CHECK(done.code == ExitCode::ok);
    CHECK(done.place.id == "target_reached");
    CHECK_THAT(done.text, Contains(fmt::format("rms {:.4f}", rms)) && Contains("target 2") &&
                              Contains("7 iterations") && Contains("why"));
  }
  const auto missed = ending(StopReason::target_reached, 2.0201);
  CHECK(missed.code == ExitCode::not_converged);
  CHECK(missed.place.id == "final_above_target");
  CHECK_THAT(missed.text, Contains("target 2") && Contains("rms 2.0201"));
}

TEST_CASE("ending: a target missed after the last steps is not told to take the final meshes",
          "[inversion]") {
  inversion::optimize::InversionSummary summary;
  summary.reason = StopReason::target_reached;
  summary.history.push_back({.iteration = 7});
  const auto missed = inversion::judge(summary, {2.1, 2.1, "", true}, 2.0, "set the iterations finer");
  CHECK(missed.code == ExitCode::not_converged);
  CHECK(missed.place.id == "last_steps_above_target");
  CHECK_THAT(missed.text,
             Contains("last steps") && Contains("rms 2.1000") && !Contains("set the iterations finer"));
}

TEST_CASE("ending: one rms is that of the run, and another has its name beside it", "[inversion]") {
  inversion::optimize::InversionSummary summary;
  summary.reason = StopReason::target_reached;
  summary.history.push_back({.iteration = 7});
  const auto done = inversion::judge(summary, {1.25, 0.99, "by Huber's norm"}, 1.0, "");
  CHECK(done.code == ExitCode::ok);
  CHECK(done.rms == 1.25);
  CHECK_THAT(done.text, Contains("rms 1.2500 of the data (0.9900 by Huber's norm)"));
  CHECK(inversion::FinalRms(1.25, 1.25, "otherwise").in_words() == "1.2500");
  CHECK_FALSE(inversion::misses(1.0099, 1.0));
  CHECK(inversion::misses(1.0101, 1.0));
}

TEST_CASE(
    "ending: above the target it says why the run ended, whatever the final accuracy gives, a failure is "
    "the solver's",
    "[inversion]") {
  for (const auto reason : {StopReason::stagnated, StopReason::max_iterations}) {
    const auto ended = ending(reason, 1.9);
    CHECK(ended.code == ExitCode::not_converged);
    CHECK(ended.place.id == "above_target");
    CHECK_THAT(ended.text, Contains("rms 1.9000") && Contains("target 2") && Contains("why"));
    CHECK(ended.reason == reason);
    CHECK(ended.message == "why");
    CHECK(ended.rms == 1.9);
    CHECK(ended.target_rms == 2.0);
  }
  CHECK(ending(StopReason::failed, 1.0).code == ExitCode::solver);
  CHECK(ending(StopReason::failed, 1.0).place.id == "failed");
  CHECK_THAT(ending(StopReason::failed, 1.0).text, Contains("why"));
}

TEST_CASE("ending: the advice is the next finer meshes for the iterations, and never one that is set already",
          "[inversion]") {
  const auto advice = [](Accuracy iteration, Accuracy final_accuracy,
                         inversion::Redesigning redesign = inversion::Redesigning::each_iteration) {
    return ending(StopReason::target_reached, 9.0,
                  {.iteration = iteration, .final_accuracy = final_accuracy, .redesign = redesign})
        .text;
  };
  CHECK_THAT(advice(Accuracy::iteration, Accuracy::standard),
             Contains("forward.iteration_accuracy = \"standard\""));
  CHECK_THAT(advice(Accuracy::standard, Accuracy::fine), Contains("forward.iteration_accuracy = \"fine\""));
  CHECK_THAT(advice(Accuracy::standard, Accuracy::standard),
             !Contains("forward.iteration_accuracy =") && !Contains("forward.redesign ="));
  CHECK_THAT(advice(Accuracy::fine, Accuracy::standard, inversion::Redesigning::never),
             Contains("forward.redesign = \"each_iteration\""));
  for (const Accuracy final_accuracy : {Accuracy::iteration, Accuracy::standard})
    CHECK_THAT(
        ending(StopReason::target_reached, 9.0,
               {.final_accuracy = final_accuracy, .iteration_meshes = inversion::mt::IterationMeshes::cells})
            .text,
        Contains("the grid of the model is the mesh") &&
            Contains("forward.iteration_meshes = \"designed\"") && !Contains("forward.iteration_accuracy") &&
            !Contains("forward.redesign"));
}

TEST_CASE("ending: a target below what the data allow is named with the rms at the bend of the curve",
          "[inversion]") {
  using inversion::optimize::StepKind;
  const auto run = [](const std::vector<std::pair<double, double>>& rms_and_roughness) {
    inversion::optimize::InversionSummary summary;
    for (const auto& [rms, roughness] : rms_and_roughness) {
      const int iteration = static_cast<int>(summary.history.size());
      summary.history.push_back({.iteration = iteration,
                                 .kind = iteration == 0 ? StepKind::start : StepKind::jump,
                                 .rms = rms,
                                 .roughness = roughness});
    }
    return summary;
  };
  const auto sevenfold = run({{9.0, 0.0}, {4.0, 5.0}, {1.85, 10.0}, {1.7, 30.0}, {1.55, 70.0}});
  const auto bend = inversion::bend_of(sevenfold.history);
  REQUIRE(bend);
  CHECK(bend->rms == 1.85);
  CHECK(bend->iteration == 2);
  CHECK(bend->rougher == Approx(7.0));
  const auto text = [](const inversion::optimize::InversionSummary& summary) {
    return tests::text_with(tests::warnings_of([&] { inversion::warn_of_bend(summary, 1.5); }),
                            "inversion::Inversion#target_too_low");
  };
  CHECK_THAT(text(sevenfold), Contains("rms 1.85") && Contains("1.550") && Contains("target 1.5"));
  CHECK(text(run({{9.0, 0.0}, {4.0, 5.0}, {1.85, 10.0}, {1.55, 39.0}})).empty());  // not rough enough
  CHECK(text(run({{9.0, 0.0}, {4.0, 5.0}, {1.85, 10.0}, {1.45, 70.0}})).empty());  // fits much better
  CHECK(text(run({{1.6, 1.0}, {1.55, 70.0}})).empty());  // the start model does not count
  CHECK(text(run({{1.6, 0.0}, {1.6, 0.0}, {1.55, 70.0}})).empty());
  CHECK(text(run({})).empty());
}
