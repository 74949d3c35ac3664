// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/toml/options.hpp"
#include "models/earths/field_case.hpp"
#include "models/earths/prior_options.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/models/fixtures.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::models;
using Catch::Matchers::Contains;

namespace {

earths::Section load(const std::string& path) {
  if (path != "line.h5") throw core::FileError("test", "no file {}", path);
  return {path, {0, 1000}, {0, 4000}, Eigen::MatrixXd::Constant(1, 1, 2.5)};
}

earths::Prior read(const std::string& text) {
  const core::Options root = io::toml::parse_options_toml(text, "train.toml");
  earths::Prior prior = earths::read_prior(root, load);
  root.require_all_used();
  return prior;
}

std::string refusal(const std::string& text) {
  return tests::message_of<core::ConfigError>([&] { (void)read(text); });
}

const std::string grid =
    "[grid]\nfirst_layer_m = 2.0\nlayer_factor = 1.146\nn_layers = 64\nfirst_cell = 32\n";  // 5 lines
const std::string patch_grid = "[grid]\ndepth_m = [0, 100, 300, 1000]\nwidth_m = 3000\nn_columns = 6\n";
std::string with(const std::string& generator) {
  return patch_grid + "[[prior.generator]]\n" + generator;
}  // `generator` from line 6
const std::string in_rock =
    "\n[prior.generator.background]\nkind = \"layers\"\nnumber = [1, 1]\nlog10_resistivity = [2.5, 3.5]\n";
const std::string a_block =
    "kind = \"blocks\"\ntop_m = [0, 400]\nwidth_m = [300, 900]\nheight_m = [100, 400]\n";

}  // namespace

TEST_CASE("prior options: the published field case is one word on its grid") {
  const earths::Prior prior = read(grid + "[prior]\nseed = 11\n[[prior.generator]]\nkind = \"field_case\"\n");
  CHECK(prior.grid().n_z() == 32);
  CHECK(prior.grid().z_edges_m().front() == Approx(1059.0).margin(1.0));
  CHECK(prior.grid().z_edges_m().back() == Approx(84.03e3).epsilon(1e-3));
  CHECK(prior.grid().y_edges_m() == std::vector<double>{0.0, 1000.0});
  CHECK(prior.seed() == 11);
  const Eigen::MatrixXd same =
      tests::prior_of<earths::FieldCase>(earths::FieldCaseOptions{}, prior.grid()).draws(0, 5);
  CHECK(prior.draws(0, 5) == same);
}

TEST_CASE("prior options: every key of the field case reaches its range") {
  const earths::Prior prior = read(
      "[grid]\ndepth_m = [0, 100, 500, 1000, 2000, 3000]\n[[prior.generator]]\nkind = "
      "\"field_case\"\nbackground = [2, 2]\n"
      "conductor_top_m = [100, 100]\nconductor_thickness_m = [400, 400]\nstrong_conductor = [-1, "
      "-1]\nweak_conductor = [1, "
      "1]\nstrong_share = 0\n"
      "n_steps = 2\nsteps_from = [3, 3]\nsteps_to = [3, 3]\nsteps_bottom_m = 2000\nbumps.number = [0, "
      "0]\nsmooth.window_cells = 1\n");
  CHECK(prior.draw(0).isApprox(Eigen::VectorXd{{2.0, 1.0, 3.0, 3.0, 3.0}}));
}

TEST_CASE("prior options: all families and modifiers mix, with backgrounds and modifiers of their own") {
  const earths::Prior prior =
      read(patch_grid + "[[prior.generator]]\nweight = 2\n" + a_block +
           "section_width_m = 5000\nnumber = [1, 4]\ntilt_deg = [-9, 9]\n" + in_rock +
           "[[prior.generator.background.modifier]]\nkind = \"bumps\"\nnumber = [1, 2]\n"
           "[[prior.generator.modifier]]\nkind = \"smooth\"\nwindow_cells = "
           "2\n[[prior.generator.modifier]]\nkind = "
           "\"clip\"\nlog10_resistivity = [0.5, 3]\n"
           "[[prior.generator]]\nkind = \"layers\"\ndip_deg = [-5, 5]\nrelief_m = [0, 20]\nrelief_length_m = "
           "[500, 900]\n"
           "layer = [{thickness_m = [100, 200], log10_resistivity = [1, 2]}, {log10_resistivity = [2, 3]}]\n"
           "[[prior.generator]]\nkind = \"wedge\"\ntop_m = [0, 400]\nlength_m = [300, 900]\nthickness_m = "
           "[100, 400]\nthin_share = [0, "
           "1]\ndip_deg = [0, 9]\n" +
           in_rock +
           "[[prior.generator]]\nkind = \"basin\"\ntop_m = [0, 10]\nwidth_m = [300, 900]\nthickness_m = "
           "[100, 400]\nshape = [2, "
           "3]\nlog10_resistivity = [0, 1]\n" +
           in_rock +
           "[[prior.generator]]\nkind = \"dikes\"\ntop_m = [0, 10]\nwidth_m = [300, 900]\nheight_m = [100, "
           "400]\ndip_deg = [80, 90]\n" +
           in_rock +
           "[[prior.generator]]\nkind = \"random_field\"\nstandard_deviation = [0.1, "
           "0.2]\nhorizontal_length_m = [900, "
           "999]\nvertical_length_m = [90, 99]\n"
           "vertical_growth = 0.1\ncorrelation = \"exponential\"\nmean = [1, 2]\n"
           "[[prior.generator]]\nkind = \"random_field\"\nhorizontal_length_m = [900, "
           "999]\nvertical_length_m = [90, 99]\n" +
           in_rock +
           "[[prior.generator]]\nkind = \"sections\"\nfiles = [\"line.h5\"]\nmirrored = true\n"
           "[[prior.generator]]\nkind = \"field_case\"\nweight = 0\n");
  REQUIRE(prior.parts().size() == 9);
  CHECK(prior.parts()[0].weight == 2.0);
  CHECK(prior.parts()[0].generator->kind() == "blocks");  // with modifiers
  CHECK(prior.parts()[8].weight == 0.0);
  std::vector<std::string> kinds;
  for (std::size_t i = 0; i < 9; ++i) kinds.push_back(prior.parts()[i].generator->kind());
  for (const std::string& kind : earths::generator_kinds())
    CHECK(std::ranges::find(kinds, kind) != kinds.end());
  CHECK(earths::modifier_kinds() == std::vector<std::string>{"bumps", "smooth", "clip"});
  const Eigen::MatrixXd draws = prior.draws(0, 200);
  CHECK(draws.rows() == 18);
  CHECK(draws.allFinite());
}

TEST_CASE("prior options: grids by layers, by depths and by edges of columns") {
  const auto grid_of = [](const std::string& keys) {
    return earths::read_patch_grid(io::toml::parse_options_toml(keys, "t.toml"));
  };
  CHECK(grid_of("first_layer_m = 10\nlayer_factor = 2\nn_layers = 3\n").z_edges_m() ==
        std::vector<double>{0, 10, 30, 70});
  CHECK(grid_of("first_layer_m = 10\nlayer_factor = 2\nn_layers = 4\nfirst_cell = 1\nlast_cell = 2\n")
            .z_edges_m() == std::vector<double>{10, 30, 70});
  CHECK(grid_of("depth_m = [1, 2, 4]\ny_m = [0, 5, 7]\n").y_edges_m() == std::vector<double>{0, 5, 7});
  CHECK(grid_of("depth_m = [1, 2, 4]\nwidth_m = 9\nn_columns = 3\n").y_edges_m() ==
        std::vector<double>{0, 3, 6, 9});
}

TEST_CASE("prior options: bad grids are refused with their line and key") {
  const std::string rest = "[[prior.generator]]\nkind = \"field_case\"\n";
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = -2\nn_layers = 3\n" + rest),
             Contains("train.toml:2: \"grid.first_layer_m\": expected a positive"));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 0\n" + rest),
             Contains("train.toml:3: \"grid.n_layers\""));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nlayer_factor = 0\n" + rest),
             Contains("train.toml:4: \"grid.layer_factor\""));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nfirst_cell = 3\n" + rest),
             Contains("expected 0 to 2") && Contains("got 3"));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nfirst_cell = 2\nlast_cell = 1\n" + rest),
             Contains("train.toml:5: \"grid.last_cell\""));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5, 4]\n" + rest),
             Contains("train.toml:2: \"grid.depth_m\"") && Contains("got 4 m at edge 2"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_layers = 4\n" + rest),
             Contains("train.toml:3: \"grid.n_layers\": expected either depth_m"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nwidth_m = 0\n" + rest),
             Contains("train.toml:3: \"grid.width_m\""));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_columns = 4\n" + rest),
             Contains("grid.width_m") && Contains("please add it"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_columns = 0\n" + rest),
             Contains("\"grid.n_columns\": expected 1 to 10000"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\ny_m = [0, 1]\nwidth_m = 3\n" + rest),
             Contains("train.toml:4") && Contains("expected either y_m"));
  CHECK_THAT(refusal(rest), Contains("grid.first_layer_m") && Contains("please add it"));
}

TEST_CASE(
    "prior options: impossible ranges and unknown words are refused with their line, key and the nearest "
    "word") {
  CHECK_THAT(refusal(grid), Contains("[[prior.generator]], found none"));
  CHECK_THAT(refusal(with("kind = \"block\"\n")),
             Contains("train.toml:6") && Contains("did you mean \"blocks\"?"));
  CHECK_THAT(refusal(with("weight = 1\n")), Contains("prior.generator[0].kind") && Contains("please add it"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nweight = -1\n")),
             Contains("train.toml:7: \"prior.generator[0].weight\": expected 0 or more, got -1"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, 3]\n")),
             Contains("train.toml:7: \"prior.generator[0].background\"") && Contains("swap the two"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, 3, 5]\n")), Contains("got 3 numbers"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, inf]\n")),
             Contains("train.toml:7") && Contains("finite"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbumps.number = [0.5, 3]\n")),
             Contains("expected two integers") && Contains("prior.generator[0].bumps.number"));
  CHECK_THAT(
      refusal(with("kind = \"field_case\"\nconductor_thickness_m = [-4, 3]\n")),
      Contains("train.toml:5: \"prior.generator[0]\": expected positive numbers for conductor_thickness_m"));
  CHECK_THAT(
      refusal(with("kind = \"field_case\"\nbackgrund = [3, 4]\n")),
      Contains("train.toml:7: unknown key") && Contains("did you mean \"prior.generator[0].background\""));
  CHECK_THAT(refusal(with(a_block)),
             Contains("train.toml:5: \"prior.generator[0]\": expected a table \"background\""));
  CHECK_THAT(refusal(with("kind = \"blocks\"\n" + in_rock)),
             Contains("prior.generator[0].top_m") && Contains("please add it"));
  CHECK_THAT(refusal(with(a_block + "[prior.generator.background]\nkind = \"layers\"\n")),
             Contains("prior.generator[0].background.thickness_m"));
  CHECK_THAT(
      refusal(
          with("kind = \"layers\"\nlayer = [{log10_resistivity = [1, 2]}, {log10_resistivity = [1, 2]}]\n")),
      Contains("layer[0].thickness_m"));
  CHECK_THAT(refusal(with("kind = \"random_field\"\nhorizontal_length_m = [1, 2]\nvertical_length_m = [1, "
                          "2]\ncorrelation = \"gausian\"\n")),
             Contains("did you mean \"gaussian\"?"));
  CHECK_THAT(refusal(with("kind = \"field_case\"\n[[prior.generator.modifier]]\nkind = \"smoth\"\n")),
             Contains("train.toml:8") && Contains("did you mean \"smooth\"?"));
  CHECK_THAT(
      refusal(
          with("kind = \"field_case\"\n[[prior.generator.modifier]]\nkind = \"smooth\"\nwindow_cells = 0\n")),
      Contains("train.toml:7: \"prior.generator[0].modifier[0]\": expected window_cells of 1 or more"));
  CHECK_THAT(refusal(patch_grid + "[prior]\nseed = -1\n"), Contains("train.toml:6: \"prior.seed\""));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nweight = 0\n")), Contains("positive weight"));
}

TEST_CASE("prior options: bodies below the grid are refused at their generator") {
  const std::string deep =
      "kind = \"blocks\"\ntop_m = [2e6, 3e6]\nwidth_m = [300, 900]\nheight_m = [100, 400]\n" + in_rock;
  CHECK_THAT(refusal(with(deep)),
             Contains("train.toml:5: \"prior.generator[0]\"") && Contains("ends at a depth of 1000 m"));
  CHECK_THAT(refusal(with(deep + "[[prior.generator.modifier]]\nkind = \"smooth\"\n")),
             Contains("ends at a depth of 1000 m"));
}

TEST_CASE("prior options: sections that are missing, absent or too narrow are refused") {
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = []\n")),
             Contains("train.toml:7: \"prior.generator[0].files\": expected at least one file"));
  CHECK_THROWS_WITH(read(with("kind = \"sections\"\nfiles = [\"other.h5\"]\n")),
                    Contains("no file other.h5"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 1]\nwidth_m = 4001\n[[prior.generator]]\nkind = "
                     "\"sections\"\nfiles = [\"line.h5\"]\n"),
             Contains("train.toml:4: \"prior.generator[0]\": section 'line.h5': expected 4001 m or more"));
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = [\"line.h5\"]\ny_m = [1e6, 2e6]\n")),
             Contains("section 'line.h5'") && Contains("got none"));
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = [\"line.h5\"]\ny_m = [2, 1]\n")), Contains("y_m"));
  const core::Options root =
      io::toml::parse_options_toml(with("kind = \"sections\"\nfiles = [\"line.h5\"]\n"), "t.toml");
  CHECK_THROWS_WITH(earths::read_prior(root, {}), Contains("this program reads no sections"));
}

TEST_CASE("prior options: the examples of the documentation can be drawn from") {
  const std::string page = tests::text_of_file(LODESTONE_SOURCE_DIR "/docs/configuration.md"),
                    begin = "```toml\n";
  int n = 0;
  for (std::size_t at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::size_t first = at + begin.size();
    const std::string example = page.substr(first, page.find("```", first) - first);
    if (example.find("[[prior.generator]]") == std::string::npos) continue;
    const earths::Prior prior =
        earths::read_prior(io::toml::parse_options_toml(example, "docs/configuration.md"), load);
    CHECK(prior.draws(0, 20).allFinite());
    ++n;
  }
  CHECK(n >= 2);
}
