// SPDX-License-Identifier: Apache-2.0
// Trainings with compiled steps end in the bytes of those that run op by op, whatever takes part.
#include "engine/core/error.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/feed.hpp"
#include "engine/train/callbacks.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/train/waves.hpp"

#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::absolute;
using tests::error_of;
using tests::HasId;
using tests::same_bits;
using tests::squared;

namespace {

constexpr DType f32 = DType::f32;
using MaybeLevel = std::optional<Level>;
constexpr MaybeLevel op_by_op = {};
const std::vector<Level> levels{Level::O0, Level::O1};

Dataset waves(std::int64_t n, std::uint64_t seed) { return tests::waves(n, seed, f32); }

/// Batch norm, dropout and a schedule; 44 items in batches of 8, the last of 4.
struct Trained {
  explicit Trained(ModelOptions options = {}, const Loss& loss = squared)
      : model(net, loss, adam, std::move(options)) {}
  InitialValues initial{7, f32};
  Sequential net{Linear(3, 8, initial), BatchNorm(8, initial), engine::tanh, Dropout(0.1, initial),
                 Linear(8, 1, initial)};
  Adam adam{net, {.learning_rate = warm_up(5, cosine_decay({.rate = 0.02, .n_steps = 60}))}};
  Model model;
  Loader training{waves(44, 1), {.batch_size = 8, .seed = 3}},
      validation{waves(16, 2), {.batch_size = 8, .seed = 4}};

  FitSummary fit(FitOptions options) const { return model.fit(training, validation, options); }
  [[nodiscard]] NamedTensors state() const {
    NamedTensors all = net.state();
    for (const auto& [name, tensor] : adam.state()) all.emplace("optimizer." + name, tensor);
    return all;
  }
};

void expect_same(const Trained& a, const Trained& b) {
  const NamedTensors x = a.state(), y = b.state();
  for (const auto& [name, tensor] : x) {
    INFO(name);
    CHECK(same_bits(tensor, y.at(name)));
  }
}

/// Refuses every third step, and keeps what it saw.
class Critic final : public Judge {
 public:
  explicit Critic(const Trained& trained) : trained_(&trained) {}
  Verdict judge(Training&, const Step& step) override {
    losses->push_back(step.loss);
    gradients->insert(gradients->end(), step.gradients.begin(), step.gradients.end());
    const NamedTensors before = trained_->state();
    step.again();
    const NamedTensors after = trained_->state();
    for (const auto& [name, tensor] : before) {
      INFO(name);
      CHECK(same_bits(tensor, after.at(name)));
      seen->push_back(tensor);
    }
    return losses->size() % 3 == 0 ? Verdict::skip : Verdict::take;
  }
  std::shared_ptr<std::vector<double>> losses = std::make_shared<std::vector<double>>();
  std::shared_ptr<Tensors> gradients = std::make_shared<Tensors>(), seen = std::make_shared<Tensors>();

 private:
  const Trained* trained_;
};

class CutOff final : public Callback {
 public:
  void save(Training& training, Moment) override {
    if (training.n_steps() == 9) throw core::SolverError("test#cut_off", "cut off");
  }
};

}  // namespace

TEST_CASE("compiled fit: parameters, statistics, moments and figures have the bits of a fit op by op",
          "[engine][train]") {
  const std::vector<ModelOptions> kinds{
      {},
      {.metrics = {{"absolute", absolute}}, .largest_norm = 0.1, .largest_value = 0.05},
      {.batches_per_step = 4, .largest_norm = 0.1}};
  for (const ModelOptions& kind : kinds) {
    for (const bool is_judged : {false, true}) {
      INFO(kind.batches_per_step << " batches per step, judged: " << is_judged);
      const auto options = [&](MaybeLevel level) {
        return FitOptions{.epochs = 4,
                          .callbacks = is_judged ? callbacks(NanGuard(), GradientNormGuard()) : Callbacks{},
                          .level = level};
      };
      const Trained right(kind);
      const FitSummary expected = right.fit(options(op_by_op));
      CHECK(expected.compiled.n_calls == 0);
      for (const Level level : levels) {
        const Trained trained(kind);
        const FitSummary summary = trained.fit(options(level));
        expect_same(trained, right);
        CHECK(summary.figures == expected.figures);
        CHECK(summary.n_steps == expected.n_steps);
        // The smaller last batch is recorded too, and then shares a plan with the others, which is set once
        // for each size; validations between the epochs record nothing again.
        CHECK(summary.compiled.n_traces == 2);
        CHECK(summary.compiled.recompiles.size() == 1);
        CHECK(summary.compiled.breaks.empty());
        CHECK(summary.compiled.n_resized == 2);
        CHECK(summary.compiled.n_hits == summary.compiled.n_calls - 3);
      }
    }
  }
}

TEST_CASE("compiled fit: a budget of bytes changes no bit, and one that is too small is refused",
          "[engine][train]") {
  const auto trained_within = [](std::size_t budget) {
    InitialValues initial(7, f32);
    std::vector<Layer> layers{Linear(3, 8, initial)};
    for (int i = 0; i < 6; ++i) {
      layers.emplace_back(engine::tanh);
      layers.emplace_back(Linear(8, 8, initial));
    }
    layers.emplace_back(Linear(8, 1, initial));
    const Sequential net(layers);
    const Model model(net, squared, Adam(net));
    const FitSummary summary =
        model.fit(Loader(waves(256, 1), {.batch_size = 128}), {}, {.epochs = 3, .budget = budget});
    return std::pair(summary, net.state());
  };
  const auto [expected, right] = trained_within(0);
  const std::size_t budget = expected.compiled.block_bytes / 10 * 8;
  const auto [summary, state] = trained_within(budget);
  CHECK(summary.compiled.block_bytes <= budget);
  CHECK(summary.figures == expected.figures);
  for (const auto& [name, tensor] : right) {
    INFO(name);
    CHECK(same_bits(tensor, state.at(name)));
  }
  CHECK_THAT(error_of<core::InvalidArgument>([&] { trained_within(64); }), HasId("budget_too_small"));
}

TEST_CASE("compiled fit: parameters take their new values in their own memory, judged or not",
          "[engine][train]") {
  class Looks final : public Callback {
   public:
    explicit Looks(std::vector<std::set<const void*>>& places) : places_(&places) {}
    void after_step(Training& training) override {
      const Variables all = training.net().parameters();
      places_->resize(all.size());
      if (training.n_steps() == 1) return;  // whoever drew the first values may hold them
      for (std::size_t i = 0; i < all.size(); ++i) (*places_)[i].insert(all[i].value().node().data());
    }

   private:
    std::vector<std::set<const void*>>* places_;
  };
  for (const bool is_judged : {false, true}) {
    std::vector<std::set<const void*>> places;
    Callbacks all = callbacks(Looks(places));
    if (is_judged) all.push_back(std::make_shared<NanGuard>());
    Trained().fit({.epochs = 2, .callbacks = all});
    for (const auto& each : places) CHECK(each.size() == 1);
  }
}

TEST_CASE("compiled fit: guards are part of the step, and look themselves only at what they refuse",
          "[engine][train]") {
  class Counting final : public Judge {
   public:
    explicit Counting(std::int64_t& n) : n_(&n) {}
    Verdict judge(Training& training, const Step& step) override {
      ++*n_;
      return guard_.judge(training, step);
    }
    std::optional<Tensor> in_graph(const StepTensors& step) const override { return guard_.in_graph(step); }
    void after_step(Training& training) override { guard_.after_step(training); }

   private:
    GradientNormGuard guard_{{.largest = 1.7, .most_in_a_row = 100}};
    std::int64_t* n_;
  };
  const ModelOptions kind{.metrics = {{"absolute", absolute}}, .largest_norm = 0.2};
  const auto fit = [](const Trained& trained, std::int64_t& n_judged, MaybeLevel level) {
    return trained.fit({.epochs = 5, .callbacks = callbacks(NanGuard(), Counting(n_judged)), .level = level});
  };
  std::int64_t n_looked_at = 0;
  const Trained right(kind);
  const FitSummary expected = fit(right, n_looked_at, op_by_op);
  CHECK(n_looked_at == 30);
  const std::int64_t n_refused = 30 - expected.n_steps;
  REQUIRE(n_refused > 3);
  REQUIRE(n_refused < 27);
  for (const Level level : levels) {
    std::int64_t n_judged = 0;
    const Trained trained(kind);
    const FitSummary summary = fit(trained, n_judged, level);
    expect_same(trained, right);
    CHECK(summary.figures == expected.figures);
    CHECK(summary.n_steps == expected.n_steps);
    CHECK(n_judged == n_refused);
    CHECK(summary.compiled.n_calls == 30);
    CHECK(summary.compiled.n_traces == 2);
  }
}

TEST_CASE("compiled fit: what a guard says of a number that is not finite is what it says op by op",
          "[engine][train]") {
  const auto message = [](MaybeLevel level) {
    const Loss loss = [](const Tensor& predicted, const Tensor& target) {
      return mean(sqrt(predicted - target + 1.0));
    };
    const Trained trained({}, loss);
    const core::Error error = error_of<core::SolverError>(
        [&] { trained.fit({.epochs = 50, .callbacks = callbacks(NanGuard()), .level = level}); });
    return std::pair(std::string(error.what()), trained.state());
  };
  const auto [expected, right] = message(op_by_op);
  CHECK(expected.find("sqrt") != std::string::npos);
  for (const Level level : levels) {
    const auto [text, state] = message(level);
    CHECK(text == expected);
    for (const auto& [name, tensor] : right) {
      INFO(name);
      CHECK(same_bits(tensor, state.at(name)));
    }
  }
}

TEST_CASE("compiled fit: judges see gradients and state as without plans, and what they refuse is undone",
          "[engine][train]") {
  for (const int batches_per_step : {1, 2}) {
    INFO(batches_per_step << " batches per step");
    const ModelOptions kind{.batches_per_step = batches_per_step};
    const Trained right(kind);
    const Critic expected(right);
    right.fit({.epochs = 3, .callbacks = callbacks(expected), .level = op_by_op});
    CHECK(right.adam.n_steps() == (batches_per_step == 1 ? 12 : 6));
    for (const Level level : levels) {
      const Trained trained(kind);
      const Critic critic(trained);
      trained.fit({.epochs = 3, .callbacks = callbacks(critic), .level = level});
      CHECK(*critic.losses == *expected.losses);
      CHECK(same_bits(*critic.gradients, *expected.gradients));
      CHECK(same_bits(*critic.seen, *expected.seen));
      expect_same(trained, right);
    }
  }
}

TEST_CASE("compiled fit: what is saved and resumed on one level goes on on another", "[engine][train]") {
  const auto files = [](const tests::TemporaryFolder& folder) {
    return callbacks(Checkpoint({.path = folder / "run.safetensors", .every_steps = 3}),
                     Csv(folder / "run.csv"), NanGuard());
  };
  const tests::TemporaryFolder whole;
  Trained().fit({.epochs = 3, .callbacks = files(whole), .level = op_by_op});
  for (const auto& [first, second] : {std::pair<MaybeLevel, MaybeLevel>{op_by_op, Level::O1},
                                      {Level::O1, op_by_op},
                                      {Level::O1, Level::O0}}) {
    const tests::TemporaryFolder parts;
    Callbacks cut = files(parts);
    cut.push_back(std::make_shared<CutOff>());
    CHECK_THAT(error_of<core::SolverError>(
                   [&, level = first] { Trained().fit({.epochs = 3, .callbacks = cut, .level = level}); }),
               HasId("cut_off"));
    Trained().fit(
        {.epochs = 3, .callbacks = files(parts), .resume_from = parts / "run.safetensors", .level = second});
    for (const char* name : {"run.safetensors", "run.csv"})
      CHECK(tests::text_of_file(parts / name) == tests::text_of_file(whole / name));
  }
}

TEST_CASE("compiled fit: a loss that reads values runs op by op and says where", "[engine][train]") {
  const Loss reads = [](const Tensor& predicted, const Tensor& target) {
    const Tensor error = mean_absolute_error(predicted, target);
    return error.item<float>() > 0.5F ? error : mean_squared_error(predicted, target);
  };
  const Trained right({}, reads);
  right.fit({.epochs = 2, .level = op_by_op});
  for (const bool is_judged : {false, true}) {
    const Trained trained({}, reads);
    const FitSummary summary =
        trained.fit({.epochs = 2, .callbacks = is_judged ? callbacks(NanGuard()) : Callbacks{}});
    expect_same(trained, right);
    REQUIRE(summary.compiled.breaks.size() == 1);
    CHECK(summary.compiled.breaks[0].n == 12);
    CHECK(std::string(summary.compiled.breaks[0].where.file_name()).ends_with("test_compiled_fit.cpp"));
    CHECK(summary.compiled.n_traces == 0);
  }
}

TEST_CASE("compiled fit: a number that the host changes is fed, others are constants", "[engine][train]") {
  const auto final_loss = [](MaybeLevel level, bool is_fed) {
    double weight = 1.0;
    InitialValues initial(7, f32);
    const Linear net(3, 1, initial);
    const BatchLoss loss{.values = [&, is_fed](const NamedTensors& batch) -> Tensors {
      const Tensor error = mean_squared_error(net(batch.at("input")), batch.at("target"));
      return {is_fed ? error * fed([&] { return Number(weight); }, f32) : error * weight};
    }};
    class Heavier final : public Callback {
     public:
      explicit Heavier(double& of) : of_(&of) {}
      void after_step(Training&) override { *of_ += 1.0; }

     private:
      double* of_;
    };
    const Model model(net, loss, Sgd(net, {.learning_rate = 1e-3}));
    return model
        .fit(Loader(waves(16, 1), {.batch_size = 4}), {},
             {.callbacks = callbacks(Heavier(weight)), .level = level})
        .figures[0]
        .at("loss");
  };
  CHECK(final_loss(Level::O1, true) == final_loss(op_by_op, true));
  CHECK(final_loss(op_by_op, false) == final_loss(op_by_op, true));
  CHECK(final_loss(Level::O1, false) < 0.9 * final_loss(op_by_op, false));
}

TEST_CASE("compiled fit: batches whose arrays have other names are other batches", "[engine][train]") {
  const auto trained = [](MaybeLevel level) {
    InitialValues initial(7, f32);
    const Linear net(3, 1, initial);
    int n_batches = 0;
    const BatchTransform renamed = [&](NamedTensors batch, const Tensor&) {
      if (++n_batches % 2 == 0)
        batch["odd"] = batch.at("target");
      else
        batch["even"] = batch.at("target");
      batch.erase("target");
      return batch;
    };
    const BatchLoss loss{.values = [&](const NamedTensors& batch) -> Tensors {
      const Tensor y = net(batch.at("input"));
      return {batch.contains("odd") ? mean_absolute_error(y, batch.at("odd"))
                                    : mean_squared_error(y, batch.at("even"))};
    }};
    Model(net, loss, Sgd(net))
        .fit(Loader(waves(24, 1), {.batch_size = 4, .transform = renamed}), {},
             {.epochs = 2, .level = level});
    return net.parameters()[0].value();
  };
  CHECK(same_bits(trained(Level::O1), trained(op_by_op)));
}
