// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/state/state_file.hpp"
#include "models/vae/vae_draws.hpp"
#include "models/vae/vae_step.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/unit/models/vae_fixtures.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::models;
using namespace lodestone::tests;
using Catch::Matchers::Contains;

namespace {

/// As SmoothColumns, with a NaN in one draw of many.
class Broken final : public earths::Generator {
 public:
  [[nodiscard]] std::string kind() const override { return "broken"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random,
                                     const physics::mesh::TensorGrid& grid) const override {
    Eigen::MatrixXd section = Eigen::MatrixXd::Constant(grid.n_z(), grid.n_y(), random.uniform(0));
    if (random.uniform(1) > 0.95) section(0, 0) = std::nan("");
    return section;
  }
};
class Constant final : public earths::Generator {
 public:
  [[nodiscard]] std::string kind() const override { return "constant"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox&,
                                     const physics::mesh::TensorGrid& grid) const override {
    return Eigen::MatrixXd::Constant(grid.n_z(), grid.n_y(), 2.0);
  }
};

}  // namespace

TEST_CASE("draws: mean and covariance are those of the training part, the range that of |x|", "[models]") {
  const earths::Prior prior = smooth_prior(4);
  const vae::VaeDraws draws = vae::make_draws(prior, 5000, 0.1);
  CHECK(draws.training.size() == 4500);
  CHECK(draws.validation.size() == 500);
  const Eigen::MatrixXd all = prior.draws(0, 4500);
  const Eigen::VectorXd mean = all.rowwise().mean();
  const Eigen::MatrixXd deviations = all.colwise() - mean;
  CHECK((draws.mean - mean).norm() < 1e-12);
  CHECK((draws.covariance - deviations * deviations.transpose() / 4499.0).norm() < 1e-12);
  CHECK(draws.range == Approx(all.cwiseAbs().maxCoeff() - all.cwiseAbs().minCoeff()));
  CHECK(draws.validation.items(0, 1).at("cells").to_vector<float>()[0] ==
        static_cast<float>(prior.draw(4500)(0, 0)));
}

TEST_CASE("draws: what cannot be learnt from is refused", "[models]") {
  const auto of = [](earths::GeneratorPtr generator) {
    return earths::Prior(layers(4), {{1.0, std::move(generator)}}, 1);
  };
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)vae::make_draws(of(std::make_shared<Broken>()), 500, 0.2); }),
             HasId("draws_not_finite"));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)vae::make_draws(of(std::make_shared<Constant>()), 500, 0.2); }),
             HasId("draws_do_not_vary"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)vae::make_draws(smooth_prior(), 4, 0.2); }),
             HasId("too_few_draws"));
}

TEST_CASE("train: a small network learns its draws, and its statistics say how well", "[models]") {
  vae::VaeSetup setup = small_setup(12);
  setup.recipe.n_draws = 1000;
  const vae::VaeTraining training = vae::train_vae(smooth_prior(), setup);
  REQUIRE(training.vae);
  const auto& figures = training.summary.figures;
  REQUIRE(figures.size() == 12);
  CHECK(figures.back().at("validation_loss") < 0.3 * figures.front().at("validation_loss"));
  CHECK(figures.back().contains("validation_reconstruction"));
  const vae::VaeStatistics& statistics = training.vae->statistics();
  const double deviation = std::sqrt(statistics.covariance.diagonal().mean());
  CHECK(statistics.rms < 0.7 * deviation);
  CHECK(statistics.rms == Approx(std::sqrt(statistics.cell_rms.squaredNorm() / 12.0)));
  CHECK(statistics.n_active() >= 1);
  CHECK(statistics.code_variance.minCoeff() > 0.0);
  CHECK_THAT(training.vae->card(), Contains("\"reconstruction_rms_decades\"") && Contains("\"seed\": 3") &&
                                       Contains("\"ended_because\""));
}

TEST_CASE("train: the same bits on one thread and on three", "[models]") {
  const auto on = [](int n_threads) {
    const ThreadCount threads(n_threads);
    return weights_of(vae::train_vae(smooth_prior(), small_setup()).vae->net());
  };
  CHECK(on(1) == on(3));
}

TEST_CASE("train: stopped in the middle of an epoch and resumed, it ends with the same bits", "[models]") {
  for (const vae::RateSchedule schedule : {vae::RateSchedule::constant, vae::RateSchedule::cosine}) {
    vae::VaeSetup setup = small_setup(4);
    setup.recipe.schedule = schedule;
    const vae::TrainedVae whole = *vae::train_vae(smooth_prior(), setup).vae;
    const TemporaryFolder folder;
    int n_asked = 0;
    vae::VaeRun run{.checkpoint = folder / "checkpoint.safetensors",
                    .history = folder / "history.csv",
                    .stop = [&] { return ++n_asked == 19; }};
    const vae::VaeTraining stopped = vae::train_vae(smooth_prior(), setup, run);
    CHECK_FALSE(stopped.vae);
    CHECK(stopped.summary.n_steps < 4 * 8);
    run.begin = vae::Begin::resume;
    const vae::VaeTraining resumed = vae::train_vae(smooth_prior(), setup, run);
    REQUIRE(resumed.vae);
    CHECK(weights_of(resumed.vae->net()) == weights_of(whole.net()));
    CHECK(resumed.vae->statistics().cell_rms == whole.statistics().cell_rms);
    CHECK(resumed.vae->card() == whole.card());
    const std::string history = text_of_file(folder / "history.csv");
    CHECK(std::ranges::count(history, '\n') == 5);
    // Resumed once more, there is nothing left to do.
    CHECK(weights_of(vae::train_vae(smooth_prior(), setup, run).vae->net()) == weights_of(whole.net()));
  }
}

TEST_CASE(
    "train: the network kept is that of the epoch with the best validation loss, patience ends the training",
    "[models]") {
  vae::VaeSetup setup = small_setup(60);
  setup.recipe.learning_rate = 0.05;  // restless
  setup.recipe.patience = 2;
  const vae::VaeTraining training = vae::train_vae(smooth_prior(), setup);
  CHECK(training.summary.n_epochs < 60);
  CHECK_THAT(training.summary.why_stopped, Contains("validation_loss"));
  const auto& figures = training.summary.figures;
  const auto best =
      std::ranges::min_element(figures, {}, [](const auto& each) { return each.at("validation_loss"); });
  CHECK(std::distance(best, figures.end()) == 3);
  CHECK_THAT(training.vae->card(),
             Contains(fmt::format("\"best_epoch\": {}", std::distance(figures.begin(), best) + 1)));
}

TEST_CASE(
    "train: a resume with another network, loss, recipe or prior is refused before any work, and says what "
    "differs",
    "[models]") {
  const TemporaryFolder folder;
  vae::VaeRun run{.checkpoint = folder / "checkpoint.safetensors", .data = "prior.family = \"smooth\"\n"};
  const vae::VaeSetup setup = small_setup(1);
  (void)vae::train_vae(smooth_prior(), setup, run);
  run.begin = vae::Begin::resume;
  const auto refusal = [&](const vae::VaeSetup& other, const vae::VaeRun& with, const earths::Prior& prior) {
    return error_of<core::ConfigError>([&] { (void)vae::train_vae(prior, other, with); });
  };
  vae::VaeSetup other = setup;
  other.network.n_codes = 4;
  CHECK_THAT(refusal(other, run, smooth_prior()),
             HasId("other_training", {"network.codes = 3", "network.codes = 4", "checkpoint.safetensors"}));
  other = setup;
  other.loss.similarity = 0.5;
  CHECK_THAT(refusal(other, run, smooth_prior()), HasId("other_training", {"loss.similarity = 0.5"}));
  other = setup;
  other.recipe.seed = 9;
  CHECK_THAT(refusal(other, run, smooth_prior()), HasId("other_training", {"training.seed = 9"}));
  vae::VaeRun with = run;
  with.data = "prior.family = \"rough\"\n";
  CHECK_THAT(refusal(setup, with, smooth_prior()), HasId("other_training", {"prior.family = \"rough\""}));
  std::vector<double> depth_m = layers(12).z_edges_m();
  depth_m.back() += 1.0;
  const auto grid = earths::patch_grid(depth_m, layers(12).y_edges_m());
  CHECK_THAT(refusal(setup, run, earths::Prior(grid, smooth_prior().parts(), 5)),
             HasId("other_training", {"grid.depth_m"}));
  CHECK_THAT(refusal(setup, run, earths::Prior(layers(12), smooth_prior().parts(), 6)),
             HasId("other_training", {"prior.seed = 6"}));
  // More epochs at a constant rate, and another patience, are no other training.
  other = setup;
  other.recipe.epochs = 2;
  other.recipe.patience = 5;
  CHECK(vae::train_vae(smooth_prior(), other, run).summary.n_epochs == 2);

  run.checkpoint = folder / "none.safetensors";
  CHECK_THROWS_AS(vae::train_vae(smooth_prior(), setup, run), core::FileError);
  engine::save_state(run.checkpoint,
                     engine::NamedTensors{{"x", engine::Tensor::from(std::vector<double>{1.0}, {1})}});
  CHECK_THAT(error_of<core::FormatError>([&] { (void)vae::train_vae(smooth_prior(), setup, run); }),
             HasId("not_a_vae_checkpoint", {"none.safetensors"}));
}

TEST_CASE("train: recipes that cannot be are refused by name", "[models]") {
  const auto refusal = [](const auto& change) {
    vae::VaeSetup setup = small_setup();
    change(setup);
    return error_of<core::InvalidArgument>([&] { (void)vae::train_vae(smooth_prior(), setup); });
  };
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.recipe.batch_size = 161; }),
             HasId("wrong_batch_size", {"160", "161"}));
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.recipe.validation_share = 1.0; }), HasId("wrong_share", {"1"}));
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.recipe.learning_rate = 0.0; }),
             HasId("wrong_learning_rate", {"0"}));
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.recipe.epochs = 0; }), HasId("wrong_epochs", {"0"}));
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.recipe.shards = 1000; }), HasId("wrong_shards", {"1000"}));
  CHECK_THAT(refusal([](vae::VaeSetup& s) { s.network.cells_z = 13; }),
             HasId("wrong_cells", {"12 × 1", "13 × 1"}));
}

TEST_CASE("train: ranks give the network of one process with as many shards", "[models]") {
  vae::VaeSetup setup = small_setup(2);
  setup.recipe.shards = 4;
  const auto weights = [](const vae::VaeTraining& training) {
    std::vector<float> all;
    for (const auto& [_, value] : training.vae->net().state()) {
      if (value.dtype() != engine::DType::f32) continue;
      const auto more = value.to_vector<float>();
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  };
  const vae::VaeTraining alone = vae::train_vae(smooth_prior(), setup);
  CHECK_THAT(alone.vae->card(), Contains("\"shards\": 4"));
  const TemporaryFolder folder;
  std::vector<std::vector<float>> found(3);
  engine::run_ranks(3, [&](const engine::World& world) {
    vae::VaeRun run{.checkpoint = folder / fmt::format("by_{}.safetensors", world->rank()), .world = world};
    found[static_cast<std::size_t>(world->rank())] = weights(vae::train_vae(smooth_prior(), setup, run));
  });
  for (const auto& each : found) CHECK(each == weights(alone));
  CHECK(std::filesystem::exists(folder / "by_0.safetensors"));
  CHECK_FALSE(std::filesystem::exists(folder / "by_1.safetensors"));
  setup.recipe.shards = 1;
  CHECK_THAT(vae::train_vae(smooth_prior(), setup).vae->card(), !Contains("shards"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               engine::run_ranks(2, [&](const engine::World& world) {
                 (void)vae::train_vae(smooth_prior(), setup, {.world = world});
               });
             }),
             HasId("too_many_ranks", {"shards, 1, got 2"}));
}

TEST_CASE("train: what a training will do is announced as it comes, and its first step is a function",
          "[models]") {
  vae::VaeSetup setup = small_setup(2);
  const earths::Prior prior = smooth_prior();
  const vae::VaeTraining training = vae::train_vae(prior, setup);
  CHECK_THAT(vae::announced_training(prior, setup),
             Contains(fmt::format("{} of {} draws each in 2 epochs", training.summary.n_steps,
                                  setup.recipe.batch_size)) &&
                 Contains(fmt::format("{} parameters", training.vae->net().n_parameters())) &&
                 Contains("peak memory"));

  const vae::VaeStep step = vae::first_step(prior, setup);
  CHECK(step.batch[0].dim(0) == setup.recipe.batch_size);
  const engine::Tensors before = engine::values_of(step.net.parameters());
  const engine::Tensors losses = step.f(step.batch);
  CHECK(losses.size() == 4);
  CHECK(std::isfinite(losses[0].item<float>()));
  CHECK(step.net.parameters()[0].value().to_vector<float>() != before[0].to_vector<float>());
  const auto is_moment = [](const engine::NamedVariable& each) { return each.name.starts_with("adam."); };
  CHECK(std::ranges::count_if(step.cells, is_moment) > std::ssize(before));
  setup.recipe.batch_size = 1;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)vae::first_step(prior, setup); }),
             HasId("wrong_batch_size"));
}
