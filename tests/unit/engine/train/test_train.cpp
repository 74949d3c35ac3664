// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/ops/ops.hpp"
#include "engine/state/state_file.hpp"
#include "engine/train/callbacks.hpp"
#include "engine/train/guards.hpp"
#include "engine/train/model.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/train/waves.hpp"

#include <cmath>
#include <sstream>

using namespace lodestone;
using namespace lodestone::engine;
using tests::absolute;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::squared;

namespace {

constexpr DType f64 = DType::f64;

Tensor drawn(const Shape& shape, std::uint64_t seed) { return tests::normals(shape, seed, f64); }
Dataset waves(std::int64_t n, std::uint64_t seed) { return tests::waves(n, seed, f64); }

/// A run with everything that has state: batch norm, dropout, shuffled data, accumulation, a schedule,
/// callbacks.
struct Run {
  explicit Run(const std::filesystem::path& folder_) : folder(folder_) {}
  std::filesystem::path folder;
  InitialValues initial{7, f64};
  Sequential net{Linear(3, 8, initial), BatchNorm(8, initial), engine::tanh, Dropout(0.1, initial),
                 Linear(8, 1, initial)};
  Adam adam{net, {.learning_rate = warm_up(5, cosine_decay({.rate = 0.02, .n_steps = 60}))}};
  Model model{
      net, squared, adam, {.metrics = {{"absolute", absolute}}, .batches_per_step = 2, .largest_norm = 1.0}};
  Loader training{waves(44, 1), {.batch_size = 8, .seed = 3}},
      validation{waves(16, 2), {.batch_size = 8, .seed = 4}};

  FitSummary fit(Callbacks more, const std::filesystem::path& resume_from = {}) {
    Callbacks all = callbacks(
        Checkpoint(
            {.path = folder / "run.safetensors", .every_steps = 2, .best = folder / "best.safetensors"}),
        ReduceOnPlateau({.watch = {.figure = "validation_loss"}, .patience = 1, .factor = 0.5}),
        Csv(folder / "run.csv"), EarlyStopping({.patience = 6}), NanGuard());
    all.insert(all.end(), more.begin(), more.end());
    return model.fit(training, validation, {.epochs = 4, .callbacks = all, .resume_from = resume_from});
  }
};

/// Cuts a training off.
class CutOff final : public Callback {
 public:
  CutOff(std::int64_t step, Moment moment) : step_(step), moment_(moment) {}
  void save(Training& training, Moment moment) override {
    if (moment == moment_ && training.n_steps() >= step_) throw core::SolverError("test#cut_off", "cut off");
  }

 private:
  std::int64_t step_;
  Moment moment_;
};

class Recorder final : public Callback {
 public:
  explicit Recorder(std::vector<std::string>& log) : log_(&log) {}
  void begin(Training&) override { log_->push_back("begin"); }
  void after_step(Training& training) override {
    log_->push_back(fmt::format("step {}", training.n_steps()));
  }
  void after_epoch(Training& training) override {
    log_->push_back(fmt::format("epoch {}", training.n_epochs()));
  }
  void end(Training&) override { log_->push_back("end"); }

 private:
  std::vector<std::string>* log_;
};

/// Gives figures as if they had been measured.
class Pretend final : public Callback {
 public:
  Pretend(std::vector<double> losses, Callbacks inner)
      : losses_(std::move(losses)), inner_(std::move(inner)) {}
  void after_epoch(Training& training) override {
    training.finish_epoch({{"loss", losses_.at(n_++)}});
    for (const auto& each : inner_) each->after_epoch(training);
  }

 private:
  std::vector<double> losses_;
  Callbacks inner_;
  std::size_t n_ = 0;
};

}  // namespace

TEST_CASE("fit: a network learns a function, and evaluate and predict see it", "[engine][train]") {
  InitialValues initial(7, f64);
  const Sequential net{Linear(3, 24, initial), engine::tanh, Linear(24, 1, initial)};
  const Model model(net, squared, Adam(net, {.learning_rate = 0.02}), {.metrics = {{"absolute", absolute}}});
  const Loader training(waves(256, 1), {.batch_size = 32}), validation(waves(64, 2), {.batch_size = 32});
  const Figures before = model.evaluate(validation);
  const FitSummary summary = model.fit(training, validation, {.epochs = 60});
  CHECK(summary.n_epochs == 60);
  CHECK(summary.n_steps == 60 * 8);
  CHECK(summary.why_stopped == "all 60 epochs done");
  CHECK(summary.figures.size() == 60);
  const Figures after = model.evaluate(validation);
  CHECK(after.at("loss") < 0.1 * before.at("loss"));
  CHECK(after.at("loss") == Approx(summary.figures.back().at("validation_loss")).epsilon(1e-12));
  const Tensor x = drawn({1, 3}, 9);
  CHECK(model.predict(x).item<double>() == Approx(std::sin(sum(x).item<double>())).margin(0.3));
}

TEST_CASE("fit: the figures of an epoch are means over items, also with a smaller last batch",
          "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Dataset data = waves(10, 1);
  const Model model(net, squared, Sgd(net, {.learning_rate = 0.0}));
  const Loader training(data, {.batch_size = 4});
  const FitSummary summary = model.fit(training, {}, {});
  const NamedTensors all = data.items(0, 10);
  CHECK(summary.figures[0].at("loss") ==
        Approx(mean_squared_error(net(all.at("input")), all.at("target")).item<double>()).epsilon(1e-14));
  CHECK(model.evaluate(Loader(data, {.batch_size = 3})).at("loss") ==
        Approx(summary.figures[0].at("loss")).epsilon(1e-14));
}

TEST_CASE("fit: a classifier learns which side of a line a point is on", "[engine][train]") {
  InitialValues initial(7, f64);
  const Tensor x = drawn({200, 2}, 1);
  const Dataset data(
      NamedTensors{{"input", x}, {"target", cast(greater(sum(x, Axes{1}), 0.0), DType::i32).eval()}});
  const Linear net(2, 2, initial);
  const Loss loss = [](const Tensor& logits, const Tensor& labels) { return cross_entropy(logits, labels); };
  const Model model(
      net, loss, AdamW(net, {.learning_rate = 0.05}),
      {.metrics = {{"accuracy", [](const Tensor& p, const Tensor& t) { return accuracy(p, t); }}}});
  const FitSummary summary =
      model.fit(Loader(data, {.batch_size = 20}), Loader(data, {.batch_size = 50}), {.epochs = 20});
  CHECK(summary.figures.front().at("accuracy") < 0.9);
  CHECK(summary.figures.back().at("validation_accuracy") > 0.97);
}

TEST_CASE("fit: on a second device it gives the same bits", "[engine][train]") {
  const auto trained = [](Device device) {
    InitialValues initial(7, f64, device);
    const Sequential net{Linear(3, 8, initial), BatchNorm(8, initial),   relu,
                         Dropout(0.2, initial), LayerNorm({8}, initial), Linear(8, 1, initial)};
    const Model model(net, squared, Adam(net), {.batches_per_step = 2, .largest_norm = 0.5});
    const Loader training(waves(40, 1), {.batch_size = 8, .device = device}),
        validation(waves(16, 2), {.device = device});
    const FitSummary summary =
        model.fit(training, validation,
                  {.epochs = 2, .callbacks = callbacks(NanGuard(), GradientNormGuard(), EarlyStopping())});
    CHECK(net.parameters()[0].value().device() == device);
    return summary.figures.back().at("validation_loss");
  };
  CHECK(trained(cpu) == trained({Device::Kind::cpu, 1}));
}

TEST_CASE("fit: several batches per step are one step on all of them", "[engine][train]") {
  const auto trained = [](std::int64_t batch_size, int batches_per_step) {
    InitialValues initial(7, f64);
    const Linear net(3, 1, initial);
    const Model model(net, squared, Sgd(net, {.learning_rate = 0.1}), {.batches_per_step = batches_per_step});
    const FitSummary summary = model.fit(
        Loader(waves(24, 1), {.batch_size = batch_size, .order = Order::stored}), {}, {.epochs = 2});
    CHECK(summary.n_steps == 4);
    return net.parameters()[0].value();
  };
  CHECK(max(abs(trained(12, 1) - trained(4, 3))).item<double>() < 1e-15);
}

TEST_CASE("fit: callbacks hear everything in order", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  std::vector<std::string> log;
  Model(net, squared, Sgd(net))
      .fit(Loader(waves(8, 1), {.batch_size = 4}), {}, {.epochs = 2, .callbacks = callbacks(Recorder(log))});
  CHECK(log == std::vector<std::string>{"begin", "step 1", "step 2", "epoch 1", "step 3", "step 4", "epoch 2",
                                        "end"});
}

TEST_CASE("fit: cut off anywhere and resumed, it ends with the same bits, files included",
          "[engine][train]") {
  const tests::TemporaryFolder whole;
  Run(whole.path()).fit({});
  const std::string state = tests::text_of_file(whole / "run.safetensors"),
                    table = tests::text_of_file(whole / "run.csv"),
                    best = tests::text_of_file(whole / "best.safetensors");
  const auto cut_off_at = [&](std::int64_t step, Moment moment) {
    INFO("cut off at step " << step);
    const tests::TemporaryFolder parts;
    CHECK_THAT(error_of<core::SolverError>(
                   [&] { static_cast<void>(Run(parts.path()).fit(callbacks(CutOff(step, moment)))); }),
               HasId("cut_off"));
    CHECK_THAT(
        error_of<core::SolverError>([&] {
          static_cast<void>(
              Run(parts.path()).fit(callbacks(CutOff(step + 4, moment)), parts.path() / "run.safetensors"));
        }),
        HasId("cut_off"));
    const FitSummary summary =
        Run(parts.path()).fit(callbacks(CutOff(1000, moment)), parts.path() / "run.safetensors");
    CHECK(summary.n_epochs == 4);
    CHECK(tests::text_of_file(parts / "run.safetensors") == state);
    CHECK(tests::text_of_file(parts / "run.csv") == table);
    CHECK(tests::text_of_file(parts / "best.safetensors") == best);
  };
  for (const std::int64_t step : {2, 5})
    cut_off_at(step, Moment::step);  // three steps an epoch, the third with two batches of 8 and 4 items
  cut_off_at(3, Moment::epoch);
}

TEST_CASE("fit: the state of another network is refused by name, and nothing is trained", "[engine][train]") {
  const tests::TemporaryFolder folder;
  Run run(folder.path());
  run.fit({});
  InitialValues initial(7, f64);
  const Linear other(3, 1, initial);
  const Model model(other, squared, Sgd(other));
  CHECK_THAT(
      error_of<core::FormatError>([&] {
        static_cast<void>(model.fit(run.training, {}, {.resume_from = folder.path() / "run.safetensors"}));
      }),
      HasId("state_of_another_network", {"run.safetensors:", "net.weight", "net.0.weight"}));
  CHECK_THROWS_AS(model.fit(run.training, {}, {.resume_from = folder.path() / "missing"}), core::FileError);
}

TEST_CASE("fit: a batch without the named arrays says which it has", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Model model(net, squared, Sgd(net), {.target = "labels"});
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(model.fit(Loader(waves(8, 1)), {}, {})); }),
      HasId("no_array_in_batch", {"\"labels\"", "input, target"}));
}

TEST_CASE("fit: a loss of whole batches, with figures of its own", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear encoder(3, 2, initial), decoder(2, 3, initial);
  const Sequential net{encoder, decoder};
  const BatchLoss loss{[&](const NamedTensors& batch) -> Tensors {
                         const Tensor code = encoder(batch.at("input")), size = mean(square(code));
                         return {mean_squared_error(decoder(code), batch.at("input")) + 0.01 * size, size};
                       },
                       {"code"}};
  const Model model(net, loss, Adam(net, {.learning_rate = 0.05}));
  const FitSummary summary = model.fit(Loader(waves(32, 1), {.batch_size = 16}), {}, {.epochs = 30});
  CHECK(summary.figures.back().at("loss") < 0.5 * summary.figures.front().at("loss"));
  CHECK(summary.figures.back().contains("code"));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Model(
                                     net, [](const Tensor& p, const Tensor&) { return p; }, Sgd(net))
                                     .fit(Loader(waves(8, 1)), {}, {}));
             }),
             HasId("not_one_real_number", {"f64[8, 3]", "(test_train.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(model.predict(drawn({1, 3}, 1)));
             }),
             HasId("no_predict"));
}

TEST_CASE("early stopping: after the given number of epochs without a better figure", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const auto stopped_after = [&](const std::vector<double>& losses, const EarlyStoppingOptions& options) {
    const Model model(net, squared, Sgd(net));
    return model
        .fit(Loader(waves(4, 1)), {},
             {.epochs = 100, .callbacks = callbacks(Pretend(losses, callbacks(EarlyStopping(options))))})
        .figures.size();
  };
  CHECK(stopped_after({3, 2, 1, 1.5, 1.2, 9, 9}, {.patience = 2}) == 5);
  CHECK(stopped_after({3, 2, 1.95, 1.9, 9, 9}, {.watch = {.least_change = 0.5}, .patience = 2}) == 4);
  CHECK(stopped_after({1, 2, 3, 2, 1, 9, 9}, {.watch = {.better = Better::higher}, .patience = 2}) == 5);
  CHECK(stopped_after({1, NAN, NAN, 9, 9}, {.patience = 2}) == 3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(stopped_after({1, 2}, {.watch = {.figure = "accuracy"}}));
             }),
             HasId("unknown_figure", {"loss, validation_loss", "\"accuracy\""}));
}

TEST_CASE("reduce on plateau: the rate falls when a figure stays, not below the lowest", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Sgd sgd(net, {.learning_rate = 1.0});
  const ReduceOnPlateauOptions options{.patience = 2, .factor = 0.1, .lowest_rate = 0.03};
  const std::vector<double> losses{1, 1, 1, 1, 1, 1, 1, 1};
  const Model model(net, squared, sgd);
  const auto rate_after = [&](std::int64_t epochs) {
    sgd.scale_learning_rate(1.0 / sgd.learning_rate());
    model.fit(
        Loader(waves(4, 1)), {},
        {.epochs = 2 * epochs, .callbacks = callbacks(Pretend(losses, callbacks(ReduceOnPlateau(options))))});
    return sgd.learning_rate();
  };
  CHECK(rate_after(2) == 1.0);
  CHECK(rate_after(3) == Approx(0.1));
  CHECK(rate_after(5) == Approx(0.03));
  CHECK(rate_after(8) == Approx(0.03));
}

TEST_CASE("guards: a loss that is not finite ends the training before the step, with step and op",
          "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Loss bad = [](const Tensor& predicted, const Tensor&) {
    return mean(sqrt(log(square(predicted)) - 100.0));
  };
  const Tensor before = net.parameters()[0].value();
  const Model model(net, bad, Sgd(net));
  CHECK_THAT(error_of<core::SolverError>([&] {
               static_cast<void>(model.fit(Loader(waves(8, 1)), {}, {.callbacks = callbacks(NanGuard())}));
             }),
             HasId("not_finite", {"step 1", "epoch 1", "loss", "sqrt", "f64[8, 1]", "(test_train.cpp:"}));
  CHECK(net.parameters()[0].value().to_vector<double>() == before.to_vector<double>());
}

TEST_CASE("guards: a gradient that is not finite ends the training although the loss is", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Loss flat = [](const Tensor& predicted, const Tensor&) { return sum(sqrt(0.0 * predicted)); };
  CHECK_THAT(
      error_of<core::SolverError>([&] {
        static_cast<void>(
            Model(net, flat, Sgd(net)).fit(Loader(waves(8, 1)), {}, {.callbacks = callbacks(NanGuard())}));
      }),
      HasId("not_finite", {"step 1", "epoch 1", "gradient", "divide", "f64[8, 1]"}));
}

TEST_CASE(
    "finite: NaN and infinities are seen in every dtype and layout, the largest numbers are not taken for "
    "one",
    "[engine]") {
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32, f64, DType::c64, DType::c128}) {
    INFO(core::name_of(dtype));
    const auto numbers = [&](double odd) {
      return transpose(cast(reshape(row({1, -1, odd, 0, 1e-30, -0.0, 2, 3, 4, 5}), {2, 5}), dtype));
    };
    CHECK(all_finite({numbers(7.0), cast(full({40}, 65504.0, f64), dtype)}));
    for (const double odd : {std::nan(""), double(INFINITY), -double(INFINITY)})
      CHECK_FALSE(all_finite({numbers(7.0), numbers(odd)}));
  }
  CHECK_FALSE(all_finite({complex(row({1, 2}), row({0, std::nan("")}))}));
  CHECK(all_finite({full({4}, 1.7e308, f64), zeros({0}, f64), cast(row({1, 2}), DType::i32)}));
}

TEST_CASE("guards: numbers that came in with the data are named as an input", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  const Dataset data(
      NamedTensors{{"input", full({4, 3}, NAN, f64).eval()}, {"target", zeros({4, 1}, f64).eval()}});
  CHECK_THAT(error_of<core::SolverError>([&] {
               static_cast<void>(
                   Model(net, squared, Sgd(net)).fit(Loader(data), {}, {.callbacks = callbacks(NanGuard())}));
             }),
             HasId("not_finite", {"input f64[4, 3]", "dot_general"}));
  CHECK_FALSE(first_not_finite([] { row({1.0, 2.0}).eval(); }));
  const auto first_of_norm = [](const Tensor& x) {
    return first_not_finite([&] { batch_norm(x * 1.0, row({1, 1}), row({0, 0})).y.eval(); }).value_or("none");
  };
  CHECK(first_of_norm(reshape(row({1, 2, 3, 4}), {2, 2})) == "none");
  CHECK_THAT(first_of_norm(reshape(row({1, 1e200, 3, 4}), {2, 2})),  // its variance overflows
             Catch::StartsWith("batch_norm of tuple") && Catch::EndsWith("from finite inputs"));
}

TEST_CASE("guards: a gradient that is too long is skipped, and the network stays as it was",
          "[engine][train]") {
  const auto make = [] {
    InitialValues initial(7, f64);
    return Sequential{Linear(3, 4, initial), BatchNorm(4, initial), Dropout(0.5, initial),
                      Linear(4, 1, initial)};
  };
  const Sequential net = make(), without = make();
  const Tensor x = drawn({8, 3}, 1);
  Tensor y = drawn({8, 1}, 2);
  y = (y * pad(full({4, 1}, 1e9, f64), {4, 0}, {0, 0}, {}, 1.0)).eval();  // the second batch is absurd
  const Dataset data(NamedTensors{{"input", x}, {"target", y}});
  const GradientNormGuard guard({.largest = 1e3});
  const Model model(net, squared, Sgd(net, {.learning_rate = 0.01}));
  const Loader loader(data, {.batch_size = 4, .order = Order::stored});
  std::vector<std::string> log;
  model.fit(loader, {}, {.callbacks = callbacks(guard, Recorder(log))});
  CHECK(log == std::vector<std::string>{"begin", "step 1", "epoch 1", "end"});
  CHECK(guard.n_skipped() == 1);
  Model(without, squared, Sgd(without, {.learning_rate = 0.01}))
      .fit(Loader(data.range(0, 4), {.batch_size = 4, .order = Order::stored}), {}, {});
  for (const auto& [name, tensor] : without.state()) {  // statistics and random key, too
    INFO(name);
    CHECK(std::ranges::equal(net.state().at(name).bytes(), tensor.bytes()));
  }
  const Model absurd(net, squared, Sgd(net));
  const Loader only_absurd(data.range(4, 8), {.batch_size = 2});
  CHECK_THAT(
      error_of<core::SolverError>([&] {
        static_cast<void>(absurd.fit(
            only_absurd, {},
            {.epochs = 9, .callbacks = callbacks(GradientNormGuard({.largest = 1.0, .most_in_a_row = 3}))}));
      }),
      HasId("gradients_too_long", {"4 steps", "1;"}));
  const Dataset broken(NamedTensors{{"input", x}, {"target", full({8, 1}, std::nan(""), f64)}});
  const Model fed_nothing(net, squared, Sgd(net));
  CHECK_THAT(
      error_of<core::SolverError>([&] {
        static_cast<void>(fed_nothing.fit(Loader(broken, {.batch_size = 2}), {},
                                          {.callbacks = callbacks(GradientNormGuard({.most_in_a_row = 0}))}));
      }),
      HasId("gradients_too_long", {"nan"}));
}

TEST_CASE("progress bar: a line per epoch where nobody watches a terminal", "[engine][train]") {
  InitialValues initial(7, f64);
  const Linear net(3, 1, initial);
  std::ostringstream out;
  Model(net, squared, Sgd(net))
      .fit(Loader(waves(8, 1)), {},
           {.epochs = 2, .callbacks = callbacks(ProgressBar({.epochs = 2, .out = &out}))});
  CHECK_THAT(out.str(), Catch::StartsWith("epoch 1/2: loss ") && Catch::Contains("\nepoch 2/2: loss "));
}
