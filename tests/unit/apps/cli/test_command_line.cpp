// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/cli/command_line.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::mt_invert;
using tests::HasId;

namespace {

cli::CommandLine parse(std::vector<const char*> words) {
  words.insert(words.begin(), "mt_invert");
  return cli::parse_command_line(static_cast<int>(words.size()), words.data());
}

core::Error refusal(std::vector<const char*> words) {
  return tests::error_of<core::ConfigError>([&] { static_cast<void>(parse(words)); });
}

}  // namespace

TEST_CASE("command line: invert takes repeated assignments, a folder and a time limit", "[apps]") {
  const auto line = parse({"invert", "a.toml", "--set", "x.y=1", "--set", "x.z=[1, 2]", "-o", "out/a",
                           "--time-limit", "2.5", "--resume"});
  const auto& invert = std::get<cli::InvertArguments>(line.command);
  CHECK(invert.config_path == "a.toml");
  CHECK(invert.assignments == std::vector<std::string>{"x.y=1", "x.z=[1, 2]"});
  CHECK(invert.output_folder == "out/a");
  CHECK(invert.time_limit_min == 2.5);
  CHECK(invert.resume);
  CHECK_FALSE(invert.dry_run);
}

TEST_CASE("command line: train takes what invert takes, and a preview instead of a resume", "[apps]") {
  const auto line = parse({"train", "a.toml", "--set", "x.y=1", "-o", "out/a", "--time-limit", "2.5",
                           "--resume", "--threads", "2"});
  const auto& train = std::get<cli::TrainArguments>(line.command);
  CHECK(train.config_path == "a.toml");
  CHECK(train.assignments == std::vector<std::string>{"x.y=1"});
  CHECK(train.output_folder == "out/a");
  CHECK(train.time_limit_min == 2.5);
  CHECK(train.resume);
  CHECK_FALSE(train.preview);
  CHECK(std::get<cli::TrainArguments>(parse({"train", "a.toml", "--preview"}).command).preview);
  CHECK_THAT(refusal({"train", "a.toml", "--preview", "--resume"}),
             HasId("exclusive_options", {"--preview", "--resume"}));
  CHECK_THAT(refusal({"train", "a.toml", "--time-limit", "0"}), HasId("bad_time_limit", {"--time-limit"}));
}

TEST_CASE("command line: shards of a training are an assignment, and ranks wait for a time", "[apps]") {
  const auto of = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"train", "a.toml"});
    return std::get<cli::TrainArguments>(parse(words).command);
  };
  CHECK(of({"--set", "x.y=1", "--shards", "8"}).assignments ==
        std::vector<std::string>{"x.y=1", "training.shards=8"});
  CHECK(of({}).rank_timeout_s == 600.0);
  CHECK(of({"--rank-timeout", "2.5"}).rank_timeout_s == 2.5);
  CHECK_THAT(refusal({"train", "a.toml", "--rank-timeout", "0"}),
             HasId("bad_rank_timeout", {"--rank-timeout", "0"}));
}

TEST_CASE("command line: periods are a comma-separated list and accuracy a word", "[apps]") {
  const auto line = parse({"forward", "--model", "m", "--sites", "s", "--periods", "0.1,1,10", "--accuracy",
                           "fine", "--log", "json"});
  const auto& forward = std::get<cli::ForwardArguments>(line.command);
  CHECK(forward.periods_s == std::vector<double>{0.1, 1.0, 10.0});
  CHECK(forward.accuracy == physics::mt::d2::Accuracy::fine);
  CHECK(line.log_as_json);
}

TEST_CASE("command line: a selftest has an accuracy and a file of its own", "[apps]") {
  const auto given = std::get<cli::SelftestArguments>(
      parse({"selftest", "commemi2d1", "--accuracy", "fine", "--json", "a.json"}).command);
  CHECK(given.names == std::vector<std::string>{"commemi2d1"});
  CHECK(given.accuracy == physics::mt::d2::Accuracy::fine);
  CHECK(given.json_path == "a.json");
  const auto usual = std::get<cli::SelftestArguments>(parse({"selftest"}).command);
  CHECK(usual.accuracy == physics::mt::d2::Accuracy::standard);
  CHECK(usual.json_path.empty());
  CHECK_THAT(refusal({"selftest", "--accuracy", "best"}), HasId("wrong_usage", {"accuracy"}));
  const auto synthetic =
      std::get<cli::SelftestArguments>(
          parse({"selftest", "vae-synthetic", "--quick", "--models", "3", "-o", "a"}).command)
          .study;
  CHECK((synthetic.options.quick && !synthetic.options.sweep && synthetic.options.n_models == 3 &&
         synthetic.output_folder == "a"));
  const auto part =
      std::get<cli::SelftestArguments>(parse({"selftest", "vae-synthetic", "--only", "cases,wedge"}).command)
          .study;
  CHECK(part.options.only == std::vector<std::string>{"cases", "wedge"});
  CHECK_THAT(refusal({"selftest", "vae-synthetic", "--only", "dunes"}),
             HasId("wrong_usage", {"dunes", "basin_dike"}));
  CHECK_THAT(refusal({"selftest", "vae-synthetic", "--only", "wedge", "--models", "0"}),
             HasId("nothing_to_run", {"--models 0", "wedge"}));
  CHECK_THAT(refusal({"selftest", "layered1d", "--sweep"}),
             HasId("not_an_option", {"--sweep", "vae-synthetic"}));
  CHECK_THAT(refusal({"selftest", "vae-synthetic", "--models", "-1"}), HasId("wrong_usage", {"--models"}));
  CHECK_THAT(refusal({"selftest", "vae-synthetic", "--accuracy", "fine"}),
             HasId("not_an_option", {"--accuracy fine", "vae-synthetic"}));
  CHECK(
      std::get<cli::SelftestArguments>(parse({"selftest", "vae-synthetic", "--accuracy", "default"}).command)
          .names.size() == 1);
}

TEST_CASE("command line: compare takes sections, references, blocks in km and a picture", "[apps]") {
  const auto given = std::get<cli::CompareArguments>(
      parse({"compare", "a", "b", "--reference", "c.csv", "--block-km", "90,200,25,80", "--block-km",
             "-5, 5,0,1", "--range", "-1,5", "--depth-km", "84", "-o", "d.png"})
          .command);
  CHECK(given.what.sections == std::vector<std::string>{"a", "b"});
  CHECK(given.what.references == std::vector<std::string>{"c.csv"});
  REQUIRE(given.what.blocks.size() == 2);
  CHECK(given.what.blocks[0].z_m.to == 80e3);
  CHECK(given.what.blocks[1].y_m.from == -5e3);
  CHECK(given.what.min_log10 == -1.0);
  CHECK(given.what.max_depth_m == 84e3);
  CHECK(given.output_path == "d.png");
  CHECK_FALSE(std::get<cli::CompareArguments>(parse({"compare", "a"}).command).what.max_log10);
  CHECK_THAT(refusal({"compare"}), HasId("wrong_usage", {"SECTION"}));
  CHECK_THAT(refusal({"compare", "a", "--block-km", "1,2,3"}), HasId("bad_numbers", {"--block-km", "1,2,3"}));
  CHECK_THAT(refusal({"compare", "a", "--block-km", "2,1,3,4"}), HasId("bad_block", {"2,1,3,4"}));
  CHECK_THAT(refusal({"compare", "a", "--block-km", "1,2,3,x"}),
             HasId("bad_numbers", {"--block-km", "1,2,3,x"}));
  CHECK_THAT(refusal({"compare", "a", "--range", "3,3"}), HasId("bad_range", {"3,3"}));
  CHECK_THAT(refusal({"compare", "a", "--depth-km", "0"}), HasId("bad_depth", {"0"}));
  CHECK_THAT(refusal({"compare", "a", "-o", "a.pdf"}), HasId("unknown_ending", {".png", ".svg", "a.pdf"}));
}

TEST_CASE("command line: report of a run takes slices, a depth, ends of the colours and contours", "[apps]") {
  const auto given =
      std::get<cli::ReportArguments>(parse({"report", "run", "--depth-km", "2.5", "--range", "-1,3.5",
                                            "--contours", "--depths-km", "1,2", "--y-km", "-5"})
                                         .command);
  CHECK(given.paths == std::vector<std::string>{"run"});
  CHECK(given.run.depth_m == 2500.0);
  CHECK(given.run.choices.low == -1.0);
  CHECK(given.run.choices.high == 3.5);
  CHECK(given.run.choices.contours);
  CHECK(given.run.slices.depths_m == std::vector<double>{1e3, 2e3});
  CHECK(given.run.slices.y_m == std::vector<double>{-5e3});
  const auto plain = std::get<cli::ReportArguments>(parse({"report", "run"}).command);
  CHECK(plain.run.depth_m == 0.0);
  CHECK(std::isnan(plain.run.choices.low));
  CHECK_FALSE(plain.run.choices.contours);
  CHECK_THAT(refusal({"report", "run", "--range", "3,3"}), HasId("bad_range", {"3,3"}));
  CHECK_THAT(refusal({"report", "run", "--depth-km", "-1"}), HasId("bad_depth", {"-1"}));
  CHECK_THAT(refusal({"report", "a", "-o", "b", "--depth-km", "1"}), HasId("wrong_report", {"--depth-km"}));
}

TEST_CASE("command line: inspect takes a configuration with all options, or two files of values", "[apps]") {
  const auto given =
      std::get<cli::InspectArguments>(parse({"inspect", "a.toml", "--set", "x=1", "--network", "n.h5",
                                             "--compare", "b.h5", "--arrays", "-o", "out"})
                                          .command);
  CHECK(given.path == "a.toml");
  CHECK(given.assignments == std::vector<std::string>{"x=1"});
  CHECK(given.network_path == "n.h5");
  CHECK(given.other_path == "b.h5");
  CHECK(given.output_folder == "out");
  CHECK(given.arrays);
  CHECK(std::get<cli::InspectArguments>(parse({"inspect", "a.h5", "--compare", "b.h5"}).command).path ==
        "a.h5");
  CHECK(std::get<cli::InspectArguments>(parse({"inspect", "a.toml", "--checkpoint", "c"}).command)
            .checkpoint_path == "c");
  CHECK_THAT(refusal({"inspect", "a.toml", "--checkpoint", "c", "--network", "n"}),
             HasId("exclusive_options"));
  CHECK_THAT(refusal({"inspect", "a.h5"}), HasId("values_are_compared", {"--compare"}));
  CHECK_THAT(refusal({"inspect", "a.h5", "--compare", "b.h5", "--arrays"}), HasId("values_are_compared"));
  CHECK_THAT(refusal({"inspect", "a.h5", "--compare", "b.h5", "-o", "out"}), HasId("values_are_compared"));
}

TEST_CASE("command line: of a training at most one of preview, dry run and resume", "[apps]") {
  CHECK(std::get<cli::TrainArguments>(parse({"train", "a.toml", "--dry-run"}).command).dry_run);
  for (const auto& [a, b] :
       {std::pair{"--dry-run", "--resume"}, {"--dry-run", "--preview"}, {"--preview", "--resume"}})
    CHECK_THAT(refusal({"train", "a.toml", a, b}), HasId("exclusive_options", {a, b}));
}

TEST_CASE("command line: a dry run takes the source of its times, or the file of a machine", "[apps]") {
  const auto of_train = [](std::vector<const char*> words) {
    words.insert(words.begin(), {"train", "a.toml", "--dry-run"});
    return std::get<cli::TrainArguments>(parse(words).command).times;
  };
  CHECK_FALSE(of_train({}).are_given());
  CHECK(of_train({"--times", "rates"}).source == engine::Times::rates);
  CHECK(of_train({"--times", "none"}).source == engine::Times::none);
  CHECK(of_train({"--machine", "node.json"}).machine_path == "node.json");
  CHECK_FALSE(of_train({"--machine", "node.json"}).source);
  CHECK(of_train({"--machine", "node.json", "--times", "rates"}).machine_path == "node.json");
  const auto inspect =
      std::get<cli::InspectArguments>(parse({"inspect", "a.toml", "--times", "kernels"}).command);
  CHECK(inspect.times.source == engine::Times::kernels);

  for (const char* source : {"none", "kernels"})
    CHECK_THAT(refusal({"train", "a.toml", "--dry-run", "--machine", "node.json", "--times", source}),
               HasId("exclusive_options", {"--machine", source}));
  CHECK_THAT(refusal({"train", "a.toml", "--dry-run", "--times", "guesses"}),
             HasId("wrong_usage", {"--times", "kernels"}));
  CHECK_THAT(refusal({"train", "a.toml", "--times", "rates"}), HasId("not_in_a_run", {"--dry-run"}));
  CHECK_THAT(refusal({"train", "a.toml", "--machine", "node.json"}), HasId("not_in_a_run", {"--dry-run"}));
  CHECK_THAT(refusal({"inspect", "a.h5", "--compare", "b.h5", "--times", "none"}),
             HasId("values_are_compared"));
}

TEST_CASE("command line: machine writes a file, and measures again where it is told to", "[apps]") {
  const auto kept = std::get<cli::MachineArguments>(parse({"machine"}).command);
  CHECK(kept.output_path.empty());
  CHECK_FALSE(kept.again);
  const auto again = std::get<cli::MachineArguments>(parse({"machine", "--again", "-o", "m.json"}).command);
  CHECK(again.output_path == "m.json");
  CHECK(again.again);
}

TEST_CASE("command line: every command takes a number of threads, at least one", "[apps]") {
  CHECK(parse({"invert", "a.toml", "--threads", "3"}).n_threads == 3);
  CHECK(parse({"--threads", "2", "selftest"}).n_threads == 2);
  CHECK_FALSE(parse({"selftest"}).n_threads);
  CHECK_THAT(refusal({"selftest", "--threads", "0"}), HasId("wrong_usage", {"--threads", "1"}));
  CHECK_THAT(refusal({"selftest", "--threads", "all"}), HasId("wrong_usage", {"--threads"}));
}

TEST_CASE("command line: wrong usage is a configuration error that says what is wrong", "[apps]") {
  CHECK_THAT(refusal({}), HasId("no_command"));
  CHECK_THAT(refusal({"invert"}), HasId("wrong_usage", {"CONFIG"}));
  CHECK_THAT(refusal({"invert", "a.toml", "--nonsense"}), HasId("wrong_usage", {"--nonsense"}));
  CHECK_THAT(refusal({"invert", "a.toml", "--time-limit", "-1"}), HasId("bad_time_limit", {"-1"}));
  CHECK_THAT(refusal({"forward", "--model", "m", "--sites", "s", "--periods", "1,x"}),
             HasId("bad_numbers", {"--periods", "1,x"}));
  for (const char* list : {"1,,2", ",", "1,", "nan"})
    CHECK_THAT(refusal({"forward", "--model", "m", "--sites", "s", "--periods", list}),
               HasId("bad_numbers", {"--periods", list}));
  CHECK_THAT(refusal({"forward", "--model", "m", "--sites", "s", "--periods", "0"}),
             HasId("bad_period", {"1e-9", "1e9"}));
  CHECK_THAT(refusal({"forward", "--model", "m", "--sites", "s", "--periods", "1", "-o", "a.png"}),
             HasId("unknown_ending", {"a.png"}));
}

TEST_CASE("command line: the help of each command ends with examples", "[apps]") {
  for (const char* command :
       {"invert", "train", "forward", "report", "compare", "info", "inspect", "machine", "selftest"}) {
    const auto line = parse({command, "--help"});
    CHECK_THAT(std::get<cli::ShowText>(line.command).text,
               Catch::Contains("Examples:") && Catch::Contains(std::string("mt_invert ") + command));
  }
  CHECK_THAT(std::get<cli::ShowText>(parse({"--version"}).command).text, Catch::Contains("compiler"));
}

TEST_CASE("command line: what is printed to be typed again is quoted for a shell", "[apps]") {
  CHECK(cli::shell_quoted("inversion.target_rms=1.5") == "inversion.target_rms=1.5");
  CHECK(cli::shell_quoted("data.modes=[\"te\"]") == "'data.modes=[\"te\"]'");
  CHECK(cli::shell_quoted("it's") == "'it'\\''s'");
  CHECK(cli::shell_quoted("") == "''");
  CHECK(cli::resume_command("invert", "my run.toml", {"a.b=1", "run.title=x y"}, "out/x") ==
        "mt_invert invert 'my run.toml' --set a.b=1 --set 'run.title=x y' -o out/x --resume");
  CHECK(cli::resume_command("invert", "c.toml", {}, "out/x", 3) ==
        "mt_invert invert c.toml --dim 3 -o out/x --resume");
}
