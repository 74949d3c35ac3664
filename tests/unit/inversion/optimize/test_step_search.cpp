// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/step_search.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

using namespace lodestone;
using inversion::optimize::Candidate;
using inversion::optimize::StepKind;

namespace {

/// The forward runs of one search near the truth, whose responses `rms_of` invents.
struct Searched {
  std::vector<Candidate> runs{};
  std::variant<Candidate, inversion::optimize::Stop> outcome;
  [[nodiscard]] int count(StepKind kind) const {
    return static_cast<int>(
        std::ranges::count_if(runs, [&](const Candidate& run) { return run.kind == kind; }));
  }
};

Searched search(double present_rms, const std::function<double(const Candidate&)>& rms_of) {
  const tests::CurvedProblem problem;
  const auto objective = problem.objective();
  const Eigen::VectorXd model = 0.9 * problem.truth;
  const core::Team team(MPI_COMM_SELF);
  const inversion::optimize::GaussNewtonOptions options;
  const auto system =
      make_dense_system(options.space, team, *problem.map->linearize(model), objective, model);
  Searched result;
  const inversion::optimize::StepServices services{[&](Candidate& candidate) {
                                                     candidate.rms = rms_of(candidate);
                                                     result.runs.push_back(candidate);
                                                   },
                                                   [](const std::string&) {}};
  result.outcome = inversion::optimize::StepSearch(options, *system, *objective.regularization,
                                                   {.model = model,
                                                    .rms = present_rms,
                                                    .jump_lambda = 1.0,
                                                    .creep_lambda = 0.0,
                                                    .target_rms = 1.0,
                                                    .may_creep = true},
                                                   services)
                       .run();
  return result;
}

}  // namespace

TEST_CASE(
    "step search: the first lambda is no smaller than the data ask for, also where they cannot be fitted",
    "[inversion]") {
  /// A system whose linearized rms falls from 4 to 3 within a decade about λ = 10, or to 0 for good data.
  class Falling final : public inversion::optimize::GaussNewtonSystem {
   public:
    explicit Falling(double least) : least_(least) {}
    [[nodiscard]] std::optional<Eigen::VectorXd> jump(double /*lambda*/) const override { return {}; }
    [[nodiscard]] std::optional<Eigen::VectorXd> creep(double /*lambda*/) const override { return {}; }
    [[nodiscard]] double linear_rms(double lambda) const override {
      return least_ + (4.0 - least_) * lambda / (lambda + 10.0);
    }
    [[nodiscard]] inversion::optimize::SystemSpace space() const override {
      return inversion::optimize::SystemSpace::data;
    }
    [[nodiscard]] double scale() const override { return 1000.0; }

   private:
    double least_;
  };
  CHECK(inversion::optimize::automatic_lambda(Falling(0.0), 1.0, 4.0) == Approx(10.0));
  CHECK(inversion::optimize::automatic_lambda(Falling(3.0), 1.0, 4.0) == Approx(1.0));
}

TEST_CASE(
    "step search: a creeping step to the target that hardly adds roughness is taken without looking for a "
    "larger lambda",
    "[inversion]") {
  // A redesign put the model just above the target; no jump gets there, any creeping step does.
  const auto mended =
      search(1.02, [](const Candidate& run) { return run.kind == StepKind::creep ? 0.95 : 1.01; });
  REQUIRE(std::holds_alternative<Candidate>(mended.outcome));
  CHECK(std::get<Candidate>(mended.outcome).kind == StepKind::creep);
  CHECK(mended.count(StepKind::creep) <=
        8);  // ten, all that are allowed, without the rule: the rms never says that λ is large enough
  // The step it takes is one that hardly adds roughness, not the first one at the target.
  const tests::CurvedProblem problem;
  const auto roughness = problem.objective().regularization;
  CHECK(roughness->cost(std::get<Candidate>(mended.outcome).model) <=
        1.02 * roughness->cost(0.9 * problem.truth));
}

TEST_CASE("step search: jumps to the target go on to the largest lambda there", "[inversion]") {
  const auto jumped = search(1.02, [](const Candidate&) { return 0.95; });
  CHECK(jumped.count(StepKind::jump) == 10);
  CHECK(jumped.count(StepKind::creep) == 0);
}
