// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/toml/options.hpp"
#include "models/earths/field_case.hpp"
#include "models/earths/prior_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/models/fixtures.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::models;
using tests::error_of;
using tests::HasId;

namespace {

earths::Section load(const std::string& path) {
  if (path != "line.h5") throw core::FileError("test#no_file", "no file {}", path);
  return {path, {0, 1000}, {0, 4000}, Eigen::MatrixXd::Constant(1, 1, 2.5)};
}

earths::Prior read(const std::string& text) {
  const core::Options root = io::toml::parse_options_toml(text, "train.toml");
  earths::Prior prior = earths::read_prior(root, load);
  root.require_all_used();
  return prior;
}

core::Error refusal(const std::string& text) {
  return error_of<core::ConfigError>([&] { (void)read(text); });
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
             HasId("thickness_not_positive", {"train.toml:2", "\"grid.first_layer_m\""}));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 0\n" + rest),
             HasId("count_out_of_range", {"train.toml:3", "\"grid.n_layers\""}));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nlayer_factor = 0\n" + rest),
             HasId("factor_out_of_range", {"train.toml:4", "\"grid.layer_factor\""}));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nfirst_cell = 3\n" + rest),
             HasId("layer_out_of_range", {"0", "2", "3"}));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 2\nn_layers = 3\nfirst_cell = 2\nlast_cell = 1\n" + rest),
             HasId("layer_out_of_range", {"train.toml:5", "\"grid.last_cell\""}));
  CHECK_THAT(std::string(refusal("[grid]\ndepth_m = [0, 5, 4]\n" + rest).what()),
             Catch::Contains("train.toml:2: \"grid.depth_m\"") && Catch::Contains("4 m"));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_layers = 4\n" + rest),
             HasId("given_twice", {"train.toml:3", "\"grid.n_layers\""}));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nwidth_m = 0\n" + rest),
             HasId("width_not_positive", {"train.toml:3", "\"grid.width_m\""}));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_columns = 4\n" + rest),
             HasId("missing_key", {"grid.width_m"}));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\nn_columns = 0\n" + rest),
             HasId("count_out_of_range", {"\"grid.n_columns\"", "1", "10000"}));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 5]\ny_m = [0, 1]\nwidth_m = 3\n" + rest),
             HasId("given_twice", {"train.toml:4"}));
  CHECK_THAT(refusal(rest), HasId("missing_key", {"grid.first_layer_m"}));
}

TEST_CASE(
    "prior options: impossible ranges and unknown words are refused with their line, key and the nearest "
    "word") {
  CHECK_THAT(refusal(grid), HasId("no_generator", {"[[prior.generator]]"}));
  CHECK_THAT(refusal(with("kind = \"block\"\n")), HasId("unknown_word", {"train.toml:6", "\"blocks\""}));
  CHECK_THAT(refusal(with("weight = 1\n")), HasId("missing_key", {"prior.generator[0].kind"}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nweight = -1\n")),
             HasId("negative_weight", {"train.toml:7", "\"prior.generator[0].weight\"", "0", "-1"}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, 3]\n")),
             HasId("range_reversed", {"train.toml:7", "\"prior.generator[0].background\""}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, 3, 5]\n")), HasId("not_a_range", {"3"}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackground = [4, inf]\n")),
             HasId("wrong_type", {"train.toml:7"}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbumps.number = [0.5, 3]\n")),
             HasId("not_integers", {"prior.generator[0].bumps.number"}));
  CHECK_THAT(
      refusal(with("kind = \"field_case\"\nconductor_thickness_m = [-4, 3]\n")),
      HasId("range_not_positive", {"train.toml:5", "\"prior.generator[0]\"", "conductor_thickness_m"}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nbackgrund = [3, 4]\n")),
             HasId("unknown_key", {"train.toml:7", "\"prior.generator[0].background\""}));
  CHECK_THAT(refusal(with(a_block)),
             HasId("no_background", {"train.toml:5", "\"prior.generator[0]\"", "\"background\""}));
  CHECK_THAT(refusal(with("kind = \"blocks\"\n" + in_rock)),
             HasId("missing_key", {"prior.generator[0].top_m"}));
  CHECK_THAT(refusal(with(a_block + "[prior.generator.background]\nkind = \"layers\"\n")),
             HasId("missing_key", {"prior.generator[0].background.thickness_m"}));
  CHECK_THAT(
      refusal(
          with("kind = \"layers\"\nlayer = [{log10_resistivity = [1, 2]}, {log10_resistivity = [1, 2]}]\n")),
      HasId("missing_key", {"layer[0].thickness_m"}));
  CHECK_THAT(refusal(with("kind = \"random_field\"\nhorizontal_length_m = [1, 2]\nvertical_length_m = [1, "
                          "2]\ncorrelation = \"gausian\"\n")),
             HasId("unknown_word", {"\"gaussian\""}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\n[[prior.generator.modifier]]\nkind = \"smoth\"\n")),
             HasId("unknown_word", {"train.toml:8", "\"smooth\""}));
  CHECK_THAT(
      refusal(
          with("kind = \"field_case\"\n[[prior.generator.modifier]]\nkind = \"smooth\"\nwindow_cells = 0\n")),
      HasId("wrong_window", {"train.toml:7", "\"prior.generator[0].modifier[0]\"", "window_cells", "1"}));
  CHECK_THAT(refusal(patch_grid + "[prior]\nseed = -1\n"),
             HasId("negative_seed", {"train.toml:6", "\"prior.seed\""}));
  CHECK_THAT(refusal(with("kind = \"field_case\"\nweight = 0\n")), HasId("no_positive_weight"));
}

TEST_CASE("prior options: numbers that no earth needs are refused at their keys") {
  const auto refused = [](const std::string& generator, const char* key, const char* value) {
    CHECK_THAT(refusal(with(generator)), HasId("out_of_range", {key, value}));
  };
  refused("kind = \"layers\"\nthickness_m = [1, 1e300]\n", "thickness_m", "1e+300");
  refused("kind = \"layers\"\nthickness_m = [1, 10]\nlog10_resistivity = [0, 1e3]\n", "log10_resistivity",
          "-6 to 12");
  refused("kind = \"field_case\"\nsteps_bottom_m = 1e300\n", "steps_bottom_m", "1e+300");
  refused("kind = \"field_case\"\nweight = 1e300\n", "weight", "1e+300");
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 1e300\nn_layers = 2\n"),
             HasId("out_of_range", {"first_layer_m", "1e+300"}));
  CHECK_THAT(refusal("[grid]\nfirst_layer_m = 10\nlayer_factor = 9\nn_layers = 2000\n"),
             HasId("out_of_range", {"layer_factor"}));
}

TEST_CASE("prior options: bodies below the grid are refused at their generator") {
  const std::string deep =
      "kind = \"blocks\"\ntop_m = [2e6, 3e6]\nwidth_m = [300, 900]\nheight_m = [100, 400]\n" + in_rock;
  CHECK_THAT(refusal(with(deep)), HasId("below_grid", {"train.toml:5", "\"prior.generator[0]\"", "1000 m"}));
  CHECK_THAT(refusal(with(deep + "[[prior.generator.modifier]]\nkind = \"smooth\"\n")),
             HasId("below_grid", {"1000 m"}));
}

TEST_CASE("prior options: sections that are missing, absent or too narrow are refused") {
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = []\n")),
             HasId("no_file", {"train.toml:7", "\"prior.generator[0].files\""}));
  CHECK_THAT(
      error_of<core::FileError>([&] { (void)read(with("kind = \"sections\"\nfiles = [\"other.h5\"]\n")); }),
      HasId("no_file", {"other.h5"}));
  CHECK_THAT(refusal("[grid]\ndepth_m = [0, 1]\nwidth_m = 4001\n[[prior.generator]]\nkind = "
                     "\"sections\"\nfiles = [\"line.h5\"]\n"),
             HasId("too_narrow", {"train.toml:4", "\"prior.generator[0]\"", "'line.h5'", "4001 m"}));
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = [\"line.h5\"]\ny_m = [1e6, 2e6]\n")),
             HasId("no_column", {"'line.h5'"}));
  CHECK_THAT(refusal(with("kind = \"sections\"\nfiles = [\"line.h5\"]\ny_m = [2, 1]\n")),
             HasId("range_reversed", {"y_m"}));
  const core::Options root =
      io::toml::parse_options_toml(with("kind = \"sections\"\nfiles = [\"line.h5\"]\n"), "t.toml");
  CHECK_THAT(error_of<core::ConfigError>([&] { (void)earths::read_prior(root, {}); }),
             HasId("no_section_reader"));
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

TEST_CASE("prior options: grids of volumes have edges along x, blocks a length") {
  const auto edges_of = [](const std::string& keys) {
    return earths::read_patch_grid(
               io::toml::parse_options_toml("depth_m = [1, 2, 4]\nwidth_m = 9\n" + keys, "t"))
        .edges_m(physics::mesh::Axis::x);
  };
  CHECK(edges_of("length_m = 8\nn_rows = 2\n") == std::vector<double>{0, 4, 8});
  CHECK(edges_of("x_m = [0, 5, 7]\n") == std::vector<double>{0, 5, 7});
  CHECK(edges_of("").empty());
  const std::string volume = patch_grid + "length_m = 2000\nn_rows = 2\n";
  const earths::Prior prior =
      read(volume + "[[prior.generator]]\n" + a_block + "length_m = [200, 400]\n" + in_rock);
  CHECK(prior.draws(0, 3).rows() == 3 * 6 * 2);
  CHECK_THAT(refusal(volume + "x_m = [0, 1]\n[[prior.generator]]\n" + a_block + in_rock),
             HasId("given_twice", {"train.toml:5", "\"grid.length_m\""}));
  CHECK_THAT(refusal(with(a_block + "length_m = [200, 400]\n" + in_rock)),
             HasId("length_of_section", {"train.toml:5"}));
  CHECK_THAT(refusal(volume + "[[prior.generator]]\nkind = \"sections\"\nfiles = [\"line.h5\"]\n"),
             HasId("needs_section", {"train.toml:7", "sections"}));
}
