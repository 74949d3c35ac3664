// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/config/train.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/hdf5/file.hpp"
#include "io/run/folder.hpp"
#include "models/vae/vae_decoder.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <tuple>

using namespace lodestone;
using namespace lodestone::mt_invert;
using namespace lodestone::tests;
using Catch::Matchers::Contains;

namespace {

constexpr const char* small = R"(
[grid]
first_layer_m = 100.0
layer_factor = 1.3
n_layers = 12

[prior]
seed = 4
[[prior.generator]]
kind = "layers"
number = [2, 4]
thickness_m = [100.0, 2000.0]
log10_resistivity = [0.5, 3.5]

[network]
codes = 3
channels = [4, 6]

[training]
draws = 200
epochs = 2
batch_size = 20
learning_rate = 3e-3
)";

/// That configuration with a section from a file.
const std::string sections = [] {
  std::string text = small;
  const auto begin = text.find("kind"), end = text.find("[network]");
  return text.replace(begin, end - begin, "kind = \"sections\"\nfiles = [\"line.rho\"]\n");
}();

std::string text_of(const core::Error& error) { return error.what(); }

/// A folder with a configuration, and the command on it.
class Training {
 public:
  explicit Training(const std::string& text = small) { std::ofstream(config()) << text; }
  ~Training() { core::log::configure({}); }  // the folder and its log go
  [[nodiscard]] std::string config() const { return folder_ / "small.toml"; }
  [[nodiscard]] std::string beside(const char* name) const { return folder_ / name; }
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "out"; }
  [[nodiscard]] bool has(const char* name) const { return std::filesystem::exists(out() / name); }
  [[nodiscard]] std::string text(const char* name) const { return text_of_file((out() / name).string()); }
  int run(const std::vector<std::string>& more = {}) const {
    std::vector<const char*> words{"mt_invert", "train"};
    const std::string path = config(), output = out().string();
    words.insert(words.end(), {path.c_str(), "-o", output.c_str()});
    for (const std::string& each : more) words.push_back(each.c_str());
    const cli::CommandLine line = cli::parse_command_line(static_cast<int>(words.size()), words.data());
    const Capture quiet(STDOUT_FILENO);
    return commands::run_train(MPI_COMM_SELF, std::get<cli::TrainArguments>(line.command), line);
  }
  template <class E>
  [[nodiscard]] core::Error refusal(const std::vector<std::string>& more) const {
    return error_of<E>([&] { (void)run(more); });
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("train: a run leaves network, card, history, checkpoint and report", "[apps]") {
  const Training training;
  REQUIRE(training.run() == 0);
  for (const char* name : {"vae.h5", "card.json", "history.csv", "checkpoint.safetensors", "config.toml",
                           "log.jsonl", "report.html", "pictures/codes.png", "pictures/decodings.png",
                           "pictures/reconstruction.png", "pictures/training.png"}) {
    INFO(name);
    CHECK(training.has(name));
  }
  const auto vae = models::vae::TrainedVae::load(io::hdf5::Hdf5Source(training.out() / "vae.h5"));
  CHECK(vae.options().cells_z == 12);
  CHECK(vae.options().n_codes == 3);
  CHECK(vae.grid().z_edges_m()[1] == 100.0);
  CHECK(vae.card() == training.text("card.json"));
  CHECK_THAT(vae.card(), Contains("kind = \\\"layers\\\""));
  CHECK_THAT(training.text("config.toml"),
             Contains("validation_share = 0.2") && Contains("kind = \"layers\""));
  CHECK_THAT(training.text("report.html"), Contains("Reconstruction error") && Contains("<svg"));
  CHECK_THAT(
      training.text("log.jsonl"),
      Contains("report:     " + (training.out() / "report.html").string()) &&
          Contains("network:    " + (training.out() / "vae.h5").string()) &&
          Contains("[[learned_prior.region]] with network = \\\"" + (training.out() / "vae.h5").string()));

  CHECK_THAT(training.refusal<core::Error>({}), HasId("training_exists", {"--resume"}));
  CHECK_THAT(text_of(training.refusal<core::Error>({"--resume", "--set", "network.codes=4"})),
             Contains("network.codes = 3") && Contains("network.codes = 4"));
  CHECK_THAT(training.text("config.toml"), Contains("codes = 3") && !Contains("codes = 4"));
  CHECK_THAT(text_of(training.refusal<core::Error>({"--resume", "--set", "prior.seed=5"})),
             Contains("prior.seed = 4") && Contains("prior.seed = 5"));
  CHECK(training.run({"--resume", "--set", "training.epochs=3"}) == 0);
  CHECK_THAT(training.text("card.json"), Contains("\"steps\": 24"));
}

TEST_CASE("train: config.toml of a training is a configuration of the same training", "[apps]") {
  const Training training(
      std::string(small) +
      "\n[[prior.generator]]\nkind = \"blocks\"\nweight = 2\ntop_m = [100, 300]\nwidth_m = [100.0, 500.0]\n"
      "height_m = [100, 500.5]\nbackground = {kind = \"field_case\", smooth = {window_cells = 6}}\n"
      "[[prior.generator.modifier]]\nkind = \"smooth\"\n");
  REQUIRE(training.run({"--set", "output.report=false", "--set", "prior.generator[0].number=[3, 4]"}) == 0);
  const std::string echo = training.text("config.toml");
  CHECK_THAT(echo, Contains("\n[grid]\n") && Contains("\n[[prior.generator]]\n") &&
                       Contains("channels = [4, 6]") && Contains("number = [3.0, 4.0]"));
  const Training again(echo);
  REQUIRE(again.run() == 0);
  CHECK(again.text("vae.h5") == training.text("vae.h5"));
  CHECK(again.text("config.toml") == echo);
}

TEST_CASE("train: two runs write the same bytes, safetensors and reports are a matter of choice", "[apps]") {
  const Training a, b;
  for (const Training* each : {&a, &b})
    REQUIRE(each->run({"--set", "output.format=\"safetensors\"", "--set", "output.report=false"}) == 0);
  CHECK(a.text("vae.safetensors") == b.text("vae.safetensors"));
  CHECK(a.text("card.json") == b.text("card.json"));
  CHECK_FALSE(a.has("report.html"));
  CHECK_FALSE(a.has("vae.h5"));
}

TEST_CASE("train: a network that learned nothing is told from one that did", "[apps]") {
  const Training training, longer;
  REQUIRE(training.run({"--set", "loss.divergence=1e4"}) == 0);
  CHECK_THAT(training.text("log.jsonl"),
             Contains("0 of 3 codes in use") && Contains("no_active_code") && Contains("loss.divergence"));
  REQUIRE(longer.run({"--set", "training.epochs=12"}) == 0);
  CHECK_THAT(longer.text("log.jsonl"), Contains("codes in use") && !Contains("no_active_code"));
}

TEST_CASE("train: more codes than cells are warned of", "[apps]") {
  const Training training;
  const int before = core::log::count(core::log::Level::warning);
  static_cast<void>(config::read_train_config(training.config(), {"network.codes=12"}));
  CHECK(core::log::count(core::log::Level::warning) == before);
  static_cast<void>(config::read_train_config(training.config(), {"network.codes=13"}));
  CHECK(core::log::count(core::log::Level::warning) == before + 1);
}

TEST_CASE("train: the configuration of an inversion is told as such", "[apps]") {
  const Training training("[data]\nedi_folder = \"edi\"\n[grid]\nn_columns = 4\n");
  CHECK_THAT(training.refusal<core::ConfigError>({}),
             HasId("other_command", {"small.toml", "[prior]", "[data]", "mt_invert invert"}));
}

TEST_CASE("train: a folder made for a training that is refused is gone again, one that was there stays",
          "[apps]") {
  const Training training;
  std::filesystem::create_directories(training.out());
  std::ofstream(training.out() / "checkpoint.safetensors") << "none";
  CHECK(training.refusal<core::Error>({"--resume"}).id() != "nothing_thrown");
  CHECK(training.has("checkpoint.safetensors"));
  const std::filesystem::path there = training.out().parent_path() / "there",
                              fresh = training.out().parent_path() / "a/b/c";
  const auto leave = [](const std::filesystem::path& folder, bool with_file) {
    io::run::NewFolder made(folder, core::log::Format::human);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "log.jsonl") << "{}";
    if (with_file) std::ofstream(folder / "notes.txt") << "mine";
  };
  std::filesystem::create_directories(there);
  leave(there, false);
  CHECK(std::filesystem::exists(there / "log.jsonl"));
  leave(fresh, false);
  CHECK_FALSE(std::filesystem::exists(fresh.parent_path().parent_path()));
  CHECK(std::filesystem::exists(training.out().parent_path()));
  leave(fresh, true);
  CHECK(std::filesystem::exists(fresh / "notes.txt"));
}

TEST_CASE("train: a training that explodes says what to change", "[apps]") {
  const Training training;
  CHECK_THAT(text_of(training.refusal<core::Error>({"--set", "training.learning_rate=1e6"})),
             Contains("training.learning_rate"));
}

TEST_CASE("train: out of time it ends with code 11, and a resume finishes it", "[apps]") {
  const Training training;
  CHECK(training.run({"--time-limit", "1e-9"}) == 11);
  CHECK(training.has("checkpoint.safetensors"));
  CHECK_FALSE(training.has("vae.h5"));
  CHECK(training.run({"--resume"}) == 0);
  const Training whole;
  REQUIRE(whole.run() == 0);
  CHECK(training.text("vae.h5") == whole.text("vae.h5"));
}

TEST_CASE("train: a stopped training prints how to go on with it, its assignments among it", "[apps]") {
  const Training training;
  CHECK(training.run({"--time-limit", "1e-9", "--set", "network.channels=[4, 5]", "--set",
                      "run.title=it's mine"}) == 11);
  const std::string quoted = R"('run.title=it'\\''s mine')";  // as JSON has it
  CHECK_THAT(training.text("log.jsonl"),
             Contains(fmt::format(
                 "go on with: mt_invert train {} --set 'network.channels=[4, 5]' --set {} -o {} --resume",
                 training.config(), quoted, training.out().string())));
  CHECK(training.run({"--set", "network.channels=[4, 5]", "--resume"}) == 0);
}

TEST_CASE("train: a preview draws the prior and each of its generators, and trains nothing", "[apps]") {
  const Training training(
      std::string(small) +
      "\n[[prior.generator]]\nkind = \"field_case\"\n[[prior.generator.modifier]]\nkind = \"smooth\"\n");
  REQUIRE(training.run({"--preview"}) == 0);
  CHECK(training.has("preview/prior.png"));
  CHECK(training.has("preview/generator_1_layers.png"));
  CHECK(training.has("preview/generator_2_field_case.png"));
  CHECK_FALSE(training.has("checkpoint.safetensors"));
  CHECK(training.run() == 0);  // the preview is in nobody's way
}

TEST_CASE("train: configurations that cannot be are refused at their line before anything is written",
          "[apps]") {
  const Training training;
  const auto refusal = [&](const std::string& assignment) {
    return training.refusal<core::Error>({"--set", assignment});
  };
  CHECK_THAT(refusal("network.code=3"), HasId("unknown_key", {"network.code", "codes"}));
  CHECK_THAT(refusal("network.channels=[4, 2.5]"), HasId("out_of_range", {"network.channels", "2.5"}));
  CHECK_THAT(refusal("network.channels=[4, 4, 4, 4, 4]"), HasId("too_many_levels", {"4", "12 × 1", "5"}));
  CHECK_THAT(refusal("prior.generator[1].number=[2, 3]"),
             HasId("no_such_element", {"prior.generator[0]", "[0]"}));
  CHECK_THAT(refusal("prior.generator=[{kind = \"layers\", thicknes_m = [1, 2]}]"),
             HasId("missing_key", {"prior.generator[0].thickness_m", "thicknes_m"}));
  CHECK_THAT(refusal("network.kind=\"cube\""), HasId("unknown_word", {"column", "patch"}));
  CHECK_THAT(refusal("loss.similarity=-1.0"), HasId("out_of_range", {"loss.similarity"}));
  CHECK_THAT(refusal("loss.divergence=1e308"), HasId("out_of_range", {"loss.divergence", "1e+308"}));
  CHECK_THAT(refusal("network.codes=1000000000"), HasId("out_of_range", {"network.codes", "1 to 4096"}));
  CHECK_THAT(refusal("training.epochs=1000000000"), HasId("out_of_range", {"training.epochs"}));
  CHECK_THAT(refusal("training.batch_size=161"), HasId("batch_too_large", {"training.batch_size", "160"}));
  CHECK_THAT(refusal("training.shards=21"), HasId("more_shards_than_draws", {"training.shards", "20", "21"}));
  CHECK_THAT(refusal("training.shards=0"), HasId("out_of_range", {"training.shards"}));
  CHECK_THAT(refusal("training.schedule=\"linear\""), HasId("unknown_word", {"cosine"}));
  CHECK_THAT(refusal("output.format=\"onnx\""), HasId("unknown_word", {"safetensors"}));
  CHECK_THAT(refusal("grid.n_columns=4"), HasId("missing_key", {"width_m"}));
  CHECK_FALSE(training.has("log.jsonl"));
  CHECK_THAT(text_of(training.refusal<core::Error>({"--resume"})), Contains("checkpoint"));
  std::filesystem::create_directories(training.out());
  std::ofstream(training.out() / "notes.txt") << "mine";
  CHECK_THAT(training.refusal<core::Error>({}), HasId("folder_in_use", {"notes.txt"}));
}

TEST_CASE("train: sections with values that are none are refused before anything is written", "[apps]") {
  const std::string model = "3 2 LOG10\n 1000 1000 1000\n 100 200\n0\n 1 2 3\n 3 nan 2\n";
  const Training training(sections);
  const auto refusal = [&](const std::string& text) {
    std::ofstream(training.beside("line.rho")) << text;
    return training.refusal<core::Error>({});
  };
  CHECK_THAT(text_of(refusal(model)), Contains("line.rho:6") && Contains("nan"));
  CHECK_FALSE(training.has("log.jsonl"));
}

TEST_CASE("train: a resume with another network or other contents of its sections is refused before any work",
          "[apps]") {
  const auto model = [](double value) {
    return fmt::format("3 2 LOG10\n 1000 1000 1000\n 100 200\n0\n 1 2 3\n 3 {} 2\n", value);
  };
  const Training training(sections);
  std::ofstream(training.beside("line.rho")) << model(4.0);
  REQUIRE(training.run({"--set", "output.report=false"}) == 0);
  CHECK_THAT(text_of(training.refusal<core::Error>({"--resume", "--set", "network.codes=4"})),
             Contains("network.codes = 3") && Contains("network.codes = 4"));
  std::ofstream(training.beside("line.rho")) << model(3.5);
  CHECK_THAT(text_of(training.refusal<core::Error>({"--resume"})), Contains("line.rho"));
  std::ofstream(training.beside("line.rho")) << model(4.0);
  CHECK(training.run({"--resume", "--set", "output.report=false"}) == 0);
}

TEST_CASE("train: the published recipe is shipped with the defaults, which are its settings", "[apps]") {
  const config::TrainConfig config =
      config::read_train_config(std::string(LODESTONE_SOURCE_DIR) + "/examples/kim_eto/prior_published.toml");
  const config::TrainConfig demo =
      config::read_train_config(std::string(LODESTONE_SOURCE_DIR) + "/examples/kim_eto/prior.toml");
  CHECK(config.prior.grid().z_edges_m() == demo.prior.grid().z_edges_m());
  CHECK(config.setup.network == models::vae::VaeOptions{});
  CHECK(config.setup.loss.similarity == 0.06);
  CHECK(config.setup.loss.divergence == 0.01);
  const models::vae::VaeRecipe& recipe = config.setup.recipe;
  CHECK(std::tuple(recipe.n_draws, recipe.epochs, recipe.batch_size, recipe.learning_rate) ==
        std::tuple(60000, 200, 64, 8e-4));
  CHECK(recipe.schedule == models::vae::RateSchedule::constant);
}

TEST_CASE("train: the shipped prior of the field case stands on the cells of its line's mesh", "[apps]") {
  const config::TrainConfig config =
      config::read_train_config(std::string(LODESTONE_SOURCE_DIR) + "/examples/kim_eto/prior.toml");
  const auto& depth_m = config.prior.grid().z_edges_m();
  REQUIRE(depth_m.size() == 33);
  CHECK(depth_m.front() == Approx(1059.0).epsilon(1e-3));
  CHECK(depth_m.back() == Approx(84030.0).epsilon(1e-3));
  CHECK(config.setup.network.n_codes == 16);
}

TEST_CASE(
    "train: the shipped network is the one its configuration describes, and has its scores on draws it never "
    "saw",
    "[apps]") {
  const std::string source(LODESTONE_SOURCE_DIR);
  const models::vae::TrainedVae vae =
      models::vae::TrainedVae::load(io::hdf5::Hdf5Source(source + "/data/kim_eto_prior/vae.h5"));
  const config::TrainConfig config = config::read_train_config(source + "/examples/kim_eto/prior.toml");
  vae.check_grid(config.prior.grid(), "prior.toml");
  CHECK(vae.options() == config.setup.network);
  for (const std::string& said :
       {fmt::format("\"draws\": {}", config.setup.recipe.n_draws),
        fmt::format("\"epochs\": {}", config.setup.recipe.epochs),
        fmt::format("\"batch_size\": {}", config.setup.recipe.batch_size), std::string("\"seed\": 1"),
        fmt::format("\"reconstruction_rms_decades\": {:.4g}", vae.statistics().rms)})
    CHECK_THAT(vae.card(), Contains(said));

  // Draws are told by their numbers; the training and its validation had those below.
  const Eigen::MatrixXd fresh = config.prior.draws(config.setup.recipe.n_draws, 2000);
  const inversion::prior::DecoderPtr decoder = models::vae::vae_decoder(vae, "vae.h5");
  const Eigen::ArrayXXd missing = decoder->decode(decoder->encode(fresh)) - fresh;
  CHECK(std::sqrt(missing.square().mean()) == Approx(vae.statistics().rms).epsilon(0.1));
  CHECK(std::sqrt(missing.square().mean()) < 0.035);
  const Eigen::VectorXd mean = fresh.rowwise().mean();
  const Eigen::VectorXd deviation = vae.statistics().covariance.diagonal().cwiseSqrt();
  CHECK(((mean - vae.statistics().mean).array().abs() < 4.0 * deviation.array() / std::sqrt(2000.0)).all());
}
